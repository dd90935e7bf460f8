// Where a translator looks: choose a target word, see its weights over the source; the links they make are judged against the gold ones.

import { arrange, choose, dragged, frame, HALO, put, shape, slider, toggle } from "./frame.mjs";

/** Links [source, target]: the strongest weight of each target word, or every weight of at least `threshold` where one is given. */
export function linksOf(weights, threshold = null) {
  if (threshold === null) return weights.map((row, t) => [row.indexOf(Math.max(...row)), t]);
  return weights.flatMap((row, t) => row.flatMap((weight, s) => (weight >= threshold ? [[s, t]] : [])));
}

/** {found, foundSure, foundPossible, sure} of one sentence: what the alignment error rate counts. */
export function countLinks(found, sure, possible) {
  const within = (links) => { const known = new Set(links.map(String)); return found.filter((link) => known.has(String(link))).length; };
  return { found: found.length, foundSure: within(sure), foundPossible: within([...sure, ...possible]), sure: sure.length };
}

/** 1 − (|A ∩ S| + |A ∩ P|) / (|A| + |S|) over all sentences together (Och and Ney 2003). */
export function errorRate(sentences, threshold = null) {
  const counts = sentences.map(({ weights, sure, possible }) => countLinks(linksOf(weights, threshold), sure, possible));
  const sum = (name) => counts.reduce((total, each) => total + each[name], 0);
  return 1 - (sum("foundSure") + sum("foundPossible")) / (sum("found") + sum("sure"));
}

const percent = (share) => `${(100 * share).toFixed(1)} %`;

export default {
  render({ model, el }) {
    const { sentences } = model.get("data");
    const row = 24, top = 40, longest = Math.max(...sentences.map(({ source, target }) => Math.max(source.length, target.length)));
    const height = top + row * longest + 6;
    const wordsOf = (side) => 10 + 9 * Math.max(...sentences.flatMap((sentence) => sentence[side].map((word) => word.length)));
    const sourceEnd = 96 + wordsOf("source"); // on a narrow page
    const layouts = { // bars grow from `zero` to the left, and a weight of 1 is `one` long
      wide: { width: 640, height, zero: 180, one: 144, sourceX: 300, targetX: 430, targetWide: 190 },
      narrow: { width: sourceEnd + 56 + wordsOf("target"), height, zero: 96, one: 60, sourceX: sourceEnd, targetX: sourceEnd + 56,
        targetWide: wordsOf("target") },
    };
    let layout = layouts.wide;
    const view = frame(el, { ...layout,
      title: "Where a translator looks while it writes each word",
      label: "Target words and the source words they look at", name: "alignment" });
    const state = { sentence: 0, target: 0, gold: false, isLargest: true, least: 0.3 };
    const here = () => sentences[state.sentence];

    if (sentences.length > 1)
      choose(view.controls,
        { label: "Sentence", options: sentences.map(({ source }) => `${source.length} words: ${source.slice(0, 3).join(" ")} …`),
          value: 0 },
        (chosen) => { state.sentence = chosen; select.max = here().target.length - 1; put(select, 0); });
    const select = slider(view.controls,
      { label: "Target word", min: 0, max: here().target.length - 1, step: 1, value: 0, show: (t) => here().target[t] },
      (target) => { state.target = target; draw(); });
    toggle(view.controls, { label: "show the gold alignment" }, (shown) => { state.gold = shown; draw(); });
    const kind = choose(view.controls,
      { label: "A link is", options: ["the largest weight of each word", "every weight from the line on"], value: 0 },
      (chosen) => { state.isLargest = chosen === 0; draw(); });
    const line = slider(view.controls,
      { label: "line at", min: 0.05, max: 0.95, step: 0.05, value: state.least, show: (w) => w.toFixed(2) },
      (least) => { Object.assign(state, { least, isLargest: false }); kind.value = "1"; draw(); });
    const threshold = () => (state.isLargest ? null : state.least);

    const middle = (place) => top + (place + 0.5) * row;
    const write = (x, y, words, more = {}) => view.picture.append(shape("text", { x, y: y + 5, ...more }, words));
    const join = (s, t, more) =>
      view.picture.append(shape("line", { x1: layout.sourceX + 8, y1: middle(s), x2: layout.targetX - 8, y2: middle(t), ...more }));

    function drawSource() {
      const weights = here().weights[state.target], { zero, one, sourceX } = layout;
      here().source.forEach((word, s) => {
        const long = one * weights[s];
        view.picture.append(shape("rect",
          { x: zero - long, y: middle(s) - 8, width: Math.max(0.5, long), height: 16, fill: "var(--blue)" }));
        if (weights[s] >= 0.005)
          write(zero - 4 - long, middle(s), weights[s].toFixed(2), { "text-anchor": "end", class: "quiet", style: HALO });
        write(sourceX, middle(s), word, { "text-anchor": "end", "font-weight": weights[s] >= 0.2 ? "bold" : "normal" });
      });
    }

    /** From which weight on there is a link; a hand can move it. */
    function drawLine() {
      const { zero, one } = layout, x = zero - one * state.least;
      view.picture.append(shape("line", { x1: x, x2: x, y1: top - 4, y2: top + row * here().source.length, stroke: "var(--ink)",
        "stroke-width": 1.5, "stroke-dasharray": "5 3", "stroke-opacity": state.isLargest ? 0.35 : 1 }));
      view.picture.append(shape("circle", { cx: x, cy: top - 4, r: 5, fill: state.isLargest ? "var(--line)" : "var(--ink)" }));
      view.picture.append(shape("rect", { x: zero - one - 16, y: top - 12, width: one + 22, height: 12 + row * here().source.length,
        fill: "transparent", style: "cursor:ew-resize;touch-action:pan-y" }));
    }

    function drawTarget() {
      const { targetX, targetWide } = layout;
      here().target.forEach((word, t) => {
        const chosen = t === state.target;
        const group = shape("g", { style: "cursor:pointer" });
        group.append(shape("rect",
          { x: targetX - 4, y: middle(t) - 11, width: targetWide, height: 22, fill: chosen ? "var(--panel)" : "transparent",
            stroke: chosen ? "var(--ink)" : "none" }));
        group.append(shape("text", { x: targetX, y: middle(t) + 5, "font-weight": chosen ? "bold" : "normal" }, word));
        group.addEventListener("mouseenter", () => { if (t !== state.target) put(select, t); });
        group.addEventListener("click", () => put(select, t));
        view.picture.append(group);
      });
    }

    function draw() {
      const { source, target, weights, sure, possible } = here();
      const found = linksOf(weights, threshold()), known = new Set([...sure, ...possible].map(String));
      const { width, zero, sourceX, targetX } = layout;
      view.picture.replaceChildren();
      view.picture.setAttribute("viewBox", `0 0 ${width} ${top + row * Math.max(source.length, target.length) + 6}`);
      write(zero, 14, "weights α", { "text-anchor": "end", class: "quiet" });
      write(sourceX, 14, "source", { "text-anchor": "end", class: "quiet" });
      write(targetX, 14, "target", { class: "quiet" });
      for (const [s, t] of found) join(s, t, { stroke: "var(--line)", "stroke-width": 1 });
      if (state.gold) for (const [s, t] of possible)
        join(s, t, { stroke: "var(--orange)", "stroke-width": t === state.target ? 3 : 1.5, "stroke-dasharray": "5 3" });
      weights[state.target].forEach((weight, s) => {
        if (weight > 0.01) join(s, state.target, { stroke: "var(--blue)", "stroke-width": 6 * weight, "stroke-opacity": 0.8 });
      });
      drawLine(); // below the numbers, which would otherwise be struck through
      drawSource();
      drawTarget();
      const wrong = found.filter((link) => !known.has(String(link)));
      const best = linksOf([weights[state.target]])[0][0];
      view.say(`“${target[state.target]}” looks most `
        + `at “${source[best]}” (${weights[state.target][best].toFixed(2)}). Alignment error rate: `
        + `${percent(errorRate([here()], threshold()))} in this sentence (${wrong.length} of ${found.length} links are `
          + `wrong), ${percent(errorRate(sentences, threshold()))} over all ${sentences.length} shown.`);
      view.numbers(["target", ...source], weights.map((row, t) => [target[t], ...row.map((weight) => weight.toFixed(3))]));
    }
    let isHeld = null;
    view.picture.addEventListener("pointerdown", () => { isHeld = null; });
    dragged(view.picture, view.picture, ({ x, y }) => {
      isHeld ??= x < layout.zero + 6 && y > top - 12;
      if (isHeld) put(line, (layout.zero - x) / layout.one);
    });
    arrange(view, layouts, (chosen) => {
      layout = chosen;
      draw();
    });
  },
};
