"""The map of words must name the neighbours that the vectors have, not those that the picture suggests."""

import pytest
import torch
from in_node import call, needs_node

from course import figures

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
