"""The figure must cut a text as the library does, after every number of merges."""

import pytest
from in_node import call, needs_node

from course import figures
from course.tokenizers.bpe import BytePairTokenizer

TEXT = "the cat sat on the mat; the hats that the cats had sat on  were aaaa flat. " * 3
MERGES = BytePairTokenizer.train(TEXT, 290).merges
TEXTS = {"seen": TEXT[:90], "français": "l'été où j'étais né, çà et là", "emoji": "so 🙂 it's 1234!\n  x"}


@needs_node
@pytest.mark.parametrize("count", [0, 1, 7, len(MERGES)])
@pytest.mark.parametrize("name", TEXTS)
def test_the_module_cuts_like_the_library(name, count):
    figure = figures.bpe(MERGES, TEXTS)
    library = BytePairTokenizer(MERGES[:count])
    expected = [library.spelling(token).decode("latin-1") for token in library.encode(TEXTS[name])]
    assert call("bpe", "encode", TEXTS[name], figure.data["merges"], count) == expected


def test_the_alt_text_says_what_the_merges_save():
    n_tokens = len(BytePairTokenizer(MERGES).encode("the cat"))
    alt = figures.bpe(MERGES, {"short": "the cat"}).alt
    assert f"7 without merges, {n_tokens} after {len(MERGES)} merges" in alt


def test_a_figure_without_merges_is_refused_with_a_question():
    with pytest.raises(ValueError, match="at least one merge and one text, got 0 and 1"):
        figures.bpe([], {"short": "the cat"})


def test_a_merge_of_what_is_no_token_is_refused():
    with pytest.raises(ValueError, match="which are not both tokens yet"):
        figures.bpe([(b"th", b"e")], {"short": "the cat"})
