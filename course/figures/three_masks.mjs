// The three masks of an encoder-decoder, for one sentence of a padded batch: who may look at whom, and why not.

import { arrange, choose, dragged, frame, heading, headingsHeight, parts, put, shape, slider } from "./frame.mjs";

/** Three matrices of true = may be attended to: the encoder's (S, S), the decoder's own (T, T), the decoder's of the source (T, S). */
export function masks(source, target, pad) {
  const isReal = source.map((word) => word !== pad);
  return {
    encoder: source.map(() => [...isReal]),
    decoder: target.map((_, t) => target.map((_, key) => key <= t)),
    cross: target.map(() => [...isReal]),
  };
}

const NAMES = { encoder: "1 · encoder on itself", decoder: "2 · decoder on itself", cross: "3 · decoder on the source" };

export default {
  render({ model, el }) {
    const { sentences, pad } = model.get("data");
    const S = sentences[0].source.length, T = sentences[0].target.length, cell = 22, margin = 62, gap = 26,
      head = 18 + headingsHeight(sentences.flatMap(({ source, target }) => [...source, ...target]), cell);
    const axes = { encoder: [S, S], decoder: [T, T], cross: [S, T] }; // of each mask: how many keys and queries
    const wide = (keys) => margin + keys * cell + gap, tall = (queries) => head + queries * cell + 24;
    const layouts = {
      wide: { width: wide(S) + wide(T) + margin + S * cell + 40, height: head + Math.max(S, T) * cell + 8,
        at: [[0, 0], [wide(S), 0], [wide(S) + wide(T), 0]] },
      narrow: { width: margin + Math.max(S, T) * cell + 40, height: tall(S) + 2 * tall(T) - 16,
        at: [[0, 0], [0, tall(S)], [0, tall(S) + tall(T)]] },
    };
    let places = layouts.wide.at;
    const view = frame(el, { ...layouts.wide,
      title: "Who may look at whom, and why not",
      label: "Three masks: rows are queries, columns are keys", name: "three_masks" });
    const part = Object.fromEntries(parts(view, 3).map((each, i) => [Object.keys(axes)[i], each]));
    const state = { sentence: 0, mask: "cross", query: 1, key: 0 };
    const size = () => ({ queries: state.mask === "encoder" ? S : T, keys: state.mask === "decoder" ? T : S });

    choose(view.controls,
      { label: "Sentence", options: sentences.map(({ source }) => source.filter((word) => word !== pad).join(" ")), value: 0 },
      (chosen) => { state.sentence = chosen; draw(); });
    choose(view.controls, { label: "Mask", options: Object.values(NAMES), value: 2 },
      (chosen) => { point(Object.keys(NAMES)[chosen], 0, 0); });
    const queries = slider(view.controls, { label: "query (row)", min: 0, max: T - 1, step: 1, value: 1, show: (q) => q + 1 },
      (query) => { state.query = query; draw(); });
    const keys = slider(view.controls, { label: "key (column)", min: 0, max: S - 1, step: 1, value: 0, show: (k) => k + 1 },
      (key) => { state.key = key; draw(); });

    function point(mask, query, key) {
      state.mask = mask;
      queries.max = size().queries - 1;
      keys.max = size().keys - 1;
      put(queries, query);
      put(keys, key);
    }

    function drawMask(name, mask, rows, columns) {
      const x = margin, made = part[name];
      made.append(shape("text", { x: 6, y: 16, "font-weight": name === state.mask ? "bold" : "normal" }, NAMES[name]));
      columns.forEach((word, key) => made.append(
        heading(word, { x: x + (key + 0.5) * cell - 1, y: head - 6, wide: cell, class: word === pad ? "quiet" : "" })));
      rows.forEach((word, query) => {
        made.append(shape("text",
          { x: x - 5, y: head + (query + 0.7) * cell, "text-anchor": "end", style: "font-size:13px", class: word === pad ? "quiet" : "" },
          word));
        mask[query].forEach((allowed, key) => {
          const square = shape("rect",
            { x: x + key * cell, y: head + query * cell, width: cell - 2, height: cell - 2, fill: allowed ? "var(--blue)" : "var(--panel)",
              stroke: "var(--line)", "stroke-width": 0.5 });
          made.append(square);
          if (!allowed) made.append(shape("text",
            { x: x + (key + 0.5) * cell - 1, y: head + (query + 0.68) * cell, "text-anchor": "middle", class: "quiet",
              style: "font-size:11px;pointer-events:none" }, "−∞"));
        });
      });
      if (name === state.mask)
        made.append(shape("rect",
          { x: x + state.key * cell - 1.5, y: head + state.query * cell - 1.5, width: cell + 1, height: cell + 1, fill: "none",
            stroke: "var(--orange)", "stroke-width": 3 }));
    }

    function reason(rows, columns, allowed) {
      const asks = `“${rows[state.query]}” (${state.query + 1})`, asked = `“${columns[state.key]}” (${state.key + 1})`;
      if (allowed) return `${asks} may look at ${asked}.`;
      return state.mask === "decoder" ? `${asks} may not look at ${asked}: at that step it is not yet written.`
        : `${asks} may not look at ${asked}: it is padding, there is no word.`;
    }

    function draw() {
      const { source, target } = sentences[state.sentence], all = masks(source, target, pad);
      const words = { encoder: [source, source], decoder: [target, target], cross: [target, source] };
      for (const each of Object.values(part)) each.replaceChildren();
      for (const name in all) drawMask(name, all[name], ...words[name]);
      const [rows, columns] = words[state.mask], mask = all[state.mask];
      view.say(`${NAMES[state.mask]}: ${reason(rows, columns, mask[state.query][state.key])}`);
      view.numbers(["query", ...columns], mask.map((row, query) => [rows[query], ...row.map((allowed) => (allowed ? 1 : 0))]));
    }
    dragged(view.picture, view.picture, ({ x, y }) => {
      Object.entries(axes).forEach(([mask, [columns, rows]], i) => {
        const key = Math.floor((x - places[i][0] - margin) / cell), query = Math.floor((y - places[i][1] - head) / cell);
        if (key >= 0 && key < columns && query >= 0 && query < rows) point(mask, query, key);
      });
    });
    arrange(view, layouts, ({ at }) => {
      places = at;
      draw();
    });
  },
};
