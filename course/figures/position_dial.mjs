// Where attention learns the order: shuffle a sentence under four kinds of positions; turn m and n and watch q · k.

import { choose, dragged, frame, press, put, shape, slider, toggle } from "./frame.mjs";

const KINDS = ["none", "sinusoidal", "learned", "RoPE"];
const dot = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0);
const times = (matrix, x) => matrix.map((row) => dot(row, x));
const add = (a, b) => a.map((x, i) => x + b[i]);
const angle = (position, pair, D) => position * 10000 ** (-2 * pair / D);

/** sin and cos of the position, one wavelength per neighbouring pair. */
function sinusoid(position, D) {
  return Array.from({ length: D }, (_, i) => (i % 2 ? Math.cos : Math.sin)(angle(position, Math.floor(i / 2), D)));
}

/** Each neighbouring pair turned by its angle. */
function rotate(x, position) {
  return x.map((value, i) => {
    const turn = angle(position, Math.floor(i / 2), x.length), other = x[i % 2 ? i - 1 : i + 1];
    return value * Math.cos(turn) + (i % 2 ? 1 : -1) * other * Math.sin(turn);
  });
}

/** The vector of a word at a position: what is added depends on the kind. */
function placed(data, kind, x, position) {
  if (kind === "sinusoidal") return add(x, sinusoid(position, x.length));
  return kind === "learned" ? add(x, data.learned[position]) : x;
}

/** Query or key of a word at a position. */
function projected(data, kind, role, x, position) {
  const vector = times(data[role], placed(data, kind, x, position));
  return kind === "RoPE" ? rotate(vector, position) : vector;
}

/** q_m · k_n for the words `asking` and `asked`, standing at the positions m and n. */
function score(data, kind, asking, asked, m, n) {
  return dot(projected(data, kind, "W_query", data.x[asking], m), projected(data, kind, "W_key", data.x[asked], n));
}

/** Self-attention over the words in this order, no mask: outputs[t] belongs to the word order[t]. */
function outputs(data, kind, order) {
  const values = order.map((word, t) => times(data.W_value, placed(data, kind, data.x[word], t)));
  return order.map((asking, t) => {
    const scores = order.map((asked, s) => score(data, kind, asking, asked, t, s) / Math.sqrt(data.W_key.length));
    const largest = Math.max(...scores), powers = scores.map((s) => Math.exp(s - largest)), sum = powers.reduce((a, b) => a + b, 0);
    return values[0].map((_, d) => powers.reduce((total, power, s) => total + (power / sum) * values[s][d], 0));
  });
}

export default {
  sinusoid,
  rotate,
  score,
  outputs,
  render({ model, el }) {
    const data = model.get("data"), words = data.tokens, T = words.length, first = words.map((_, t) => t);
    const width = 660, height = 400, column = 118,
      view = frame(el, { width, height, title: "What changes when words change places",
        label: "Outputs of attention for two orders of a sentence, and a score for two positions",
        name: "position_dial" });
    const state = { kind: 1, order: [...(data.orders[1] ?? first)], m: 3, n: 1, together: true };
    choose(view.controls, { label: "positions", options: KINDS, value: 1 }, (kind) => { state.kind = kind; draw(); });
    const button = (label, change) => press(view.controls, label, () => { change(); draw(); });
    data.orders.forEach((order) => button(order.map((word) => words[word]).join(" "), () => { state.order = order; }));
    button("move the first word to the end", () => { state.order = [...state.order.slice(1), state.order[0]]; });
    const most = data.learned.length - 1,
      turn = (name, other) => slider(view.controls, { label: name, min: 0, max: most, step: 1, value: state[name] }, (value) => {
      const moved = state[other] + value - state[name];
      state[name] = value;
      if (state.together) {
        state[other] = Math.max(0, Math.min(most, moved));
        knobs[other].value = state[other];
        knobs[other].nextElementSibling.textContent = state[other];
      }
      draw();
    });
    const knobs = {};
    knobs.m = turn("m", "n");
    knobs.n = turn("n", "m");
    toggle(view.controls, { label: "keep m − n", checked: true }, (together) => { state.together = together; });
    const text = (x, y, said, more = {}) => view.picture.append(shape("text", { x, y, ...more }, said));

    function strips(y, label, order, rows, other, reach) {
      const scale = 20 / reach, end = T * column - 8;
      text(0, y + 14, label, { class: "quiet" });
      for (const value of [reach, 0, -reach]) {
        const at = y + 62 - scale * value;
        view.picture.append(shape("line",
          { x1: value ? end - 4 : 0, x2: end, y1: at, y2: at, stroke: "var(--line)", "stroke-width": 0.7 }));
        text(end + 6, at + 4, value.toFixed(value ? 2 : 0).replace("-", "−"), { class: "quiet", style: "font-size:11px" });
      }
      view.picture.append(shape("line", { x1: end, x2: end, y1: y + 42, y2: y + 82, stroke: "var(--line)", "stroke-width": 0.7 }));
      rows.forEach((row, t) => {
        const x = t * column, moved = other ? Math.max(...row.map((value, d) => Math.abs(value - other[order[t]][d]))) : 0;
        text(x, y + 34, `${t}: ${words[order[t]]}`, { style: `font-weight:${moved > 1e-6 ? "bold" : "normal"}` });
        row.forEach((value, d) => {
          const bar = shape("rect",
            { x: x + d * 12, y: y + 62 - Math.max(0, value) * scale, width: 10, height: Math.max(0.8, scale * Math.abs(value)),
              fill: value < 0 ? "var(--orange)" : "var(--blue)" });
          bar.append(shape("title", {}, `${words[order[t]]}, number ${d + 1}: ${value.toFixed(3)}`));
          view.picture.append(bar);
        });
        if (other) text(x, y + 96, moved > 1e-6 ? `differs by ${moved.toFixed(2)}` : "the same",
          { class: "quiet", style: "font-size:11px" });
      });
    }

    /** The position at which the arrow points most nearly to the hand; where all point alike, the present one. */
    function turnTo(name, x, y) {
      const [role, word] = name === "m" ? ["W_query", data.asking] : ["W_key", data.asked];
      const nearness = (position) => {
        const [a, b] = projected(data, KINDS[state.kind], role, data.x[word], position);
        return (a * x + b * y) / (Math.hypot(a, b) || 1);
      };
      let best = state[name];
      for (let position = 0; position <= most; position++) if (nearness(position) > nearness(best) + 1e-9) best = position;
      put(knobs[name], best);
    }

    function dial(x, y, vector, name, colour) {
      const position = state[name];
      text(x, y + 62, `${name} = ${position}`, { "text-anchor": "middle" });
      view.picture.append(shape("circle", { cx: x, cy: y, r: 42, fill: "none", stroke: "var(--line)" }));
      const length = Math.hypot(vector[0], vector[1]) || 1;
      view.picture.append(shape("line",
        { x1: x, y1: y, x2: x + (40 * vector[0]) / length, y2: y - (40 * vector[1]) / length, stroke: colour, "stroke-width": 3 }));
      const hand = shape("circle", { cx: x, cy: y, r: 42, fill: "transparent", style: "cursor:grab;touch-action:none" });
      dragged(hand, view.picture, (at) => turnTo(name, at.x - x, y - at.y));
      view.picture.append(hand);
    }

    function draw() {
      const kind = KINDS[state.kind], before = outputs(data, kind, first), after = outputs(data, kind, state.order);
      const reach = Math.max(...before.flat().map(Math.abs), ...after.flat().map(Math.abs));
      view.picture.replaceChildren();
      strips(0, "what attention gives each word, in the first order", first, before, null, reach);
      strips(110, "and in your order", state.order, after, before, reach);
      const q = projected(data, kind, "W_query", data.x[data.asking], state.m),
        k = projected(data, kind, "W_key", data.x[data.asked], state.n);
      text(0, 232, `q of “${words[data.asking]}” at m, k of “${words[data.asked]}” at n: first two numbers (drag an arrow), and q · k`,
        { class: "quiet" });
      dial(60, 300, q, "m", "var(--blue)");
      dial(190, 300, k, "n", "var(--orange)");
      KINDS.forEach((name, i) => {
        const value = score(data, name, data.asking, data.asked, state.m, state.n);
        text(290, 270 + 24 * i, name, { style: `font-weight:${name === kind ? "bold" : "normal"}` });
        text(460, 270 + 24 * i, value.toFixed(4), { "text-anchor": "end", style: `font-weight:${name === kind ? "bold" : "normal"}` });
      });
      text(290, 376, `m − n = ${state.m - state.n}`, { class: "quiet" });
      const moved = after.filter((row, t) => row.some((value, d) => Math.abs(value - before[state.order[t]][d]) > 1e-6)).length;
      const effect = moved === 0 ? "Every word gets exactly what it got in the first order"
        : `${moved} of ${T} words get something else than in the first order`;
      const turned = score(data, "RoPE", data.asking, data.asked, state.m, state.n).toFixed(4);
      view.say(`Positions: ${kind}. ${effect}. With RoPE q · k is ${turned} at m − n = ${state.m - state.n}.`);
      view.numbers(["position", "word", ...after[0].map((_, d) => d + 1)],
        after.map((row, t) => [t, words[state.order[t]], ...row.map((value) => value.toFixed(4))]));
    }
    draw();
  },
};
