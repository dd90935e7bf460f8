// One word's way through one layer of a Transformer: each product with its numbers, to be asked by mouse and keys.

import { arrowTo, painted, placeUnder, signColours } from "./drawing/matrix.mjs";
import { choose, frame, named, node, phrase, shape, stepper, written } from "./frame.mjs";
import { tensors } from "./models/parcel.mjs";
import { softmax } from "./models/sampler.mjs";
import { scored, transformer } from "./models/transformer.mjs";

const N_STEPS = 15, N_LIKELIEST = 8, PER_LINE = 16, GAP = 4, CELL = { least: 9, most: 22 };

/**
 * A tensor of a step. `more` may hold the names of its rows, how many digits stand beside a row, and
 * `reads(row, column)`: what made a number, as [which of the step's tensors, its row or null, its column or null].
 */
const tensor = (name, letters, role, { rows, columns, values }, more = {}) => ({ name, letters, role, rows, columns, values, ...more });
const flat = (name, letters, role, values, more) => // a vector in lines that are easier to look at than one
  tensor(name, letters, role, { rows: Math.ceil(values.length / PER_LINE), columns: Math.min(PER_LINE, values.length), values }, more);
const column = (values) => ({ rows: values.length, columns: 1, values });
const stacked = (vectors) =>
  ({ rows: vectors.length, columns: vectors[0].length, values: Float64Array.from(vectors.flatMap((vector) => [...vector])) });
const byRow = (i, width) => (row, line) => [[i, row * width + line, null]]; // number n of a product is made of row n of its matrix

/**
 * What happens to the word at `t` in a layer, and in one of its heads: steps { title, product, says, parts }. A part is a
 * tensor, or a sign between two: a string. `reader` has read `tokens`; the last step scores the words after this layer.
 */
export function walk(weights, reader, tokens, words, { t, layer, head }) {
  const step = reader.steps[layer][t], name = `blocks.${layer}`, last = layer === reader.steps.length - 1;
  const W = (part) => weights[`${name}.${part}.weight`], K = step.query.length / step.weights.length;
  const soFar = (each) => each.slice(0, t + 1), seen = soFar(tokens).map((token) => words[token]), raw = soFar(step.scores[head]);
  const inHeads = (title, role, values, more) =>
    tensor(title, "H × d_k", role, { rows: step.weights.length, columns: K, values }, { heads: true, ...more });
  const own = (values) => values.slice(head * K, (head + 1) * K), perWord = (vectors) => stacked(soFar(vectors).map(own));
  const keys = perWord(reader.keys[layer]), values = perWord(reader.values[layer]), shares = soFar(step.weights[head]);
  const weighted = { ...values, values: values.values.map((v, i) => v * shares[Math.floor(i / K)]) };
  const stream = (title, numbers, more) => flat(title, "D", "ink", numbers, more);
  const final = scored(weights, step.left), probs = softmax(final.logits);
  const best = [...probs.keys()].sort((a, b) => probs[b] - probs[a]).slice(0, N_LIKELIEST), likeliest = best.map((token) => words[token]);
  const said = { word: seen[t], head: head + 1, layer: layer + 1, position: t };
  const made = [
    ["enter", "x = E[word]", layer === 0 ? "The number of “{word}” chooses a row of the embedding matrix E."
      : "What the layer before left in the stream at “{word}”.",
    layer === 0 ? [tensor("E", "V × D", "quiet", weights["embedding.weight"], { rowNames: words, names: "asked" }), "→",
      stream("x", step.x, { reads: () => [[0, tokens[t], null]] })] : [stream("x", step.x)]],
    ["norm", "n = LayerNorm(x)", "Mean 0 and variance 1, then a gain and a bias for each number.",
      [stream("x", step.x), "→", stream("n", step.normed)]],
    ["query", "q = W_query n + b", "What “{word}” looks for: one line of q for each head. A number of q is made of one row of W_query.",
      [tensor("W_query", "D × D", "blue", W("attention.W_query")), "·", stream("n", step.normed), "→",
        inHeads("q", "blue", step.query, { reads: byRow(0, K) })]],
    ["turn", "q′ = rotate(q, t)", "Head {head}: pairs of numbers are turned by angles that grow with the position, here {position}.",
      [tensor("q", "d_k", "blue", { rows: 1, columns: K, values: own(step.query) }), "→",
        tensor("q′", "d_k", "blue", { rows: 1, columns: K, values: own(step.turned) },
          { reads: (_, j) => [[0, null, j], [0, null, j ^ 1]] })]],
    ["scores", "s = K q′ / √d_k", "Every word so far has a key, made by W_key as q by W_query, and turned by its position. "
      + "s compares each with q′.",
      [tensor("K", "T × d_k", "orange", keys, { rowNames: seen, names: "all" }), "·",
        tensor("q′", "d_k", "blue", { rows: 1, columns: K, values: own(step.turned) }), "→",
        tensor("s", "T", "ink", column(raw), { rowNames: seen, digits: 2, reads: (j) => [[0, j, null], [1, 0, null]] })]],
    ["weights", "a = softmax(s)", "Scores become weights that add up to 1.",
      [tensor("s", "T", "ink", column(raw), { rowNames: seen, names: "all", digits: 2 }), "→",
        tensor("a", "T", "ink", column(shares), { rowNames: seen, digits: 3 })]],
    ["values", "c = Σ a_j v_j", "Each word's value times its weight. The sum of these rows is what head {head} brings back.",
      [tensor("a", "T", "ink", column(shares), { rowNames: seen, names: "all", digits: 2 }), "·",
        tensor("V", "T × d_k", "green", values, { rowNames: seen }), "= Σ",
        tensor("a V", "T × d_k", "green", weighted, { rowNames: seen, reads: (j, place) => [[0, j, null], [1, j, place]] }), "=",
        tensor("c", "d_k", "green", { rows: 1, columns: K, values: own(step.found) }, { reads: (_, j) => [[2, null, j]] })]],
    ["heads", "o = W_output c + b", "What all heads bring back, one line each, is mixed by W_output.",
      [tensor("W_output", "D × D", "green", W("attention.W_output")), "·", inHeads("c", "green", step.found), "→",
        stream("o", step.attended, { reads: byRow(0, PER_LINE) })]],
    ["add", "y = x + o", "It is added to the stream, which nothing else has touched.",
      [stream("x", step.x), "+", stream("o", step.attended), "=", stream("y", step.seen,
        { reads: (i, j) => [[0, i, j], [1, i, j]] })]],
    ["norm_again", "m = LayerNorm(y)", "The feed-forward layer reads a normed copy, too.",
      [stream("y", step.seen), "→", stream("m", step.normedSeen)]],
    ["expand", "h = W_expand m + b", "Each number of h asks one question of the stream: one row of W_expand.",
      [tensor("W_expand", "F × D", "ink", W("feed_forward.expand")), "·", stream("m", step.normedSeen), "→",
        flat("h", "F", "ink", step.expanded, { reads: byRow(0, PER_LINE) })]],
    ["gelu", "g = GELU(h)", "What is below zero is almost forgotten.",
      [flat("h", "F", "ink", step.expanded), "→", flat("g", "F", "ink", step.activated, { reads: (i, j) => [[0, i, j]] })]],
    ["contract", "f = W_contract g + b", "Back to the width of the stream.",
      [tensor("W_contract", "D × F", "ink", W("feed_forward.contract")), "·", flat("g", "F", "ink", step.activated), "→",
        stream("f", step.contracted, { reads: byRow(0, PER_LINE) })]],
    ["add_again", "x′ = y + f", "Added to the stream: this is what layer {layer} leaves at “{word}”.",
      [stream("y", step.seen), "+", stream("f", step.contracted), "=", stream("x′", step.left,
        { reads: (i, j) => [[0, i, j], [1, i, j]] })]],
    ["logits", "z = E LayerNorm(x′)", last ? "The stream is normed and multiplied by each word's embedding: the likeliest next words."
      : "Nothing scores the words after this layer. If something did, these would be the likeliest.",
    [tensor("E", "V × D", "quiet", weights["embedding.weight"], { rowNames: words, names: "asked" }), "·",
      stream("LayerNorm(x′)", final.normed), "→",
      tensor("z", "V", "ink", column(best.map((token) => final.logits[token])), { rowNames: likeliest, count: probs.length,
        names: "all", digits: 2, reads: (i) => [[0, best[i], null]] }), "→",
      tensor("softmax(z)", "V", "ink", column(best.map((token) => probs[token])),
        { rowNames: likeliest, count: probs.length, digits: 3, reads: (i) => [[2, i, 0]] })]],
  ];
  return made.map(([title, product, says, parts]) => ({ title, product, says: phrase(says, said), parts }));
}

export default {
  render({ model, el }) {
    const { parcel, words, beginnings, start } = model.get("data"), { nHeads, nLayers } = parcel.sizes;
    const isWide = el.clientWidth === 0 || el.clientWidth > 520, width = isWide ? 720 : 324, top = 44, tall = 13, largest = 208;
    const view = frame(el, { width, height: top + largest, label: "A word's way through one layer", name: "walk" });
    view.picture.setAttribute("role", "group"); // its tensors can be asked
    const state = { story: 0, t: beginnings[0].tokens.length - 1, ...start, step: 0, part: null, place: 0 };
    const ready = {};
    const product = node("p", { class: "product", style: "font-size:1.15em;font-weight:600;margin:.3rem 0 0" });
    const says = node("p", { style: "margin:.1rem 0;min-height:2.9em" });
    const story = node("p", { class: "story", style: "font-size:1.05em;margin:.4rem 0" });

    choose(view.controls, { label: phrase("story"), options: beginnings.map(({ asks }) => asks), value: 0 }, (i) => {
      Object.assign(state, { story: i, t: beginnings[i].tokens.length - 1 });
      read();
    });
    choose(view.controls, { label: phrase("layer"), options: Array.from({ length: nLayers }, (_, i) => i + 1), value: state.layer },
      (layer) => { state.layer = layer; follow(); });
    choose(view.controls, { label: phrase("head"), options: Array.from({ length: nHeads }, (_, i) => i + 1), value: state.head },
      (head) => { state.head = head; follow(); });
    const steps = node("div", { class: "lmf-row" });
    stepper(steps, { label: phrase("step"), min: 1, max: N_STEPS, step: 1, value: 1, show: (i) => `${i} / ${N_STEPS}` },
      (step) => { Object.assign(state, { step: step - 1, part: null }); draw(); });
    view.controls.after(story, steps, product, says);

    /** Read the story anew; the first word shown is the first after the beginning of the text. */
    function read() {
      const { tokens } = beginnings[state.story];
      ready.reader = transformer(ready.weights, parcel.sizes)();
      ready.reader(tokens);
      story.replaceChildren(...tokens.flatMap((token, t) => {
        const button = node("button", { type: "button", style: "border:0;background:none;padding:0 .1em" }, words[token]);
        button.addEventListener("click", () => { state.t = t; follow(); });
        return [button, " "];
      }));
      follow();
    }

    function follow() {
      ready.steps = walk(ready.weights, ready.reader, beginnings[state.story].tokens, words, state);
      for (const [t, button] of story.querySelectorAll("button").entries()) {
        button.setAttribute("aria-pressed", t === state.t);
        button.style.background = t === state.t ? "color-mix(in srgb, var(--blue) 22%, transparent)" : "none";
      }
      state.part = null;
      ready.tall = Math.max(largest, tall * (state.t + 1));
      draw();
    }

    /** How large a tensor is drawn if a vector has such cells, and how much room its names and numbers need beside it. */
    function measured(part, cell) {
      if (typeof part === "string") return { room: 18 + 9 * part.length };
      const isTable = part.rowNames && part.names !== "asked", isVector = !isTable && part.columns <= PER_LINE;
      const side = isVector ? Math.min(cell, largest / part.rows) : Math.min(CELL.least, largest / Math.max(part.rows, part.columns));
      const wide = part.digits ? 16 : side * part.columns, high = (isTable ? tall : side) * part.rows;
      const before = part.names === "all" ? 62 : 0, after = part.digits ? 44 : 0;
      return { wide, high, before, room: Math.max(before + wide + after, 9 * part.name.length, 6.8 * sized(part).length) };
    }

    /** A step's parts in rows, each sign before what it leads to, with the largest cells for which a row has room. */
    function laid(parts) {
      for (let cell = CELL.most; ; cell--) {
        const rows = [], fits = (row) => row.wide <= width - 8;
        let signs = [];
        for (const part of parts) {
          const each = { part, ...measured(part, cell) };
          signs.push(each);
          if (typeof part === "string") continue;
          const wide = signs.reduce((sum, { room }) => sum + room + GAP, 0), last = rows.at(-1);
          if (last && fits({ wide: last.wide + wide }))
            Object.assign(last, { items: [...last.items, ...signs], wide: last.wide + wide, high: Math.max(last.high, each.high) });
          else rows.push({ items: signs, wide, high: each.high });
          signs = [];
        }
        if (cell === CELL.least || (rows.every(fits) && (rows.length === 1 || !isWide))) return rows;
      }
    }

    function draw() {
      const { product: formula, says: said, parts } = ready.steps[state.step], boxes = new Map();
      product.replaceChildren(...written(formula));
      says.replaceChildren(...written(said));
      view.picture.replaceChildren();
      let y = 0;
      for (const { items, wide, high } of laid(parts)) {
        const room = isWide ? ready.tall : high, middle = y + top + room / 2; // where there is room, what stands below does not move
        let x = isWide ? (width - wide) / 2 : 4;
        for (const { part, ...size } of items) {
          const box = { x: x + size.before, y: middle - size.high / 2, width: size.wide, height: size.high };
          if (typeof part === "string") view.picture.append(shape("text",
            { x: x + size.room / 2, y: middle + 5, "text-anchor": "middle", style: "font-size:16px" }, part));
          else drawTensor(part, boxes.set(part, box).get(part), x);
          x += size.room + GAP;
        }
        y += top + room + (isWide ? 0 : 10);
      }
      view.picture.append(shape("text", { x: 4, y: y + 18, class: "quiet", style: "font-size:11px" },
        phrase("blue: above zero · orange: below zero")));
      view.picture.setAttribute("viewBox", `0 0 ${width} ${y + 24}`);
      ready.boxes = parts.map((part) => boxes.get(part) ?? null);
      mark();
      table(parts);
    }

    function drawTensor(part, box, x) {
      const group = shape("g", { tabindex: 0, role: "application", style: "cursor:crosshair",
        "aria-label": phrase("{name}, {shape}: arrow keys choose a number", { name: part.name, shape: sized(part) }) });
      const colour = `var(--${part.role})`, sizes = Array.from(part.values, Math.abs).filter(Number.isFinite);
      const most = sizes.reduce((above, size) => Math.max(above, size), 0) || 1;
      const text = (at, y, words, more) => group.append(shape("text", { x: at, y, ...more }, words));
      group.append(named(part.name, { x, y: box.y - 30, style: `font-weight:700;fill:${colour}` }),
        named(sized(part), { x, y: box.y - 14, class: "quiet", style: "font:11px ui-monospace,monospace" }),
        shape("rect", { ...box, fill: "var(--panel)", stroke: colour, "stroke-width": 1 }),
        shape("image", { ...box, preserveAspectRatio: "none", style: "image-rendering:pixelated",
          href: painted(part.rows, part.columns, (i, j) => part.values[i * part.columns + j] / most || 0, signColours(view.root)) }));
      if (part.rowNames && part.names !== "asked")
        for (let i = 0; i < part.rows; i++) {
          const y = box.y + tall * (i + 0.78);
          if (part.names === "all") text(box.x - 4, y, part.rowNames[i], { "text-anchor": "end", style: "font-size:11px" });
          if (part.digits) text(box.x + box.width + 4, y, shown(part.values[i], part.digits), { style: "font-size:11px" });
        }
      const ask = (place) => { Object.assign(state, { part, place }); mark(); };
      group.addEventListener("pointermove", (event) => ask(placeUnder(event, view.picture, box, part)));
      group.addEventListener("click", (event) => ask(placeUnder(event, view.picture, box, part)));
      group.addEventListener("focus", () => { if (state.part !== part) ask(0); });
      group.addEventListener("keydown", (event) => {
        const place = arrowTo(event.key, state.place, part);
        if (place === null) return;
        event.preventDefault();
        ask(place);
      });
      view.picture.append(group);
    }

    /** Outline the number that is asked for, and what made it. */
    function mark() {
      for (const old of view.picture.querySelectorAll(".asked")) old.remove();
      const { parts } = ready.steps[state.step], { part, place } = state;
      if (!part) return view.say(phrase("Point at a number, or reach a tensor with Tab and its numbers with the arrow keys."));
      const i = Math.floor(place / part.columns), j = place % part.columns;
      const tensorsHere = parts.map((each, k) => [each, ready.boxes[k]]).filter(([, box]) => box);
      const outline = ([each, box], row, line, dash) => view.picture.append(shape("rect", { class: "asked", "pointer-events": "none",
        x: box.x + (line === null ? 0 : (line * box.width) / each.columns) - 1.5,
        y: box.y + (row === null ? 0 : (row * box.height) / each.rows) - 1.5,
        width: box.width / (line === null ? 1 : each.columns) + 3, height: box.height / (row === null ? 1 : each.rows) + 3,
        fill: "none", stroke: "var(--ink)", "stroke-width": dash ? 1.2 : 2, ...(dash ? { "stroke-dasharray": "3 2" } : {}) }));
      outline(tensorsHere.find(([each]) => each === part), i, j, false);
      for (const [of, row, line] of part.reads?.(i, j) ?? []) outline(tensorsHere[of], row, line, true);
      view.say(`${placed(part, i, j)} = ${shown(part.values[place], 4)}`);
    }

    const sized = ({ letters, rows, columns, values }) =>
      `${letters} = ${letters.includes("×") ? `${rows} × ${columns}` : letters === "V" ? words.length : values.length}`;
    const shown = (value, digits) => (value === -Infinity ? "−∞" : value.toFixed(digits).replace("-", "−"));

    /** A number's name: its tensor, and its word, head or place. */
    function placed({ name, rowNames, heads, rows, columns }, i, j) {
      const row = rowNames ? `“${rowNames[i]}”` : heads ? phrase("head {head}", { head: i + 1 }) : null;
      if (row) return `${name}, ${columns > 1 ? `${row}, ${j}` : row}`;
      return `${name}[${columns === PER_LINE || rows === 1 ? i * columns + j : `${i}, ${j}`}]`;
    }

    function table(parts) {
      const last = parts.at(-1);
      view.numbers([last.name, phrase("value")], Array.from(last.values, (value, place) =>
        [placed(last, Math.floor(place / last.columns), place % last.columns), shown(value, 4)]));
    }

    new MutationObserver(() => { if (ready.steps) draw(); }).observe(view.root, { attributes: true, attributeFilter: ["data-dark"] });
    view.say(phrase("Unpacking the model …"));
    tensors(parcel).then((weights) => {
      ready.weights = weights;
      read();
      el.setAttribute("data-ready", "");
    });
  },
};
