// Generating with and without a memory of keys and values: which of them each step computes anew.

import { arrange, dragged, frame, heading, headingsHeight, press, put, shape, slider, toggle } from "./frame.mjs";

/** Key-and-value vectors computed per layer up to each step, and numbers remembered: {cached, recomputed, memory}. */
export function work({ steps, prompt, layers, width }) {
  const rows = [];
  let cached = 0, recomputed = 0;
  for (let step = 0; step < steps; step++) {
    const length = prompt + step; // tokens that the model has read when it chooses token number `step`
    cached += step === 0 ? length : 1;
    recomputed += length;
    rows.push({ length, cached, recomputed, memory: 2 * layers * length * width });
  }
  return rows;
}

export default {
  render({ model, el }) {
    const { tokens, prompt, layers, width: d_model } = model.get("data");
    const steps = tokens.length - prompt;
    const layoutOf = (width, left, legend) => {
      const cell = (width - left - 8) / tokens.length, side = Math.min(24, cell), top = headingsHeight(tokens, cell);
      return { width, left, legend, cell, side, top, height: top + 26 + 18 * legend.length + side * steps };
    };
    const layouts = {
      wide: layoutOf(640, 96, ["× computed at this step · empty: remembered · ? the token that is chosen"]),
      narrow: layoutOf(340, 52, ["× computed at this step · empty: remembered", "? the token that is chosen"]),
    };
    let layout = layouts.wide;
    const rows = work({ steps, prompt, layers, width: d_model });
    const view = frame(el, { ...layout,
      title: "What each new word makes a model compute",
      label: "Keys and values computed at each step of generation", name: "kv_cache" });
    const state = { step: Math.min(1, steps - 1), cached: true };
    const dial = slider(view.controls, { label: "step", min: 1, max: steps, step: 1, value: state.step + 1 },
      (step) => { state.step = step - 1; draw(); });
    toggle(view.controls, { label: "remember keys and values", checked: true }, (cached) => { state.cached = cached; draw(); });
    let timer = null;
    press(view.controls, "Play", () => {
      clearInterval(timer);
      state.step = -1;
      timer = setInterval(() => {
        if (!el.isConnected || state.step >= steps - 1) return clearInterval(timer);
        put(dial, state.step + 2);
      }, 450);
    });
    const text = (x, y, words, more = {}) => view.picture.append(shape("text", { x, y, ...more }, words));

    function draw() {
      const { left, cell, side, top, height, legend } = layout;
      view.picture.replaceChildren();
      tokens.forEach((token, t) => {
        const x = left + (t + 0.5) * cell, style = `font-size:12px;font-weight:${t === prompt + state.step ? 700 : 400}`;
        view.picture.append(heading(token, { x, y: top - 8, wide: cell, style }));
      });
      for (let step = 0; step <= state.step; step++) {
        const y = top + step * side, { length } = rows[step];
        text(0, y + side * 0.7, `step ${step + 1}`, { class: "quiet", style: "font-size:12px" });
        for (let t = 0; t < length; t++) {
          const isNew = !state.cached || step === 0 || t === length - 1;
          const square = shape("rect", { x: left + t * cell + 1, y: y + 1, width: cell - 2, height: side - 2,
            fill: isNew ? "var(--orange)" : "var(--panel)", stroke: "var(--line)", "stroke-width": 0.6 });
          square.append(shape("title", {}, `${tokens[t]}: key and value ${isNew ? "computed" : "remembered"} at step ${step + 1}`));
          view.picture.append(square);
          if (isNew) text(left + (t + 0.5) * cell, y + side * 0.72, "×",
            { "text-anchor": "middle", style: "font-size:11px;fill:var(--paper)" });
        }
        text(left + (length + 0.5) * cell, y + side * 0.72, "?", { "text-anchor": "middle", style: "font-weight:700" });
      }
      const now = rows[state.step];
      [...legend].reverse().forEach((words, i) => text(legend.length > 1 ? 0 : left, height - 12 - 18 * i, words, { class: "quiet" }));
      view.say(`After ${state.step + 1} of ${steps} steps: ${now.cached} pairs of key and value per layer with a memory, ${now.recomputed} `
        + `without one. The memory holds ${now.memory.toLocaleString("en")} numbers.`);
      view.numbers(["step", "tokens read", "pairs computed, remembering", "pairs computed, forgetting", "numbers remembered"],
        rows.map((row, step) => [step + 1, row.length, row.cached, row.recomputed, row.memory]));
    }
    dragged(view.picture, view.picture, ({ y }) => {
      if (y > layout.top) put(dial, Math.ceil((y - layout.top) / layout.side));
    });
    arrange(view, layouts, (chosen) => {
      layout = chosen;
      draw();
    });
  },
};
