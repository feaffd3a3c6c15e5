// The table of features: searched, sorted, paged and downloaded.

const ROWS = 25, PRINTED_ROWS = 200;

class FeatureTable {
  constructor(decider) {
    this.decider = decider;
    this.page = 0;
    this.sort = { by: "p_value", down: false };
    this.matches = null; // Uint8Array of the columns that match the search; null for all
    this.byName = null;
    this.lower = null;
    this.effects = decider.data.effects;
    this.extras = { ...this.effects?.columns, ...decider.data.annotations };
    this.notes = Object.keys(decider.data.annotations);
    this.pictures = null; // set once they are unpacked
    this.open = null; // the column whose picture is shown
    this.fold = document.getElementById("fold");
    this.fold.addEventListener("change", () => this.turnTo(0));
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
    this.lower ??= this.decider.names.map((name, column) =>
      [name, ...this.notes.map((note) => this.extra(note, column))].join("\n").toLowerCase());
    this.matches = words === "" ? null : Uint8Array.from(this.lower, (name) => (name.includes(words) ? 1 : 0));
    this.turnTo(0);
  }

  sortBy(key) {
    // Numbers that are best when large begin with the largest.
    const first = key === "count" || key === "expected_count" || this.extras[key]?.levels === null;
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
    if (sort.by in this.extras) return this.byExtra(this.extras[sort.by].values);
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

  /** All columns by an effect or annotation, those without one last. */
  byExtra(values) {
    const sign = this.sort.down ? -1 : 1;
    const last = (value) => (value === null ? 1 : 0);
    return Int32Array.from(this.decider.order).sort((a, b) =>
      last(values[a]) - last(values[b]) || sign * (values[a] - values[b]));
  }

  /** An effect or annotation of a column: text, a number or null. */
  extra(name, column) {
    const { levels, values } = this.extras[name];
    return levels === null ? values[column] : levels[values[column]];
  }

  /** The columns to show, in order. */
  rows() {
    const only = document.getElementById("only-selected").checked;
    const { tieOf } = this.decider, { passes } = this.state, { matches } = this;
    return this.ordered().filter((column) => (!only || passes[tieOf[column]]) && (matches === null || matches[column]));
  }

  turnTo(page, size = ROWS) {
    const rows = this.rows();
    const folds = this.fold.checked && this.pictures !== null;
    const groups = folds ? this.correlation.folded(rows, this.state.passes) : Array.from(rows, (column) => ({ column, members: [] }));
    const last = Math.max(0, Math.ceil(groups.length / size) - 1);
    this.page = Math.min(Math.max(page, 0), last);
    const start = this.page * size;
    const shown = groups.slice(start, start + size);
    document.getElementById("rows").replaceChildren(...shown.flatMap((group) => this.group(group)));
    if (this.open !== null) this.showPicture();
    document.getElementById("shown").textContent = rows.length === 0 ? "no feature"
      : `${start + 1}–${start + shown.length} of ${groups.length}${folds ? ` (${rows.length} features folded)` : ""}`;
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

  /** The row of a feature, and those of correlated ones that are folded into it, if opened. */
  group({ column, members, cluster }) {
    const row = this.row(column);
    if (!members.length) return [row];
    const { opened } = this.correlation, isOpen = opened.has(cluster);
    const button = element("button", `${isOpen ? "−" : "+"}${members.length}`, { type: "button", class: "more",
      "aria-expanded": String(isOpen), "aria-label": `${members.length} features correlated with ${this.decider.names[column]}` });
    button.addEventListener("click", (event) => {
      event.stopPropagation();
      if (!opened.delete(cluster)) opened.add(cluster);
      this.turnTo(this.page);
    });
    row.cells[0].append(" ", button);
    if (!isOpen) return [row];
    return [row, ...members.map((member) => {
      const below = this.row(member);
      below.classList.add("member");
      return below;
    })];
  }

  row(column) {
    const values = this.values(column);
    const row = element("tr", "", { "data-column": column });
    if (values.selected) row.className = "selected";
    const cells = [...this.notes.map((name) => this.extra(name, column)), values.count,
      digits(values.expected_count, 3), digits(values.p_value, 2), digits(values.q_value, 2)];
    for (const name of Object.keys(this.effects?.heads ?? {})) {
      const effect = this.extra(name, column);
      cells.push(typeof effect === "string" ? effect : effect === null ? "–" : effect.toFixed(2));
    }
    const first = row.insertCell(), opener = element("button", "", { type: "button", class: "open",
      "aria-expanded": String(this.open === column), "aria-label": `Picture of ${values.feature}` });
    first.className = "name";
    first.append(opener, this.named(values.feature, column));
    cells.forEach((text, i) => {
      const cell = row.insertCell();
      cell.textContent = text;
      if (i < this.notes.length) cell.className = "note";
      if (i === this.notes.length + 1) cell.className = "expected";
    });
    // The button is in the row: a key on it and a click anywhere on the row do the same.
    row.addEventListener("click", (event) => { if (!event.target.closest("a")) this.toggle(column); });
    return row;
  }

  /** The name, as a link where the report has one. */
  named(name, column) {
    const { link } = this.decider.data;
    if (!link) return name;
    let whole = true;
    const address = link.replace(/\{([^{}]*)\}/g, (_, field) => {
      const text = field === "feature" ? name : this.extra(field, column);
      whole &&= text !== "";
      return encodeURIComponent(text);
    });
    return whole ? element("a", name, { href: address, target: "_blank", rel: "noopener noreferrer" }) : name;
  }

  toggle(column) {
    this.open = this.open === column ? null : column;
    this.showPicture();
  }

  /** Open a feature that may stand elsewhere: all features are searched for its name. */
  openAnywhere(column) {
    this.open = column;
    if (!document.querySelector(`#rows tr[data-column="${column}"]`)) {
      if (!this.state.passes[this.decider.tieOf[column]]) document.getElementById("only-selected").checked = false;
      this.fold.checked = false;
      this.search(document.getElementById("search").value = this.decider.names[column]);
    } else this.showPicture();
    document.querySelector(`#rows tr[data-column="${column}"] .open`)?.focus();
  }

  showPicture() {
    document.querySelector("#rows tr.picture")?.remove();
    for (const opener of document.querySelectorAll("#rows .open"))
      opener.setAttribute("aria-expanded", String(Number(opener.closest("tr").dataset.column) === this.open));
    const row = this.open === null ? null : document.querySelector(`#rows tr[data-column="${this.open}"]`);
    if (row === null || this.pictures === null) return;
    const below = element("tr", "", { class: "picture" }), cell = below.insertCell(), box = element("div");
    cell.colSpan = row.cells.length;
    cell.append(box);
    row.after(below);
    box.style.width = `${document.querySelector(".features").parentElement.clientWidth - 24}px`;
    this.pictures.fill(box, this.open, this, (column) => this.openAnywhere(column));
  }

  /** The same columns as the CSV of Selection.to_csv. */
  csv() {
    const quoted = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
    const { columns } = this.decider.data; // positions in the user's data, or null
    const effects = Object.keys(this.effects?.columns ?? {});
    const texts = (names, column) => names.map((name) => quoted(String(this.extra(name, column) ?? "")));
    const lines = [[...(columns ? ["column"] : []), "feature", ...this.notes, "count", "expected_count", "p_value", "q_value",
      "selected", ...effects].map(quoted).join(",")];
    for (const column of this.rows()) {
      const v = this.values(column);
      lines.push([...(columns ? [columns[column]] : []), quoted(v.feature), ...texts(this.notes, column), v.count, v.expected_count,
        v.p_value, v.q_value, v.selected ? "True" : "False", ...texts(effects, column)].join(","));
    }
    return lines.join("\n") + "\n";
  }

  download() {
    saveFile(new Blob([this.csv()], { type: "text/csv" }), "features.csv");
  }
}
