"""Modified Kneser-Ney smoothing: subtract a discount from every count, and give it to the shorter context.

Chen and Goodman 1999, "An empirical study of smoothing techniques for language modeling", section 3. The
highest order uses counts. A lower order counts after how many *different* tokens an n-gram appears, because
it matters only where the longer context is unseen ("Francisco" is frequent, but only after "San").
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from course.models.counts import UNSEEN, CountingModel, NGramCounts
from course.shapes import Float, Int, Tensor

Discounts = tuple[float, float, float]  # subtracted from n-grams of count 1, 2, and 3 or more


def chen_goodman_discounts(counts: Int[Tensor, " ngrams"]) -> Discounts:
    """D_i = i − (i + 1) Y n_{i+1}/n_i with Y = n_1/(n_1 + 2 n_2); n_i n-grams have the count i (equation 26).

    If one of the n_i is 0 in a small corpus, that discount is i/2, as in KenLM (Heafield et al. 2013).
    """
    n_1, n_2, n_3, n_4 = (int((counts == i).sum()) for i in (1, 2, 3, 4))
    Y = n_1 / (n_1 + 2 * n_2) if n_1 + n_2 else 0.0
    estimates = [
        i - (i + 1) * Y * more / fewer if fewer and more else i / 2
        for i, fewer, more in ((1, n_1, n_2), (2, n_2, n_3), (3, n_3, n_4))
    ]
    D_1, D_2, D_3 = (min(max(estimate, 0.0), float(i)) for i, estimate in enumerate(estimates, start=1))
    return D_1, D_2, D_3


def continuation_counts(counts: NGramCounts, k: int) -> Int[Tensor, " ngrams"]:
    """After how many different older tokens each n-gram with a context of k tokens appears.

    Contexts that begin a sentence keep their counts, because only BOS can precede them.
    """
    V = counts.vocab_size
    _, ngram, count, _ = counts.table(k)
    longer_context, longer_ngram, _, _ = counts.table(k + 1)
    shortened = longer_context[longer_ngram // V] // V * V + longer_ngram % V
    different = torch.bincount(torch.searchsorted(ngram, shortened), minlength=len(ngram))
    return torch.where(begins_sentence(counts, k)[ngram // V], count, different)


def begins_sentence(counts: NGramCounts, k: int) -> Tensor:
    """For every context of k tokens: is its oldest token BOS?"""
    if k == 0:
        return torch.zeros(1, dtype=torch.bool, device=counts.table(0)[0].device)
    return counts.table(k)[0] % counts.vocab_size == counts.bos


def reaches_behind_bos(counts: NGramCounts, k: int) -> Tensor:
    """For every context of k tokens: are its two oldest BOS, so that the shorter context says as much?"""
    if k < 2:
        return torch.zeros(len(counts.table(k)[0]), dtype=torch.bool, device=counts.table(k)[0].device)
    shorter = counts.table(k)[0] // counts.vocab_size
    return begins_sentence(counts, k) & begins_sentence(counts, k - 1)[shorter]


class KneserNey(CountingModel):
    """P(w | context) = (c(context, w) − D)/c(context) + γ(context) P(w | shorter context), down to 1/V.

    γ(context) is the mass that the discounts free, so every row sums to one and every word has a positive
    probability. The exception is a context whose discounts are all estimated as 0, as in a very regular text:
    a word that never followed it has probability 0. Interpolated Kneser-Ney with one discount d is
    `discounts=[(d, d, d)] * order`.
    """

    def __init__(self, counts: NGramCounts, discounts: Sequence[Discounts] | None = None) -> None:
        """`discounts` holds (D1, D2, D3+) for orders 1 … n; by default they are estimated from the counts.

        Raises ValueError for a wrong number of orders or a discount outside 0 … count.
        """
        super().__init__(counts)
        adjusted = [continuation_counts(counts, k) for k in range(counts.order - 1)]
        adjusted.append(counts.table(counts.order - 1)[2])
        if discounts is None:
            discounts = [self._estimate(k, values) for k, values in enumerate(adjusted)]
        self._check(discounts)
        self.discounts: tuple[Discounts, ...] = tuple((D_1, D_2, D_3) for D_1, D_2, D_3 in discounts)
        for k, (values, triple) in enumerate(zip(adjusted, self.discounts, strict=True)):
            self._store(k, values, triple)

    def _estimate(self, k: int, values: Tensor) -> Discounts:
        is_new = ~reaches_behind_bos(self.counts, k)[self.counts.table(k)[1] // self.vocab_size]
        return chen_goodman_discounts(values[is_new])

    def _check(self, discounts: Sequence[Discounts]) -> None:
        fits = len(discounts) == self.counts.order and all(
            len(triple) == 3 and all(0 <= d <= i for i, d in enumerate(triple, start=1))
            for triple in discounts
        )
        if not fits:
            raise ValueError(
                f"discounts: expected {self.counts.order} triples with 0 ≤ D_i ≤ i, got {list(discounts)}"
            )

    def _store(self, k: int, values: Tensor, triple: Discounts) -> None:
        """Store each n-gram's discounted frequency and each context's γ; behind BOS, these are 0 and 1."""
        context, ngram, _, _ = self.counts.table(k)
        owner = ngram // self.vocab_size
        by_count = torch.tensor((0.0, *triple), dtype=torch.float64, device=values.device)
        discount = by_count[values.clamp(max=3)]  # (N,)
        zeros = torch.zeros(len(context), dtype=torch.float64, device=values.device)
        total = zeros.index_add(0, owner, values.double())
        gamma = zeros.index_add(0, owner, discount) / total
        hands_down = reaches_behind_bos(self.counts, k)
        share = torch.where(hands_down[owner], 0.0, (values - discount) / total[owner])
        self.register_buffer(f"share_{k}", share)
        self.register_buffer(f"gamma_{k}", torch.where(hands_down, 1.0, gamma))

    def probs(self, contexts: Int[Tensor, "contexts n_context"]) -> Float[Tensor, "contexts vocab"]:
        probs = torch.full((len(contexts), self.vocab_size), 1 / self.vocab_size, device=contexts.device)
        for k, numbers in enumerate(self.counts.look_up(contexts)):
            gamma = torch.where(numbers == UNSEEN, 1.0, self.get_buffer(f"gamma_{k}")[numbers])
            shares = self.counts.rows(k, numbers, values=self.get_buffer(f"share_{k}"))
            probs = shares + gamma[:, None].to(shares.dtype) * probs
        return probs
