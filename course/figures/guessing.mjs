// Shannon's game: guess the next letter until it is right; the number of guesses bounds the bits per letter.

import { arrange, field, frame, node, press, shape } from "./frame.mjs";

export default {
  render({ model, el }) {
    const { text, given, models } = model.get("data");
    const bars = models.length + 1, layouts = { // a bar stands beside its name, or below it
      wide: { width: 620, height: 6 + 26 * bars, left: 190, row: 26, bar: 6, bit: 70 },
      narrow: { width: 340, height: 6 + 48 * bars, left: 0, row: 48, bar: 26, bit: 60 },
    };
    let layout = layouts.wide;
    const view = frame(el, { ...layout,
      title: "Your guesses and the models', in the same bits",
      label: "Bits per letter: yours beside the models'", name: "guessing" });
    const shown = node("p", { style: "font:16px monospace; margin:.3rem 0; overflow-wrap:anywhere" });
    const input = field(view.controls, "Next letter (space bar for a space)", { maxlength: 1, size: 2 });
    view.controls.before(shown);
    const counts = [];
    let position = given, tried = [];

    function advance(guesses) { counts.push(guesses); position += 1; tried = []; }
    input.addEventListener("input", () => {
      const letter = input.value.toLowerCase();
      input.value = "";
      if (position >= text.length || letter === "" || tried.includes(letter)) return;
      tried.push(letter);
      if (letter === text[position]) advance(tried.length);
      draw();
    });
    press(view.controls, "Tell me this letter", () => { if (position < text.length) { advance(27); draw(); } });

    function bound() {
      const shares = new Map();
      counts.forEach((count) => shares.set(count, (shares.get(count) ?? 0) + 1 / counts.length));
      return -[...shares.values()].reduce((sum, share) => sum + share * Math.log2(share), 0);
    }

    function draw() {
      shown.textContent = text.slice(0, position) + (position < text.length ? "▁" : "");
      view.picture.replaceChildren();
      const seen = counts.length || text.length - given;
      const rows = models.map(({ name, bits }) => [name, bits.slice(0, seen).reduce((a, b) => a + b, 0) / seen]);
      if (counts.length) rows.push(["you (upper bound)", bound()]);
      const { left, row, bar, bit } = layout;
      rows.forEach(([name, bits], i) => {
        view.picture.append(shape("text", { x: 0, y: 20 + i * row }, name));
        view.picture.append(shape("rect",
          { x: left, y: bar + i * row, width: Math.max(1, bits * bit), height: 18,
            fill: i === models.length ? "var(--orange)" : "var(--blue)" }));
        view.picture.append(shape("text", { x: left + 8 + bits * bit, y: bar + 14 + i * row }, bits.toFixed(2)));
      });
      const wrong = tried.length ? ` Not ${tried.map((letter) => (letter === " " ? "space" : letter)).join(", ")}.` : "";
      view.say(position < text.length ? `${counts.length} letters found.${wrong}`
        : "That was the whole text. A few dozen letters are a small sample; take the bound as a rough one.");
      view.numbers(["letter", "guesses"], counts.map((count, i) => [text[given + i], count]));
    }
    arrange(view, layouts, (chosen) => {
      layout = chosen;
      draw();
    });
  },
};
