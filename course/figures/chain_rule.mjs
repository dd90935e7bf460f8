// The chain rule as a ledger: one tile for each factor, the running product beside the running sum of logarithms.

import { arrange, choose, frame, shape, slider } from "./frame.mjs";

const LAYOUTS = { // a bar stands beside its name, or `below` it; its value stands at `value`
  wide: { width: 640, height: 250, bars: 112, row: 34, left: 190, below: 0, value: 500, long: 300 },
  narrow: { width: 340, height: 286, bars: 98, row: 52, left: 0, below: 22, value: 224, long: 216 },
};

export default {
  render({ model, el }) {
    const { sentences } = model.get("data");
    let layout = LAYOUTS.wide;
    const view = frame(el, { ...layout,
      title: "A text's probability is a product with one factor for each token",
      label: "The factors of a sentence and their product", name: "chain-rule" });
    const state = { sentence: 0, shown: 1, copies: 1 };

    if (sentences.length > 1)
      choose(view.controls, { label: "Sentence", options: sentences.map((s) => s.tokens.join(" ")), value: 0 },
        (index) => { state.sentence = index; reveal.max = sentences[index].tokens.length; reveal.value = 1; state.shown = 1; draw(); });
    const reveal = slider(view.controls, { label: "Factors", min: 1, max: sentences[0].tokens.length, step: 1, value: 1 },
      (count) => { state.shown = count; draw(); });
    slider(view.controls, { label: "Repeat the text", min: 1, max: 100, step: 1, value: 1, show: (n) => `${n}×` },
      (copies) => { state.copies = copies; draw(); });

    function totals(probs) {
      let product = 1, logs = 0;
      for (let copy = 0; copy < state.copies; copy++)
        for (const p of probs) { product = Math.fround(product * Math.fround(p)); logs += Math.log(p); }
      return { product, logs, count: probs.length * state.copies };
    }

    function bar(i, share, colour, label, value) {
      const { bars, row, left, below, long } = layout, top = bars + i * row, y = top + below;
      view.picture.append(shape("text", { x: 0, y: top + 15 }, label));
      view.picture.append(shape("rect", { x: left, y, width: long, height: 20, fill: "var(--panel)" }));
      view.picture.append(shape("rect", { x: left, y, width: long * Math.max(0, Math.min(1, share)), height: 20, fill: colour }));
      view.picture.append(shape("text", { x: layout.value, y: y + 15 }, value));
    }

    function draw() {
      const { tokens, probs } = sentences[state.sentence];
      const seen = probs.slice(0, state.shown), { product, logs, count } = totals(seen);
      const tile = Math.min(96, (layout.width - 4) / tokens.length);
      view.picture.replaceChildren();
      tokens.forEach((token, t) => {
        const open = t < state.shown;
        view.picture.append(shape("rect", { x: t * tile + 1, y: 6, width: tile - 5, height: 78, rx: 5,
          fill: open ? "var(--panel)" : "none", stroke: "var(--line)" }));
        view.picture.append(shape("text", { x: t * tile + tile / 2 - 2, y: 34, "text-anchor": "middle" }, token));
        if (open) {
          view.picture.append(shape("text", { x: t * tile + tile / 2 - 2, y: 54, "text-anchor": "middle", class: "quiet" },
            probs[t].toPrecision(3)));
          view.picture.append(shape("rect", { x: t * tile + 8, y: 64, width: (tile - 19) * probs[t], height: 10, fill: "var(--blue)" }));
        }
      });
      bar(0, product, "var(--blue)", "product (float32)", product === 0 ? "0 (underflow)" : product.toExponential(3));
      bar(1, -logs / 120, "var(--orange)", "−log P, in nats", (-logs).toFixed(3));
      bar(2, -logs / Math.LN2 / count / 8, "var(--green)", "bits per token", (-logs / Math.LN2 / count).toFixed(3));
      view.picture.append(shape("text", { x: 0, y: layout.height - 15, class: "quiet" },
        `perplexity ${Math.exp(-logs / count).toFixed(3)} over ${count} token${count === 1 ? "" : "s"}`));
      view.say(product === 0 ? "The product has underflowed to zero; the sum of logarithms has not noticed."
        : `P = ${product.toExponential(3)} = exp(${logs.toFixed(3)})`);
      view.numbers(["t", "token", "P(token | before)", "log P"],
        seen.map((p, t) => [t + 1, tokens[t], p.toPrecision(4), Math.log(p).toFixed(4)]));
    }
    arrange(view, LAYOUTS, (chosen) => {
      layout = chosen;
      draw();
    });
  },
};
