"""The models of the site's own pages are alive in a browser, and say there what torch says."""

import pytest

from course.data.story_language import StoryLanguage
from course.figures.every_rung import next_word
from course.figures.parcels import rounded
from course.ladder import RUNGS, recorded_models
from course.ladder.weights import BLIND, kept

READY = "[data-ready]"
NUMBERS = """figure => [...figure.querySelectorAll('.numbers tr')]
  .map(row => [...row.cells].map(cell => cell.textContent))"""
CHANGED = "([el, was]) => el.innerText !== was && /above/.test(el.innerText)"


@pytest.fixture
def first_page(page, address):
    page.goto(f"{address}/index.html", wait_until="load")
    page.wait_for_selector(READY, state="attached", timeout=60_000)
    return page


def test_the_first_page_says_what_torch_says(first_page):
    header, *rows = first_page.locator(".lmf").first.evaluate(NUMBERS)
    language, models = StoryLanguage(), recorded_models()
    for model in models.values():
        if hasattr(model, "config"):
            model.load_state_dict(rounded(model.state_dict()))
    words = first_page.locator(".lmf .story").inner_text().removesuffix("…").split()
    tokens = [language.vocabulary.bos, *language.vocabulary.encode(words)]
    probs = next_word(models, language, tokens)
    assert [row[0] for row in rows] == list(probs)
    for row, expected in zip(rows, probs.values(), strict=True):
        for word, shown in zip(header[1:7], row[1:7], strict=True):
            assert float(shown) == pytest.approx(float(expected[language.vocabulary.token(word)]), abs=2e-4)


def test_a_word_can_be_typed_clicked_and_taken_back(first_page):
    figure, story = first_page.locator(".lmf").first, first_page.locator(".lmf .story")
    before = story.inner_text()
    field = figure.locator("input[type=text]")
    field.fill("lamps")
    field.press("Enter")
    assert story.inner_text() == before.replace("…", "lamps …")
    figure.get_by_role("button", name="Take back").press("Enter")
    assert story.inner_text() == before
    figure.get_by_role("button", name="candles").click()
    assert "cannot come here" in figure.inner_text()


def test_every_rung_writes_on(first_page):
    figure = first_page.locator(".lmf").first
    figure.locator("select").first.select_option(label="An empty page")
    figure.get_by_role("button", name="Let every model continue").click()
    text = figure.inner_text()
    for name in kept():
        if name not in BLIND:
            assert f"{RUNGS[name].title}: " in text
    assert "each of them possible" in text


def test_a_head_that_is_cut_by_mouse_or_keyboard_costs_bits_and_is_mended(page, address):
    page.goto(f"{address}/break_it.html", wait_until="load")
    page.wait_for_selector(READY, state="attached", timeout=60_000)
    figure = page.locator(".lmf").first
    says = figure.locator("[aria-live]")
    whole = says.inner_text()
    head = figure.get_by_role("button", name="layer 1 head 1: remove it")
    head.press("Enter")
    page.wait_for_function(
        "([el, was]) => el.innerText !== was && /above/.test(el.innerText)",
        arg=[says.element_handle(), whole],
    )
    assert head.get_attribute("aria-pressed") == "true"
    figure.get_by_role("button", name="Restore everything").click()
    page.wait_for_function("([el, was]) => el.innerText === was", arg=[says.element_handle(), whole])
