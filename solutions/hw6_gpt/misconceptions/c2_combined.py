"""What goes wrong in homework 6, exercises 15 and 16: filters in an order, and the repetition penalty."""

import math

import torch

from autograder.catalogue import misconception

# 15. combined_filters


def _in_top_k(logits, k):
    return logits >= logits.topk(k, dim=-1).values[..., -1:]


def _in_nucleus(logits, p):
    probs, order = logits.softmax(-1).sort(dim=-1, descending=True, stable=True)
    before = (probs.cumsum(-1) - probs).clamp(min=0.0)
    return torch.zeros_like(logits, dtype=torch.bool).scatter(-1, order, before < p)


def _near_the_best(logits, least):
    return logits >= logits.max(-1, keepdim=True).values + math.log(least)


def _keep(logits, kept):
    return logits.masked_fill(~kept, -math.inf)


@misconception(of="combined_filters", seen="https://github.com/ggml-org/llama.cpp/issues/4091")
def cooled_before_the_filters(logits, t, k, p, least):
    """The temperature comes first, so the filters judge another distribution than the model's.

    At t = 3 all tokens become more equal. Which tokens does min-p leave then that it would not leave at t =
    1? What does the statement let the filters judge?
    """
    cooled = logits / t
    return _keep(cooled, _in_top_k(cooled, k) & _in_nucleus(cooled, p) & _near_the_best(cooled, least))


@misconception(of="combined_filters", seen="https://github.com/sgl-project/sglang-jax/pull/1563")
def nucleus_of_what_top_k_leaves(logits, t, k, p, least):
    """Top-p adds up what is left after top-k and has been renormalised, so it reaches p too early.

    In the example with k = 3: what is the probability of token 1 among all five tokens, and among the three
    that top-k leaves? Which of the two does step 1 mean?
    """
    left = _keep(logits, _in_top_k(logits, k))
    return _keep(left, _in_nucleus(left, p) & _near_the_best(logits, least)) / t


@misconception(of="combined_filters")
def nucleus_of_what_min_p_leaves(logits, t, k, p, least):
    """Top-p adds up what is left after min-p and has been renormalised, so it reaches p too early.

    In the example with least = 0.45: what is the probability of token 1 among all five tokens, and among the
    three that min-p leaves? Which of the two does step 1 mean?
    """
    left = _keep(logits, _near_the_best(logits, least))
    return _keep(left, _in_top_k(logits, k) & _in_nucleus(left, p)) / t


@misconception(of="combined_filters")
def one_filter_is_enough(logits, t, k, p, least):
    """A token stays if one of the filters leaves it; it takes all three.

    In the example, which filter forbids token 4? Does it stay in your answer?
    """
    return _keep(logits, _in_top_k(logits, k) | _in_nucleus(logits, p) | _near_the_best(logits, least)) / t


@misconception(of="combined_filters")
def temperature_forgotten(logits, t, k, p, least):
    """The filters are right, and the temperature is never used.

    At t = 1/2 the example asks for squares. What proportion have the two tokens in your answer?
    """
    return _keep(logits, _in_top_k(logits, k) & _in_nucleus(logits, p) & _near_the_best(logits, least))


@misconception(of="combined_filters", seen="https://github.com/oobabooga/textgen/issues/4463")
def only_min_p_after_the_temperature(logits, t, k, p, least):
    """Top-k and top-p judge the model's distribution, and min-p the one that the temperature has changed.

    At t = 3, how probable is token 0 of the example compared with token 1? And at t = 1? Which of the two
    does step 1 mean for min-p?
    """
    cooled = _keep(logits, _in_top_k(logits, k) & _in_nucleus(logits, p)) / t
    return _keep(cooled, _near_the_best(cooled, least))


@misconception(of="combined_filters")
def probabilities_of_what_is_left(logits, t, k, p, least):
    """What comes back are probabilities: the softmax has been taken already, and logits are asked for.

    Which function is applied to your answer afterwards? Which probability does it make of your 0?
    """
    kept = _in_top_k(logits, k) & _in_nucleus(logits, p) & _near_the_best(logits, least)
    return (_keep(logits, kept) / t).softmax(-1)


# 16. repetition_penalty


def _occurred(logits, history):
    return torch.zeros_like(logits, dtype=torch.bool).scatter(1, history, True)


def _penalised(logits, penalty):
    return torch.where(logits > 0, logits / penalty, logits * penalty)


@misconception(of="repetition_penalty")
def negative_logits_divided_too(logits, history, penalty):
    """All logits are divided, which makes a negative one larger and its token more probable.

    What is −4 divided by 2? Is that a penalty?
    """
    return torch.where(_occurred(logits, history), logits / penalty, logits)


@misconception(of="repetition_penalty")
def penalised_at_every_occurrence(logits, history, penalty):
    """A token is penalised once for each time it has occurred.

    In the example token 0 has occurred twice. Is its logit divided by 2 or by 4?
    """
    times = torch.zeros_like(logits).scatter_add(1, history, torch.ones_like(history, dtype=logits.dtype))
    return _penalised(logits, penalty**times)


@misconception(of="repetition_penalty")
def one_history_for_all_rows(logits, history, penalty):
    """What has occurred in any row is penalised in all of them.

    Two texts are written side by side. Should a word of the first be less probable in the second?
    """
    everywhere = history.flatten().expand(len(logits), -1)
    return torch.where(_occurred(logits, everywhere), _penalised(logits, penalty), logits)


@misconception(of="repetition_penalty")
def logits_changed_in_place(logits, history, penalty):
    """Your function modifies the logits it was given, so the caller finds different values afterwards.

    Print the logits before and after your function is called. Which line wrote into them?
    """
    logits.scatter_(1, history, _penalised(logits, penalty).gather(1, history))
    return logits


@misconception(of="repetition_penalty")
def repetition_rewarded(logits, history, penalty):
    """The two cases are exchanged: positive logits are multiplied and negative ones divided.

    What happens to a logit of 2 with the penalty 2 in your code? Is its token less probable afterwards?
    """
    rewarded = torch.where(logits > 0, logits * penalty, logits / penalty)
    return torch.where(_occurred(logits, history), rewarded, logits)


@misconception(of="repetition_penalty")
def penalty_subtracted(logits, history, penalty):
    """The penalty is subtracted from the logits; that is another method, the presence penalty.

    What does a penalty of 1 do in your code, and what in the statement?
    """
    return torch.where(_occurred(logits, history), logits - penalty, logits)


@misconception(of="repetition_penalty")
def log_probs_penalised(logits, history, penalty):
    """The penalty is applied to log-probabilities, which are never positive, so it always multiplies.

    Which sign has the logarithm of a probability? How many of the example's logits are divided in your code?
    """
    log_probs = logits.log_softmax(-1)
    return torch.where(_occurred(logits, history), _penalised(log_probs, penalty), log_probs)
