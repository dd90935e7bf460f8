// From logits to the next word: the reader sets the logits and the filters, and draws.

import { arrange, choose, dragged, frame, HALO, press, put, shape, slider } from "./frame.mjs";
import { entropy, heated, minP, softmax, topK, topP } from "./models/sampler.mjs";

const bits = (probs) => entropy(probs) / Math.LN2;
const filters = { topK, topP, minP };

/** Top-k, then top-p, then min-p; the temperature before all of them or after. Entropies in bits. */
export function sample(logits, { temperature, topK, topP, minP, isHotFirst }) {
  const seen = isHotFirst ? heated(logits, temperature) : logits;
  const left = Object.entries({ topK, topP, minP }).reduce((now, [name, value]) => filters[name](now, value), seen);
  const before = softmax(seen), after = softmax(isHotFirst ? left : heated(left, temperature)), kept = left.map((z) => z > -Infinity);
  const removed = before.reduce((sum, p, i) => sum + (kept[i] ? 0 : p), 0);
  return { before, after, kept, removed, entropyBefore: bits(before), entropyAfter: bits(after) };
}

/** Numbers in [0, 1) that are the same for the same seed on every machine (mulberry32). */
export function generator(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t = (t + Math.imul(t ^ (t >>> 7), t | 61)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** How often each outcome comes up in n draws: the first whose cumulated probability exceeds a number in [0, 1). */
export function draw(probs, n, random) {
  const counts = probs.map(() => 0), last = probs.reduce((found, p, i) => (p > 0 ? i : found), 0);
  for (let k = 0; k < n; k++) {
    let rest = random(), i = 0;
    while (i < last && rest >= probs[i]) rest -= probs[i++];
    counts[i]++;
  }
  return counts;
}

const N_DRAWS = 200;

export default {
  render({ model, el }) {
    const { tokens, logits: given, low, high, settings: start } = model.get("data");
    const n = tokens.length, zTop = 8, zTall = 130, base = 372, tall = 190;
    const turned = Math.max(...tokens.map((token) => 8 * token.length)); // how tall a word is that is written upwards
    const layouts = {
      wide: { width: 640, height: 430, left: 60 },
      narrow: { width: 340, height: 430 + turned, left: 58, isTurned: true },
    };
    let { width, left, isTurned } = layouts.wide;
    const groupOf = () => (width - left - 6) / n; // the width of a word's column
    const view = frame(el, { ...layouts.wide,
      title: "From logits to the word that is drawn",
      label: "Logits, and what is left of their probabilities", name: "sampling_bench" });
    view.picture.setAttribute("role", "group"); // its bars are sliders
    const logits = [...given], settings = { ...start };
    let seed = 0, counts = null;
    const changed = () => { counts = null; show(); };
    const knob = (label, name, min, max, step, text) =>
      slider(view.controls, { label, min, max, step, value: settings[name], show: text },
        (value) => { settings[name] = value; changed(); });
    const knobs = {
      temperature: knob("temperature", "temperature", 0.1, 3, 0.05, (t) => t.toFixed(2)),
      topK: knob("top-k", "topK", 1, n, 1, (k) => (k >= n ? "off" : String(k))),
      topP: knob("top-p", "topP", 0.05, 1, 0.01, (p) => (p >= 1 ? "off" : p.toFixed(2))),
      minP: knob("min-p", "minP", 0, 0.9, 0.01, (p) => (p > 0 ? p.toFixed(2) : "off")),
    };
    const order = choose(view.controls,
      { label: "order", options: ["filters, then temperature", "temperature, then filters"], value: Number(settings.isHotFirst) },
      (place) => { settings.isHotFirst = place === 1; changed(); });
    press(view.controls, `Draw ${N_DRAWS}`, () => { counts = draw(sample(logits, settings).after, N_DRAWS, generator(++seed)); show(); });
    press(view.controls, "Back to the start", () => {
      logits.splice(0, n, ...given);
      Object.assign(settings, start);
      for (const [name, input] of Object.entries(knobs)) { put(input, start[name]); }
      order.value = String(Number(start.isHotFirst));
      seed = 0;
      changed();
    });

    const definitions = shape("defs"),
      hatch = shape("pattern",
        { id: `hatch-${model.get("data").id}`, width: 5, height: 5, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" });
    hatch.append(shape("line", { x1: 0, x2: 0, y1: 0, y2: 5, stroke: "var(--orange)", "stroke-width": 2 }));
    definitions.append(hatch);
    const painted = shape("g"), zOf = (y) => high - ((y - zTop) / zTall) * (high - low),
      yOf = (z) => zTop + (zTall * (high - z)) / (high - low);
    view.picture.append(definitions, painted);
    const set = (i, z) => { logits[i] = Math.round(10 * Math.max(low, Math.min(high, z))) / 10; changed(); };
    const handles = tokens.map((token, i) => {
      const handle = shape("g", { tabindex: 0, role: "slider", "aria-label": `logit of ${token}`, "aria-valuemin": low,
        "aria-valuemax": high, style: "cursor:ns-resize;touch-action:none" });
      const bar = shape("rect", { fill: "var(--green)" });
      const ground = shape("rect", { y: zTop, height: zTall, fill: "transparent" });
      handle.append(ground, bar);
      handle.addEventListener("pointerdown", () => handle.focus());
      dragged(handle, view.picture, ({ y }) => set(i, zOf(y)));
      handle.addEventListener("keydown", (event) => {
        const steps = { ArrowUp: 0.1, ArrowDown: -0.1, PageUp: 1, PageDown: -1 }, moves = { ArrowRight: 1, ArrowLeft: n - 1 };
        if (event.key in steps) set(i, logits[i] + steps[event.key]);
        else if (event.key in moves) handles[(i + moves[event.key]) % n].handle.focus();
        else return;
        event.preventDefault();
      });
      view.picture.append(handle);
      return { handle, bar, ground };
    });

    const text = (x, y, words, more = {}) => painted.append(shape("text", { x, y, ...more }, words));
    const column = (x, wide, size, fill, title) => {
      const made = shape("rect",
        { x, y: base - size, width: wide, height: Math.max(0.8, size), fill, stroke: "var(--line)", "stroke-width": 0.5 });
      made.append(shape("title", {}, title));
      painted.append(made);
    };

    let minPAt = () => 0; // which min-p a height in the picture stands for

    /** The probability below which min-p removes a word, as a line that can be dragged. */
    function limit(y) {
      for (const more of [{ stroke: "var(--orange)", "stroke-dasharray": "5 3", "stroke-width": 1.5 },
        { stroke: "transparent", "stroke-width": 14, style: "cursor:ns-resize;touch-action:none" }])
        painted.append(shape("line", { x1: left, x2: width, y1: y, y2: y, ...more }));
      dragged(painted.lastChild, view.picture, (at) => put(knobs.minP, minPAt(at.y)));
      text(left - 4, y + 4, "min-p", { "text-anchor": "end", style: `font-size:11px;${HALO}` }); // beside the bars
    }

    function show() {
      const group = groupOf(), found = sample(logits, settings), { before, after, kept } = found;
      const most = Math.ceil(4 * Math.max(...before, ...after, ...(counts ?? []).map((count) => count / N_DRAWS))) / 4, scale = tall / most;
      painted.replaceChildren();
      text(0, zTop + 12, "logit z");
      text(0, base - tall + 4, `P = ${most}`, { class: "quiet" });
      text(0, base + 4, "0", { class: "quiet" });
      for (const y of [yOf(Math.max(low, 0)), base - tall, base])
        painted.append(shape("line", { x1: left, x2: width, y1: y, y2: y, stroke: "var(--line)" }));
      tokens.forEach((token, i) => {
        const x = left + i * group, wide = (group - 8) / 2, zero = yOf(Math.max(low, 0)), y = yOf(logits[i]);
        const spans = { bar: { x: x + 4, width: group - 8, y: Math.min(y, zero), height: Math.max(2, Math.abs(zero - y)) },
          ground: { x, width: group } };
        for (const [part, span] of Object.entries(spans))
          for (const [name, value] of Object.entries(span)) handles[i][part].setAttribute(name, value);
        handles[i].handle.setAttribute("aria-valuenow", logits[i]);
        handles[i].handle.setAttribute("aria-valuetext", `${logits[i].toFixed(1)}, P ${after[i].toFixed(3)}`);
        text(x + group / 2, zTop + zTall + 14, logits[i].toFixed(1), { "text-anchor": "middle", class: "quiet", style: "font-size:11px" });
        column(x + 4, wide, scale * before[i], kept[i] ? "var(--panel)" : `url(#${hatch.id})`,
          `${token}: ${before[i].toFixed(4)} before the filters`);
        column(x + 4 + wide, wide, scale * after[i], "var(--blue)", `${token}: ${after[i].toFixed(4)} in the end`);
        if (counts && kept[i])
          painted.append(shape("path",
            { d: `M${x + 2 + wide} ${base - (scale * counts[i]) / N_DRAWS} h${wide + 4}`, stroke: "var(--ink)", "stroke-width": 3 }));
        const place = isTurned ? { x: 0, y: 0, "text-anchor": "end", transform: `translate(${x + group / 2 + 4},${base + 8}) rotate(-90)` }
          : { x: x + group / 2, y: base + 16, "text-anchor": "middle" };
        text(place.x, place.y, token, { ...place, style: "font-size:12px;" + (kept[i] ? "" : "text-decoration:line-through") });
      });
      minPAt = (y) => (base - y) / (scale * Math.max(...before));
      limit(base - scale * settings.minP * Math.max(...before));
      const legend = ["faint: before the filters, hatched where removed",
        "blue: renormalised" + (counts ? " · line: fraction of the draws" : "")];
      const lines = isTurned ? legend : [legend.join(" · ")];
      lines.forEach((words, i) => text(isTurned ? 0 : left, base + 36 + 16 * i + (isTurned ? turned - 8 : 0), words,
        { class: "quiet", style: "font-size:11px" }));
      const mass = `${(100 * found.removed).toFixed(1)} % of the probability removed`;
      const distance = counts
        ? ` Of ${N_DRAWS} draws, ${(50 * after.reduce((sum, p, i) => sum + Math.abs(p - counts[i] / N_DRAWS), 0)).toFixed(1)} % lie `
        + `elsewhere than expected.` : "";
      view.say(`${kept.filter(Boolean).length} of ${n} words left, ${mass}; entropy ${found.entropyBefore.toFixed(2)} `
        + `→ ${found.entropyAfter.toFixed(2)} bits.${distance}`);
      view.numbers(["word", "z", "P before", "P after", ...(counts ? [`of ${N_DRAWS} draws`] : [])],
        tokens.map((token, i) => [token, logits[i].toFixed(1), before[i].toFixed(4), after[i].toFixed(4), ...(counts ? [counts[i]] : [])]));
    }
    arrange(view, layouts, (layout) => {
      ({ width, left, isTurned } = layout);
      show();
    });
  },
};
