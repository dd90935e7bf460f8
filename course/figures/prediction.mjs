// A question: the reader chooses an option or sets a number, and only then the answer is shown.

import { frame, phrase, press, shape, slider } from "./frame.mjs";

/** 0.254 with "%" → "25 %"; 1234.5 with "words" → "1,230 words"; 1 with "words" → "1 word"; a very small number in powers of ten. */
function told(value, unit) {
  if (unit === "%") return `${Number((100 * value).toPrecision(100 * value < 10 ? 2 : 3))} %`;
  const size = Math.abs(value);
  const digits = size !== 0 && (size < 1e-3 || size >= 1e7) ? value.toExponential(1).replace("+", "")
    : Number(value.toPrecision(3)).toLocaleString("en", { maximumSignificantDigits: 3 });
  const counted = digits === "1" ? unit.replace(/s$/, "") : unit;
  return unit ? `${digits} ${counted}` : digits;
}

/** The number at a share of the scale's length, whole where numbers are counted, and the share of a number. */
const at = ({ low, high, isLogarithmic, isCounted }, share) => {
  const number = isLogarithmic ? low * (high / low) ** share : low + (high - low) * share;
  return isCounted ? Math.round(number) : number;
};
const shareOf = ({ low, high, isLogarithmic }, value) =>
  (isLogarithmic ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low));

function choice(el, { question, unit, options, values, right }, answered) {
  const wide = 14 + 8 * Math.max(...options.map((option) => option.length)), most = Math.max(...values.map(Math.abs)) || 1;
  const isJudged = typeof values[0] === "boolean", bar = isJudged ? 24 : 150;
  const view = frame(el, { width: wide + bar + 90, height: 26 * options.length, title: question,
    label: phrase("A question with {n} options", { n: options.length }), name: "prediction" });
  let chosen = null;
  options.forEach((option, i) => press(view.controls, option, () => { chosen = i; draw(); answered(); }));
  view.say(phrase("Which one?"));
  view.picture.parentElement.hidden = true; // before an answer there is nothing to see

  function draw() {
    view.picture.parentElement.hidden = false;
    view.picture.replaceChildren();
    options.forEach((option, i) => {
      const y = 26 * i, length = isJudged ? bar : Math.max(2, bar * Math.abs(values[i]) / most);
      const fill = right.includes(i) ? "var(--blue)" : "var(--line)";
      view.picture.append(shape("text", { x: 4, y: y + 17, style: i === chosen ? "font-weight:bold" : "" }, option));
      view.picture.append(shape("rect", { x: wide, y: y + 4, width: length, height: 18, fill,
        stroke: i === chosen ? "var(--orange)" : "none", "stroke-width": 3 }));
      const words = isJudged ? (values[i] ? "✓" : "✗") : told(values[i], unit);
      view.picture.append(shape("text", { x: wide + length + 8, y: y + 17 }, words));
    });
    view.say(right.includes(chosen) ? phrase("Right: {option}.", { option: options[chosen] })
      : phrase("You chose {option}, and the answer is {right}.",
        { option: options[chosen], right: right.map((i) => options[i]).join(", ") }));
    view.numbers([phrase("option"), unit], options.map((option, i) => [option, isJudged ? values[i] : told(values[i], unit)]));
  }
}

function number(el, { question, unit, value, ...ends }, answered) {
  const isCounted = ends.high - ends.low > 10 && [value, ends.low, ends.high].every(Number.isInteger), scale = { ...ends, isCounted };
  const [left, right, y] = [16, 284, 40];
  const view = frame(el, { width: 300, height: 96, title: question, label: phrase("A number to be guessed"), name: "prediction" });
  let guess = at(scale, 0.5), isShown = false;
  view.say(phrase("Set the slider, then ask for the answer."));
  view.picture.parentElement.hidden = true; // the slider shows the guess; the picture, how far off it is
  slider(view.controls, { label: phrase("Your guess"), min: 0, max: 1, step: 0.005, value: 0.5,
    show: (share) => told(at(scale, share), unit) }, (share) => { guess = at(scale, share); if (isShown) draw(); });
  press(view.controls, phrase("Show the answer"), () => { isShown = true; draw(); answered(); });

  function mark(number, side, colour, words) {
    const x = left + (right - left) * shareOf(scale, number);
    view.picture.append(shape("circle", { cx: x, cy: y, r: 6, fill: colour }));
    const half = 3.8 * words.length, inside = Math.max(half, Math.min(left + right - half, x));
    view.picture.append(shape("text", { x: inside, y: y + side, "text-anchor": "middle" }, words));
  }
  function draw() {
    view.picture.parentElement.hidden = false;
    view.picture.replaceChildren(shape("line", { x1: left, y1: y, x2: right, y2: y, stroke: "var(--line)", "stroke-width": 3 }));
    for (const [share, x, anchor, of] of [[0, 2, "start", unit === "%" ? unit : ""], [1, 298, "end", unit]])
      view.picture.append(shape("text", { x, y: y + 48, "text-anchor": anchor, class: "quiet" }, told(at(scale, share), of)));
    mark(guess, -14, "var(--orange)", phrase("you: {n}", { n: told(guess, unit) }));
    mark(value, 26, "var(--blue)", phrase("answer: {n}", { n: told(value, unit) }));
    view.say(phrase("You said {guess}; the answer is {value}.", { guess: told(guess, unit), value: told(value, unit) }));
    view.numbers(["", unit], [[phrase("you"), told(guess, unit)], [phrase("answer"), told(value, unit)]]);
  }
}

export default {
  told, at, shareOf,
  render({ model, el }) {
    const data = model.get("data");
    const answered = () => el.dispatchEvent(new CustomEvent("answered", { bubbles: true })); // a page may show more
    if ("options" in data) choice(el, data, answered); else number(el, data, answered);
    el.firstElementChild.classList.add("prediction");
  },
};
