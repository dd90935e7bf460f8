"""Every figure of every page lives with the network cut, obeys the keyboard and satisfies axe."""

from pathlib import Path

import pytest

from autograder.site import make_site

ROOT = Path(__file__).parents[2]
LECTURES = sorted(path.stem for path in (ROOT / "lectures").glob("*.ipynb"))
OURS = ".lmf"

# What a figure shows at this moment: its drawing, what it says, the values of its controls.
SHOWN = """figure => [figure.querySelector('svg').outerHTML, figure.innerText,
  ...[...figure.querySelectorAll('input, select')].map(control => control.value)].join('|')"""


@pytest.fixture(scope="session")
def address(tmp_path_factory, serve):
    return serve(make_site(ROOT, tmp_path_factory.mktemp("built") / "site").parent)


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
    figures = lecture.locator(OURS)
    for place in range(figures.count()):
        sliders = figures.nth(place).locator("input[type=range]")
        for number in range(sliders.count()):
            slider = sliders.nth(number)
            if not slider.is_visible() or slider.is_disabled():
                continue
            before = figures.nth(place).evaluate(SHOWN)
            at_the_end = slider.evaluate("slider => slider.value === slider.max")
            slider.press("ArrowLeft" if at_the_end else "ArrowRight")
            assert figures.nth(place).evaluate(SHOWN) != before, slider.evaluate(
                "slider => slider.parentElement.innerText"
            )


def test_axe_finds_nothing_to_mend_in_a_figure(lecture):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    found = axe.run(lecture, context={"include": [[OURS]]}).response["violations"]
    assert [f"{each['id']}: {each['nodes'][0]['html'][:120]}" for each in found] == []
