// The table of features: searched, sorted, paged and downloaded.

const ROWS = 25, PRINTED_ROWS = 200;

class FeatureTable {
  constructor(decider) {
    this.decider = decider;
    this.page = 0;
    this.sort = { by: "p_value", down: false };
    this.found = null; // Uint8Array of the columns that match the search; null for all
    this.byName = null;
    this.lower = null;
    this.effects = decider.data.effects;
    for (const button of document.querySelectorAll("[data-sort]"))
      button.addEventListener("click", () => this.sortBy(button.dataset.sort));
    document.getElementById("search").addEventListener("input", (event) => this.search(event.target.value));
    document.getElementById("only-selected").addEventListener("change", () => this.turnTo(0));
    document.getElementById("previous").addEventListener("click", () => this.turnTo(this.page - 1));
    document.getElementById("next").addEventListener("click", () => this.turnTo(this.page + 1));
    document.getElementById("download").addEventListener("click", () => this.download());
  }

  update(state) {
    this.state = state;
    this.turnTo(0);
  }

  search(text) {
    const words = text.trim().toLowerCase();
    this.lower ??= this.decider.names.map((name) => name.toLowerCase());
    this.found = words === "" ? null : Uint8Array.from(this.lower, (name) => (name.includes(words) ? 1 : 0));
    this.turnTo(0);
  }

  sortBy(key) {
    // Numbers that are best when large begin with the largest.
    const first = key === "count" || key === "expected_count" || this.effects?.columns[key]?.levels === null;
    this.sort = { by: key, down: this.sort.by === key ? !this.sort.down : first };
    for (const button of document.querySelectorAll("[data-sort]"))
      button.parentElement.setAttribute("aria-sort",
        button.dataset.sort !== key ? "none" : this.sort.down ? "descending" : "ascending");
    this.turnTo(0);
  }

  /** All columns in the order of the sort; equal ones keep the order of significance. */
  ordered() {
    const { decider, sort } = this;
    const { ties } = decider.data;
    if (sort.by === "feature") {
      if (this.byName === null) {
        const { compare } = new Intl.Collator("en", { numeric: true });
        this.byName = Int32Array.from(decider.order).sort((a, b) => compare(decider.names[a], decider.names[b]));
      }
      return sort.down ? Int32Array.from(this.byName).reverse() : this.byName;
    }
    if (sort.by === "p_value" && !sort.down) return decider.order;
    if (this.effects && sort.by in this.effects.columns) return this.byEffect(this.effects.columns[sort.by].values);
    // Distinct values are few: sort them, then distribute the columns among them.
    const values = { count: ties.count, expected_count: ties.expected_count, p_value: ties.p_value, q_value: this.state.q }[sort.by];
    const distinct = Array.from(new Set(values)).sort((a, b) => (sort.down ? b - a : a - b));
    const place = new Map(distinct.map((value, i) => [value, i]));
    const group = Int32Array.from(values, (value) => place.get(value));
    const ends = new Int32Array(distinct.length + 1);
    for (const column of decider.order) ends[group[decider.tieOf[column]] + 1]++;
    for (let g = 1; g < ends.length; g++) ends[g] += ends[g - 1];
    const order = new Int32Array(decider.order.length);
    for (const column of decider.order) order[ends[group[decider.tieOf[column]]]++] = column;
    return order;
  }

  /** All columns by an effect, those without one last. */
  byEffect(values) {
    const sign = this.sort.down ? -1 : 1;
    const last = (value) => (value === null ? 1 : 0);
    return Int32Array.from(this.decider.order).sort((a, b) =>
      last(values[a]) - last(values[b]) || sign * (values[a] - values[b]));
  }

  /** An effect of a column: text, a number or null. */
  effect(name, column) {
    const { levels, values } = this.effects.columns[name];
    return levels === null ? values[column] : levels[values[column]];
  }

  /** The columns to show, in order. */
  rows() {
    const only = document.getElementById("only-selected").checked;
    const { tieOf } = this.decider, { passes } = this.state, { found } = this;
    return this.ordered().filter((column) => (!only || passes[tieOf[column]]) && (found === null || found[column]));
  }

  turnTo(page, size = ROWS) {
    const rows = this.rows();
    const last = Math.max(0, Math.ceil(rows.length / size) - 1);
    this.page = Math.min(Math.max(page, 0), last);
    const start = this.page * size;
    const shown = rows.subarray(start, start + size);
    document.getElementById("rows").replaceChildren(...Array.from(shown, (column) => this.row(column)));
    document.getElementById("shown").textContent = rows.length === 0 ? "no feature"
      : `${start + 1}–${start + shown.length} of ${rows.length}`;
    document.getElementById("previous").disabled = this.page === 0;
    document.getElementById("next").disabled = this.page === last;
    const download = document.getElementById("download");
    download.disabled = rows.length === 0;
    download.textContent = `Download ${rows.length} ${rows.length === 1 ? "row" : "rows"} (CSV)`;
  }

  values(column) {
    const tie = this.decider.tieOf[column], { ties } = this.decider.data;
    return { feature: this.decider.names[column], count: ties.count[tie], expected_count: ties.expected_count[tie],
      p_value: ties.p_value[tie], q_value: this.state.q[tie], selected: this.state.passes[tie] === 1 };
  }

  row(column) {
    const values = this.values(column);
    const row = document.createElement("tr");
    if (values.selected) row.className = "selected";
    const cells = [values.feature, values.count, digits(values.expected_count, 3), digits(values.p_value, 2), digits(values.q_value, 2)];
    for (const name of Object.keys(this.effects?.heads ?? {})) {
      const effect = this.effect(name, column);
      cells.push(typeof effect === "string" ? effect : effect === null ? "–" : effect.toFixed(2));
    }
    for (const text of cells) row.insertCell().textContent = text;
    row.cells[0].className = "name";
    return row;
  }

  /** The same columns as the CSV of Selection.to_csv. */
  csv() {
    const quoted = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
    const { columns } = this.decider.data; // positions in the user's data, or null
    const effects = Object.keys(this.effects?.columns ?? {});
    const lines = [[...(columns ? ["column"] : []), "feature", "count", "expected_count", "p_value", "q_value",
      "selected", ...effects].join(",")];
    for (const column of this.rows()) {
      const v = this.values(column);
      lines.push([...(columns ? [columns[column]] : []), quoted(v.feature), v.count, v.expected_count, v.p_value, v.q_value,
        v.selected ? "True" : "False", ...effects.map((name) => quoted(String(this.effect(name, column) ?? "")))].join(","));
    }
    return lines.join("\n") + "\n";
  }

  download() {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([this.csv()], { type: "text/csv" }));
    link.download = "features.csv";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  }
}
