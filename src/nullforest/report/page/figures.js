// Figures: drawn by Observable Plot in the colours of the page, and saved as SVG or PNG.

const styled = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
const COLOR = {
  get ink() { return styled("ink"); }, get other() { return styled("other"); },
  get selected() { return styled("selected"); }, get null() { return styled("null"); },
  get paper() { return styled("paper"); },
};
const FONT = { fontSize: "12px", fontFamily: "system-ui, sans-serif" };

/** Draw into a place, given by its id or itself; `label` says what is seen to those who cannot. */
function draw(place, label, options) {
  const box = typeof place === "string" ? document.getElementById(place) : place;
  const width = Math.max(280, box.clientWidth);
  const plot = Plot.plot({ style: FONT, marginLeft: 52, marginRight: 16, ...options(width), width });
  plot.setAttribute("role", "img");
  plot.setAttribute("aria-label", label);
  for (const mark of plot.querySelectorAll("g[aria-label]")) mark.setAttribute("role", "group"); // only roles may have labels
  box.replaceChildren(plot);
  if (box.nextElementSibling?.className !== "save") box.after(saveButtons(box, label));
}

function saveButtons(box, label) {
  const tools = document.createElement("div");
  tools.className = "save";
  for (const kind of ["SVG", "PNG"]) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = kind;
    button.setAttribute("aria-label", `Save as ${kind}: ${label}`);
    button.addEventListener("click", () => saveFigure(box, kind));
    tools.append(button);
  }
  return tools;
}

/** A figure as a file of its own: its colours inside, without the tooltip. */
function svgText(svg) {
  const copy = svg.cloneNode(true);
  for (const tip of copy.querySelectorAll("[aria-label=tip]")) tip.remove();
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.style.color = COLOR.ink;
  copy.style.background = COLOR.paper;
  return new XMLSerializer().serializeToString(copy);
}

async function saveFigure(box, kind) {
  const svg = box.querySelector("svg"), text = svgText(svg), name = box.dataset.file ?? box.id;
  if (kind === "SVG") return saveFile(new Blob([text], { type: "image/svg+xml" }), `${name}.svg`);
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = document.createElement("canvas"), scale = 2; // sharp on paper and slides
  canvas.width = scale * svg.clientWidth;
  canvas.height = scale * svg.clientHeight;
  const pen = canvas.getContext("2d");
  pen.fillStyle = COLOR.paper;
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.drawImage(image, 0, 0, canvas.width, canvas.height);
  canvas.toBlob((blob) => saveFile(blob, `${name}.png`));
}

function saveFile(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** Light or dark: as the system is set, until the button is pressed. */
class Theme {
  constructor(changed) {
    this.root = document.documentElement;
    this.button = document.getElementById("theme");
    this.system = window.matchMedia("(prefers-color-scheme: dark)");
    this.button.addEventListener("click", () => { this.root.dataset.theme = this.dark ? "light" : "dark"; this.tell(); changed(); });
    this.system.addEventListener("change", () => { this.tell(); changed(); });
    this.tell();
  }

  get dark() { return this.root.dataset.theme ? this.root.dataset.theme === "dark" : this.system.matches; }

  tell() { this.button.textContent = this.dark ? "Light" : "Dark"; }

  /** Paper is white. */
  print(begins) {
    if (begins) { this.before = this.root.dataset.theme; this.root.dataset.theme = "light"; }
    else if (this.before) this.root.dataset.theme = this.before;
    else delete this.root.dataset.theme;
  }
}
