const PHRASES = {}; // in another language: what is said for each English phrase
const phrase = (template, values = {}) => (PHRASES[template] ?? template).replace(/\{(\w+)\}/g, (place, name) => values[name] ?? place);

// On a phone the formulas of one row stand below one another, and what is said of a formula below it.
if (matchMedia("(max-width: 599.98px)").matches) {
  for (const formula of document.querySelectorAll("div.math")) {
    formula.textContent = formula.textContent.replace(/&&\s*(?=\\text)/g, "\\\\ & ");
    const rows = formula.textContent.split("\\qquad");
    if (rows.length < 2 || formula.textContent.includes("\\begin")) continue;
    formula.textContent = rows.join("\\\\").replace("\\[", "\\[\\begin{gathered}").replace("\\]", "\\end{gathered}\\]");
  }
}

// A formula or a picture wider than its column scrolls; tabIndex lets the keyboard reach and scroll it too.
const scrolling = new ResizeObserver((seen) => seen.forEach(({ target }) => {
  if (target.scrollWidth > target.clientWidth) target.tabIndex = 0;
  else target.removeAttribute("tabindex");
}));
document.querySelectorAll("div.math").forEach((formula) => scrolling.observe(formula));
// A picture shrinks as long as its words, of about ten points, stay nine pixels high.
const DOTS = { least: 64, inNotebooks: 80, measured: 110 }; // an inch
for (const picture of document.querySelectorAll(".bd-article :is(figure, p) > img")) {
  const box = Object.assign(document.createElement("span"), { className: "scrolled" });
  picture.replaceWith(box);
  box.append(picture);
  scrolling.observe(box);
  const isStill = picture.hasAttribute("width"); // in a notebook, where it has more dots than pixels
  const inches = () => (isStill ? picture.getAttribute("width") / DOTS.inNotebooks : picture.naturalWidth / DOTS.measured);
  const limit = () => picture.style.setProperty("--least", `${Math.round(DOTS.least * inches())}px`);
  if (picture.complete) limit();
  else picture.addEventListener("load", limit);
}

// A search result shows the words of the article, not those of the buttons above it.
if (typeof Search !== "undefined") {
  const read = Search.htmlToText;
  Search.htmlToText = (page, anchor) => {
    const article = new DOMParser().parseFromString(page, "text/html").querySelector("article");
    article?.querySelectorAll("div.math").forEach((formula) => formula.remove()); // nobody reads their TeX
    article?.querySelectorAll("span.math").forEach((formula) => { formula.textContent = formula.textContent.replace(/\\[()]/g, ""); });
    return read(`<div role="main">${article?.innerHTML ?? ""}</div>`, anchor);
  };
  const summarise = Search.makeSearchSummary; // which begins and ends within a word
  Search.makeSearchSummary = (...asked) => {
    const summary = summarise(...asked);
    if (summary) summary.textContent = summary.textContent.replace(/^\.{3}\S*\s/, "… ").replace(/\s\S*\.{3}$/, " …");
    return summary;
  };
  const FOUND = "Search finished, found one page matching the search query."; // in English too long a line
  if (document.documentElement.lang === "en") Documentation.addTranslations({
    messages: { [FOUND]: ["1 page", "$" + "{resultCount} pages"] }, plural_expr: "n === 1 ? 0 : 1", locale: "en" });
}

// A word of code that fits a line is not parted; a longer one may break after its dots, dashes and bars.
const WHOLE = 28; // letters that fit a line of a small phone
for (const word of document.querySelectorAll(".bd-article code.literal .pre")) {
  const letters = word.textContent;
  if (letters.length <= WHOLE) word.classList.add("is-whole");
  else {
    const parts = letters.split(/(?<=[/._=,(:-]|(?<!<)\|)(?=\w{4})(?![^<|]*\|>)|(?=<\|)/);
    word.replaceChildren(...parts.flatMap((part, n) => (n ? [document.createElement("wbr"), part] : [part])));
  }
}

/** What stays on one line. */
const unparted = (...parts) => {
  const whole = Object.assign(document.createElement("span"), { className: "unparted" });
  whole.append(...parts);
  return whole;
};

// The bracket before a formula and the comma after it stay with it, a number with its unit; "T = 5", "1 − β" and "(B, T, D)" are one word.
for (const formula of document.querySelectorAll(".bd-article span.math:not(.MathJax *)")) {
  const { previousSibling: before, nextSibling: after } = formula;
  const opened = /[(“‘]*$/.exec(before instanceof Text ? before.data : "")[0];
  const closed = /^[.,;:?!)”’…]*/.exec(after instanceof Text ? after.data : "")[0];
  if (!opened && !closed) continue;
  const whole = unparted();
  formula.replaceWith(whole);
  whole.append(opened, formula, closed);
  if (opened) before.data = before.data.slice(0, -opened.length);
  if (closed) after.data = after.data.slice(closed.length);
}
const UNIT = /(?<=\d|\d bonus) (?=%|(?:bonus )?points?\b|minutes?\b)/g;
const SHAPE = /\((?:[A-Z…]|\d)\S{0,3}(?:, \w[^\s()]{0,3}){1,4}\)/g;
const APOSTROPHE = /(?<=\p{L})'(?=\p{L})/gu;
const SUM = /(?<=(?:^|[\s(])[^\s(]{1,3}) ([=−+×<>≤≥]) (?=\d|[^\s(]{1,3}(?:[\s).,;:?]|$))/g;
for (const place of document.querySelectorAll(".bd-article :is(p, li, td, em, figcaption, summary):not(.lmf *)")) {
  for (const part of place.childNodes) {
    if (!(part instanceof Text)) continue;
    part.data = part.data.replace(UNIT, "\u00a0").replace(SUM, "\u00a0$1\u00a0")
      .replace(SHAPE, (shape) => shape.replaceAll(" ", "\u00a0")).replace(APOSTROPHE, "’");
  }
}

// "14 · The Transformer block", "3. Weights": the number stays with the first word.
for (const title of document.querySelectorAll(".bd-article :is(a, a > span), .page-toc a, .prev-next-title")) {
  const whole = (number) => number.replaceAll(" ", "\u00a0");
  for (const part of title.childNodes) if (part instanceof Text) part.data = part.data.replace(/^(\w{2,3} ·|\d+\.) /, whole);
}

// Each of several messages in a cell is a block of its own.
for (const cell of document.querySelectorAll(".bd-article td:first-child:has(br)")) {
  const whole = cell.querySelector("br").parentElement;
  let block = null;
  for (const part of [...whole.childNodes]) {
    if (part.nodeName === "BR") { part.remove(); block = null; continue; }
    block ??= whole.appendChild(Object.assign(document.createElement("span"), { className: "message" }));
    block.append(part);
  }
}

// In a table a cell of several words keeps some width on a narrow screen, and a short one is not parted.
const LONG = { TD: 24, TH: 12 }; // letters: more than a number with its range has, more than a heading's longest word
const NAME = 14; // letters at most: a longer one would leave the other columns no room
const SHORT = 12; // the same, where the row does not begin
for (const cell of document.querySelectorAll(".bd-article :is(th, td:not(.text-right))")) {
  const { length } = cell.textContent, isFirst = cell.matches(":first-child");
  cell.classList.toggle("is-long", length > LONG[cell.tagName] && !isFirst);
  cell.classList.toggle("is-name", length <= NAME && isFirst);
  cell.classList.toggle("is-short", length <= SHORT && !isFirst);
}

/** The part of an element's text between two offsets. */
const rangeOf = (element, start, end) => {
  const range = new Range(), walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  for (let passed = 0; walker.nextNode(); passed += walker.currentNode.length) {
    const isIn = (offset) => offset >= passed && offset <= passed + walker.currentNode.length;
    if (isIn(start)) range.setStart(walker.currentNode, start - passed);
    if (isIn(end)) { range.setEnd(walker.currentNode, end - passed); break; }
  }
  return range;
};

// What was printed without columns goes on in the next line rather than out of sight.
for (const printed of document.querySelectorAll(".cell_output pre")) {
  const aligned = printed.textContent.split("\n").filter((line) => /\S {2,}\S/.test(line));
  printed.classList.toggle("is-prose", aligned.length < 2);
}

// What goes on in the next line of code stands deeper than its statement, which parts where a programmer would part it.
const PRINTED = ".cell_output, .highlight-text, .highlight-none"; // it keeps its columns and scrolls
const WORTH = 8; // letters: less than this in brackets gets no line of its own
for (const code of document.querySelectorAll(".bd-article div.highlight > pre")) {
  if (code.closest(PRINTED)) continue;
  for (const token of code.querySelectorAll(".o, .p")) {
    if (token.textContent === ".") token.before(document.createElement("wbr"));
    else if (/[([{]$/.test(token.textContent)) {
      let inside = "";
      for (let next = token.nextSibling; next && inside.length < WORTH; next = next.nextSibling) inside += next.textContent;
      if (inside.slice(0, WORTH).search(/[)\]}\n]/) < 0) token.after(document.createElement("wbr"));
    }
  }
  for (const comment of code.querySelectorAll(".c1")) { // its sign stays with its first word
    const [first] = comment.textContent.match(/^# \S{1,20}(?!\S)/) ?? [];
    if (first) comment.replaceChildren(unparted(first), comment.textContent.slice(first.length));
  }
  const options = code.closest(".highlight-sh") ? code.textContent.matchAll(/(?<!\S)(?=\S*-)\S{1,28}(?!\S)/g) : [];
  for (const { 0: option, index } of options) { // a browser would part it after its dashes
    const range = rangeOf(code, index, index + option.length);
    range.insertNode(unparted(range.extractContents()));
  }
  let start = 0;
  for (const line of code.textContent.split(/(?<=\n)/)) {
    const range = rangeOf(code, start, start + line.length);
    const whole = Object.assign(document.createElement("span"), { className: "line-of-code" });
    whole.style.setProperty("--depth", Math.max(0, line.search(/\S/)));
    whole.append(range.extractContents());
    range.insertNode(whole);
    start += line.length;
  }
}

// A long cell shows its first lines; a button unfolds it.
const LINES = 20; // a cell that is hardly longer is shown whole
const SHOWN = 14;
for (const cell of document.querySelectorAll(".cell_input")) {
  const lines = cell.querySelector("pre")?.textContent.trimEnd().split("\n").length ?? 0;
  if (lines <= LINES || cell.closest("details")) continue;
  const button = document.createElement("button");
  const label = (isFolded) => (isFolded ? phrase("Show all {lines} lines", { lines })
    : phrase("Show the first {lines} lines", { lines: SHOWN }));
  const fold = (isFolded) => {
    cell.classList.toggle("is-folded", isFolded);
    button.setAttribute("aria-expanded", String(!isFolded));
    button.textContent = label(isFolded);
  };
  button.className = "unfold";
  button.type = "button";
  button.addEventListener("click", () => fold(!cell.classList.contains("is-folded")));
  fold(true);
  cell.append(button);
}

// Once a prediction is made, what it asked about unfolds below it, up to the next one.
document.addEventListener("answered", ({ target }) => {
  let cell = target.closest(".cell")?.nextElementSibling;
  for (; cell?.matches(".cell:not(:has(.prediction))"); cell = cell.nextElementSibling)
    cell.querySelectorAll(":scope > details:is(.below-input, :only-child)").forEach((fold) => { fold.open = true; });
});

// Which lectures were read is kept in this browser and told to nobody.
const READ = "lectures read";
const isRead = () => {
  try { return new Set(JSON.parse(localStorage.getItem(READ) ?? "[]")); } catch { return new Set(); }
};
const lecture = /\/lectures\/(\w+)\.html$/.exec(location.pathname)?.[1];
if (lecture) {
  const box = Object.assign(document.createElement("input"), { type: "checkbox", checked: isRead().has(lecture) });
  box.addEventListener("change", () => {
    const read = isRead();
    if (box.checked) read.add(lecture);
    else read.delete(lecture);
    try { localStorage.setItem(READ, JSON.stringify([...read])); } catch { /* a browser that keeps nothing */ }
  });
  const label = Object.assign(document.createElement("label"), { className: "reading" });
  label.append(box, phrase("I have read this lecture (kept in this browser only)"));
  document.querySelector("article")?.append(label);
}
for (const card of document.querySelectorAll("[data-lecture]")) {
  card.classList.toggle("is-read", isRead().has(card.dataset.lecture));
}
// A figure's menus and hints are on paper what they are on the page when they are open, and paper is white.
addEventListener("beforeprint", () => {
  document.querySelectorAll(".bd-article details").forEach((fold) => { fold.open = true; });
  const root = document.documentElement, { theme } = root.dataset;
  root.dataset.theme = "light";
  addEventListener("afterprint", () => { root.dataset.theme = theme; }, { once: true });
});

// What unfolds a part of the navigation has a name for who cannot see its arrow.
for (const summary of document.querySelectorAll(".bd-links summary")) {
  summary.setAttribute("aria-label", phrase("Pages of {name}", { name: summary.closest("li").querySelector("a").textContent.trim() }));
}

// Drawings beside their sources: the line of code of the box that is asked is marked in its file.
for (const pair of document.querySelectorAll(".beside")) {
  const source = pair.querySelector(".source"), files = [...source.querySelectorAll(".file")];
  pair.addEventListener("asked", ({ detail }) => {
    const code = files.find((file) => file.textContent === detail.file)?.nextElementSibling.querySelector("pre");
    const start = code?.textContent.indexOf(detail.code) ?? -1;
    globalThis.CSS.highlights?.clear();
    if (start < 0) return;
    const line = rangeOf(code, start, start + detail.code.length);
    globalThis.CSS.highlights?.set("asked", new Highlight(line));
    const at = line.getBoundingClientRect(), room = source.getBoundingClientRect();
    source.scrollBy({ top: at.top - room.top - room.height / 3 });
  });
}
