// Cross-entropy = entropy + KL divergence: set your own guess q beside the true p and watch what it costs.

import { arrange, dragged, frame, parts, press, shape, slider } from "./frame.mjs";

const LAYOUTS = { // the bars, and what the guess costs
  wide: { width: 620, height: 222, at: [[0, 0], [340, 0]] },
  narrow: { width: 340, height: 424, at: [[0, 0], [0, 226]] },
};

export default {
  render({ model, el }) {
    const { outcomes, truth } = model.get("data");
    const n = outcomes.length, base = 170, group = 320 / n;
    const view = frame(el, { ...LAYOUTS.wide,
      title: "What it costs to believe something else than the truth",
      label: "True and guessed probabilities, and what they cost in bits", name: "coding" });
    const [bars, costs] = parts(view, 2);
    const q = outcomes.map(() => 1 / n);
    const sliders = outcomes.map((outcome, i) =>
      slider(view.controls, { label: `q(${outcome})`, min: 0, max: 1, step: 0.005, value: q[i] }, (value) => raise(i, value)));
    for (const [label, goal] of [["Guess the truth", truth], ["All alike", truth.map(() => 1)]])
      press(view.controls, label, () => guess(goal));

    /** Set the sliders to these proportions; what they stand at, divided by its sum, is the guess. */
    function guess(goal) {
      const possible = goal.map((p) => Math.max(0.005, p)), sum = (values) => values.reduce((a, b) => a + b, 0), whole = sum(possible);
      sliders.forEach((input, i) => { input.value = possible[i] / whole; });
      const stand = sliders.map((input) => Number(input.value));
      stand.forEach((value, i) => { q[i] = value / sum(stand); });
      draw();
    }

    /** One guessed bar follows the hand; the others keep their proportions. */
    function raise(chosen, height) {
      const p = Math.max(0.01, Math.min(0.97, height));
      guess(q.map((value, i) => (i === chosen ? p : (value * (1 - p)) / (1 - q[chosen]))));
    }

    function cost(cross, bits, y, label, colour, from = 0) {
      const scale = Math.min(60, 220 / cross);
      costs.append(shape("text", { x: 10, y: y + 14 }, label));
      costs.append(shape("rect",
        { x: 10 + from * scale, y: y + 20, width: Math.max(0.5, bits * scale), height: 18, fill: colour }));
      costs.append(shape("text", { x: 16 + (from + bits) * scale, y: y + 34 }, bits.toFixed(3)));
    }

    function draw() {
      const entropy = -truth.reduce((sum, p) => sum + (p > 0 ? p * Math.log2(p) : 0), 0);
      const cross = -truth.reduce((sum, p, i) => sum + p * Math.log2(q[i]), 0);
      sliders.forEach((input, i) => { input.nextElementSibling.textContent = q[i].toFixed(2); });
      for (const part of [bars, costs]) part.replaceChildren();
      outcomes.forEach((outcome, i) => {
        const x = i * group + 10;
        bars.append(shape("rect", { x, y: base - 150 * truth[i], width: group / 3, height: 150 * truth[i], fill: "var(--blue)" }));
        bars.append(shape("rect",
          { x: x + group / 3 + 2, y: base - 150 * q[i], width: group / 3, height: 150 * q[i], fill: "var(--orange)" }));
        bars.append(shape("text", { x: x + group / 3, y: base + 18, "text-anchor": "middle" }, outcome));
      });
      bars.append(shape("text", { x: 10, y: base + 44, class: "quiet" }, "blue: the truth p, orange: your guess q"));
      cost(cross, entropy, 10, "entropy of p", "var(--blue)");
      cost(cross, cross - entropy, 60, "KL divergence of q from p", "var(--orange)", entropy);
      cost(cross, cross, 110, "cross-entropy", "var(--green)");
      const perplexity = shape("text", { x: 10, y: 185, class: "quiet" });
      perplexity.append("perplexity 2", shape("tspan", { dy: -5, style: "font-size:78%" }, cross.toFixed(2)),
        shape("tspan", { dy: 5 }, ` = ${(2 ** cross).toFixed(2)}`));
      costs.append(perplexity);
      view.say(`Your guess costs ${cross.toFixed(3)} bits per symbol, ${(cross - entropy).toFixed(3)} more than the floor.`);
      view.numbers(["outcome", "p", "q", "−log₂ q"],
        outcomes.map((outcome, i) => [outcome, truth[i].toFixed(3), q[i].toFixed(3), (-Math.log2(q[i])).toFixed(3)]));
    }
    let held = null;
    view.picture.addEventListener("pointerdown", () => { held = null; });
    dragged(view.picture, bars, ({ x, y }) => {
      held ??= y < base + 20 ? Math.floor((x - 10) / group) : -1;
      if (held >= 0 && held < n && y < base + 20) raise(held, (base - y) / 150);
    });
    arrange(view, LAYOUTS, draw);
  },
};
