"""In figures full of words none lies on another, and a menu holds what is seldom needed."""

import pytest
import torch
from test_machine_figures import OVERLAPS

from course import figures
from course.ladder import read_recorded, summaries

WIDE = {"width": 1280, "height": 900}


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
    assert page.evaluate(OVERLAPS) == []
    assert figure.locator("svg text").count() > 10


@pytest.mark.parametrize("axis", ["parameters or counts", "seconds of training"])
def test_the_ladder_keeps_its_names_apart(shown, page, axis):
    figure = shown(ladder())
    figure.get_by_label("along").select_option(label=axis)
    assert page.evaluate(OVERLAPS) == []


def test_saving_and_numbers_are_in_a_menu_that_the_keyboard_opens(shown, page):
    figure = shown(words_in_a_plane())
    assert not figure.get_by_role("button", name="Save SVG").is_visible()
    figure.locator("summary").press("Enter")
    with page.expect_download() as saved:
        figure.get_by_role("button", name="Save SVG").click()
    assert saved.value.suggested_filename == "embedding.svg"
    assert figure.locator(".numbers td").first.is_visible()
