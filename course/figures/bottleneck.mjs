// Quality against the length of the source, and at each length what a model wrote beside what is right.

import { arrange, frame, node, press, shape, slider } from "./frame.mjs";

/** Word by word: which of the written words stand in their place. */
export function inPlace(written, right) {
  return written.map((word, place) => word === right[place]);
}

/** Share of the right words that stand in their place. */
export function share(written, right) {
  return inPlace(written, right).filter(Boolean).length / right.length;
}

/** The place of the length at which models differ most; of the longest in training, where there is only one model. */
export function farthestApart(curves, trained, lengths) {
  if (curves.length < 2) return Math.max(0, lengths.findLastIndex((length) => length <= trained));
  const spread = lengths.map((_, place) => {
    const values = curves.map((curve) => curve.values[place]);
    return Math.max(...values) - Math.min(...values);
  });
  return spread.indexOf(Math.max(...spread));
}

export default {
  render({ model, el }) {
    const { lengths, curves, trained, measure, unit, highest, examples } = model.get("data");
    const left = 44, floor = 222, ceiling = 26, layouts = { // the curves end at `right`; `key`: where their names stand
      wide: { width: 640, height: 262, right: 440, key: [454, 24] },
      narrow: { width: 340, height: 296 + 22 * curves.length, right: 326, key: [left, 288] },
    };
    let { width, right, key } = layouts.wide;
    const view = frame(el, { ...layouts.wide,
      title: "What arrives of a source, the longer it is",
      label: `${measure} against the length of the source`, name: "bottleneck" });
    const colours = ["var(--orange)", "var(--blue)", "var(--green)"], dashes = ["", "7 4", "2 3"];
    const texts = node("div", { style: "overflow-wrap:anywhere" });
    view.picture.after(texts);
    const state = { place: farthestApart(curves, trained, lengths), example: 0 };
    const x = (length) => left + ((right - left) * (length - lengths[0])) / (lengths.at(-1) - lengths[0] || 1);
    const y = (value) => floor - ((floor - ceiling) * value) / highest;

    slider(view.controls,
      { label: `${unit} in the source`, min: 0, max: lengths.length - 1, step: 1, value: state.place, show: (place) => lengths[place] },
      (place) => { state.place = place; draw(); });
    press(view.controls, "Another sentence of this length", () => { state.example += 1; draw(); });

    const text = (px, py, words, more = {}) => view.picture.append(shape("text", { x: px, y: py, ...more }, words));
    const line = (x1, y1, x2, y2, more) => view.picture.append(shape("line", { x1, y1, x2, y2, ...more }));

    function drawAxes() {
      for (const part of [0, 0.5, 1]) {
        line(left, y(part * highest), right, y(part * highest), { stroke: "var(--line)", "stroke-width": 0.5 });
        text(left - 6, y(part * highest) + 4, String(part * highest), { "text-anchor": "end", class: "quiet" });
      }
      for (const length of lengths) text(x(length), floor + 18, String(length), { "text-anchor": "middle", class: "quiet" });
      text((left + right) / 2, floor + 36, `${unit} in the source`, { "text-anchor": "middle", class: "quiet" });
      line(x(trained), floor, x(trained), ceiling, { stroke: "var(--line)", "stroke-dasharray": "2 4" });
      text(Math.min(x(trained), width - 62), 14, "longest in training", { "text-anchor": "middle", class: "quiet" });
    }

    function drawCurve({ name, values }, which) {
      const points = values.map((value, place) => `${x(lengths[place])},${y(value)}`).join(" ");
      view.picture.append(shape("polyline",
        { points, fill: "none", stroke: colours[which % 3], "stroke-width": 2.5, "stroke-dasharray": dashes[which % 3] }));
      const value = values[state.place];
      view.picture.append(shape("circle", { cx: x(lengths[state.place]), cy: y(value), r: 6, fill: colours[which % 3] }));
      const [from, y0] = key, at = y0 + 20 + 22 * which;
      line(from, at, from + 26, at,
        { stroke: colours[which % 3], "stroke-width": 2.5, "stroke-dasharray": dashes[which % 3] });
      text(from + 32, at + 4, `${name}: ${value.toFixed(highest > 1 ? 0 : 2)}`);
    }

    function words(label, list, good = null) {
      const line = node("p", { style: "margin:.2rem 0" }, node("span", { style: "color:var(--quiet)" }, `${label}: `));
      list.forEach((word, place) => line.append(
        good && !good[place] ? node("span", { style: "color:var(--orange);text-decoration:underline wavy" }, word) : word, " "));
      return line;
    }

    function draw() {
      view.picture.replaceChildren();
      drawAxes();
      text(...key, measure, { class: "quiet" });
      curves.forEach(drawCurve);
      const some = examples[state.place], { source, target, written } = some[state.example % some.length];
      texts.replaceChildren(words("source", source), words("right", target),
        ...curves.map(({ name }, which) => words(name, written[which], inPlace(written[which], target))));
      view.say(curves.map(({ name }, which) =>
        `${name}: ${Math.round(100 * share(written[which], target))} % of the ${unit} stand in their place`).join("; ") + ".");
      view.numbers(["model", ...lengths], curves.map(({ name, values }) => [name, ...values.map((value) => value.toFixed(3))]));
    }
    arrange(view, layouts, (layout) => {
      ({ width, right, key } = layout);
      draw();
    });
  },
};
