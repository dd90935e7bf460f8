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
