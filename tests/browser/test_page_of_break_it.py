"""A Transformer is broken, mended and walked through on its page, by mouse and by keyboard."""

import re

import pytest
from overlaps import OVERLAPS

IS_MEASURED = "figure => figure.getAttribute('aria-busy') === 'false'"
WIDTH = {"light": 1280, "dark": 400}


@pytest.fixture
def figures(page, address):
    """The two figures of the page: the one to break and the one to walk through."""
    is_dark = page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    page.set_viewport_size({"width": WIDTH["dark" if is_dark else "light"], "height": 900})
    page.goto(f"{address}/break_it.html", wait_until="load")
    page.wait_for_function("document.querySelectorAll('[data-ready]').length === 2", timeout=120_000)
    return page.locator(".lmf").all()


@pytest.fixture
def broken(figures):
    return figures[0]


@pytest.fixture
def walked(figures):
    return figures[1]


def said(figure):
    return figure.locator("[aria-live]").first.inner_text()


def control(figure, label):
    """The slider, menu or box whose label begins so."""
    return figure.locator(".lmf-row label", has_text=re.compile(f"^{label}")).locator("input, select")


def cost(figure):
    """Bits per word above the floor, as the figure says."""
    return float(re.match(r"([\d.]+) bits per word", said(figure))[1])


def measured_after(figure, act):
    """The cost after an act, once it is measured."""
    act()
    figure.page.wait_for_function(IS_MEASURED, arg=figure.element_handle(), timeout=60_000)
    return cost(figure)


def test_a_head_is_cut_by_mouse_and_by_key_and_all_is_restored(broken):
    whole = cost(broken)
    head = broken.get_by_role("button", name="layer 1 head 1: remove it")
    other = broken.get_by_role("button", name="layer 2 head 1: remove it")
    one = measured_after(broken, head.locator("rect").first.click)
    assert head.get_attribute("aria-pressed") == "true"
    assert one > whole
    two = measured_after(broken, lambda: other.press("Enter"))
    assert other.get_attribute("aria-pressed") == "true"
    assert two > one
    again = measured_after(broken, lambda: other.press("Space"))
    assert again == one
    assert measured_after(broken, broken.get_by_role("button", name="Restore everything").click) == whole
    assert head.get_attribute("aria-pressed") == "false"


def test_the_mask_is_broken_and_mended_by_keys(broken):
    whole, mask = cost(broken), control(broken, "mask")
    assert measured_after(broken, lambda: mask.press("ArrowDown")) > whole
    assert mask.input_value() == "1"
    assert measured_after(broken, lambda: mask.press("ArrowUp")) == whole


def test_a_position_is_moved_by_mouse_and_by_key(broken):
    whole = cost(broken)
    slider = control(broken, "is shifted by")
    control(broken, "word").press("Home")
    control(broken, "and all words after it").check()
    box = slider.bounding_box()
    at = {"x": 0.8 * box["width"], "y": box["height"] / 2}
    moved = measured_after(broken, lambda: slider.click(position=at))
    assert int(slider.input_value()) > 5
    assert moved == pytest.approx(whole, abs=0.0011)  # all words together: only distances count
    alone = measured_after(broken, control(broken, "and all words after it").uncheck)
    assert alone > whole
    before = int(slider.input_value())
    measured_after(broken, lambda: slider.press("ArrowLeft"))
    assert int(slider.input_value()) == before - 1


def test_a_weight_is_chosen_and_edited_by_mouse_and_by_key(broken):
    def place():
        return broken.locator(".picture text", has_text=re.compile("^row .* column")).text_content()

    whole, matrix = cost(broken), broken.locator("[data-part=matrix]")
    assert place() == "row 0, column 0"
    matrix.press("ArrowRight")
    matrix.press("ArrowDown")
    assert place() == "row 1, column 1"
    box = matrix.locator("image").bounding_box()
    matrix.locator("image").click(position={"x": 0.5 * box["width"], "y": 0.5 * box["height"]})
    row, column = map(int, re.findall(r"\d+", place()))
    assert (row, column) == (pytest.approx(32, abs=1), pytest.approx(32, abs=1))
    control(broken, "matrix").select_option(label="layer 1: W output")
    plus = control(broken, "add to the chosen weight")
    by_key = measured_after(broken, lambda: plus.press("End"))
    assert by_key != whole
    assert "now: " in broken.locator(".picture").text_content()
    box = plus.bounding_box()
    at = {"x": 0.1 * box["width"], "y": box["height"] / 2}
    assert measured_after(broken, lambda: plus.click(position=at)) != by_key


def test_a_cost_below_the_floor_is_explained(broken):
    picture = broken.locator(".picture").text_content()
    assert "−0.0" in picture
    assert "below 0: luck of these 12 stories" in picture


def test_what_a_change_costs_is_seen_beside_the_maps_or_below_them(broken):
    picture = broken.locator(".picture")
    assert picture.evaluate("box => box.scrollWidth <= box.clientWidth + 1")
    title = picture.locator("text", has_text="bits above the floor").bounding_box()
    last = picture.locator("[data-part='1.3']").bounding_box()
    is_beside = title["x"] > last["x"] + last["width"]
    assert is_beside or 0 < title["y"] - last["y"] - last["height"] < 80


def test_the_mark_of_a_weight_stays_in_its_matrix(broken):
    matrix = broken.locator("[data-part=matrix]")
    for key in ("ArrowLeft", "ArrowRight"):  # to the last weight, and back to the first
        matrix.press(key)
        painted, mark = (matrix.locator(part).last.bounding_box() for part in ("image", "rect"))
        for at, size in (("x", "width"), ("y", "height")):
            assert painted[at] - 2 < mark[at]
            assert mark[at] + mark[size] < painted[at] + painted[size] + 2


def test_each_sign_of_a_step_stands_beside_the_middle_of_a_picture_and_nothing_is_off_the_screen(walked):
    middles = """parts => parts.map(part => part.getBoundingClientRect())
      .map(({ y, height }) => y + height / 2)"""
    walked.page.emulate_media(reduced_motion="reduce")  # a sign that glides is not there yet
    picture, on = walked.locator(".picture"), walked.get_by_role("button", name="Next")
    for step in range(15):
        pictures = picture.locator("image").evaluate_all(middles)
        signs = picture.locator("svg > text[text-anchor=middle]").evaluate_all(middles)
        assert all(min(abs(sign - each) for each in pictures) < 4 for sign in signs), step
        assert picture.evaluate("box => box.scrollWidth <= box.clientWidth + 1")
        assert walked.evaluate(OVERLAPS) == [], step
        if step < 14:
            on.click()
    assert on.is_disabled()


def test_a_walk_is_stepped_and_asked_by_mouse_and_by_key(walked):
    product, dial = walked.locator(".product"), control(walked, "step")
    assert product.inner_text() == "x = E[word]"
    walked.get_by_role("button", name="Next").click()
    dial.press("ArrowRight")
    assert product.inner_text().replace("\n", "") == "q = Wquery n + b"
    dial.press("Home")
    for _ in range(5):
        walked.get_by_role("button", name="Next").press("Enter")
    assert product.inner_text() == "a = softmax(s)"
    weights = walked.locator("[role=application]").last
    weights.focus()
    assert said(walked).startswith("a, “<s>” = ")
    for _ in range(5):
        weights.press("ArrowDown")
    by_key = said(walked)
    assert by_key.startswith("a, “lamps” = 0.")
    box = weights.locator("image").bounding_box()
    n_words = walked.locator(".story button").count()
    weights.locator("image").hover(position={"x": box["width"] / 2, "y": box["height"] * 0.5 / n_words})
    assert said(walked).startswith("a, “<s>” = ")
    weights.locator("image").click(position={"x": box["width"] / 2, "y": box["height"] * 5.5 / n_words})
    assert said(walked) == by_key
    share = float(by_key.split(" = ")[1])
    caption = walked.page.locator("figure:has(.lmf .product) figcaption").inner_text()
    assert f"{100 * share:.1f}\xa0% of its weight" in caption


def test_another_word_and_another_layer_are_walked_through(walked):
    control(walked, "step").press("End")
    before = walked.locator(".picture").text_content()
    walked.locator(".story button").nth(3).click()
    other = walked.locator(".picture").text_content()
    assert other != before
    control(walked, "layer").press("ArrowDown")
    assert walked.locator(".picture").text_content() not in (before, other)


def test_nothing_was_asked_of_others(figures, page):
    assert page.asked == []
    assert page.faults == []
