"""The map of words must name the neighbours that the vectors have, not those that the picture suggests."""

import pytest
import torch
from in_node import call, needs_node

from course import figures
from course.figures.embedding import plane

WORDS = ["cat", "dog", "sun", "moon", "run"]
VECTORS = torch.randn(5, 3, generator=torch.Generator().manual_seed(0))


@needs_node
def test_the_module_finds_the_cosines_of_torch():
    figure = figures.embedding(VECTORS, WORDS)
    expected = torch.nn.functional.cosine_similarity(VECTORS[2:3], VECTORS, dim=1)
    found = call("embedding", "nearest", figure.data["vectors"], 2, 4)
    assert [i for i, _ in found] == [i for i in expected.argsort(descending=True).tolist() if i != 2]
    assert [cosine for _, cosine in found] == pytest.approx([expected[i].item() for i, _ in found], abs=1e-3)


def test_the_plane_keeps_most_of_the_spread():
    generator = torch.Generator().manual_seed(1)
    flat = torch.randn(9, 2, generator=generator) @ torch.randn(2, 6, generator=generator)
    places = torch.tensor(figures.embedding(flat, [f"w{i}" for i in range(9)]).data["places"])
    assert torch.allclose(torch.cdist(places, places), torch.cdist(flat, flat), atol=1e-3)


def test_the_alt_text_names_the_nearest_word():
    vectors = torch.tensor([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0]])
    assert "Nearest to “a”: b, c." in figures.embedding(vectors, ["a", "b", "c"]).alt


def test_vectors_that_do_not_fit_the_words_are_refused():
    with pytest.raises(ValueError, match=r"expected vectors of shape \(5, D\)"):
        figures.embedding(VECTORS.T, WORDS)


def test_an_unknown_first_word_is_refused():
    with pytest.raises(ValueError, match="'bird' is not among the 5 words"):
        figures.embedding(VECTORS, WORDS, start="bird")


def dot(x, y, radius=2):
    return {"left": x - radius, "right": x + radius, "top": y - radius, "bottom": y + radius}


def overlap(a, b):
    return (
        a["left"] < b["right"]
        and b["left"] < a["right"]
        and a["top"] < b["bottom"]
        and b["top"] < a["bottom"]
    )


@needs_node
def test_labels_cover_neither_each_other_nor_points():
    places = (
        (100 + 25 * torch.randn(60, 2, generator=torch.Generator().manual_seed(2))).clamp(5, 195).tolist()
    )
    asked = [[i, place, 2, f"word{i}", 11] for i, place in enumerate(places)]
    dots = [dot(*place) for place in places]
    boxes = [label["box"] for label in call("embedding", "labels", asked, dots, 200).values()]
    assert 3 < len(boxes) < 60
    assert not any(overlap(a, b) for i, a in enumerate(boxes) for b in boxes[:i])
    assert not any(overlap(box, each) for box in boxes for each in dots)
    assert all(
        box["left"] > 0 and box["right"] < 200 and box["top"] > 0 and box["bottom"] < 200 for box in boxes
    )


@needs_node
def test_of_two_words_that_want_one_place_the_first_gets_it_and_the_second_another():
    asked = [[4, [70, 50], 2, "first", 11], [1, [70, 53], 2, "second", 11]]
    found = call("embedding", "labels", asked, [dot(70, 50), dot(70, 53)], 200)
    assert (found["4"]["anchor"], found["1"]["anchor"]) == ("start", "end")


def test_the_names_in_the_fallback_picture_do_not_overlap():
    drawing = plane(torch.zeros(3, 2, dtype=torch.float64), ["one", "two", "three"])
    assert [text.get_text() for text in drawing.axes[0].texts] == ["one"]
