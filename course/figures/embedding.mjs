// Words as points: choose one, see its nearest by the angle between the vectors, in all dimensions or in the picture's two.

import { arrange, choose, frame, parts, shape, slider, toggle } from "./frame.mjs";

function cosine(a, b) {
  let dot = 0, aa = 0, bb = 0;
  a.forEach((value, d) => { dot += value * b[d]; aa += value * value; bb += b[d] * b[d]; });
  return aa && bb ? dot / Math.sqrt(aa * bb) : 0;
}

/** The `count` other words with the largest cosine, best first: [[word, cosine], …]. */
function nearest(vectors, chosen, count) {
  return vectors.map((vector, i) => [i, cosine(vectors[chosen], vector)])
    .filter(([i]) => i !== chosen).sort((a, b) => b[1] - a[1]).slice(0, count);
}

const isClear = (box, taken) =>
  taken.every((each) => box.left >= each.right || box.right <= each.left || box.top >= each.bottom || box.bottom <= each.top);

/** Where a word could stand beside its point of this radius, the best place first. */
function besides([x, y], radius, word, size) {
  const wide = 0.62 * size * word.length + 4, away = radius + 4;  // four: a short word may be all wide letters
  const at = (left, line, anchor) => ({ x: left + { start: 0, middle: wide / 2, end: wide }[anchor], y: line, anchor,
    box: { left, right: left + wide, top: line - 0.8 * size, bottom: line + 0.25 * size } });
  return [at(x + away, y + 4, "start"), at(x - away - wide, y + 4, "end"),
    at(x - wide / 2, y - away, "middle"), at(x - wide / 2, y + away + 0.8 * size, "middle")];
}

/** Word's number → where it is written; asked: [[number, place, radius, word, size], …], the first come first.
 * A name that would cover another or a point is left out. */
function labels(asked, dots, side) {
  const taken = [...dots], found = {};
  for (const [i, place, radius, word, size] of asked) {
    const free = besides(place, radius, word, size).find(({ box }) =>
      box.left > 2 && box.right < side && box.top > 2 && box.bottom < side && isClear(box, taken));
    if (!free) continue;
    taken.push(free.box);
    found[i] = free;
  }
  return found;
}

export default {
  nearest, labels,
  render({ model, el }) {
    const { words, vectors, places, start, count } = model.get("data");
    const layouts = { // the map, whose sides are `side`, and the list of the nearest
      wide: { width: 650, height: 430, side: 430, at: [[0, 0], [430, 0]] },
      narrow: { width: 340, height: 380 + 30 * count, side: 340, at: [[0, 0], [0, 342]] },
    };
    const view = frame(el, { ...layouts.wide,
      title: "Which words have come to lie close together",
      label: "Words as points in a plane, and the nearest of the chosen one", name: "embedding" });
    const [map, list] = parts(view, 2);
    const state = { chosen: start, flat: false, zoom: 1 };
    let named = {}, side = 0, spots = [];
    const [xs, ys] = [0, 1].map((axis) => places.map((place) => place[axis]));
    const scale = (value, values, from, to) =>
      from + (to - from) * (value - Math.min(...values)) / (Math.max(...values) - Math.min(...values) || 1);

    const order = words.map((_, i) => i).sort((a, b) => words[a].localeCompare(words[b]));
    const select = choose(view.controls, { label: "Word", options: order.map((i) => words[i]), value: order.indexOf(start) },
      (place) => { state.chosen = order[place]; draw(); });
    slider(view.controls, { label: "Zoom", min: 1, max: 12, step: 0.5, value: 1, show: (zoom) => `${zoom}×` },
      (zoom) => { state.zoom = zoom; draw(); });
    toggle(view.controls, { label: "measure in the picture's two dimensions only" }, (flat) => { state.flat = flat; draw(); });

    // The chosen word drifts to the middle as one zooms in.
    const spot = (i) => spots[i].map((value, axis) => {
      const middle = spots[state.chosen][axis];
      return middle + (side / 2 - middle) * (1 - 1 / state.zoom) + (value - middle) * state.zoom;
    });
    const isInside = (i) => spot(i).every((value) => value > 4 && value < side - 4);

    function point(i, colour, size, weight) {
      const [x, y] = spot(i), label = named[i];
      const group = shape("g", { style: "cursor:pointer" });
      group.append(shape("circle", { "data-key": `word ${i}`, cx: x, cy: y, r: size, fill: colour }));
      if (label) group.append(shape("text", { x: label.x, y: label.y, "text-anchor": label.anchor,
        style: `font-size:${weight ? 13 : 11}px;font-weight:${weight}`, class: weight ? "" : "quiet" }, words[i]));
      map.append(group);
    }

    /** The points are small: a press chooses the one that is nearest. */
    view.picture.addEventListener("click", (event) => {
      const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(map.getScreenCTM().inverse());
      const away = words.map((_, i) => (isInside(i) ? Math.hypot(spot(i)[0] - at.x, spot(i)[1] - at.y) : Infinity));
      if (at.x > side || at.y > side) return;
      state.chosen = away.indexOf(Math.min(...away));
      select.value = String(order.indexOf(state.chosen));
      draw();
    });

    function draw() {
      const found = nearest(state.flat ? places : vectors, state.chosen, count);
      const marked = new Set(found.map(([i]) => i));
      for (const part of [map, list]) part.replaceChildren();
      const others = words.map((_, i) => i).filter((i) => i !== state.chosen && !marked.has(i) && isInside(i));
      const near = [...marked].filter(isInside);
      const dot = (i, radius) => {
        const [x, y] = spot(i);
        return { left: x - radius, right: x + radius, top: y - radius, bottom: y + radius };
      };
      named = labels([[state.chosen, spot(state.chosen), 6, words[state.chosen], 14.5], ...near.map((i) => [i, spot(i), 4, words[i], 14.5]),
        ...others.map((i) => [i, spot(i), 2, words[i], 11])],
      [dot(state.chosen, 6), ...near.map((i) => dot(i, 4)), ...others.map((i) => dot(i, 2))], side);
      for (const i of others) point(i, "var(--line)", 2, 0);
      const [x1, y1] = spot(state.chosen);
      for (const [x2, y2] of found.filter(([i]) => isInside(i)).map(([i]) => spot(i)))
        map.append(shape("line", { x1, y1, x2, y2, stroke: "var(--blue)", "stroke-opacity": 0.4 }));
      for (const i of near) point(i, "var(--blue)", 4, 600);
      point(state.chosen, "var(--orange)", 6, 700);
      list.append(shape("text", { x: 10, y: 20, style: "font-weight:700" }, `nearest to “${words[state.chosen]}”`));
      found.forEach(([i, value], rank) => {
        const y = 34 + rank * 30;
        list.append(shape("text", { x: 10, y: y + 14 }, words[i]));
        list.append(shape("rect",
          { x: 100, y: y + 3, width: Math.max(0.5, 70 * Math.max(0, value)), height: 14, fill: "var(--blue)" }));
        list.append(shape("text", { x: 174, y: y + 14 }, value.toFixed(2)));
      });
      const listed = found.slice(0, 3).map(([i, value]) => `${words[i]} (${value.toFixed(2)})`).join(", ");
      view.say(`Nearest to “${words[state.chosen]}” by the cosine in ${state.flat ? "two" : vectors[0].length} dimensions: ${listed}.`);
      view.numbers(["word", "cosine"], found.map(([i, value]) => [words[i], value.toFixed(4)]));
    }
    arrange(view, layouts, (layout) => {
      ({ side } = layout);
      spots = places.map(([x, y]) => [scale(x, xs, 30, side - 40), scale(y, ys, side - 16, 16)]);
      draw();
    });
  },
};
