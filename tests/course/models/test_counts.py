"""Counting models against counting by hand, one n-gram at a time."""

import math
from collections import Counter, defaultdict

import pytest
import torch
from model_equality import assert_equal

from course.models import InterpolatedNGram, NGram, NGramCounts, Uniform, fit_shares
from course.models.counts import contexts_before

V, BOS, EOS, PAD = 7, 0, 1, 6
SENTENCES = [[2, 3, 2, 3, 4, EOS], [2, 3, 4, EOS], [5, EOS], [3, 2, 3, 2, 2, EOS]]


def sentences():
    return [torch.tensor([BOS, *sentence]) for sentence in SENTENCES]


def counts_by_loop(order):
    """context (oldest first, BOS in front of the sentence) → Counter of next words."""
    table = defaultdict(Counter)
    for sentence in SENTENCES:
        padded = [BOS] * (order - 1) + sentence
        for t in range(order - 1, len(padded)):
            table[tuple(padded[t - order + 1 : t])][padded[t]] += 1
    return table


def prefix_to_context(prefix, order):
    return tuple(([BOS] * order + prefix)[len(prefix) + 1 :]) if order > 1 else ()


def all_prefixes():
    """Every prefix of the training sentences, and one with a context that never occurs."""
    prefixes = [[BOS, *sentence[:t]] for sentence in SENTENCES for t in range(len(sentence) + 1)]
    return [*prefixes, [BOS, 4, 4, 4]]


def probs_after(model, prefix):
    return model(torch.tensor([prefix]))[0, -1].exp()


@pytest.mark.parametrize("order", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("k", [0.0, 0.5])
def test_add_k_equals_counting_by_hand(precision, order, k):
    table = counts_by_loop(order)
    model = NGram(NGramCounts(sentences(), order, V, BOS), k)
    for prefix in all_prefixes():
        seen = table[prefix_to_context(prefix, order)]
        total = seen.total() + k * V
        expected = [(seen[w] + k) / total if total else 1 / V for w in range(V)]
        assert_equal(probs_after(model, prefix), torch.tensor(expected))


def test_a_mixture_of_orders_equals_mixing_by_hand(precision):
    shares = (0.1, 0.2, 0.3, 0.4)
    model = InterpolatedNGram(NGramCounts(sentences(), 3, V, BOS), shares)
    tables = [counts_by_loop(order) for order in (1, 2, 3)]
    for prefix in all_prefixes():
        expected, total = torch.full((V,), shares[0] / V), shares[0]
        for order, table in enumerate(tables, start=1):
            seen = table[prefix_to_context(prefix, order)]
            if seen:
                expected += shares[order] * torch.tensor([seen[w] / seen.total() for w in range(V)])
                total += shares[order]
        assert_equal(probs_after(model, prefix), expected / total)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_streams_batches_and_lists_are_counted_alike(order):
    stream = torch.cat(sentences())
    longest = max(map(len, sentences()))
    padded = torch.stack([torch.cat([s, s.new_full((longest - len(s),), PAD)]) for s in sentences()])
    as_list = NGramCounts(sentences(), order, V, BOS)
    as_stream = NGramCounts(stream, order, V, BOS)
    as_batch = NGramCounts(padded, order, V, BOS, pad=PAD)
    for name, buffer in as_list.named_buffers():
        assert as_stream.get_buffer(name).equal(buffer), name
    prefix = torch.tensor([[BOS, 2, 3, 2]])
    assert_equal(NGram(as_batch, 0.1)(prefix), NGram(as_list, 0.1)(prefix))


def test_no_context_reaches_across_the_border_of_a_sentence():
    model = NGram(NGramCounts(sentences(), 3, V, BOS))
    after_border = model(torch.tensor([[BOS, 5, EOS, BOS, 2]]))
    fresh = model(torch.tensor([[BOS, 2]]))
    assert_equal(after_border[:, 3:].exp(), fresh.exp())


def test_bos_is_never_a_prediction():
    model = NGram(NGramCounts([torch.cat(sentences())], 1, V, BOS))
    assert probs_after(model, [BOS])[BOS] == 0


def test_contexts_are_written_newest_first_and_stop_at_bos():
    assert contexts_before(torch.tensor([[0, 5, 6, 0, 7]]), 2, BOS).tolist() == [
        [[0, 0], [5, 0], [6, 5], [0, 0], [7, 0]]
    ]


def test_an_unseen_word_has_no_chance_under_maximum_likelihood():
    assert NGram(NGramCounts(sentences(), 2, V, BOS))(torch.tensor([[BOS, 5]]))[0, 1, 4] == -math.inf


def test_a_corpus_of_a_large_vocabulary_does_not_overflow_the_numbers():
    n_words = 3_000_000
    sentence = torch.tensor([n_words - 1, n_words - 2, n_words - 1, n_words - 2, n_words - 1])
    counts = NGramCounts([sentence], 5, n_words, BOS)
    [number] = counts.look_up(torch.tensor([[n_words - 2, n_words - 1, BOS, BOS]]))[-1].tolist()
    _, ngram, count, start = counts.table(4)
    assert (ngram[start[number] : start[number + 1]] % n_words).tolist() == [n_words - 1]
    assert count[start[number]].item() == 1


def test_uniform_pays_log_v_for_every_token():
    log_probs = Uniform(V)(torch.tensor([[BOS, 2, 3]]))
    assert_equal(log_probs, torch.full((1, 3, V), -math.log(V)))


def test_fitted_shares_do_better_on_held_out_text_than_equal_ones():
    grammar = torch.full((V, V), 0.02) + torch.eye(V).roll(1, dims=1)
    grammar[:, BOS] = 0

    def sample(n):
        rows = [torch.full((n,), BOS)]
        for _ in range(12):
            rows.append(torch.multinomial(grammar[rows[-1]], 1)[:, 0])
        return torch.stack(rows, dim=1)

    train, held_out, test = sample(20), sample(200), sample(500)
    counts = NGramCounts(train, 3, V, BOS)

    def loss(shares):
        log_probs = InterpolatedNGram(counts, shares)(test[:, :-1])
        return -log_probs.gather(-1, test[:, 1:, None]).mean()

    shares = fit_shares(counts, held_out)
    assert abs(sum(shares) - 1) < 1e-9
    assert loss(shares) < loss((0.25,) * 4) - 0.01


@pytest.mark.parametrize(
    "empty", [[], [torch.tensor([], dtype=torch.int64)], torch.zeros(2, 3, dtype=torch.int64)]
)
def test_an_empty_corpus_is_refused(empty):
    with pytest.raises(ValueError, match="expected a corpus with at least one token besides BOS, got none"):
        NGramCounts(empty, 2, V, BOS)


def test_a_token_outside_the_vocabulary_is_refused():
    with pytest.raises(ValueError, match="expected values in 0 … 6, got 7"):
        NGramCounts([torch.tensor([BOS, 7])], 2, V, BOS)


@pytest.mark.parametrize("shares", [(0.5, 0.5), (0.5, 0.5, 0.5), (0.0, 0.5, 0.5), (0.5, 1.0, -0.5)])
def test_shares_that_are_no_shares_are_refused(shares):
    with pytest.raises(ValueError, match="shares: expected 3 numbers ≥ 0 that sum to one"):
        InterpolatedNGram(NGramCounts(sentences(), 2, V, BOS), shares)


def test_an_order_of_zero_and_a_negative_k_are_refused():
    with pytest.raises(ValueError, match="order: expected at least 1, got 0"):
        NGramCounts(sentences(), 0, V, BOS)
    with pytest.raises(ValueError, match="k: expected at least 0, got -1"):
        NGram(NGramCounts(sentences(), 2, V, BOS), -1.0)
