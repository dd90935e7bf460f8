// Self-attention step by step, from queries and keys to outputs, with four mistakes that can be switched on.

import { HALO, arrange, behind, choose, dragged, frame, parts, press, printed, put, room, shape, slider, toggle } from "./frame.mjs";

const dot = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0);

function softmax(scores) {
  const largest = Math.max(...scores), powers = scores.map((s) => Math.exp(s - largest)), sum = powers.reduce((a, b) => a + b, 0);
  return powers.map((power) => power / sum);
}
const transpose = (matrix) => matrix[0].map((_, j) => matrix.map((row) => row[j]));

/** All steps for {query, key, value}; bugs: {unscaled, maskLate, wrongAxis, unmasked}. −Infinity marks what is masked. */
function attend({ query, key, value }, bugs = {}) {
  const scores = query.map((q) => key.map((k) => dot(q, k)));
  const scaled = scores.map((row) => row.map((s) => s / (bugs.unscaled ? 1 : Math.sqrt(key[0].length))));
  const hide = (matrix, what) => matrix.map((row, i) => row.map((s, j) => (j > i ? what : s)));
  const masked = bugs.unmasked || bugs.maskLate ? scaled : hide(scaled, -Infinity);
  const soft = bugs.wrongAxis ? transpose(transpose(masked).map(softmax)) : masked.map(softmax);
  const weights = bugs.maskLate && !bugs.unmasked ? hide(soft, 0) : soft;
  const outputs = weights.map((row) => value[0].map((_, d) => row.reduce((sum, w, j) => sum + w * value[j][d], 0)));
  const leaks = weights.flatMap((row, i) => row.flatMap((w, j) => (j > i && w > 0 ? [[i, j]] : [])));
  return { scores, scaled, masked, weights, outputs, sums: weights.map((row) => row.reduce((a, b) => a + b, 0)), leaks };
}

const BUGS = { unscaled: "no √dₖ", maskLate: "mask after softmax", wrongAxis: "softmax over the queries", unmasked: "no mask" };

export default {
  attend,
  render({ model, el }) {
    const given = model.get("data"), T = given.tokens.length, plane = given.key[0].length === 2;
    const vectors = { query: given.query.map((q) => [...q]), key: given.key.map((k) => [...k]), value: given.value };
    const stepsTall = 196 + 24 * T, layoutOf = (left, cell) => ({ left, cell, wide: left + cell * T });
    const layouts = { // the steps, and the plane beside or below them
      wide: { ...layoutOf(92, 54), width: Math.max(660, layoutOf(92, 54).wide + 330), height: Math.max(plane ? 262 : 0, stepsTall + 14),
        at: [[0, 0], [layoutOf(92, 54).wide + 96, 0]] },
      narrow: { ...layoutOf(84, 46), width: layoutOf(84, 46).wide + 92, height: stepsTall + (plane ? 286 : 32),
        at: [[0, 0], [68, stepsTall + 18]], isNarrow: true },
    };
    let { left, cell, wide, isNarrow } = layouts.wide;
    const view = frame(el, { ...layouts.wide,
      title: "One query, step by step, from its scores to its output",
      label: "Steps of self-attention", name: "microscope" });
    const [table, map] = parts(view, 2);
    const state = { query: T - 1, moved: 0, bugs: {} };
    const select = slider(view.controls, { label: "query", min: 0, max: T - 1, step: 1, value: T - 1, show: (i) => given.tokens[i] },
      (i) => { state.query = i; draw(); });
    for (const [bug, label] of Object.entries(BUGS))
      toggle(view.controls, { label, checked: false }, (on) => { state.bugs[bug] = on; draw(); });
    const names = ["query", ...given.tokens.map((token) => `key of ${token}`)], knobs = [];
    const moving = () => (state.moved === 0 ? vectors.query[state.query] : vectors.key[state.moved - 1]);
    if (plane) {
      choose(view.controls, { label: "move", options: names, value: 0 }, (which) => { state.moved = which; draw(); });
      for (const axis of [0, 1])
        knobs.push(slider(view.controls, { label: "xy"[axis], min: -4, max: 4, step: 0.1, value: 0, show: (v) => v.toFixed(1) },
        (value) => { moving()[axis] = value; draw(); }));
      press(view.controls, "Back to the start",
        () => { for (const role of ["query", "key"]) vectors[role] = given[role].map((v) => [...v]); draw(); });
    }
    const text = (x, y, words, more = {}, part = table) => part.append(shape("text", { x, y, ...more }, words));
    const number = (value) => (value === -Infinity ? "−∞" : value.toFixed(2));

    function square(i, j, weight, leaking) {
      const x = left + j * cell, y = 34 + 24 * i;
      const made = shape("rect",
        { x, y, width: cell - 2, height: 22, fill: behind(weight),
          ...(leaking ? { stroke: "#d1242f", "stroke-width": 2.5 } : {}) });
      made.addEventListener("click", () => { put(select, i); });
      table.append(made);
      text(x + cell / 2 - 1, y + 15, number(weight), { "text-anchor": "middle", "pointer-events": "none" });
    }

    function matrix(steps) {
      given.tokens.forEach((token, j) =>
        text(left + (j + 0.5) * cell, 26, token, { "text-anchor": "middle", style: `font-size:${isNarrow ? 10.5 : 11}px` }));
      text(0, 10, "weights: queries down, keys across", { class: "quiet" });
      steps.weights.forEach((row, i) => {
        text(left - 6, 49 + 24 * i, given.tokens[i],
          { "text-anchor": "end", style: `font-weight:${i === state.query ? "bold" : "normal"}` });
        row.forEach((weight, j) => square(i, j, weight, j > i && weight > 0));
        const isOne = Math.abs(steps.sums[i] - 1) < 1e-6;
        text(wide + 6, 49 + 24 * i, isOne ? "Σ 1" : `Σ ${steps.sums[i].toFixed(3)} ≠ 1`,
          isOne ? {} : { style: "fill:var(--orange);font-weight:bold" });
      });
    }

    function pipeline(y, steps) {
      const rows = [["q · k", steps.scores], [state.bugs.unscaled ? "not divided" : "/ √dₖ", steps.scaled],
        [state.bugs.unmasked || state.bugs.maskLate ? "not masked" : "masked", steps.masked], ["weight", steps.weights]];
      text(0, y, `the query of “${given.tokens[state.query]}”, step by step`, { class: "quiet" });
      rows.forEach(([label, matrix], r) => {
        text(left - 6, y + 24 * (r + 1), label, { "text-anchor": "end", style: `font-weight:${r === 3 ? "bold" : "normal"}` });
        matrix[state.query].forEach((s, j) =>
          text(left + (j + 0.5) * cell, y + 24 * (r + 1), number(s),
            { "text-anchor": "middle", style: `font-weight:${r === 3 ? "bold" : "normal"}` }));
      });
      text(left - 6, y + 130, "output", { "text-anchor": "end" });
      const output = `(${steps.outputs[state.query].map(number).join(", ")})`, sum = "= Σ weight · value";
      (isNarrow ? [output, sum] : [`${output} ${sum}`]).forEach((words, i) => text(left + 6, y + 130 + 18 * i, words));
    }

    function drawPlane() {
      const x = 0, y = 18;
      isFree = room();
      const middle = [x + 110, y + 110], place = (v) => [middle[0] + 25 * v[0], middle[1] - 25 * v[1]];
      map.append(shape("rect", { x, y, width: 220, height: 220, fill: "none", stroke: "var(--line)" }));
      for (const ends of [[x, middle[1], x + 220, middle[1]], [middle[0], y, middle[0], y + 220]])
        map.append(shape("line",
          { x1: ends[0], y1: ends[1], x2: ends[2], y2: ends[3], stroke: "var(--line)", "stroke-dasharray": "2 4" }));
      const [qx, qy] = place(vectors.query[state.query]);
      const along = [0.25, 0.5, 0.75].map((share) => [middle[0] + share * (qx - middle[0]), middle[1] + share * (qy - middle[1])]);
      for (const [cx, cy] of [[qx, qy], ...vectors.key.map(place), ...along]) isFree(cx - 7.8, cy + 5, "●●", 12); // no name lies there
      map.append(shape("line", { x1: middle[0], y1: middle[1], x2: qx, y2: qy, stroke: "var(--blue)", "stroke-width": 2.5 }));
      point([qx, qy], `q ${given.tokens[state.query]}`, "var(--blue)", 0);
      vectors.key.forEach((k, j) => point(place(k), `k ${given.tokens[j]}`, "var(--orange)", j + 1));
      text(x, y + 236, "drag a query or a key", { class: "quiet" }, map);
    }

    let isFree = null; // where the plane has room for words

    /** A name beside its point, where it lies on no other; where all places are taken, it is left to the list of names. */
    function beside(cx, cy, label) {
      const long = 0.65 * 11 * label.length, least = 2, most = 218;
      const places = [[cx + 9, cy - 6, "start"], [cx - 9, cy - 6, "end"], [cx + 9, cy + 14, "start"], [cx - 9, cy + 14, "end"],
        [cx, cy - 11, "middle"], [cx, cy + 19, "middle"]];
      for (const [x, y, anchor] of places) {
        const left = x - long * { start: 0, middle: 0.5, end: 1 }[anchor];
        if (left >= least && left + long <= most && y > 28 && y < 236 && isFree(left, y, label, 11))
          return text(x, y, label, { style: `font-size:11px;${HALO}`, "text-anchor": anchor }, map);
      }
      return null;
    }

    function point([cx, cy], label, fill, which) {
      const made = shape("circle", { cx, cy, r: 7, fill, style: "cursor:grab;touch-action:none" });
      dragged(made, map, ({ x, y }) => {
        state.moved = which;
        moving().splice(0, 2, ...[(x - 110) / 25, -(y - 128) / 25].map((v) => Math.round(10 * Math.max(-4, Math.min(4, v))) / 10));
        draw();
      });
      map.append(made);
      beside(cx, cy, label);
    }

    function draw() {
      const steps = attend(vectors, state.bugs);
      for (const part of [table, map]) part.replaceChildren();
      matrix(steps);
      pipeline(62 + 24 * T, steps);
      if (plane) {
        drawPlane();
        view.controls.querySelectorAll("select")[0].value = String(state.moved);
        knobs.forEach((knob, axis) => {
          knob.value = moving()[axis];
          knob.nextElementSibling.textContent = printed(moving()[axis].toFixed(1));
        });
      }
      const wrong = steps.sums.filter((sum) => Math.abs(sum - 1) > 1e-6).length;
      view.say(`Rows that do not sum to one: ${wrong} of ${T}. Weights on the future: ${steps.leaks.length}. Largest weight `
        + `of “${given.tokens[state.query]}”: ${Math.max(...steps.weights[state.query]).toFixed(3)}.`);
      view.numbers(["query", ...given.tokens, "Σ"],
        steps.weights.map((row, i) => [given.tokens[i], ...row.map((w) => w.toFixed(4)), steps.sums[i].toFixed(4)]));
    }
    arrange(view, layouts, (layout) => {
      ({ left, cell, wide, isNarrow } = layout);
      draw();
    });
  },
};
