// Break a Transformer that works: cut heads, move a word, open the mask, change a weight, and see what it costs above the floor.

import { arrowTo, painted, placeUnder, signColours } from "./drawing/matrix.mjs";
import { choose, frame, named, node, press, put, shape, slider, toggle } from "./frame.mjs";
import { tensors } from "./models/parcel.mjs";
import { transformer } from "./models/transformer.mjs";

const MASKS = [
  { label: "itself and all before it (as trained)", sees: (t, s) => s <= t },
  { label: "the next word, too", sees: (t, s) => s <= t + 1 },
  { label: "all words", sees: () => true },
  { label: "only itself and the word before", sees: (t, s) => s <= t && s >= t - 1 },
  { label: "only the words before, not itself", sees: (t, s) => s < t || t === 0 },
];

const LAYOUTS = { // in the second, what a change costs stands below the maps
  wide: { width: 720, map: 92, gap: 10, costsX: 440, widest: 400 },
  narrow: { width: 324, map: 74, gap: 9, costsX: 0, widest: 170 },
};

/** What is done to the model, in the form that `transformer` reads. */
export function damage({ cut, mask, word, by, isRest }) {
  return {
    isCut: (layer, head) => cut.has(`${layer}.${head}`),
    sees: MASKS[mask].sees,
    place: (t) => (t === word || (isRest && t > word) ? t + by : t),
  };
}

/** The weights with something added to one number: { name, place, plus }; all other tensors are shared. */
export function edited(weights, { name, place, plus }) {
  const values = Float32Array.from(weights[name].values);
  values[place] += plus;
  return { ...weights, [name]: { ...weights[name], values } };
}

/** Bits above the floor of every predicted word of a story; `floor` has −log P of each in nats. */
export function above(read, story, floor) {
  const predicted = read(story.slice(0, -1));
  return predicted.map((logProbs, t) => (-logProbs[story[t + 1]] - floor[t]) / Math.LN2);
}

/** The mean over all words, and over the words of each kind, of [token, bits above the floor]. */
export function byKind(costs, kinds) {
  const mean = (chosen) => chosen.reduce((sum, [, bits]) => sum + bits, 0) / chosen.length;
  return [["all words", mean(costs)], ...kinds.map(([kind, tokens]) => [kind, mean(costs.filter(([token]) => tokens.includes(token)))])];
}

/** What a reader calls a tensor: "blocks.0.attention.W_query.weight" → "layer 1: W_query". */
export function title(name) {
  const [, layer, part] = name.match(/^blocks\.(\d+)\.\w+\.(\w+)\.weight$/) ?? [];
  if (!part) return name.replace(/\.weight$/, "");
  return `layer ${Number(layer) + 1}: ${part.startsWith("W_") ? part : `W_${part}`}`;
}

export default {
  render({ model, el }) {
    const { parcel, stories, floors, kinds, words } = model.get("data"), { nHeads, nLayers } = parcel.sizes;
    const isWide = el.clientWidth === 0 || el.clientWidth > 520, { width, map, gap, costsX, widest } = LAYOUTS[isWide ? "wide" : "narrow"];
    const maps = nLayers * (map + 30), costsY = isWide ? 0 : maps + 50, base = isWide ? maps + 26 : costsY + 27 * (kinds.length + 1) + 76;
    const height = base + 176, N = 26;
    const view = frame(el, { width, height, label: "The attention maps, the matrices, and what each change costs", name: "break_it" });
    view.picture.setAttribute("role", "group"); // its maps are switches
    const state = { cut: new Set(), mask: 0, word: 10, by: 0, isRest: false, story: 0, name: "blocks.0.attention.W_query.weight",
      place: 0, plus: 0 };
    let weights = null, trained = null, run = 0;

    const knobs = {}, places = node("div",
      { class: "lmf-row", style: "grid-template-columns:repeat(auto-fill, minmax(min(100%, 14rem), 1fr))" });
    knobs.story = choose(view.controls, { label: "story", options: stories.map((_, i) => `${i + 1} of ${stories.length}`), value: 0 },
      (i) => { state.story = i; draw(); });
    knobs.mask = choose(view.controls, { label: "mask", options: MASKS.map(({ label }) => label), value: 0 },
      (mask) => { state.mask = mask; measure(); });
    knobs.word = slider(places, { label: "word", min: 0, max: N - 1, step: 1, value: state.word, show: (i) => String(i) },
      (word) => { state.word = word; if (state.by) measure(); else draw(); });
    knobs.by = slider(places, { label: "is shifted by", min: -24, max: 24, step: 1, value: 0,
      show: (by) => (by ? `${by > 0 ? "+" : ""}${by}` : "0") }, (by) => { state.by = by; measure(); });
    knobs.isRest = toggle(places, { label: "and all words after it" }, (isRest) => { state.isRest = isRest; measure(); });
    const story = node("p", { style: "font-size:1.05em;margin:.4rem 0" }), editing = node("div", { class: "lmf-row" });
    view.controls.after(places, story);
    view.picture.parentElement.after(editing);
    const names = parcel.tensors.filter(([, shape_]) => shape_.length > 1).map(([name]) => name);
    const titles = names.map((name) => title(name).replace("_", " "));
    knobs.name = choose(editing, { label: "matrix", options: titles, value: names.indexOf(state.name) },
      (i) => { Object.assign(state, { name: names[i], place: 0 }); measure(); });
    [...knobs.name.options].forEach((option, i) => { option.title = names[i]; }); // as the code calls it
    knobs.plus = slider(editing, { label: "add to the chosen weight", min: -5, max: 5, step: 0.1, value: 0,
      show: (plus) => plus.toFixed(1) },
      (plus) => { state.plus = plus; measure(); });
    press(editing, "Restore everything", () => {
      state.cut.clear();
      for (const [name, value] of [["by", 0], ["plus", 0]]) { put(knobs[name], value); }
      Object.assign(state, { mask: 0, isRest: false });
      knobs.mask.value = "0";
      knobs.isRest.checked = false;
      measure();
    });

    const colours = () => signColours(view.root);
    const text = (x, y, said, more = {}) => view.picture.append(shape("text", { x, y, ...more }, said));

    /** A part of the picture that mouse and keyboard can press. */
    function pressable(group, label, act, press) {
      for (const [name, value] of Object.entries({ tabindex: 0, style: "cursor:pointer", "aria-label": label }))
        group.setAttribute(name, value);
      group.addEventListener("click", act);
      group.addEventListener("keydown", (event) => { if (press(event.key)) event.preventDefault(); });
      view.picture.append(group);
    }
    const again = (name) => view.picture.querySelector(`[data-part="${name}"]`)?.focus();

    function drawMap(steps, layer, head, n) {
      const x = head * (map + gap), y = 16 + layer * (map + 30), isCut = state.cut.has(`${layer}.${head}`), size = map / n;
      const name = `layer ${layer + 1} head ${head + 1}`;
      const group = shape("g", { "data-part": `${layer}.${head}`, role: "button", "aria-pressed": isCut });
      group.append(shape("text", { x, y: y - 4, class: isCut ? "quiet" : "",
        style: `font-size:${isWide ? 11 : 10}px${isCut ? ";text-decoration:line-through" : ""}` }, name));
      group.append(shape("rect", { x, y, width: map, height: map, fill: "var(--panel)", stroke: isCut ? "var(--orange)" : "var(--line)",
        "stroke-width": isCut ? 2.5 : 1 }));
      if (!isCut) group.append(shape("image", { x, y, width: map, height: map, preserveAspectRatio: "none",
        style: "image-rendering:pixelated", href: painted(n, n, (t, s) => steps[layer][t].weights[head][s] ?? 0, colours()) }));
      else group.append(shape("path",
        { d: `M${x} ${y}l${map} ${map}m0 ${-map}l${-map} ${map}`, stroke: "var(--orange)", "stroke-width": 2 }));
      if (state.word < n) group.append(shape("rect", { x: x - 1, y: y + state.word * size, width: map + 2, height: Math.max(size, 2),
        fill: "none", stroke: "var(--ink)", "stroke-width": 0.8 }));
      const press = () => {
        if (!state.cut.delete(`${layer}.${head}`)) state.cut.add(`${layer}.${head}`);
        measure();
        again(`${layer}.${head}`);
        return true;
      };
      pressable(group, `${name}: remove it`, press, (key) => ["Enter", " "].includes(key) && press());
    }

    function drawMatrix() {
      const { rows, columns, values } = weights[state.name];
      const wide = Math.min(widest, Math.max(150, 2 * columns)), tall = Math.min(140, 2 * rows);
      const largest = values.reduce((most, v) => Math.max(most, Math.abs(v)), 0);
      const i = Math.floor(state.place / columns), j = state.place % columns, y = base + 20;
      view.picture.append(named(`${title(state.name)}, ${rows} × ${columns}; blue above zero, orange below`,
        { x: 0, y: base + 10, style: "font-size:11px" }));
      const group = shape("g", { "data-part": "matrix", role: "application" });
      group.append(shape("rect", { x: 0, y, width: wide, height: tall, fill: "var(--panel)" }));
      group.append(shape("image", { x: 0, y, width: wide, height: tall, preserveAspectRatio: "none", style: "image-rendering:pixelated",
        href: painted(rows, columns, (r, c) => 1.5 * values[r * columns + c] / largest, colours()) }));
      const mark = { width: wide / columns + 4, height: tall / rows + 4 }; // around the weight, within the matrix
      group.append(shape("rect", { ...mark, x: Math.max(0, Math.min(wide - mark.width, (j * wide) / columns - 2)),
        y: y + Math.max(0, Math.min(tall - mark.height, (i * tall) / rows - 2)), fill: "none", stroke: "var(--ink)", "stroke-width": 2 }));
      const to = (place) => {
        state.place = place;
        if (state.plus === 0) draw(); else measure();
        again("matrix");
        return true;
      };
      pressable(group, `${title(state.name)}, a matrix: arrow keys choose a weight`,
        (event) => to(placeUnder(event, view.picture, { x: 0, y, width: wide, height: tall }, { rows, columns })), (key) => {
          const place = arrowTo(key, state.place, { rows, columns });
          return place !== null && to(place);
        });
      const value = values[state.place];
      text(wide + 24, base + 38, `row ${i}, column ${j}`);
      text(wide + 24, base + 58, `trained: ${value.toFixed(4)}`);
      text(wide + 24, base + 78, `now: ${(value + state.plus).toFixed(4)}`,
        state.plus === 0 ? {} : { style: "font-weight:700;fill:var(--orange)" });
    }

    function drawCosts() {
      text(costsX, costsY + 12, "bits above the floor, per word", { style: "font-weight:600" });
      if (!state.now) return;
      const most = Math.max(1, ...state.now.map(([, v]) => v), ...trained.map(([, v]) => v)), scale = (v) => (155 * Math.max(0, v)) / most;
      state.now.forEach(([kind, value], i) => {
        const y = costsY + 26 + 27 * i, before = trained[i][1];
        text(costsX, y + 13, kind, { style: i ? "" : "font-weight:700" });
        view.picture.append(shape("rect", { x: costsX + 84, y: y + 2, width: scale(value), height: 14,
          fill: value > before + 0.005 ? "var(--orange)" : "var(--blue)" }));
        view.picture.append(shape("line", { x1: costsX + 84 + scale(before), x2: costsX + 84 + scale(before), y1: y, y2: y + 18,
          stroke: "var(--ink)", "stroke-width": 2 }));
        text(costsX + 92 + Math.max(scale(value), scale(trained[i][1])), y + 14, value.toFixed(2), { style: "font-size:12px" });
      });
      const isLucky = state.now.some(([, value]) => value < -0.005), luck = `below 0: luck of these ${stories.length} stories`;
      ["line: as trained", ...(isLucky ? [luck] : [])].forEach((note, i) =>
        text(costsX + 84, costsY + 34 + 27 * state.now.length + 16 * i, note, { class: "quiet", style: "font-size:11px" }));
    }

    function draw() {
      if (!weights) return;
      const tokens = stories[state.story].slice(0, N), read = transformer(current(), parcel.sizes, damage(state))();
      const logProbs = read(tokens), { steps } = read, n = tokens.length;
      view.picture.replaceChildren();
      for (let layer = 0; layer < nLayers; layer++) for (let head = 0; head < nHeads; head++) drawMap(steps, layer, head, n);
      const legend = ["Rows are words, columns the words that they attend to.", "Press a map to remove its head."];
      (isWide ? [legend.join(" ")] : legend).forEach((line, i) =>
        text(0, maps + 16 + 15 * i, line, { class: "quiet", style: "font-size:11px" }));
      drawCosts();
      drawMatrix();
      const seen = steps.flatMap((layer, l) => layer[state.word].weights.filter((_, head) => !state.cut.has(`${l}.${head}`)));
      story.replaceChildren(...tokens.slice(0, n).flatMap((token, s) => {
        const look = Math.max(0, ...seen.map((weight) => weight[s]));
        const mark = s === state.word ? "font-weight:700;text-decoration:underline;" : "";
        const style = `${mark}background:color-mix(in srgb, var(--blue) ${(40 * look).toFixed(0)}%, transparent)`;
        return [node("span", { style }, words[token]), " "];
      }));
      const best = logProbs[state.word].indexOf(Math.max(...logProbs[state.word]));
      const percent = Math.round(100 * Math.exp(logProbs[state.word][best]));
      tell(`After “${words[tokens[state.word]]}” it expects “${words[best]}” (${percent} %).`);
    }

    function tell(expected) {
      if (!state.now) return view.say("Measuring the intact model …");
      const [[, now]] = state.now, [[, before]] = trained;
      view.say(`${now.toFixed(3)} bits per word above the floor on ${stories.length} unseen stories; as trained ${before.toFixed(3)}. `
        + expected);
      view.numbers(["words", "as trained", "now", "more"], state.now.map(([kind, value], i) =>
        [kind, trained[i][1].toFixed(3), value.toFixed(3), (value - trained[i][1]).toFixed(3)]));
    }

    const current = () => (state.plus === 0 ? weights : edited(weights, state));

    /** All stories, one at a time, so that the page stays awake; a later change ends an earlier measurement. */
    async function measure() {
      const mine = ++run, begin = transformer(current(), parcel.sizes, damage(state)), costs = [];
      view.root.setAttribute("aria-busy", true);
      draw();
      for (const [i, tokens] of stories.entries()) {
        await new Promise((done) => { setTimeout(done); });
        if (mine !== run) return;
        above(begin(), tokens, floors[i]).forEach((bits, t) => costs.push([tokens[t + 1], bits]));
      }
      state.now = byKind(costs, kinds);
      trained ??= state.now;
      const held = document.activeElement?.dataset?.part;
      draw();
      if (held) again(held);
      view.root.setAttribute("aria-busy", false);
      el.setAttribute("data-ready", "");
    }

    new MutationObserver(draw).observe(view.root, { attributes: true, attributeFilter: ["data-dark"] });
    view.say("Unpacking the model …");
    tensors(parcel).then((found) => { weights = found; measure(); });
  },
};
