// Three ways down the same valley: gradient descent, with momentum, and Adam, on L(θ) = ½ θᵀHθ with the same noise.

import { arrange, dragged, frame, node, parts, put, shape, slider } from "./frame.mjs";

const TINY = 1e-8; // Adam's ε

/** The matrix of the same valley, turned by an angle in degrees: R H Rᵀ. */
export function turned(H, degrees) {
  const c = Math.cos((degrees * Math.PI) / 180), s = Math.sin((degrees * Math.PI) / 180);
  const [[a, b], [, d]] = H;
  return [
    [c * c * a - 2 * c * s * b + s * s * d, c * s * (a - d) + (c * c - s * s) * b],
    [c * s * (a - d) + (c * c - s * s) * b, s * s * a + 2 * c * s * b + c * c * d],
  ];
}

/** Its curvatures, the smaller first, and the direction of the smaller one in degrees. */
export function curvatures([[a, b], [, d]]) {
  const middle = (a + d) / 2, spread = Math.hypot((a - d) / 2, b);
  return { small: middle - spread, large: middle + spread, angle: (Math.atan2(2 * b, a - d) * 90) / Math.PI + 90 };
}

export const lossAt = ([[a, b], [, d]], [x, y]) => (a * x * x + 2 * b * x * y + d * y * y) / 2;

/** Every point on the way of one optimizer; it ends where a number grows beyond what can be drawn. */
function descend(H, noise, { start, steps, sigma }, update) {
  const path = [[...start]];
  for (let t = 1; t <= steps; t++) {
    const [x, y] = path.at(-1);
    const gradient = [H[0][0] * x + H[0][1] * y, H[1][0] * x + H[1][1] * y].map((g, i) => g + sigma * noise[t - 1][i]);
    const next = [x, y].map((value, i) => value - update(gradient[i], i, t));
    path.push(next);
    if (Math.hypot(...next) > 1e3) break;
  }
  return path;
}

/** The ways of all three. rate: η of the first two; adamRate: Adam's. */
export function race({ H, noise }, knobs) {
  const { rate, momentum, adamRate, beta1, beta2 } = knobs;
  const velocity = [0, 0], first = [0, 0], second = [0, 0];
  return {
    sgd: descend(H, noise, knobs, (g) => rate * g),
    momentum: descend(H, noise, knobs, (g, i) => rate * (velocity[i] = momentum * velocity[i] + g)),
    adam: descend(H, noise, knobs, (g, i, t) => {
      first[i] = beta1 * first[i] + (1 - beta1) * g;
      second[i] = beta2 * second[i] + (1 - beta2) * g * g;
      return (adamRate * first[i]) / (1 - beta1 ** t) / (Math.sqrt(second[i] / (1 - beta2 ** t)) + TINY);
    }),
  };
}

const RUNNERS = [
  { key: "sgd", name: "SGD", colour: "var(--blue)", dash: "" },
  { key: "momentum", name: "SGD with momentum", colour: "var(--orange)", dash: "7 3" },
  { key: "adam", name: "Adam", colour: "var(--green)", dash: "2 3" },
];

const LAYOUTS = { // the valley, and the losses, below which the names begin at `names`
  wide: { width: 700, height: 340, names: 56, at: [[0, 0], [340, 0]] },
  narrow: { width: 354, height: 684, names: 20, at: [[0, 0], [0, 344]] },
};

export default {
  render({ model, el }) {
    const data = model.get("data");
    const size = 300, edge = 20, left = 56, right = 350, top = 16, bottom = 246;
    const view = frame(el, { ...LAYOUTS.wide,
      title: "Three ways down the same valley",
      label: "Three optimizers on one valley of the loss", name: "optimizer-race" });
    const [plane, losses] = parts(view, 2);
    let { names } = LAYOUTS.wide;
    const reach = data.reach, most = data.noise.length;
    const state = { start: [...data.start], steps: most, rate: data.rate, momentum: 0.9, adamRate: data.adamRate, beta1: 0.9, beta2: 0.999,
      sigma: 0, tilt: 0 };
    const knob = (label, key, min, max, step, show, row = view.controls) =>
      slider(row, { label, min, max, step, value: state[key], show }, (value) => { state[key] = value; draw(); });
    const power = (label, key) =>
      slider(view.controls, { label, min: -3, max: 0.5, step: 0.02, value: Math.log10(state[key]), show: (e) => (10 ** e).toPrecision(2) },
        (e) => { state[key] = 10 ** e; draw(); });
    power("η of SGD", "rate");
    knob("momentum", "momentum", 0, 0.99, 0.01, (value) => value.toFixed(2));
    power("η of Adam", "adamRate");
    const others = node("div", { class: "lmf-row" });
    view.controls.append(node("details", {}, node("summary", {}, "Adam's β, noise, and where they start"), others));
    knob("β₁", "beta1", 0, 0.99, 0.01, (value) => value.toFixed(2), others);
    knob("β₂", "beta2", 0.5, 0.999, 0.001, (value) => value.toFixed(3), others);
    knob("noise in the gradient", "sigma", 0, 2, 0.05, (value) => value.toFixed(2), others);
    knob("turn the valley", "tilt", 0, 90, 1, (value) => `${value}°`, others);
    const starts = [0, 1].map((i) =>
      slider(others,
        { label: `start θ${"₁₂"[i]}`, min: -reach, max: reach, step: reach / 40, value: state.start[i], show: (value) => value.toFixed(2) },
        (value) => { state.start[i] = value; draw(); }));

    const add = (part, tag, attributes, words = null) => {
      const made = shape(tag, attributes, words);
      part.append(made);
      return made;
    };
    const mapX = (x) => (size * (x + reach)) / (2 * reach), mapY = (y) => (size * (reach - y)) / (2 * reach);
    const chartX = (step) => left + ((right - left) * step) / most;
    const chartY = (loss) => bottom - ((bottom - top) * (Math.log10(Math.min(1e4, Math.max(1e-8, loss))) + 8)) / 12;
    const pretty = (value) => (value >= 0.01 && value < 1000 ? value.toPrecision(3) : value.toExponential(1));

    function valley(H) {
      const { small, large, angle } = curvatures(H), scale = size / (2 * reach);
      add(plane, "rect", { x: edge, y: top, width: size, height: size, fill: "none", stroke: "var(--line)" });
      const map = add(plane, "svg", { x: edge, y: top, width: size, height: size,
        style: `width:${size}px;height:${size}px;overflow:hidden` });
      for (let level = 0; level < 9; level++) {
        const loss = 0.02 * large * 2 ** level * (reach / 4) ** 2;
        map.append(shape("ellipse",
          { rx: scale * Math.sqrt((2 * loss) / small), ry: scale * Math.sqrt((2 * loss) / large), fill: "none", stroke: "var(--line)",
            "stroke-width": 0.7,
          transform: `translate(${mapX(0)} ${mapY(0)}) rotate(${-angle})` }));
      }
      add(plane, "text", { x: edge, y: top + size + 16, class: "quiet" }, "drag the start; rings are points of equal loss");
      return map;
    }

    function chart() {
      for (const exponent of [-8, -4, 0, 4]) {
        add(losses, "line", { x1: left, x2: right, y1: chartY(10 ** exponent), y2: chartY(10 ** exponent), stroke: "var(--line)",
          "stroke-width": 0.5 });
        add(losses, "text", { x: left - 6, y: chartY(10 ** exponent) + 4, "text-anchor": "end", class: "quiet" }, `1e${exponent}`);
      }
      add(losses, "text", { x: left, y: bottom + 18, class: "quiet" }, "step 0");
      add(losses, "text", { x: right, y: bottom + 18, class: "quiet", "text-anchor": "end" }, `step ${most}`);
      add(losses, "text", { x: (left + right) / 2, y: bottom + 18, class: "quiet", "text-anchor": "middle" }, "loss L(θ)");
    }

    function runner({ key, name, colour, dash }, place, path, H, map) {
      const line = { fill: "none", stroke: colour, "stroke-width": 2, "stroke-dasharray": dash };
      map.append(shape("polyline", { ...line, points: path.map(([x, y]) => `${mapX(x)},${mapY(y)}`).join(" ") }));
      const costs = path.map((point) => lossAt(H, point)), hasFled = path.length <= most;
      add(losses, "polyline", { ...line, points: costs.map((loss, step) => `${chartX(step)},${chartY(loss)}`).join(" ") });
      const [x, y] = path.at(-1);
      if (!hasFled) map.append(shape("circle", { cx: mapX(x), cy: mapY(y), r: 4, fill: colour }));
      add(losses, "line", { x1: names, x2: names + 26, y1: 288 + 20 * place, y2: 288 + 20 * place, ...line });
      add(losses, "text", { x: names + 32, y: 292 + 20 * place },
        `${name}: ${hasFled ? `diverged, step ${path.length - 1} ✕` : pretty(costs.at(-1))}`);
      return { key, name, losses: costs, hasFled };
    }

    function handle() {
      const made = add(plane, "circle",
        { cx: edge + mapX(state.start[0]), cy: top + mapY(state.start[1]), r: 7, fill: "var(--ink)",
          style: "cursor:grab;touch-action:none" });
      dragged(made, plane, ({ x, y }) => {
        const found = [((x - edge) / size) * 2 * reach - reach, reach - ((y - top) / size) * 2 * reach];
        found.forEach((value, i) => put(starts[i], Math.max(-reach, Math.min(reach, value))));
      });
    }

    function draw() {
      const H = turned(data.H, state.tilt), paths = race({ H, noise: data.noise }, state);
      for (const part of [plane, losses]) part.replaceChildren();
      const map = valley(H);
      chart();
      const found = RUNNERS.map((entry, place) => runner(entry, place, paths[entry.key], H, map));
      handle();
      const limit = 2 / curvatures(H).large;
      view.say(`SGD without momentum is stable while η < 2 / (largest curvature) = ${pretty(limit)}; now η = ${pretty(state.rate)}. Loss `
        + `at the end: ` +
        found.map(({ name, losses, hasFled }) => `${name} ${hasFled ? "diverged" : pretty(losses.at(-1))}`).join(", ") + ".");
      const rows = [0, 1, 2, 5, 10, 20, 40, most].filter((step, i, all) => step <= most && all.indexOf(step) === i);
      view.numbers(["step", ...found.map(({ name }) => name)],
        rows.map((step) => [step, ...found.map(({ losses }) => (step < losses.length ? losses[step].toExponential(3) : "diverged"))]));
    }
    arrange(view, LAYOUTS, (layout) => {
      ({ names } = layout);
      draw();
    });
  },
};
