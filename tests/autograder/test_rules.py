"""Rules of every exercise: answers that break one are seen, right ones are not mistaken for such."""

from functools import cache
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.nn import functional

from autograder.checking.examine import run_checks
from autograder.checking.rules import introduction, violations
from autograder.making.products import build_homework
from autograder.source.address import Address
from autograder.source.homework import references
from autograder.source.loading import find, names
from course.checks import LocalLink

HOMEWORKS = {name.partition("_")[0]: name for name in names()}


@cache
def homework(short):
    return find(HOMEWORKS[short])


def examined(short, exercise, thing, hidden=False):
    """What the checks say of an answer: the visible ones, or the hidden ones."""
    of = homework(short)
    only = {check.name for check in of.exercise(exercise).checks if check.hidden is hidden}
    return run_checks(of, LocalLink(references(of) | {exercise: thing}), 1, only=only)


# Right otherwise, but something that was handed in is not what it was.


def rms_norm(x, gain, epsilon):
    x /= (x.square().mean(-1, keepdim=True) + epsilon).sqrt()
    return gain * x


def top_k(logits, k):
    logits[logits < logits.topk(k, dim=-1).values[..., -1:]] = -torch.inf
    return logits


def temperature(logits, t):
    if t == 0:
        best = logits.argmax(-1, keepdim=True)
        return logits.fill_(-torch.inf).scatter_(-1, best, 0.0)
    logits /= t
    return logits


def gpt2_weights(checkpoint):
    for name in list(checkpoint):
        weight = checkpoint.pop(name)
        if not name.endswith((".attn.bias", ".attn.masked_bias", "lm_head.weight")):
            is_linear = name.endswith(("c_attn.weight", "c_proj.weight", "c_fc.weight"))
            checkpoint[name.removeprefix("transformer.")] = weight.T if is_linear else weight
    return dict(checkpoint)


def masked_batch(tokens, is_special, mask_token, generator):
    draws, kinds = torch.rand(2, *tokens.shape, generator=generator)
    ordinary = (~is_special).nonzero()[:, 0]
    replacements = ordinary[torch.randint(len(ordinary), tokens.shape, generator=generator)]
    is_asked = (draws < 0.15) & ~is_special[tokens]
    targets = torch.where(is_asked, tokens, -100)
    tokens[is_asked & (kinds < 0.8)] = mask_token
    tokens[is_asked & (kinds >= 0.9)] = replacements[is_asked & (kinds >= 0.9)]
    return tokens, targets


def mle_probs(counts, context, words):
    words.append("</s>")
    followers = counts.get(context, {})
    total = sum(followers.values())
    return {word: followers.get(word, 0) / total if total else 1 / len(words) for word in words}


def add_k_prob(counts, context, token, words, k):
    followers = counts.setdefault(context, {})
    for word in [*words, "</s>"]:
        followers[word] = followers.get(word, 0) + k
    return followers[token] / sum(followers.values())


def bpe_encode(word, merges):
    symbols = [bytes([byte]) for byte in word.encode()]
    while merges:
        left, right = merges.pop(0)
        merged = []
        for symbol in symbols:
            if symbol == right and merged and merged[-1] == left:
                merged[-1] = left + right
            else:
                merged.append(symbol)
        symbols = merged
    return symbols


def log_softmax(logits):
    logits -= logits.max(dim=-1, keepdim=True).values
    logits -= logits.exp().sum(dim=-1, keepdim=True).log()
    return logits


IN_PLACE = [
    ("hw5", rms_norm, "1, `x`,"),
    ("hw6", top_k, "1, `logits`,"),
    ("hw6", temperature, "1, `logits`,"),
    ("hw6", gpt2_weights, "1, `checkpoint`,"),
    ("hw7", masked_batch, "1, `tokens`,"),
    ("hw1", mle_probs, "3, `words`,"),
    ("hw1", add_k_prob, "1, `counts`,"),
    ("hw1", bpe_encode, "2, `merges`,"),
    ("hw2", log_softmax, "1, `logits`,"),
]


@pytest.mark.parametrize(("short", "wrong", "argument"), IN_PLACE, ids=[one[1].__name__ for one in IN_PLACE])
def test_an_answer_that_changes_what_it_was_given_no_longer_passes(short, wrong, argument):
    sentence = f"`{wrong.__name__}` changed its argument {argument} in place."
    failed = [done for done in examined(short, wrong.__name__, wrong) if done.result == "failed"]
    assert any(done.message.startswith(sentence) for done in failed)


# The right numbers, through which no gradient flows, or only a part of it.


def next_token_loss(logits, tokens, mask=None):
    losses = functional.cross_entropy(logits[:, :-1].mT, tokens[:, 1:], reduction="none")
    return (losses.mean() if mask is None else losses[mask[:, 1:]].mean()).item()


def mlm_loss(logits, targets):
    return float(functional.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=-100))


def translation_loss(logits, target, pad):
    return float(functional.cross_entropy(logits.mT, target[:, 1:], ignore_index=pad))


class LayerNorm(nn.Module):
    def __init__(self, d_model, epsilon):
        super().__init__()
        self.epsilon = epsilon
        self.gain, self.bias = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        centred = x - x.mean(dim=-1, keepdim=True)
        variance = centred.square().mean(dim=-1, keepdim=True).detach()
        return self.gain * centred / torch.sqrt(variance + self.epsilon) + self.bias


CUT_OFF = [
    ("hw6", next_token_loss, "no gradient flows back"),
    ("hw7", mlm_loss, "no gradient flows back"),
    ("hw7", translation_loss, "no gradient flows back"),
    ("hw5", LayerNorm, "the gradient that flows back is not the slope of what `LayerNorm` computes"),
]


@pytest.mark.parametrize(("short", "wrong", "words"), CUT_OFF, ids=[one[1].__name__ for one in CUT_OFF])
def test_an_answer_that_cannot_be_differentiated_no_longer_passes(short, wrong, words):
    failed = [done for done in examined(short, wrong.__name__, wrong) if done.result == "failed"]
    assert any(done.message.startswith(words) for done in failed)


# Right: x is in the end what it was.


def slopes_with_x_moved_and_put_back(loss_name, x, seed):
    losses, exact = homework("hw2").namespace()["LOSSES"], x if x.dtype == torch.float64 else x.double()
    flat, slopes = exact.view(-1), []
    for place in range(len(flat)):
        old, both = flat[place].item(), []
        for moved in (old + 1e-5, old - 1e-5):
            flat[place] = moved
            both.append(losses[loss_name](exact, torch.Generator().manual_seed(seed)).item())
        flat[place] = old
        slopes.append((both[0] - both[1]) / 2e-5)
    return torch.tensor(slopes, dtype=torch.float64).reshape(x.shape)


def slopes_in_numpy(loss_name, x, seed):
    values = x.numpy().astype("float64")
    return slopes_with_x_moved_and_put_back(loss_name, torch.from_numpy(values), seed)


RIGHT = [slopes_with_x_moved_and_put_back, slopes_in_numpy]


@pytest.mark.parametrize("right", RIGHT)
@pytest.mark.parametrize("hidden", [False, True])
def test_a_gradient_found_by_moving_x_and_putting_it_back_passes(right, hidden):
    assert {done.result for done in examined("hw2", "numerical_gradient", right, hidden)} == {"passed"}


def test_no_check_marks_what_it_hands_over_as_needing_gradients_unasked():
    """The link hands over copies; a sandbox hands on whether they need gradients."""
    seen = [done.trace.events for done in examined("hw2", "numerical_gradient", RIGHT[1], hidden=True)]
    assert not any(event.args[1].requires_grad for events in seen for event in events)


# What verify says of a homework whose checks do not notice a breach.


def test_a_breach_that_no_visible_check_notices_is_named():
    of = homework("hw5")
    reference = references(of)["rms_norm"]
    said = list(violations(of.exercise("rms_norm"), reference, touched))
    assert [one for one in said if "modifies its arguments" in one]


def touched(rms_norm):
    """The one call of a check that compares nothing."""
    rms_norm(torch.ones(2, 3), torch.ones(3), 0.1)
    return []


@pytest.mark.parametrize("name", HOMEWORKS.values())
def test_every_homework_says_the_rules(name):
    built = build_homework(find(name), Address.read(Path()))
    assert introduction() in [cell["source"] for cell in built["cells"]]
