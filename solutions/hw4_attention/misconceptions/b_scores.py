"""What goes wrong with dot-product, bilinear and additive scores."""

import torch

from autograder.catalogue import misconception

# 9. dot_scores


@misconception(of="dot_scores", seen="https://github.com/pytorch/tutorials/issues/130")
def queries_scored_with_queries(query, key):
    """The queries are compared with each other; the keys, and with them the source, are not used.

    Change a key. Does any score change? Which name stands twice in your product?
    """
    return query @ query.transpose(1, 2)


@misconception(of="dot_scores")
def keys_down_queries_across(query, key):
    """The table lies on its side: a row for each key and a column for each query.

    With 3 queries and 4 keys, what shape is your answer? Which axis should list what one query chooses
    from?
    """
    return key @ query.transpose(1, 2)


@misconception(of="dot_scores")
def scores_divided_by_the_width(query, key):
    """The scores are divided by the root of the width, which is a different score, of a later lecture.

    In the example, 1 · 3 + 2 · 4 is 11. By what did you divide it?
    """
    return query @ key.transpose(1, 2) / query.shape[-1] ** 0.5


@misconception(of="dot_scores")
def cosines_for_dot_products(query, key):
    """Queries and keys are brought to length 1 first, so the scores are cosines.

    What happens to your scores when every key is three times as long? What should happen?
    """
    return torch.nn.functional.normalize(query, dim=-1) @ torch.nn.functional.normalize(
        key, dim=-1
    ).transpose(1, 2)


@misconception(of="dot_scores")
def keys_of_the_whole_batch(query, key):
    """The products are summed over all sentences of the batch, so a query meets the keys of other sentences.

    Give the batch with its second sentence only. Are the scores of that sentence the same?
    """
    return torch.einsum("btd,csd->bts", query, key)


@misconception(of="dot_scores")
def keys_cut_anew(query, key):
    """The keys are reshaped to (B, D, S), which cuts them apart, where two axes should change places.

    Reshape the keys (3, 4) and (0, 1) of the example to two columns. Is the first column still the first key?
    """
    B, S, D = key.shape
    return query @ key.reshape(B, D, S)


@misconception(of="dot_scores")
def weights_for_dot_scores(query, key):
    """A softmax is taken of the scores already; weights are made of them only in exercise 12.

    Sum a row of your answer. What does the statement say a score is, and what is added to that?
    """
    return (query @ key.transpose(1, 2)).softmax(dim=-1)


# 10. bilinear_scores


@misconception(of="bilinear_scores", seen="https://github.com/pytorch/tutorials/issues/130")
def scores_without_the_source(query, key, W):
    """The scores are W applied to the query, cut to the number of keys: the keys themselves are never read.

    Change a key. Does any score change? How can the decoder find a word without looking at the words?
    """
    return (query @ W)[..., : key.shape[1]]


@misconception(of="bilinear_scores")
def source_words_down(query, key, W):
    """The table lies on its side: a row for each key and a column for each query.

    Whose weights are to sum to one, and along which axis will that sum run in your table?
    """
    return key @ W.T @ query.transpose(1, 2)


@misconception(of="bilinear_scores")
def scores_bent_by_tanh(query, key, W):
    """A tanh bends the queries after W, which the formula has not.

    What happens to your scores when W is twice as large? Where does the formula have a tanh?
    """
    return torch.tanh(query @ W) @ key.transpose(1, 2)


@misconception(of="bilinear_scores")
def one_query_for_all_steps(query, key, W):
    """One query, the mean of all, is used for every step, so all rows of scores are alike.

    Print two rows of your scores. Should the second word of a translation look where the first did?
    """
    return (query.mean(1, keepdim=True) @ W @ key.transpose(1, 2)).expand(-1, query.shape[1], -1)


@misconception(of="bilinear_scores")
def bilinear_scores_divided(query, key, W):
    """The scores are divided by the root of a width, which this formula does not do.

    In the example, 1 · 3 + 2 · 4 + 2 · 5 is 21. By what did you divide it?
    """
    return query @ W @ key.transpose(1, 2) / key.shape[-1] ** 0.5


@misconception(of="bilinear_scores")
def weights_for_bilinear_scores(query, key, W):
    """A softmax is taken of the scores already; weights are made of them only in exercise 12.

    Sum a row of your answer. Where has the formula of this exercise a softmax?
    """
    return (query @ W @ key.transpose(1, 2)).softmax(dim=-1)


# 11. additive_scores


def _from_both(query, key, W_query, W_key):
    return (query @ W_query.T)[:, :, None], (key @ W_key.T)[:, None]


@misconception(of="additive_scores")
def tanh_outside(query, key, W_query, W_key, v):
    """The tanh is taken of the finished score, outside, so that no score is above 1.

    Write the formula from inside out. Of how many numbers is the tanh taken before v comes?
    """
    from_query, from_key = _from_both(query, key, W_query, W_key)
    return torch.tanh((from_query + from_key) @ v)


@misconception(of="additive_scores")
def v_applied_first(query, key, W_query, W_key, v):
    """The query and the key go through tanh and v by themselves, and only their results are added up.

    With your scores, can one query prefer the first key and another query the second? Follow one pair: where
    do its query and its key meet?
    """
    from_query, from_key = _from_both(query, key, W_query, W_key)
    return torch.tanh(from_query) @ v + torch.tanh(from_key) @ v


@misconception(of="additive_scores")
def tanh_left_out(query, key, W_query, W_key, v):
    """There is no tanh, so query and key never meet: every query ranks the keys alike.

    In the example, is 4 the score of the query 1 and the key 1? What makes a network out of two matrices?
    """
    from_query, from_key = _from_both(query, key, W_query, W_key)
    return (from_query + from_key) @ v


@misconception(of="additive_scores", seen="https://github.com/pytorch/tutorials/issues/130")
def network_without_keys(query, key, W_query, W_key, v):
    """Only the query goes through the network, and all words of the source get its number.

    Change a key. Does any score change? Which of the five arguments did you not use?
    """
    from_query, _ = _from_both(query, key, W_query, W_key)
    return (torch.tanh(from_query) @ v).expand(-1, -1, key.shape[1])


@misconception(of="additive_scores")
def projections_multiplied(query, key, W_query, W_key, v):
    """The two projections are multiplied where the formula adds them.

    What does the score of the query 1 and the key -1 come to in the example? What should it be?
    """
    from_query, from_key = _from_both(query, key, W_query, W_key)
    return torch.tanh(from_query * from_key) @ v


@misconception(of="additive_scores")
def additive_table_on_its_side(query, key, W_query, W_key, v):
    """The table lies on its side: a row for each key and a column for each query.

    With 3 queries and 4 keys, what shape is your answer? Which axis lists the queries?
    """
    from_query, from_key = _from_both(query, key, W_query, W_key)
    return (torch.tanh(from_query + from_key) @ v).transpose(1, 2)


@misconception(of="additive_scores")
def v_not_used(query, key, W_query, W_key, v):
    """The N numbers behind the tanh are added up as they are: v is not used.

    In the example, v is 2. Where does this 2 enter your score?
    """
    from_query, from_key = _from_both(query, key, W_query, W_key)
    return torch.tanh(from_query + from_key).sum(-1)
