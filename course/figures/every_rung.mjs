// Every rung of the ladder beside the truth: write a story, see what each expects next, and let each write on.

import { choose, field, frame, node, press, shape, slider } from "./frame.mjs";
import { rungs } from "./models/ladder.mjs";
import { heated, samplers } from "./models/sampler.mjs";
import { storyLanguage } from "./models/story_language.mjs";

const LOG2 = Math.log(2), N_SHOWN = 6, MOST_WRITTEN = 80;
const LAYOUTS = { // in the second there is no room for what the last word has cost
  wide: { width: 720, left: 104, cell: 70, n: N_SHOWN, bar: 92 },
  narrow: { width: 324, left: 88, cell: 58, n: 3, bar: 54 },
};

/** How many bits a word costs more than it must, on average over the truth: Σ P log₂(P/Q); all in nats as they come. */
export function wasted(truth, logProbs) {
  return Math.max(0, truth.reduce((sum, z, token) => sum + (z > -Infinity ? Math.exp(z) * (z - logProbs[token]) : 0), 0) / LOG2);
}

/** The words worth a column: the true ones first, then what the rungs expect most wrongly. */
export function shown(truth, answers, n = N_SHOWN) {
  const hope = (token) => answers.reduce((sum, logProbs) => sum + Math.exp(logProbs[token]), 0) / answers.length;
  const tokens = truth.map((_, token) => token), best = [...tokens].sort((a, b) => truth[b] - truth[a] || hope(b) - hope(a));
  const possible = best.filter((token) => truth[token] > -Infinity);
  const wrong = [...tokens].filter((token) => truth[token] === -Infinity).sort((a, b) => hope(b) - hope(a));
  return [...possible.slice(0, Math.max(Math.ceil(n / 2), n - wrong.length)), ...wrong].slice(0, n);
}

/** What a rung writes after these words, until the story's end or its first word that cannot come: { tokens, isWrong }. */
export function writing({ begin, truth, tokens, end, settings, random = Math.random }) {
  const { temperature, method, value } = settings, draw = samplers[method].begin(value);
  const read = begin(), check = truth(), written = [];
  let expected, possible;
  for (const token of tokens) { expected = read(token); possible = check(token); }
  while (written.length < MOST_WRITTEN) {
    const token = draw(heated(expected, temperature), [...tokens, ...written], random), isWrong = possible[token] === -Infinity;
    written.push(token);
    if (isWrong || token === end) return { tokens: written, isWrong };
    expected = read(token);
    possible = check(token);
  }
  return { tokens: written, isWrong: false };
}

const percent = (p) => (p > 0.995 && p < 1 ? ">99" : p > 0 && p < 0.005 ? "<1" : String(Math.round(100 * p)));
const bits = (value) => (value < 9.995 ? value.toFixed(2) : value.toFixed(1));

export default {
  render({ model, el }) {
    const { models, grammar, bits: average, floor, beginnings, end } = model.get("data");
    const words = grammar.words.map((word, token) => (token === end ? "(end)" : word));
    const truth = storyLanguage(grammar), titles = Object.keys(average);
    const isWide = el.clientWidth === 0 || el.clientWidth > 520, { width, left, cell, n, bar } = LAYOUTS[isWide ? "wide" : "narrow"];
    const top = 44, tall = 34, right = left + n * cell + 8;
    const height = top + tall * (titles.length + 1) + 30;
    const view = frame(el, { width, height, label: "What every model expects next, beside the true probabilities", name: "every_rung" });
    const story = node("p", { class: "story", style: "font-size:1.15em;margin:.5rem 0" });
    const next = node("div", { class: "lmf-row" }), pages = node("div", { style: "margin:.3rem 0" });
    const state = { tokens: [], begins: null, readers: null, settings: { temperature: 1, method: 0, value: null } };

    choose(view.controls, { label: "begin with", options: beginnings.map(({ asks }) => asks), value: 0 },
      (i) => begin(beginnings[i].tokens));
    const list = node("datalist", { id: `words-${model.get("data").id}` }, ...words.map((word) => node("option", { value: word })));
    const refusal = node("div", { "aria-live": "polite", style: "flex-basis:100%;color:var(--orange)" });
    const writer = node("div", { style: "display:flex;flex-wrap:wrap;gap:.3rem .6rem" }, list);
    const typed = field(writer, "next word", { size: 12, list: list.id });
    press(writer, "Take back", () => { if (state.tokens.length > 1) begin(state.tokens.slice(0, -1)); });
    view.controls.append(writer, refusal);
    typed.addEventListener("change", () => {
      const said = typed.value.trim().toLowerCase().split(/\s+/).filter(Boolean), unknown = said.find((word) => !words.includes(word));
      if (unknown) refusal.textContent = `The language has no word “${unknown}”. The field lists its ${words.length} words.`;
      else add(said.map((word) => words.indexOf(word)));
    });
    const sampler = node("div", { class: "lmf-row" });
    slider(sampler, { label: "temperature", min: 0.2, max: 2, step: 0.1, value: 1, show: (t) => t.toFixed(1) },
      (t) => set({ temperature: t }));
    choose(sampler, { label: "method", options: samplers.map(({ name }) => name), value: 0 }, (method) => {
      const { knob } = samplers[method];
      set({ method, value: knob?.value ?? null });
      knobs.replaceChildren();
      if (knob) slider(knobs, knob, (value) => set({ value }));
    });
    press(sampler, "Let every model continue", write);
    const knobs = node("span", {});
    sampler.append(knobs);
    view.controls.after(story, next);
    view.picture.parentElement.after(sampler, pages);

    /** Set how models continue; what they wrote in another way fades. */
    function set(settings) {
      Object.assign(state.settings, settings);
      pages.style.opacity = 0.65;
    }

    function add(tokens) {
      tokens.forEach(append);
      pages.replaceChildren();
      draw();
    }

    function append(token) {
      if (state.truth.isLost || token === state.ended) return;
      const cost = { truth: -state.truthNow[token] / LOG2, rungs: state.now.map((logProbs) => -logProbs[token] / LOG2) };
      state.costs.push(cost);
      state.tokens.push(token);
      state.truthNow = state.truth(token);
      state.now = state.readers.map((read) => read(token));
    }

    /** Read a beginning anew; its first token is given and costs nothing. */
    function begin(tokens) {
      Object.assign(state, { tokens: [tokens[0]], costs: [], truth: truth(), readers: titles.map((title) => state.begins[title]()) });
      state.truthNow = state.truth(tokens[0]);
      state.now = state.readers.map((read) => read(tokens[0]));
      add(tokens.slice(1));
    }

    /** Where the last rung looks from the last word: the largest weight of any head on each word. */
    function gaze() {
      const { steps } = state.readers.at(-1);
      if (!steps) return [];
      const heads = steps.flatMap((layer) => layer.at(-1).weights);
      return state.tokens.map((_, j) => Math.max(...heads.map((head) => head[j])));
    }

    function tell() {
      typed.value = "";
      refusal.textContent = "";
      const weights = gaze(), isLost = state.truth.isLost;
      story.replaceChildren(...state.tokens.slice(1).flatMap((token, i) => {
        const isLast = i === state.tokens.length - 2, look = 40 * (weights[i + 1] ?? 0);
        const style = isLost && isLast ? "color:var(--orange);text-decoration:underline wavy"
          : `background:color-mix(in srgb, var(--blue) ${look.toFixed(0)}%, transparent);border-radius:3px;padding:0 .1em`;
        return [node("span", { style }, words[token]), " "];
      }), node("span", { style: "color:var(--quiet)" }, "…"));
      next.replaceChildren();
      if (isLost || state.tokens.at(-1) === end) return;
      for (const token of shown(state.truthNow, state.now)) press(next, words[token], () => add([token]));
    }

    function draw() {
      tell();
      const text = (x, y, said, more = {}) => view.picture.append(shape("text", { x, y, ...more }, said));
      view.picture.replaceChildren();
      const isLost = state.truth.isLost, isOver = state.tokens.at(-1) === end, last = state.costs.at(-1);
      const columns = isLost || isOver ? [] : shown(state.truthNow, state.now, n);
      columns.forEach((token, i) => {
        const isPossible = state.truthNow[token] > -Infinity;
        text(left + i * cell + 4, top - 12, words[token],
          { style: `font-size:${isWide ? 13 : 11}px;`
            + (isPossible ? "font-weight:600" : "fill:var(--orange)") });
      });
      (isWide ? ["bits wasted", "on the next word"] : ["bits", "wasted"]).forEach((said, i) =>
        text(right, 14 + 18 * i, said, { class: "quiet", style: "font-size:11px" }));
      if (isWide) ["bits for the", "last word"].forEach((said, i) =>
        text(right + 108, 14 + 18 * i, said, { class: "quiet", style: "font-size:11px" }));
      const lines = [["the truth", state.truthNow, last?.truth], ...titles.map((title, i) => [title, state.now[i], last?.rungs[i]])];
      lines.forEach(([title, logProbs, cost], row) => {
        const y = top + row * tall, waste = columns.length ? wasted(state.truthNow, logProbs) : null;
        view.picture.append(shape("line", { x1: 0, x2: width, y1: y, y2: y, stroke: "var(--line)", "stroke-opacity": 0.35 }));
        text(0, y + 15, title, { style: `font-size:${isWide ? 13 : 12}px;${row ? "" : "font-weight:700"}` });
        text(0, y + 28, `${(row ? average[title] : floor).toFixed(2)} bits a word`, { class: "quiet", style: "font-size:10.5px" });
        columns.forEach((token, i) => {
          const p = Math.exp(logProbs[token]), x = left + i * cell + 4, isPossible = state.truthNow[token] > -Infinity;
          text(x, y + 15, `${percent(p)} %`, { style: "font-size:12px", ...(p < 0.005 ? { class: "quiet" } : {}) });
          view.picture.append(shape("rect", { x, y: y + 21, width: cell - 12, height: 6, fill: "var(--panel)" }));
          view.picture.append(shape("rect", { x, y: y + 21, width: p * (cell - 12), height: 6,
            fill: row === 0 ? "var(--ink)" : isPossible ? "var(--blue)" : "var(--orange)" }));
        });
        if (waste !== null) {
          text(right, y + 15, bits(waste), { style: "font-weight:600" });
          view.picture.append(shape("rect", { x: right, y: y + 21, width: bar * Math.min(1, waste / 3), height: 6, fill: "var(--green)" }));
        }
        if (isWide && cost !== undefined) text(right + 108, y + 15, cost < Infinity ? bits(cost) : "∞");
      });
      text(0, height - 8, "orange: cannot come here" + (isWide ? " · bits wasted: how many more than the truth needs" : ""),
        { class: "quiet", style: "font-size:11px" });
      view.say(said(isLost, isOver));
      table(columns);
    }

    function said(isLost, isOver) {
      if (isLost && isOver) return "The story cannot end here: the language gives that a probability of 0. Take it back.";
      if (isLost) return `“${words[state.tokens.at(-1)]}” cannot come here: the language gives it a probability of 0. Take it back.`;
      if (isOver) return "The story has ended. Take words back, or choose another beginning.";
      const waste = state.now.map((logProbs) => bits(wasted(state.truthNow, logProbs))), least = bits(Math.min(...waste));
      const best = new Intl.ListFormat("en-GB").format(titles.filter((_, i) => waste[i] === least));
      const true1 = state.truthNow.indexOf(Math.max(...state.truthNow)), p = Math.exp(state.truthNow[true1]);
      return `True odds of “${words[true1]}”: ${percent(p)} %. Fewest bits wasted: ${least}, by ${best}.`
        + (state.tokens.length > 1 && gaze().length ? ` Shaded: where the ${titles.at(-1)} looks.` : "");
    }

    function table(columns) {
      const sum = (values) => values.reduce((total, value) => total + value, 0), n = state.costs.length;
      const soFar = (i) => sum(state.costs.map(({ rungs: each }) => each[i])), least = sum(state.costs.map((cost) => cost.truth));
      view.numbers(["model", ...columns.map((token) => words[token]), "bits wasted", "bits for the last word", "bits wasted so far"],
        [["the truth", ...columns.map((token) => Math.exp(state.truthNow[token]).toFixed(4)), "0",
          n ? state.costs.at(-1).truth.toFixed(3) : "", "0"],
        ...titles.map((title, i) => [title, ...columns.map((token) => Math.exp(state.now[i][token]).toFixed(4)),
          columns.length ? wasted(state.truthNow, state.now[i]).toFixed(3) : "", n ? state.costs.at(-1).rungs[i].toFixed(3) : "",
          n && !state.truth.isLost ? `${((soFar(i) - least) / n).toFixed(3)} a word` : ""])]);
    }

    function write() {
      if (state.truth.isLost || state.tokens.at(-1) === end) return view.say("Nothing can follow here: take a word back first.");
      const given = { truth, tokens: state.tokens, end, settings: state.settings };
      const { temperature, method, value } = state.settings, { name, knob } = samplers[method];
      const settings = `Temperature ${temperature.toFixed(1)}, ${name}${knob ? `, ${knob.label} = ${value}` : ""}:`;
      pages.style.opacity = 1;
      const writers = [["the truth", truth], ...titles.map((title) => [title, state.begins[title]])];
      pages.replaceChildren(node("p", { style: "margin:.25rem 0;color:var(--quiet)" }, settings), ...writers.map(([title, start]) => {
        const { tokens, isWrong } = writing({ begin: start, ...given }), line = node("p", { style: "margin:.25rem 0" });
        const good = isWrong ? tokens.slice(0, -1) : tokens;
        line.append(node("strong", {}, `${title}: `), ...good.filter((token) => token !== end).map((token) => `${words[token]} `));
        const quiet = (text) => node("span", { style: "color:var(--quiet)" }, text);
        if (!isWrong) line.append(quiet(`(${good.length} words, each of them possible)`));
        else if (tokens.at(-1) === end) line.append(node("span", { style: "color:var(--orange)" }, "(ends here, too early)"));
        else line.append(node("span", { style: "color:var(--orange);text-decoration:underline wavy" }, words[tokens.at(-1)]),
          quiet(` (word ${tokens.length} cannot come there)`));
        return line;
      }));
    }

    view.say("Unpacking the models …");
    rungs(models).then((begins) => {
      state.begins = begins;
      begin(beginnings[0].tokens);
      el.setAttribute("data-ready", "");
    });
  },
};
