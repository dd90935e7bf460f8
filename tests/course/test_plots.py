"""Pictures draw what they are given, say it in words, and can be read on white and on black."""

import struct

import numpy as np
import pytest
import torch
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from course.plots import (
    COLOURS,
    Picture,
    accuracy_by_distance,
    controller,
    heat_map,
    ladder,
    loss_curves,
    next_words,
    smoothed,
)
from course.rank_plots import by_rank

LOGITS = torch.tensor([0.125, 0.5, 0.25, 0.125]).log()
TWO_LEFT = LOGITS.masked_fill(torch.tensor([True, False, False, True]), -torch.inf)

PICTURES = {
    "loss_curves": lambda: loss_curves({"LSTM": [3.0, 2.0, 1.5], "RNN": [3.0, 2.5, 2.25]}, floor=1.25),
    "controller": lambda: controller(torch.tensor([7.0, 7.5, 6.0]), target=3.5, learning_rate=0.5),
    "ladder": lambda: ladder({"uniform": 7.32, "LSTM": 1.8}, floor=1.47, spread={"LSTM": 0.1}),
    "heat_map": lambda: heat_map(
        [[0.1, 0.9, 0.0], [0.6, 0.2, 0.2]], ["le", "chat"], ["the", "cat", "."], marked=[(0, 1)]
    ),
    "next_words": lambda: next_words({"I saw a …": {"van": 0.5, "man": 0.25}, "He is …": {"a": 1.0}}),
    "by_rank": lambda: by_rank(
        {"flat": LOGITS}, {"top-k 2": {"flat": TWO_LEFT}, "nothing": {"flat": LOGITS}}
    ),
    "accuracy_by_distance": lambda: accuracy_by_distance(
        {"RNN": {5: 0.9, 40: 0.2}, "LSTM": {5: 1.0, 40: 0.8}}, chance=0.1
    ),
}


@pytest.fixture(params=PICTURES)
def picture(request):
    return PICTURES[request.param]()


def luminance(colour):
    """Relative luminance of WCAG 2."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    return float(np.dot(linear, [0.2126, 0.7152, 0.0722]))


def contrast(colour, background):
    """Contrast ratio of WCAG 2, from 1 to 21."""
    lighter, darker = sorted((luminance(colour), luminance(background)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def test_every_picture_is_a_matplotlib_figure_that_draws(picture):
    assert isinstance(picture, Figure)
    width, height = struct.unpack(">II", picture.png()[16:24])
    assert width > 200
    assert height > 100


def test_the_alt_text_travels_with_the_notebook_output_and_the_file(picture):
    data, metadata = picture._repr_mimebundle_()
    assert metadata["image/png"]["alt"] == picture.alt_text
    assert picture.alt_text in data["text/plain"]
    assert picture.alt_text.encode("latin-1", "ignore")[:40] in data["image/png"]


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("loss_curves", ["LSTM ends at 1.50", "RNN ends at 2.25", "floor is 1.25"]),
        ("controller", ["2 tokens", "surprise is 4.50 bits", "target 3.50", "from 7.00 to 6.00"]),
        ("ladder", ["uniform 7.32", "LSTM 1.80", "floor is 1.47"]),
        ("heat_map", ["le: cat 0.90", "chat: the 0.60"]),
        ("accuracy_by_distance", ["RNN 90% at 5 tokens, 20% at 40", "LSTM 100% at 5 tokens, 80% at 40"]),
    ],
)
def test_the_alt_text_tells_the_numbers(name, told):
    alt_text = PICTURES[name]().alt_text
    assert [part for part in told if part not in alt_text] == []


def test_text_can_be_read_on_white_and_on_black(picture):
    texts = [text for axes in picture.axes for text in (*axes.texts, axes.xaxis.label, axes.yaxis.label)]
    texts += [label for axes in picture.axes for label in (*axes.get_xticklabels(), *axes.get_yticklabels())]
    for text in filter(lambda text: text.get_text(), texts):
        for background in ("white", "black"):
            assert contrast(text.get_color(), background) > 4.5, text
    assert picture.get_facecolor()[3] == 0
    assert all(axes.get_facecolor()[3] == 0 for axes in picture.axes if axes.get_label() != "<colorbar>")


@pytest.mark.parametrize("background", ["white", "#111111"])
def test_lines_stand_out_on_white_and_on_black(background):
    assert [colour for colour in COLOURS if contrast(colour, background) < 1.9] == []


def test_colours_stay_apart_for_people_who_see_no_red_or_no_green():
    # the dichromat simulation of Viénot, Brettel and Mollon (1999), in linear RGB
    protan = np.array([[0.11238, 0.88762, 0.0], [0.11238, 0.88762, 0.0], [0.00401, -0.00401, 1.0]])
    deutan = np.array([[0.29275, 0.70725, 0.0], [0.29275, 0.70725, 0.0], [-0.02234, 0.02234, 1.0]])
    for simulation in (protan, deutan):
        seen = [
            np.clip(simulation @ (np.array(to_rgb(colour)) ** 2.2), 0, 1) ** (1 / 2.2) for colour in COLOURS
        ]
        distances = [np.linalg.norm(a - b) for i, a in enumerate(seen) for b in seen[:i]]
        assert min(distances) > 0.1


def test_lines_also_differ_in_their_dashes():
    lines = PICTURES["accuracy_by_distance"]().axes[0].get_lines()
    assert lines[0].get_linestyle() != lines[1].get_linestyle()


def test_the_ladder_draws_each_rung_at_its_height():
    axes = ladder({"a": 4.0, "b": 2.5}, floor=1.5).axes[0]
    heights = [line.get_ydata()[0] for line in axes.get_lines()]
    assert heights == [4.0, 2.5, 1.5]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["a", "b"]


def test_a_heat_map_shows_the_matrix_as_it_is():
    picture = PICTURES["heat_map"]()
    shown = picture.axes[0].get_images()[0].get_array()
    np.testing.assert_array_equal(shown, [[0.1, 0.9, 0.0], [0.6, 0.2, 0.2]])
    outline = picture.axes[0].patches[0]
    assert (outline.get_x(), outline.get_y()) == (0.5, -0.5)  # row 0, column 1


def test_smoothing_is_a_mean_of_what_came_before():
    assert smoothed([4.0, 2.0, 0.0, 2.0], share=0.5).tolist() == [4.0, 3.0, 1.0, 1.0]
    assert smoothed([5.0]).tolist() == [5.0]


def test_a_matrix_that_does_not_fit_its_labels_is_refused():
    with pytest.raises(ValueError, match=r"expected shape \(2, 1\).*got \(1, 2\)"):
        heat_map([[1.0, 2.0]], ["a", "b"], ["c"])


@pytest.mark.parametrize("draw", [loss_curves, accuracy_by_distance])
@pytest.mark.parametrize("nothing", [{}, {"RNN": []}])
def test_nothing_to_draw_is_refused(draw, nothing):
    nothing = {name: {} for name in nothing} if draw is accuracy_by_distance else nothing
    with pytest.raises(ValueError, match="at least one series with at least one value"):
        draw(nothing)


def test_an_empty_picture_still_says_what_it_is():
    assert repr(Picture("Nothing yet.")) == "<Picture: Nothing yet.>"


def test_what_samplers_leave_is_counted_and_drawn_in_the_order_of_the_ranks():
    picture = PICTURES["by_rank"]()
    assert "top-k 2, flat 2 · 75% · 0.9 bits; nothing, flat 4 · 100% · 1.8 bits" in picture.alt_text
    removed, kept = (row for row in picture.axes[0].collections[0].get_array())
    assert removed.mask.tolist() == [False, False, True, True]
    assert removed[:2].tolist() == pytest.approx([np.log2(4 / 3)] * 2)
    assert kept.tolist() == pytest.approx([0, 0, 0, 0])
    heads, *beside = (text.get_text() for text in picture.axes[0].texts)
    assert all(len(text.split(" · ")) == len(heads.split(" · ")) for text in beside)


def test_what_is_pressed_to_zero_is_not_drawn_as_removed():
    pressed = LOGITS - torch.tensor([0.0, 1e4, 0.0, 0.0])
    row = by_rank({"flat": LOGITS}, {"DRY": {"flat": pressed}}).axes[0].collections[0].get_array()[0]
    assert not np.ma.getmaskarray(row).any()
    assert row[0] < -100


def test_a_small_probability_is_not_shown_as_zero():
    told = next_words({"It takes great …": {"care": 0.92, "patience": 0.0034, "nothing": 0.0}}).alt_text
    assert told.endswith("care 0.92, patience 0.003, nothing 0.00.")


def test_a_model_keeps_its_colour_in_every_picture_of_a_page():
    losses = {"RNNenc": [3.0, 2.0], "RNNsearch": [3.0, 1.0], "another": [3.0, 2.5]}
    lines = loss_curves(losses, colours={"RNNenc": "#D55E00", "RNNsearch": "#0072B2"}).axes[0].get_lines()
    assert [line.get_color() for line in lines] == ["#D55E00", "#0072B2", COLOURS[2]]
