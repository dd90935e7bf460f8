"""Every figure of every lecture's page lives with the network cut and obeys mouse and keyboard."""

from pathlib import Path

import entropy_figure
import pytest
import torch

ROOT = Path(__file__).parents[2]
LECTURES = sorted(path.stem for path in (ROOT / "lectures").glob("*.ipynb"))
OURS = ".lmf"

# What a figure shows at this moment: its drawing, what it says, the values of its controls.
SHOWN = """figure => [figure.querySelector('svg').outerHTML, figure.innerText,
  ...[...figure.querySelectorAll('input, select')].map(control => control.value)].join('|')"""

VALUES = "figure => [...figure.querySelectorAll('input, select')].map(control => control.value).join()"

# Lecture, figure, and where a hand presses and lets go, in shares of the picture's width and height.
HANDS = [
    ("02_ngrams", "Counts of symbol pairs", (0.97, 0.3), (0.97, 0.7)),
    ("03_perplexity", "True and guessed", (0.1, 0.6), (0.1, 0.3)),
    ("04_tokenisation", "A text cut", (0.2, 0.7), (0.4, 0.7)),
    ("05_feedforward", "A training run", (0.2, 0.3), (0.35, 0.3)),
    ("05_feedforward", "Three optimizers", (0.090, 0.308), (0.2, 0.3)),
    ("05_feedforward", "Words as points", (0.2, 0.2), (0.2, 0.2)),
    ("07_rnn", "States and predictions", (0.3, 0.1), (0.5, 0.1)),
    ("08_vanishing_gradients", "The length of the gradient", (0.5, 0.3), (0.2, 0.3)),
    ("09_lstm_gru", "Gates, cell state", (0.3, 0.28), (0.3, 0.2)),
    ("11_attention", "Target words", (0.2, 0.3), (0.1, 0.3)),
    ("12_self_attention", "Steps of self-attention", (0.86, 0.4), (0.9, 0.3)),
    ("13_heads_and_positions", "Attention weights", (0.5, 0.3), (0.5, 0.6)),
    ("13_heads_and_positions", "Outputs of attention", (0.12, 0.75), (0.08, 0.7)),
    ("14_transformer_block", "Shapes, operations", (0.2, 0.51), (0.5, 0.51)),
    ("14_transformer_block", "Shapes, operations", (0.3, 0.76), (0.6, 0.76)),
    ("15_gpt", "Keys and values", (0.3, 0.35), (0.3, 0.55)),
    ("16_generation", "Logits", (0.5, 372 / 430), (0.5, 0.75)),
    ("18_encoder_decoder", "Three masks", (0.1, 0.6), (0.5, 0.7)),
]

# The milliseconds after which the page's first figure has replaced its picture.
FIRST_ALIVE = """() => new Promise(done => {
  const look = () => document.querySelector('.live[data-alive] .lmf svg')
    ? done(performance.now()) : requestAnimationFrame(look);
  look();
})"""


# What came first on a page: a figure that lives, or a formula that is set.
ORDER = """(() => {
  window.order = [];
  const signs = { figure: '.live[data-alive] .lmf svg', formula: '.MathJax' };
  const look = () => Object.keys(signs).forEach((name) => {
    if (!window.order.includes(name) && document.querySelector(signs[name])) window.order.push(name);
  });
  new MutationObserver(look).observe(document, { subtree: true, childList: true, attributes: true });
})()"""


@pytest.fixture(params=LECTURES)
def lecture(request, address, page):
    page.goto(f"{address}/lectures/{request.param}.html", wait_until="load")
    page.wait_for_selector(f"{OURS} svg", state="attached", timeout=5_000)
    return page


def test_every_figure_is_alive_and_nothing_was_fetched(lecture):
    figures = lecture.locator('figure[id^="figure-"]:has(script), figure[id^="figure-"] .live')
    alive = lecture.locator(f".live[data-alive] {OURS} svg[aria-label]")
    assert alive.count() >= 1
    assert lecture.locator(".live:not([data-alive])").count() == 0
    assert figures.count() >= alive.count()
    assert lecture.asked == []
    assert lecture.faults == []


def test_every_slider_obeys_the_arrow_keys(lecture):
    for figure, slider in sliders(lecture):
        before = figure.evaluate(SHOWN)
        at_the_end = slider.evaluate("slider => slider.value === slider.max")
        slider.press("ArrowLeft" if at_the_end else "ArrowRight")
        assert figure.evaluate(SHOWN) != before, name(slider)


def test_every_slider_obeys_the_mouse(lecture):
    for figure, slider in sliders(lecture):
        before = figure.evaluate(SHOWN)
        is_left = slider.evaluate("slider => slider.value - slider.min < (slider.max - slider.min) / 2")
        slider.scroll_into_view_if_needed()
        box = slider.bounding_box()
        slider.click(position={"x": box["width"] * (0.9 if is_left else 0.1), "y": box["height"] / 2})
        assert figure.evaluate(SHOWN) != before, name(slider)


@pytest.mark.parametrize(("name", "label", "start", "end"), HANDS)
@pytest.mark.parametrize("page", ["light"], indirect=True)
def test_a_hand_moves_what_it_takes_in_the_picture(page, address, name, label, start, end):
    page.goto(f"{address}/lectures/{name}.html", wait_until="load")
    figure = page.locator(f"{OURS}:has(svg[aria-label^='{label}'])").first
    picture = figure.locator("svg").first
    picture.scroll_into_view_if_needed()
    for choice in figure.locator("select").all():  # the last kind of positions is one that turns
        choice.select_option(index=choice.locator("option").count() - 1)
    box, before = picture.bounding_box(), figure.evaluate(VALUES)
    first, last = [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in (start, end)]
    page.mouse.move(*first)
    page.mouse.down()
    page.mouse.move(*last)
    page.mouse.up()
    assert figure.evaluate(VALUES) != before


def test_a_figure_moved_by_mouse_and_keyboard_says_what_torch_says(page, address):
    page.goto(f"{address}/lectures/03_perplexity.html")
    before, dragged, pressed = entropy_figure.move(entropy_figure.find(page))
    assert not torch.equal(before, dragged)
    assert not torch.equal(dragged, pressed)


def test_the_first_figure_comes_to_life_by_itself(page, address, capsys):
    times = {}
    for lecture in LECTURES:
        page.goto(f"{address}/lectures/{lecture}.html", wait_until="commit")
        alive = page.evaluate(FIRST_ALIVE)
        page.wait_for_load_state("load")
        times[lecture] = alive, page.evaluate("performance.timing.loadEventStart - performance.timeOrigin")
    with capsys.disabled():
        print("\nmilliseconds from navigation to the first live figure, and to the page's load event:")
        print("\n".join(f"{alive:6.0f} {load:6.0f}  {name}" for name, (alive, load) in times.items()))
    assert len(times) == len(LECTURES)


def test_the_first_figure_lives_before_any_formula_is_set(page, address):
    page.add_init_script(ORDER)
    late = []
    for lecture in LECTURES:
        page.goto(f"{address}/lectures/{lecture}.html", wait_until="load")
        page.wait_for_function("window.order.length === 2")
        if page.evaluate("window.order[0]") != "figure":
            late.append(lecture)
    assert late == []


def sliders(page):
    """Each slider that can be moved, with its figure."""
    for figure in page.locator(OURS).all():
        for slider in figure.locator("input[type=range]").all():
            if slider.is_visible() and slider.is_enabled():
                yield figure, slider


def name(slider):
    return slider.evaluate("slider => slider.parentElement.innerText")
