"""What goes wrong in homework 6, exercise 17: mirostat."""

import math

import torch

from autograder.catalogue import misconception


def _controlled(
    logits,
    target,
    learning_rate,
    generator,
    *,
    start=2.0,
    unit=2.0,
    sign=1.0,
    is_kept=True,
    is_safe=True,
    is_exact_kept=True,
):
    tokens, mus = [], [start * target]
    for row in logits.double():
        surprises = -row.log_softmax(-1) / math.log(unit)
        mu = mus[-1] if is_kept else mus[0]
        kept = surprises <= mu if is_exact_kept else surprises < mu
        if is_safe:
            kept[row.argmax()] = True
        token = int(torch.multinomial(row.masked_fill(~kept, -math.inf).softmax(-1), 1, generator=generator))
        mus.append(mu - sign * learning_rate * (float(surprises[token]) - target))
        tokens.append(token)
    return torch.tensor(tokens), torch.tensor(mus, dtype=torch.float64)


@misconception(of="mirostat", seen="https://github.com/paiml/aprender/pull/2142")
def surprise_in_nats(logits, target, learning_rate, generator):
    """The surprise is measured in nats, and the target in bits.

    How surprising is one of two equally probable tokens in your code: 1 or 0.693?
    """
    return _controlled(logits, target, learning_rate, generator, unit=math.e)


@misconception(of="mirostat", seen="https://github.com/abetlen/llama-cpp-python/issues/914")
def state_not_kept(logits, target, learning_rate, generator):
    """Every step begins with μ = 2τ again, so what was learned from the last token is lost.

    Which μ does your second step allow, and which did the first step leave? A controller that forgets cannot
    control.
    """
    return _controlled(logits, target, learning_rate, generator, is_kept=False)


@misconception(of="mirostat", seen="https://github.com/LostRuins/koboldcpp/pull/1849")
def target_and_learning_rate_exchanged(logits, target, learning_rate, generator):
    """The target and the learning rate are exchanged.

    Where does μ start for τ = 3 and η = 0.1, at 6 or at 0.2? Which of the two is a surprise in bits?
    """
    return _controlled(logits, learning_rate, target, generator)


@misconception(of="mirostat")
def update_in_the_wrong_direction(logits, target, learning_rate, generator):
    """After a surprising token μ rises, so that the next one may be even more surprising.

    A thermostat that heats when it is hot: what does μ do after a token that was less surprising than wanted?
    """
    return _controlled(logits, target, learning_rate, generator, sign=-1.0)


@misconception(of="mirostat", seen="https://github.com/basusourya/mirostat/issues/1")
def start_at_the_target(logits, target, learning_rate, generator):
    """μ starts at τ instead of at 2τ.

    μ is the largest surprise allowed, τ the surprise on average. Where does the statement let μ start?
    """
    return _controlled(logits, target, learning_rate, generator, start=1.0)


@misconception(of="mirostat")
def nothing_left_to_draw_from(logits, target, learning_rate, generator):
    """If every token is more surprising than allowed, none is left and nothing can be drawn.

    What does your code do where the most probable token has 3 bits and μ is 2?
    """
    return _controlled(logits, target, learning_rate, generator, is_safe=False)


@misconception(of="mirostat")
def a_surprise_of_mu_forbidden(logits, target, learning_rate, generator):
    """A token that surprises by exactly μ is cut off, and the statement allows at most μ.

    With μ = 1, may one of two equally probable tokens be drawn? Which comparison says "at most"?
    """
    return _controlled(logits, target, learning_rate, generator, is_exact_kept=False)


@misconception(of="mirostat")
def surprise_after_the_cut(logits, target, learning_rate, generator):
    """The surprise of the token is taken from what was left after the cut, where it is too small.

    If one token only is left, what surprise do you measure? What does the statement call the surprise of a
    token?
    """
    tokens, mus = [], [2.0 * target]
    for row in logits.double():
        surprises = -row.log_softmax(-1) / math.log(2)
        kept = surprises <= mus[-1]
        kept[row.argmax()] = True
        probs = row.masked_fill(~kept, -math.inf).softmax(-1)
        token = int(torch.multinomial(probs, 1, generator=generator))
        mus.append(mus[-1] - learning_rate * (-math.log2(float(probs[token])) - target))
        tokens.append(token)
    return torch.tensor(tokens), torch.tensor(mus, dtype=torch.float64)


@misconception(of="mirostat")
def best_token_always_taken(logits, target, learning_rate, generator):
    """The most probable token is taken at every step, instead of one drawn from what is left.

    How often does the second most probable token come in your text?
    """
    tokens = logits.argmax(-1)
    surprises = -logits.double().log_softmax(-1)[torch.arange(len(tokens)), tokens] / math.log(2)
    steps = learning_rate * (surprises - target)
    return tokens, 2 * target - torch.cat([torch.zeros(1, dtype=torch.float64), steps.cumsum(0)])


@misconception(of="mirostat")
def nothing_cut_off(logits, target, learning_rate, generator):
    """Tokens are drawn from the whole distribution: μ is updated, and nothing is ever cut off.

    Which of your tokens may surprise by more than μ? In which line does μ change what can be drawn?
    """
    tokens, mus = [], [2.0 * target]
    for row in logits.double():
        log_probs = row.log_softmax(-1)
        token = int(torch.multinomial(log_probs.exp(), 1, generator=generator))
        mus.append(mus[-1] - learning_rate * (-float(log_probs[token]) / math.log(2) - target))
        tokens.append(token)
    return torch.tensor(tokens), torch.tensor(mus, dtype=torch.float64)
