// The page: it unpacks its data, then follows the slider and the switch.

async function unpacked(id) {
  const bytes = Uint8Array.from(atob(document.getElementById(id).textContent), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

function say(id, text, value) {
  const place = document.getElementById(id);
  place.textContent = text;
  place.dataset.value = String(value);
}

class Page {
  constructor(data) {
    this.data = data;
    this.decider = new Decider(data);
    this.table = new FeatureTable(this.decider);
    this.points = qqPoints(this.decider);
    this.run = { error: data.decision.error, stop: data.slider.alpha.indexOf(data.decision.alpha) };
    this.slider = document.getElementById("alpha");
    this.slider.max = data.slider.alpha.length - 1;
    this.slider.addEventListener("input", () => this.soon());
    this.switches = Array.from(document.querySelectorAll("[name=error]"));
    for (const radio of this.switches) radio.addEventListener("change", () => this.soon());
    document.getElementById("back").addEventListener("click", () => this.reset());
    document.getElementById("copy").addEventListener("click", () => this.copy());
    for (const control of document.querySelectorAll("input:not(#fold), #copy")) control.disabled = false;
    this.theme = new Theme(() => this.drawAll());
    let width = 0;
    new ResizeObserver(([entry]) => {
      if (Math.abs(entry.contentRect.width - width) > 1) this.drawAll();
      width = entry.contentRect.width;
    }).observe(document.getElementById("histogram"));
    window.addEventListener("beforeprint", () => { this.theme.print(true); this.drawAll(); this.table.turnTo(this.table.page, PRINTED_ROWS); });
    window.addEventListener("afterprint", () => { this.theme.print(false); this.drawAll(); this.table.turnTo(0); });
    this.reset();
    this.drawAll();
  }

  reset() {
    this.slider.value = this.run.stop;
    for (const radio of this.switches) radio.checked = radio.value === this.run.error;
    this.update();
  }

  /** Follow a slider that is dragged once per frame, not once per event. */
  soon() {
    this.frame ??= requestAnimationFrame(() => { this.frame = null; this.update(); });
  }

  update() {
    const error = this.switches.find((radio) => radio.checked).value;
    const stop = Number(this.slider.value);
    const state = this.state = this.decider.at(error, stop);
    const moved = error !== this.run.error || stop !== this.run.stop;
    const { data } = this, rate = data.error_rates[error];
    const headline = moved
      ? `${state.selected} of ${data.names.length} features selected at a ${rate} of ${state.label}: ` +
        `count above ${state.thresholdLabel}, ${data.decision.expected_count} expected under the null`
      : data.headline;
    document.getElementById("headline").textContent = `${headline}.`;
    const explanation = document.getElementById("explanation");
    explanation.textContent = data.explanation || data.expected_errors;
    explanation.hidden = moved;
    say("alpha-shown", state.label, state.alpha);
    this.slider.setAttribute("aria-valuetext", state.label);
    say("selected", `${state.selected} of ${data.names.length}`, state.selected);
    say("threshold", state.thresholdLabel, state.threshold);
    say("expected", digits(state.expected, 3), state.expected);
    say("level", digits(state.level, 3), state.level);
    const note = document.getElementById("moved");
    note.hidden = !moved;
    note.firstElementChild.textContent = "The run was made at a " +
      `${data.error_rates[this.run.error]} of ${data.slider.label[this.run.stop]}; the methods below describe the run.`;
    drawHistogram(this.decider, state);
    drawQQ(this.decider, state, this.points);
    this.correlation?.draw(state.passes);
    this.table.update(state);
  }

  /** The values of features, which are unpacked once the page is seen. */
  picture(data) {
    const { table } = this;
    table.pictures = new FeaturePictures(this.decider, data);
    if (data !== null) {
      this.correlation = table.correlation = new Correlation(this.decider, table.pictures);
      table.fold.disabled = false;
      this.correlation.draw(this.state.passes);
    }
    table.showPicture();
  }

  drawAll() {
    drawHistogram(this.decider, this.state);
    drawQQ(this.decider, this.state, this.points);
    if (this.data.trajectory) drawTrajectory(this.data.trajectory);
    this.correlation?.draw(this.state.passes);
    this.table.showPicture();
  }

  async copy() {
    const references = Array.from(document.querySelectorAll(".references li"), (item, i) => `${i + 1}. ${item.textContent}`);
    const text = [document.getElementById("methods").textContent, ...references].join("\n");
    const button = document.getElementById("copy");
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      // Not every browser lets a file write to the clipboard: highlight the text instead.
      getSelection().selectAllChildren(document.getElementById("methods"));
      button.textContent = "Highlighted; copy it with the keyboard";
    }
  }
}

unpacked("data").then(async (data) => {
  window.report = new Page(data);
  document.documentElement.dataset.ready = "true";
  await new Promise((seen) => setTimeout(seen));
  window.report.picture(await unpacked("pictures"));
  document.documentElement.dataset.pictures = "true";
}).catch((error) => {
  const place = document.getElementById("failure");
  place.hidden = false;
  place.textContent = `The figures could not be drawn (${error.message}); a newer browser may help.`;
  console.error(error);
});
