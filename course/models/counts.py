"""n-gram counts, and the models that divide them: uniform, maximum likelihood, add-k, interpolation.

An n-gram model of order n predicts a token from the n − 1 tokens before it. Every sequence is preceded by
BOS, and every position before a BOS also counts as BOS, so no context crosses a sentence boundary. BOS itself
is never predicted.

The counts are stored in sorted integer arrays. A context is numbered from its newest token to its oldest: the
number of (u, v) is found from the number of the shorter context (v) and the one older token u. Counting then
takes a few sorts, a look-up takes a few binary searches, and the shorter context to back off to is always
known.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import nn
from torch.nn import functional as F

from course.language_model import check_tokens
from course.shapes import Float, Int, Tensor

UNSEEN = -1  # the number of a context that does not occur in the training text


def as_stream(sequences: Tensor | Sequence[Tensor], bos: int) -> Int[Tensor, " stream"]:
    """All sequences one after another, BOS before each: [[5, 6], [7]] → [BOS, 5, 6, BOS, 7].

    Raises ValueError if there is no token at all.
    """
    if isinstance(sequences, Tensor):
        stream = F.pad(sequences, (1, 0), value=bos).flatten()  # (B, T) → (B·(T + 1),)
    else:
        stream = torch.cat([F.pad(row, (1, 0), value=bos) for row in sequences] or [torch.tensor([bos])])
    if (stream == bos).all():
        raise ValueError("sequences: expected a corpus with at least one token besides BOS, got none")
    return stream


def contexts_before(
    tokens: Int[Tensor, "*batch time"], n_context: int, bos: int
) -> Int[Tensor, "*batch time n_context"]:
    """The `n_context` tokens that end at each position, newest first; BOS fills everything before a BOS.

    BOS = 0, [0, 5, 6], 2 → [[0, 0], [5, 0], [6, 5]]
    """
    if n_context == 0:
        return tokens.new_empty(*tokens.shape, 0)
    windows = F.pad(tokens, (n_context - 1, 0), value=bos).unfold(-1, n_context, 1).flip(-1)  # (…, n)
    return torch.where((windows == bos).cummax(dim=-1).values, bos, windows)


def find(keys: Int[Tensor, " sorted"], wanted: Int[Tensor, "*shape"]) -> Int[Tensor, "*shape"]:
    """The index of each wanted number in the sorted `keys`, UNSEEN where it is missing."""
    index = torch.searchsorted(keys, wanted).clamp(max=len(keys) - 1)
    return torch.where(keys[index] == wanted, index, UNSEEN)


class NGramCounts(nn.Module):
    """How often each n-gram of orders 1 … n occurs, stored so that many contexts are looked up at once.

    For contexts of k tokens: `context_k` (C,) sorted keys shorter · V + oldest; `ngram_k` (N,) sorted keys
    context · V + word; `count_k` (N,) their counts; `start_k` (C + 1,) where each context's n-grams begin.
    """

    def __init__(
        self,
        sequences: Tensor | Sequence[Tensor],
        order: int,
        vocab_size: int,
        bos: int,
        pad: int | None = None,
    ) -> None:
        """Count every n-gram of `sequences`, (B, T), (T,) or a list of (T,); a token `pad` is not predicted.

        Raises ValueError for an empty corpus, TypeError and ValueError for tokens as `check_tokens` does.
        """
        super().__init__()
        if order < 1:
            raise ValueError(f"order: expected at least 1, got {order}")
        self.order, self.vocab_size, self.bos = order, vocab_size, bos
        stream = as_stream(sequences, bos)
        check_tokens(stream[None], vocab_size)
        is_predicted = stream[1:] != bos
        if pad is not None:
            is_predicted &= stream[1:] != pad
        word = stream[1:][is_predicted]
        older_tokens = contexts_before(stream[:-1], order - 1, bos)[is_predicted]  # (N, n − 1)
        context = torch.zeros_like(word)
        self._store(0, context.new_zeros(1), context, word)
        for k in range(1, order):
            keys, context = torch.unique(context * vocab_size + older_tokens[:, k - 1], return_inverse=True)
            self._store(k, keys, context, word)

    def _store(self, k: int, keys: Tensor, context: Tensor, word: Tensor) -> None:
        ngrams, count = torch.unique(context * self.vocab_size + word, return_counts=True)
        words_per_context = torch.bincount(ngrams // self.vocab_size, minlength=len(keys))
        self.register_buffer(f"context_{k}", keys)
        self.register_buffer(f"ngram_{k}", ngrams)
        self.register_buffer(f"count_{k}", count)
        self.register_buffer(f"start_{k}", F.pad(words_per_context.cumsum(0), (1, 0)))

    def table(self, k: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """`context`, `ngram`, `count`, `start` for contexts of k tokens."""
        names = ("context", "ngram", "count", "start")
        context, ngram, count, start = (self.get_buffer(f"{name}_{k}") for name in names)
        return context, ngram, count, start

    @property
    def n_ngrams(self) -> int:
        """How many different n-grams of the highest order were seen: the size of the model."""
        return len(self.get_buffer(f"ngram_{self.order - 1}"))

    def look_up(self, contexts: Int[Tensor, "contexts n_context"]) -> list[Int[Tensor, " contexts"]]:
        """For k = 0 … n − 1: the number of the context of each row's k newest tokens, or UNSEEN."""
        numbers = [contexts.new_zeros(len(contexts))]
        for k in range(1, self.order):
            found = find(self.get_buffer(f"context_{k}"), numbers[-1] * self.vocab_size + contexts[:, k - 1])
            numbers.append(torch.where(numbers[-1] == UNSEEN, UNSEEN, found))
        return numbers

    def rows(
        self, k: int, contexts: Int[Tensor, " contexts"], values: Tensor | None = None
    ) -> Float[Tensor, "contexts vocab"]:
        """The counts of every word after each context of k tokens; zeros for an unseen context.

        If `values` (N,) are given, one for each n-gram, they take the place of the counts.
        """
        _, ngram, count, start = self.table(k)
        values = count if values is None else values
        different, inverse = torch.unique(contexts, return_inverse=True)
        first = torch.where(different == UNSEEN, 0, start[different])
        length = torch.where(different == UNSEEN, 0, start[different + 1] - first)
        row = torch.repeat_interleave(length)  # row i, length[i] times
        nth_in_row = torch.arange(len(row), device=row.device) - (length.cumsum(0) - length)[row]
        entry = first[row] + nth_in_row
        size = (len(different), self.vocab_size)
        rows = torch.zeros(size, dtype=torch.get_default_dtype(), device=row.device)
        rows[row, ngram[entry] % self.vocab_size] = values[entry].to(rows.dtype)
        return rows[inverse]  # (contexts, V)


class Uniform(nn.Module):
    """Every token is equally likely: the highest rung of the ladder, log V nats."""

    context_length = None

    def __init__(self, vocab_size: int) -> None:
        super().__init__()
        self.vocab_size = vocab_size

    def forward(self, tokens: Int[Tensor, "batch time"]) -> Float[Tensor, "batch time vocab"]:
        """−log V everywhere."""
        check_tokens(tokens, self.vocab_size)
        logits = torch.zeros(*tokens.shape, self.vocab_size, device=tokens.device)
        return logits.log_softmax(dim=-1)


class CountingModel(nn.Module):
    """The base of all n-gram models: find the different contexts, and call `probs` once for all of them."""

    context_length = None  # any number of positions; each one depends on n − 1 tokens

    def __init__(self, counts: NGramCounts) -> None:
        super().__init__()
        self.counts = counts
        self.vocab_size = counts.vocab_size

    def probs(self, contexts: Int[Tensor, "contexts n_context"]) -> Float[Tensor, "contexts vocab"]:
        """P(next | context) for contexts with the newest token first."""
        raise NotImplementedError

    def forward(self, tokens: Int[Tensor, "batch time"]) -> Float[Tensor, "batch time vocab"]:
        """Log-probabilities of the next token at every position; −∞ for a word of probability 0."""
        check_tokens(tokens, self.vocab_size)
        contexts = contexts_before(tokens, self.counts.order - 1, self.counts.bos)  # (B, T, n − 1)
        if contexts.shape[-1] == 0:
            return self.probs(contexts[0, :1]).log().expand(*tokens.shape, -1)
        different, inverse = torch.unique(contexts.flatten(0, 1), dim=0, return_inverse=True)  # (B·T,)
        return self.probs(different).log()[inverse].unflatten(0, tokens.shape)  # (B, T, V)


class NGram(CountingModel):
    """P(w | context) = (count(context, w) + k) / (count(context) + k V); k = 0 is maximum likelihood.

    For k = 0 and a context that never occurred, this is 0/0; then every word is equally likely.
    """

    def __init__(self, counts: NGramCounts, k: float = 0.0) -> None:
        super().__init__(counts)
        if k < 0:
            raise ValueError(f"k: expected at least 0, got {k}")
        self.k = k

    def probs(self, contexts: Int[Tensor, "contexts n_context"]) -> Float[Tensor, "contexts vocab"]:
        highest = self.counts.order - 1
        return divide(self.counts.rows(highest, self.counts.look_up(contexts)[highest]) + self.k)


def divide(rows: Float[Tensor, "contexts vocab"]) -> Float[Tensor, "contexts vocab"]:
    """Divide each row by its sum; a row of zeros becomes uniform."""
    total = rows.sum(dim=-1, keepdim=True)
    return torch.where(total > 0, rows / total.clamp(min=torch.finfo(rows.dtype).tiny), 1 / rows.shape[-1])


class InterpolatedNGram(CountingModel):
    """λ_0/V + λ_1 P(w) + λ_2 P(w | v) + … + λ_n P(w | context) (Jelinek and Mercer 1980).

    The weight of a context that never occurred is distributed over the others in proportion.
    """

    def __init__(self, counts: NGramCounts, shares: Sequence[float]) -> None:
        """`shares` are the weights λ_0 … λ_n, n + 1 numbers ≥ 0 that sum to one, λ_0 > 0; else ValueError."""
        super().__init__(counts)
        is_mixture = min(shares, default=-1) >= 0 and abs(sum(shares) - 1) <= 1e-6
        if len(shares) != counts.order + 1 or not is_mixture or shares[0] == 0:
            raise ValueError(
                f"shares: expected {counts.order + 1} numbers ≥ 0 that sum to one (uniform, then orders "
                f"1 … {counts.order}), the first above 0, got {tuple(shares)}"
            )
        self.shares = tuple(shares)

    def probs(self, contexts: Int[Tensor, "contexts n_context"]) -> Float[Tensor, "contexts vocab"]:
        C, V = len(contexts), self.vocab_size
        mixed = torch.full((C, V), self.shares[0] / V, device=contexts.device)
        total_share = torch.full((C, 1), self.shares[0], device=contexts.device)
        for k, numbers in enumerate(self.counts.look_up(contexts)):
            share = self.shares[k + 1] * (numbers != UNSEEN)[:, None]
            mixed = mixed + share * divide(self.counts.rows(k, numbers))
            total_share = total_share + share
        return mixed / total_share


def fit_shares(
    counts: NGramCounts, held_out: Int[Tensor, "batch time"], n_rounds: int = 20
) -> tuple[float, ...]:
    """The interpolation weights λ_0 … λ_n that make a held-out text most likely, by expectation maximisation.

    Each round divides one vote per token among the orders, in proportion to how well each predicted it.
    `held_out` must not be the text that was counted, because the highest order has already seen it, nor the
    test text.
    """
    contexts = contexts_before(held_out[:, :-1], counts.order - 1, counts.bos).flatten(0, 1)  # (B·T, n − 1)
    words = held_out[:, 1:].flatten()
    is_predicted = words != counts.bos
    contexts, words = contexts[is_predicted], words[is_predicted]
    by_order = [torch.full(words.shape, 1 / counts.vocab_size)]
    is_seen = [torch.ones(words.shape)]
    for k, numbers in enumerate(counts.look_up(contexts)):
        by_order.append(divide(counts.rows(k, numbers)).gather(-1, words[:, None])[:, 0])
        is_seen.append((numbers != UNSEEN).to(by_order[0].dtype))
    probs, seen = torch.stack(by_order, dim=-1), torch.stack(is_seen, dim=-1)  # (N, n + 1)
    shares = torch.full((counts.order + 1,), 1 / (counts.order + 1))
    for _ in range(n_rounds):
        votes = shares * seen * probs
        shares = (votes / votes.sum(dim=-1, keepdim=True)).mean(dim=0)
    return tuple((shares.double() / shares.double().sum()).tolist())
