"""The ladder at the end of a lecture colours what is known, and shows what was recorded."""

from statistics import mean

import matplotlib.pyplot as plt
import pytest
from matplotlib.colors import to_hex

from course import figures
from course.figures.rungs import BEFORE, KINDS, LATER, TODAY, draw
from course.ladder import read_recorded, summaries

RECORDED = summaries(read_recorded())
TITLES = [rung.title for rung in RECORDED]


@pytest.fixture
def drawing():
    floor = read_recorded()[0].floor
    drawing = draw(RECORDED, floor, TITLES[: TITLES.index("LSTM") + 1], ("GRU", "LSTM"), {"RNN": 2.5})
    yield drawing
    plt.close(drawing)


@pytest.fixture
def axes(drawing):
    return drawing.axes[0]


def test_rungs_of_today_and_before_have_colours_of_their_own_and_later_ones_are_pale(axes):
    colours = dict(zip(TITLES, [to_hex(bar.get_facecolor()).upper() for bar in axes.patches], strict=True))
    assert {title for title, colour in colours.items() if colour == TODAY} == {"GRU", "LSTM"}
    assert {title for title, colour in colours.items() if colour == LATER} == {
        "self-attention",
        "Transformer",
    }
    assert colours["RNN"] == colours["uniform"] == BEFORE


def test_bars_end_at_the_recorded_means_and_the_page_s_own_run_is_a_diamond(axes):
    ends = [bar.get_x() + bar.get_width() for bar in axes.patches]
    assert ends == pytest.approx([rung.bits_per_token for rung in RECORDED])
    (diamonds,) = [line for line in axes.lines if line.get_marker() == "D"]
    assert list(diamonds.get_xdata()) == [2.5]
    assert list(diamonds.get_ydata()) == [TITLES.index("RNN")]


def test_error_bars_are_as_long_as_the_range_over_seeds(axes):
    bars = {round(float(e.get_segments()[0][0][1])): e.get_segments()[0][:, 0] for e in axes.collections}
    several = [row for row, rung in enumerate(RECORDED) if rung.n_seeds > 1]
    assert sorted(bars) == several
    for row in several:
        assert bars[row][1] - bars[row][0] == pytest.approx(RECORDED[row].spread)


def test_the_panels_below_show_the_mean_gap_of_each_kind_and_the_range_of_its_seeds(drawing):
    seeing = [rung for rung in RECORDED if rung.title not in ("uniform", "unigram")]
    for kind, panel in zip(KINDS, drawing.axes[1:], strict=True):
        gaps = [rung.by_kind[kind] for rung in seeing]
        assert [bar.get_width() for bar in panel.patches] == pytest.approx([mean(gap) for gap in gaps])
        ranges = {
            round(float(bar.get_segments()[0][0][1])): bar.get_segments()[0] for bar in panel.collections
        }
        for row, ends in ranges.items():
            assert list(ends[:, 0]) == pytest.approx([min(gaps[row]), max(gaps[row])])
        assert all(row in ranges for row, gap in enumerate(gaps) if max(gap) - min(gap) > 0.02)
        colours = [to_hex(bar.get_facecolor()).upper() for bar in panel.patches]
        titles = [rung.title for rung in seeing]
        assert colours[titles.index("LSTM") :] == [TODAY, LATER, LATER]


def test_a_model_that_looks_at_no_word_has_no_gaps_below():
    assert "by kind of word" not in figures.rungs("unigram").alt
    things = next(rung for rung in RECORDED if rung.title == "bigram").by_kind["things"]
    assert f"bigram things {mean(things):.2f}" in figures.rungs("bigram").alt


def test_the_words_name_what_is_known_and_nothing_later():
    shown = figures.rungs("bigram", new=("bigram",), live={"bigram": 3.0})
    assert f"bigram {RECORDED[TITLES.index('bigram')].bits_per_token:.2f}" in shown.alt
    assert "Measured on this page: bigram 3.00" in shown.alt
    assert "trigram" not in shown.alt
    assert "new today" in shown.caption
    assert "new today" not in figures.rungs("bigram").caption


@pytest.mark.parametrize("asked", [{"up_to": "tetragram"}, {"up_to": "RNN", "live": {"GPT": 1.5}}])
def test_a_rung_that_is_not_on_the_ladder_is_refused(asked):
    with pytest.raises(ValueError, match="expected one of uniform, unigram"):
        figures.rungs(**asked)
