// The ladder: what every model of the course pays per token, above the exact floor; along parameters, seconds, or in the order taught.

import { choose, frame, node, room, shape, toggle } from "./frame.mjs";

/** Bits per token above the floor, the same in percent, and the share of the way from the worst rung down to the floor. */
export function standing(rung, rungs, floor) {
  const worst = Math.max(...rungs.map(({ bits }) => bits));
  const above = rung.bits - floor;
  return { above, percent: 100 * (rung.bits / floor - 1), way: worst > floor ? (worst - rung.bits) / (worst - floor) : 1 };
}

/** Rungs that no other one beats in both: none is cheaper along `axis` and better at once. Their places in the list. */
export function frontier(rungs, axis) {
  const cost = (rung) => rung[axis];
  return rungs.map((_, i) => i).filter((i) => !rungs.some((other, j) => j !== i
    && cost(other) <= cost(rungs[i]) && other.bits <= rungs[i].bits && (cost(other) < cost(rungs[i]) || other.bits < rungs[i].bits)));
}

const AXES = [
  { label: "the order taught", key: null },
  { label: "parameters or counts", key: "parameters" },
  { label: "seconds of training", key: "seconds" },
];

export default {
  render({ model, el }) {
    const { rungs, floor } = model.get("data");
    const width = 640, height = 380, left = 62, right = width - 16, top = 16, bottom = 330;
    const view = frame(el, { width, height,
      title: "Every model lies above the floor: by how much?",
      label: "Bits per token of every model, above the exact floor", name: "ladder" });
    const state = { axis: 0, isGap: false, chosen: rungs.length - 1, shown: rungs.map(() => true) };
    choose(view.controls, { label: "along", options: AXES.map(({ label }) => label), value: 0 }, (axis) => { state.axis = axis; draw(); });
    toggle(view.controls, { label: "distance from the floor, logarithmic" }, (isGap) => { state.isGap = isGap; draw(); });
    const picker = choose(view.controls, { label: "rung", options: rungs.map(({ title }) => title), value: state.chosen },
      (i) => { state.chosen = i; draw(); });
    const boxes = node("details", {}, node("summary", {}, "Which rungs"));
    const list = node("div", { class: "lmf-row" });
    boxes.append(list);
    rungs.forEach(({ title }, i) => toggle(list, { label: title, checked: true }, (isShown) => { state.shown[i] = isShown; draw(); }));
    view.controls.append(boxes);
    const text = (x, y, words, more = {}) => view.picture.append(shape("text", { x, y, ...more }, words));
    const line = (x1, y1, x2, y2, more = {}) => view.picture.append(shape("line", { x1, y1, x2, y2, stroke: "var(--line)", ...more }));

    function scales(visible) {
      const { key } = AXES[state.axis];
      const values = visible.map((i) => (key ? Math.log10(Math.max(rungs[i][key], 0.01)) : i)), low = Math.min(...values),
        high = Math.max(...values);
      const across = (i) =>
        left + 30 + (right - left - 70) * ((key ? Math.log10(Math.max(rungs[i][key], 0.01)) : i) - low) / (high - low || 1);
      const costs = visible.map((i) => (state.isGap ? Math.log10(Math.max(rungs[i].bits - floor, 1e-4)) : rungs[i].bits));
      const from = state.isGap ? Math.floor(Math.min(...costs)) : 0,
        to = state.isGap ? Math.ceil(Math.max(...costs) + 1e-9) : Math.max(...costs) * 1.08;
      const up = (bits) =>
        bottom - (bottom - top) * ((state.isGap ? Math.log10(Math.max(bits - floor, 10 ** from)) : bits) - from) / (to - from || 1);
      return { across, up, from, to };
    }

    function axes({ up, from, to }) {
      for (let value = Math.ceil(from); value <= to; value++) {
        const y = bottom - (bottom - top) * (value - from) / (to - from || 1);
        line(left, y, right, y, { "stroke-opacity": 0.25 });
        text(left - 8, y + 4, state.isGap ? String(10 ** value) : String(value), { "text-anchor": "end", class: "quiet" });
      }
      text(0, top + 4, "bits", { class: "quiet" });
      if (state.isGap) return text(right, top + 4, "the floor is infinitely far down", { "text-anchor": "end", class: "quiet" });
      line(left, up(floor), right, up(floor), { stroke: "var(--orange)", "stroke-width": 2, "stroke-dasharray": "7 4" });
      text(left + 4, up(floor) + 17, `floor ${floor.toFixed(3)}`);
    }

    function draw() {
      const visible = rungs.map((_, i) => i).filter((i) => state.shown[i]);
      view.picture.replaceChildren();
      if (!visible.length) return view.say("Choose at least one rung.");
      const scale = scales(visible), { key } = AXES[state.axis];
      axes(scale);
      if (key) {
        const best = frontier(visible.map((i) => rungs[i]), key).map((place) => visible[place])
          .sort((a, b) => rungs[a][key] - rungs[b][key]);
        view.picture.append(shape("polyline",
          { points: best.map((i) => `${scale.across(i)},${scale.up(rungs[i].bits)}`).join(" "), fill: "none", stroke: "var(--green)",
            "stroke-width": 1.5, "stroke-dasharray": "2 3" }));
        text(right, bottom + 36, `${AXES[state.axis].label}, logarithmic → · green: not beaten in both`,
          { "text-anchor": "end", class: "quiet" });
      }
      const isFree = room();
      visible.forEach((i) => {
        const rung = rungs[i], x = scale.across(i), y = scale.up(rung.bits), isChosen = i === state.chosen;
        const group = shape("g", { style: "cursor:pointer" });
        if (rung.spread)
          group.append(shape("line",
            { x1: x, x2: x, y1: scale.up(rung.bits + rung.spread / 2), y2: scale.up(rung.bits - rung.spread / 2), stroke: "var(--ink)",
              "stroke-width": 2 }));
        group.append(shape("rect", { x: x - 16, y: y - 4, width: 32, height: 8, rx: 2, fill: isChosen ? "var(--orange)" : "var(--blue)" }));
        const words = key ? rung.title : rung.bits.toFixed(2);
        let above = y - 9;
        while (!isFree(x - 0.325 * 12 * words.length, above, words, 12)) above -= 4;
        group.append(shape("text", { x, y: above, "text-anchor": "middle", style: `font-size:12px;font-weight:${isChosen ? 700 : 400}` },
          words));
        if (!key) group.append(shape("text",
          { x, y: bottom + 18 + 17 * (visible.indexOf(i) % 2), "text-anchor": "middle",
            style: `font-size:12px;font-weight:${isChosen ? 700 : 400}` }, rung.title));
        group.append(shape("title", {}, `${rung.title}: ${rung.bits.toFixed(4)} bits per token`));
        group.addEventListener("click", () => { state.chosen = i; picker.value = String(i); draw(); });
        view.picture.append(group);
      });
      const rung = rungs[state.chosen], { above, percent, way } = standing(rung, rungs, floor);
      view.say(`${rung.title}: ${rung.bits.toFixed(3)} bits per token, ${above.toFixed(3)} above the floor (${percent.toFixed(1)} `
        + `%), ${(100 * way).toFixed(1)} % of the way down; ${rung.parameters.toLocaleString("en")} parameters or `
        + `counts, ${rung.seconds.toFixed(1)} s.`);
      view.numbers(["model", "parameters", "bits/token", "above the floor", "seconds"], rungs.map((each) =>
        [each.title, each.parameters.toLocaleString("en"), each.bits.toFixed(4), `${standing(each, rungs, floor).percent.toFixed(2)} %`,
          each.seconds.toFixed(1)]));
    }
    draw();
  },
};
