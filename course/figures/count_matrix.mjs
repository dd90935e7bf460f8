// A table of counts that becomes a sampler: choose a row, smooth it, throw a dart at its cumulative distribution.

import { arrange, dragged, frame, parts, press, put, shape, slider, strength } from "./frame.mjs";

export default {
  render({ model, el }) {
    const { symbols, counts, held_out: heldOut } = model.get("data");
    const n = symbols.length, left = 22, top = 22;
    const [wide, narrow] = [13, 11.5].map((each) => left + n * each), layouts = { // the table, and the chosen row
      wide: { cell: 13, width: wide + 300, height: wide + 12, at: [[0, 0], [wide, 0]] },
      narrow: { cell: 11.5, width: Math.max(narrow, 276), height: 2 * narrow + 20, at: [[0, 0], [0, narrow + 8]] },
    };
    let { cell } = layouts.wide;
    const view = frame(el, { ...layouts.wide,
      title: "Which letter follows which, and how often",
      label: "Counts of symbol pairs, and the chosen row's distribution", name: "count-matrix" });
    const [table, bars] = parts(view, 2);
    const state = { row: 0, exponent: -2, dart: 0.5, text: "" };
    const most = Math.max(...counts.flat());

    const rowSlider = slider(view.controls, { label: "After", min: 0, max: n - 1, step: 1, value: 0, show: (i) => symbols[i] },
      (row) => { state.row = row; draw(); });
    slider(view.controls, { label: "add k", min: -3, max: 2, step: 0.25, value: -2, show: (e) => String(Number((10 ** e).toPrecision(2))) },
      (e) => { state.exponent = e; draw(); });
    const dart = slider(view.controls,
      { label: "dart, from 0 to 1", min: 0, max: 0.999, step: 0.001, value: 0.5, show: (u) => u.toFixed(3) },
      (u) => { state.dart = u; draw(); });
    press(view.controls, "Take this letter", () => {
      const next = hit();
      state.text += next === 0 ? " " : symbols[next];
      put(rowSlider, next);
    });

    const smoothing = () => 10 ** state.exponent;
    function distribution(row, k) {
      const total = counts[row].reduce((a, b) => a + b, 0) + k * n;
      return counts[row].map((count) => (count + k) / total);
    }
    function hit() {
      let reached = 0;
      const probs = distribution(state.row, smoothing());
      for (let j = 0; j < n; j++) { reached += probs[j]; if (state.dart < reached) return j; }
      return n - 1;
    }
    function bitsPerSymbol(k) {
      let bits = 0, total = 0;
      heldOut.forEach((row, i) => {
        const probs = distribution(i, k);
        row.forEach((count, j) => { if (count) { bits -= count * Math.log2(probs[j]); total += count; } });
      });
      return bits / total;
    }

    function matrix() {
      symbols.forEach((symbol, i) => {
        table.append(shape("text", { x: left + (i + 0.5) * cell, y: top - 6, "text-anchor": "middle", style: "font-size:10px" },
          symbol));
        table.append(shape("text", { x: left - 6, y: top + (i + 0.8) * cell, "text-anchor": "end", style: "font-size:10px" },
          symbol));
        counts[i].forEach((count, j) => {
          const square = shape("rect",
            { x: left + j * cell, y: top + i * cell, width: cell - 1, height: cell - 1, fill: strength(Math.sqrt(count / most)) });
          square.append(shape("title", {}, `${symbols[i]}${symbols[j]}: ${count}`));
          square.addEventListener("click", () => { put(rowSlider, i); });
          table.append(square);
        });
      });
      table.append(shape("rect",
        { x: left - 1, y: top + state.row * cell - 1, width: n * cell + 1, height: cell + 1, fill: "none", stroke: "var(--ink)",
          "stroke-width": 1.5 }));
    }

    function row(probs, chosen) {
      const x = 26, scale = 180 / Math.max(...probs);
      let reached = 0;
      probs.forEach((p, j) => {
        const y = top + j * cell, fill = j === chosen ? "var(--orange)" : "var(--blue)";
        bars.append(shape("text", { x: x - 5, y: y + 10, "text-anchor": "end", style: "font-size:10px" }, symbols[j]));
        bars.append(shape("rect", { x, y: y + 1, width: Math.max(0.4, p * scale), height: cell - 3, fill }));
        bars.append(shape("rect",
          { x: x + 210, y: top + reached * n * cell, width: 22, height: Math.max(0.2, p * n * cell - 0.6), fill }));
        if (p * n > 0.9) bars.append(shape("text", { x: x + 221, y: top + (reached + p / 2) * n * cell + 3.5,
          "text-anchor": "middle", style: "font-size:10px;fill:var(--paper)" }, symbols[j]));
        if (j === chosen) {
          const [from, to] = [y + cell / 2 - 0.5, top + (reached + p / 2) * n * cell];
          bars.append(shape("line", { x1: x + p * scale + 4, y1: from, x2: x + 207, y2: to, stroke: "var(--orange)" }));
        }
        reached += p;
      });
      const y = top + state.dart * n * cell;
      bars.append(shape("path", { d: `M${x + 236},${y} l12,-5 v10 z`, fill: "var(--ink)" }));
      for (const [end, below] of [["0", top - 6], ["1", top + n * cell + 10]])
        bars.append(shape("text", { x: x + 221, y: below, "text-anchor": "middle", class: "quiet", style: "font-size:10px" }, end));
    }

    function draw() {
      const k = smoothing(), probs = distribution(state.row, k), chosen = hit();
      for (const part of [table, bars]) part.replaceChildren();
      matrix();
      row(probs, chosen);
      view.say(`After “${symbols[state.row]}” the dart hits “${symbols[chosen]}”, P = ${probs[chosen].toFixed(4)}. Held-out `
        + `text: ${bitsPerSymbol(k).toFixed(4)} bits per letter at k = ${Number(k.toPrecision(2))}. Written so far: “${state.text}”`);
      view.numbers(["next", "count", "P"], probs.map((p, j) => [symbols[j], counts[state.row][j], p.toFixed(5)]));
    }
    dragged(view.picture, bars, ({ x, y }) => { if (x > 226 && y > 0) put(dart, (y - top) / (n * cell)); });
    arrange(view, layouts, (layout) => {
      ({ cell } = layout);
      draw();
    });
  },
};
