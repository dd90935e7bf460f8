"""What all live figures share: a title, and controls in one grid, with sliders that are the course's own."""

import pytest
import torch

from course import figures
from course.ladder import read_recorded, summaries

WEIGHTS = torch.full((26, 26), 1 / 26)


def shown(page, figure):
    page.set_content(f"<!doctype html><body>{figure.html()}")
    page.wait_for_selector(".live[data-alive] .lmf svg")
    return page.locator(".lmf")


@pytest.fixture
def gates():
    return figures.gates([0.5, -0.2, 0.9], [0.9] * 3, [0.5] * 3, [1.0] * 3)


def test_a_figure_says_above_its_picture_what_is_to_be_seen(page, gates):
    results = read_recorded()
    for figure in (gates, figures.ladder(summaries(results), results[0].floor), figures.machine("gpt")):
        title = shown(page, figure).locator(".lmf-title")
        assert len(title.inner_text().split()) > 2
        assert title.bounding_box()["y"] < page.locator(".lmf svg").first.bounding_box()["y"]


def test_controls_stand_in_columns(page, gates):
    page.set_viewport_size({"width": 1280, "height": 900})
    figure = shown(page, gates)
    labels = figure.locator(".lmf-row").first.locator("> label, > .lmf-buttons")
    lefts = {round(labels.nth(i).bounding_box()["x"]) for i in range(labels.count())}
    assert labels.count() == 6
    assert len(lefts) == 2


@pytest.mark.parametrize("width", [1280, 400])
def test_a_menu_stands_beside_its_label(page, width):
    page.set_viewport_size({"width": width, "height": 900})
    results = read_recorded()
    figure = shown(page, figures.ladder(summaries(results), results[0].floor))
    apart = """select => {
      const words = document.createRange();
      words.selectNode(select.previousSibling);
      return select.getBoundingClientRect().left - words.getBoundingClientRect().right;
    }"""
    menus = figure.locator("label > select").all()
    assert menus
    assert all(0 < menu.evaluate(apart) < 12 for menu in menus)


def test_a_step_button_rests_at_the_end_and_leaves_the_keys_to_the_slider(page):
    figure = shown(page, figures.machine("gpt"))
    back, on = (figure.get_by_role("button", name=name) for name in ("Back", "Next"))
    dial = figure.get_by_label("build it up")
    assert on.is_disabled()
    while back.is_enabled():
        back.press("Enter")
    assert dial.input_value() == "1"
    assert on.is_enabled()
    page.keyboard.press("ArrowRight")
    assert dial.input_value() == "2"
    assert back.is_enabled()


def test_a_gate_is_pulled_and_another_row_chooses_the_step(page, gates):
    figure = shown(page, gates)
    cell = figure.locator("rect[style*='ns-resize']").nth(4)  # the forget gate at step 2
    cell.scroll_into_view_if_needed()
    box = cell.bounding_box()
    page.mouse.move(box["x"] + 20, box["y"] + 10)
    page.mouse.down()
    page.mouse.move(box["x"] + 20, box["y"] + 200)
    page.mouse.up()
    assert figure.get_by_label("step t").input_value() == "2"
    assert figure.get_by_label("forget gate").input_value() == "0"
    assert figure.get_by_label("input gate").input_value() == "0.5"


def test_26_keys_and_a_question_mark_have_room_above_their_columns(page):
    words = [f"w{i}" if i % 2 else f"remembered{i}" for i in range(25)]
    figure = shown(page, figures.attention(WEIGHTS, [f"q{i}" for i in range(26)], ["?", *words]))
    turned = figure.locator("svg text[transform*='rotate(-90)']")
    assert turned.count() >= 13
    assert figure.locator("svg text", has_text="?").get_attribute("transform") is None
