// A formula that is wider than its column scrolls; then the keyboard can reach it and scroll it too.
const formulas = new ResizeObserver((seen) => seen.forEach(({ target }) => {
  if (target.scrollWidth > target.clientWidth) target.tabIndex = 0;
  else target.removeAttribute("tabindex");
}));
document.querySelectorAll("div.math").forEach((formula) => formulas.observe(formula));

// A search result shows words of the article, not of the buttons above it.
if (typeof Search !== "undefined") {
  const read = Search.htmlToText;
  Search.htmlToText = (page, anchor) => {
    const article = new DOMParser().parseFromString(page, "text/html").querySelector("article");
    return read(`<div role="main">${article?.innerHTML ?? ""}</div>`, anchor);
  };
}
