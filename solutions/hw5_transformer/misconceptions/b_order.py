"""What goes wrong about order, designed queries and a broken map."""

import math

import torch

from autograder.catalogue import misconception

# 13. permutation_gap


def _layers():
    def self_attention(x, mask=None):
        scores = x @ x.transpose(1, 2) / math.sqrt(x.shape[-1])
        scores = scores if mask is None else scores.masked_fill(~mask, -math.inf)
        return scores.softmax(-1) @ x

    def neighbours(x, mask=None):
        return x + x.roll(1, dims=1)

    def with_positions(x, mask=None):
        return self_attention(x + torch.arange(x.shape[1])[:, None], mask)

    return {"self_attention": self_attention, "neighbours": neighbours, "with_positions": with_positions}


def _largest(difference):
    return difference.abs().max().item()


@misconception(of="permutation_gap")
def invariance_expected(layer, x, order):
    """Only the inputs are permuted: the outputs are expected to stay in place, which is invariance.

    If the words change places, should the output for each word stay at the old place, or go with its word?
    """
    f = _layers()[layer]
    return _largest(f(x[:, order]) - f(x))


@misconception(of="permutation_gap")
def only_the_outputs_permuted(layer, x, order):
    """Only the outputs are permuted; the layer never sees the other order.

    Both sides of f(π x) = π f(x) have a π. Where is the first one in your code?
    """
    f = _layers()[layer]
    return _largest(f(x) - f(x)[:, order])


@misconception(of="permutation_gap")
def asked_with_a_mask_on(layer, x, order):
    """The layer is asked with a causal mask, which lets order in by itself.

    Which positions may the first token see under your mask, before and after the permutation?
    """
    mask = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).tril()
    f = _layers()[layer]
    return _largest(f(x[:, order], mask) - f(x, mask)[:, order])


@misconception(of="permutation_gap")
def permuted_back_and_forth(layer, x, order):
    """The inputs are permuted by the order and the outputs by its inverse.

    Three positions that move in a circle: where does each go under `order`, and where under your second
    permutation? When are the two the same?
    """
    f = _layers()[layer]
    return _largest(f(x[:, order]) - f(x)[:, torch.tensor(order).argsort()])


@misconception(of="permutation_gap")
def mean_of_the_differences(layer, x, order):
    """The differences are averaged, where the largest is asked for.

    In the example the four differences have the sizes 1, 2, 0 and 3. Which one is the gap?
    """
    f = _layers()[layer]
    return (f(x[:, order]) - f(x)[:, order]).abs().mean().item()


@misconception(of="permutation_gap")
def largest_without_the_sign_removed(layer, x, order):
    """The largest difference is taken with its sign, so a large negative one is passed over.

    Which of the four differences of the example is the largest in absolute value, and which do you return?
    """
    f = _layers()[layer]
    return (f(x[:, order]) - f(x)[:, order]).max().item()


@misconception(of="permutation_gap")
def differences_summed(layer, x, order):
    """The differences are summed, where the largest is asked for.

    In the example the four differences have the sizes 1, 2, 0 and 3. Which one is the gap?
    """
    f = _layers()[layer]
    return (f(x[:, order]) - f(x)[:, order]).abs().sum().item()


@misconception(of="permutation_gap")
def permuted_by_the_inverse(layer, x, order):
    """The tokens are moved to the places in `order`, where they should be fetched from there.

    In the example, is the first token of your permuted x the 3 that stood at position 2?
    """
    f, back = _layers()[layer], torch.tensor(order).argsort()
    return _largest(f(x[:, back]) - f(x)[:, back])


# 14. query_for


def _query(keys, wanted, fraction, odds=None, root=True, power=2):
    n_others = len(keys) - len(wanted)
    odds = fraction / len(wanted) * n_others / (1 - fraction) if odds is None else odds
    chosen = keys[wanted]
    scale = math.log(odds) * (math.sqrt(keys.shape[-1]) if root else 1)
    return scale * (chosen / chosen.norm(dim=-1, keepdim=True) ** power).sum(0)


@misconception(of="query_for")
def sum_of_the_wanted_keys(keys, wanted, fraction):
    """The query is the sum of the wanted keys, which points the right way and is too short to matter.

    What are the weights of your query in the example? How could the softmax be made surer of the same key?
    """
    return keys[wanted].sum(0)


@misconception(of="query_for")
def root_of_the_width_forgotten(keys, wanted, fraction):
    """The query does not make up for the division by the root of the width.

    What are the scores of your query in the example, after the division? They should be ln 2 and 0.
    """
    return _query(keys, wanted, fraction, root=False)


@misconception(of="query_for")
def root_of_the_width_divided_by_once_more(keys, wanted, fraction):
    """The query is divided by the root of the width, and attention divides by it once more.

    What are the scores of your query in the example, after the division? They should be ln 2 and 0.
    """
    return _query(keys, wanted, fraction) / keys.shape[-1]


@misconception(of="query_for")
def others_share_as_one(keys, wanted, fraction):
    """The number of the other keys is missing: each of them is meant to get the whole rest.

    In the example two other keys share one half. Which weight does one of them get?
    """
    return _query(keys, wanted, fraction, odds=fraction / len(wanted) / (1 - fraction))


@misconception(of="query_for")
def other_keys_not_counted(keys, wanted, fraction):
    """The odds of the fraction are used alone, as if there were as many other keys as wanted ones.

    In the example two other keys share one half. What is the ratio of the wanted key's weight to one of
    theirs?
    """
    return _query(keys, wanted, fraction, odds=fraction / (1 - fraction))


@misconception(of="query_for")
def share_for_every_wanted_key(keys, wanted, fraction):
    """Every wanted key is meant to get the whole fraction; they are to divide it.

    Three wanted keys with a fraction of 0.9 together: which weight does each get?
    """
    return _query(keys, wanted, fraction, odds=fraction * (len(keys) - len(wanted)) / (1 - fraction))


@misconception(of="query_for")
def lengths_of_the_keys_ignored(keys, wanted, fraction):
    """The keys are added up as they are, so long keys get higher scores.

    Let a key be three times as long. What is its product with itself, and how does that change its score?
    """
    return _query(keys, wanted, fraction, power=0)


@misconception(of="query_for")
def keys_only_brought_to_length_one(keys, wanted, fraction):
    """The keys are divided by their length once, so a long key still has a higher score.

    What is the product of a key of length 3 with a vector of length 1 in the same direction?
    """
    return _query(keys, wanted, fraction, power=1)


@misconception(of="query_for")
def only_the_first_wanted_key(keys, wanted, fraction):
    """The query looks at the first of the wanted keys only.

    What is the product of your query with the second wanted key?
    """
    return _query(keys, wanted[:1], fraction)


@misconception(of="query_for")
def wanted_keys_counted_with_the_others(keys, wanted, fraction):
    """The rest is meant to be divided among all keys, the wanted ones included.

    In the example one of three keys is wanted. How many keys divide the rest?
    """
    return _query(keys, wanted, fraction, odds=fraction / len(wanted) * len(keys) / (1 - fraction))


@misconception(of="query_for")
def one_wanted_key_assumed(keys, wanted, fraction):
    """The weights are solved for a single wanted key among all the others.

    Three wanted keys of five: which weight should each of the three get, and how many keys divide the rest?
    """
    return _query(keys, wanted, fraction, odds=fraction * (len(keys) - 1) / (1 - fraction))


@misconception(of="query_for")
def wanted_keys_averaged(keys, wanted, fraction):
    """The multiples of the wanted keys are averaged, so with several of them every score is too small.

    What is the score of one wanted key, if its multiple is divided by the number of wanted keys?
    """
    return _query(keys, wanted, fraction) / len(wanted)


# 15. fault_of_the_map


@misconception(of="fault_of_the_map")
def zeros_blamed():
    """Forbidden scores of 0 would leave weights in the future; the map has none there.

    What weight does a score of 0 get? Look at the last column of the first row.
    """
    return "forbidden_scores_zero"


@misconception(of="fault_of_the_map")
def triangle_blamed():
    """With the triangle transposed the first word would see all the others; in the map it sees only itself.

    Which half of the map is empty? Rows are queries.
    """
    return "triangle_transposed"


@misconception(of="fault_of_the_map")
def queries_blamed():
    """With a softmax over the queries the columns would sum to one; in the map none does.

    Sum the columns of the map, and then the rows. Which row sums to one, and what is special about that word?
    """
    return "softmax_over_queries"


@misconception(of="fault_of_the_map")
def scale_blamed():
    """Without the scale the weights would be sharper, and each row would still sum to one.

    Sum the rows of the map. Can a softmax over allowed keys give such sums?
    """
    return "scores_not_scaled"


@misconception(of="fault_of_the_map")
def diagonal_blamed():
    """With the diagonal hidden no word but the first would look at itself; in the map every word does.

    Look along the diagonal of the map. Is it empty?
    """
    return "diagonal_hidden"
