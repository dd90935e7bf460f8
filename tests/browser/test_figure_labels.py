"""No word of a figure lies on another, what changes glides, and a menu holds what is seldom needed."""

from pathlib import Path

import pytest
import torch
from overlaps import IN_EVERY_STATE, OVERLAPS

from autograder.website.whole_site import pages
from course import figures
from course.ladder import read_recorded, summaries

WIDE = {"width": 1280, "height": 900}
WIDTHS = (400, 1280, 1920)
LECTURES = sorted((Path(__file__).parents[2] / "lectures").glob("*.ipynb"))
PAGES = ["index", "break_it", *(f"lectures/{path.stem}" for path in LECTURES)]
GLIDING = "document.getAnimations().filter(each => each.effect.target instanceof SVGElement).length"
# Where each gliding line and word is at first, halfway and in the end.
GLIDES = """() => document.getAnimations().flatMap((glide) => {
  const part = glide.effect.target;
  const place = () => { const { x, y } = part.getBoundingClientRect(); return [x, y]; };
  if (!['path', 'text'].includes(part.tagName)) return [];
  glide.pause();
  glide.currentTime = 0;
  const start = place();
  glide.currentTime = 110;
  const halfway = place();
  glide.cancel();
  return { name: part.tagName === 'text' ? part.textContent : 'line', start, halfway, end: place() };
})"""
PLACES = """() => [...document.querySelectorAll('.lmf .picture text, .lmf .picture path')].map((part) => {
  const { x, y } = part.getBoundingClientRect();
  return { name: part.tagName === 'text' ? part.textContent : 'line', place: [x, y] };
})"""


def words_in_a_plane():
    """160 words in three heaps, which is more than a picture can name."""
    generator = torch.Generator().manual_seed(0)
    vectors = torch.randn(160, 8, generator=generator) + torch.arange(160)[:, None] % 3
    return figures.embedding(vectors, [f"word{i}" for i in range(160)])


def ladder():
    results = read_recorded()
    return figures.ladder(summaries(results), results[0].floor)


@pytest.fixture
def shown(page):
    def show(figure):
        page.set_viewport_size(WIDE)
        page.set_content(f"<!doctype html><body>{figure.html()}")
        page.wait_for_selector(".live[data-alive] .lmf svg")
        return page.locator(".lmf")

    return show


@pytest.mark.parametrize("zoom", [1, 6])
def test_the_plane_of_words_names_only_what_has_room(shown, page, zoom):
    figure = shown(words_in_a_plane())
    figure.get_by_label("Zoom").fill(str(zoom))
    assert figure.evaluate(OVERLAPS) == []
    assert figure.locator("svg text").count() > 10


@pytest.mark.parametrize("axis", ["parameters or counts", "seconds of training"])
def test_the_ladder_keeps_its_names_apart(shown, page, axis):
    figure = shown(ladder())
    figure.get_by_label("along").select_option(label=axis)
    assert figure.evaluate(OVERLAPS) == []


@pytest.mark.parametrize("n_words", [2, 12])
def test_a_map_of_attention_has_room_for_its_words_and_its_legend(shown, n_words):
    weights = torch.full((n_words, n_words), 1 / n_words)
    causal = torch.ones(n_words, n_words).tril() / torch.arange(1, n_words + 1)[:, None]
    for each in (weights, causal):
        figure = shown(figures.attention(each, [f"remembered{i}" for i in range(n_words)]))
        assert figure.evaluate(OVERLAPS) == []


def test_saving_and_numbers_are_in_a_menu_that_the_keyboard_opens(shown, page):
    figure = shown(words_in_a_plane())
    assert not figure.get_by_role("button", name="Save SVG").is_visible()
    figure.locator("summary").press("Enter")
    with page.expect_download() as saved:
        figure.get_by_role("button", name="Save SVG").click()
    assert saved.value.suggested_filename == "embedding.svg"
    assert figure.locator(".numbers td").first.is_visible()


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("page", ["light"], indirect=True)
def test_in_no_state_of_a_figure_does_a_word_lie_on_another(page, address, name):
    page.goto(f"{address}/{name}.html", wait_until="load")
    page.wait_for_selector(".lmf .picture", state="attached", timeout=60_000)
    assert overlapping(page) == {}


@pytest.mark.parametrize("page", ["light"], indirect=True)
def test_nor_does_it_on_pages_made_from_others(page, address, site):
    others = [name for name in pages(site) if name.startswith(("building/", "de/"))]
    assert others
    found = {}
    for name in others:
        page.goto(f"{address}/{name}", wait_until="load")
        if page.locator(".live").count():
            page.wait_for_selector(".lmf .picture", state="attached", timeout=60_000)
            found |= {(name, *where): state for where, state in overlapping(page).items()}
    assert found == {}


def overlapping(page):
    """Which words lie on each other at which width, in which theme; in the dark at one width."""
    found = {}
    for width, theme in (*((width, "light") for width in WIDTHS), (WIDE["width"], "dark")):
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=theme)
        for figure in page.locator(".lmf").all():
            states = figure.evaluate(IN_EVERY_STATE)
            found |= {(width, theme, words): state for words, state in states.items()}
    return found


@pytest.mark.parametrize("page", ["light"], indirect=True)
def test_what_changes_glides_unless_the_reader_wants_no_motion(shown, page):
    for wanted, glides in (("no-preference", True), ("reduce", False)):
        page.emulate_media(reduced_motion=wanted)
        figure = shown(ladder())
        page.wait_for_timeout(300)  # what changes sooner follows a hand
        figure.get_by_label("along").select_option(label="seconds of training")
        assert (page.evaluate(GLIDING) > 0) == glides


@pytest.mark.parametrize("page", ["light"], indirect=True)
def test_lines_and_words_glide_from_where_they_were(shown, page):
    page.emulate_media(reduced_motion="no-preference")
    figure = shown(ladder())
    figure.get_by_label("along").select_option(label="parameters or counts")
    page.wait_for_timeout(600)
    before = page.evaluate(PLACES)
    figure.get_by_label("along").select_option(label="seconds of training")
    glides = page.evaluate(GLIDES)
    assert {"line", "GRU", "Transformer"} <= {glide["name"] for glide in glides}
    for glide in glides:
        places = [part["place"] for part in before if part["name"] == glide["name"]]
        assert any(glide["start"] == pytest.approx(place, abs=0.5) for place in places), glide
        for start, halfway, end in zip(glide["start"], glide["halfway"], glide["end"], strict=True):
            assert min(start, end) - 0.5 <= halfway <= max(start, end) + 0.5
    for glide in glides:
        assert glide["halfway"] != pytest.approx(glide["end"], abs=0.01)


@pytest.mark.parametrize("page", ["light"], indirect=True)
def test_turned_words_are_compared_as_they_stand(shown, page):
    figure = shown(words_in_a_plane())
    put = """([first, second, angle, apart]) => {
      const picture = document.querySelector('.lmf .picture > svg');
      picture.replaceChildren();
      for (const [words, x] of [[first, 200], [second, 200 + apart]]) {
        const text = document.createElementNS(picture.namespaceURI, 'text');
        text.textContent = words;
        text.setAttribute('transform', `translate(${x},200) rotate(${angle})`);
        picture.append(text);
      }
    }"""
    for angle, apart, lie_on_each_other in ((-45, 30, False), (-45, 8, True), (0, 30, True)):
        page.evaluate(put, ["a long label", "another one", angle, apart])
        assert bool(figure.evaluate(OVERLAPS)) == lie_on_each_other, (angle, apart)
