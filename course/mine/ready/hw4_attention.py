"""Ready-made parts of homework 4: a translator with attention, and its alignment error rate."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from course import evaluation
from course.data.vocabulary import pad_sequences
from course.models.attention import attention_weights, bilinear_scores

__all__ = [
    "AttentionDecoder",
    "Encoder",
    "alignment_error_rate",
    "alignment_links",
    "alignment_map",
    "decoder_inputs_and_targets",
    "sequence_loss",
]

Link = tuple[int, int]


def decoder_inputs_and_targets(
    sentences: Sequence[Tensor], bos: int, eos: int, pad: int
) -> tuple[Tensor, Tensor]:
    """As in exercise 1."""
    framed = [[bos, *words.tolist(), eos] for words in sentences]
    inputs, targets = pad_sequences([words[:-1] for words in framed], pad), [words[1:] for words in framed]
    return inputs.tokens, pad_sequences(targets, pad).tokens


class Encoder(nn.Module):
    """As in exercise 2."""

    def __init__(self, vocab_size: int, d_embedding: int, d_hidden: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_embedding)
        self.network = nn.GRU(d_embedding, d_hidden, batch_first=True)
        self.double()

    def forward(self, source: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        states = self.network(self.embedding(source))[0]
        last = (lengths - 1)[:, None, None].expand(-1, 1, states.shape[-1])
        return states, states.gather(1, last).squeeze(1)


class AttentionDecoder(nn.Module):
    """As in exercise 14."""

    def __init__(self, vocab_size: int, d_embedding: int, d_hidden: int, d_memory: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_embedding)
        self.cell = nn.GRUCell(d_embedding + d_hidden, d_hidden)
        self.W = nn.Parameter(torch.zeros(d_hidden, d_memory))
        self.combine = nn.Linear(d_hidden + d_memory, d_hidden, bias=False)
        self.output = nn.Linear(d_hidden, vocab_size)
        self.double()

    def forward(self, state: Tensor, inputs: Tensor, memory: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        attended, steps = torch.zeros_like(state), []
        for word in self.embedding(inputs).transpose(0, 1):
            state = self.cell(torch.cat([word, attended], dim=1), state)
            looks = attention_weights(bilinear_scores(state[:, None], memory, self.W), mask[:, None])
            context = (looks @ memory).squeeze(1)
            attended = self.combine(torch.cat([state, context], dim=1)).tanh()
            steps.append((self.output(attended), looks.squeeze(1)))
        logits, weights = zip(*steps, strict=True)
        return torch.stack(logits, dim=1), torch.stack(weights, dim=1)


def sequence_loss(logits: Tensor, targets: Tensor, lengths: Tensor, pad: int) -> Tensor:
    """As in exercise 4."""
    places = torch.arange(targets.shape[1]).expand_as(targets)
    asked = targets.masked_fill(places >= lengths[:, None], -100)
    return F.cross_entropy(logits.transpose(1, 2), asked, ignore_index=-100)


def alignment_map(weights: Tensor, sentence: int, n_target: int, n_source: int) -> Tensor:
    """As in exercise 15."""
    return weights[sentence].narrow(0, 0, n_target).narrow(1, 0, n_source)


def alignment_links(weights: Tensor) -> list[Link]:
    """As in exercise 16."""
    strongest = weights.max(dim=1).indices
    return [(int(s), t) for t, s in enumerate(strongest) if int(s) < weights.shape[1] - 1]


def alignment_error_rate(
    found: Sequence[Sequence[Link]], sure: Sequence[Sequence[Link]], possible: Sequence[Sequence[Link]]
) -> float:
    """As in exercise 17."""
    return evaluation.alignment_error_rate(found, sure, possible)
