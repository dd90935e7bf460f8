// The cell of one LSTM unit with its gates in the reader's hand: c_t, h_t, and how much of c_k is left in c_t.

import { behind, dragged, frame, subscript, press, put, shape, slider, toggle } from "./frame.mjs";

/** c_t = f_t c_{t−1} + i_t g_t, h_t = o_t tanh(c_t), and kept[t][k] = ∂c_t/∂c_k = f_{k+1} ⋯ f_t, for gates held fixed. */
export function remember({ forget, input, output, candidate }) {
  const c = [], h = [], kept = [];
  forget.forEach((f, t) => {
    c.push(f * (t > 0 ? c[t - 1] : 0) + input[t] * candidate[t]);
    h.push(output[t] * Math.tanh(c[t]));
    kept.push([...(t > 0 ? kept[t - 1].map((share) => share * f) : []), 1]);
  });
  return { c, h, kept };
}

const ROWS = { input: 70, forget: 96, output: 122 }; // where each gate is drawn

export default {
  render({ model, el }) {
    const given = model.get("data"), steps = given.candidate.length;
    const gates = Object.fromEntries(["forget", "input", "output"].map((name) => [name, [...given[name]]]));
    const width = 640, left = 92, cell = (width - left - 4) / steps, height = 386;
    const view = frame(el, { width, height,
      title: "Gates decide what a cell takes in, keeps and shows",
      label: "Gates, cell state and hidden state over time", name: "gates" });
    const state = { step: 0, all: false };
    const stepSlider = slider(view.controls, { label: "step t", min: 1, max: steps, step: 1, value: 1 },
      (t) => { state.step = t - 1; follow(); draw(); });
    toggle(view.controls, { label: "set all steps at once" }, (all) => { state.all = all; });
    const sliders = Object.fromEntries(Object.keys(gates).map((name) => [name,
      slider(view.controls, { label: `${name} gate`, min: 0, max: 1, step: 0.01, value: gates[name][0], show: (v) => v.toFixed(2) },
        (value) => {
        if (state.all) gates[name].fill(value); else gates[name][state.step] = value;
        draw();
      })]));
    press(view.controls, "Back to the start", () => { for (const name in gates) gates[name] = [...given[name]]; follow(); draw(); });

    function follow() {
      for (const [name, input] of Object.entries(sliders)) {
        input.value = gates[name][state.step];
        input.nextElementSibling.textContent = gates[name][state.step].toFixed(2);
      }
    }
    const text = (x, y, words, more = {}) => view.picture.append(shape("text", { x, y, ...more }, words));

    function row(y, label, values, more = {}) {
      text(0, y + 16, label);
      values.forEach((value, t) => {
        const square = shape("rect", { x: left + t * cell, y, width: cell - 2, height: 22, fill: behind(value), ...more });
        square.append(shape("title", {}, `${label}, t = ${t + 1}: ${value.toFixed(3)}`));
        view.picture.append(square);
        text(left + (t + 0.5) * cell - 1, y + 15, value.toFixed(2).replace("0.", "."),
          { "text-anchor": "middle", style: "font-size:11px;pointer-events:none" });
      });
    }

    function bars(y, tall, label, values, colour) {
      const largest = Math.max(1, ...values.map(Math.abs)), zero = y + tall / 2;
      text(0, zero + 4, label);
      view.picture.append(shape("line", { x1: left, x2: width, y1: zero, y2: zero, stroke: "var(--line)" }));
      values.forEach((value, t) => {
        const size = ((tall / 2 - 12) * Math.abs(value)) / largest;
        view.picture.append(shape("rect",
          { x: left + t * cell + 2, y: value > 0 ? zero - size : zero, width: cell - 6, height: Math.max(0.8, size), fill: colour }));
        text(left + (t + 0.5) * cell - 1, value < 0 ? zero + size + 11 : zero - size - 3, value.toFixed(2),
          { "text-anchor": "middle", style: "font-size:10px" });
      });
    }

    function draw() {
      const { c, h, kept } = remember({ ...gates, candidate: given.candidate });
      view.picture.replaceChildren();
      bars(2, 62, "candidate gₜ", given.candidate, "var(--green)");
      for (const [name, y] of Object.entries(ROWS))
        row(y, `${name} ${name[0]}ₜ`, gates[name], { style: "cursor:ns-resize;touch-action:none" });
      bars(152, 78, "cell cₜ", c, "var(--blue)");
      bars(234, 78, "hidden hₜ", h, "var(--orange)");
      row(320, `∂c${subscript(steps)}/∂cₜ`, kept[steps - 1]);
      view.picture.append(shape("rect",
        { x: left + state.step * cell - 1, y: 2, width: cell, height: 344, fill: "none", stroke: "var(--ink)", "stroke-width": 1.5,
          "pointer-events": "none" }));
      for (let t = 0; t < steps; t++) text(left + (t + 0.5) * cell - 1, 362, String(t + 1), { "text-anchor": "middle", class: "quiet" });
      text(0, 362, "t", { class: "quiet" });
      view.say(`At t = ${state.step + 1}: c = ${c[state.step].toFixed(3)}, h = ${h[state.step].toFixed(3)}. Of `
        + `this c, ${(100 * kept[steps - 1][state.step]).toPrecision(3)} % is left at the last step, and as much of the gradient comes `
        + `back.`);
      view.numbers(["t", "g", "i", "f", "o", "c", "h", `∂c${subscript(steps)}/∂cₜ`], c.map((value, t) =>
        [t + 1, ...[given.candidate[t], gates.input[t], gates.forget[t], gates.output[t], value, h[t], kept[steps - 1][t]].map((x) =>
          x.toPrecision(4))]));
    }
    // A gate's cell is pulled up or down, 100 pixels from shut to open; anywhere else a hand chooses the step.
    let held = null;
    const columnAt = (x) => Math.max(1, Math.min(steps, Math.ceil((x - left) / cell)));
    view.picture.addEventListener("pointerdown", () => { held = null; });
    dragged(view.picture, view.picture, ({ x, y }) => {
      if (x < left && !held) return;
      held ??= { name: Object.keys(ROWS).find((name) => y >= ROWS[name] && y < ROWS[name] + 22), step: columnAt(x), y };
      put(stepSlider, held.name ? held.step : columnAt(x));
      if (!held.name) return;
      held.from ??= gates[held.name][state.step];
      put(sliders[held.name], held.from + (held.y - y) / 100);
    });
    draw();
  },
};
