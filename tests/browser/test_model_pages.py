"""A drawing beside its model's source: a box that is asked shows its line of code there."""

import pytest

MARKED = "() => [...(CSS.highlights.get('asked') ?? [])].map(String)"


@pytest.mark.parametrize("width", [400, 1280, 1600])
def test_a_box_marks_its_line_of_code(page, address, width):
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(f"{address}/models/recurrent.html")
    page.wait_for_selector(".live[data-alive] .lmf svg")
    cell = page.locator(".lmf:has(svg[aria-label='An LSTM cell'])")
    cell.locator(".tensor").nth(3).focus()
    assert page.evaluate(MARKED) == ["return linear(x, self.W, self.b)"]
    seen = page.evaluate("""() => {
      const line = [...CSS.highlights.get('asked')][0].getBoundingClientRect();
      const source = document.querySelector('.beside .source').getBoundingClientRect();
      return line.top >= source.top && line.bottom <= source.bottom; }""")
    assert seen
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.faults == []


@pytest.mark.parametrize("page", ["light"], indirect=True)
def test_a_box_of_another_file_marks_its_line_there_and_answers_within_the_window(page, address):
    page.set_viewport_size({"width": 1280, "height": 700})
    page.goto(f"{address}/models/gpt.html")
    page.wait_for_selector(".live[data-alive] .lmf svg")
    for box in page.locator(".tensor").all():
        box.evaluate("box => box.dispatchEvent(new Event('pointerenter'))")
        assert len(page.evaluate(MARKED)) == 1
    page.locator(".lmf svg").first.evaluate("drawing => drawing.scrollIntoView()")
    answer = page.locator(".beside .answer").first.bounding_box()
    assert 0 <= answer["y"] <= 700 - answer["height"]
