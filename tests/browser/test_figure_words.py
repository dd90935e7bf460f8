"""What figures write is printed as in a book, and can be read on what stands behind it."""

import re

import pytest
from overlaps import OVERLAPS
from test_figure_labels import PAGES, WIDE

# Parts of a picture's words that are typed, not printed; a tape's names and an einsum's letters are code.
TYPED = r"""() => [...document.querySelectorAll('.lmf .picture text, .lmf output')]
  .map(each => each.textContent).filter(text => /^-\d/.test(text)
    || /^\d(\.\d+)?e[+-]?\d+$/.test(text) || /^[|∂(]*\p{L}_[\p{L}{]/u.test(text))"""
# Words over a cell of the picture, with the contrast of their colours, where it is too low to read.
PALE = """(figure) => {
  const paint = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const channels = (colour) => {
    paint.clearRect(0, 0, 1, 1);
    paint.fillStyle = colour;
    paint.fillRect(0, 0, 1, 1);
    return [...paint.getImageData(0, 0, 1, 1).data];
  };
  const light = (colour) => [0.2126, 0.7152, 0.0722].reduce((sum, share, i) => {
    const c = channels(colour)[i] / 255;
    return sum + share * (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
  }, 0);
  const contrast = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
  const cells = [...figure.querySelectorAll('.picture rect')]
    .filter((cell) => cell.getAttribute('fill') !== 'none');
  return [...figure.querySelectorAll('.picture text')].flatMap((text) => {
    const { left, right, top, bottom } = text.getBoundingClientRect();
    const behind = cells.filter((cell) => {
      const box = cell.getBoundingClientRect();
      return box.left <= left && box.right >= right && box.top <= top + 3 && box.bottom >= bottom - 3;
    }).at(-1);
    if (!behind) return [];
    const found = contrast(getComputedStyle(text).fill, getComputedStyle(behind).fill);
    return found < 4.5 ? [`${text.textContent}: ${found.toFixed(2)}`] : [];
  });
}"""
NUMBERED = {"12_self_attention": "One query, step by step", "09_lstm_gru": "Gates decide"}
# Names of points that lie on a point, in the plane in which vectors are dragged.
COVERED = """(figure) => {
  const dots = [...figure.querySelectorAll('.picture circle')].map((dot) => dot.getBoundingClientRect());
  const words = [...figure.querySelectorAll('.picture text')];
  return words.filter((text) => /^[qk] /.test(text.textContent)).flatMap((text) => {
    const box = text.getBoundingClientRect();
    return dots.filter((dot) => box.left < dot.right - 1 && dot.left + 1 < box.right
      && box.top + 3 < dot.bottom - 1 && dot.top + 1 < box.bottom - 3).map(() => text.textContent);
  });
}"""


def open_page(page, address, name):
    page.set_viewport_size(WIDE)
    page.emulate_media(reduced_motion="reduce")
    page.goto(f"{address}/{name}.html", wait_until="load")
    page.wait_for_selector(".lmf .picture > svg > *", state="attached", timeout=60_000)


@pytest.mark.parametrize("page", ["light"], indirect=True)
def test_numbers_and_names_are_printed_as_in_a_book(page, address):
    found = {}
    for name in PAGES:
        open_page(page, address, name)
        if typed := page.evaluate(TYPED):
            found[name] = typed
    assert found == {}


@pytest.mark.parametrize("name", NUMBERED)
def test_a_number_in_a_cell_can_be_read(page, address, name):
    open_page(page, address, f"lectures/{name}")
    figure = page.locator(".lmf", has_text=NUMBERED[name])
    assert figure.evaluate(PALE) == []


@pytest.mark.parametrize("query", range(4))
@pytest.mark.parametrize("page", ["light"], indirect=True)
def test_no_name_covers_a_vector(page, address, query):
    open_page(page, address, "lectures/12_self_attention")
    figure = page.locator(".lmf", has_text=NUMBERED["12_self_attention"])
    figure.get_by_label("query").first.fill(str(query))
    assert figure.evaluate(COVERED) == []
    assert figure.locator("svg text").filter(has_text=re.compile(r"^k \w")).count() == 4


@pytest.mark.parametrize("page", ["light"], indirect=True)
def test_on_a_narrow_screen_the_first_figure_shows_what_each_model_wastes(page, address):
    page.set_viewport_size({"width": 400, "height": 800})
    page.goto(f"{address}/index.html", wait_until="load")
    page.wait_for_selector("[data-ready]", state="attached", timeout=60_000)
    picture = page.locator(".lmf .picture").first
    assert "wasted" in picture.inner_text()
    assert picture.evaluate(OVERLAPS) == []
    assert picture.evaluate("box => box.scrollWidth <= box.clientWidth + 1")
