"""A model of one's own has a place on the ladder, unless it is no language model or sees the future."""

import pytest
import torch

from course.ladder import NoLanguageModel, on_the_ladder, read_recorded, summaries
from course.ladder.rungs import SCALES, Corpus


@pytest.fixture(scope="module")
def corpus():
    return Corpus(SCALES["tiny"], 0)


class Uniform:
    """Every word equally likely."""

    vocab_size, context_length, n_parameters = 160, None, 7

    def __call__(self, tokens):
        return torch.full((*tokens.shape, 160), -torch.tensor(160.0).log().item())


def test_the_true_model_knows_all_and_the_uniform_one_nothing(corpus):
    everything = on_the_ladder("truth", corpus.language, corpus)
    assert everything.share_known(everything.own) == pytest.approx(1)
    assert everything.places[-1].is_own
    nothing = on_the_ladder("nothing", Uniform(), corpus, seconds=3)
    assert nothing.share_known(nothing.own) == pytest.approx(0, abs=1e-6)
    assert (nothing.own.n_parameters, nothing.own.seconds) == (7, 3)
    assert everything.beats("Transformer")
    assert not nothing.beats("unigram")
    with pytest.raises(KeyError):
        nothing.beats("no such rung")


def test_it_stands_among_the_recorded_ones_in_table_and_picture(corpus):
    standing = on_the_ladder("mine", corpus.language, corpus)
    recorded = [rung.title for rung in summaries(read_recorded())]
    assert [place.title for place in standing.places if not place.is_own] == recorded
    [line] = [line for line in str(standing).splitlines() if line.startswith("→")]
    assert line.split()[1] == "mine"
    assert "mine" in standing.picture().alt_text


class LooksAhead(Uniform):
    """The next word, where it was given."""

    def __call__(self, tokens):
        probs = super().__call__(tokens).exp() * 0.1
        probs[:, -1, 0] += 0.9  # a word that it cannot know
        known = torch.full((*tokens[:, 1:].shape, 1), 0.9)
        probs[:, :-1] = probs[:, :-1].scatter_add(-1, tokens[:, 1:, None], known)
        return probs.log()


class Logits(Uniform):
    """Numbers that are no log-probabilities."""

    def __call__(self, tokens):
        return torch.zeros(*tokens.shape, 160)


@pytest.mark.parametrize(
    ("model", "said"), [(LooksAhead(), "sees the future"), (Logits(), "do not sum to 1")]
)
def test_what_is_no_language_model_has_no_place(corpus, model, said):
    with pytest.raises(NoLanguageModel, match=said):
        on_the_ladder("mine", model, corpus)
