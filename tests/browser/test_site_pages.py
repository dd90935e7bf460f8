"""Every page of the site, light and dark, network cut: nothing is fetched or fails, and axe is content."""

import pytest

from autograder.website.whole_site import pages

# A colour of code belongs to its class: thousands of words of each class would be asked the same thing.
LEAVE_ONE_OF_EACH_COLOUR = """() => {
  const seen = new Set();
  for (const token of document.querySelectorAll('.highlight span')) {
    if (seen.has(token.className)) token.replaceWith(...token.childNodes);
    seen.add(token.className);
  }
}"""
VIOLATIONS = {"resultTypes": ["violations"]}
FORMULAS_AS_HEADINGS = [["th:has(.MathJax)"]]  # axe does not read MathML, in which they are spoken
IS_SET = "new Promise(done => window.MathJax?.Hub ? MathJax.Hub.Queue(done) : done())"
UNFOLD = """document.querySelectorAll('details').forEach(folded => { folded.open = true; });
  document.querySelectorAll('button.unfold[aria-expanded=false]').forEach(button => button.click());"""
WIDTHS = "[document.scrollingElement.scrollWidth, document.scrollingElement.clientWidth]"
FOLLOWED_MS = 500  # the theme asks 300 after a resize what scrolls, and its colours glide
WIDE = (400, 1280, 1920)
THEMES = ("light", "dark")
AS_AXE_SEES = ((400, "dark"), (1280, "light"))  # colours belong to a theme, what fits to a width
# Lines of code or of what a cell printed that scroll sideways.
CUT_OFF = """(parts) => [...document.querySelectorAll(parts)]
  .filter(code => [code, code.closest('.output') ?? code].some(each =>
    each.scrollWidth > each.clientWidth + 1))
  .map(code => code.textContent.split('\\n').sort((a, b) => b.length - a.length)[0].slice(0, 140))"""
# Not a drawing of lines, nor columns that a command printed.
CODE = ":is(.cell_input, .highlight) pre:not(.cell_output pre, :is(.highlight-text, .highlight-none) pre)"
PRINTED = ".cell_output .highlight pre, .cell_output pre.literal-block"
# Rows in which a meaning of three lines has less than a third of the table, or a formula has several lines.
NARROW_MEANINGS = """() => [...document.querySelectorAll('table')].flatMap(table => {
  const column = [...table.rows[0].cells].findIndex(cell => cell.innerText.trim() === 'meaning');
  return column < 0 ? [] : [...table.rows].slice(1).filter((row) => {
    const meaning = row.cells[column];
    const lines = meaning.clientHeight / parseFloat(getComputedStyle(meaning).lineHeight);
    const isTall = [...row.querySelectorAll('.MathJax')].some(formula => formula.offsetHeight > 45);
    return isTall || (lines > 2.9 && meaning.clientWidth < table.clientWidth / 3);
  }).map(row => row.innerText.slice(0, 60));
})"""


@pytest.fixture(scope="session")
def names(site):
    return [*pages(site), "search.html?q=attention"]


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


@pytest.mark.parametrize("page", ["light"], indirect=True)
def test_a_formula_wider_than_a_phone_scrolls_to_its_end(page, address):
    page.set_viewport_size({"width": 400, "height": 900})
    page.goto(f"{address}/lectures/06_backprop.html", wait_until="load")
    page.evaluate(IS_SET)
    width = "box => box.scrollWidth"
    formula = max(page.locator(".bd-article div.math").all(), key=lambda each: each.evaluate(width))
    cut_off = """box => Math.max(...[...box.querySelectorAll('.mrow')].map(
      row => row.getBoundingClientRect().right)) - box.getBoundingClientRect().right"""
    assert formula.evaluate(cut_off) > 10
    formula.evaluate("box => { box.scrollLeft = 1000; }")
    assert formula.evaluate(cut_off) < 1


@pytest.mark.parametrize("page", ["light"], indirect=True)
def test_no_comma_or_bracket_is_parted_from_the_formula_beside_it(page, address):
    page.goto(f"{address}/lectures/07_rnn.html", wait_until="load")
    lonely = """() => [...document.querySelectorAll('.bd-article span.math:not(.MathJax *)')].filter(
      formula => /[(]$/.test(formula.previousSibling?.data ?? '') && !formula.closest('.unparted')).length"""
    assert page.evaluate(lonely) == 0
    assert page.locator(".bd-article .unparted").count() > 20


@pytest.mark.parametrize("page", ["light"], indirect=True)
def test_on_a_phone_a_homework_parts_no_number_from_its_unit_and_its_table_of_parts_fits(page, address):
    page.set_viewport_size({"width": 400, "height": 900})
    page.goto(f"{address}/homeworks/hw2_backprop/hw2_backprop.html", wait_until="load")
    parted = """() => [...document.querySelectorAll('.bd-article :is(em, summary, td)')].filter(
      each => /\\d (bonus )?(points?|minutes?)/.test(each.textContent.replaceAll('\u00a0', '_'))).length"""
    assert page.evaluate(parted) == 0
    lonely = """() => [...document.querySelectorAll('.bd-article .c1:not(:has(.unparted))')].filter(
      comment => /^# \\S{1,20}( |$)/.test(comment.textContent)).length"""
    assert page.evaluate(lonely) == 0
    assert page.locator(".bd-article .c1 .unparted").count() > 20
    shapes = """() => [...document.querySelectorAll('.bd-article :is(p, li, td)')].flatMap(
      each => [...each.childNodes]).filter(part => part instanceof Text && /\\(([A-Z…]), [A-Z]/.test(
        part.data.replaceAll('\u00a0', '_'))).map(part => part.data)"""
    assert page.evaluate(shapes) == []
    for homework in ("hw3_recurrent", "hw6_gpt"):  # those with the longest words and numbers
        page.goto(f"{address}/homeworks/{homework}/{homework}.html", wait_until="load")
        beyond = "box => box.scrollWidth - box.clientWidth"
        assert page.locator(".bd-article .pst-scrollable-table-container").first.evaluate(beyond) <= 1


@pytest.mark.parametrize("page", ["light"], indirect=True)
def test_a_special_token_is_not_parted(page, address):
    page.goto(f"{address}/homeworks/hw0_exploring/hw0_exploring.html", wait_until="load")
    said = page.locator(".bd-article code.literal .pre:has(wbr)", has_text="<|im_start|>").all()
    parts = [part for each in said for part in each.inner_html().split("<wbr>")]
    assert len(parts) > len(said) > 0
    assert all(part.count("&lt;|") == part.count("|&gt;") for part in parts)


@pytest.mark.parametrize("width", [400, 1280])
@pytest.mark.parametrize("page", ["light"], indirect=True)
def test_what_a_drawing_says_stays_right_below_the_bar(page, address, width):
    page.set_viewport_size({"width": width, "height": 500})
    page.goto(f"{address}/models/gpt.html", wait_until="load")
    guide = page.locator(".lmf .guide").first
    guide.evaluate("each => scrollBy(0, each.getBoundingClientRect().top + 200)")
    page.wait_for_timeout(FOLLOWED_MS)
    bar = page.locator(".bd-header-article").bounding_box()
    assert abs(guide.bounding_box()["y"] - bar["y"] - bar["height"]) <= 1


@pytest.mark.parametrize("page", ["light"], indirect=True)
def test_axe_finds_nothing_to_mend_on_any_page_whatever_is_unfolded(page, address, names):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    found = {}
    for name in names:
        page.goto(f"{address}/{name}", wait_until="load")
        page.evaluate(IS_SET)
        page.evaluate(UNFOLD)
        page.evaluate(LEAVE_ONE_OF_EACH_COLOUR)
        for width, theme in AS_AXE_SEES:
            seen(page, width, theme)
            page.wait_for_timeout(FOLLOWED_MS)
            context = {"exclude": FORMULAS_AS_HEADINGS}
            answer = axe.run(page, context=context, options=VIOLATIONS).response
            for each in answer["violations"]:
                nodes = [node["html"][:120] for node in each["nodes"][:2]]
                found.setdefault(f"{each['id']}: {nodes}", []).append((name, width, theme))
    assert found == {}


@pytest.mark.parametrize("page", ["light"], indirect=True)
def test_no_page_is_wider_than_its_window_and_no_code_is_cut_off_whatever_is_unfolded(page, address, names):
    wide, cut = {}, {}
    for name in names:
        seen(page, WIDE[0], THEMES[0])
        page.goto(f"{address}/{name}", wait_until="load")
        page.evaluate(IS_SET)
        page.evaluate(UNFOLD)
        for width in WIDE:
            for theme in THEMES:
                seen(page, width, theme)
                needed, there = page.evaluate(WIDTHS)
                if needed > there:
                    wide[name, width, theme] = needed
                if lines := page.evaluate(CUT_OFF, CODE):
                    cut[name, width, theme] = lines
    assert wide == {}
    assert cut == {}


@pytest.mark.parametrize("page", ["light"], indirect=True)
def test_no_printed_line_scrolls_sideways_on_a_wide_window(page, address, names):
    page.set_viewport_size({"width": 1280, "height": 800})
    cut = {}
    for name in [name for name in names if "lectures/" in name]:
        page.goto(f"{address}/{name}", wait_until="load")
        page.evaluate(UNFOLD)
        if lines := page.evaluate(CUT_OFF, PRINTED):
            cut[name] = lines
    assert cut == {}


def seen(page, width, theme):
    """Show the page at a width in a theme, without loading it anew."""
    page.set_viewport_size({"width": width, "height": 800})
    page.emulate_media(color_scheme=theme)
    page.wait_for_function(
        "theme => [theme, undefined].includes(document.documentElement.dataset.theme)", arg=theme
    )


@pytest.mark.parametrize("page", ["light"], indirect=True)
def test_a_long_cell_shows_its_first_lines_and_unfolds(page, address):
    page.goto(f"{address}/lectures/14_transformer_block.html", wait_until="load")
    folded = page.locator(".cell_input.is-folded").first
    code = folded.locator("pre")
    shown, whole = folded.bounding_box()["height"], code.evaluate("code => code.scrollHeight")
    assert shown < whole
    folded.get_by_role("button", name="Show all").press("Enter")
    assert page.locator(".cell_input:has([aria-expanded=true])").bounding_box()["height"] >= whole


@pytest.mark.parametrize("page", ["light"], indirect=True)
def test_a_table_of_symbols_gives_the_meaning_most_room_and_breaks_no_formula(page, address, names):
    page.set_viewport_size({"width": 1280, "height": 800})
    narrow = {}
    for name in [name for name in names if name.startswith("lectures/")]:
        page.goto(f"{address}/{name}", wait_until="load")
        page.evaluate(IS_SET)
        if found := page.evaluate(NARROW_MEANINGS):
            narrow[name] = found
    assert narrow == {}


@pytest.mark.parametrize("page", ["light"], indirect=True)
def test_the_contents_stand_beside_the_text_where_there_is_room(page, address):
    page.goto(f"{address}/lectures/11_attention.html", wait_until="load")
    contents = page.locator("#pst-secondary-sidebar")
    for width in WIDE[1:]:
        page.set_viewport_size({"width": width, "height": 800})
        text = page.locator("article").bounding_box()
        assert contents.bounding_box()["x"] >= text["x"] + text["width"]
    page.set_viewport_size({"width": WIDE[0], "height": 800})
    contents.wait_for(state="hidden")


@pytest.mark.parametrize("page", ["light"], indirect=True)
def test_no_tex_is_seen_before_it_is_set_except_where_mathjax_does_not_come(page, address):
    page.route("**/MathJax.js*", lambda route: route.abort())
    page.goto(f"{address}/lectures/03_perplexity.html", wait_until="load")
    formula = page.locator("span.math").first
    assert not formula.is_visible()
    page.evaluate("document.getAnimations().forEach(hidden => hidden.finish())")
    assert formula.is_visible()
    page.unroute("**/MathJax.js*")
    page.reload(wait_until="load")
    page.evaluate(IS_SET)
    assert formula.locator(".MathJax .math").is_visible()


PICTURES = """[...document.querySelectorAll('figure > .scrolled > img')].map(picture => {
  const box = picture.parentElement, caption = box.nextElementSibling.getBoundingClientRect();
  return {shown: picture.clientWidth, whole: Number(picture.getAttribute('width')),
    dots: picture.naturalWidth, scrolls: box.scrollWidth > box.clientWidth,
    isReached: box.tabIndex === 0, captionEnds: caption.right};
})"""
LEFT_EDGES = """(parts) => [...new Set([...document.querySelectorAll(parts)]
  .filter(part => part.checkVisibility()).map(part => Math.round(part.getBoundingClientRect().x)))]"""


@pytest.mark.parametrize("page", ["light"], indirect=True)
def test_on_a_phone_a_picture_hardly_shrinks_and_scrolls_without_its_caption(page, address):
    page.set_viewport_size({"width": WIDE[0], "height": 800})
    page.goto(f"{address}/lectures/16_generation.html", wait_until="load")
    page.evaluate(UNFOLD)
    page.wait_for_timeout(FOLLOWED_MS)
    pictures = page.evaluate(PICTURES)
    assert any(picture["scrolls"] for picture in pictures)
    for picture in pictures:
        assert abs(picture["dots"] - 2 * picture["whole"]) <= 1  # two for each pixel
        assert picture["shown"] >= 0.8 * picture["whole"] - 1
        assert picture["isReached"] == picture["scrolls"]
        assert picture["captionEnds"] <= WIDE[0]


def test_figures_and_pictures_begin_where_code_does(page, address):
    for width in WIDE[:2]:
        page.set_viewport_size({"width": width, "height": 800})
        page.goto(f"{address}/lectures/11_attention.html", wait_until="load")
        page.wait_for_selector(".cell_output .lmf")
        edges = page.evaluate(LEFT_EDGES, ".cell_input, .cell_output :is(.lmf, .scrolled)")
        assert len(edges) == 1


@pytest.mark.parametrize("page", ["light"], indirect=True)
def test_the_heading_of_the_search_page_stands_where_others_do(page, address):
    for width in WIDE:
        page.set_viewport_size({"width": width, "height": 800})
        places = []
        for name, heading in (("search.html", ".bd-search-container h1"), ("glossary.html", "article h1")):
            page.goto(f"{address}/{name}", wait_until="load")
            place = page.locator(heading).bounding_box()
            places.append([round(place[side]) for side in ("x", "y", "height")])
        assert places[0] == places[1]


@pytest.mark.parametrize("page", ["light"], indirect=True)
def test_on_a_phone_each_message_is_a_block_and_its_meaning_is_on_the_screen(page, address):
    page.set_viewport_size({"width": WIDE[0], "height": 800})
    page.goto(f"{address}/messages.html", wait_until="load")
    assert page.locator("td .message").count() > 20
    assert page.locator("td:first-child br").count() == 0
    ends = """[...document.querySelectorAll('article tr > :nth-child(2)')].map(
      cell => cell.getBoundingClientRect().right)"""
    assert max(page.evaluate(ends)) <= WIDE[0]


@pytest.mark.parametrize("page", ["light"], indirect=True)
def test_an_answered_prediction_unfolds_what_it_asked_about_and_no_more(page, address):
    page.goto(f"{address}/lectures/01_chain_rule.html", wait_until="load")
    card = page.locator(".cell:has(.prediction)").first
    answers = page.locator(".cell > details.hide:has(.cell_output)")
    assert answers.count() > 3
    assert answers.evaluate_all("folds => folds.filter(fold => fold.open).length") == 0
    card.locator("button").first.click()
    opened = answers.evaluate_all("folds => folds.filter(fold => fold.open).length")
    assert 0 < opened < answers.count()
    next_cell = card.locator("xpath=following-sibling::*[1]")
    assert next_cell.locator("details").first.evaluate("fold => fold.open")


@pytest.mark.parametrize("page", ["light"], indirect=True)
def test_on_a_phone_printed_sentences_stay_in_sight_and_columns_keep_their_places(page, address):
    page.set_viewport_size({"width": WIDE[0], "height": 800})
    page.goto(f"{address}/lectures/09_lstm_gru.html", wait_until="load")
    page.evaluate(UNFOLD)
    wider = "prints => prints.map(print => print.scrollWidth > print.clientWidth + 1)"
    sentences = page.locator(".cell_output pre.is-prose").evaluate_all(wider)
    columns = page.locator(".cell_output pre:not(.is-prose)").evaluate_all(wider)
    assert sentences
    assert not any(sentences)
    assert any(columns)
