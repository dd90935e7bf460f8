"""On a phone a figure's halves stand one below the other, and a hand still hits what it touches."""

import pytest
import torch

from course import figures

PHONES = (375, 400)
# By lecture: the figures, by the beginnings of their labels, that have to be seen without scrolling sideways.
FITTING = {
    "00_welcome": ("Your answers",),
    "01_chain_rule": ("The factors",),
    "02_ngrams": ("Counts of symbol pairs",),
    "03_perplexity": ("Bits per letter", "True and guessed"),
    "04_tokenisation": ("A text cut",),
    "05_feedforward": ("Three optimizers", "A training run", "Words as points"),
    "06_backprop": ("A computation graph",),
    "10_sequence_to_sequence": ("fraction of", "BLEU"),
    "11_attention": ("BLEU", "Target words"),
    "12_self_attention": ("Steps of self-attention",),
    "14_transformer_block": ("Shapes, operations",),
    "15_gpt": ("Keys and values",),
    "16_generation": ("Logits",),
    "17_bert": ("A sentence",),
    "18_encoder_decoder": ("Three masks", "BLEU", "Target words"),
}
OFF_SCREEN = "box => box.scrollWidth - box.clientWidth"
LOWEST = """picture => Math.min(...[...picture.querySelectorAll('text')].map((text) =>
  parseFloat(getComputedStyle(text).fontSize) * Math.hypot(text.getScreenCTM().a, text.getScreenCTM().b)))"""


@pytest.mark.parametrize("name", FITTING)
@pytest.mark.parametrize("page", ["light"], indirect=True)
def test_on_a_phone_a_figure_fits_its_card_and_its_words_can_be_read(page, address, name):
    page.goto(f"{address}/lectures/{name}.html", wait_until="load")
    for width in PHONES:
        page.set_viewport_size({"width": width, "height": 900})
        for label in FITTING[name]:
            picture = page.locator(f".lmf .picture:has(svg[aria-label^='{label}'])").first
            page.wait_for_timeout(100)
            assert picture.evaluate(OFF_SCREEN) <= 1, (label, width)
            assert picture.evaluate(LOWEST) >= 9, (label, width)


def coding():
    return figures.coding({"the": 0.5, "a": 0.25, "my": 0.125, "no": 0.125})


def count_matrix():
    counts = torch.arange(27 * 27).reshape(27, 27) % 11
    return figures.count_matrix(counts, [*"·abcdefghijklmnopqrstuvwxyz"], counts)


def embedding():
    vectors = torch.randn(30, 8, generator=torch.Generator().manual_seed(0))
    return figures.embedding(vectors, [f"w{i}" for i in range(30)])


@pytest.fixture
def shown(page):
    def show(figure, width):
        page.set_viewport_size({"width": width, "height": 1200})
        page.set_content(f"<!doctype html><body>{figure.html()}")
        page.wait_for_selector(".live[data-alive] .lmf svg")
        return page.locator(".lmf")

    return show


def drag(page, start, end, height=0.5):
    """Press at the middle of one element and let go at another, at this share of its height."""
    first, last = [each.bounding_box() for each in (start, end)]
    page.mouse.move(first["x"] + first["width"] / 2, first["y"] + first["height"] / 2)
    page.mouse.down()
    page.mouse.move(last["x"] + last["width"] / 2, last["y"] + height * last["height"])
    page.mouse.up()


@pytest.mark.parametrize("width", [400, 1000])
@pytest.mark.parametrize("page", ["light"], indirect=True)
def test_a_guess_is_raised_where_its_bar_stands_and_not_by_what_it_costs(shown, page, width):
    figure = shown(coding(), width)
    bars = figure.locator("svg g").first.locator("rect")  # true and guessed in turn
    drag(page, bars.nth(3), bars.nth(0), height=0.1)  # where the highest bar reaches 0.45
    assert float(figure.get_by_label("q(a)").input_value()) == pytest.approx(0.45, abs=0.01)
    values = "figure => [...figure.querySelectorAll('input')].map(({ value }) => value)"
    before = figure.evaluate(values)
    drag(page, figure.locator("svg text", has_text="cross-entropy"), bars.nth(0))
    assert figure.evaluate(values) == before


@pytest.mark.parametrize("width", [400, 1000])
@pytest.mark.parametrize("page", ["light"], indirect=True)
def test_the_table_chooses_a_row_and_the_dart_is_thrown_where_it_flies(shown, page, width):
    figure = shown(count_matrix(), width)
    table, row = figure.locator("svg g").all()
    dart = figure.get_by_label("dart, from 0 to 1")
    table.locator("rect").nth(3 * 27 + 20).click()
    assert figure.get_by_label("After").input_value() == "3"
    assert dart.input_value() == "0.5"
    drag(page, row.locator("path").last, row.locator("text", has_text="1").last)
    assert float(dart.input_value()) > 0.9


@pytest.mark.parametrize("width", [400, 1000])
@pytest.mark.parametrize("page", ["light"], indirect=True)
def test_a_press_chooses_the_word_below_it(shown, width):
    figure = shown(embedding(), width)
    for word in ("w7", "w12"):
        figure.locator(f"circle[data-key='word {word[1:]}']").click(force=True)
        assert figure.locator("select option:checked").inner_text() == word


@pytest.mark.parametrize("page", ["light"], indirect=True)
def test_a_turned_phone_lays_a_figure_out_anew_and_keeps_what_was_set(shown, page):
    figure = shown(coding(), 400)
    figure.get_by_label("q(the)").fill("0.7")
    bars, costs = [part.bounding_box for part in figure.locator("svg g").all()]
    assert costs()["y"] > bars()["y"] + bars()["height"]
    page.set_viewport_size({"width": 900, "height": 400})
    page.wait_for_function("document.querySelector('.picture svg').viewBox.baseVal.width > 600")
    assert costs()["x"] > bars()["x"] + bars()["width"]
    assert figure.get_by_label("q(the)").input_value() == "0.7"
    page.set_viewport_size({"width": 400, "height": 900})
    page.wait_for_function("document.querySelector('.picture svg').viewBox.baseVal.width < 400")
