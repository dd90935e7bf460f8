"""Every picture has the same axes and words, whatever drew it; shades keep their colours on a dark page."""

import io

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.image import imread

from course import figures, plots
from course.picture_style import GREY, INK, quieten


def line():
    drawing, axes = plt.subplots()
    axes.plot([1, 2], label="a line")
    axes.set(title="title", xlabel="x")
    axes.legend()
    return drawing


@pytest.mark.parametrize("draw", [line, lambda: plots.loss_curves({"a": [2.0, 1.0]})])
def test_axes_are_two_grey_lines_and_words_are_dark(draw):
    drawing = draw()
    quieten(drawing)
    (axes,) = drawing.axes
    seen = {side for side, spine in axes.spines.items() if spine.get_visible()}
    assert seen == {"left", "bottom"}
    assert {to_hex(axes.spines[side].get_edgecolor()) for side in seen} == {GREY}
    words = [axes.title, axes.xaxis.label, *axes.get_xticklabels(), *axes.get_legend().get_texts()]
    assert {to_hex(word.get_color()).upper() for word in words} == {INK}


def test_a_map_of_shades_has_no_axes():
    drawing, axes = plt.subplots()
    axes.imshow([[0, 1]])
    quieten(drawing)
    assert not any(spine.get_visible() for spine in axes.spines.values())


def test_words_with_a_colour_of_their_own_keep_it():
    drawing, axes = plt.subplots()
    mark = axes.text(0, 0, "here", color="#D55E00")
    quieten(drawing)
    assert mark.get_color() == "#D55E00"


def corner(still):
    return imread(io.BytesIO(still.picture))[0, 0]


def test_shades_stand_on_no_ground_and_say_that_a_dark_page_must_not_invert_them():
    drawing, axes = plt.subplots()
    axes.imshow(np.eye(2))
    shaded, plain = figures.still(drawing, "shades"), figures.still(line(), "a line")
    assert corner(shaded)[3] == 0
    assert corner(plain).tolist() == [1, 1, 1, 1]
    assert 'class="keeps-colours"' in shaded._repr_mimebundle_()["text/html"]
    assert "keeps-colours" not in plain._repr_mimebundle_()["text/html"]
