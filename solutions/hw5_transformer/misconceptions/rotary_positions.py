"""What goes wrong with rotary positions: pairs, angles, and what is turned."""

import math

import torch

from autograder.catalogue import misconception
from course.models.positions import rotate

# 20. rotate


def _turned(even, odd, angles):
    cos, sin = angles.cos(), angles.sin()
    return even * cos - odd * sin, even * sin + odd * cos


def _angles(x, first, axis=-2, base=10_000.0):
    positions = torch.arange(first, first + x.shape[axis], dtype=torch.float64)
    return positions[:, None] * base ** (-torch.arange(0, x.shape[-1], 2, dtype=torch.float64) / x.shape[-1])


def _neighbours(x, angles):
    return torch.stack(_turned(x[..., 0::2], x[..., 1::2], angles), dim=-1).flatten(-2)


@misconception(
    of="rotate",
    fails={
        "the_example_vectors_are_turned",
        "neighbours_are_turned_together",
        "other_vectors_are_turned_by_their_position",
    },
    seen="https://github.com/stanford-cs336/assignment1-basics/issues/4",
)
def halves_paired(x, first):
    """Number i is paired with number i + K/2; here the pairs are neighbours.

    Let only the first two numbers of a vector be other than 0. Which numbers are other than 0 after the turn?
    """
    left, right = x.chunk(2, dim=-1)
    return torch.cat(_turned(left, right, _angles(x, first)), dim=-1)


@misconception(
    of="rotate",
    fails={
        "the_example_vectors_are_turned",
        "position_0_is_not_turned",
        "other_vectors_are_turned_by_their_position",
    },
    seen="https://github.com/stanford-cs336/assignment1-basics/issues/4",
)
def turned_from_one_on(x, first):
    """The first position is turned by 1, as if positions were counted from 1. (Scores do not notice.)

    By which angle should the vector at position 0 be turned?
    """
    return _neighbours(x, _angles(x, first + 1))


@misconception(
    of="rotate", fails={"the_example_vectors_are_turned", "other_vectors_are_turned_by_their_position"}
)
def turned_backwards(x, first):
    """The turn goes the other way round. (Scores do not notice, if queries and keys are turned alike.)

    Where does the point (1, 0) go if it is turned by a small positive angle: up or down?
    """
    return _neighbours(x, -_angles(x, first))


@misconception(
    of="rotate",
    fails={
        "scores_depend_on_the_distance_alone",
        "positions_count_from_first",
        "other_vectors_are_turned_by_their_position",
    },
)
def first_ignored(x, first):
    """Positions are counted from 0, whatever `first` says.

    Which line of your code reads `first`?
    """
    return _neighbours(x, _angles(x, 0))


@misconception(
    of="rotate", fails={"the_example_vectors_are_turned", "other_vectors_are_turned_by_their_position"}
)
def pairs_turn_too_fast(x, first):
    """The exponent is i / K where it should be 2i / K, so the later pairs turn too fast.

    For K = 4, by which angle is the second pair turned at position 1?
    """
    return _neighbours(x, _angles(x, first, base=100.0))


@misconception(
    of="rotate",
    fails={
        "the_example_vectors_are_turned",
        "position_0_is_not_turned",
        "neighbours_are_turned_together",
        "scores_depend_on_the_distance_alone",
        "other_vectors_are_turned_by_their_position",
    },
)
def numbers_turned_one_by_one(x, first):
    """Every number is multiplied by the cosine alone, or the sine: nothing is turned and lengths shrink.

    What is the length of (1, 0) after your turn by 1? A turn keeps every length.
    """
    angles = _angles(x, first)
    return torch.stack([x[..., 0::2] * angles.cos(), x[..., 1::2] * angles.sin()], dim=-1).flatten(-2)


@misconception(
    of="rotate",
    fails={
        "the_example_vectors_are_turned",
        "position_0_is_not_turned",
        "neighbours_are_turned_together",
        "other_vectors_are_turned_by_their_position",
    },
)
def turned_numbers_in_two_halves(x, first):
    """The pairs are turned rightly and put back in two halves: first numbers in front, second numbers behind.

    Which two numbers stand beside each other in your result at position 0? Does a vector there stay as it
    was?
    """
    return torch.cat(_turned(x[..., 0::2], x[..., 1::2], _angles(x, first)), dim=-1)


@misconception(
    of="rotate",
    fails={
        "the_example_vectors_are_turned",
        "neighbours_are_turned_together",
        "scores_depend_on_the_distance_alone",
        "other_vectors_are_turned_by_their_position",
        "position_0_is_not_turned",
        "positions_count_from_first",
    },
)
def first_number_overwritten(x, first):
    """The first number of a pair is overwritten before the second is made from it.

    Both turned numbers need both old ones. Which x does your second line still see?
    """
    angles = _angles(x, first)
    x[..., 0::2] = x[..., 0::2] * angles.cos() - x[..., 1::2] * angles.sin()
    x[..., 1::2] = x[..., 0::2] * angles.sin() + x[..., 1::2] * angles.cos()
    return x


@misconception(
    of="rotate",
    fails={
        "the_example_vectors_are_turned",
        "other_vectors_are_turned_by_their_position",
        "neighbours_are_turned_together",
        "position_0_is_not_turned",
        "positions_count_from_first",
        "scores_depend_on_the_distance_alone",
    },
)
def turned_in_place(x, first):
    """The result is right, and the x that was handed in is changed.

    Print x after a call. What does an assignment to `x[..., 0::2]` change, and what should it?
    """
    x[..., 0::2], x[..., 1::2] = _turned(x[..., 0::2], x[..., 1::2], _angles(x, first))
    return x


@misconception(
    of="rotate", fails={"the_example_vectors_are_turned", "other_vectors_are_turned_by_their_position"}
)
def all_pairs_turn_alike(x, first):
    """All pairs are turned by the same angle, the position itself.

    By which angle does the second pair turn at position 1, if K = 4? Where is i in your code?
    """
    return _neighbours(x, _angles(x, first, base=1.0))


# 21. rotary_attention


def _scores(query, key):
    return query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])


def _first_query(query, key, first):
    return first + key.shape[-2] - query.shape[-2]


@misconception(
    of="rotary_attention",
    fails={
        "the_example_output_is_5_505",
        "moving_everything_changes_nothing",
        "values_are_only_averaged",
        "other_queries_attend_by_distance",
    },
)
def values_turned_too(query, key, value, first):
    """The values are turned as well, so what is fetched depends on where it stood.

    If all values are the same vector, what should be fetched?
    """
    scores = _scores(rotate(query, _first_query(query, key, first)), rotate(key, first))
    return scores.softmax(-1) @ rotate(value, first)


@misconception(
    of="rotary_attention",
    fails={
        "the_example_output_is_5_505",
        "moving_everything_changes_nothing",
        "equal_keys_are_told_apart_by_their_distance",
        "other_queries_attend_by_distance",
    },
)
def keys_not_turned(query, key, value, first):
    """Only the queries are turned, so scores depend on the query's position and not on the distance.

    Move everything on by 60 positions. Which part of the scores changes?
    """
    return _scores(rotate(query, _first_query(query, key, first)), key).softmax(-1) @ value


@misconception(
    of="rotary_attention",
    fails={
        "the_example_output_is_5_505",
        "equal_keys_are_told_apart_by_their_distance",
        "other_queries_attend_by_distance",
    },
)
def nothing_turned(query, key, value, first):
    """Nothing is turned: this is attention without positions.

    Two equal keys at different distances get equal weights from your function. Should they?
    """
    return _scores(query, key).softmax(-1) @ value


@misconception(
    of="rotary_attention",
    fails={
        "the_example_output_is_5_505",
        "new_queries_get_what_they_got_in_the_whole",
        "other_queries_attend_by_distance",
    },
    seen="https://github.com/mead-ml/mead-baseline/pull/759",
)
def queries_placed_at_the_first_key(query, key, value, first):
    """The queries are placed at the first positions; with fewer queries than keys they are the last.

    Six keys and two queries: at which positions do the queries stand?
    """
    return _scores(rotate(query, first), rotate(key, first)).softmax(-1) @ value


@misconception(
    of="rotary_attention", fails={"the_example_output_is_5_505", "other_queries_attend_by_distance"}
)
def rotary_scores_not_scaled(query, key, value, first):
    """The scores are not divided by the root of the width.

    What are the two scores of the example before the softmax?
    """
    scores = _scores(rotate(query, _first_query(query, key, first)), rotate(key, first))
    return (scores * math.sqrt(query.shape[-1])).softmax(-1) @ value


@misconception(
    of="rotary_attention",
    fails={
        "the_example_output_is_5_505",
        "moving_everything_changes_nothing",
        "other_queries_attend_by_distance",
    },
)
def queries_not_turned(query, key, value, first):
    """Only the keys are turned, so scores depend on the key's position and not on the distance.

    Move everything on by 60 positions. Which part of the scores changes?
    """
    return _scores(query, rotate(key, first)).softmax(-1) @ value


@misconception(
    of="rotary_attention",
    fails={"equal_keys_are_told_apart_by_their_distance", "other_queries_attend_by_distance"},
)
def future_hidden(query, key, value, first):
    """A causal mask hides the keys after each query; the statement has no mask.

    What does the statement say about a mask? Is the newest key in the output of your first query?
    """
    scores = _scores(rotate(query, _first_query(query, key, first)), rotate(key, first))
    seen = torch.ones(scores.shape[-2:], dtype=torch.bool).tril(key.shape[-2] - query.shape[-2])
    return scores.masked_fill(~seen, -math.inf).softmax(-1) @ value


@misconception(
    of="rotary_attention",
    fails={"new_queries_get_what_they_got_in_the_whole", "other_queries_attend_by_distance"},
)
def queries_from_the_newest_position_on(query, key, value, first):
    """The first query is placed at the newest position and the others after it.

    Six keys and two queries: at which positions do the queries stand, and which is the last one of all?
    """
    return _scores(rotate(query, first + key.shape[-2] - 1), rotate(key, first)).softmax(-1) @ value
