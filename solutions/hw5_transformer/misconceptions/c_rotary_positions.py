"""What goes wrong with rotary positions: pairs, angles, and what is turned."""

import math

import torch

from autograder.catalogue import misconception

# 20. rotate


def _turned(even, odd, angles):
    cos, sin = angles.cos(), angles.sin()
    return even * cos - odd * sin, even * sin + odd * cos


def _angles(x, first, base=10_000.0):
    positions = torch.arange(first, first + x.shape[-2], dtype=torch.float64)
    return positions[:, None] * base ** (-torch.arange(0, x.shape[-1], 2, dtype=torch.float64) / x.shape[-1])


def _neighbours(x, angles):
    return torch.stack(_turned(x[..., 0::2], x[..., 1::2], angles), dim=-1).flatten(-2)


def rotate(x, first=0, base=10_000.0):
    """Adjacent pairs turned by their position, as in the exercise before; what it forbids is not used."""
    T, d_k = x.shape[-2:]
    speeds = base ** (-torch.arange(0, d_k, 2, dtype=x.dtype) / d_k)  # (d_k/2,)
    angles = (first + torch.arange(T, dtype=x.dtype))[:, None] * speeds  # (T, d_k/2)
    even, odd = x[..., 0::2], x[..., 1::2]
    turned = (even * angles.cos() - odd * angles.sin(), even * angles.sin() + odd * angles.cos())
    return torch.stack(turned, -1).flatten(-2)


@misconception(of="rotate", seen="https://github.com/stanford-cs336/assignment1-basics/issues/4")
def halves_paired(x, first, base=10_000.0):
    """Number i is paired with number i + d_k/2; here the pairs are neighbours.

    Let only the first two numbers of a vector be other than 0. Which numbers are other than 0 after the turn?
    """
    left, right = x.chunk(2, dim=-1)
    return torch.cat(_turned(left, right, _angles(x, first, base)), dim=-1)


@misconception(of="rotate", seen="https://github.com/stanford-cs336/assignment1-basics/issues/4")
def turned_from_one_on(x, first, base=10_000.0):
    """The first position is turned by 1, as if positions were counted from 1. (Scores do not notice.)

    By which angle should the vector at position 0 be turned?
    """
    return _neighbours(x, _angles(x, first + 1, base))


@misconception(of="rotate")
def turned_backwards(x, first, base=10_000.0):
    """The turn goes the other way round. (Scores do not notice, if queries and keys are turned alike.)

    Where does the point (1, 0) go if it is turned by a small positive angle: up or down?
    """
    return _neighbours(x, -_angles(x, first, base))


@misconception(of="rotate")
def first_ignored(x, first, base=10_000.0):
    """Positions are counted from 0, whatever `first` says.

    Which line of your code reads `first`?
    """
    return _neighbours(x, _angles(x, 0, base))


@misconception(of="rotate")
def pairs_turn_too_fast(x, first, base=10_000.0):
    """The exponent is i / d_k where it should be 2i / d_k, so the later pairs turn too fast.

    For d_k = 4, by which angle is the second pair turned at position 1?
    """
    return _neighbours(x, _angles(x, first, base=base**0.5))


@misconception(of="rotate")
def later_pairs_turn_too_slowly(x, first, base=10_000.0):
    """The exponent is 4i / d_k where it should be 2i / d_k, so the later pairs turn too slowly.

    For d_k = 4, by which angle is the second pair turned at position 1? How many pairs are there?
    """
    return _neighbours(x, _angles(x, first, base=base**2))


@misconception(of="rotate")
def numbers_turned_one_by_one(x, first, base=10_000.0):
    """Every number is multiplied by the cosine alone, or the sine: nothing is turned and lengths shrink.

    What is the length of (1, 0) after your turn by 1? A turn keeps every length.
    """
    angles = _angles(x, first, base)
    return torch.stack([x[..., 0::2] * angles.cos(), x[..., 1::2] * angles.sin()], dim=-1).flatten(-2)


@misconception(of="rotate")
def turned_numbers_in_two_halves(x, first, base=10_000.0):
    """The pairs are turned rightly and put back in two halves: first numbers in front, second numbers behind.

    Which two numbers stand beside each other in your result at position 0? Does a vector there stay as it
    was?
    """
    return torch.cat(_turned(x[..., 0::2], x[..., 1::2], _angles(x, first, base)), dim=-1)


@misconception(of="rotate")
def first_number_overwritten(x, first, base=10_000.0):
    """The first number of a pair is overwritten before the second is made from it.

    Both turned numbers need both old ones. Which x does your second line still see?
    """
    x, angles = x.clone(), _angles(x, first, base)
    x[..., 0::2] = x[..., 0::2] * angles.cos() - x[..., 1::2] * angles.sin()
    x[..., 1::2] = x[..., 0::2] * angles.sin() + x[..., 1::2] * angles.cos()
    return x


@misconception(of="rotate")
def turned_in_place(x, first, base=10_000.0):
    """The result is right, and the x that was handed in is changed.

    Print x after a call. What does an assignment to `x[..., 0::2]` change, and what should it?
    """
    x[..., 0::2], x[..., 1::2] = _turned(x[..., 0::2], x[..., 1::2], _angles(x, first, base))
    return x


@misconception(of="rotate")
def all_pairs_turn_alike(x, first, base=10_000.0):
    """All pairs are turned by the same angle, the position itself.

    By which angle does the second pair turn at position 1, if d_k = 4? Where is i in your code?
    """
    return _neighbours(x, _angles(x, first, base=1.0))


@misconception(of="rotate")
def base_ignored(x, first, base=10_000.0):
    """The base is 10,000, whatever `base` says.

    Which line of your code reads `base`?
    """
    return _neighbours(x, _angles(x, first))


@misconception(of="rotate")
def exponents_one_pair_behind(x, first, base=10_000.0):
    """The exponent is 2(i − 1) / d_k with i from 0, as if the pairs were counted from 1.

    For i = 0, by which angle should the first pair be turned at position 1, and by which is yours?
    """
    return _neighbours(x, _angles(x, first, base) * base ** (2 / x.shape[-1]))


@misconception(of="rotate")
def sine_and_cosine_exchanged(x, first, base=10_000.0):
    """Sine and cosine stand in each other's place, so position 0 does not stay as it is.

    What are the cosine and the sine of 0? What should become of a vector at position 0?
    """
    return _neighbours(x, torch.pi / 2 - _angles(x, first, base))


@misconception(of="rotate")
def multiplied_by_the_angle(x, first, base=10_000.0):
    """The numbers are multiplied by their angle; nothing is turned.

    What becomes of a vector at position 0, and how long is the one at position 5?
    """
    return x * _angles(x, first, base).repeat_interleave(2, dim=-1)


@misconception(of="rotate")
def angles_in_half_precision(x, first, base=10_000.0):
    """The angles are made in the precision of x; in float16 the positions 2049 and 2050 are one and the same.

    Print `torch.tensor(2049.0).half()`. In which precision should positions be counted?
    """
    positions = torch.arange(first, first + x.shape[-2]).to(x.dtype)
    speeds = base ** (-torch.arange(0, x.shape[-1], 2, dtype=torch.float64) / x.shape[-1])
    return _neighbours(x, positions[:, None] * speeds.to(x.dtype))


# 21. rotary_attention


def _scores(query, key):
    return query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])


def _first_query(query, key, first):
    return first + key.shape[-2] - query.shape[-2]


@misconception(of="rotary_attention")
def values_turned_too(query, key, value, first):
    """The values are turned as well, so what is fetched depends on where it stood.

    If all values are the same vector, what should be fetched?
    """
    scores = _scores(rotate(query, _first_query(query, key, first)), rotate(key, first))
    return scores.softmax(-1) @ rotate(value, first)


@misconception(of="rotary_attention")
def keys_not_turned(query, key, value, first):
    """Only the queries are turned, so scores depend on the query's position and not on the distance.

    Move everything on by 60 positions. Which part of the scores changes?
    """
    return _scores(rotate(query, _first_query(query, key, first)), key).softmax(-1) @ value


@misconception(of="rotary_attention")
def nothing_turned(query, key, value, first):
    """Nothing is turned: this is attention without positions.

    Two equal keys at different distances get equal weights from your function. Should they?
    """
    return _scores(query, key).softmax(-1) @ value


@misconception(of="rotary_attention", seen="https://github.com/mead-ml/mead-baseline/pull/759")
def queries_placed_at_the_first_key(query, key, value, first):
    """The first query stands where the first key stands; with fewer queries than keys they are the last.

    Six keys and two queries: at which positions do the queries stand?
    """
    return _scores(rotate(query, first), rotate(key, first)).softmax(-1) @ value


@misconception(of="rotary_attention")
def rotary_scores_not_scaled(query, key, value, first):
    """The scores are not divided by the root of the width.

    What are the two scores of the example before the softmax?
    """
    scores = _scores(rotate(query, _first_query(query, key, first)), rotate(key, first))
    return (scores * math.sqrt(query.shape[-1])).softmax(-1) @ value


@misconception(of="rotary_attention")
def queries_not_turned(query, key, value, first):
    """Only the keys are turned, so scores depend on the key's position and not on the distance.

    Move everything on by 60 positions. Which part of the scores changes?
    """
    return _scores(query, rotate(key, first)).softmax(-1) @ value


@misconception(of="rotary_attention")
def future_hidden(query, key, value, first):
    """A causal mask hides the keys after each query; the statement has no mask.

    What does the statement say about a mask? Is the newest key in the output of your first query?
    """
    scores = _scores(rotate(query, _first_query(query, key, first)), rotate(key, first))
    seen = torch.ones(scores.shape[-2:], dtype=torch.bool).tril(key.shape[-2] - query.shape[-2])
    return scores.masked_fill(~seen, -math.inf).softmax(-1) @ value


@misconception(of="rotary_attention")
def queries_from_the_newest_position_on(query, key, value, first):
    """The first query is placed at the newest position and the others after it.

    Six keys and two queries: at which positions do the queries stand, and which is the last one of all?
    """
    return _scores(rotate(query, first + key.shape[-2] - 1), rotate(key, first)).softmax(-1) @ value


@misconception(of="rotary_attention")
def queries_one_position_early(query, key, value, first):
    """Each query is placed one position before its own.

    The keys stand at `first` to `first` + S - 1. Where does the last query stand, and where in your code?
    """
    start = _first_query(query, key, first) - 1
    return _scores(rotate(query, start), rotate(key, first)).softmax(-1) @ value


@misconception(of="rotary_attention")
def queries_placed_after_the_keys(query, key, value, first):
    """The queries are placed after the last key; they are the last among the positions of the keys.

    In the example the keys stand at 2 and 3. Where does the query stand, and where in your code?
    """
    return _scores(rotate(query, first + key.shape[-2]), rotate(key, first)).softmax(-1) @ value


@misconception(of="rotary_attention")
def queries_counted_from_0(query, key, value, first):
    """The keys are counted from `first`, and the queries as if the first key stood at 0.

    Move everything on by 60 positions. Do your queries move?
    """
    return _scores(rotate(query, _first_query(query, key, 0)), rotate(key, first)).softmax(-1) @ value


@misconception(of="rotary_attention")
def turned_queries_compete_for_keys(query, key, value, first):
    """The softmax runs over the queries, so each key's column of weights sums to one.

    In the example there is one query. What are its two weights, and what do they sum to?
    """
    scores = _scores(rotate(query, _first_query(query, key, first)), rotate(key, first))
    return scores.softmax(-2) @ value
