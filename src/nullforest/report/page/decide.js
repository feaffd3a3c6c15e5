// Which features pass an error rate? The rules of nullforest.decisions, with the same operations
// in the same order, so that the numbers are the same to the last bit.

/** Adjusted p-values of every kind, for every error rate. Kinds come sorted by p-value. */
function adjustedPValues(p, sizes, harmonic) {
  const F = sizes.reduce((sum, n) => sum + n, 0);
  const fdr = new Float64Array(p.length), fdrBy = new Float64Array(p.length);
  const fwer = new Float64Array(p.length);
  // Benjamini and Hochberg (and Yekutieli): p · (F / rank), the smallest from here on. Equal
  // p-values all get the value of the last of them.
  let rank = F, least = Infinity, leastBy = Infinity;
  for (let k = p.length - 1; k >= 0; k--) {
    const step = p[k] * (F / rank);
    least = Math.min(least, step);
    leastBy = Math.min(leastBy, step * harmonic);
    fdr[k] = F > 1 ? Math.min(least, 1) : p[k];
    fdrBy[k] = F > 1 ? Math.min(leastBy, 1) : p[k];
    rank -= sizes[k];
  }
  // Holm: p · (features not yet rejected), the largest so far.
  let before = 0, most = 0;
  for (let k = 0; k < p.length; k++) {
    most = Math.max(most, p[k] * (F - before));
    fwer[k] = Math.min(most, 1);
    before += sizes[k];
  }
  return { fpr: Float64Array.from(p), fdr, fdr_by: fdrBy, fwer };
}

/** All that the page needs to decide: made once, then asked at every move of the slider. */
class Decider {
  constructor(data) {
    this.data = data;
    this.names = data.names;
    this.kindOf = Int32Array.from(data.kinds.of_feature);
    this.sizes = new Int32Array(data.kinds.count.length);
    for (const kind of this.kindOf) this.sizes[kind]++;
    this.adjusted = adjustedPValues(data.kinds.p_value, this.sizes, data.slider.harmonic);
    this.placeOfCount = new Map(data.counts.count.map((count, i) => [count, i]));
    this.order = this.bySignificance();
  }

  /** Columns by p-value, then larger counts first, then by their place in the data. */
  bySignificance() {
    const { p_value: p, count } = this.data.kinds;
    const group = new Int32Array(p.length);
    for (let k = 1; k < p.length; k++)
      group[k] = group[k - 1] + (p[k] !== p[k - 1] || count[k] !== count[k - 1] ? 1 : 0);
    const ends = new Int32Array((group[p.length - 1] ?? 0) + 2);
    for (const kind of this.kindOf) ends[group[kind] + 1]++;
    for (let g = 1; g < ends.length; g++) ends[g] += ends[g - 1];
    const order = new Int32Array(this.kindOf.length);
    this.kindOf.forEach((kind, column) => { order[ends[group[kind]]++] = column; });
    return order;
  }

  /** What is selected at a stop of the slider, and what it takes. */
  at(error, stop) {
    const { slider, counts, kinds } = this.data;
    const alpha = slider.alpha[stop], adjusted = this.adjusted[error];
    let selected = 0, smallest = Infinity;
    const passes = new Uint8Array(adjusted.length);
    for (let k = 0; k < adjusted.length; k++) {
      if (!(adjusted[k] <= alpha)) continue;
      passes[k] = 1;
      selected += this.sizes[k];
      smallest = Math.min(smallest, kinds.count[k]);
    }
    const known = slider.by_error[error];
    const place = this.placeOfCount.get(smallest);
    const listed = known.threshold[stop] !== null;
    return {
      error, stop, alpha, passes, selected,
      label: slider.label[stop],
      threshold: listed ? known.threshold[stop] : smallest - 1,
      level: listed ? known.level[stop] : counts.level[place],
      expected: listed ? known.expected_false_positives[stop]
        : counts.expected_false_positives[place],
      // The q-value is that of Benjamini and Hochberg unless Yekutieli's was asked for.
      q: error === "fdr_by" ? this.adjusted.fdr_by : this.adjusted.fdr,
    };
  }
}

/** A number with so many digits, in powers of ten where that is shorter. */
function digits(value, number) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e-4 && size < 1e6) return String(Number(value.toPrecision(number)));
  return value.toExponential(number - 1).replace(/\.?0+e/, "e").replace("e+", "e");
}
