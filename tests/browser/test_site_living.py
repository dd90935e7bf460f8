"""The models of the site's own pages are alive in a browser, and say there what torch says."""

import json
import statistics

import pytest

from course.data.story_language import StoryLanguage
from course.figures.every_rung import next_word
from course.figures.parcels import rounded
from course.ladder import RUNGS, recorded_models
from course.ladder.weights import BLIND, kept

READY = "[data-ready]"
NUMBERS = """figure => [...figure.querySelectorAll('.numbers tr')]
  .map(row => [...row.cells].map(cell => cell.textContent))"""


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


def test_a_word_with_a_capital_is_known_and_a_refused_one_goes_with_the_next_change(first_page):
    figure, story = first_page.locator(".lmf").first, first_page.locator(".lmf .story")
    field, before = figure.locator("input[type=text]"), story.inner_text()
    assert field.get_attribute("autocapitalize") == "none"
    field.fill("Lamps .")
    field.press("Enter")
    assert story.inner_text() == before.replace("…", "lamps . …")
    for change in (
        figure.get_by_role("button", name="Take back").click,
        lambda: figure.locator("select").first.select_option(label="She or he?"),
    ):
        field.fill("lampe")
        field.press("Enter")
        refusal = figure.get_by_text("no word “lampe”")
        assert 0 < refusal.bounding_box()["y"] - field.bounding_box()["y"] < 60
        change()
        assert refusal.count() == 0
        assert field.input_value() == ""


def test_what_was_written_says_how_and_fades_when_the_setting_changes(first_page):
    figure = first_page.locator(".lmf").first
    write = figure.get_by_role("button", name="Let every model continue")
    write.click()
    pages = figure.get_by_text("Temperature 1.0, from all words:").locator("..")
    assert pages.evaluate("pages => getComputedStyle(pages).opacity") == "1"
    figure.get_by_label("temperature").press("ArrowLeft")
    assert float(pages.evaluate("pages => getComputedStyle(pages).opacity")) < 0.7
    figure.get_by_label("method").select_option(label="top-k")
    write.click()
    written = figure.get_by_text("Temperature 0.9, top-k, k = 5:").locator("..")
    assert written.evaluate("pages => getComputedStyle(pages).opacity") == "1"
    figure.locator(".lmf-row button").nth(1).click()
    assert figure.get_by_text("Temperature 0.9").count() == 0


def test_no_sign_of_the_first_figure_is_struck_out_or_raw(first_page):
    figure = first_page.locator(".lmf").first
    figure.locator("select").first.select_option(label="Close the bracket")
    struck = "texts => texts.filter(text => getComputedStyle(text).textDecorationLine !== 'none').length"
    assert figure.locator(".picture text").evaluate_all(struck) == 0
    figure.get_by_label("temperature").press("Home")
    for _ in range(5):
        figure.get_by_role("button", name="Let every model continue").click()
        assert "</s>" not in figure.inner_text()
    field = figure.locator("input[type=text]")
    field.fill("(end)")
    field.press("Enter")
    assert "The story cannot end here" in figure.inner_text()


def test_every_rung_writes_on(first_page):
    figure = first_page.locator(".lmf").first
    figure.locator("select").first.select_option(label="An empty page")
    figure.get_by_role("button", name="Let every model continue").click()
    text = figure.inner_text()
    for name in kept():
        if name not in BLIND:
            assert f"{RUNGS[name].title}: " in text
    assert "each of them possible" in text


def test_a_method_is_chosen_by_key_its_knob_moved_and_every_rung_writes_by_it(first_page):
    figure = first_page.locator(".lmf").first
    figure.locator("select").first.select_option(label="Which thing?")
    method, write = (
        figure.get_by_label("method"),
        figure.get_by_role("button", name="Let every model continue"),
    )
    method.press("ArrowDown")
    assert method.evaluate("select => select.selectedOptions[0].text") == "greedy"
    texts = []
    for _ in range(2):
        write.press("Enter")
        texts.append(figure.inner_text())
    assert texts[0] == texts[1]
    for option in method.locator("option").all_inner_texts():
        method.select_option(label=option)
        for knob in figure.locator(".lmf-row span input[type=range]").all():
            knob.press("ArrowRight")
        write.click()
        assert "each of them possible" in figure.inner_text(), option
    assert first_page.faults == []


USABLE = {  # what can be pressed or typed into when a figure is of use
    "index": ".lmf .lmf-row button:nth-of-type(3)",
    "break_it": "[aria-label='layer 1 head 1: remove it']",
}
# The milliseconds from navigation until something is there.
NOTE_WHEN = """(() => {
  const look = () => {
    if (document.querySelector(SELECTOR)) window.usableAt = performance.now();
    else requestAnimationFrame(look);
  };
  look();
})()"""
LOADS, MOST = 5, 1_000  # of which the median counts; milliseconds


@pytest.mark.parametrize("name", USABLE)
@pytest.mark.parametrize("page", ["light"], indirect=True)
def test_the_first_figure_is_of_use_within_a_second(page, address, name, capsys):
    page.add_init_script(NOTE_WHEN.replace("SELECTOR", json.dumps(USABLE[name])))
    times = []
    for _ in range(LOADS):
        page.goto(f"{address}/{name}.html", wait_until="load")
        page.wait_for_function("window.usableAt", timeout=60_000)
        times.append(page.evaluate("window.usableAt"))
    with capsys.disabled():
        print(f"\n{name}: usable after {', '.join(f'{ms:.0f}' for ms in times)} ms", end="")
    assert statistics.median(times) < MOST
