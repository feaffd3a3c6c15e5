// Decisions at an error rate: the procedures of selection/error_rates.py, with the same operations
// in the same order, so that the numbers are the same to the last bit.

/** Adjusted p-values of every tie, for every error rate; ties are sorted by p-value. */
function adjustedPValues(p, sizes, harmonic) {
  const F = sizes.reduce((sum, n) => sum + n, 0);
  const fdr = new Float64Array(p.length), fdrBy = new Float64Array(p.length);
  const fwer = new Float64Array(p.length);
  // Benjamini and Hochberg (and Yekutieli): running minimum of p · (F / rank) from the largest p.
  let rank = F, least = Infinity, leastBy = Infinity;
  for (let k = p.length - 1; k >= 0; k--) {
    const step = p[k] * (F / rank);
    least = Math.min(least, step);
    leastBy = Math.min(leastBy, step * harmonic);
    fdr[k] = Math.min(least, 1);
    fdrBy[k] = Math.min(leastBy, 1);
    rank -= sizes[k];
  }
  // Holm: running maximum of p · (features of larger p, and this one).
  let before = 0, most = 0;
  for (let k = 0; k < p.length; k++) {
    most = Math.max(most, p[k] * (F - before));
    fwer[k] = Math.min(most, 1);
    before += sizes[k];
  }
  return { fpr: Float64Array.from(p), fdr, fdr_by: fdrBy, fwer };
}

/** Decisions at every error rate and stop of the slider. */
class Decider {
  constructor(data) {
    this.data = data;
    this.names = data.names;
    this.tieOf = Int32Array.from(data.ties.of_feature);
    this.sizes = new Int32Array(data.ties.count.length);
    for (const tie of this.tieOf) this.sizes[tie]++;
    this.adjusted = adjustedPValues(data.ties.p_value, this.sizes, data.slider.harmonic);
    this.order = this.bySignificance();
  }

  /** Columns by p-value, then larger counts first, then by their place in the data. */
  bySignificance() {
    const { p_value: p, count } = this.data.ties;
    const group = new Int32Array(p.length);
    for (let k = 1; k < p.length; k++)
      group[k] = group[k - 1] + (p[k] !== p[k - 1] || count[k] !== count[k - 1] ? 1 : 0);
    const ends = new Int32Array((group[p.length - 1] ?? 0) + 2);
    for (const tie of this.tieOf) ends[group[tie] + 1]++;
    for (let g = 1; g < ends.length; g++) ends[g] += ends[g - 1];
    const order = new Int32Array(this.tieOf.length);
    this.tieOf.forEach((tie, column) => { order[ends[group[tie]]++] = column; });
    return order;
  }

  /** The selection at a stop of the slider; its threshold is null where strata differ. */
  at(error, stop) {
    const { slider } = this.data, stops = slider.by_error[error];
    const alpha = slider.alpha[stop];
    const passes = Uint8Array.from(this.adjusted[error], (p) => (p <= alpha ? 1 : 0));
    return {
      error, stop, alpha, passes,
      selected: passes.reduce((sum, pass, k) => sum + pass * this.sizes[k], 0),
      label: slider.label[stop],
      threshold: stops.threshold[stop],
      thresholdLabel: stops.threshold_label[stop],
      level: stops.level[stop],
      expected: stops.expected_false_positives[stop],
      // The q-value is that of Benjamini and Hochberg, except beside Benjamini and Yekutieli's.
      q: error === "fdr_by" ? this.adjusted.fdr_by : this.adjusted.fdr,
    };
  }
}

/** A number to so many significant digits, in powers of ten where that is shorter. */
function digits(value, number) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e-4 && size < 1e6) return String(Number(value.toPrecision(number)));
  return value.toExponential(number - 1).replace(/\.?0+e/, "e").replace("e+", "e");
}
