"""What goes wrong with a bias for each distance: signs, offsets, and what lies beyond the table."""

import torch

from autograder.catalogue import misconception

# 19. relative_bias


def _distances(n_queries, n_keys):
    return torch.arange(n_keys) - torch.arange(n_keys - n_queries, n_keys)[:, None]


def _looked_up(bias, distances):
    radius = bias.shape[1] // 2
    return bias[:, distances.clamp(-radius, radius) + radius]


@misconception(of="relative_bias")
def distance_with_the_wrong_sign(bias, n_queries, n_keys):
    """The distance is taken from the key to the query, i - j, so past and future have changed places.

    The key before a query: is j - i positive or negative? Which entry of the bias belongs to it?
    """
    return _looked_up(bias, -_distances(n_queries, n_keys))


@misconception(of="relative_bias")
def clipped_one_too_early(bias, n_queries, n_keys):
    """Distances are clipped at R - 1, so the outermost entries of the bias are never used.

    For R = 2 there are five entries. How many different ones occur in your result for six positions?
    """
    radius = bias.shape[1] // 2
    return bias[:, _distances(n_queries, n_keys).clamp(1 - radius, radius - 1) + radius]


@misconception(of="relative_bias", seen="https://github.com/ZhengkunTian/OpenTransformer/pull/28")
def table_shifted_by_one(bias, n_queries, n_keys):
    """The table is shifted by one: a query and the key at its own position have the distance 1.

    Which entry of the bias stands on your diagonal? Which is the one for the distance 0?
    """
    return _looked_up(bias, _distances(n_queries, n_keys) + 1)


@misconception(of="relative_bias", seen="https://github.com/mead-ml/mead-baseline/pull/759")
def lengths_taken_for_equal(bias, n_queries, n_keys):
    """The table is made for as many queries as keys, and too large where there are fewer queries.

    Which shape must the result have for one query and three keys?
    """
    return _looked_up(bias, _distances(n_keys, n_keys))


@misconception(of="relative_bias")
def queries_counted_from_the_first_key(bias, n_queries, n_keys):
    """With fewer queries than keys, the queries are taken for the first positions; they are the last.

    One query and three keys: at which position does the query stand, and what is its distance to the last
    key?
    """
    return _looked_up(bias, torch.arange(n_keys) - torch.arange(n_queries)[:, None])


@misconception(of="relative_bias")
def distances_wrap_around(bias, n_queries, n_keys):
    """Distances are not clipped but wrapped around, so a key far to the left counts as one to the right.

    Which entry does a distance beyond R get? What does Python read at a negative index?
    """
    return bias[:, (_distances(n_queries, n_keys) + bias.shape[1] // 2) % bias.shape[1]]


@misconception(of="relative_bias")
def distance_used_as_the_index(bias, n_queries, n_keys):
    """The distance itself is the index, so negative ones count from the end of the table.

    For R = 1 the entries belong to the distances -1, 0, 1. At which index stands the one for 0, and which do
    you read?
    """
    radius = bias.shape[1] // 2
    return bias[:, _distances(n_queries, n_keys).clamp(-radius, radius)]


@misconception(of="relative_bias")
def distances_not_clipped(bias, n_queries, n_keys):
    """Distances are not clipped, so one beyond R is looked up outside the table.

    With six positions and R = 2, what is the largest distance, and how many entries does the table have?
    """
    return bias[:, _distances(n_queries, n_keys) + bias.shape[1] // 2]


@misconception(of="relative_bias")
def nothing_beyond_the_table(bias, n_queries, n_keys):
    """Pairs further apart than R get 0; they should get the outermost number.

    In the example the first query and the last key are 2 apart, and R is 1. Which number do they share?
    """
    distances = _distances(n_queries, n_keys)
    return _looked_up(bias, distances) * (distances.abs() <= bias.shape[1] // 2)


@misconception(of="relative_bias")
def direction_forgotten(bias, n_queries, n_keys):
    """Only how far two tokens are apart counts, not on which side: past and future share their numbers.

    Which entries of the bias are never used by your function?
    """
    return _looked_up(bias, _distances(n_queries, n_keys).abs())
