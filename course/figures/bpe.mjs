// Byte-pair encoding step by step: how many merges, which token, at what cost. A token is a string of bytes, one
// character of code 0 … 255 for each.

import { arrange, choose, dragged, field, frame, node, put, shape, slider, stepper, strength } from "./frame.mjs";

// GPT-2's cut into pre-tokens, which no merge crosses.
const PRE_TOKEN = /'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+/gu;
const bytesOf = (text) => Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte));

/** The tokens of one word under merges with a rank: Map "left\u0100right" → rank. */
function encodeWord(word, ranks) {
  let tokens = bytesOf(word);
  for (;;) {
    let best = Infinity, pair = null;
    for (let i = 0; i + 1 < tokens.length; i++) {
      const rank = ranks.get(`${tokens[i]}\u0100${tokens[i + 1]}`);
      if (rank < best) { best = rank; pair = [tokens[i], tokens[i + 1]]; }
    }
    if (pair === null) return tokens;
    const merged = [];
    for (let i = 0; i < tokens.length; i++) {
      const fits = tokens[i] === pair[0] && tokens[i + 1] === pair[1];
      merged.push(fits ? pair[0] + pair[1] : tokens[i]);
      if (fits) i += 1;
    }
    tokens = merged;
  }
}

/** The tokens of a text under the first `count` merges. */
function encode(text, merges, count) {
  const ranks = new Map(merges.slice(0, count).map(([left, right], rank) => [`${left}\u0100${right}`, rank]));
  return (text.match(PRE_TOKEN) ?? []).flatMap((word) => encodeWord(word, ranks));
}

/** Bytes as text; what is no complete character is shown as hexadecimal numbers. */
function spell(token) {
  const bytes = Uint8Array.from(token, (character) => character.charCodeAt(0));
  try { return new TextDecoder("utf-8", { fatal: true }).decode(bytes).replaceAll(" ", "␣").replaceAll("\n", "⏎"); }
  catch { return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join(" "); }
}

/** How a token was put together, innermost first: "th" from "t" + "h". */
function history(token, merges, count) {
  const rank = merges.slice(0, count).findIndex(([left, right]) => left + right === token);
  if (token.length === 1 || rank < 0) return [];
  const [left, right] = merges[rank];
  return [...history(left, merges, rank), ...history(right, merges, rank), { rank, left, right }];
}

const LAYOUTS = { // the text takes at most so many rows
  wide: { width: 660, height: 310, rows: 5 },
  narrow: { width: 340, height: 460, rows: 10 },
};

export default {
  encode,
  render({ model, el }) {
    const { merges, texts } = model.get("data");
    let { width, rows } = LAYOUTS.wide;
    const view = frame(el, { ...LAYOUTS.wide,
      title: "Merge by merge, bytes grow into words",
      label: "A text cut into tokens, and how many tokens it takes", name: "bpe" });
    const state = { count: 0, text: texts[0].text, chosen: 0 };
    const counter = stepper(view.controls, { label: "Merges", min: 0, max: merges.length, step: 1, value: 0 },
      (count) => { state.count = count; draw(); }, ["−1", "+1"].map((label) => [label, `${label} merge`]));
    choose(view.controls, { label: "Text", options: texts.map(({ name }) => name), value: 0 },
      (index) => { own.value = texts[index].text; read(); });
    const own = field(view.controls, node("span", {}, "or your own"), { size: 44, maxlength: 200, value: state.text });
    own.addEventListener("input", read);
    const pick = slider(view.controls, { label: "Token", min: 1, max: 1, step: 1, value: 1 },
      (place) => { state.chosen = place - 1; draw(); });

    function read() {
      state.text = own.value;
      draw();
    }

    const wideOf = (token) => 8 * [...spell(token)].length + 10;

    /** How many rows the text takes before anything is merged: merging needs no more. */
    function rowsOf(tokens) {
      let x = 0, row = 1;
      for (const wide of tokens.map(wideOf)) {
        if (x + wide > width) { x = 0; row += 1; }
        x += wide;
      }
      return Math.min(row, rows);
    }

    function tiles(tokens) {
      let x = 0, row = 0;
      tokens.forEach((token, i) => {
        const label = spell(token), wide = wideOf(token);
        if (x + wide > width) { x = 0; row += 1; }
        if (row >= rows) return;
        const tile = shape("rect",
          { x: x + 1, y: row * 30 + 2, width: wide - 2, height: 24, rx: 4, fill: token.length > 1 ? strength(0.25) : "var(--panel)",
          stroke: i === state.chosen ? "var(--orange)" : "var(--line)", "stroke-width": i === state.chosen ? 2.5 : 1 });
        const text = shape("text",
          { x: x + wide / 2, y: row * 30 + 19, "text-anchor": "middle", style: "font-family:monospace;cursor:pointer" }, label);
        for (const part of [tile, text]) part.addEventListener("click", () => { state.chosen = i; pick.value = i + 1; draw(); });
        view.picture.append(tile, text);
        x += wide;
      });
    }

    function curve(nBytes, top) {
      const left = 4, wide = width - left - 130, tall = 100;
      const points = Array.from({ length: 25 }, (_, i) => Math.round(merges.length * i / 24))
        .map((count) => [count, encode(state.text, merges, count).length]);
      const at = ([count, n]) => `${left + wide * count / merges.length},${top + tall * (1 - n / Math.max(1, nBytes))}`;
      view.picture.append(shape("path", { d: `M${left},${top} V${top + tall} H${left + wide}`, fill: "none", stroke: "var(--line)" }));
      view.picture.append(shape("polyline", { points: points.map(at).join(" "), fill: "none", stroke: "var(--blue)", "stroke-width": 2 }));
      view.picture.append(shape("text", { x: left, y: top + tall + 18, class: "quiet" }, "0 merges"));
      view.picture.append(shape("text", { x: left + wide, y: top + tall + 18, "text-anchor": "end", class: "quiet" },
        `${merges.length} merges`));
      const now = encode(state.text, merges, state.count).length;
      const [x, y] = at([state.count, now]).split(",");
      const hand = shape("rect",
        { x: 0, y: top - 4, width: left + wide + 8, height: tall + 8, fill: "transparent", style: "cursor:ew-resize" });
      dragged(hand, view.picture, (at) => put(counter, Math.round((merges.length * (at.x - left)) / wide)));
      view.picture.append(shape("circle", { "data-key": "now", cx: x, cy: y, r: 5, fill: "var(--orange)" }), hand);
      view.picture.append(shape("text", { x: Number(x) + 9, y: Number(y) - 5 }, `${now} token${now === 1 ? "" : "s"}`));
      return points;
    }

    function draw() {
      const tokens = encode(state.text, merges, state.count), nBytes = bytesOf(state.text).length;
      state.chosen = Math.max(0, Math.min(state.chosen, tokens.length - 1));
      pick.max = tokens.length;
      pick.value = state.chosen + 1;
      pick.nextElementSibling.textContent = String(tokens.length ? state.chosen + 1 : 0);
      view.picture.replaceChildren();
      tiles(tokens);
      const top = 30 * rowsOf(bytesOf(state.text)) + 24;
      view.picture.setAttribute("viewBox", `0 0 ${width} ${top + 130}`);
      const points = curve(nBytes, top);
      const last = state.count ? `Merge ${state.count}: “${spell(merges[state.count - 1][0])}” + “${spell(merges[state.count - 1][1])}”. `
        : "No merges: one token for each byte. ";
      const tree = tokens.length ? history(tokens[state.chosen], merges, state.count) : [];
      const made = tree.map(({ rank, left, right }) => `${spell(left)} + ${spell(right)} (${rank + 1})`).join(", ");
      view.say(`${last}${nBytes} byte${nBytes === 1 ? "" : "s"} in ${tokens.length} `
        + `token${tokens.length === 1 ? "" : "s"}, ${(nBytes / Math.max(1, tokens.length)).toFixed(2)} bytes each. `
        + (made ? `The chosen token “${spell(tokens[state.chosen])}” was made by ${made}.` : "The chosen token is a single byte."));
      view.numbers(["merges", "tokens", "bytes per token"], points.map(([count, n]) => [count, n, (nBytes / Math.max(1, n)).toFixed(2)]));
    }
    arrange(view, LAYOUTS, (layout) => {
      ({ width, rows } = layout);
      draw();
    });
  },
};
