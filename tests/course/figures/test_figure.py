"""A figure must carry everything it needs and nothing that could break out of its place."""

import json
import re

import pytest
import torch

from course import figures
from course.figures.figure import MOST_DATA, Figure

QUERIES, KEYS = ["the", "cat", "sat"], ["le", "chat", "dort", "ici"]


def example(**changes):
    weights = torch.rand(3, 4, generator=torch.Generator().manual_seed(0))
    return figures.attention(weights / weights.sum(-1, keepdim=True), QUERIES, KEYS, **changes)


def test_the_module_imports_nothing_and_exports_one_figure():
    module = example().module()
    assert not re.search(r"^\s*import\b|\bimport\(|https?://(?!www\.w3\.org/)", module, re.M)
    assert module.count("export default") == 1


def test_the_fallback_picture_has_the_alt_text():
    page = example().html()
    assert '<img alt="Heat map of 3 queries by 4 keys.' in page
    assert page.index("<img") < page.index("<script")


def test_tokens_cannot_close_the_script_or_the_attribute():
    hostile = ["</script><b>", '"><img src=x>', "cat"]
    page = figures.attention(torch.eye(3), hostile).html()
    assert page.count("</script>") == 1
    assert '"><img src=x>' not in page.split("<script")[0]


def test_the_same_figure_gives_the_same_bytes():
    assert example().html() == example().html()


def test_the_data_holds_the_given_weights():
    weights = torch.tensor([[0.25, 0.75], [1.0, 0.0]])
    data = json.loads(figures.attention(weights, ["a", "b"]).json())
    assert data["weights"] == [[[0.25, 0.75], [1.0, 0.0]]]


def test_scores_before_the_softmax_are_refused_with_a_question():
    with pytest.raises(ValueError, match="before the softmax"):
        figures.attention(torch.ones(3, 4), QUERIES, KEYS)


def test_weights_of_another_shape_are_refused():
    with pytest.raises(ValueError, match=r"expected weights of shape \(3, 4\)"):
        figures.attention(torch.eye(3), QUERIES, KEYS)


def test_a_figure_without_alt_text_is_refused():
    with pytest.raises(ValueError, match="alt text"):
        Figure("attention", {}, alt=" ", caption="", picture=b"")


def test_more_data_than_a_page_can_carry_is_refused():
    with pytest.raises(ValueError, match="at most"):
        Figure("attention", {"text": "x" * MOST_DATA}, alt="a", caption="", picture=b"")
