// Attention weights as a heat map: rows are queries, columns are keys. Choose a query with the mouse or the arrow keys.

import { choose, dragged, frame, heading, headingsHeight, put, shape, slider, strength, toggle } from "./frame.mjs";

/** The query that looks farthest with most weight; the first token is left out, because heads with nothing to add look there. */
export function farthest(map) {
  const reach = map.map((row, i) => Math.max(0, ...row.map((weight, j) => (j ? weight * Math.abs(i - j) : 0))));
  return reach.indexOf(Math.max(...reach));
}

/** Whether no word looks to its right: then the words can stand on the diagonal, where each one's row ends and its column begins. */
export function isCausal({ weights, queries, keys }) {
  return queries.length === keys.length && queries.every((query, i) => query === keys[i])
    && weights.every((map) => map.every((row, i) => row.every((weight, j) => j <= i || weight === 0)));
}

export default {
  farthest,
  isCausal,
  render({ model, el }) {
    const { weights, queries, keys, gold, heads, start } = model.get("data"), onDiagonal = isCausal(model.get("data"));
    const long = (word) => 8 * word.length;
    const cell = Math.max(22, Math.min(44, 560 / keys.length)), left = 24 + Math.max(...queries.map(long)),
      top = onDiagonal ? 8 : headingsHeight(keys, cell);
    const right = Math.max(...keys.map((key, j) => cell * (j + 1) + (onDiagonal ? long(key) : 0))) + 16;
    const width = left + Math.max(right, 236), bottom = top + cell * queries.length, height = bottom + 44;
    const view = frame(el, { width, height,
      title: "Each row is one query: how it shares its weight among the keys",
      label: "Attention weights, queries by keys", name: "attention" });
    const [head, query] = start ?? [0, farthest(weights[0])], state = { head, query, gold: false };

    if (heads.length > 1)
      choose(view.controls, { label: "Head", options: heads, value: head }, (head) => { state.head = head; draw(); });
    const select = slider(view.controls,
      { label: "Query", min: 0, max: queries.length - 1, step: 1, value: state.query, show: (q) => queries[q] },
      (query) => { state.query = query; draw(); });
    if (gold) toggle(view.controls, { label: "Show gold alignment" }, (shown) => { state.gold = shown; draw(); });

    function square(query, key, weight) {
      const made = shape("rect",
        { x: left + key * cell, y: top + query * cell, width: cell - 1, height: cell - 1, fill: strength(weight) });
      made.append(shape("title", {}, `${queries[query]} → ${keys[key]}: ${weight.toFixed(3)}`));
      return made;
    }

    /** What a colour means, from 0 to 1. */
    function legend() {
      view.picture.append(shape("text", { x: left, y: bottom + 31, class: "quiet" }, "weight 0"));
      for (let i = 0; i <= 10; i++)
        view.picture.append(shape("rect", { x: left + 62 + 14 * i, y: bottom + 20, width: 13, height: 13, fill: strength(i / 10) }));
      view.picture.append(shape("text", { x: left + 220, y: bottom + 31, class: "quiet" }, "1"));
    }

    function draw() {
      const map = weights[state.head];
      view.picture.replaceChildren();
      if (!onDiagonal) keys.forEach((key, j) => view.picture.append(heading(key, { x: left + (j + 0.5) * cell, y: top - 8, wide: cell })));
      queries.forEach((query, i) => {
        view.picture.append(shape("text",
          { x: left - 8, y: top + (i + 0.65) * cell, "text-anchor": "end", style: `font-weight:${i === state.query ? "bold" : "normal"}` },
            query));
        map[i].forEach((weight, j) => { if (!onDiagonal || j <= i) view.picture.append(square(i, j, weight)); });
        if (onDiagonal) view.picture.append(shape("text", { x: left + (i + 1) * cell + 5, y: top + (i + 0.65) * cell }, keys[i]));
      });
      legend();
      view.picture.append(shape("rect", { x: left - 1, y: top + state.query * cell - 1, height: cell + 1,
        width: cell * (onDiagonal ? state.query + 1 : keys.length) + 1, fill: "none", stroke: "var(--ink)", "stroke-width": 1.5 }));
      if (state.gold) for (const [i, j] of gold) view.picture.append(shape("rect", { x: left + j * cell + 2, y: top + i * cell + 2,
        width: cell - 5, height: cell - 5, fill: "none", stroke: "var(--orange)", "stroke-width": 2.5 }));
      const row = map[state.query], best = row.indexOf(Math.max(...row));
      view.say(`“${queries[state.query]}” attends most to “${keys[best]}” (${row[best].toFixed(3)}); the row sums `
        + `to ${row.reduce((a, b) => a + b, 0).toFixed(3)}.`);
      view.numbers(["query", ...keys], map.map((values, i) => [queries[i], ...values.map((value) => value.toFixed(3))]));
    }
    dragged(view.picture, view.picture, ({ y }) => {
      if (y > top && y < bottom) put(select, Math.floor((y - top) / cell));
    });
    draw();
  },
};
