"""Scores are totals over totals, and equal what independent implementations compute."""

import math
import sys

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from course.data.vocabulary import Batch, pad_sequences
from course.evaluation import Score, alignment_error_rate, bleu, score, target_nll
from course.models.counts import Uniform


class Fixed(nn.Module):
    """Ignores what it reads; V = 5. Counts batches and remembers whether it was in training mode."""

    vocab_size, context_length = 5, None

    def __init__(self):
        super().__init__()
        self.logits = nn.Parameter(torch.tensor([0.3, -1.0, 2.0, 0.1, 0.0]))
        self.modes = []

    def forward(self, tokens):
        self.modes.append(self.training)
        return self.logits.log_softmax(-1).expand(*tokens.shape, -1)


@pytest.fixture
def stories():
    return pad_sequences([[0, 1, 2], [0, 4], [0, 3, 3, 2, 1]], pad=1)


def test_score_is_the_cross_entropy_of_torch_over_real_tokens(stories):
    model = Fixed()
    logits = model.logits.detach().expand(3, 4, 5)
    targets = stories.tokens[:, 1:].masked_fill(~stories.mask[:, 1:], -100)
    expected = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=-100)
    result = score(model, stories)
    assert result.n_tokens == 7
    assert result.cross_entropy == pytest.approx(expected.item(), rel=1e-6)


def test_score_does_not_depend_on_how_the_text_is_cut(stories):
    whole, cut = score(Fixed(), stories), score(Fixed(), stories, batch_size=2)
    assert (whole.n_tokens, pytest.approx(whole.nll)) == (cut.n_tokens, cut.nll)
    mean_of_means = (
        sum(
            score(Fixed(), Batch(stories.tokens[i : i + 1], stories.mask[i : i + 1])).cross_entropy
            for i in range(3)
        )
        / 3
    )
    assert mean_of_means != pytest.approx(whole.cross_entropy, rel=1e-3)


def test_impossible_padding_does_not_spoil_the_score(stories):
    class NeverPads(Fixed):
        def forward(self, tokens):
            log_probs = torch.full((*tokens.shape, 5), -math.inf)
            return log_probs.scatter(-1, self.truth[: len(tokens), :, None], 0.0)

    model = NeverPads()
    model.truth = torch.where(stories.mask, stories.tokens, 0)[:, 1:]
    assert score(model, stories).nll == 0


@pytest.mark.parametrize("was_training", [True, False])
def test_score_evaluates_without_dropout_and_leaves_the_mode_as_it_was(stories, was_training):
    model = Fixed().train(was_training)
    score(model, stories)
    assert model.modes == [False]
    assert model.training is was_training


def test_units_agree_on_a_die():
    uniform = score(Uniform(8), pad_sequences([[0] * 11], pad=0))
    assert uniform.bits_per_token == pytest.approx(3)
    assert uniform.perplexity == pytest.approx(8)
    assert uniform.cross_entropy == pytest.approx(3 * math.log(2))
    assert uniform.bits_per_byte(n_bytes=20) == pytest.approx(10 * 3 / 20)


def test_an_impossible_text_has_infinite_perplexity():
    assert Score(math.inf, 3).perplexity == math.inf
    assert Score(3000.0, 3).perplexity == math.inf


def test_distance_from_the_floor_is_relative_and_on_the_same_tokens():
    assert Score(11.0, 5).percent_above(Score(10.0, 5)) == pytest.approx(10)
    with pytest.raises(ValueError, match="the same 5 tokens, got one of 6"):
        Score(11.0, 5).percent_above(Score(10.0, 6))


def test_scores_of_parts_add_up():
    assert Score(2.0, 3) + Score(5.0, 4) == Score(7.0, 7)


def test_nothing_to_predict_is_an_error():
    with pytest.raises(ValueError, match="at least one predicted token, got 0"):
        score(Fixed(), pad_sequences([[0], [0]], pad=0))


def test_target_nll_picks_the_target():
    log_probs = torch.tensor([[[0.5, 0.25, 0.25], [0.1, 0.2, 0.7]]]).log()
    torch.testing.assert_close(
        target_nll(log_probs, torch.tensor([[1, 2]])).exp(), torch.tensor([[4.0, 1 / 0.7]])
    )


def test_bleu_is_that_of_sacrebleu():
    sacrebleu = pytest.importorskip("sacrebleu")
    translations = ["the cat sat on the mat today", "a dog"]
    references = ["the cat sat on a mat today", "a dog barks"]
    assert bleu(translations, references) == sacrebleu.corpus_bleu(translations, [references]).score
    assert bleu(references, references) == pytest.approx(100)


def test_bleu_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "sacrebleu", None)
    with pytest.raises(ModuleNotFoundError, match="pip install sacrebleu"):
        bleu(["a"], ["a"])


@pytest.mark.parametrize(("translations", "references"), [([], []), (["a"], ["a", "b"])])
def test_bleu_refuses_unequal_or_no_sentences(translations, references):
    with pytest.raises(ValueError, match="expected equally many and at least one"):
        bleu(translations, references)


def test_alignment_error_rate_of_a_hand_computed_case():
    # A = {00, 11, 22}, S = {00, 12}, P = S ∪ {11}: |A∩S| = 1, |A∩P| = 2, |A| = 3, |S| = 2
    rate = alignment_error_rate([[(0, 0), (1, 1), (2, 2)]], [[(0, 0), (1, 2)]], [[(1, 1)]])
    assert rate == pytest.approx(1 - 3 / 5)


def test_with_sure_links_only_it_is_one_minus_f1():
    found, sure = {(0, 0), (1, 1), (2, 1)}, {(0, 0), (1, 1), (2, 2), (3, 3)}
    precision, recall = 2 / 3, 2 / 4
    f1 = 2 * precision * recall / (precision + recall)
    assert alignment_error_rate(iter([found]), iter([sure])) == pytest.approx(1 - f1)


def test_alignment_errors_are_counted_over_all_pairs_together():
    assert alignment_error_rate([[(0, 0)], []], [[(0, 0)], [(0, 0)] * 2 + [(1, 1)]]) == pytest.approx(
        1 - 2 / 4
    )


def test_no_link_at_all_is_an_error():
    with pytest.raises(ValueError, match="at least one link"):
        alignment_error_rate([[]], [[]])
