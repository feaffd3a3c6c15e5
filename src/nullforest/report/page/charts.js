// The figures of all features: counts, p-values, and the trajectory over trees.

const FEWEST = 0.5; // bars begin at half a feature, so that one feature is seen on a log scale

/** 0, 1, 2, 5, 10, 20, 50, … up to the largest count, not more than fit. */
function countTicks(largest, width) {
  const ticks = [0];
  const steps = width < 500 ? [1, 10] : [1, 2, 5, 10];
  for (let decade = 1; decade <= largest; decade *= 10)
    for (const step of steps.slice(0, -1)) if (decade * step <= largest) ticks.push(decade * step);
  return ticks;
}

function drawHistogram(decider, state) {
  const bins = decider.data.histogram.bins;
  const { count } = decider.data.ties;
  const selected = new Int32Array(bins.length);
  let i = 0;
  const byCount = Array.from(count.keys()).sort((a, b) => count[a] - count[b]);
  for (const k of byCount) {
    while (count[k] > bins[i].high) i++;
    if (state.passes[k]) selected[i] += decider.sizes[k];
  }
  const bars = bins.map((b, j) => ({ ...b, selected: selected[j] }));
  const top = 1.2 * Math.max(2, d3.max(bars, (b) => Math.max(b.features, b.expected)));
  const largest = bins[bins.length - 1].high;
  // The null distribution has the same bins and is drawn as an outline; what is too small for a
  // log scale lies below the frame.
  const outline = bins.flatMap((b) => [b.low - 0.5, b.high + 0.5].map((x) => [x, Math.max(b.expected, 1e-9)]));
  const edge = { x1: (b) => b.low - 0.46, x2: (b) => b.high + 0.46, y1: FEWEST };
  const words = (b) => `count of ${b.low === b.high ? b.low : `${b.low}–${b.high}`}:\n` +
    `${b.features} features, ${b.selected} of them selected;\n${digits(b.expected, 3)} expected under the null`;
  // The text at the threshold stands on the side with more room. Strata have no common threshold.
  const at = state.threshold === null ? [] : [state.threshold + 0.5];
  const room = Math.log1p(at[0]) < 0.6 * Math.log1p(largest);
  draw("histogram", `Histogram of the selection counts, ${state.selected} features selected`, (width) => ({
    height: width < 500 ? 280 : 360,
    marginTop: 32,
    marginBottom: 40,
    x: { type: "symlog", domain: [-0.5, Math.max(largest, ...at) + 0.5], label: "selection count of a feature →",
      ticks: countTicks(largest, width), tickFormat: "d" },
    y: { type: "log", domain: [FEWEST, top], label: "↑ features", grid: true,
      ticks: d3.range(0, Math.floor(Math.log10(top)) + 1).map((e) => 10 ** e), tickFormat: "~s" },
    marks: [
      Plot.rect(bars.filter((b) => b.features), { ...edge, y2: "features", fill: COLOR.other, title: words, tip: true }),
      Plot.rect(bars.filter((b) => b.selected), { ...edge, y2: "selected", fill: COLOR.selected, title: words }),
      Plot.line(outline, { stroke: COLOR.null, strokeWidth: 2, clip: true }),
      Plot.ruleX(at, { stroke: COLOR.ink, strokeDasharray: "4 3", insetTop: -14 }),
      Plot.text(at, { x: at, text: () => `selected above ${state.threshold}`, frameAnchor: "top", dy: -20,
        dx: room ? 5 : -5, textAnchor: room ? "start" : "end", fill: COLOR.ink }),
      Plot.ruleY([FEWEST]),
    ],
  }));
}

const MOST_POINTS = 400;

/** One point per distinct p-value: it, and the share of features with a p-value up to it. */
function qqPoints(decider) {
  const { p_value: p, count } = decider.data.ties;
  const F = decider.tieOf.length;
  const points = [];
  let rank = 0;
  for (let k = 0; k < p.length; k++) {
    rank += decider.sizes[k];
    if (k + 1 < p.length && p[k + 1] === p[k]) continue;
    const name = decider.names[decider.order[rank - 1]];
    points.push({ tie: k, x: -Math.log10(rank / F), y: -Math.log10(p[k]), rank, name, p: p[k], count: count[k] });
  }
  if (points.length <= MOST_POINTS) return points;
  // All of the most significant ones, and of the others as many as the eye can tell apart.
  const shown = points.slice(0, MOST_POINTS / 2);
  let last = shown[shown.length - 1];
  const step = Math.max(last.x, last.y) / (MOST_POINTS / 2);
  for (const point of points.slice(MOST_POINTS / 2)) {
    if (Math.abs(point.x - last.x) + Math.abs(point.y - last.y) < step) continue;
    shown.push(point);
    last = point;
  }
  return shown;
}

function drawQQ(decider, state, points) {
  const end = d3.max(points, (d) => d.x) || 1;
  draw("qq", "QQ plot of the p-values", (width) => ({
    height: width < 500 ? 280 : 340,
    marginBottom: 40,
    x: { label: "−log₁₀ of the share of features with a p-value this small →", domain: [0, end * 1.05] },
    y: { label: "↑ −log₁₀ p", domain: [0, Math.max(d3.max(points, (d) => d.y), 1) * 1.05], grid: true },
    marks: [
      Plot.line([[0, 0], [end * 1.05, end * 1.05]], { stroke: COLOR.null, strokeWidth: 1.5, clip: true }),
      Plot.dot(points, { x: "x", y: "y", r: 3, fill: (d) => (state.passes[d.tie] ? COLOR.selected : COLOR.other),
        tip: true, title: (d) => `${d.rank === 1 ? d.name : `${d.rank} features with a p-value this small or smaller`}\n` +
          `p = ${digits(d.p, 2)}, count ${d.count}` }),
    ],
  }));
}

function treeAxis(trees) {
  return { type: "log", label: "trees →", tickFormat: "~s",
    ticks: [1, 2, 5].flatMap((m) => d3.range(0, 10).map((e) => m * 10 ** e))
      .filter((t) => t >= trees[0] && t <= trees[trees.length - 1]) };
}

function drawTrajectory(trajectory) {
  const looks = trajectory.trees.map((trees, i) => ({ trees, selected: trajectory.selected[i],
    agreement: trajectory.agreement[i], error: trajectory.oob_error[i] }));
  // |A ∩ B| from |A ∪ B| = |A| + |B| − |A ∩ B| and their ratio.
  const last = trajectory.selected[trajectory.selected.length - 1];
  for (const look of looks) look.common = Math.round((look.selected + last) * look.agreement / (1 + look.agreement));
  const errors = looks.filter((look) => look.error !== null);
  const frame = { height: 240, marginBottom: 40 };
  if (errors.length) {
    const worst = Math.max(d3.max(errors, (d) => d.error), trajectory.guessing_error ?? 0);
    draw("oob", "Out-of-bag error against the number of trees", () => ({ ...frame, x: treeAxis(trajectory.trees),
      y: { label: "↑ out-of-bag error", domain: [0, worst * 1.1 || 1], grid: true },
      marks: [
        Plot.ruleY([trajectory.guessing_error].filter((e) => e !== null), { stroke: COLOR.ink, strokeDasharray: "4 3" }),
        Plot.line(errors, { x: "trees", y: "error", stroke: COLOR.null, strokeWidth: 2 }),
        Plot.dot(errors, { x: "trees", y: "error", r: 3, fill: COLOR.null, tip: true,
          title: (d) => `${d.trees} trees: ${digits(d.error, 3)}` }),
        Plot.ruleY([0]),
      ] }));
  } else {
    document.getElementById("oob").textContent = "No sample was left out of a tree, so there is no out-of-bag error.";
  }
  const most = Math.max(1, d3.max(looks, (d) => d.selected));
  draw("stability", "Selected features against the number of trees", () => ({ ...frame, x: treeAxis(trajectory.trees),
    y: { label: "↑ features", domain: [0, most * 1.1], grid: true, ticks: d3.ticks(0, most, 5).filter(Number.isInteger), tickFormat: "d" },
    marks: [
      Plot.line(looks, { x: "trees", y: "common", stroke: COLOR.null, strokeWidth: 2 }),
      Plot.dot(looks, { x: "trees", y: "common", r: 3, fill: COLOR.null }),
      Plot.line(looks, { x: "trees", y: "selected", stroke: COLOR.selected, strokeWidth: 2 }),
      Plot.dot(looks, { x: "trees", y: "selected", r: 3, fill: COLOR.selected, tip: true,
        title: (d) => `${d.trees} trees: ${d.selected} selected, ${d.common} of them by all trees too` }),
      Plot.ruleY([0]),
    ] }));
}
