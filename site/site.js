// A formula that is wider than its column scrolls; then the keyboard can reach it and scroll it too.
const formulas = new ResizeObserver((seen) => seen.forEach(({ target }) => {
  if (target.scrollWidth > target.clientWidth) target.tabIndex = 0;
  else target.removeAttribute("tabindex");
}));
document.querySelectorAll("div.math").forEach((formula) => formulas.observe(formula));
