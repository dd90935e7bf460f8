"""What goes wrong in homework 6, exercise 10: the loop."""

import torch

from autograder.catalogue import misconception


def _last_logits(table, context):
    return table[torch.arange(context.shape[1]), context].cumsum(1)[:, -1]


def _drawn(logits, generator):
    return torch.multinomial(logits.softmax(-1), 1, generator=generator)


def _text(arguments, *, crop=None, read=_last_logits, choose=_drawn):
    table, tokens, n_tokens, generator = arguments
    for _ in range(n_tokens):
        context = tokens[:, -len(table) :] if crop is None else crop(tokens, len(table))
        tokens = torch.cat([tokens, choose(read(table, context), generator)], dim=1)
    return tokens


@misconception(of="generate")
def logits_of_the_first_position(table, prompt, n_tokens, generator):
    """The logits of the first position are used, which know the first token only.

    At which position of the model's answer has the whole context been read? Which index is that if you do not
    know how long the context is?
    """

    def first(table, context):
        _last_logits(table, context)
        return table[0, context[:, 0]]

    return _text((table, prompt, n_tokens, generator), read=first)


@misconception(of="generate")
def context_not_cropped(table, prompt, n_tokens, generator):
    """The model is asked to read more than it can: the context is not cropped at every step, or too little.

    How many tokens can `TableModel` read at most, and how many has the text after n_tokens steps?
    """
    return _text((table, prompt, n_tokens, generator), crop=lambda tokens, C: tokens)


@misconception(of="generate")
def first_tokens_kept(table, prompt, n_tokens, generator):
    """The context is cropped to its first C tokens, so new tokens are never read.

    Of a long text, which end decides what comes next? Which slice takes the last C columns?
    """
    return _text((table, prompt, n_tokens, generator), crop=lambda tokens, C: tokens[:, :C])


@misconception(of="generate")
def one_token_of_context_lost(table, prompt, n_tokens, generator):
    """The context is cropped to C − 1 tokens, one less than the model can read.

    How many tokens does the model read once the text is long? For how many has its table a row?
    """
    return _text((table, prompt, n_tokens, generator), crop=lambda tokens, C: tokens[:, 1 - C :])


@misconception(of="generate")
def first_rows_token_for_all(table, prompt, n_tokens, generator):
    """The token drawn for the first row is appended to all rows.

    Print what `multinomial` returns for a batch of three. Which entry belongs to the second row?
    """

    def choose(logits, generator):
        return _drawn(logits, generator)[:1].expand(len(logits), 1)

    return _text((table, prompt, n_tokens, generator), choose=choose)


@misconception(of="generate")
def most_probable_token_taken(table, prompt, n_tokens, generator):
    """The most probable token is taken instead of a drawn one, so every run writes the same.

    How often should a token with the probability 0.26 come in 4000 rows?
    """

    def choose(logits, generator):
        return logits.argmax(-1, keepdim=True)

    return _text((table, prompt, n_tokens, generator), choose=choose)


@misconception(of="generate", seen="https://github.com/ml-explore/mlx-examples/pull/521")
def softmax_of_the_softmax(table, prompt, n_tokens, generator):
    """The softmax is taken twice, which makes all tokens almost equally likely.

    What does the softmax of (0.9, 0.1) give? Which numbers should it be given?
    """

    def choose(logits, generator):
        return _drawn(logits.softmax(-1), generator)

    return _text((table, prompt, n_tokens, generator), choose=choose)


@misconception(of="generate")
def generator_ignored(table, prompt, n_tokens, generator):
    """The draw ignores the generator it was given, so a text cannot be reproduced.

    Where in your call of `multinomial` does the generator go in?
    """

    def choose(logits, generator):
        return torch.multinomial(logits.softmax(-1), 1)

    return _text((table, prompt, n_tokens, generator), choose=choose)


@misconception(of="generate")
def only_the_new_tokens(table, prompt, n_tokens, generator):
    """Only the new tokens come back, without the prompt.

    Which shape does the statement promise, and which has your answer?
    """
    return _text((table, prompt, n_tokens, generator))[:, prompt.shape[1] :]


@misconception(of="generate")
def appended_along_the_batch(table, prompt, n_tokens, generator):
    """The new tokens are appended along axis 0: they become rows of the batch instead of a new column.

    How many rows has your text after one step, and how many should it have after thirty? Which axis of
    (B, T) are the positions?
    """
    tokens = prompt
    for _ in range(n_tokens):
        drawn = _drawn(_last_logits(table, tokens[:, -len(table) :]), generator)
        tokens = torch.cat([tokens, drawn], dim=0)
    return tokens


@misconception(of="generate")
def logits_handed_to_multinomial(table, prompt, n_tokens, generator):
    """The logits are handed to `multinomial` as they are, without a softmax.

    What does `multinomial` expect: may its numbers be negative? Which function makes such numbers of logits?
    """

    def choose(logits, generator):
        return torch.multinomial(logits, 1, generator=generator)

    return _text((table, prompt, n_tokens, generator), choose=choose)
