"""What goes wrong in homework 6, exercise 26: the cache of keys and values."""

import math

import torch

from autograder.catalogue import misconception


def _positions(n_read, T):
    return torch.arange(n_read, n_read + T)


def _is_future(n_read, T):
    return torch.ones(T, n_read + T, dtype=torch.bool).triu(n_read + 1)


def _joined(cache, new):
    if cache is None:
        return new
    return {name: torch.cat([cache[name], new[name]], dim=1) for name in new}


def _read(arguments, *, positions=_positions, is_future=_is_future, joined=_joined):
    weights, tokens, cache = arguments
    n_read, T = 0 if cache is None else cache["keys"].shape[1], tokens.shape[1]
    x = weights["wte"][tokens] + weights["wpe"][positions(n_read, T)]
    query, key, value = (x @ weights[name].T for name in ("W_query", "W_key", "W_value"))
    cache = joined(cache, {"keys": key, "values": value})
    scores = query @ cache["keys"].mT / math.sqrt(x.shape[-1])
    hidden = is_future(scores.shape[2] - T, T)
    y = x + scores.masked_fill(hidden, -math.inf).softmax(-1) @ cache["values"]
    return y @ weights["wte"].T, cache


@misconception(of="read_with_cache", seen="https://github.com/ml-explore/mlx-lm/pull/93")
def positions_begin_again(weights, tokens, cache):
    """The positions of the new tokens begin at 0 again at every call.

    Three tokens were read before. At which position of the text does the first new token stand? Which row of
    wpe does it get in your code?
    """
    return _read((weights, tokens, cache), positions=lambda n_read, T: torch.arange(T))


@misconception(of="read_with_cache", seen="https://github.com/ml-explore/mlx-lm/pull/93")
def single_tokens_at_position_zero(weights, tokens, cache):
    """A single token gets position 0, as if there were nothing to count when only one token is read.

    In pieces of three and two your logits are right, token by token they are not. Which branch of your code
    handles T = 1?
    """

    def positions(n_read, T):
        return torch.arange(T) if T == 1 else _positions(n_read, T)

    return _read((weights, tokens, cache), positions=positions)


@misconception(of="read_with_cache", seen="https://github.com/skyzh/tiny-llm/pull/46")
def offset_added_twice(weights, tokens, cache):
    """The number of tokens read is added twice to the positions of the new ones.

    Two tokens were read before. Does the next one get row 2 or row 4 of wpe? (Beyond the last row the last
    one was taken.)
    """

    def positions(n_read, T):
        return torch.arange(2 * n_read, 2 * n_read + T).clamp(max=len(weights["wpe"]) - 1)

    return _read((weights, tokens, cache), positions=positions)


@misconception(of="read_with_cache")
def triangle_from_the_first_key(weights, tokens, cache):
    """The triangle of the mask begins at key 0, so that a single new token sees a single old one.

    For one new token and five keys your mask has one row. How many of its five entries are open?
    """

    def is_future(n_read, T):
        return torch.ones(T, n_read + T, dtype=torch.bool).triu(1)

    return _read((weights, tokens, cache), is_future=is_future)


@misconception(of="read_with_cache")
def no_mask_with_a_cache(weights, tokens, cache):
    """With a cache nothing is masked, so of several new tokens the first sees the last.

    For one new token that is right. What does the first of two new tokens see?
    """

    def is_future(n_read, T):
        return _is_future(n_read, T) if n_read == 0 else torch.zeros(T, n_read + T, dtype=torch.bool)

    return _read((weights, tokens, cache), is_future=is_future)


@misconception(of="read_with_cache")
def never_masked(weights, tokens, cache):
    """Nothing is masked at all, so even the first call lets every token see the whole text.

    Read five tokens at once, and then the first three alone. Are the first three rows of logits the same?
    """

    def is_future(n_read, T):
        return torch.zeros(T, n_read + T, dtype=torch.bool)

    return _read((weights, tokens, cache), is_future=is_future)


@misconception(of="read_with_cache")
def cache_shared(weights, tokens, cache):
    """The new keys and values are written into the dict that was passed in, which others may be using.

    Two beams go on from one cache. What does the second find in it after the first has read its token?
    """

    def joined(cache, new):
        if cache is None:
            return new
        cache["keys"] = torch.cat([cache["keys"], new["keys"]], dim=1)
        cache["values"] = torch.cat([cache["values"], new["values"]], dim=1)
        return cache

    return _read((weights, tokens, cache), joined=joined)


@misconception(of="read_with_cache")
def only_the_new_keys_left(weights, tokens, cache):
    """The cache that comes back holds the new keys and values only; the older ones are lost.

    After three calls of one token each, how many keys should the cache hold?
    """
    logits, _ = _read((weights, tokens, cache))
    x = weights["wte"][tokens]
    n_read = 0 if cache is None else cache["keys"].shape[1]
    x = x + weights["wpe"][_positions(n_read, tokens.shape[1])]
    return logits, {"keys": x @ weights["W_key"].T, "values": x @ weights["W_value"].T}


@misconception(of="read_with_cache")
def values_kept_as_keys(weights, tokens, cache):
    """The keys are remembered for both, keys and values.

    Which two products of x does attention need of every old token? Which of them is in your cache?
    """

    def joined(cache, new):
        return _joined(cache, new if cache is None else {"keys": new["keys"], "values": new["keys"]})

    return _read((weights, tokens, cache), joined=joined)
