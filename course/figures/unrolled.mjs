// An RNN unrolled over a text: step through time, see the state change and what the model expects next.

import { dragged, frame, put, shape, slider, toggle } from "./frame.mjs";

/** What each next token cost, −log2 of its probability, and the running mean: [{bits, mean}]. */
export function costs(probs) {
  let total = 0;
  return probs.map((p, t) => { total -= Math.log2(p); return { bits: -Math.log2(p), mean: total / (t + 1) }; });
}

export default {
  render({ model, el }) {
    const { tokens, states, expected, probs } = model.get("data");
    const steps = states.length, units = states[0].length, cost = costs(probs);
    const cell = Math.min(64, 620 / steps), unit = Math.min(14, 150 / units), tall = units * unit;
    const width = 640, height = tall + 72 + 24 * expected[0].length;
    const view = frame(el, { width, height,
      title: "One state, rewritten at every word",
      label: "States and predictions of a recurrent network over time", name: "unrolled" });
    const state = { step: steps - 1, shift: false };
    const stepSlider = slider(view.controls, { label: "step t", min: 1, max: steps, step: 1, value: state.step + 1 },
      (t) => { state.step = t - 1; draw(); });
    toggle(view.controls, { label: "show what changed: hₜ − hₜ₋₁" }, (on) => { state.shift = on; draw(); });

    const text = (x, y, words, more = {}) => view.picture.append(shape("text", { x, y, ...more }, words));
    const shown = (token) => (token === " " ? "␣" : token);
    const tint = (value) =>
      `color-mix(in srgb, ${value < 0 ? "var(--orange)" : "var(--blue)"} ${(100 * Math.min(1, Math.abs(value))).toFixed(0)}%, `
      + `var(--panel))`;
    const change = (t) => states[t].map((h, i) => (h - (t > 0 ? states[t - 1][i] : 0)) / 2);

    function column(t) {
      const x = t * cell, values = state.shift ? change(t) : states[t];
      values.forEach((value, i) => {
        const square = shape("rect", { x: x + 3, y: 6 + i * unit, width: Math.max(2, cell - 12), height: unit - 0.7, fill: tint(value) });
        square.append(shape("title", {}, `t = ${t + 1}, unit ${i + 1}: ${states[t][i].toFixed(3)}`));
        view.picture.append(square);
      });
      if (t > 0) text(x - 6, 10 + tall / 2, "›", { "text-anchor": "middle" });
      text(x + cell / 2 - 3, tall + 24, shown(tokens[t]),
        { "text-anchor": "middle", "font-weight": t === state.step ? "bold" : "normal",
          style: `font-size:${Math.min(13, cell / 2.6 + 4)}px` });
    }

    function prediction() {
      const y = tall + 66, target = tokens[state.step + 1];
      text(0, y, `after “${shown(tokens[state.step])}” the model expects`);
      expected[state.step].forEach(([word, p], i) => {
        const fill = word === target ? "var(--green)" : "var(--blue)";
        text(88, y + 24 + i * 24, shown(word), { "text-anchor": "end" });
        view.picture.append(shape("rect", { x: 96, y: y + 11 + i * 24, width: Math.max(1, 400 * p), height: 17, fill }));
        text(104 + 400 * p, y + 24 + i * 24, p.toFixed(3) + (word === target ? "  ✓ came next" : ""));
      });
    }

    function draw() {
      view.picture.replaceChildren();
      for (let t = 0; t <= state.step; t++) column(t);
      for (let t = state.step + 1; t < steps; t++)
        text(t * cell + cell / 2 - 3, tall + 24, "·", { "text-anchor": "middle", class: "quiet" });
      view.picture.append(shape("rect",
        { x: state.step * cell, y: 3, width: cell - 6, height: tall + 5, fill: "none", stroke: "var(--ink)", "stroke-width": 1.5 }));
      prediction();
      const now = cost[state.step];
      view.say(`Next came “${shown(tokens[state.step + 1])}”, P = ${probs[state.step].toPrecision(3)}: it cost ${now.bits.toFixed(2)} `
        + `bits; ${now.mean.toFixed(2)} bits on average so far.`);
      view.numbers(["t", "read", "next", "P(next)", "bits", "mean", "|hₜ|"], probs.slice(0, state.step + 1).map((p, t) =>
        [t + 1, shown(tokens[t]), shown(tokens[t + 1]), p.toPrecision(4), cost[t].bits.toFixed(3), cost[t].mean.toFixed(3),
          Math.hypot(...states[t]).toFixed(3)]));
    }
    dragged(view.picture, view.picture, ({ x, y }) => { if (y < tall + 32) put(stepSlider, Math.ceil(x / cell)); });
    draw();
  },
};
