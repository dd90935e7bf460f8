// Backpropagation through time as a heat strip: |∂L/∂h_t| for a small RNN whose loss reads its last state only.

import { dragged, frame, subscript, put, shape, slider, strength, toggle } from "./frame.mjs";

const product = (A, B) => A.map((row) => B[0].map((_, j) => row.reduce((sum, a, k) => sum + a * B[k][j], 0)));
const identity = (n) => Array.from({ length: n }, (_, i) => Array.from({ length: n }, (_, j) => Number(i === j)));
const norm = (numbers) => Math.hypot(...numbers.flat());

/** Forwards, then backwards: states h_0 … h_T, gradients ∂L/∂h_t, products ∂h_T/∂h_t (index t), and ∂L/∂U clipped. */
export function backpropagate({ U, inputs, gradient }, { steps, radius, clip, isLinear, volume = 1 }) {
  const n = U.length, matrix = U.map((row) => row.map((u) => u * radius));
  const states = [Array(n).fill(0)];
  for (let t = 1; t <= steps; t++)
    states.push(matrix.map((row, i) => {
      const z = volume * inputs[t - 1][i] + row.reduce((sum, u, j) => sum + u * states[t - 1][j], 0);
      return isLinear ? z : Math.tanh(z);
    }));
  const slope = (t) => states[t].map((h) => (isLinear ? 1 : 1 - h * h));
  const jacobian = (t) => { const s = slope(t); return matrix.map((row, i) => row.map((u) => s[i] * u)); };
  const products = [], gradients = [];
  let reached = identity(n), total = identity(n).map((row) => row.map(() => 0));
  for (let t = steps; t >= 0; t--) {
    products[t] = reached;
    gradients[t] = product([gradient], reached)[0];
    if (t > 0) {
      const s = slope(t);
      total = total.map((row, i) => row.map((sum, j) => sum + gradients[t][i] * s[i] * states[t - 1][j]));
      reached = product(reached, jacobian(t));
    }
  }
  const length = norm(total), scale = Math.min(1, clip / length);
  return { states, gradients, products, length, scale };
}

export default {
  render({ model, el }) {
    const data = model.get("data");
    const width = 640, height = 270, left = 46, most = data.inputs.length, n = data.U.length;
    const view = frame(el, { width, height,
      title: "How far back a gradient reaches",
      label: "The length of the gradient at every step of an RNN", name: "gradient-strip" });
    const state = { steps: Math.min(24, most), radius: data.radius, clip: 5, volume: 1, isLinear: false, chosen: 4 };
    slider(view.controls, { label: "steps T", min: 2, max: most, step: 1, value: state.steps }, (steps) => {
      state.steps = steps; stepSlider.max = steps; state.chosen = Math.min(state.chosen, steps); draw(); });
    slider(view.controls, { label: "spectral radius of U", min: 0.2, max: 2.5, step: 0.05, value: state.radius, show: (r) => r.toFixed(2) },
      (r) => { state.radius = r; draw(); });
    slider(view.controls, { label: "inputs, times", min: 0, max: 1, step: 0.05, value: 1, show: (v) => v.toFixed(2) },
      (volume) => { state.volume = volume; draw(); });
    slider(view.controls,
      { label: "clip |∂L/∂U| at", min: -2, max: 6, step: 0.25, value: Math.log10(state.clip), show: (e) => (10 ** e).toPrecision(2) },
      (e) => { state.clip = 10 ** e; draw(); });
    const stepSlider = slider(view.controls, { label: "step t", min: 0, max: state.steps, step: 1, value: state.chosen },
      (t) => { state.chosen = t; draw(); });
    toggle(view.controls, { label: "without tanh" }, (on) => { state.isLinear = on; draw(); });

    const level = (value) => Math.max(-9, Math.min(7, Math.log10(Math.max(value, 1e-9))));
    const text = (x, y, words, more = {}) => view.picture.append(shape("text", { x, y, ...more }, words));
    const pretty = (value) =>
      (value === 0 || (Math.abs(value) >= 0.01 && Math.abs(value) < 1000) ? value.toFixed(3) : value.toExponential(1));

    function strip(lengths) {
      const cell = (width - left - 8) / lengths.length, y = (value) => 68 - 8.5 * level(value);
      for (const power of [-8, -4, 0, 4]) {
        view.picture.append(shape("line",
          { x1: left, x2: width - 8, y1: y(10 ** power), y2: y(10 ** power), stroke: "var(--line)",
            "stroke-dasharray": power ? "2 4" : "none", "stroke-width": 0.7 }));
        text(left - 6, y(10 ** power) + 4, `1e${power}`, { "text-anchor": "end", class: "quiet", style: "font-size:11px" });
      }
      view.picture.append(shape("polyline",
        { fill: "none", stroke: "var(--ink)", "stroke-width": 1.5,
          points: lengths.map((value, t) => `${left + (t + 0.5) * cell},${y(value)}`).join(" ") }));
      lengths.forEach((value, t) => {
        const fill = value > 1 ? "var(--orange)" : strength(1 + level(value) / 8);
        const square = shape("rect", { x: left + t * cell, y: 154, width: Math.max(1, cell - 1), height: 22, fill,
          stroke: t === state.chosen ? "var(--ink)" : "none", "stroke-width": 2.5 });
        square.append(shape("title", {}, `t = ${t}: ${pretty(value)}`));
        view.picture.append(square);
      });
      text(0, 170, "|∂L/∂h|", { style: "font-size:11px" });
      text(left, 192, "t = 0", { class: "quiet" });
      text(width - 8, 192, `t = T = ${state.steps}`, { class: "quiet", "text-anchor": "end" });
    }

    function matrix(values) {
      const largest = Math.max(...values.flat().map(Math.abs)) || 1, w = 66;
      text(left, 230, `∂h${subscript(state.steps)}/∂h${subscript(state.chosen)} =`);
      values.forEach((row, i) => row.forEach((value, j) => {
        const x = left + 100 + j * (w + 2), y = 200 + i * (66 / n), share = (70 * Math.abs(value)) / largest;
        view.picture.append(shape("rect",
          { x, y, width: w, height: 66 / n - 1.5,
            fill: `color-mix(in srgb, ${value < 0 ? "var(--orange)" : "var(--blue)"} ${share.toFixed(1)}%, var(--panel))` }));
        text(x + w / 2, y + 33 / n + 3.5, pretty(value), { "text-anchor": "middle", style: "font-size:11px" });
      }));
    }

    function draw() {
      const found = backpropagate(data, state), lengths = found.gradients.map(norm);
      view.picture.replaceChildren();
      strip(lengths);
      matrix(found.products[state.chosen]);
      const factors = state.steps - state.chosen;
      view.say(`∂h${subscript(state.steps)}/∂h${subscript(state.chosen)} is a product of ${factors} Jacobian${factors === 1 ? "" : "s"}, `
        + `of norm ${pretty(norm(found.products[state.chosen]))}. |∂L/∂U| `
        + `= ${pretty(found.length)}${found.scale < 1 ? `, clipped: everything times ${pretty(found.scale)}` : ", not clipped"}.`);
      view.numbers(["t", "|∂L/∂hₜ|", `|∂h${subscript(state.steps)}/∂hₜ|`],
        lengths.map((value, t) => [t, value.toExponential(3), norm(found.products[t]).toExponential(3)]));
    }
    dragged(view.picture, view.picture, ({ x, y }) => {
      if (y < 180) put(stepSlider, Math.floor(((x - left) * (state.steps + 1)) / (width - left - 8)));
    });
    draw();
  },
};
