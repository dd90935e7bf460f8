// Words as points: choose one, see its nearest by the angle between the vectors, in all dimensions or in the picture's two.

import { choose, frame, room, shape, slider, toggle } from "./frame.mjs";

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

export default {
  nearest,
  render({ model, el }) {
    const { words, vectors, places, start, count } = model.get("data");
    const side = 430, width = side + 220, height = side;
    const view = frame(el, { width, height,
      title: "Which words have come to lie close together",
      label: "Words as points in a plane, and the nearest of the chosen one", name: "embedding" });
    const state = { chosen: start, flat: false, zoom: 1 };
    const [xs, ys] = [0, 1].map((axis) => places.map((place) => place[axis]));
    const scale = (value, values, from, to) =>
      from + (to - from) * (value - Math.min(...values)) / (Math.max(...values) - Math.min(...values) || 1);
    const spots = places.map(([x, y]) => [scale(x, xs, 30, side - 40), scale(y, ys, side - 16, 16)]);

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

    function point(i, colour, size, weight, isNamed = true) {
      const [x, y] = spot(i);
      const group = shape("g", { style: "cursor:pointer" });
      group.append(shape("circle", { "data-key": `word ${i}`, cx: x, cy: y, r: size, fill: colour }));
      const [anchor, by] = x > side - 70 ? ["end", -6] : ["start", 6];
      group.append(shape("text",
        { x: x + by, y: y + 4, "text-anchor": anchor, style: `font-size:${weight ? 13 : 11}px;font-weight:${weight}`,
        class: weight ? "" : "quiet" }, isNamed ? words[i] : ""));
      view.picture.append(group);
    }

    /** The points are small: a press chooses the one that is nearest. */
    view.picture.addEventListener("click", (event) => {
      const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(view.picture.getScreenCTM().inverse());
      const away = words.map((_, i) => (isInside(i) ? Math.hypot(spot(i)[0] - at.x, spot(i)[1] - at.y) : Infinity));
      if (at.x > side) return;
      state.chosen = away.indexOf(Math.min(...away));
      select.value = String(order.indexOf(state.chosen));
      draw();
    });

    function draw() {
      const found = nearest(state.flat ? places : vectors, state.chosen, count);
      const marked = new Set(found.map(([i]) => i));
      view.picture.replaceChildren();
      const isFree = room(), place = (i, size) => {
        const [x, y] = spot(i), wide = 0.65 * size * words[i].length;
        return isInside(i) && isFree(x > side - 70 ? x - 6 - wide : x + 6, y + 4, words[i], size);
      };
      const named = new Set([state.chosen, ...marked].filter((i) => place(i, 14.5))); // bold words of 13 pixels
      words.forEach((_, i) => { if (i !== state.chosen && !marked.has(i) && place(i, 11)) named.add(i); });
      const inside = (i, ...how) => { if (isInside(i)) point(i, ...how, named.has(i)); };
      words.forEach((_, i) => { if (i !== state.chosen && !marked.has(i)) inside(i, "var(--line)", 2, 0); });
      const [x1, y1] = spot(state.chosen);
      for (const [x2, y2] of found.filter(([i]) => isInside(i)).map(([i]) => spot(i)))
        view.picture.append(shape("line", { x1, y1, x2, y2, stroke: "var(--blue)", "stroke-opacity": 0.4 }));
      for (const [i] of found) inside(i, "var(--blue)", 4, 600);
      inside(state.chosen, "var(--orange)", 6, 700);
      view.picture.append(shape("text", { x: side + 10, y: 20, style: "font-weight:700" }, `nearest to “${words[state.chosen]}”`));
      found.forEach(([i, value], rank) => {
        const y = 34 + rank * 30;
        view.picture.append(shape("text", { x: side + 10, y: y + 14 }, words[i]));
        view.picture.append(shape("rect",
          { x: side + 100, y: y + 3, width: Math.max(0.5, 70 * Math.max(0, value)), height: 14, fill: "var(--blue)" }));
        view.picture.append(shape("text", { x: side + 174, y: y + 14 }, value.toFixed(2)));
      });
      const listed = found.slice(0, 3).map(([i, value]) => `${words[i]} (${value.toFixed(2)})`).join(", ");
      view.say(`Nearest to “${words[state.chosen]}” by the cosine in ${state.flat ? "two" : vectors[0].length} dimensions: ${listed}.`);
      view.numbers(["word", "cosine"], found.map(([i, value]) => [words[i], value.toFixed(4)]));
    }
    draw();
  },
};
