"""What goes wrong in homework 6, exercise 3: the GPT."""

import math

import torch
from torch import nn

from autograder.catalogue import misconception

from ..notebook import CausalBlock


class _BlockThatSeesAll(CausalBlock):
    """A block whose positions attend to later ones as well."""

    def attention(self, x):
        heads = self.attn["c_attn"](x).unflatten(-1, (3, self.n_heads, -1))
        query, key, value = heads.permute(2, 0, 3, 1, 4)
        weights = (query @ key.mT / math.sqrt(query.shape[-1])).softmax(dim=-1)
        return self.attn["c_proj"]((weights @ value).transpose(1, 2).flatten(2))


class _GPT(nn.Module):
    """A right GPT in parts; each mistake changes one of them."""

    def __init__(self, vocab_size, context_length, d_model, n_heads, n_layers):
        super().__init__()
        self.wte = nn.Embedding(vocab_size, d_model)
        self.wpe = nn.Embedding(context_length, d_model)
        self.h = self.blocks(d_model, n_heads, n_layers)
        self.ln_f = nn.LayerNorm(d_model)
        for embedding in (self.wte, self.wpe):
            nn.init.normal_(embedding.weight, std=0.05)

    def blocks(self, d_model, n_heads, n_layers):
        return nn.ModuleList(CausalBlock(d_model, n_heads) for _ in range(n_layers))

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


@misconception(of="GPT")
class EmbeddingsOfSizeOne(_GPT):
    """The embeddings of a new model are too large, as those are that PyTorch makes: it is sure, and wrong.

    What is the loss of your model before its first step, and what is ln V? How large should `wte` be?
    """

    def __init__(self, *sizes):
        super().__init__(*sizes)
        for embedding in (self.wte, self.wpe):
            embedding.reset_parameters()


@misconception(of="GPT")
class LastNormMissing(_GPT):
    """The last layer norm is a parameter of the model, but the forward pass leaves it out.

    Pre-norm blocks add and add. What keeps the numbers at a moderate size that meet the output matrix?
    """

    def forward(self, tokens):
        return self.head(self.through(self.embedded(tokens)))


@misconception(of="GPT")
class PositionsForgotten(_GPT):
    """The position embeddings are never added.

    What does attention answer for the same words in another order? Where does your model learn that a token
    stands at position 3?
    """

    def embedded(self, tokens):
        return self.wte(tokens)


@misconception(of="GPT", seen="https://github.com/KasperGroesLudvigsen/influenza_transformer/issues/9")
class PositionsAlongTheBatch(_GPT):
    """The position embeddings run along the batch: every row of the batch has a position, not every token.

    What shape is the tensor you add, and to which axis of (B, T, D) does its first axis belong?
    """

    def embedded(self, tokens):
        rows = torch.arange(len(tokens)) % len(self.wpe.weight)
        return self.wte(tokens) + self.wpe(rows)[:, None]


@misconception(of="GPT")
class OneBlockManyTimes(_GPT):
    """The same block stands in the list n_layers times, so that all layers share their weights.

    How many different objects are in `[block] * n_layers`? How many parameters does `model.parameters()`
    list?
    """

    def blocks(self, d_model, n_heads, n_layers):
        return nn.ModuleList([CausalBlock(d_model, n_heads)] * n_layers)


@misconception(of="GPT")
class OnlyTheLastBlock(_GPT):
    """Every block reads the embeddings, and only what the last one answers is used.

    In the loop, what is handed to the second block: the embeddings, or what the first block answered?
    """

    def through(self, x):
        for block in self.h:
            y = block(x)
        return y


@misconception(of="GPT")
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


@misconception(of="GPT")
class LogProbsReturned(_GPT):
    """The model returns log-probabilities where logits are asked for.

    Do your outputs, before any softmax, sum to one when exponentiated? Which of the two does the statement
    want?
    """

    def head(self, x):
        return super().head(x).log_softmax(-1)


@misconception(of="GPT")
class EmbeddingsScaled(_GPT):
    """The token embeddings are multiplied by the root of D, as in the Transformer of 2017; GPT-2 does not.

    Is there such a factor in the formula for x? What does it do to embeddings that were trained without it?
    """

    def embedded(self, tokens):
        x = self.wte(tokens)
        return x * math.sqrt(x.shape[-1]) + self.wpe(torch.arange(tokens.shape[1]))


@misconception(of="GPT")
class BlocksNotCausal(_GPT):
    """The blocks have no causal mask, so that every logit depends on the whole text.

    Hand your model a text and its first half. Are the logits of the first half the same?
    """

    def blocks(self, d_model, n_heads, n_layers):
        return nn.ModuleList(_BlockThatSeesAll(d_model, n_heads) for _ in range(n_layers))


@misconception(of="GPT")
class ProbabilitiesReturned(_GPT):
    """The model returns probabilities where logits are asked for: there is a softmax inside `forward`.

    Which signs have your outputs, and which signs may logits have? What does `cross_entropy` do to what it is
    given?
    """

    def head(self, x):
        return super().head(x).softmax(-1)
