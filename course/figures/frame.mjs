// What every figure shares: theme, controls, saving, numbers. The Python side puts this text in front of a figure's
// own module, so that the result imports nothing.

const STYLE = `
.lmf { --ink:#1b1f24; --quiet:#57606a; --line:#8c959f; --paper:#ffffff; --panel:#f3f5f7; --blue:#0072b2; --orange:#b35900; --green:#00795a;
  --purple:#8a3f97; --behind:76%;
  color:var(--ink); background:var(--paper); font:14px/1.45 system-ui,sans-serif; max-width:46rem; padding:.5rem .75rem;
  border-radius:6px; }
.lmf { color-scheme:light; }
.lmf[data-dark] { color-scheme:dark; --ink:#e6e9ed; --quiet:#a9b2bc; --line:#6e7781; --paper:#15191e; --panel:#22282f;
  --blue:#6cb6ff; --orange:#ffa657; --green:#56d4a8; --purple:#d9a5e8; --behind:45%; }
.lmf .picture { overflow-x:auto; }
.lmf svg { display:block; width:100%; height:auto; }
.lmf svg text { fill:var(--ink); font:13px system-ui,sans-serif; }
.lmf svg text.quiet { fill:var(--quiet); }
.lmf-title { margin:.1rem 0 .35rem; font-size:1.08em; font-weight:600; text-wrap:pretty; }
.lmf-row { display:flex; flex-wrap:wrap; gap:.3rem 1.1rem; align-items:center; margin:.35rem 0; }
.lmf label { display:inline-flex; gap:.45rem; align-items:center; max-width:100%; }
.lmf label > :is(select, input[type=text]) { min-width:0; }
.lmf label > span { flex:none; }
.lmf label:has(> input[type=range]) { white-space:nowrap; }
.lmf-row > span:empty { display:none; }
.lmf-row:has(> label > input[type=range]):has(> label ~ label) {
  display:grid; grid-template-columns:repeat(auto-fill, minmax(min(100%, 18rem), 1fr));
  > label { display:flex; min-width:0; }
  > label > input[type=range] { margin-left:auto; }
  > details { grid-column:1 / -1; }
  > button { justify-self:start; }
}
.lmf details > .lmf-row:has(> label) { display:grid; grid-template-columns:repeat(auto-fill, minmax(min(100%, 11rem), 1fr)); }
.lmf details > .lmf-row:has(input[type=range]) { grid-template-columns:repeat(auto-fill, minmax(min(100%, 16rem), 1fr)); }
.lmf-buttons { display:flex; flex-wrap:wrap; gap:.35rem; }
.lmf output { font-variant-numeric:tabular-nums; min-width:3.2em; }
.lmf input[type=checkbox] { accent-color:var(--blue); flex:none; width:1.05em; height:1.05em; margin:0; }
.lmf input[type=range] { appearance:none; flex:0 100 9rem; min-width:4rem; height:1.4rem; background:none; cursor:pointer; }
.lmf input[type=range]::-webkit-slider-runnable-track { height:4px; border-radius:2px; background:var(--line); }
.lmf input[type=range]::-moz-range-track { height:4px; border-radius:2px; background:var(--line); }
.lmf input[type=range]::-webkit-slider-thumb { appearance:none; width:16px; height:16px; margin-top:-6px; border-radius:50%;
  border:2px solid var(--paper); background:var(--blue); box-shadow:0 0 0 1px var(--blue); }
.lmf input[type=range]::-moz-range-thumb { box-sizing:border-box; width:16px; height:16px; border-radius:50%;
  border:2px solid var(--paper); background:var(--blue); box-shadow:0 0 0 1px var(--blue); }
.lmf button { font:inherit; color:inherit; background:var(--panel); border:1px solid var(--line); border-radius:4px;
  padding:.1rem .55rem; cursor:pointer; }
.lmf-foot { display:flex; flex-wrap:wrap; align-items:flex-end; justify-content:flex-end; column-gap:.5rem; }
.lmf-foot > .lmf-row { flex:1; margin-bottom:.1rem; }
.lmf .more { min-width:0; color:var(--quiet); }
.lmf .more[open] { flex-basis:100%; }
.lmf .more > summary { width:fit-content; margin-left:auto; padding:0 .5rem; border-radius:4px; list-style:none; line-height:1.3;
  letter-spacing:.1em; }
.lmf .more > summary::-webkit-details-marker { display:none; }
.lmf .more > summary:hover, .lmf .more[open] > summary { background:var(--panel); color:var(--ink); }
.lmf button:hover:enabled { border-color:var(--ink); }
.lmf button:disabled { opacity:.45; cursor:default; }
.lmf select, .lmf input[type=text] { font:inherit; color:inherit; background:var(--paper); text-overflow:ellipsis;
  border:1px solid var(--line); border-radius:4px; padding:.1rem .3rem; }
.lmf :focus-visible { outline:2px solid var(--blue); outline-offset:2px; }
.lmf table { border-collapse:collapse; font-variant-numeric:tabular-nums; margin:.4rem 0; background:transparent; color:inherit; }
.lmf th, .lmf td { border:1px solid var(--line); padding:.1rem .45rem; text-align:right; color:inherit;
  background:transparent; font-weight:normal; white-space:nowrap; }
.lmf .words { text-align:left; }
.lmf .numbers { overflow-x:auto; }
.lmf .numbers code { font:12px ui-monospace,monospace; color:inherit; }
.lmf summary { cursor:pointer; }`;

const DARK = "body[data-jp-theme-light=false], html[data-theme=dark], html[theme=dark], html.dark, body[data-vscode-theme-kind*=dark]";
const LIGHT = "body[data-jp-theme-light=true], html[data-theme=light], html[theme=light], html.light, body[data-vscode-theme-kind*=light]";

const PHRASES = {}; // in another language: what is said for each English phrase

/** A phrase in the page's language, with its places such as {n} filled in. */
const phrase = (template, values = {}) =>
  (PHRASES[template] ?? template).replace(/\{(\w+)\}/g, (place, name) => values[name] ?? place);

function isDark() {
  if (document.querySelector(DARK)) return true;
  if (document.querySelector(LIGHT)) return false;
  return matchMedia("(prefers-color-scheme: dark)").matches;
}

function node(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

// Lines as paths, because browsers let no other line glide.
const PATHS = {
  line: ({ x1, y1, x2, y2, ...rest }) => ({ d: `M${x1},${y1} ${x2},${y2}`, ...rest }),
  polyline: ({ points, ...rest }) => ({ d: `M${points}`, ...rest }),
};

const RAISED = { "-": "⁻", "+": "", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };
const NUMBER = /(?<![\w.])(-?)(\d+(?:\.\d+)?)(?:e([+-]?)0*(\d+))?(?![\w.]*\w)/g;

/** A text's numbers as they are printed, not as they are typed: −0.5, 6.8·10⁻³, 10⁴. */
const printed = (text) => text.replace(NUMBER, (_, minus, digits, sign, power) => (minus ? "−" : "")
  + (power === undefined ? digits : `${digits === "1" ? "" : `${digits}·`}10${[...sign, ...power].map((each) => RAISED[each]).join("")}`));
const isNumber = (text) => text.replace(NUMBER, "") === "";

/** A whole number below the line: 12 → "₁₂". */
const subscript = (n) => [...String(n)].map((digit) => "₀₁₂₃₄₅₆₇₈₉"[digit]).join("");

/** An element of SVG; a `line` or `polyline` becomes a path, and a text that is a number is printed as one. */
function shape(tag, attributes = {}, text = null) {
  if (tag in PATHS) return shape("path", PATHS[tag](attributes), text);
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== null) made.textContent = isNumber(String(text)) ? printed(String(text)) : text;
  return made;
}

/** "h_{t−1}" → [["h", false], ["t−1", true]]: the pieces of a name, and whether they stand lower. */
function pieces(name) {
  return name.split(/_(\{[^}]*\}|\w+|\S)/).map((text, i) => [text.replace(/[{}]/g, ""), i % 2 === 1]).filter(([text]) => text);
}

/** A name in a picture. */
function named(name, attributes) {
  const text = shape("text", attributes);
  let isLow = false;
  for (const [piece, low] of pieces(name)) {
    const more = low === isLow ? {} : { dy: low ? 3 : -3 };
    text.append(shape("tspan", { ...more, ...(low ? { style: "font-size:78%" } : {}) }, piece));
    isLow = low;
  }
  return text;
}

/** The same in a paragraph. */
const written = (text) => pieces(text).map(([piece, low]) => (low ? node("sub", { style: "line-height:0" }, piece) : piece));

/** The element itself; where it scrolls, it does so by keys, too. */
function reachable(element) {
  new ResizeObserver(() => {
    if (element.scrollWidth > element.clientWidth) element.tabIndex = 0;
    else element.removeAttribute("tabindex");
  }).observe(element);
  return element;
}

// Where the page is narrower, the picture scrolls rather than shrinks its words: by no more than a seventh if it is wide.
const legible = (width) => Math.round(Math.max(Math.min(width, 520), 0.86 * width));

function measure(picture, { width, height, least = legible(width) }) {
  picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
  picture.setAttribute("style", `max-width:${Math.round(1.1 * width)}px;min-width:${least}px`);
}

/** A picture's parts, each a group with coordinates of its own; `arrange` says where they stand. */
function parts({ picture }, count) {
  const made = Array.from({ length: count }, () => shape("g"));
  picture.append(...made);
  return made;
}

/**
 * Draw a picture in the layout for which the page has room, and again in the other when that changes.
 * Each layout: {width, height}, and, if the picture has parts, `at`: where each of them begins, [x, y].
 */
function arrange({ picture }, { wide, narrow }, draw) {
  const box = picture.parentElement;
  let chosen = null;
  const look = () => {
    if (chosen && !box.clientWidth) return; // it is hidden
    const isNarrow = box.clientWidth && box.clientWidth < legible(wide.width), layout = isNarrow ? narrow : wide;
    if (layout === chosen) return;
    chosen = layout;
    measure(picture, isNarrow ? { ...layout, least: Math.round(0.88 * layout.width) } : layout);
    layout.at?.forEach((place, i) => picture.children[i].setAttribute("transform", `translate(${place})`));
    draw(layout);
  };
  look();
  new ResizeObserver(look).observe(box);
}

/**
 * A figure's empty frame: {root, controls, picture, say(text), numbers(header, rows)}.
 * title: the sentence above it, which says what is to be seen. label: what a screen reader says of the picture.
 */
function frame(el, { width, height, label, title = label, name }) {
  const root = node("div", { class: "lmf" });
  const controls = node("div", { class: "lmf-row" });
  const picture = shape("svg", { role: "img", "aria-label": label });
  measure(picture, { width, height });
  const scrolled = reachable(node("div", { class: "picture" }, picture));
  const spoken = node("div", { class: "lmf-row", "aria-live": "polite" });
  const table = reachable(node("div", { class: "numbers" }));
  const saved = node("div", { class: "lmf-row" });
  for (const kind of ["SVG", "PNG"]) {
    const button = node("button", { type: "button" }, phrase("Save {kind}", { kind }));
    button.addEventListener("click", () => save(picture, root, `${name}.${kind.toLowerCase()}`));
    saved.append(button);
  }
  const opener = node("summary", { "aria-label": phrase("Save the picture, or read its numbers") }, "⋯");
  const more = node("details", { class: "more" }, opener, saved, table);
  root.append(node("style", {}, STYLE), node("p", { class: "lmf-title" }, title), controls, scrolled,
    node("div", { class: "lmf-foot" }, spoken, more));
  // JupyterLab takes arrow keys for itself, except from an element that bears this mark.
  root.addEventListener("focusin", ({ target }) => target.setAttribute("data-lm-suppress-shortcuts", ""));
  el.replaceChildren(root);
  glide(picture);
  const theme = () => root.toggleAttribute("data-dark", isDark());
  theme();
  const watch = new MutationObserver(theme);
  for (const watched of [document.documentElement, document.body]) watch.observe(watched, { attributes: true });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", theme);
  return {
    root, controls, picture,
    say: (text) => { spoken.textContent = printed(text); },
    numbers: (header, rows) => table.replaceChildren(tabulate(header, rows)),
  };
}

/** A table. Numbers stand at the right, as they are printed; a column with words, or with nodes, stands at the left. */
function tabulate(header, rows) {
  const isWords = header.map((_, i) => rows.some((row) => row[i] instanceof Node || /\p{L}{3}/u.test(row[i] ?? "")));
  const told = (content) => (content instanceof Node ? content : isNumber(String(content)) ? printed(String(content)) : String(content));
  const cell = (tag, content, i, attributes = {}) =>
    node(tag, { ...attributes, ...(isWords[i] ? { class: "words" } : {}) }, told(content));
  const title = (text, i) => (text === "" ? node("td") : cell("th", text, i, { scope: "col" })); // an empty corner heads nothing
  const line = ([first, ...rest]) =>
    node("tr", {}, cell("th", first, 0, { scope: "row" }), ...rest.map((content, i) => cell("td", content, i + 1)));
  return node("table", {}, node("thead", {}, node("tr", {}, ...header.map(title))), node("tbody", {}, ...rows.map(line)));
}

function slider(controls, { label, min, max, step, value, show = String }, changed) {
  const input = node("input", { type: "range", min, max, step, value });
  const shown = node("output"), tell = (now) => { shown.textContent = printed(String(show(now))); };
  tell(Number(value));
  input.addEventListener("input", () => { tell(Number(input.value)); changed(Number(input.value)); });
  controls.append(node("label", {}, label, input, shown));
  return input;
}

function toggle(controls, { label, checked = false }, changed) {
  const input = node("input", { type: "checkbox" });
  input.checked = checked;
  input.addEventListener("change", () => changed(input.checked));
  controls.append(node("label", {}, input, label));
  return input;
}

function choose(controls, { label, options, value }, changed) {
  const select = node("select", {}, ...options.map((text, index) => node("option", { value: index }, text)));
  select.value = String(value);
  select.addEventListener("change", () => changed(Number(select.value)));
  controls.append(node("label", {}, label, select));
  return select;
}

/** A field for text. A telephone that writes a capital or corrects a word would change the answer. */
function field(controls, label, attributes = {}) {
  const input = node("input", { type: "text", autocapitalize: "none", autocorrect: "off", autocomplete: "off", spellcheck: "false",
    ...attributes });
  controls.append(node("label", {}, label, input));
  return input;
}

/** A button; neighbours stand side by side. */
function press(controls, label, act, attributes = {}) {
  const button = node("button", { type: "button", ...attributes }, label), last = controls.lastElementChild;
  button.addEventListener("click", act);
  if (last?.className === "lmf-buttons") last.append(button);
  else controls.append(node("div", { class: "lmf-buttons" }, button));
  return button;
}

/** A slider with buttons for a step back and a step on, which rest at the ends. `names`: what each says, and its spoken name. */
function stepper(controls, settings, changed, names = [[phrase("Back")], [phrase("Next")]]) {
  const ends = ["min", "max"];
  const dial = slider(controls, settings, (now) => { rest(); changed(now); });
  const buttons = names.map(([label, spoken = label], i) =>
    press(controls, label, () => put(dial, Number(dial.value) + (i ? 1 : -1) * (dial.step || 1)), { "aria-label": spoken }));
  function rest() {
    buttons.forEach((button, i) => {
      const isHeld = button === document.activeElement;
      button.disabled = dial.value === dial[ends[i]];
      if (button.disabled && isHeld) dial.focus(); // so that the keys still have their place
    });
  }
  rest();
  return dial;
}

const isLevel = (word, wide) => 8 * word.length <= Math.max(wide, 8);

/** How much room words need above columns of this width. */
const headingsHeight = (words, wide) => 14 + Math.max(...words.map((word) => (isLevel(word, wide) ? 13 : 8 * word.length)));

/** The word above a column: level if it has room, else upwards. */
function heading(word, { x, y, wide, ...more }) {
  const place = isLevel(word, wide) ? { x, y, "text-anchor": "middle" } : { transform: `translate(${x + 4},${y}) rotate(-90)` };
  return shape("text", { ...place, ...more }, word);
}

/** Let a hand move what it presses: `follow` gets its place in the picture, which may be painted anew meanwhile. */
function dragged(target, picture, follow) {
  const move = (event) => follow(new DOMPoint(event.clientX, event.clientY).matrixTransform(picture.getScreenCTM().inverse()));
  const stop = () => { for (const [name, listener] of Object.entries(heard)) removeEventListener(name, listener); };
  const heard = { pointermove: move, pointerup: stop, pointercancel: stop };
  target.addEventListener("pointerdown", (down) => {
    for (const [name, listener] of Object.entries(heard)) addEventListener(name, listener);
    down.preventDefault();
    move(down);
  });
}

/** Set a slider to a value as if the reader had done it. */
function put(input, value) {
  input.value = value;
  input.dispatchEvent(new Event("input"));
}

const GEOMETRY = ["x", "y", "width", "height", "cx", "cy", "r"];
const FOLLOWED = 250; // milliseconds: what is painted again sooner follows a hand, and does so at once

/** How a path is drawn or a text is turned, without the numbers. */
const outline = (part) => (part.getAttribute("d") ?? part.getAttribute("transform") ?? "").replace(/[\d.e+-]+/g, "0");

/** Which part each new part was before: the one of its `data-key`, of its words, or of its place among as many of its kind. */
function paired(gone, made) {
  const pairs = new Map(), done = new Set();
  const nameOf = (part) => part.dataset.key ?? (part.tagName === "text" ? part.textContent : null);
  const kindOf = (part) => (part.dataset.key || done.has(part) ? null : part.tagName + outline(part));
  for (const groupOf of [nameOf, kindOf]) {
    const [before, now] = [gone, made].map((parts) => Map.groupBy(parts, groupOf));
    for (const [group, parts] of now)
      if (group !== null && before.get(group)?.length === parts.length)
        parts.forEach((part, i) => { pairs.set(part, before.get(group)[i]); done.add(part).add(before.get(group)[i]); });
  }
  return pairs;
}

/** Where a text stands, in the coordinates of what holds it, however it is turned. */
function anchor(text) {
  const turns = text.transform.baseVal;
  let place = new DOMPoint(Number(text.getAttribute("x")), Number(text.getAttribute("y")));
  for (let i = turns.numberOfItems - 1; i >= 0; i--) place = place.matrixTransform(turns.getItem(i).matrix);
  return place;
}

/** The frames of the glide from one part to another; none if a line has more points now, or a text is turned. */
function frames(was, part) {
  if (outline(was) !== outline(part)) return {};
  if (part.tagName === "text") {
    const [from, to] = [was, part].map(anchor);
    return from.x === to.x && from.y === to.y ? {} : { translate: [`${from.x - to.x}px ${from.y - to.y}px`, "0px 0px"] };
  }
  const changed = (names, css) => names.map((name) => [name, [was, part].map((each) => each.getAttribute(name))])
    .filter(([, [from, to]]) => from !== to && from !== null && to !== null).map(([name, ends]) => [name, ends.map(css)]);
  return Object.fromEntries([...changed(GEOMETRY, (end) => `${end}px`), ...changed(["fill", "stroke"], String),
    ...changed(["d"], (end) => `path("${end}")`)]);
}

/** Let what is painted anew glide from where it was. */
function glide(picture) {
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  const partsIn = (nodes) => new Set(nodes.filter((each) => each instanceof Element)
    .flatMap((each) => [each, ...each.querySelectorAll("*")])
    .filter((each) => ["rect", "circle", "path", "text"].includes(each.tagName)));
  let last = 0;
  new MutationObserver((records) => {
    const isFollowing = performance.now() - last < FOLLOWED;
    last = performance.now();
    if (still.matches || isFollowing) return;
    const [removed, added] = ["removedNodes", "addedNodes"].map((key) => partsIn(records.flatMap((record) => [...record[key]])));
    const gone = [...removed].filter((part) => !added.has(part)), made = [...added].filter((part) => picture.contains(part));
    for (const [part, was] of paired(gone, made)) {
      const glided = frames(was, part);
      if (Object.keys(glided).length) part.animate(glided, { duration: 220, easing: "ease-out" });
    }
  }).observe(picture, { childList: true, subtree: true });
}

/** Room for words: the function returned claims a place and says whether it was free; x is where the words begin. */
function room() {
  const taken = [];
  return (x, y, words, size) => {
    const [left, right, top, bottom] = [x, x + 0.65 * size * words.length, y - size, y + 0.25 * size];
    if (taken.some((each) => left < each.right && each.left < right && top < each.bottom && each.top < bottom)) return false;
    taken.push({ left, right, top, bottom });
    return true;
  };
}

/** Save the picture with the colours of this moment written into it. */
function save(picture, root, filename) {
  const copy = picture.cloneNode(true);
  const { width, height } = picture.viewBox.baseVal;
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  const colours = getComputedStyle(root);
  const names = ["ink", "quiet", "line", "paper", "panel", "blue", "orange", "green", "purple", "behind"];
  const resolved = names.map((name) => `--${name}:${colours.getPropertyValue(`--${name}`)};`).join("");
  copy.setAttribute("style", `${resolved}background:${colours.getPropertyValue("--paper")}`);
  copy.prepend(shape("style", {}, "text{fill:var(--ink);font:13px sans-serif} text.quiet{fill:var(--quiet)}"));
  const source = new Blob([new XMLSerializer().serializeToString(copy)], { type: "image/svg+xml" });
  if (filename.endsWith(".svg")) return download(URL.createObjectURL(source), filename);
  const image = new Image();
  image.onload = () => {
    const canvas = node("canvas", { width: 2 * width, height: 2 * height });
    canvas.getContext("2d").drawImage(image, 0, 0, 2 * width, 2 * height);
    download(canvas.toDataURL("image/png"), filename);
  };
  image.src = URL.createObjectURL(source);
}

function download(address, filename) {
  node("a", { href: address, download: filename }).click();
}

/** Blue at 1, the panel's colour at 0: legible on light and dark. */
const strength = (weight) => `color-mix(in srgb, var(--blue) ${(100 * Math.max(0, Math.min(1, weight))).toFixed(1)}%, var(--panel))`;

/** The same for what stands behind a number: pale enough, in the light and in the dark, for its ink. */
const behind = (weight) =>
  `color-mix(in srgb, var(--blue) calc(${Math.max(0, Math.min(1, weight)).toFixed(3)} * var(--behind)), var(--panel))`;

/** The style of words that may stand on a line or a bar. */
const HALO = "paint-order:stroke;stroke:var(--paper);stroke-width:3px;stroke-linejoin:round";

export {
  HALO, arrange, behind, choose, dragged, field, frame, heading, headingsHeight, named, node, parts, phrase, pieces, press, printed,
  put, room, shape, slider, stepper, strength, subscript, toggle, written,
};
