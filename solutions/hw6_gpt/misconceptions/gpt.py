"""What goes wrong in homework 6, exercise 3: the GPT."""

import math

import torch
from torch import nn
from torch.nn import functional

from autograder.catalogue import misconception


class _RightBlock(nn.Module):
    """A right block."""

    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.ln_1, self.ln_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        attention = {"c_attn": nn.Linear(d_model, 3 * d_model), "c_proj": nn.Linear(d_model, d_model)}
        self.add_module("attn", nn.ModuleDict(attention))  # the name is GPT-2's
        self.mlp = nn.ModuleDict(
            {"c_fc": nn.Linear(d_model, 4 * d_model), "c_proj": nn.Linear(4 * d_model, d_model)}
        )

    def forward(self, x):
        heads = self.attn["c_attn"](self.ln_1(x)).unflatten(-1, (3, self.n_heads, -1))
        query, key, value = heads.permute(2, 0, 3, 1, 4)
        mixed = functional.scaled_dot_product_attention(query, key, value, is_causal=self.is_causal)
        x = x + self.attn["c_proj"](mixed.transpose(1, 2).flatten(2))
        return x + self.mlp["c_proj"](functional.gelu(self.mlp["c_fc"](self.ln_2(x)), approximate="tanh"))

    is_causal = True


class _GPT(nn.Module):
    """A right GPT in parts; each mistake changes one of them."""

    def __init__(self, vocab_size, context_length, d_model, n_heads, n_layers):
        super().__init__()
        self.wte = nn.Embedding(vocab_size, d_model)
        self.wpe = nn.Embedding(context_length, d_model)
        self.h = self.blocks(d_model, n_heads, n_layers)
        self.ln_f = nn.LayerNorm(d_model)

    def blocks(self, d_model, n_heads, n_layers):
        return nn.ModuleList(_RightBlock(d_model, n_heads) for _ in range(n_layers))

    def embedded(self, tokens):
        return self.wte(tokens) + self.wpe(torch.arange(tokens.shape[1]))

    def through(self, x):
        for block in self.h:
            x = block(x)
        return x

    def forward(self, tokens):
        return self.head(self.ln_f(self.through(self.embedded(tokens))))

    def head(self, x):
        return x @ self.wte.weight.T


@misconception(
    of="GPT",
    fails={
        "without_its_blocks_the_embeddings_remain",
        "the_gpt_agrees_with_the_courses",
        "other_gpts_have_their_logits_and_gradients",
    },
)
class LastNormMissing(_GPT):
    """The last layer norm is a parameter of the model, but the forward pass leaves it out.

    Pre-norm blocks add and add. What keeps the numbers at a moderate size that meet the output matrix?
    """

    def forward(self, tokens):
        return self.head(self.through(self.embedded(tokens)))


@misconception(
    of="GPT",
    fails={
        "without_its_blocks_the_embeddings_remain",
        "the_same_word_elsewhere_has_other_logits",
        "the_gpt_agrees_with_the_courses",
        "other_gpts_have_their_logits_and_gradients",
    },
)
class PositionsForgotten(_GPT):
    """The position embeddings are never added, so the model reads a bag of words.

    What does attention answer for the same words in another order? Where does your model learn that a token
    stands at position 3?
    """

    def embedded(self, tokens):
        return self.wte(tokens)


@misconception(
    of="GPT",
    fails={
        "without_its_blocks_the_embeddings_remain",
        "the_same_word_elsewhere_has_other_logits",
        "the_gpt_agrees_with_the_courses",
        "other_gpts_have_their_logits_and_gradients",
    },
    seen="https://github.com/KasperGroesLudvigsen/influenza_transformer/issues/9",
)
class PositionsAlongTheBatch(_GPT):
    """The position embeddings run along the batch: every row of the batch has a position, not every token.

    Which shape has what you add, and to which axis of (B, T, D) does its first axis belong?
    """

    def embedded(self, tokens):
        rows = torch.arange(len(tokens)) % len(self.wpe.weight)
        return self.wte(tokens) + self.wpe(rows)[:, None]


@misconception(
    of="GPT",
    fails={
        "the_gpt_has_the_parameters_of_gpt_2",
        "every_layer_has_its_say",
        "the_gpt_agrees_with_the_courses",
        "other_gpts_have_their_logits_and_gradients",
    },
)
class OneBlockManyTimes(_GPT):
    """The same block stands in the list n_layers times, so that all layers share their weights.

    How many different objects are in `[block] * n_layers`? How many parameters does `model.parameters()`
    list?
    """

    def blocks(self, d_model, n_heads, n_layers):
        return nn.ModuleList([_RightBlock(d_model, n_heads)] * n_layers)


@misconception(
    of="GPT",
    fails={
        "every_layer_has_its_say",
        "the_gpt_agrees_with_the_courses",
        "other_gpts_have_their_logits_and_gradients",
    },
)
class OnlyTheLastBlock(_GPT):
    """Every block reads the embeddings, and only what the last one answers is used.

    In the loop, what is handed to the second block: the embeddings, or what the first block answered?
    """

    def through(self, x):
        for block in self.h:
            y = block(x)
        return y


@misconception(
    of="GPT",
    fails={
        "the_gpt_has_the_parameters_of_gpt_2",
        "without_its_blocks_the_embeddings_remain",
        "the_same_word_elsewhere_has_other_logits",
        "future_tokens_do_not_change_past_logits",
        "every_layer_has_its_say",
        "the_gpt_agrees_with_the_courses",
        "other_gpts_have_their_logits_and_gradients",
    },
)
class HeadOfItsOwn(_GPT):
    """The output has a matrix of its own instead of the token embeddings.

    Count the parameters of the example. Which matrix of GPT-2 is used twice?
    """

    def __init__(self, vocab_size, context_length, d_model, n_heads, n_layers):
        super().__init__(vocab_size, context_length, d_model, n_heads, n_layers)
        self.lm_head = nn.Linear(d_model, vocab_size, bias=False)
        nn.init.normal_(self.lm_head.weight, std=0.02)

    def head(self, x):
        return self.lm_head(x)


@misconception(
    of="GPT",
    fails={
        "without_its_blocks_the_embeddings_remain",
        "the_gpt_agrees_with_the_courses",
        "other_gpts_have_their_logits_and_gradients",
    },
)
class LogProbsReturned(_GPT):
    """The model returns log-probabilities where logits are asked for.

    Do your outputs, before any softmax, sum to one when exponentiated? Which of the two does the statement
    want?
    """

    def head(self, x):
        return super().head(x).log_softmax(-1)


@misconception(
    of="GPT",
    fails={
        "without_its_blocks_the_embeddings_remain",
        "the_gpt_agrees_with_the_courses",
        "other_gpts_have_their_logits_and_gradients",
    },
)
class EmbeddingsScaled(_GPT):
    """The token embeddings are multiplied by the root of D, as in the Transformer of 2017; GPT-2 does not.

    Is there such a factor in the formula for x? What does it do to embeddings that were trained without it?
    """

    def embedded(self, tokens):
        x = self.wte(tokens)
        return x * math.sqrt(x.shape[-1]) + self.wpe(torch.arange(tokens.shape[1]))


@misconception(
    of="GPT",
    fails={
        "future_tokens_do_not_change_past_logits",
        "the_gpt_agrees_with_the_courses",
        "other_gpts_have_their_logits_and_gradients",
    },
)
class BlocksNotCausal(_GPT):
    """The blocks have no causal mask, so that every logit depends on the whole text.

    Hand your model a text and its first half. Are the logits of the first half the same?
    """

    def blocks(self, d_model, n_heads, n_layers):
        blocks = super().blocks(d_model, n_heads, n_layers)
        for block in blocks:
            block.is_causal = False
        return blocks


@misconception(
    of="GPT",
    fails={
        "without_its_blocks_the_embeddings_remain",
        "the_gpt_agrees_with_the_courses",
        "other_gpts_have_their_logits_and_gradients",
    },
)
class ProbabilitiesReturned(_GPT):
    """The model returns probabilities where logits are asked for: there is a softmax inside `forward`.

    Which signs have your outputs, and which signs may logits have? What does `cross_entropy` do to what it is
    given?
    """

    def head(self, x):
        return super().head(x).softmax(-1)
