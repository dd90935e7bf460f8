// A machine drawn: boxes are tensors, lines are products or functions. It is built up step by step, and every box
// can be asked for its shape and its line of code.

import { frame, named, node, pieces, put, shape, stepper, toggle, written } from "./frame.mjs";

const COLOURS = { input: "quiet", query: "blue", key: "orange", value: "green", residual: "ink", state: "purple" };
const RULES = `
.lmf .part { transition:opacity .18s; }
.lmf .part.later { opacity:.14; pointer-events:none; }
.lmf .tensor { cursor:help; outline:none; }
.lmf .tensor:is(:hover, :focus-visible, .asked) > .edge { stroke-width:3.5; }
.lmf .sentence { min-height:2.9em; margin:.2rem 0 .3rem; font-size:15px; text-wrap:pretty; }
.lmf .guide { position:sticky; top:0; z-index:1; background:var(--paper); }
.lmf .answer { min-height:3.1em; margin:.2rem 0; color:var(--quiet); }
.lmf .answer b { color:var(--ink); }
.lmf .answer code { font:12.5px/1.5 ui-monospace,monospace; color:var(--ink); background:var(--panel); padding:.1rem .4rem;
  border-radius:4px; overflow-wrap:anywhere; }
@media (prefers-reduced-motion: reduce) { .lmf .part { transition:none; } }
@media print { .lmf .part.later { opacity:1 !important; } .lmf .lmf-row, .lmf .answer { display:none; } }`;
const CELL = 9, MONO = "font:11px ui-monospace,monospace";

const paint = (role) => `var(--${COLOURS[role]})`;
const tint = (role, share) => `color-mix(in srgb, ${paint(role)} ${share}%, var(--paper))`;

const placed = ({ place: [x, y], anchor }) => ({ x, y, "text-anchor": anchor });

/** What a screen reader says of a box. */
export function spoken({ name, shape: letters, numbers, code }) {
  return `${pieces(name).map(([text]) => text).join(" ")}, shape ${letters.replaceAll("_", " ")} = ${numbers}: ${code}`;
}

/** The name of the frame that a box stands in; the smallest, where one holds another. */
function around({ place: [x, y, w, h] }, regions) {
  const isIn = ({ place: [left, top, wide, high] }) => x >= left && y >= top && x + w <= left + wide && y + h <= top + high;
  const [smallest] = regions.filter(isIn).sort((a, b) => a.place[2] * a.place[3] - b.place[2] * b.place[3]);
  return smallest?.label.text ?? "";
}

/** The numbers of a tensor: a strip of cells, words in a row, or a square of weights. */
function cells({ role, place: [x, y, w, h], cells: [columns, rows], strip, words, isSquare, isCausal }) {
  const left = x + (w - strip) / 2, wide = strip / columns, high = words.length ? 17 : isSquare ? CELL : 8;
  const top = y + h - 6 - rows * high, made = [];
  for (let row = 0; row < rows; row++)
    for (let column = 0; column < columns; column++) {
      const isShut = isCausal && column > row;
      made.push(shape("rect", { x: left + column * wide + 0.5, y: top + row * high + 0.5, width: wide - 1, height: high - 1, rx: 1.5,
        fill: isShut ? "var(--panel)" : tint(role, words.length ? 14 : 45), stroke: isShut ? "var(--line)" : "none",
        "stroke-width": 0.5 }));
      if (words.length) made.push(named(words[column],
        { x: left + (column + 0.5) * wide, y: top + 12.5, "text-anchor": "middle", style: "font:12px system-ui,sans-serif" }));
    }
  return made;
}

export default {
  pieces,
  spoken,
  render({ model, el }) {
    const { title, width, height, sentences, regions, lines, signs, boxes } = model.get("data");
    const last = sentences.length - 1, state = { step: last, asked: null };
    const view = frame(el, { width, height, label: title, name: title.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-") });
    view.root.append(node("style", {}, RULES));
    view.picture.setAttribute("role", "group"); // not "img": its boxes can be asked one by one
    view.picture.style.marginInline = "auto";
    view.picture.style.minWidth = `${Math.min(width, 600)}px`;
    const sentence = node("p", { class: "sentence", "aria-live": "polite" });
    const answer = node("p", { class: "answer", "aria-live": "polite" });
    const guide = node("div", { class: "guide" });
    view.controls.before(guide);
    guide.append(view.controls, sentence, answer);
    const steps = stepper(view.controls,
      { label: "build it up", min: 1, max: last + 1, step: 1, value: last + 1, show: (n) => `${n} of ${last + 1}` },
      (n) => { state.step = n - 1; go(); });
    toggle(view.controls.lastElementChild, { label: "shapes in numbers" }, (on) => {
      for (const { made, box } of drawn)
        made.querySelector(".shape").replaceChildren(...named(on ? box.numbers : box.shape, {}).childNodes);
    });

    function part(step, ...children) {
      const made = shape("g", { class: "part", "data-step": step });
      made.append(...children);
      view.picture.append(made);
      return made;
    }

    for (const { step, label, place: [x, y, w, h] } of regions)
      part(step, shape("rect", { x, y, width: w, height: h, rx: 12, fill: "var(--panel)", "fill-opacity": 0.6, stroke: "var(--line)",
        "stroke-dasharray": "2 4" }), named(label.text, { ...placed(label), class: "quiet", style: "font-size:12px" }));
    for (const { step, role, path, head, dashed, label } of lines) {
      const colour = paint(role);
      const wire = part(step, shape("path", { d: path, fill: "none", stroke: colour, "stroke-width": 1.8, "stroke-linecap": "round",
        ...(dashed ? { "stroke-dasharray": "5 4" } : {}) }));
      if (head) wire.append(shape("path", { d: head, fill: colour }));
      if (label) wire.append(named(label.text, { ...placed(label),
        style: `font-size:12.5px;fill:${colour};paint-order:stroke;stroke:var(--paper);stroke-width:4px` }));
    }
    for (const { step, text, place: [x, y], radius } of signs)
      part(step, shape("circle", { cx: x, cy: y, r: radius, fill: "var(--paper)", stroke: "var(--ink)", "stroke-width": 1.6 }),
        shape("text", { x, y: y + 5, "text-anchor": "middle", style: "font-size:16px" }, text));
    const drawn = boxes.map((box) => {
      const { step, name, role, copies, place: [x, y, w, h] } = box;
      const behind = Array.from({ length: copies - 1 }, (_, i) => 4 * (copies - 1 - i)).map((by) =>
        shape("rect", { x: x + by, y: y - by, width: w, height: h, rx: 6, fill: tint(role, 7), stroke: paint(role), "stroke-width": 1 }));
      const made = part(step, ...behind,
        shape("rect", { class: "edge", x, y, width: w, height: h, rx: 6, fill: tint(role, 7), stroke: paint(role), "stroke-width": 1.6 }),
        named(name, { x: x + w / 2, y: y + 18, "text-anchor": "middle", style: `font:600 14px system-ui,sans-serif;fill:${paint(role)}` }),
        named(box.shape, { class: "shape quiet", x: x + w / 2, y: y + 34, "text-anchor": "middle", style: MONO }), ...cells(box));
      made.classList.add("tensor");
      made.setAttribute("role", "button");
      made.setAttribute("aria-label", spoken(box));
      for (const event of ["pointerenter", "focus", "click"]) made.addEventListener(event, () => ask(box, made));
      return { made, box };
    });

    function ask(box, made) {
      for (const each of drawn) each.made.classList.toggle("asked", each.made === made);
      answer.replaceChildren(node("b", {}, ...written(box.name)), " ", ...written(box.shape),
        ` = ${box.numbers}, in ${box.file}`, node("br"), node("code", {}, box.code));
      el.dispatchEvent(new CustomEvent("asked", { bubbles: true, detail: box })); // a page may show more
    }

    function go() {
      sentence.replaceChildren(...written(sentences[state.step]));
      for (const each of view.picture.querySelectorAll(".part")) {
        const isLater = Number(each.dataset.step) > state.step;
        each.classList.toggle("later", isLater);
        each.style.opacity = isLater ? 0.14 : "";
        if (each.classList.contains("tensor")) each.setAttribute("tabindex", isLater ? -1 : 0);
        each.setAttribute("aria-hidden", isLater);
      }
      follow();
    }

    /**
     * Scroll to what is new, if it is out of sight: the page below the guide, which stays, and the picture sideways,
     * no further than needed, because the stream stands at the left.
     */
    function follow() {
      const room = view.picture.parentElement, added = drawn.find(({ box }) => box.step === state.step);
      if (!added || state.step === last) return;
      const { place: [x, , w] } = added.box, scale = view.picture.clientWidth / width, at = added.made.getBoundingClientRect();
      const behavior = matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth";
      if (room.scrollWidth > room.clientWidth)
        room.scrollTo({ left: Math.min(x * scale - 16, (x + w) * scale + 16 - room.clientWidth), behavior });
      if (at.top < guide.getBoundingClientRect().bottom || at.bottom > innerHeight)
        scrollBy({ top: at.bottom + 24 - innerHeight, behavior });
    }

    answer.textContent = matchMedia("(hover: none)").matches ? "Touch a box: its shape and its line of code appear here."
      : "Point at a box, or reach it with Tab: its shape and its line of code appear here.";
    const shown = (text) => node("span", {}, ...written(text));
    const columns = { tensor: (box) => shown(box.name), ...(regions.length > 1 ? { part: (box) => around(box, regions) } : {}),
      shape: (box) => shown(box.shape), numbers: (box) => box.numbers, "line of code": (box) => node("code", {}, box.code),
      file: (box) => box.file };
    view.numbers(Object.keys(columns), boxes.map((box) => Object.values(columns).map((cell) => cell(box))));
    go();
    const begin = node("button", { type: "button" }, "Build it up from the beginning");
    begin.addEventListener("click", () => { put(steps, 1); steps.focus(); });
    sentence.replaceChildren(`The whole, in ${last + 1} steps. `, begin);
  },
};
