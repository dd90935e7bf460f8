// The imitation game on a small scale: of two texts, which one is real?

import { frame, node, phrase, shape } from "./frame.mjs";

export default {
  render({ model, el }) {
    const { rounds, imitator } = model.get("data");
    const size = 34, width = Math.max(316, size * rounds.length), height = 56;
    const view = frame(el, { width, height, title: phrase("Can you tell the imitation from the real text?"),
      label: phrase("Your answers, round by round"), name: "imitation" });
    const question = node("p", { style: "margin:.2rem 0" });
    const texts = node("div", { class: "lmf-row", style: "align-items:stretch" });
    view.controls.replaceWith(question, texts);
    const answers = [];

    const buttons = [0, 1].map((side) => {
      const button = node("button", { type: "button", style: "flex:1 1 16rem; text-align:left; padding:.6rem" });
      button.addEventListener("click", () => answer(side));
      texts.append(button);
      return button;
    });

    function answer(side) {
      if (answers.length === rounds.length) return;
      const { real } = rounds[answers.length];
      answers.push(side === real);
      draw(side === real ? phrase("Yes, that one was real.") : phrase("No: that one was the imitation."));
    }

    function draw(verdict) {
      const round = rounds[answers.length], right = answers.filter(Boolean).length;
      question.textContent = round ? phrase("Round {n} of {all}. Which text is real? The other is by {imitator}.",
        { n: answers.length + 1, all: rounds.length, imitator }) : phrase("That was the last one.");
      texts.style.display = round ? "" : "none";
      if (round) buttons.forEach((button, side) => { button.textContent = round.texts[side]; });
      view.picture.replaceChildren();
      rounds.forEach((_, index) => {
        const answered = index < answers.length;
        const fill = !answered ? "var(--panel)" : answers[index] ? "var(--green)" : "var(--orange)";
        view.picture.append(shape("rect",
          { x: index * size + 2, y: 4, width: size - 6, height: size - 6, rx: 4, fill, stroke: "var(--line)" }));
        if (answered) view.picture.append(shape("text",
          { x: index * size + size / 2 - 1, y: 23, "text-anchor": "middle", style: "fill:var(--paper);font-weight:bold" },
          answers[index] ? "✓" : "✗"));
      });
      view.picture.append(shape("text", { x: 2, y: 52, class: "quiet" },
        phrase("{right} of {n} right; guessing gives half", { right, n: answers.length })));
      view.say(verdict);
      view.numbers([phrase("round"), phrase("your answer")],
        answers.map((good, index) => [index + 1, good ? phrase("right") : phrase("wrong")]));
    }
    draw("");
  },
};
