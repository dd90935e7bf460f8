"""Right solutions of homework 0 that look nothing like the reference: no check may take a point from them."""

import math
from collections import Counter
from itertools import accumulate, pairwise

import numpy as np
import torch
from torch.nn import functional

from autograder.catalogue import alternative


@alternative(of="different_words")
def by_counting(text):
    counts = Counter(word.casefold() for word in text.split(" ") if word)
    return len(counts)


@alternative(of="split_groups")
def by_chunks(x, n_groups):
    return torch.stack(x.chunk(n_groups, dim=-1), dim=1)


@alternative(of="split_groups")
def in_numpy(x, n_groups):
    return np.stack(np.split(x.numpy(), n_groups, axis=-1), axis=1)


@alternative(of="split_groups")
def written_into_zeros(x, n_groups):
    B, T, D = x.shape
    K = D // n_groups
    groups = torch.zeros(B, n_groups, T, K)
    for h in range(n_groups):
        groups[:, h] = x[:, :, h * K : (h + 1) * K]
    return groups


@alternative(of="merge_groups")
def by_writing_slices(x):
    B, H, T, K = x.shape
    merged = torch.zeros(B, T, H * K, dtype=x.dtype)
    for h in range(H):
        merged[:, :, h * K : (h + 1) * K] = x[:, h]
    return merged


@alternative(of="add_per_position")
def by_turning_round(x, offsets):
    return (x.transpose(1, 2) + offsets).transpose(1, 2)


@alternative(of="real_lengths")
def row_by_row(tokens, pad):
    return torch.tensor([len([token for token in row if token != pad]) for row in tokens.tolist()])


@alternative(of="log_prob_of")
def by_cross_entropy(logits, tokens):
    return -float(functional.cross_entropy(logits, tokens, reduction="sum"))


@alternative(of="log_prob_of")
def token_by_token(logits, tokens):
    total = 0.0
    for row, token in zip(logits.tolist(), tokens.tolist(), strict=True):
        largest = max(row)
        total += row[token] - largest - math.log(math.fsum(math.exp(logit - largest) for logit in row))
    return total


@alternative(of="log_prob_of")
def chosen_minus_logsumexp(logits, tokens):
    return (logits.gather(1, tokens.unsqueeze(1)).squeeze(1) - logits.logsumexp(1)).sum().item()


@alternative(of="pieces_per_word")
def from_beginning_to_beginning(pieces):
    begins = [i for i, piece in enumerate(pieces) if i == 0 or piece[:1] == " "]
    return [end - begin for begin, end in pairwise([*begins, len(pieces)])]


@alternative(of="pieces_per_word")
def counted_by_word(pieces):
    words = accumulate(int(i == 0 or piece.startswith(" ")) for i, piece in enumerate(pieces))
    return list(Counter(words).values())


@alternative(of="distances")
def by_cdist(logits):
    probs = logits.softmax(1)
    return torch.cdist(probs, probs, p=1) / 2


@alternative(of="distances")
def one_minus_what_is_shared(logits):
    probs = logits.softmax(1)
    return 1 - torch.minimum(probs[:, None], probs[None]).sum(-1)


@alternative(of="distances")
def pair_by_pair(logits):
    rows = logits.softmax(-1).unbind()
    return torch.stack([torch.stack([(p - q).clamp(min=0).sum() for q in rows]) for p in rows])


@alternative(of="chat_prompt")
def line_by_line(messages):
    text = ""
    for speaker, said in [*messages, ("assistant", None)]:
        text += "<|im_start|>" + speaker + "\n"
        if said is not None:
            text += said + "<|im_end|>\n"
    return text


@alternative(of="surprise")
def in_two_cases(bets, word, n_words):
    if word in bets:
        return -math.log(bets[word]) / math.log(2)
    left = 1 - math.fsum(bets.values())
    if left < 1e-12:
        return math.inf
    return math.log2(n_words - len(bets)) - math.log2(left)


@alternative(of="name_the_wrong_move")
def by_trying_them_out():
    x = torch.arange(24).reshape(2, 3, 4)
    is_shown = x.reshape(2, 2, 3, 2).transpose(0, 1)[0, 1, 0, 0] == 12
    return "read_with_the_groups_first" if is_shown else "reshaped_to_the_final_shape"
