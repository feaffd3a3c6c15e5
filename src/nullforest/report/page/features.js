// A feature opened: its values by the target, its splits, its null distribution, its neighbours.

/** Steps of the Kaplan-Meier estimate: [time, share that had no event until then]. */
function kaplanMeier(time, event, members) {
  const order = [...members].sort((a, b) => time[a] - time[b]);
  const steps = [[0, 1]];
  let share = 1;
  for (let i = 0; i < order.length;) {
    const at = time[order[i]], risk = order.length - i;
    let events = 0;
    for (; i < order.length && time[order[i]] === at; i++) events += event[order[i]] ? 1 : 0;
    if (events) { steps.push([at, share]); share *= 1 - events / risk; }
    steps.push([at, share]);
  }
  return steps;
}

/** Between -1 and 1, the same for the same number: points of a class do not hide each other. */
const jitter = (i) => 2 * ((i * 0.618034) % 1) - 1;

function element(name, text, attributes = {}) {
  const made = document.createElement(name);
  if (text) made.textContent = text;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

class FeaturePictures {
  constructor(decider, data) {
    this.decider = decider;
    this.data = data;
    this.place = new Map(data === null ? [] : data.columns.map((column, i) => [column, i]));
  }

  /** Fill a box with the picture of a column; `open` opens another one. */
  fill(box, column, table, open) {
    const values = table.values(column), at = this.place.get(column);
    box.replaceChildren(element("p", this.sentence(values, column, table)));
    if (at === undefined) {
      box.append(element("p", "This page holds no values of this feature.", { class: "small" }));
      return;
    }
    const figures = element("div", "", { class: "pictures" });
    box.append(figures);
    this.figures(figures, at, values);
    figures.append(this.neighbours(at, table, open));
  }

  sentence(values, column, table) {
    const words = [`Selected ${values.count} ${values.count === 1 ? "time" : "times"}, ` +
      `${digits(values.expected_count, 3)} expected under the null (p = ${digits(values.p_value, 2)}, q = ${digits(values.q_value, 2)}).`];
    const { effects } = this.decider.data;
    if (!effects) return words[0];
    const effect = (name) => { const e = table.extra(name, column); return e === null || e === "" ? null : e; };
    const number = (name) => effect(name)?.toFixed(2) ?? "not defined";
    if (effects.comparison === "two classes") {
      const [first, second] = effects.classes;
      words.push(effect("higher_in") === null ? "Equal in both classes." : `Higher in ${effect("higher_in")}.`,
        `Difference of the means, ${second} − ${first}: ${number("difference")} pooled standard deviations.`, `AUC of ${second}: ${number("auc")}.`);
    } else if (effects.comparison === "several classes") {
      words.push(`${effect("stands_out") ?? "No class"} stands out:`, `difference from the others ${number("difference")} pooled standard deviations, AUC ${number("auc")}.`);
    } else if (effects.comparison === "survival") {
      words.push(effect("hazard") === null ? "" : `The hazard is ${effect("hazard")} with larger values,`, `correlation with the log-rank scores ${number("correlation")}.`);
    } else words.push(`Spearman's correlation with the target: ${number("correlation")}.`);
    return `${words.join(" ")} These describe the data; they are not tested.`;
  }

  figures(box, at, values) {
    const { data } = this, x = data.values[at], name = values.feature;
    const places = {};
    const add = (key, words) => {
      const figure = element("figure"), chart = element("div", "", { class: "chart", "data-file": `feature-${at + 1}-${key}` });
      figure.append(chart, element("figcaption", words));
      box.append(figure);
      places[key] = chart;
    };
    const measured = d3.range(x.length).filter((i) => x[i] !== null && (data.target?.kind !== "numbers" || data.target.values[i] !== null));
    const kind = data.category[at] ? null : data.target?.kind ?? null;
    const of = data.shown < data.samples ? `${data.shown} of ${data.samples} samples, drawn at random` : `${data.samples} samples`;
    if (kind === "classes") add("values", `Values by class: ${of}. Boxes: quartiles and medians.`);
    if (kind === "numbers") add("values", `Target against the values: ${of}.`);
    if (kind === "survival") add("values", `Share without an event (Kaplan-Meier): larger and smaller half of the values, ${of}.`);
    const bars = data.category[at] ? null : data.splits?.bars[at];
    if (bars) add("splits", `Where its splits lie: thresholds of ${d3.sum(bars.number)} nodes ` +
      `in ${data.splits.trees === this.decider.data.trees ? "all" : `the first ${data.splits.trees} of ${this.decider.data.trees}`} trees.`);
    add("null", "Its count beside its null distribution (down to 1 of 10⁶ null features).");
    const span = d3.extent([...measured.map((i) => x[i]), ...(bars ? [bars.edges[0], bars.edges[bars.edges.length - 1]] : [])]);
    const pad = 0.03 * (span[1] - span[0] || 1), domain = [span[0] - pad, span[1] + pad];
    if (kind === "classes") this.drawClasses(places.values, name, x, measured, domain);
    if (kind === "numbers") this.drawNumbers(places.values, name, x, measured, domain);
    if (kind === "survival") this.drawSurvival(places.values, name, x, measured);
    if (bars) draw(places.splits, `Split thresholds of ${name}`, () => ({ height: 180, marginBottom: 40,
      x: { domain, label: "threshold →" }, y: { label: "↑ splits", grid: true },
      marks: [Plot.rectY(bars.number.map((n, i) => ({ n, low: bars.edges[i], high: bars.edges[i + 1] })).filter((b) => b.n),
        { x1: "low", x2: "high", y: "n", fill: COLOR.null, tip: true,
          title: (b) => `${b.n} splits between ${digits(b.low, 4)} and ${digits(b.high, 4)}` }), Plot.ruleY([0])] }));
    this.drawNull(places.null, at, values);
  }

  drawClasses(box, name, x, measured, domain) {
    const { labels, values } = this.data.target;
    const groups = labels.map((label, k) => measured.filter((i) => values[i] === k).map((i) => x[i]).sort(d3.ascending));
    const boxes = groups.map((group, k) => ({ k, n: group.length, q: [0.25, 0.5, 0.75].map((p) => d3.quantileSorted(group, p)) })).filter((b) => b.n);
    const words = (b) => `${labels[b.k]}: ${b.n} samples\nmedian ${digits(b.q[1], 4)}, quartiles ${digits(b.q[0], 4)} and ${digits(b.q[2], 4)}`;
    draw(box, `Values of ${name} by class: ${boxes.map((b) => `median of ${labels[b.k]} ${digits(b.q[1], 4)}`).join(", ")}`, () => ({
      height: 70 + 55 * labels.length, marginBottom: 40, marginLeft: Math.min(140, 20 + 7 * d3.max(labels, (l) => l.length)),
      x: { domain, label: `value →` },
      y: { domain: [labels.length - 0.5, -0.5], ticks: d3.range(labels.length), tickFormat: (k) => labels[k], tickSize: 0, label: null },
      marks: [
        Plot.dot(measured, { x: (i) => x[i], y: (i) => values[i] + 0.32 * jitter(i), r: 2.2, fill: COLOR.other, fillOpacity: 0.7 }),
        Plot.rect(boxes, { x1: (b) => b.q[0], x2: (b) => b.q[2], y1: (b) => b.k - 0.36, y2: (b) => b.k + 0.36, stroke: COLOR.ink,
          fill: COLOR.ink, fillOpacity: 0.04, tip: true, title: words }),
        Plot.ruleX(boxes, { x: (b) => b.q[1], y1: (b) => b.k - 0.36, y2: (b) => b.k + 0.36, stroke: COLOR.selected, strokeWidth: 3 }),
      ],
    }));
  }

  drawNumbers(box, name, x, measured, domain) {
    const y = this.data.target.values;
    draw(box, `Target against the values of ${name}`, () => ({ height: 260, marginBottom: 40,
      x: { domain, label: "value →" }, y: { label: "↑ target", grid: true },
      marks: [Plot.dot(measured, { x: (i) => x[i], y: (i) => y[i], r: 2.5, fill: COLOR.null, fillOpacity: 0.6, tip: true,
        title: (i) => `value ${digits(x[i], 4)}, target ${digits(y[i], 4)}` })] }));
  }

  drawSurvival(box, name, x, measured) {
    const { time, event } = this.data.target, middle = d3.median(measured, (i) => x[i]);
    const halves = [["larger half", measured.filter((i) => x[i] > middle), COLOR.selected],
      ["smaller half", measured.filter((i) => x[i] <= middle), COLOR.null]].filter((half) => half[1].length);
    draw(box, `Kaplan-Meier curves of the halves of ${name}`, () => ({ height: 260, marginBottom: 40, marginRight: 80,
      x: { label: "time →" }, y: { domain: [0, 1], label: "↑ share without an event", grid: true },
      marks: halves.flatMap(([words, members, stroke]) => {
        const steps = kaplanMeier(time, event, members);
        return [Plot.line(steps, { stroke, strokeWidth: 2 }),
          Plot.text([steps[steps.length - 1]], { text: () => words, fill: stroke, textAnchor: "start", dx: 4 })];
      }) }));
  }

  drawNull(box, at, values) {
    const { width, share } = this.data.nulls[this.data.null_of[at]];
    const bars = share.map((s, i) => ({ s, low: i * width, high: (i + 1) * width - 1 }));
    const end = Math.max(values.count, bars[bars.length - 1].high);
    draw(box, `Count of ${values.feature}, ${values.count}, beside its null distribution`, () => ({
      height: 180, marginTop: 30, marginBottom: 40,
      x: { domain: [-0.02 * end, 1.06 * end + 1], label: "selection count →" }, y: { label: "↑ share of null features", grid: true },
      marks: [
        Plot.rect(bars.filter((b) => b.s > 0), { x1: (b) => b.low - 0.5, x2: (b) => b.high + 0.5, y1: 0, y2: "s", fill: COLOR.null,
          fillOpacity: 0.55, inset: 0, tip: true,
          title: (b) => `count of ${b.low === b.high ? b.low : `${b.low}–${b.high}`}:\n${digits(100 * b.s, 3)} % of null features` }),
        Plot.ruleX([values.count], { stroke: COLOR.selected, strokeWidth: 2.5 }),
        Plot.text([values.count], { x: (c) => c, text: (c) => `count ${c}`, frameAnchor: "top", dy: -12, fill: COLOR.selected,
          textAnchor: values.count > 0.7 * end ? "end" : "start" }),
        Plot.ruleY([0]),
      ],
    }));
  }

  neighbours(at, table, open) {
    const { columns, r } = this.data.correlated;
    const section = element("div");
    section.append(element("p", "Most correlated features (Spearman), selected or not:", { class: "small" }));
    const list = element("ul", "", { class: "neighbours" });
    columns[at].forEach((column, k) => {
      const item = element("li"), values = table.values(column);
      const button = element("button", values.feature, { type: "button" });
      if (values.selected) button.className = "selected-word";
      button.addEventListener("click", () => open(column));
      const note = table.notes.map((name) => table.extra(name, column)).find((text) => typeof text === "string" && text);
      item.append(button, ` ${note ? `${note}, ` : ""}ρ = ${r[at][k].toFixed(2)}${values.selected ? ", selected" : ""}`);
      list.append(item);
    });
    section.append(list);
    return section;
  }
}
