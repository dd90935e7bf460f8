"""The drawn machines: no word lies on another at any width, and every box answers, by mouse or keyboard."""

import pytest
from overlaps import OVERLAPS

from course import figures
from course.figures.machines import MACHINES


def shown(page, name):
    """The figure of a machine on an empty page, alive."""
    page.set_content(f"<!doctype html><body>{figures.machine(name).html()}")
    page.wait_for_selector(".live[data-alive] .lmf svg")


@pytest.mark.parametrize("name", MACHINES)
def test_no_word_lies_on_another(page, name):
    for width in (400, 1280, 1920):
        page.set_viewport_size({"width": width, "height": 900})
        shown(page, name)
        assert page.locator(".lmf").evaluate(OVERLAPS) == [], width
        page.get_by_label("shapes in numbers").check()
        assert page.locator(".lmf").evaluate(OVERLAPS) == [], width
    assert page.asked == []
    assert page.faults == []


def test_two_words_on_one_place_are_seen(page):
    shown(page, "rnn")
    page.evaluate("""() => [...document.querySelectorAll('.lmf svg text')].slice(3, 5).forEach((text) => {
      text.setAttribute('x', 30); text.setAttribute('y', 30); })""")
    assert page.locator(".lmf").evaluate(OVERLAPS) != []


def test_the_keyboard_builds_a_machine_up_and_asks_its_boxes(page):
    shown(page, "lstm_cell")
    page.get_by_label("build it up").press("Home")
    assert page.locator(".lmf .tensor[tabindex='0']").count() == 2
    page.get_by_label("build it up").press("ArrowRight")
    assert page.locator(".lmf .tensor[tabindex='0']").count() == 4
    page.locator(".lmf .tensor").nth(3).focus()
    answer = page.locator(".lmf .answer").inner_text()
    assert "(B, 4·D) = (2, 16)" in answer
    assert "return linear(x, self.W, self.b)" in answer


@pytest.mark.parametrize("name", MACHINES)
@pytest.mark.parametrize("page", ["light"], indirect=True)
def test_every_box_answers_the_mouse_and_the_keyboard(page, name):
    page.emulate_media(reduced_motion="reduce")
    page.set_viewport_size({"width": 1280, "height": 900})
    shown(page, name)
    machine, answer = MACHINES[name], page.locator(".lmf .answer")
    boxes = page.locator(".lmf .tensor")
    assert boxes.count() == len(machine.boxes())
    for box in boxes.all():
        spoken = box.get_attribute("aria-label")
        page.locator(".lmf .sentence").hover()
        box.locator(".edge").hover()
        by_mouse = answer.inner_text()
        page.evaluate("document.activeElement.blur()")
        answer.evaluate("answer => { answer.textContent = ''; }")
        box.focus()
        assert answer.inner_text() == by_mouse, spoken
        named, code = spoken.split(": ", 1)
        numbers = named.rsplit(" = ", 1)[1]  # a name may hold a sign of equality, such as `c = s_0`
        assert numbers in by_mouse
        assert " ".join(code.split()) in " ".join(by_mouse.split())


def test_the_answer_stands_above_the_drawing_and_what_is_to_come_is_pale(page):
    shown(page, "block")
    lmf = page.locator(".lmf")
    assert lmf.locator(".answer").bounding_box()["y"] < lmf.locator(".picture").bounding_box()["y"]
    lmf.get_by_role("button", name="Build it up from the beginning").click()
    assert page.get_by_label("build it up").input_value() == "1"
    opacity = "() => Number(getComputedStyle(document.querySelector('.lmf .part.later')).opacity)"
    page.wait_for_function(f"0.1 < ({opacity})() && ({opacity})() < 0.3")


def test_the_picture_prints_whole_whatever_the_step(page):
    shown(page, "block")
    page.get_by_label("build it up").press("Home")
    opacity = "() => getComputedStyle([...document.querySelectorAll('.lmf .part')].at(-1)).opacity"
    page.wait_for_function(f"({opacity})() === '0.14'")
    page.emulate_media(media="print")
    page.wait_for_function(f"({opacity})() === '1'")


def test_reduced_motion_is_respected(page):
    page.emulate_media(reduced_motion="reduce")
    shown(page, "rnn")
    assert (
        page.evaluate("() => getComputedStyle(document.querySelector('.lmf .part')).transitionDuration")
        == "0s"
    )
