"""Scores, masks and decoders that attend, which the checks once let pass."""

import torch

from autograder.proving.strangers import stranger

from ..notebook import AttentionDecoder


@stranger(of="attend")
def padding_at_minus_a_hundred(query, key, value, mask):
    weights = (query @ key.mT).masked_fill(~mask[:, None], -100.0).softmax(dim=-1)
    return weights @ value, weights


@stranger(of="bilinear_scores")
def scores_without_their_sign(query, key, W):
    return (query @ W @ key.mT).abs()


@stranger(of="AttentionDecoder")
class PaddingAtMinusAHundred(AttentionDecoder):
    at_padding = -100.0

    def forward(self, state, inputs, memory, mask):
        output, logits, weights = torch.zeros_like(state), [], []
        for x in self.embedding(inputs).unbind(dim=1):
            state = self.cell(torch.cat([x, output], dim=-1), state)
            scores = (memory @ (state @ self.W)[:, :, None])[:, :, 0]
            weights.append(scores.masked_fill(~mask, self.at_padding).softmax(dim=-1))
            context = (weights[-1][:, None] @ memory)[:, 0]
            output = torch.tanh(self.combine(torch.cat([state, context], dim=-1)))
            logits.append(self.output(output))
        return torch.stack(logits, dim=1), torch.stack(weights, dim=1)


@stranger(of="AttentionDecoder")
class PaddingAtMinusTenThousand(PaddingAtMinusAHundred):
    at_padding = -10_000.0


@stranger(of="additive_scores")
def ones_for_the_matrix_of_the_query(query, key, W_query, W_key, v):
    from_query = query @ torch.ones_like(W_query).T
    return torch.tanh(from_query[:, :, None] + (key @ W_key.T)[:, None]) @ v


@stranger(of="attend")
def padding_filled_with_infinity(query, key, value, mask):
    scores = (query @ key.transpose(1, 2)).masked_fill(~mask[:, None, :], torch.inf)
    weights = scores.softmax(dim=-1)
    return weights @ value, weights


@stranger(of="attention_weights", may_be=["finite_number_at_the_padding"])
def minus_a_thousand_at_the_padding(scores, mask):
    return scores.masked_fill(~mask[:, None], -1000.0).softmax(dim=-1)
