"""Modified Kneser-Ney against a slow version of its definition, and against nltk where the two agree."""

from collections import defaultdict

import pytest
import torch
from model_equality import assert_equal
from nltk.lm import KneserNeyInterpolated, Vocabulary
from nltk.lm.counter import NgramCounter

from course.models import KneserNey, NGramCounts
from course.models.kneser_ney import chen_goodman_discounts

V, BOS, EOS = 9, 0, 1


def corpus(n_sentences=60):
    """Sentences over few words, so that counts of 1, 2, 3 and more occur at every order."""
    generator = torch.Generator().manual_seed(3)
    sentences = []
    for _ in range(n_sentences):
        length = int(torch.randint(1, 9, (), generator=generator))
        skewed = torch.rand(length, generator=generator).square() * (V - 2)
        sentences.append([BOS, *(2 + skewed.long()).tolist(), EOS])
    return sentences


class SlowKneserNey:
    """Chen and Goodman 1999 word for word, with dictionaries; a context ends at the sentence's start."""

    def __init__(self, sentences, order):
        self.order = order
        raw = [defaultdict(int) for _ in range(order + 1)]
        for sentence in sentences:
            for t in range(1, len(sentence)):
                for n in range(1, min(order, t + 1) + 1):
                    raw[n][tuple(sentence[t - n + 1 : t + 1])] += 1
        self.counts = [dict(table) for table in raw]
        for n in range(1, order):
            for gram in self.counts[n]:
                if gram[0] != BOS:  # nothing stands before a sentence, so those keep their counts
                    self.counts[n][gram] = sum(longer[1:] == gram for longer in raw[n + 1])
        self.discounts = [None] + [self.estimate(self.counts[n].values()) for n in range(1, order + 1)]

    @staticmethod
    def estimate(values):
        n = {i: sum(value == i for value in values) for i in (1, 2, 3, 4)}
        Y = n[1] / (n[1] + 2 * n[2]) if n[1] + n[2] else 0
        estimates = [i - (i + 1) * Y * n[i + 1] / n[i] if n[i] * n[i + 1] else i / 2 for i in (1, 2, 3)]
        return [min(max(estimate, 0), i) for i, estimate in zip((1, 2, 3), estimates, strict=True)]

    def prob(self, word, context):
        n = len(context) + 1
        shorter = self.prob(word, context[1:]) if context else 1 / V
        followers = {gram[-1]: c for gram, c in self.counts[n].items() if gram[:-1] == context}
        if not followers:
            return shorter
        total = sum(followers.values())
        taken = {w: self.discounts[n][min(c, 3) - 1] for w, c in followers.items()}
        own = (followers[word] - taken[word]) / total if word in followers else 0
        return own + sum(taken.values()) / total * shorter

    def after(self, prefix):
        context = tuple(prefix[-(self.order - 1) :]) if self.order > 1 else ()
        return torch.tensor([self.prob(word, context) for word in range(V)])


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_modified_kneser_ney_equals_its_definition(precision, order):
    sentences = corpus()
    slow = SlowKneserNey(sentences, order)
    model = KneserNey(NGramCounts([torch.tensor(s) for s in sentences], order, V, BOS))
    for ours, theirs in zip(model.discounts, slow.discounts[1:], strict=True):
        assert ours == pytest.approx(tuple(theirs))
    prefixes = [s[:t] for s in sentences[:8] for t in range(1, len(s))] + [[BOS, 8, 8, 8, 8], [BOS, 7, 2, 8]]
    for prefix in prefixes:
        assert_equal(model(torch.tensor([prefix]))[0, -1].exp(), slow.after(prefix))


@pytest.mark.parametrize("order", [2, 3])
def test_one_discount_equals_nltk_inside_a_sentence(precision, order):
    """nltk does not discount unigrams, nor treat the start of a sentence as we do: compare elsewhere."""
    sentences, discount = corpus(), 0.4
    padded = [[BOS] * order + s[1:] for s in sentences]
    ngrams = [
        [tuple(s[t - n + 1 : t + 1]) for t in range(order, len(s))]
        for s in padded
        for n in range(1, order + 1)
    ]
    theirs = KneserNeyInterpolated(order, discount, vocabulary=Vocabulary(range(V)))
    theirs.counts = theirs.estimator.counts = NgramCounter(ngrams)
    counts = NGramCounts([torch.tensor(s) for s in sentences], order, V, BOS)
    ours = KneserNey(counts, discounts=[(0.0, 0.0, 0.0)] + [(discount,) * 3] * (order - 1))
    for prefix in [s[:t] for s in sentences[:12] for t in range(order, len(s))]:
        context = tuple(prefix[-(order - 1) :])
        expected = torch.tensor([float(theirs.unmasked_score(word, context)) for word in range(V)])
        assert_equal(ours(torch.tensor([prefix]))[0, -1].exp(), expected)


def test_every_row_sums_to_one_even_after_contexts_that_never_occurred(precision):
    model = KneserNey(NGramCounts([torch.tensor(s) for s in corpus()], 4, V, BOS))
    tokens = torch.randint(V, (20, 11))
    assert_equal(model(tokens).exp().sum(dim=-1), torch.ones(20, 11))


def test_a_word_that_follows_only_one_word_is_unlikely_elsewhere():
    """ "Francisco" (3) is as frequent as "bread" (4), but only "San" (2) comes before it."""
    sentences = [[BOS, 2, 3, EOS]] * 6 + [[BOS, word, 4, EOS] for word in (5, 6, 7, 5, 6, 7)]
    model = KneserNey(
        NGramCounts([torch.tensor(s) for s in sentences], 2, V, BOS), discounts=[(0.5, 0.5, 0.5)] * 2
    )
    after_new_word = model(torch.tensor([[BOS, 8]]))[0, -1]
    assert after_new_word[4] > after_new_word[3] + 0.5


def test_the_discounts_follow_the_formula():
    counts = torch.tensor([1] * 8 + [2] * 4 + [3] * 2 + [4] * 1)  # Y = 8 / (8 + 2 · 4) = 1/2
    assert chen_goodman_discounts(counts) == pytest.approx(
        (1 - 2 / 2 * 4 / 8, 2 - 3 / 2 * 2 / 4, 3 - 4 / 2 * 1 / 2)
    )


@pytest.mark.parametrize(
    "discounts", [[(0.5, 0.5, 0.5)], [(0.5, 0.5, 0.5), (1.5, 1.5, 1.5)], [(0.1, 0.1)] * 2]
)
def test_discounts_that_do_not_fit_are_refused(discounts, as_students_run_it):
    with pytest.raises(ValueError, match="discounts: expected 2 triples with 0 ≤ D_i ≤ i, got"):
        KneserNey(NGramCounts([torch.tensor(s) for s in corpus()], 2, V, BOS), discounts)
