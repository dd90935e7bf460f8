"""Every page of the site, light and dark, network cut: nothing is fetched or fails, and axe is content."""

import pytest

# A colour of code belongs to its class: thousands of words of each class would be asked the same thing.
LEAVE_ONE_OF_EACH_COLOUR = """() => {
  const seen = new Set();
  for (const token of document.querySelectorAll('.highlight span')) {
    if (seen.has(token.className)) token.replaceWith(...token.childNodes);
    seen.add(token.className);
  }
}"""
COLOURS = ["color-contrast", "link-in-text-block"]  # what a dark page can do worse than a light one
FORMULAS_AS_HEADINGS = [["th:has(.MathJax)"]]  # axe does not read MathML, in which they are spoken
IS_SET = "new Promise(done => window.MathJax?.Hub ? MathJax.Hub.Queue(done) : done())"
UNFOLD = "document.querySelectorAll('details').forEach(folded => { folded.open = true; })"
WIDTHS = "[document.scrollingElement.scrollWidth, document.scrollingElement.clientWidth]"
SMALL = {"width": 400, "height": 800}


@pytest.fixture(scope="session")
def names(site):
    pages = (path.relative_to(site).as_posix() for path in site.rglob("*.html"))
    return [*sorted(name for name in pages if not name.startswith("_static/")), "search.html?q=attention"]


def test_no_page_asks_others_for_anything_or_reports_an_error(page, address, names):
    reported = {}
    for name in names:
        page.asked.clear()
        page.faults.clear()
        page.goto(f"{address}/{name}", wait_until="load")
        page.evaluate(IS_SET)
        if page.asked or page.faults:
            reported[name] = [*page.asked, *page.faults]
    assert reported == {}


def test_axe_finds_nothing_to_mend_on_any_page(page, address, names):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    is_dark = page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    options = {"resultTypes": ["violations"]} | ({"runOnly": COLOURS} if is_dark else {})
    found = {}
    for name in names:
        page.goto(f"{address}/{name}", wait_until="load")
        page.evaluate(IS_SET)
        page.evaluate(LEAVE_ONE_OF_EACH_COLOUR)
        answer = axe.run(page, context={"exclude": FORMULAS_AS_HEADINGS}, options=options).response
        for each in answer["violations"]:
            nodes = [node["html"][:120] for node in each["nodes"][:2]]
            found.setdefault(f"{each['id']}: {nodes}", []).append(name)
    assert found == {}


@pytest.mark.parametrize("page", ["light"], indirect=True)
def test_no_page_is_wider_than_a_small_screen_whatever_is_unfolded(page, address, names):
    page.set_viewport_size(SMALL)
    wide = {}
    for name in names:
        page.goto(f"{address}/{name}", wait_until="load")
        page.evaluate(IS_SET)
        page.evaluate(UNFOLD)
        needed, there = page.evaluate(WIDTHS)
        if needed > there:
            wide[name] = needed
    assert wide == {}
