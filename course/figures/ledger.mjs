// What a GPT of these sizes costs: shapes, products, parameters, bytes against a card's memory, a time that no card can beat.

import { HALO, arrange, choose, dragged, frame, put, shape, slider } from "./frame.mjs";

const DTYPES = [ // bytes per number; float16 training keeps a float32 copy of the weights beside Adam's two moments
  { name: "float32", weight: 4, adam: 8, activation: 4, peak: "float32" },
  { name: "float16, Adam in float32", weight: 2, adam: 12, activation: 2, peak: "float16" },
];

/** The products of one block, in order: [what, einsum, shape of the result, parameters, floating-point operations]. */
function products({ B, T, D, H, generating }) {
  const K = D / H, F = 4 * D, t = generating ? 1 : T, n = B * t;
  return [
    ["query, key, value", "btd,dhk→bhtk", [B, H, t, K], 3 * (D * D + D), 6 * n * D * D],
    ["scores / √dₖ", "bhtk,bhsk→bhts", [B, H, t, T], 0, 2 * n * T * D],
    ["weights · values", "bhts,bhsk→bhtk", [B, H, t, K], 0, 2 * n * T * D],
    ["heads side by side, W_output", "bhtk,hkd→btd", [B, t, D], D * D + D, 2 * n * D * D],
    ["feed-forward, up", "btd,df→btf", [B, t, F], D * F + F, 2 * n * D * F],
    ["feed-forward, down", "btf,fd→btd", [B, t, D], F * D + D, 2 * n * D * F],
  ];
}

/** Parameters, operations of one step, bytes by kind, and the shortest times, for sizes {V, B, T, D, H, L, dtype, generating}. */
function count(sizes, card) {
  const { V, B, T, D, H, L, generating } = sizes, dtype = DTYPES[sizes.dtype], F = 4 * D, n = B * (generating ? 1 : T);
  const block = products(sizes).reduce((sum, row) => sum + row[3], 0) + 4 * D;
  const parameters = V * D + T * D + L * block + 2 * D;
  const flops = n * (generating ? 1 : 3) * (2 * (parameters - T * D) + 4 * L * D * T);
  const activations = generating ? 0 : L * B * T * (8 * D + 2 * F + H + 4) + B * T * (2 * D + 2 + V);
  const bytes = {
    weights: parameters * dtype.weight,
    gradients: generating ? 0 : parameters * dtype.weight,
    Adam: generating ? 0 : parameters * dtype.adam,
    activations: activations * dtype.activation,
    "KV cache": generating ? 2 * L * B * T * D * dtype.weight : 0,
  };
  const total = Object.values(bytes).reduce((sum, part) => sum + part, 0);
  const read = bytes.weights + bytes["KV cache"];
  const seconds = Math.max(flops / card[dtype.peak], generating ? read / card.bandwidth : 0);
  return { block, parameters, flops, activations, bytes, total, seconds };
}

const short = (x, units) => {
  let step = 0;
  while (x >= 999.5 && step < units.length - 1) { x /= 1000; step += 1; }
  return `${x >= 99.5 || Number.isInteger(x) ? Math.round(x).toLocaleString("en") : x.toPrecision(3)} ${units[step]}`.trim();
};
const amount = (x) => short(x, ["", "k", "M", "G", "T", "P", "E"]);
const size = (x) => short(x, ["B", "kB", "MB", "GB", "TB", "PB"]);
const time = (s) =>
  s < 1e-3 ? `${(1e6 * s).toPrecision(3)} µs`
    : s < 1 ? `${(1e3 * s).toPrecision(3)} ms`
      : s < 120 ? `${s.toPrecision(3)} s`
        : `${amount(s / 60)} min`;
// Which size changes when a hand pulls at a bar: the layers, or the texts at once.
const PULLED = { weights: "L", gradients: "L", Adam: "L", activations: "B", "KV cache": "B", "all of it": "L" };
const divisors = (D) => [1, 2, 3, 4, 6, 8, 12, 16, 20, 25, 32, 48, 64, 96, 128].filter((H) => D % H === 0 && (D / H) % 2 === 0);

// The columns of the table of products: where each begins or ends, and on which line of its row; and where the bars begin.
const LAYOUTS = {
  wide: { width: 660, height: 372, row: 22, bars: 178, columns: [[0, 0], [206, 0], [330, 0], [540, 0, "end"], [656, 0, "end"]] },
  narrow: { width: 340, height: 500, row: 40, bars: 326, columns: [[0, 0], [0, 17], [124, 17], [258, 0, "end"], [338, 0, "end"]] },
};

export default {
  products,
  count,
  render({ model, el }) {
    const { presets, card, widths } = model.get("data");
    let layout = LAYOUTS.wide;
    const view = frame(el, { ...layout,
      title: "What a GPT of any size costs to store and to compute",
      label: "Shapes, operations and memory of a GPT", name: "ledger" });
    const state = { dtype: 0, generating: false }, knobs = {};
    const powers = (label, most,
      name) => { knobs[name] = slider(view.controls, { label, min: 0, max: most, step: 1, value: 0, show: (p) => String(2 ** p) },
      (p) => { state[name] = 2 ** p; draw(); }); };
    choose(view.controls, { label: "sizes of", options: presets.map((preset) => preset.name), value: 0 },
      (chosen) => { take(presets[chosen]); draw(); });
    choose(view.controls, { label: "numbers", options: DTYPES.map((dtype) => dtype.name), value: 0 },
      (dtype) => { state.dtype = dtype; draw(); });
    choose(view.controls, { label: "while", options: ["training", "generating"], value: 0 },
      (mode) => { state.generating = mode === 1; draw(); });
    powers("B", 10, "B");
    powers("T", 15, "T");
    knobs.D = slider(view.controls, { label: "D", min: 0, max: widths.length - 1, step: 1, value: 0, show: (i) => String(widths[i]) },
      (i) => { state.D = widths[i]; fitHeads(); draw(); });
    knobs.H = slider(view.controls, { label: "H", min: 0, max: 14, step: 1, value: 0, show: (i) => String(divisors(state.D ?? 64)[i]) },
      (i) => { state.H = divisors(state.D)[i]; draw(); });
    knobs.L = slider(view.controls, { label: "L", min: 1, max: 96, step: 1, value: 1 }, (L) => { state.L = L; draw(); });

    function fitHeads() {
      const possible = divisors(state.D), place = Math.max(0, possible.findLastIndex((H) => H <= state.H));
      state.H = possible[place];
      knobs.H.max = possible.length - 1;
      set(knobs.H, place, state.H);
    }
    function set(knob, value, shown) { knob.value = value; knob.nextElementSibling.textContent = shown; }
    function take({ name, ...sizes }) {
      Object.assign(state, sizes);
      for (const letter of ["B", "T"]) set(knobs[letter], Math.log2(state[letter]), state[letter]);
      set(knobs.D, widths.indexOf(state.D), state.D);
      set(knobs.L, state.L, state.L);
      fitHeads();
    }
    const text = (x, y, words, more = {}) => view.picture.append(shape("text", { x, y, ...more }, words));

    function table(y) {
      const { columns, row } = layout;
      const line = (at, cells, more) => cells.forEach((words, i) => {
        const [x, below, anchor = "start"] = columns[i];
        text(x, at + below, words, { "text-anchor": anchor, ...more(i) });
      });
      line(y, ["one block", "einsum", "shape of the result", "parameters", "operations"], () => ({ class: "quiet" }));
      products(state).forEach(([what, einsum, result, parameters, flops], i) =>
        line(y + row * (i + 1), [what, einsum, `(${result.join(", ")})`, parameters ? amount(parameters) : "–", amount(flops)],
          (column) => (column === 1 ? { style: "font-family:ui-monospace,monospace;font-size:12px" } : {})));
    }

    const left = 96, pull = { style: "cursor:ew-resize;touch-action:pan-y" };
    const scaleOf = (counted) => (layout.width - 84 - left) / Math.max(1.25 * card.memory, 1.02 * counted.total);

    /** Let the bar end as near to x as whole layers, or powers of two, allow. */
    function reach(kind, x) {
      const letter = PULLED[kind], { min, max } = knobs[letter];
      const gap = (value) => {
        const counted = count({ ...state, [letter]: letter === "B" ? 2 ** value : value }, card);
        return Math.abs(left + (counted.bytes[kind] ?? counted.total) * scaleOf(counted) - x);
      };
      const values = Array.from({ length: max - min + 1 }, (_, i) => Number(min) + i);
      put(knobs[letter], values.reduce((best, value) => (gap(value) < gap(best) ? value : best)));
    }

    function bars(y, counted) {
      const scale = scaleOf(counted), colours = ["var(--blue)", "var(--green)", "var(--orange)", "var(--quiet)", "var(--line)"];
      const bottom = y + 24 * 5, line = left + card.memory * scale;
      view.picture.append(shape("line",
        { x1: line, x2: line, y1: y - 8, y2: bottom + 26, stroke: "var(--ink)", "stroke-dasharray": "5 4" }));
      Object.entries(counted.bytes).forEach(([kind, bytes], i) => {
        text(0, y + 24 * i + 15, kind);
        view.picture.append(shape("rect",
          { x: left, y: y + 24 * i, width: Math.max(bytes > 0 ? 1 : 0, bytes * scale), height: 18, fill: colours[i], ...pull }));
        text(left + bytes * scale + 6, y + 24 * i + 14, bytes ? size(bytes) : "–", { style: HALO });
      });
      text(0, bottom + 15, "all of it", { style: "font-weight:bold" });
      view.picture.append(shape("rect",
        { x: left, y: bottom, width: Math.max(1, counted.total * scale), height: 18, fill: "transparent", stroke: "var(--ink)",
          "stroke-width": 1.5, ...pull }));
      text(left + counted.total * scale + 6, bottom + 14, size(counted.total), { style: `font-weight:bold;${HALO}` });
      text(line, bottom + 40, `${card.name}: ${size(card.memory)}`, { "text-anchor": line > layout.width - 90 ? "end" : "middle" });
    }

    function draw() {
      const counted = count(state, card);
      view.picture.replaceChildren();
      table(14);
      bars(layout.bars, counted);
      const step = state.generating ? `one more token for each of ${state.B} texts` : "one training step";
      view.say(`${counted.parameters.toLocaleString("en")} parameters. ${step[0].toUpperCase()}${step.slice(1)}: ${amount(counted.flops)} `
        + `operations, at least ${time(counted.seconds)} on one ${card.name}; `
        + `${size(counted.total)} ${counted.total <= card.memory ? "fit" : "do not fit"} into its ${size(card.memory)}.`);
      view.numbers(["", "number"],
        [["V", state.V], ["dₖ = D/H", state.D / state.H], ["parameters of a block", counted.block.toLocaleString("en")],
          ["parameters", counted.parameters.toLocaleString("en")],
        ["operations of a step", counted.flops.toExponential(4)],
          ...Object.entries(counted.bytes).map(([kind, bytes]) => [`bytes, ${kind}`, bytes.toLocaleString("en")])]);
    }
    let kind = null;
    view.picture.addEventListener("pointerdown", () => { kind = null; });
    dragged(view.picture, view.picture, ({ x, y }) => {
      kind ??= Object.keys(PULLED)[Math.floor((y - layout.bars) / 24)];
      if (kind && count(state, card).bytes[kind] !== 0) reach(kind, x);
    });
    take(presets[0]);
    arrange(view, LAYOUTS, (chosen) => {
      layout = chosen;
      draw();
    });
  },
};
