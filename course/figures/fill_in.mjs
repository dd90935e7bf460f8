// A sentence with a hole: choose the word that is hidden, and see what a model puts there.

import { arrange, frame, put, shape, slider } from "./frame.mjs";

/** −log2 of the probability that a list of [word, probability] gives to the word that was hidden; Infinity if it is not in it. */
export function surprise(guesses, word) {
  const found = guesses.find(([guess]) => guess === word);
  return found ? -Math.log2(found[1]) : Infinity;
}

export default {
  render({ model, el }) {
    const { tokens, readers, start } = model.get("data");
    const tall = 24 + 25 * readers[0].guesses[start].length, letters = tokens.join(" ").length;
    const layouts = { // the sentence, and below it the readers side by side or one below the other
      wide: { width: 640, top: 14 + 26 * Math.ceil(letters / 78), panel: 620 / readers.length, beside: 1, below: 0 },
      narrow: { width: 340, top: 14 + 26 * Math.ceil(letters / 36), panel: 336, beside: 0, below: tall + 10 },
    };
    for (const layout of Object.values(layouts)) layout.height = layout.top + tall + layout.below * (readers.length - 1);
    let { width, top, panel, beside, below } = layouts.wide;
    const view = frame(el, { ...layouts.wide,
      title: "What a model puts in the place of a hidden word",
      label: "A sentence with one word hidden, and guesses", name: "fill_in" });
    const state = { hidden: start };
    const dial = slider(view.controls, { label: "hidden word", min: 1, max: tokens.length, step: 1, value: start + 1 },
      (place) => { state.hidden = place - 1; draw(); });
    const text = (x, y, words, more = {}) => {
      const made = shape("text", { x, y, ...more }, words);
      view.picture.append(made);
      return made;
    };
    const colours = ["var(--blue)", "var(--orange)"];

    function sentence() {
      let x = 4, y = 18;
      tokens.forEach((token, t) => {
        const shown = t === state.hidden ? "<mask>" : token, wide = 8 * shown.length + 8;
        if (x + wide > width) { x = 4; y += 26; }
        const group = shape("g", { style: "cursor:pointer" });
        group.append(shape("rect",
          { x: x - 2, y: y - 14, width: wide - 4, height: 20, rx: 3, fill: t === state.hidden ? "var(--panel)" : "transparent",
            stroke: t === state.hidden ? "var(--ink)" : "none" }));
        group.append(shape("text", { x: x + wide / 2 - 4, y, "text-anchor": "middle" }, shown), shape("title", {}, `hide “${token}”`));
        group.addEventListener("click", () => { put(dial, t + 1); });
        view.picture.append(group);
        x += wide;
      });
    }

    function draw() {
      view.picture.replaceChildren();
      sentence();
      const word = tokens[state.hidden];
      readers.forEach(({ name, guesses }, i) => {
        const left = 4 + i * beside * panel, head = top + i * below;
        text(left, head + 14, name, { style: "font-weight:700" });
        guesses[state.hidden].forEach(([guess, p], rank) => {
          const y = head + 22 + 25 * rank, wide = (panel - 170) * p;
          text(left, y + 16, guess, guess === word ? { style: "font-weight:700;text-decoration:underline" } : {});
          view.picture.append(shape("rect", { x: left + 90, y: y + 3, width: Math.max(0.6, wide), height: 17, fill: colours[i % 2] }));
          text(left + 96 + wide, y + 16, p.toFixed(3));
        });
      });
      const told = readers.map(({ name, guesses }) => {
        const bits = surprise(guesses[state.hidden], word);
        return `${name}: ${Number.isFinite(bits) ? `${bits.toFixed(2)} bits` : "not among the guesses shown"}`;
      });
      view.say(`What stood there: “${word}”. Its surprise, ${told.join("; ")}.`);
      view.numbers(["reader", "guess", "P"],
        readers.flatMap(({ name, guesses }) => guesses[state.hidden].map(([guess, p]) => [name, guess, p.toFixed(4)])));
    }
    arrange(view, layouts, (layout) => {
      ({ width, top, panel, beside, below } = layout);
      draw();
    });
  },
};
