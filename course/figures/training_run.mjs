// A training run as a film: at every snapshot the losses, the words' vectors, activations, gradients, and a sample.

import { arrange, choose, dragged, frame, node, parts, put, room, shape, slider } from "./frame.mjs";

/** Where the outermost bins of a histogram of [−1, 1] begin, as a fraction: ±11/12 for 24 bins. */
export function edgeOf(counts) {
  return `±${counts.length / 2 - 1}/${counts.length / 2}`;
}

/** The share of the values of a histogram that lie in its outermost bins, at both ends together. */
export function atTheEnds(counts, bins = 1) {
  const total = counts.reduce((sum, count) => sum + count, 0) || 1;
  const ends = [...counts.slice(0, bins), ...counts.slice(-bins)].reduce((sum, count) => sum + count, 0);
  return ends / total;
}

const LAYOUTS = { // losses, map, two histograms whose width is `bars`, and the lengths of the steps
  wide: { width: 700, height: 394, bars: 190, at: [[0, 0], [360, 0], [40, 238], [262, 238], [468, 238]] },
  narrow: { width: 350, height: 790, bars: 150, at: [[0, 0], [0, 252], [12, 476], [188, 476], [0, 638]] },
};

export default {
  render({ model, el }) {
    const { runs, tokens, floor } = model.get("data");
    const view = frame(el, { ...LAYOUTS.wide,
      title: "What a training run tells while it runs",
      label: "A training run, snapshot by snapshot", name: "training-run" });
    const sample = node("p", { style: "margin:.3rem 0;font-family:ui-monospace,monospace;font-size:13px;overflow-wrap:anywhere" });
    const about = node("p", { style: "margin:.3rem 0;color:var(--quiet);font-size:12px" });
    view.picture.after(about, sample);
    const [losses, map, activations, gradients, updates] = parts(view, 5);
    const longest = Math.max(...runs.map((run) => run.snapshots.length)) - 1;
    let { bars } = LAYOUTS.wide;
    // At the start there are no gradients to see.
    const state = { run: 0, snapshot: Math.ceil(longest / 2) };
    choose(view.controls, { label: "run", options: runs.map((run) => run.name), value: 0 }, (run) => { state.run = run; draw(); });
    const film = slider(view.controls,
      { label: "snapshot", min: 0, max: longest, step: 1, value: state.snapshot, show: (n) => `step ${at(n).step}` },
      (n) => { state.snapshot = n; draw(); });

    function at(n) { const all = runs[state.run].snapshots; return all[Math.min(n, all.length - 1)]; }
    /** What draws in one part of the picture. */
    const pen = (part) => {
      const add = (tag, attributes, words = null) => { const made = shape(tag, attributes, words); part.append(made); return made; };
      return {
        add,
        title: (x, y, words) => add("text", { x, y, style: "font-size:12px;font-weight:600" }, words),
        quiet: (x, y, words, anchor = "start") =>
          add("text", { x, y, class: "quiet", "text-anchor": anchor, style: "font-size:11px" }, words),
      };
    };

    function drawLosses({ add, title, quiet }) {
      const left = 40, right = 340, top = 24, bottom = 206, steps = runs[0].snapshots.map(({ step }) => step);
      const highest = Math.max(...runs.flatMap((run) => run.snapshots.map(({ validation }) => Math.min(validation, 12))));
      const x = (step) => left + ((right - left) * Math.log1p(step)) / Math.log1p(steps.at(-1)),
        y = (loss) => bottom - ((bottom - top) * Math.min(loss, highest)) / highest;
      title(left, 12, "loss in nats (solid: training, dashed: held out)");
      const isCut = runs.some((run) => run.snapshots.some(({ validation }) => validation > highest));
      for (const loss of [0, highest / 2, highest]) {
        add("line", { x1: left, x2: right, y1: y(loss), y2: y(loss), stroke: "var(--line)", "stroke-width": 0.5 });
        quiet(left - 5, y(loss) + 4, isCut && loss === highest ? `≥ ${loss}` : loss.toFixed(1), "end");
      }
      if (floor !== null) {
        add("line", { x1: left, x2: right, y1: y(floor), y2: y(floor), stroke: "var(--green)", "stroke-dasharray": "2 3" });
        quiet(left + 4, y(floor) - 4, `floor ${floor.toFixed(2)}`);
      }
      runs.forEach((run, which) => {
        const chosen = which === state.run,
          paint = { fill: "none", stroke: chosen ? "var(--blue)" : "var(--line)", "stroke-width": chosen ? 2 : 1 };
        const points = (key) => run.snapshots.map((shot) => `${x(shot.step)},${y(shot[key])}`).join(" ");
        add("polyline", { ...paint, points: points("training") });
        add("polyline", { ...paint, points: points("validation"), "stroke-dasharray": "6 3" });
      });
      const shot = at(state.snapshot);
      add("line", { x1: x(shot.step), x2: x(shot.step), y1: top, y2: bottom, stroke: "var(--orange)" });
      add("circle", { "data-key": "now", cx: x(shot.step), cy: y(shot.validation), r: 5, fill: "var(--orange)" });
      const hand = add("rect", { x: left - 8, y: top, width: right - left + 16, height: bottom - top, fill: "transparent",
        style: "cursor:ew-resize" });
      dragged(hand, losses, (at) => {
        const away = steps.map((step) => Math.abs(x(step) - at.x));
        put(film, away.indexOf(Math.min(...away)));
      });
      for (const step of [0, 10, 100, 1000].filter((step) => step <= steps.at(-1))) quiet(x(step), bottom + 14, String(step), "middle");
      quiet(right, bottom + 28, "step", "end");
    }

    function drawMap({ add, title }) {
      const left = 12, top = 24, wide = 316, high = 182, shot = at(state.snapshot);
      const reach = Math.max(1e-6, ...runs[state.run].snapshots.flatMap(({ places }) => places.flat().map(Math.abs))) * 1.08;
      title(left, 12, "the words' vectors, in two directions");
      add("rect", { x: left, y: top, width: wide, height: high, fill: "none", stroke: "var(--line)", "stroke-width": 0.5 });
      const isFree = room();
      shot.places.forEach(([px, py], i) => {
        const x = left + (wide * (px + reach)) / (2 * reach), y = top + (high * (reach - py)) / (2 * reach);
        add("circle", { "data-key": `word ${i}`, cx: x, cy: y, r: 2, fill: "var(--blue)" });
        const isLeft = px > 0.75 * reach, long = 0.65 * 11 * tokens[i].length; // words to the left of a point near the edge
        if (isFree(isLeft ? x + 3 - long : x + 3, y - 2, tokens[i], 11))
          add("text", { x: x + 3, y: y - 2, style: "font-size:11px", "text-anchor": isLeft ? "end" : "start" }, tokens[i]);
      });
    }

    function histogram({ add, title, quiet }, words, counts, ends, note) {
      const top = 24, high = 92, wide = bars, most = Math.max(1, ...counts), bar = wide / counts.length;
      title(0, 12, words);
      add("line", { x1: 0, x2: wide, y1: top + high, y2: top + high, stroke: "var(--line)" });
      counts.forEach((count, i) =>
        add("rect", { x: i * bar, y: top + high - (high * count) / most, width: Math.max(1, bar - 1), height: (high * count) / most,
          fill: "var(--blue)" }));
      quiet(0, top + high + 14, ends[0]);
      quiet(wide, top + high + 14, ends[1], "end");
      quiet(0, top + high + 30, note);
    }

    function drawUpdates({ add, title, quiet }) {
      const left = 12, right = 222, shot = at(state.snapshot), y0 = 30;
      const x = (ratio) => left + 40 + ((right - left - 40) * (Math.log10(Math.max(1e-6, Math.min(1, ratio))) + 6)) / 6;
      title(left, 12, "length of step / of weights");
      add("line", { x1: x(1e-3), x2: x(1e-3), y1: 20, y2: 124, stroke: "var(--line)", "stroke-dasharray": "3 3" });
      for (const [ratio, words] of [[1e-6, "1e-6"], [1e-3, "1e-3"], [1, "1"]]) quiet(x(ratio), 138, words, "middle");
      if (!Object.keys(shot.updates).length) quiet(left + 40, y0 + 44, "no step yet");
      Object.entries(shot.updates).forEach(([name, ratio], i) => {
        const y = y0 + (i * 88) / Math.max(1, Object.keys(shot.updates).length - 1 || 1);
        quiet(left, y + 4, name);
        if (ratio > 0) add("circle", { cx: x(ratio), cy: y, r: 5, fill: "var(--orange)" });
      });
    }

    function draw() {
      const run = runs[state.run], shot = at(state.snapshot), saturated = atTheEnds(shot.activations), edge = edgeOf(shot.activations);
      for (const part of [losses, map, activations, gradients, updates]) part.replaceChildren();
      drawLosses(pen(losses));
      drawMap(pen(map));
      histogram(pen(activations), "activations tanh(·)", shot.activations, ["−1", "1"], `${Math.round(100 * saturated)} % beyond ${edge}`);
      histogram(pen(gradients), "gradients, |∂L/∂θ|", shot.gradients, ["1e-10", "10"], "how many of each size");
      drawUpdates(pen(updates));
      about.textContent = run.about;
      about.hidden = !run.about;
      sample.textContent = `it writes: ${shot.sample}`;
      view.say(`${run.name}, step ${shot.step}: loss ${shot.training.toFixed(2)} in training, ${shot.validation.toFixed(2)} held `
        + `out; ${Math.round(100 * saturated)} % of the activations beyond ${edge}.`);
      view.numbers(["step", "training loss", "held-out loss", `activations beyond ${edge}`],
        run.snapshots.map((each) =>
          [each.step, each.training.toFixed(3), each.validation.toFixed(3), `${(100 * atTheEnds(each.activations)).toFixed(0)} %`]));
    }
    arrange(view, LAYOUTS, (layout) => {
      ({ bars } = layout);
      draw();
    });
  },
};
