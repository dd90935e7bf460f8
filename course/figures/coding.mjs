// Cross-entropy = entropy + KL divergence: set your own guess q beside the true p and watch what it costs.

import { dragged, frame, press, shape, slider } from "./frame.mjs";

export default {
  render({ model, el }) {
    const { outcomes, truth } = model.get("data");
    const n = outcomes.length, width = 620, height = 222, base = 170, group = 320 / n;
    const view = frame(el, { width, height,
      title: "What it costs to believe something else than the truth",
      label: "True and guessed probabilities, and what they cost in bits", name: "coding" });
    const q = outcomes.map(() => 1 / n);
    const sliders = outcomes.map((outcome, i) =>
      slider(view.controls, { label: `q(${outcome})`, min: 0, max: 1, step: 0.001, value: q[i] }, (value) => raise(i, value)));
    for (const [label, goal] of [["Guess the truth", truth], ["All alike", truth.map(() => 1)]])
      press(view.controls, label, () => guess(goal));

    function guess(goal) {
      const possible = goal.map((p) => Math.max(0.005, p)), total = possible.reduce((a, b) => a + b, 0);
      possible.forEach((p, i) => { q[i] = p / total; });
      draw();
    }

    /** One guessed bar follows the hand; the others keep their proportions. */
    function raise(chosen, height) {
      const p = Math.max(0.01, Math.min(0.97, height));
      guess(q.map((value, i) => (i === chosen ? p : (value * (1 - p)) / (1 - q[chosen]))));
    }

    function cost(cross, bits, y, label, colour, from = 0) {
      const scale = Math.min(60, 220 / cross);
      view.picture.append(shape("text", { x: 350, y: y + 14 }, label));
      view.picture.append(shape("rect",
        { x: 350 + from * scale, y: y + 20, width: Math.max(0.5, bits * scale), height: 18, fill: colour }));
      view.picture.append(shape("text", { x: 356 + (from + bits) * scale, y: y + 34 }, bits.toFixed(3)));
    }

    function draw() {
      const entropy = -truth.reduce((sum, p) => sum + (p > 0 ? p * Math.log2(p) : 0), 0);
      const cross = -truth.reduce((sum, p, i) => sum + p * Math.log2(q[i]), 0);
      sliders.forEach((input, i) => { input.value = q[i]; input.nextElementSibling.textContent = q[i].toFixed(2); });
      view.picture.replaceChildren();
      outcomes.forEach((outcome, i) => {
        const x = i * group + 10;
        view.picture.append(shape("rect", { x, y: base - 150 * truth[i], width: group / 3, height: 150 * truth[i], fill: "var(--blue)" }));
        view.picture.append(shape("rect",
          { x: x + group / 3 + 2, y: base - 150 * q[i], width: group / 3, height: 150 * q[i], fill: "var(--orange)" }));
        view.picture.append(shape("text", { x: x + group / 3, y: base + 18, "text-anchor": "middle" }, outcome));
      });
      view.picture.append(shape("text", { x: 10, y: base + 44, class: "quiet" }, "blue: the truth p, orange: your guess q"));
      cost(cross, entropy, 10, "entropy of p", "var(--blue)");
      cost(cross, cross - entropy, 60, "KL divergence of q from p", "var(--orange)", entropy);
      cost(cross, cross, 110, "cross-entropy", "var(--green)");
      const perplexity = shape("text", { x: 350, y: 185, class: "quiet" });
      perplexity.append("perplexity 2", shape("tspan", { dy: -5, style: "font-size:78%" }, cross.toFixed(2)),
        shape("tspan", { dy: 5 }, ` = ${(2 ** cross).toFixed(2)}`));
      view.picture.append(perplexity);
      view.say(`Your guess costs ${cross.toFixed(3)} bits per symbol, ${(cross - entropy).toFixed(3)} more than the floor.`);
      view.numbers(["outcome", "p", "q", "−log₂ q"],
        outcomes.map((outcome, i) => [outcome, truth[i].toFixed(3), q[i].toFixed(3), (-Math.log2(q[i])).toFixed(3)]));
    }
    let held = null;
    view.picture.addEventListener("pointerdown", () => { held = null; });
    dragged(view.picture, view.picture, ({ x, y }) => {
      held ??= Math.floor((x - 10) / group);
      if (held >= 0 && held < n && y < base + 20) raise(held, (base - y) / 150);
    });
    draw();
  },
};
