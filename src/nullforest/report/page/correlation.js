// Correlated features: folded in the table, and their correlations as a heat map.

const MOST_IN_MAP = 60; // more cells than 60² are too small to read

class Correlation {
  constructor(decider, pictures) {
    this.decider = decider;
    this.pictures = pictures;
    this.opened = new Set(); // clusters whose members are shown
    this.rank = new Int32Array(decider.order.length);
    decider.order.forEach((column, i) => { this.rank[column] = i; });
  }

  /** Rows with the selected members of a cluster under its most significant one. */
  folded(rows, passes) {
    const { place, data } = this.pictures, { tieOf } = this.decider;
    const heads = new Map(), list = [];
    for (const column of rows) {
      const at = place.get(column), cluster = at === undefined || !passes[tieOf[column]] ? null : data.cluster[at];
      if (cluster === null) { list.push({ column, members: [], cluster }); continue; }
      const head = heads.get(cluster);
      if (head === undefined) {
        const group = { column, members: [], cluster };
        heads.set(cluster, group);
        list.push(group);
      } else if (this.rank[column] < this.rank[head.column]) {
        head.members.unshift(head.column);
        head.column = column;
      } else head.members.push(column);
    }
    return list;
  }

  draw(passes) {
    const { data, place } = this.pictures, { tieOf, names } = this.decider;
    const chosen = data.columns.filter((column) => passes[tieOf[column]]);
    const section = document.getElementById("correlation");
    section.hidden = chosen.length < 2;
    if (section.hidden) return;
    const shown = new Set(chosen.slice(0, MOST_IN_MAP).map((column) => place.get(column)));
    const order = data.order.filter((at) => shown.has(at));
    const name = (at) => names[data.columns[at]];
    const cells = order.flatMap((a) => order.map((b) => ({ a, b, r: data.matrix[a][b] / 100 })));
    const labelled = order.length < 40 ? order : [];
    document.getElementById("map-words").textContent = chosen.length > shown.size
      ? `The ${shown.size} most significant of ${chosen.length} selected features with values in this page.` : `${chosen.length} selected features.`;
    draw("map", `Correlations between ${order.length} selected features`, (width) => {
      const margin = labelled.length ? Math.min(160, 14 + 6.5 * d3.max(labelled, (at) => name(at).length)) : 20;
      const side = Math.min(width - margin - 16, 640);
      return {
        height: side + margin + 20, marginLeft: margin, marginBottom: margin, marginTop: 10, marginRight: width - margin - side,
        x: { domain: order, tickFormat: (at) => (labelled.length ? clipped(name(at)) : ""), tickRotate: -60, label: null, tickSize: 0 },
        y: { domain: order, tickFormat: (at) => (labelled.length ? clipped(name(at)) : ""), label: null, tickSize: 0 },
        color: { type: "linear", domain: [-1, 0, 1], range: [COLOR.null, COLOR.paper, COLOR.selected] },
        marks: [Plot.cell(cells, { x: "a", y: "b", fill: "r", inset: 0, tip: true,
          title: (d) => `${name(d.a)}\n${name(d.b)}\nρ = ${d.r.toFixed(2)}` })],
      };
    });
  }
}

const clipped = (text) => (text.length > 22 ? `${text.slice(0, 21)}…` : text);
