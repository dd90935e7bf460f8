// A formula wider than its column scrolls; tabIndex lets the keyboard reach and scroll it too.
const formulas = new ResizeObserver((seen) => seen.forEach(({ target }) => {
  if (target.scrollWidth > target.clientWidth) target.tabIndex = 0;
  else target.removeAttribute("tabindex");
}));
document.querySelectorAll("div.math").forEach((formula) => formulas.observe(formula));

// A search result shows the words of the article, not those of the buttons above it.
if (typeof Search !== "undefined") {
  const read = Search.htmlToText;
  Search.htmlToText = (page, anchor) => {
    const article = new DOMParser().parseFromString(page, "text/html").querySelector("article");
    return read(`<div role="main">${article?.innerHTML ?? ""}</div>`, anchor);
  };
}
