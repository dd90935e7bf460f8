# %% [markdown]
# # Homework 6: a GPT that you wrote yourself
#
# You build the model of lecture 15 and the generation of lecture 16: the loss with its shift, the causal
# block, the whole GPT with the names and shapes of GPT-2, so that the weights of the real one would run in
# it; you train it on the stories of the course and hold it against their exact entropy. Then everything that
# stands between log-probabilities and a text: the loop, the samplers, mirostat, beam search, and the cache of
# keys and values.
#
# | part | about | minutes |
# |---|---|---|
# | A | loss, block, GPT, and the weights of GPT-2 | 90 |
# | B | training | 75 |
# | C | from logits to a text | 110 |
# | D | searching, and remembering | 85 |
#
# Each exercise is a statement, a function for you to write, and its checks. Some checks are kept back for
# grading: they make the same claims about other sizes and other numbers. Exercise 3 needs your class of
# exercise 2, exercise 6 those of 2 and 3, and the last check of exercise 4 loads weights into your class of
# exercise 3. All others stand alone, so take them in any order. You may call what you wrote for another
# exercise everywhere, `top_k` in exercise 14 for instance: grading runs all your cells first. If that other
# function is wrong, both exercises lose points.
#
# Letters: B sequences at once, T positions, V tokens in the vocabulary (`vocab_size`), C positions that a
# model can see at most (`context_length`), D numbers per position (`d_model`), H heads of K = D / H numbers
# each. **Logits** are the numbers before the softmax. Logarithms are natural, losses are in nats, unless a
# statement says **bits**. Tokens are int64.
#
# The solved notebook takes 12 seconds of one core and 0.45 GB; training the model of exercise 6 takes 7 of
# these seconds. With `COURSE_SCALE=full` in the environment that exercise has longer stories and trains six
# layers of 384 numbers, which is meant for a GPU; its cell prints the seconds and the memory that it took.

# %% [markdown] rules

# %% setup

# %% provided="imports"
import math
import os
import time
from functools import cache
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional

from course.checks import (
    assert_close,
    assert_depends,
    assert_differentiable,
    assert_dtype,
    assert_equal,
    assert_true,
    homework,
    same,
    with_weights,
)

check = homework("hw6_gpt")


# %% [markdown]
# ## Part A. The model

# %% [markdown] exercise="next_token_loss" difficulty=1 minutes=15 forbids="course.training,course.models"
# ### 1. The loss with its shift
#
# A causal language model reads `tokens` (B, T) and answers with `logits` (B, T, V). The logits at position
# t were computed from the tokens 0 … t, and they are about the token **after** that.
#
# Write `next_token_loss(logits, tokens, mask=None)`: the mean of $-\ln P(\text{next token})$ over all predictions
# that can be judged, a single number. What follows the last token of a row is not known, so a row gives T − 1
# predictions. Texts of unequal lengths are filled up with padding: `mask` (B, T) is True at real tokens, and a
# prediction whose next token is padding is not judged and not counted. Without a mask all tokens are real.
# `torch.nn.functional.cross_entropy` may be used.
#
# **Example.** One row of tokens `[2, 0, 1]` with the logits $(\ln 2, 0, 0)$, $(0, 0, 0)$ and $(0, 9, 0)$. The
# first logits give token 0 the probability 1/2, the second give token 1 the probability 1/3, and the third
# are about a token that we do not have. The loss is $(\ln 2 + \ln 3) / 2 \approx 0.896$. With the mask
# `[True, True, False]` only the first prediction can be judged, and the loss is $\ln 2 \approx 0.693$.
#
# <details><summary>Hint 1</summary>
#
# Write the positions 0, 1, 2 in a row, under each the token that stands there, and under that the token that
# its logits are about. Which position has no entry in the last line, and which token never occurs in it?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# `cross_entropy` wants logits (N, V) and targets (N,). Cut first, then flatten: what happens at the borders
# of the rows if you flatten first?
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# Is it the token that was read or the token to be predicted that must be real? By how many predictions do you
# divide?
#
# </details>


# %% solution="next_token_loss"
def next_token_loss(logits: Tensor, tokens: Tensor, mask: Tensor | None = None) -> Tensor:
    """Mean negative log-probability of the next real token; logits (B, T, V), tokens and mask (B, T)."""
    ### BEGIN SOLUTION
    predictions, targets = logits[:, :-1], tokens[:, 1:]  # (B, T − 1, V), (B, T − 1)
    losses = functional.cross_entropy(predictions.mT, targets, reduction="none")  # (B, T − 1)
    return losses.mean() if mask is None else losses[mask[:, 1:]].mean()
    ### END SOLUTION


# %% check="the_example_costs_half_of_ln_6" points=1
def the_example_costs_half_of_ln_6(next_token_loss):
    """The three tokens of the example cost (ln 2 + ln 3) / 2, and gradients flow back."""
    logits = torch.tensor([[[math.log(2), 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 9.0, 0.0]]], dtype=torch.float64)
    assert_close(next_token_loss(logits, torch.tensor([[2, 0, 1]])), math.log(6) / 2)
    assert_differentiable(next_token_loss, logits, torch.tensor([[2, 0, 1]]))


check(the_example_costs_half_of_ln_6, next_token_loss)


# %% check="who_knows_the_next_token_pays_nothing" points=1
def who_knows_the_next_token_pays_nothing(next_token_loss):
    """Logits that are sure of the next token cost nothing; logits that repeat the token read cost 40."""
    tokens = torch.tensor([[3, 1, 4, 0, 2], [2, 0, 3, 4, 1]])
    certain = 40 * torch.eye(5, dtype=torch.float64)
    assert_close(next_token_loss(certain[tokens.roll(-1, dims=1)], tokens), 0.0, what="who knows")
    assert_close(next_token_loss(certain[tokens], tokens), 40.0, what="who repeats")


check(who_knows_the_next_token_pays_nothing, next_token_loss)


# %% check="the_last_logits_of_a_row_do_not_count" points=1
def the_last_logits_of_a_row_do_not_count(next_token_loss, draw):
    """Other logits at the last position of each row change nothing; other logits elsewhere do."""
    logits, tokens = draw.normal(3, 4, 7), draw.integers(0, 7, 3, 4)
    answer = next_token_loss(logits, tokens)
    last, first = logits.clone(), logits.clone()
    last[:, -1] = 3 * draw.normal(3, 7)
    first[:, 0] = 3 * draw.normal(3, 7)
    assert_close(next_token_loss(last, tokens), answer)
    assert_depends(answer, next_token_loss(first, tokens))


check(the_last_logits_of_a_row_do_not_count, next_token_loss)


# %% check="knowing_nothing_costs_ln_v" points=1
def knowing_nothing_costs_ln_v(next_token_loss):
    """Equal logits cost ln V per prediction, however many rows and positions there are."""
    for shape in ((1, 5), (4, 3)):
        tokens = torch.arange(math.prod(shape)).reshape(shape) % 7
        assert_close(next_token_loss(torch.zeros(*shape, 7, dtype=torch.float64), tokens), math.log(7))


check(knowing_nothing_costs_ln_v, next_token_loss)


# %% check="padding_costs_and_counts_nothing" points=1
def padding_costs_and_counts_nothing(next_token_loss, draw):
    """Padding is not judged, whatever stands there, and every prediction of a real token counts the same."""
    logits, tokens = draw.normal(3, 5, 7), draw.integers(0, 7, 3, 5)
    mask = torch.arange(5) < torch.tensor([[5], [2], [4]])
    answer = next_token_loss(logits, tokens, mask)
    judged = functional.pad(mask[:, 1:], (0, 1))
    elsewhere = torch.where(judged[..., None], logits, 3 * draw.normal(3, 5, 7))
    assert_close(next_token_loss(elsewhere, torch.where(mask, tokens, 6), mask), answer, what="other padding")
    sure = 60.0 * functional.one_hot(tokens.roll(-1, dims=1), 7)
    sure[1] = 0.0
    assert_close(next_token_loss(sure, tokens, mask), math.log(7) / 8, what="one of eight costs ln 7")
    assert_depends(answer, next_token_loss(logits, tokens))


check(padding_costs_and_counts_nothing, next_token_loss)


# %% check="other_texts_have_their_next_token_loss" points=2 hidden
def other_texts_have_their_next_token_loss(next_token_loss, draw):
    """Other texts, padded or not, cost the mean of their predictions, added up one by one."""
    for batch_size, T, vocab_size, is_padded in ((2, 6, 5, False), (5, 3, 11, True), (4, 9, 4, True)):
        logits, tokens = (
            2 * draw.normal(batch_size, T, vocab_size),
            draw.integers(0, vocab_size, batch_size, T),
        )
        lengths = [T, *draw.integers(2, T, batch_size - 1).tolist()] if is_padded else [T] * batch_size
        total = 0.0
        for b, length in enumerate(lengths):
            for t in range(length - 1):
                z = logits[b, t].tolist()
                total += math.log(sum(math.exp(value) for value in z)) - z[tokens[b, t + 1]]
        mask = torch.arange(T) < torch.tensor(lengths)[:, None] if is_padded else None
        received = next_token_loss(logits, tokens, mask) if is_padded else next_token_loss(logits, tokens)
        assert_close(received, total / (sum(lengths) - batch_size))


check(other_texts_have_their_next_token_loss, next_token_loss)


# %% provided="drawn_weights"
def weights_of_block(draw, d_model):
    """Random parameters of one block, by their names in GPT-2."""
    shapes = {
        "ln_1.weight": (d_model,),
        "ln_1.bias": (d_model,),
        "attn.c_attn.weight": (3 * d_model, d_model),
        "attn.c_attn.bias": (3 * d_model,),
        "attn.c_proj.weight": (d_model, d_model),
        "attn.c_proj.bias": (d_model,),
        "ln_2.weight": (d_model,),
        "ln_2.bias": (d_model,),
        "mlp.c_fc.weight": (4 * d_model, d_model),
        "mlp.c_fc.bias": (4 * d_model,),
        "mlp.c_proj.weight": (d_model, 4 * d_model),
        "mlp.c_proj.bias": (d_model,),
    }
    return {name: draw.normal(*shape) / shape[-1] ** 0.25 for name, shape in shapes.items()}


def weights_of_gpt(draw, vocab_size, context_length, d_model, n_layers):
    """Random parameters of a GPT, by their names in GPT-2."""
    weights = {"wte.weight": draw.normal(vocab_size, d_model)}
    weights["wpe.weight"] = draw.normal(context_length, d_model)
    for i in range(n_layers):
        weights |= {f"h.{i}.{name}": weight for name, weight in weights_of_block(draw, d_model).items()}
    return weights | {"ln_f.weight": draw.normal(d_model), "ln_f.bias": draw.normal(d_model)}


def shapes_of(weights):
    """The shape of each tensor, by its name."""
    return {name: list(weight.shape) for name, weight in sorted(weights.items())}


def courses_gpt(weights, n_heads):
    """The GPT of the course with the same parameters, to compare with."""
    from course.models.checkpoints import GPT_MODULES, translate
    from course.models.gpt import GPT as CoursesGPT
    from course.models.gpt import GPTConfig

    vocab_size, d_model = weights["wte.weight"].shape
    n_layers = len({name.split(".")[1] for name in weights if name.startswith("h.")})
    config = GPTConfig(vocab_size, len(weights["wpe.weight"]), d_model, n_heads, n_layers)
    own = {}
    for name, weight in weights.items():
        stored = weight.mT if ".c_" in name and weight.ndim == 2 else weight  # a checkpoint's orientation
        own |= translate(name, stored, GPT_MODULES)
    model = CoursesGPT(config).double()
    model.load_state_dict(own)
    return model


def courses_block(weights, n_heads):
    """One block of the course with the same parameters: x (B, T, D) → (B, T, D)."""
    d_model = len(weights["ln_1.weight"])
    around = {name: torch.zeros(1, d_model, dtype=torch.float64) for name in ("wte.weight", "wpe.weight")}
    around |= {f"ln_f.{part}": torch.zeros(d_model, dtype=torch.float64) for part in ("weight", "bias")}
    block = courses_gpt(around | {f"h.0.{name}": weight for name, weight in weights.items()}, n_heads).blocks[
        0
    ]
    return lambda x: block(x, is_causal=True)


# %% [markdown] exercise="CausalBlock" difficulty=3 minutes=35 forbids="course.models"
# ### 2. The causal block
#
# The block of GPT-2 is pre-norm: both of its parts read a normalised copy of $x$ and **add** what they find,
#
# $$x \leftarrow x + \mathrm{attention}(\mathrm{ln_1}(x)), \qquad
# x \leftarrow x + \mathrm{mlp}(\mathrm{ln_2}(x)).$$
#
# Attention is causal: position t attends to the positions 0 … t, itself included. One matrix `c_attn` makes
# queries, keys and values at once, **in this order**: of its 3D outputs the first D are the queries of all
# heads, the next D the keys, the last D the values. In each of them head h owns the numbers hK … hK + K − 1,
# K = D / H. Scores are divided by $\sqrt K$. The heads' outputs are put side by side again in their order and
# go through `c_proj`. The mlp is `c_proj(gelu(c_fc(x)))` with GPT-2's gelu, which is
# `torch.nn.functional.gelu(…, approximate="tanh")`. The norms are layer norms with $\epsilon = 10^{-5}$.
#
# Write the module `CausalBlock(d_model, n_heads)`, whose `forward(x)` maps (B, T, D) to (B, T, D). Its
# parameters have the names of GPT-2 and the orientation of `nn.Linear`, (outputs, inputs):
#
# | parameter | shape | parameter | shape |
# |---|---|---|---|
# | `ln_1.weight`, `ln_1.bias` | (D,) | `ln_2.weight`, `ln_2.bias` | (D,) |
# | `attn.c_attn.weight` | (3D, D) | `mlp.c_fc.weight` | (4D, D) |
# | `attn.c_attn.bias` | (3D,) | `mlp.c_fc.bias` | (4D,) |
# | `attn.c_proj.weight` | (D, D) | `mlp.c_proj.weight` | (D, 4D) |
# | `attn.c_proj.bias` | (D,) | `mlp.c_proj.bias` | (D,) |
#
# All of `torch.nn` may be used, `scaled_dot_product_attention` too; the models of `course` may not. How the
# parameters are initialised is up to you.
#
# **Example.** If `attn.c_proj` and `mlp.c_proj` are zero, weights and biases, the block changes nothing:
# whatever the other parameters are, $x$ comes out as it went in.
#
# <details><summary>Hint 1</summary>
#
# The name `attn.c_attn.weight` comes out by itself if `self.attn` is a module that holds a linear layer
# called `c_attn`. `nn.ModuleDict({"c_attn": …, "c_proj": …})` is such a module.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# `chunk(3, dim=-1)` gives queries, keys and values, (B, T, D) each. Which view cuts D into H pieces of K, and
# which transpose then brings the heads before the positions?
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# Set x to 0 at the last position and look whether any other output changes. If it does, the mask is missing
# or faces the wrong way. Then do the same at the first position.
#
# </details>
#
# <details><summary>Hint 4</summary>
#
# "Missing key(s) in state_dict" names what your module keeps and the table does not: a mask registered as a
# buffer, for instance. It can be made anew in `forward`, for the T of this batch.
#
# </details>


# %% solution="CausalBlock"
class CausalBlock(nn.Module):
    """One block of GPT-2, x (B, T, D) → (B, T, D), with the parameters of the table."""

    def __init__(self, d_model: int, n_heads: int):
        super().__init__()
        ### BEGIN SOLUTION
        self.n_heads = n_heads
        self.ln_1, self.ln_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        attention = {"c_attn": nn.Linear(d_model, 3 * d_model), "c_proj": nn.Linear(d_model, d_model)}
        self.add_module("attn", nn.ModuleDict(attention))  # the name is GPT-2's
        self.mlp = nn.ModuleDict(
            {"c_fc": nn.Linear(d_model, 4 * d_model), "c_proj": nn.Linear(4 * d_model, d_model)}
        )
        ### END SOLUTION

    def forward(self, x: Tensor) -> Tensor:
        """The residual stream after the block."""
        ### BEGIN SOLUTION
        x = x + self.attention(self.ln_1(x))
        hidden = functional.gelu(self.mlp["c_fc"](self.ln_2(x)), approximate="tanh")  # (B, T, 4D)
        return x + self.mlp["c_proj"](hidden)

    def attention(self, x):
        B, T, D = x.shape
        heads = self.attn["c_attn"](x).view(B, T, 3, self.n_heads, D // self.n_heads)
        query, key, value = heads.permute(2, 0, 3, 1, 4)  # (B, H, T, K) each
        scores = query @ key.mT / math.sqrt(D // self.n_heads)  # (B, H, T, T)
        is_future = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1)
        weights = scores.masked_fill(is_future, -torch.inf).softmax(dim=-1)
        return self.attn["c_proj"]((weights @ value).transpose(1, 2).flatten(2))
        ### END SOLUTION


# %% check="the_block_has_the_parameters_of_gpt_2" points=1
def the_block_has_the_parameters_of_gpt_2(CausalBlock, draw):
    """The block has the twelve parameters of the table, and no others."""
    assert_equal(sorted(CausalBlock(6, 3).gradients()), sorted(weights_of_block(draw, 6)))


check(the_block_has_the_parameters_of_gpt_2, CausalBlock)


# %% check="without_its_output_matrices_the_block_changes_nothing" points=1
def without_its_output_matrices_the_block_changes_nothing(CausalBlock, draw):
    """With both c_proj zero, x comes out as it went in; otherwise not."""
    weights, x = weights_of_block(draw, 6), draw.normal(4, 5, 6)
    silent = {name: weight * 0 if "c_proj" in name else weight for name, weight in weights.items()}
    answer = with_weights(CausalBlock(6, 3), silent)(x)
    nothing = "With both c_proj zero your block answers 0 everywhere, so x itself did not get through."
    assert_true(bool((torch.as_tensor(answer) != 0).any()), nothing)
    assert_close(answer, x)
    assert_depends(with_weights(CausalBlock(6, 3), weights)(x), x)


check(without_its_output_matrices_the_block_changes_nothing, CausalBlock)


# %% check="the_future_does_not_change_the_past" points=2
def the_future_does_not_change_the_past(CausalBlock, draw):
    """Another vector at position 3 changes the outputs at positions 3 and 4 only, and gradients flow back."""
    block, x = with_weights(CausalBlock(6, 3), weights_of_block(draw, 6)), draw.normal(4, 5, 6)
    other = x.clone()
    other[:, 3] = draw.normal(4, 6)
    before, after = block(x), block(other)
    assert_close(after[:, :3], before[:, :3], what="the outputs before position 3")
    for t in (3, 4):
        assert_depends(before[:, t], after[:, t])
    assert_differentiable(block, x)


check(the_future_does_not_change_the_past, CausalBlock)


# %% check="the_rows_of_a_batch_do_not_mix" points=1
def the_rows_of_a_batch_do_not_mix(CausalBlock, draw):
    """Each row of a batch has the output that it has alone."""
    block, x = with_weights(CausalBlock(8, 2), weights_of_block(draw, 8)), draw.normal(3, 5, 8)
    together = block(x)
    for row in range(3):
        assert_close(together[row : row + 1], block(x[row : row + 1]), what=f"row {row}")
    assert_depends(together[0], together[1])


check(the_rows_of_a_batch_do_not_mix, CausalBlock)


# %% check="each_head_uses_its_own_numbers" points=1
def each_head_uses_its_own_numbers(CausalBlock, draw):
    """Where c_proj hears head 1 only, other queries and keys for heads 0 and 2 change nothing."""
    weights, x = weights_of_block(draw, 6), draw.normal(4, 5, 6)
    weights["attn.c_proj.weight"][:, [0, 1, 4, 5]] = 0  # the outputs of heads 0 and 2
    answer = with_weights(CausalBlock(6, 3), weights)(x)
    rows = {"deaf": [0, 1, 4, 5, 6, 7, 10, 11], "heard": [2, 3, 8, 9]}  # queries 0 … 5, keys 6 … 11
    changed = {}
    for kind, chosen in rows.items():
        matrix = weights["attn.c_attn.weight"].clone()
        matrix[chosen] = 2 * draw.normal(len(chosen), 6)
        changed[kind] = with_weights(CausalBlock(6, 3), weights | {"attn.c_attn.weight": matrix})(x)
    assert_close(changed["deaf"], answer)
    assert_depends(changed["heard"], answer)


check(each_head_uses_its_own_numbers, CausalBlock)


# %% check="the_block_agrees_with_the_courses" points=2
def the_block_agrees_with_the_courses(CausalBlock, draw):
    """With the same parameters the block of the course gives the same output."""
    weights, x = weights_of_block(draw, 6), draw.normal(4, 5, 6)
    assert_close(with_weights(CausalBlock(6, 2), weights)(x), courses_block(weights, 2)(x))


check(the_block_agrees_with_the_courses, CausalBlock)


# %% check="other_blocks_have_their_outputs_and_gradients" points=3 hidden
def other_blocks_have_their_outputs_and_gradients(CausalBlock, draw):
    """Blocks of other sizes have the outputs of GPT-2, and its gradients."""
    for d_model, n_heads, batch_size, T in ((6, 3, 4, 7), (10, 2, 3, 4), (5, 1, 1, 6)):
        weights, x = weights_of_block(draw, d_model), 2 * draw.normal(batch_size, T, d_model)
        own = {name: weight.clone().requires_grad_() for name, weight in weights.items()}

        def normal(x, name, own=own):
            centred = x - x.mean(-1, keepdim=True)
            deviation = (centred.square().mean(-1, keepdim=True) + 1e-5).sqrt()
            return centred / deviation * own[f"{name}.weight"] + own[f"{name}.bias"]

        def affine(x, name, own=own):
            return x @ own[f"{name}.weight"].T + own[f"{name}.bias"]

        d_head = d_model // n_heads
        everything = affine(normal(x, "ln_1"), "attn.c_attn")
        columns = []
        for h in range(n_heads):
            q, k, v = (
                everything[..., part * d_model + h * d_head : part * d_model + (h + 1) * d_head]
                for part in range(3)
            )
            rows = []
            for t in range(T):
                scores = (k[:, : t + 1] * q[:, t : t + 1]).sum(-1) / math.sqrt(d_head)  # (B, t + 1)
                rows.append((scores.softmax(-1)[..., None] * v[:, : t + 1]).sum(1))
            columns.append(torch.stack(rows, dim=1))
        y = x + affine(torch.cat(columns, dim=-1), "attn.c_proj")
        a = affine(normal(y, "ln_2"), "mlp.c_fc")
        gelu = a / 2 * (1 + torch.tanh(math.sqrt(2 / math.pi) * (a + 0.044715 * a**3)))
        expected = y + affine(gelu, "mlp.c_proj")
        block = with_weights(CausalBlock(d_model, n_heads), weights)
        answer = block(x)
        assert_close(answer, expected, what="outputs")
        weighting = draw.normal(batch_size, T, d_model)
        (answer * weighting).sum().backward()
        (expected * weighting).sum().backward()
        gradients = block.gradients()
        for name, weight in own.items():
            assert_close(gradients[name], weight.grad, what=f"the gradient of {name}")


check(other_blocks_have_their_outputs_and_gradients, CausalBlock)

# %% [markdown] exercise="GPT" difficulty=3 minutes=25 forbids="course.models"
# ### 3. The GPT
#
# Around the blocks there is little: an embedding for each token, an embedding for each position, the blocks
# one after the other, a last layer norm, and the token embeddings once more, to score every word,
#
# $$x_t = \mathrm{wte}[\text{token}_t] + \mathrm{wpe}[t], \qquad
# x \leftarrow h_i(x) \text{ for } i = 0 \ldots L - 1, \qquad z = \mathrm{ln_f}(x) \, \mathrm{wte}^\top.$$
#
# Write the module `GPT(vocab_size, context_length, d_model, n_heads, n_layers)`. Its `forward(tokens)` maps
# (B, T), T ≤ C, to logits (B, T, V). Its parameters are
#
# | parameter | shape |
# |---|---|
# | `wte.weight` | (V, D) |
# | `wpe.weight` | (C, D) |
# | `h.0.ln_1.weight` … `h.0.mlp.c_proj.bias`, and so on for `h.1` … | those of exercise 2 |
# | `ln_f.weight`, `ln_f.bias` | (D,) |
#
# There is no other parameter: the output has no matrix of its own and no bias. For the blocks use your
# `CausalBlock`. Initialise `wte` and `wpe` with small numbers, such as `nn.init.normal_(…, std=0.05)`, so
# that a new model finds all words about equally likely.
#
# **Example.** With `d_model` 6, three tokens, `context_length` 5 and two layers there are
# 3 · 6 + 5 · 6 + 2 · 510 + 12 = 1080 numbers to learn, 510 in each block. If both `c_proj` of each block are
# zero, the logits are $\mathrm{ln_f}(\mathrm{wte}[\text{token}_t] + \mathrm{wpe}[t]) \, \mathrm{wte}^\top$.
#
# <details><summary>Hint 1</summary>
#
# `nn.Embedding` has one parameter, called `weight`. A list of modules that PyTorch can see is an
# `nn.ModuleList`.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# `wpe(torch.arange(T))` has the shape (T, D). To which axis of (B, T, D) does broadcasting match its T?
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# "Missing key(s) in state_dict" names what your module has and the tables do not. An output layer, even one
# that shares its weight with `wte`, is such a name. What is a linear layer without bias, written as a
# product?
#
# </details>


# %% solution="GPT"
class GPT(nn.Module):
    """Tokens (B, T) → logits (B, T, V); parameters wte.weight, wpe.weight, h.0 … of CausalBlock, ln_f."""

    def __init__(self, vocab_size: int, context_length: int, d_model: int, n_heads: int, n_layers: int):
        super().__init__()
        ### BEGIN SOLUTION
        self.wte = nn.Embedding(vocab_size, d_model)
        self.wpe = nn.Embedding(context_length, d_model)
        self.h = nn.ModuleList(CausalBlock(d_model, n_heads) for _ in range(n_layers))
        self.ln_f = nn.LayerNorm(d_model)
        for embedding in (self.wte, self.wpe):
            nn.init.normal_(embedding.weight, std=0.05)
        ### END SOLUTION

    def forward(self, tokens: Tensor) -> Tensor:
        """Logits of the next token at every position."""
        ### BEGIN SOLUTION
        positions = torch.arange(tokens.shape[1], device=tokens.device)
        x = self.wte(tokens) + self.wpe(positions)  # (B, T, D)
        for block in self.h:
            x = block(x)
        return self.ln_f(x) @ self.wte.weight.T  # (B, T, V)
        ### END SOLUTION


# %% check="the_gpt_has_the_parameters_of_gpt_2" points=1
def the_gpt_has_the_parameters_of_gpt_2(GPT, draw):
    """A GPT of two layers has 2 + 2 · 12 + 2 parameters with the names of the tables."""
    assert_equal(sorted(GPT(3, 5, 6, 2, 2).gradients()), sorted(weights_of_gpt(draw, 3, 5, 6, 2)))


check(the_gpt_has_the_parameters_of_gpt_2, GPT)


# %% check="without_its_blocks_the_embeddings_remain" points=1
def without_its_blocks_the_embeddings_remain(GPT, draw):
    """With every c_proj zero, the logits are ln_f(wte + wpe) times wte transposed, and gradients flow back."""
    weights = weights_of_gpt(draw, 7, 5, 6, 2)
    weights = {name: weight * 0 if "c_proj" in name else weight for name, weight in weights.items()}
    tokens = torch.tensor([[3, 3, 1, 6], [0, 2, 5, 3]])
    x = weights["wte.weight"][tokens] + weights["wpe.weight"][:4]
    x = (x - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True, correction=0) + 1e-5).sqrt()
    x = x * weights["ln_f.weight"] + weights["ln_f.bias"]
    expected = torch.stack([(x * word).sum(-1) for word in weights["wte.weight"]], dim=-1)
    model = with_weights(GPT(7, 5, 6, 3, 2), weights)
    assert_close(model(tokens), expected)
    assert_differentiable(model, tokens)


check(without_its_blocks_the_embeddings_remain, GPT)


# %% check="the_same_word_elsewhere_has_other_logits" points=1
def the_same_word_elsewhere_has_other_logits(GPT, draw):
    """In a row of equal tokens every position has logits of its own, and equal rows have equal logits."""
    logits = with_weights(GPT(7, 5, 6, 2, 1), weights_of_gpt(draw, 7, 5, 6, 1))(torch.full((3, 4), 2))
    for t in range(3):
        assert_depends(logits[0, t], logits[0, t + 1])
    assert_close(logits[1:], logits[:-1], what="the logits of equal rows")


check(the_same_word_elsewhere_has_other_logits, GPT)


# %% check="future_tokens_do_not_change_past_logits" points=1
def future_tokens_do_not_change_past_logits(GPT, draw):
    """A shorter text has the first logits of the longer one."""
    model = with_weights(GPT(7, 6, 6, 2, 2), weights_of_gpt(draw, 7, 6, 6, 2))
    tokens = torch.tensor([[3, 0, 1, 6, 2, 2], [5, 2, 5, 4, 4, 1]])
    whole = model(tokens)
    for T in (1, 3, 5):
        assert_close(model(tokens[:, :T]), whole[:, :T], what=f"the logits of the first {T} tokens")
    assert_depends(whole[:, :5], whole[:, 1:])


check(future_tokens_do_not_change_past_logits, GPT)


# %% check="every_layer_has_its_say" points=1
def every_layer_has_its_say(GPT, draw):
    """Of three layers, each changes the logits when its mlp is switched off, each in another way."""
    weights, tokens = weights_of_gpt(draw, 7, 5, 6, 3), torch.tensor([[3, 0, 1, 6], [5, 2, 5, 4]])
    answers = [with_weights(GPT(7, 5, 6, 2, 3), weights)(tokens)]
    for i in range(3):
        off = {f"h.{i}.mlp.c_proj.weight": torch.zeros(6, 24, dtype=torch.float64)}
        answers.append(with_weights(GPT(7, 5, 6, 2, 3), weights | off)(tokens))
    for i, one in enumerate(answers):
        for other in answers[:i]:
            assert_depends(one, other)


check(every_layer_has_its_say, GPT)


# %% check="the_gpt_agrees_with_the_courses" points=2
def the_gpt_agrees_with_the_courses(GPT, draw):
    """With the same parameters the GPT of the course gives the same logits."""
    weights, tokens = weights_of_gpt(draw, 7, 5, 6, 2), torch.tensor([[3, 0, 1, 6], [5, 2, 5, 4]])
    assert_close(with_weights(GPT(7, 5, 6, 3, 2), weights)(tokens), courses_gpt(weights, 3).logits(tokens))


check(the_gpt_agrees_with_the_courses, GPT)


# %% check="other_gpts_have_their_logits_and_gradients" points=3 hidden
def other_gpts_have_their_logits_and_gradients(GPT, draw):
    """GPTs of other sizes have the logits of GPT-2, and its gradients."""
    for sizes, n_heads, batch_size, T in (((11, 7, 6, 3), 2, 3, 7), ((5, 9, 8, 1), 4, 2, 6)):
        vocab_size, context_length, d_model, n_layers = sizes
        weights, tokens = weights_of_gpt(draw, *sizes), draw.integers(0, vocab_size, batch_size, T)
        tokens[:, 1] = tokens[:, 0]
        model = with_weights(GPT(vocab_size, context_length, d_model, n_heads, n_layers), weights)
        theirs = courses_gpt(weights, n_heads)
        answer, expected = model(tokens), theirs.logits(tokens)
        assert_close(answer, expected, what="logits")
        weighting = draw.normal(batch_size, T, vocab_size)
        (answer * weighting).sum().backward()
        (expected * weighting).sum().backward()
        own = model.gradients()
        assert_close(own["wte.weight"], theirs.embedding.weight.grad, what="the gradient of wte.weight")
        assert_close(own["ln_f.weight"], theirs.norm.gain.grad, what="the gradient of ln_f.weight")
        for i, block in enumerate(theirs.blocks):
            name = f"h.{i}.mlp.c_fc.weight"
            assert_close(own[name], block.feed_forward.expand.weight.grad, what=f"the gradient of {name}")
            name = f"h.{i}.attn.c_proj.bias"
            assert_close(own[name], block.attention.W_output.bias.grad, what=f"the gradient of {name}")


check(other_gpts_have_their_logits_and_gradients, GPT)


# %% provided="checkpoints"
CONV1D = ("attn.c_attn.weight", "attn.c_proj.weight", "mlp.c_fc.weight", "mlp.c_proj.weight")


def drawn_checkpoint(draw, vocab_size, context_length, d_model, n_layers, prefix="transformer."):
    """A checkpoint as GPT-2's: matrices stored (inputs, outputs), triangles, the output matrix again."""
    weights = weights_of_gpt(draw, vocab_size, context_length, d_model, n_layers)
    triangle = torch.ones(1, 1, context_length, context_length, dtype=torch.float64).tril()
    stored = {}
    for name, weight in weights.items():
        stored[prefix + name] = weight.T.contiguous() if name.endswith(CONV1D) else weight
        if name.endswith("attn.c_proj.bias"):
            layer = prefix + name.removesuffix("c_proj.bias")
            stored |= {f"{layer}bias": triangle, f"{layer}masked_bias": torch.tensor(-1e4)}
    return stored | ({"lm_head.weight": weights["wte.weight"]} if prefix else {})


def logits_of_checkpoint(checkpoint, n_heads, tokens):
    """The logits of the course's GPT, which reads checkpoints of this kind through a table of its own."""
    from course.models.checkpoints import GPT_MODULES, translate
    from course.models.gpt import GPT as CoursesGPT
    from course.models.gpt import GPTConfig

    own = {}
    for theirs, weight in checkpoint.items():
        own |= translate(theirs, weight, GPT_MODULES)
    vocab_size, d_model = own["embedding.weight"].shape
    n_layers = len({name.split(".")[1] for name in own if name.startswith("blocks.")})
    context_length = len(own["positions.embedding.weight"])
    model = CoursesGPT(GPTConfig(vocab_size, context_length, d_model, n_heads, n_layers)).double()
    model.load_state_dict(own)
    return model.logits(tokens).detach()


# %% [markdown] exercise="gpt2_weights" difficulty=2 minutes=20 forbids="course.models,transformers" exempt="gradient"
# ### 4. The weights of GPT-2
#
# Your GPT has the names of GPT-2, so its published weights almost fit. A checkpoint in the layout of Hugging
# Face's `transformers` is a dict from names to tensors that differs from your `state_dict()` in four ways:
#
# - Some checkpoints put `transformer.` before every name, others do not.
# - The four matrices of a block, `attn.c_attn`, `attn.c_proj`, `mlp.c_fc` and `mlp.c_proj`, belonged to a
#   layer called Conv1D and are stored **(inputs, outputs)**. Yours are (outputs, inputs). Embeddings, norms
#   and biases are stored as you have them.
# - Each block brings `attn.bias`, which is no bias but the triangle of the mask, (1, 1, C, C), and
#   `attn.masked_bias`, a number. Your model computes its mask.
# - `lm_head.weight`, never with a prefix, is `wte.weight` once more. It may be missing.
#
# Write `gpt2_weights(checkpoint)`, which returns the dict that `GPT(…).load_state_dict` takes: the names of
# exercise 3, and no others. The last visible check loads it into your `GPT`, and so needs exercise 3; all
# others look at your dict alone.
#
# **Example.** A checkpoint with `transformer.h.0.attn.c_attn.weight` of shape (6, 18) gives
# `h.0.attn.c_attn.weight` of shape (18, 6). With `transformer.h.0.attn.c_attn.bias` only the name changes,
# and `transformer.h.0.attn.bias` does not come out at all.
#
# <details><summary>Hint 1</summary>
#
# `attn.c_proj.weight` is square, so a forgotten transpose raises no error: the model just talks nonsense.
# Decide by the name of a tensor, not by its shape.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Which names end in `.attn.bias`? Make sure that `attn.c_attn.bias` and `attn.c_proj.bias` are not among
# those that you leave out.
#
# </details>


# %% solution="gpt2_weights"
def gpt2_weights(checkpoint: dict[str, Tensor]) -> dict[str, Tensor]:
    """A checkpoint in the Hugging Face layout as a state dict of GPT."""
    ### BEGIN SOLUTION
    transposed = ("attn.c_attn.weight", "attn.c_proj.weight", "mlp.c_fc.weight", "mlp.c_proj.weight")
    left_out = (".attn.bias", ".attn.masked_bias", "lm_head.weight")
    return {
        name.removeprefix("transformer."): weight.T if name.endswith(transposed) else weight
        for name, weight in checkpoint.items()
        if not name.endswith(left_out)
    }
    ### END SOLUTION


# %% check="every_name_is_one_of_the_gpts" points=1
def every_name_is_one_of_the_gpts(gpt2_weights, draw):
    """With and without the prefix, the names are those of exercise 3, all of them and no others."""
    expected = sorted(weights_of_gpt(draw, 5, 3, 2, 2))
    for prefix in ("transformer.", ""):
        answer = gpt2_weights(drawn_checkpoint(draw, 5, 3, 2, 2, prefix))
        assert_equal(sorted(answer), expected, what=f"names that began with {prefix!r}")


check(every_name_is_one_of_the_gpts, gpt2_weights)


# %% check="the_shapes_are_the_gpts" points=1
def the_shapes_are_the_gpts(gpt2_weights, draw):
    """Every tensor has the shape of the parameter it is for."""
    answer = gpt2_weights(drawn_checkpoint(draw, 7, 5, 4, 1))
    expected = shapes_of(weights_of_gpt(draw, 7, 5, 4, 1))
    assert_equal({name: shape for name, shape in shapes_of(answer).items() if name in expected}, expected)


check(the_shapes_are_the_gpts, gpt2_weights)


# %% check="embeddings_norms_and_biases_stay_as_they_are" points=1
def embeddings_norms_and_biases_stay_as_they_are(gpt2_weights, draw):
    """What is no matrix of a block comes out as it went in."""
    checkpoint = drawn_checkpoint(draw, 5, 5, 5, 1)
    answer = gpt2_weights(checkpoint)
    for name in ("wte.weight", "wpe.weight", "h.0.ln_1.weight", "h.0.attn.c_attn.bias", "ln_f.bias"):
        assert_close(answer[name], checkpoint[f"transformer.{name}"], what=f"the tensor {name}")


check(embeddings_norms_and_biases_stay_as_they_are, gpt2_weights)


# %% check="the_checkpoint_has_the_same_logits_in_your_gpt" points=3
def the_checkpoint_has_the_same_logits_in_your_gpt(gpt2_weights, GPT, draw):
    """Your GPT of exercise 3 has, with these weights, the logits that the course's GPT has with them."""
    checkpoint, tokens = drawn_checkpoint(draw, 7, 5, 4, 2), torch.tensor([[3, 0, 1, 6], [5, 2, 5, 4]])
    weights = weights_of_gpt(draw, 7, 5, 4, 2)
    answer = torch.as_tensor(with_weights(GPT(7, 5, 4, 2, 2), weights)(tokens)).detach()
    is_right = same(answer, courses_gpt(weights, 2).logits(tokens).detach())
    assert_true(
        is_right, "Your GPT of exercise 3 is not right yet; without it gpt2_weights cannot be tried out."
    )
    model = with_weights(GPT(7, 5, 4, 2, 2), gpt2_weights(checkpoint))
    assert_close(model(tokens), logits_of_checkpoint(checkpoint, 2, tokens))


check(the_checkpoint_has_the_same_logits_in_your_gpt, gpt2_weights, GPT)


# %% check="other_checkpoints_are_translated" points=2 hidden
def other_checkpoints_are_translated(gpt2_weights, draw):
    """Checkpoints of other sizes become the weights that they were made of."""
    for sizes, prefix in (((5, 4, 10, 3), ""), ((13, 6, 4, 1), "transformer.")):
        checkpoint = drawn_checkpoint(draw, *sizes, prefix)
        names = weights_of_gpt(draw, *sizes)
        answer = gpt2_weights(checkpoint)
        assert_equal(sorted(answer), sorted(names), what="names")
        for name in names:
            stored = checkpoint[prefix + name]
            assert_close(
                answer[name], stored.mT if name.endswith(CONV1D) else stored, what=f"the tensor {name}"
            )


check(other_checkpoints_are_translated, gpt2_weights)


# %% provided="transformers"
@torch.no_grad()
def largest_difference_from_transformers(GPT, gpt2_weights, pretrained=None):
    """The largest difference in logits between your GPT and `transformers` with the same weights.

    `pretrained` is a name such as "gpt2"; without one the weights are random and nothing is downloaded.
    """
    from transformers import GPT2Config, GPT2LMHeadModel

    if pretrained is None:
        sizes = {"vocab_size": 97, "n_positions": 32, "n_embd": 48, "n_head": 4, "n_layer": 3}
        config = GPT2Config(**sizes, bos_token_id=0, eos_token_id=0)
        theirs = GPT2LMHeadModel(config)
    else:
        theirs = GPT2LMHeadModel.from_pretrained(pretrained)
    theirs, config = theirs.double().eval(), theirs.config
    own = GPT(config.vocab_size, config.n_positions, config.n_embd, config.n_head, config.n_layer).double()
    own.load_state_dict(gpt2_weights(theirs.state_dict()))
    tokens = torch.randint(config.vocab_size, (2, 20), generator=torch.Generator().manual_seed(0))
    return float((own(tokens) - theirs(tokens).logits).abs().max())


# %% [markdown]
# Where the package `transformers` is installed, `largest_difference_from_transformers(GPT, gpt2_weights)`
# compares your GPT with theirs, both with the same random weights, and should return less than $10^{-10}$.
# With a third argument, `"gpt2"`, it fetches the real weights (half a gigabyte): your GPT then is GPT-2.

# %% [markdown]
# ## Part B. Training


# %% provided="table_model"
class TableModel(nn.Module):
    """A language model to see through: token s at position t adds table[t, s] to all logits from t on.

    `table` is (C, V, V), so the context length is C. Tokens (B, T), T ≤ C, have logits (B, T, V).
    """

    def __init__(self, table):
        super().__init__()
        self.table = nn.Parameter(table.clone())

    def forward(self, tokens):
        return self.table[torch.arange(tokens.shape[1]), tokens].cumsum(dim=1)


# %% [markdown] exercise="train_steps" difficulty=2 minutes=20
# ### 5. Training steps
#
# `TableModel(table)` above is a language model with a single parameter, small enough to check every step of
# its training by hand.
#
# Write `train_steps(table, batches, learning_rate, max_norm)`. Make a `TableModel` of `table` (C, V, V) and
# train it on the batches, `batches` (N, B, T), one step for each batch, in their order. A step is
#
# 1. the loss of exercise 1 on this batch, whose tokens are all real, and its gradient $g$;
# 2. clipping: if the norm of the whole gradient, $\lVert g \rVert$, is larger than `max_norm`, multiply $g$
#    by $\text{max\_norm} / \lVert g \rVert$; if not, leave it alone;
# 3. a step of plain gradient descent, $\theta \leftarrow \theta - \eta \, g$.
#
# Return the tuple `(losses, table)`: the N losses, each measured **before** its step, as a tensor (N,), and
# the table after the last step.
#
# **Example.** With a table of zeros for five tokens, the first loss is $\ln 5$. With `learning_rate` 0
# nothing is learned, and the table comes back as it was.
#
# <details><summary>Hint 1</summary>
#
# `torch.nn.utils.clip_grad_norm_` does step 2. Where does it have to stand: before or after the gradient is
# used?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# What is in `.grad` when the second batch comes?
#
# </details>


# %% solution="train_steps"
def train_steps(
    table: Tensor, batches: Tensor, learning_rate: float, max_norm: float
) -> tuple[Tensor, Tensor]:
    """The losses (N,) before each of N clipped gradient steps, and the table after them."""
    ### BEGIN SOLUTION
    model = TableModel(table)
    optimizer = torch.optim.SGD(model.parameters(), lr=learning_rate)
    losses = []
    for tokens in batches:
        logits = model(tokens)
        loss = functional.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        optimizer.step()
        losses.append(loss.detach())
    return torch.stack(losses), model.table.detach()
    ### END SOLUTION


# %% provided="steps_by_hand"
def gradient_by_hand(table, tokens):
    """The gradient of the next-token loss with respect to the table, without autograd."""
    B, T = tokens.shape
    logits = TableModel(table)(tokens).detach()
    error = logits.softmax(-1)
    error[:, torch.arange(T - 1)] -= torch.eye(len(table[0]), dtype=torch.float64)[tokens[:, 1:]]
    error[:, -1] = 0.0
    later = (error / (B * (T - 1))).flip(1).cumsum(1).flip(1)  # a row of the table reaches all later logits
    gradient = torch.zeros_like(table)
    return gradient.index_put((torch.arange(T).expand(B, T), tokens), later, accumulate=True)


def loss_by_hand(table, tokens):
    """The next-token loss of a table."""
    log_probs = TableModel(table)(tokens).detach().log_softmax(-1)
    return -log_probs[:, :-1].gather(-1, tokens[:, 1:, None]).mean().item()


def drawn_batches(draw, vocab_size, n_batches, batch_size, T):
    """Random tokens (N, B, T)."""
    return draw.integers(0, vocab_size, n_batches, batch_size, T)


# %% check="a_table_of_zeros_starts_at_ln_v" points=1
def a_table_of_zeros_starts_at_ln_v(train_steps, draw):
    """The first loss of a table of zeros is ln V; without learning rate all are, and the table stays."""
    table, batches = torch.zeros(4, 5, 5, dtype=torch.float64), drawn_batches(draw, 5, 3, 2, 4)
    losses, after = train_steps(table, batches, 0.0, 1.0)
    assert_close(losses, torch.full((3,), math.log(5), dtype=torch.float64), what="losses")
    assert_close(after, table, what="the table")


check(a_table_of_zeros_starts_at_ln_v, train_steps)


# %% check="a_step_goes_down_the_gradient" points=1
def a_step_goes_down_the_gradient(train_steps, draw):
    """After one step that needs no clipping, the table has moved by the gradient times the learning rate."""
    table, batches = draw.normal(4, 5, 5), drawn_batches(draw, 5, 1, 3, 4)
    _, after = train_steps(table, batches, 0.7, 100.0)
    assert_close(after, table - 0.7 * gradient_by_hand(table, batches[0]))


check(a_step_goes_down_the_gradient, train_steps)


# %% check="a_long_gradient_is_cut_to_the_norm" points=1
def a_long_gradient_is_cut_to_the_norm(train_steps, draw):
    """A step that needs clipping is as long as learning rate times max_norm, and keeps its direction."""
    table, batches = 3 * draw.normal(4, 5, 5), drawn_batches(draw, 5, 1, 2, 4)
    gradient = gradient_by_hand(table, batches[0])
    _, after = train_steps(table, batches, 2.0, 0.01)
    assert_close(after - table, -2.0 * 0.01 * gradient / gradient.norm(), tolerance=1e-6)


check(a_long_gradient_is_cut_to_the_norm, train_steps)


# %% check="every_step_has_its_own_gradient" points=1
def every_step_has_its_own_gradient(train_steps, draw):
    """Three steps on three batches end where three steps of the formula end."""
    table, batches = draw.normal(4, 5, 5), drawn_batches(draw, 5, 3, 2, 4)
    _, after = train_steps(table, batches, 0.5, 100.0)
    expected = table
    for batch in batches:
        expected = expected - 0.5 * gradient_by_hand(expected, batch)
    assert_close(after, expected)


check(every_step_has_its_own_gradient, train_steps)


# %% check="a_loss_is_measured_before_its_step" points=1
def a_loss_is_measured_before_its_step(train_steps, draw):
    """The first loss is that of the table as it came, whatever the learning rate."""
    table, batches = draw.normal(4, 5, 5), drawn_batches(draw, 5, 2, 3, 4)
    for learning_rate in (0.1, 1.0):
        losses, _ = train_steps(table, batches, learning_rate, 100.0)
        assert_close(losses[0], loss_by_hand(table, batches[0]))


check(a_loss_is_measured_before_its_step, train_steps)


# %% check="other_tables_are_trained_step_by_step" points=2 hidden
def other_tables_are_trained_step_by_step(train_steps, draw):
    """Other tables have the losses of the formula, and end where it ends."""
    for vocab_size, C, T, learning_rate, max_norm in ((7, 5, 3, 0.9, 0.2), (3, 6, 6, 0.4, 50.0)):
        table, batches = draw.normal(C, vocab_size, vocab_size), drawn_batches(draw, vocab_size, 4, 2, T)
        losses, after = train_steps(table, batches, learning_rate, max_norm)
        expected = []
        for tokens in batches:
            expected.append(loss_by_hand(table, tokens))
            gradient = gradient_by_hand(table, tokens)
            table = table - learning_rate * gradient * min(1.0, max_norm / float(gradient.norm()))
        assert_close(losses, torch.tensor(expected, dtype=torch.float64), tolerance=1e-5, what="losses")
        assert_close(after, table, tolerance=1e-5, what="the table")


check(other_tables_are_trained_step_by_step, train_steps)


# %% provided="stories"
SCALE = os.environ.get("COURSE_SCALE", "small")  # "full" is a real size, for a GPU


@cache
def story_language():
    """The language of the stories, which knows the true probability of every next word."""
    from course.data.story_language import StoryLanguage
    from course.data.story_rules import StoryConfig

    small = StoryConfig(n_bindings=2, n_recalls=1, agreement_distance=1, nesting_depth=1)
    return StoryLanguage(StoryConfig() if SCALE == "full" else small)


@cache
def training_stories():
    """Stories to learn from: `tokens` (N, T) and `mask` (N, T), False beyond the end of a story."""
    n_stories = 200_000 if SCALE == "full" else 20_000
    return story_language().sample(n_stories, torch.Generator().manual_seed(1))


VOCAB_SIZE, LONGEST_STORY = story_language().vocab_size, story_language().longest_story
MOST_EXCESS = 0.15  # bits per token that your model may pay above the floor


@cache
def heldout(n_stories, seed):
    """Stories that nobody has trained on, and the floor: what the true model pays for them, in bits."""
    stories = story_language().sample(n_stories, torch.Generator().manual_seed(seed))
    return stories, bits_per_token(story_language()(stories.tokens[:, :-1]), stories)


def bits_per_token(log_probs, stories):
    """Mean surprise in bits of every word after <s>, given log-probabilities (B, T − 1, V)."""
    targets, mask = stories.tokens[:, 1:], stories.mask[:, 1:]
    surprise = -log_probs.double().gather(-1, targets[..., None])[..., 0] / math.log(2)
    return float(surprise[mask].mean())


def assert_near_the_floor(story_log_probs, n_stories, seed):
    """The stories cost at most MOST_EXCESS bits per token more than the true model pays."""
    stories, floor = heldout(n_stories, seed)
    log_probs = story_log_probs(stories.tokens[:, :-1])
    assert_distributions(log_probs, (*stories.tokens[:, :-1].shape, VOCAB_SIZE))
    repeated = log_probs.gather(-1, stories.tokens[:, :-1, None])[..., 0][stories.mask[:, 1:]].exp().mean()
    bits = bits_per_token(log_probs, stories)
    why = ""
    if repeated > 0.5:
        why = f" It gives the word just read a probability of {float(repeated):.2f} to come again."
    message = (
        f"The stories cost {bits:.3f} bits per token, where the floor is {floor:.3f}"
        f" and {floor + MOST_EXCESS:.3f} are allowed.{why}"
    )
    assert_true(bits <= floor + MOST_EXCESS, message)
    message = (
        f"The stories cost {bits:.3f} bits per token, less than the {floor:.3f} that the true model pays."
        " Whoever pays less has seen what was to be predicted."
    )
    assert_true(bits >= floor - 0.05, message)
    message = f"The stories cost {bits:.4f} bits per token, and so they do with the true model: that is no trained one."
    assert_true(abs(bits - floor) > 1e-4, message)


def assert_distributions(log_probs, shape):
    """Log-probabilities of this shape, of which each row sums to one."""
    assert_true(isinstance(log_probs, Tensor), "A tensor of log-probabilities is expected.")
    assert_equal(list(log_probs.shape), list(shape), what="the shape")
    total = log_probs.double().exp().sum(-1)
    assert_close(total, torch.ones_like(total), tolerance=1e-4, what="the sum of the probabilities")


# %% [markdown] exercise="story_log_probs" difficulty=3 minutes=35 forbids="course.models,story_language" allows="course.training"
# ### 6. Your GPT learns the stories
#
# Now train your GPT on the stories of lecture 00 and look how close it comes to the floor.
# After `stories = training_stories()` there are 20,000 stories in `stories.tokens` (N, T), int64, and
# `stories.mask` (N, T) is False beyond the end of a story. `VOCAB_SIZE` is V, 160, and `LONGEST_STORY` the
# most tokens of any story, 31.
#
# Write two functions. `trained_model()` makes a model, trains it and returns it; `@cache` makes it run once
# only, at the first call, which must not stand inside `torch.no_grad()`. `story_log_probs(tokens)` maps
# tokens (B, T), T ≤ 31, to the **log-probabilities** (B, T, V) of the next token at every position. The model
# of the language itself, `story_language()`, is not to be asked.
#
# The checks ask for log-probabilities of stories that are drawn afresh. They look whether these are
# distributions and use nothing but the past, compute the bits per token themselves, words after `</s>` left
# out, and compare with what the true model pays for the same stories. You may pay at most **0.15 bits per
# token** more. For orientation: the floor is near 1.31 bits, and a count of word pairs pays about 2.8.
#
# Training should take less than a minute on two cores, better half of that: a cell that runs longer than a
# minute is stopped when your work is graded. Two layers of 64 numbers with 4 heads, batches of 32 stories and
# 400 steps of AdamW are enough, with a learning rate that rises to about 0.01 and then falls to 0. Dropout is
# not needed. Write the loop yourself, or use `train` and `TrainingConfig` of `course.training`; `train` wants a
# model that answers with log-probabilities, and for each step a tuple (inputs, targets, mask).
#
# **Example.** `story_log_probs(tokens)` for tokens of shape (3, 10) has the shape (3, 10, 160), and the
# exponentials of each row of 160 numbers sum to 1.
#
# <details><summary>Hint 1</summary>
#
# Write the loop with 20 steps first and print the loss. The first should be near ln 160 ≈ 5.08 and the
# twentieth below 4. Then raise the number of steps. If it falls slowly, look at how large your embeddings are
# at the start: in so small a model a standard deviation of 0.05 learns much sooner than 0.01.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Stories have different lengths, and beyond its end a story is padding. Of which predictions should the loss
# be the mean? Exercise 1 has a mask for that. Where padding is counted, part of the training goes into
# predicting what nobody asks for.
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# If the loss falls below 0.9 nats, which is the floor, the model sees what it should predict. Which exercise
# has the mask, and which the shift?
#
# </details>


# %% solution="story_log_probs"
@cache
def trained_model() -> nn.Module:
    """Your GPT after its training on `training_stories()`."""
    ### BEGIN SOLUTION
    is_full = SCALE == "full"
    device = torch.device("cuda" if torch.cuda.is_available() and is_full else "cpu")
    stories, n_steps, batch_size = training_stories(), 8000 if is_full else 400, 256 if is_full else 32
    sizes = (384, 6, 6) if is_full else (64, 4, 2)  # d_model, n_heads, n_layers
    torch.manual_seed(0)
    model = GPT(VOCAB_SIZE, LONGEST_STORY, *sizes).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3 if is_full else 1e-2, betas=(0.9, 0.99))
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, max_lr=optimizer.defaults["lr"], total_steps=n_steps, pct_start=0.1
    )
    step = torch.compile(model) if device.type == "cuda" else model
    generator = torch.Generator().manual_seed(2)
    for _ in range(n_steps):
        rows = torch.randint(len(stories), (batch_size,), generator=generator)
        tokens, mask = stories.tokens[rows].to(device), stories.mask[rows, 1:].to(device)
        with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
            logits = step(tokens[:, :-1])
        losses = functional.cross_entropy(logits.float().mT, tokens[:, 1:], reduction="none")  # (B, T − 1)
        optimizer.zero_grad()
        losses[mask].mean().backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
    return model.cpu().eval()
    ### END SOLUTION


def story_log_probs(tokens: Tensor) -> Tensor:
    """Log-probabilities (B, T, V) of the next token at every position of tokens (B, T)."""
    ### BEGIN SOLUTION
    model = trained_model()  # outside of no_grad, because the first call trains
    with torch.no_grad():
        return model(tokens).log_softmax(dim=-1)
    ### END SOLUTION


# %%
# Your model is trained here; everything after this asks the finished one.
began = time.perf_counter()
story_log_probs(training_stories().tokens[:1, :3])
print(f"trained at the scale {SCALE!r} in {time.perf_counter() - began:.0f} s")
if torch.cuda.is_available():
    print(f"at most {torch.cuda.max_memory_allocated() / 2**30:.1f} GiB on the GPU")


# %% check="every_answer_is_a_distribution" points=1
def every_answer_is_a_distribution(story_log_probs, draw):
    """For any tokens, the probabilities of the next token sum to one at every position."""
    tokens = draw.integers(0, VOCAB_SIZE, 3, 10)
    assert_distributions(story_log_probs(tokens), (3, 10, VOCAB_SIZE))


check(every_answer_is_a_distribution, story_log_probs)


# %% check="a_story_is_read_from_left_to_right" points=1
def a_story_is_read_from_left_to_right(story_log_probs):
    """The beginning of a story has the same log-probabilities whatever comes later."""
    stories, _ = heldout(5, 3)
    whole = story_log_probs(stories.tokens[:, :-1])
    for T in (1, 7):
        beginning = story_log_probs(stories.tokens[:, :T])
        assert_close(beginning, whole[:, :T], tolerance=1e-3, what=f"after the first {T} tokens")
    assert_depends(whole[:, 6], whole[:, 7])


check(a_story_is_read_from_left_to_right, story_log_probs)


# %% check="new_stories_cost_little_more_than_the_floor" points=3
def new_stories_cost_little_more_than_the_floor(story_log_probs):
    """200 new stories cost at most 0.15 bits per token more than the true model pays for them."""
    assert_near_the_floor(story_log_probs, 200, 4)


check(new_stories_cost_little_more_than_the_floor, story_log_probs)


# %% check="stories_drawn_for_grading_cost_little_more_than_the_floor" points=2 hidden
def stories_drawn_for_grading_cost_little_more_than_the_floor(story_log_probs, draw):
    """Stories drawn for grading cost at most 0.15 bits per token above the floor."""
    assert_near_the_floor(story_log_probs, 200, draw.integers(1000, 10**9))


check(stories_drawn_for_grading_cost_little_more_than_the_floor, story_log_probs)

# %% provided="suspicious_run"
# For the next exercise. The vocabulary has 6 tokens, ln 6 = 1.79; all losses are in nats.
FLOOR = 0.94  # the entropy of the language
TRAINING_LOSS = {0: 1.79, 10: 0.16, 50: 0.03, 200: 0.01}  # after so many steps
LOSS_BY_POSITION = [
    0.01,
    0.01,
    0.01,
    0.01,
    0.01,
    0.01,
]  # the training loss after the last step, position by position
NEXT_TOKEN_LOSS = 5.4  # what the finished model pays for new text, token by token as it comes
START, CONTINUATION = [0, 2], [2, 2, 2, 2, 2]  # what it writes after START if the best token is always taken

# %%
for n_steps, loss in TRAINING_LOSS.items():
    print(f"training loss after {n_steps:3} steps: {loss:.2f}   (floor: {FLOOR:.2f})")
print("by position, at the end:", *(f"{loss:.2f}" for loss in LOSS_BY_POSITION))
print(f"new text, predicted token by token: {NEXT_TOKEN_LOSS:.2f}")
print("after", *START, "it writes", *CONTINUATION)

# %% [markdown] exercise="name_the_leak" difficulty=2 minutes=10
# ### 7. Find the fault
#
# Somebody trained a small language model and was delighted: the loss fell far below the floor, which no model
# can do. The numbers are printed above. On new text, where each token must be predicted before it is seen,
# the same model is worse than guessing. "By position" is the training loss at each of the six positions of a
# row, from the first to the last.
#
# Exactly one thing is wrong. Write `name_the_leak()`, which takes nothing and returns the name of the fault:
#
# | name | what the program does |
# |---|---|
# | `"not_shifted"` | scores the logits at position t with token t |
# | `"shifted_twice"` | scores the logits at position t with token t + 2 |
# | `"shifted_backwards"` | scores the logits at position t with the token at t − 1; those at position 0, which has none before it, with the token at position 0 itself |
# | `"no_causal_mask"` | lets position t see the token t + 1 as well, where there is one |
# | `"never_stepped"` | computes the gradients and forgets the step |
# | `"trained_uphill"` | adds the gradient instead of subtracting it |
#
# The model of this exercise knows the token at its position, the one before it and, without a mask, the one
# after it; at position 0 there is none before.
#
# **Example of the reasoning.** If the training loss had stayed at 1.79, no gradient could have arrived.
#
# <details><summary>Hint 1</summary>
#
# A loss near 0 says that the model was asked for something that it can see. Which of the six faults ask for
# something visible?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# For each of those, at which position of a row is the answer **not** visible? What would the loss be there?
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# Two faults are left? Then look at what the model writes after "0 2". It writes what it was trained to answer
# where it has read 2 and, before that, 0: which token is that with the one fault, and which with the other?
#
# </details>


# %% solution="name_the_leak"
def name_the_leak() -> str:
    """The name of the one fault behind the numbers."""
    ### BEGIN SOLUTION
    return "not_shifted"
    ### END SOLUTION


# %% check="the_fault_lets_the_training_loss_fall_below_the_floor" points=1
def the_fault_lets_the_training_loss_fall_below_the_floor(name_the_leak):
    """The answer is one of the six names, and with that fault the training loss can fall below the floor."""
    why_not = {
        "not_shifted": "",
        "shifted_twice": "the token after the next is harder to predict than the next, not easier",
        "shifted_backwards": "",
        "no_causal_mask": "",
        "never_stepped": "the loss would stay where it began",
        "trained_uphill": "the loss would rise",
    }
    answer = name_the_leak()
    assert_true(answer in why_not, f"{answer!r} is not one of the six names.")
    assert_true(not why_not[answer], f"With this fault {why_not[answer]}.")


check(the_fault_lets_the_training_loss_fall_below_the_floor, name_the_leak)


# %% check="the_fault_prints_these_numbers" points=3 hidden
def the_fault_prints_these_numbers(name_the_leak):
    """A model trained with the fault you name has the printed losses."""
    V, T = 6, 6
    steps = torch.tensor([0.72, 0.15, 0.06, 0.04, 0.02, 0.01], dtype=torch.float64)
    transition = torch.stack([steps.roll(2 * s + 1) for s in range(V)])  # row: token, column: the next

    def text(n_rows, length, first):
        rows = torch.empty(n_rows, length, dtype=torch.int64)
        rows[:, 0] = torch.arange(n_rows) % V
        state = first
        for t in range(1, length):
            for b in range(n_rows):
                state = (1103515245 * state + 12345) % 2**31
                u = state / 2**31
                rows[b, t] = int((transition[rows[b, t - 1]].cumsum(0) < u).sum().clamp(max=V - 1))
        return rows

    fault = name_the_leak()
    tokens = text(150, T + 2, 1)
    shift = {"not_shifted": 0, "shifted_twice": 2, "shifted_backwards": -1}.get(fault, 1)
    read, targets = tokens[:, :T], tokens[:, [max(t + shift, 0) for t in range(T)]]
    parts = {
        name: torch.zeros(V, V, dtype=torch.float64, requires_grad=True)
        for name in ("now", "before", "after")
    }

    def logits(read, sees_after):
        z = parts["now"][read]
        z = z + functional.pad(parts["before"][read[:, :-1]], (0, 0, 1, 0))
        return z + functional.pad(parts["after"][read[:, 1:]], (0, 0, 0, 1)) if sees_after else z

    def losses(read, targets, sees_after=False):
        return functional.cross_entropy(logits(read, sees_after).mT, targets, reduction="none")

    sign = {"never_stepped": 0.0, "trained_uphill": -1.0}.get(fault, 1.0)
    history = {}
    for step in range(201):
        loss = losses(read, targets, fault == "no_causal_mask").mean()
        history[step] = float(loss.detach())
        gradients = torch.autograd.grad(loss, list(parts.values()), allow_unused=True, materialize_grads=True)
        with torch.no_grad():
            for part, gradient in zip(parts.values(), gradients, strict=True):
                part -= 4 * sign * gradient if step < 200 else 0
    by_position = losses(read, targets, fault == "no_causal_mask").mean(0).detach()
    new = text(150, T + 1, 2)
    honest = float(losses(new[:, :T], new[:, 1:]).detach().mean())
    written = torch.tensor([START])
    for _ in CONTINUATION:
        best = logits(written, False)[:, -1].argmax(-1, keepdim=True)
        written = torch.cat([written, best], dim=1)
    for step, printed in TRAINING_LOSS.items():
        assert_close(history[step], printed, tolerance=0.02, what=f"the training loss after {step} steps")
    assert_close(by_position.tolist(), LOSS_BY_POSITION, tolerance=0.02, what="the loss by position")
    assert_close(honest, NEXT_TOKEN_LOSS, tolerance=0.02, what="the loss on new text")
    assert_equal(written[0, len(START) :].tolist(), CONTINUATION, what="the continuation")


check(the_fault_prints_these_numbers, name_the_leak)

# %% [markdown] written="why_below_the_floor" points=4 minutes=10
# ### 8. A loss that is too good
#
# a) A colleague's GPT reaches 0.4 bits per token on **held-out** stories whose entropy is 1.31 bits per
# token. Why can no honest evaluation give this number, however good the model and however well it was
# trained? Name two different faults that would give it.
#
# b) Your own model pays 0.06 bits per token more than the true model on 400 held-out stories, 8,400 tokens,
# and 0.01 bits per token **less** on 2,000 of the stories it was trained on. Is one of these numbers wrong?
#
# c) For grading, you were asked for log-probabilities instead of for a loss. Name two faults of a model, or of
# the function that asks it, that a grader can notice from log-probabilities and not from a loss. The claims of
# the checks of exercise 6 may help.
#
# ### BEGIN SOLUTION
# a) (2 points) The entropy rate is the expected surprise of the true distribution, and by Gibbs' inequality
# every other distribution pays more on average; 8,400 tokens leave chance a few hundredths of a bit, not 0.9.
# (1 point.) Any two of: the logits are scored with the token just read, the mask lets a position see the next
# token, the held-out stories were among the training stories and the model is large enough to store them, the
# answers do not sum to one, nats or another unit are read as bits, padding after </s> is counted. (1 point.)
#
# b) (1 point) No. The bound holds in expectation over text that the model has not seen. On its own training
# stories the model was fitted to their accidents and may pay less than the true model does.
#
# c) (1 point) That the answers are no distributions (they do not sum to one), and that they change when later
# tokens are changed. Equally good: that all probability lies on the token just read.
# ### END SOLUTION

# %% [markdown]
# ## Part C. From logits to a text
#
# Samplers are functions from logits to logits: what they forbid gets $-\infty$, which the softmax turns into
# a probability of exactly 0. In exercises 10 to 15 the checks take the **softmax of what you return** and
# compare that, so that a constant added to all logits of a row does not matter. Under "received" you
# therefore see probabilities, although your functions return logits.


# %% provided="probabilities"
def drawn_within(tokens, probs, what):
    """Whether tokens (N,) may have been drawn from probs (V,): a false alarm in one of 10 million runs.

    By Hoeffding's inequality a frequency is off by more than ε with a probability below 2 exp(−2Nε²).
    """
    frequencies = torch.bincount(tokens, minlength=len(probs))[: len(probs)].double() / len(tokens)
    allowed = math.sqrt(math.log(2 * len(probs) / 1e-7) / (2 * len(tokens)))
    worst = int((frequencies - probs).abs().argmax())
    assert_true(
        abs(float(frequencies[worst] - probs[worst])) <= allowed,
        f"{what}: token {worst} came in {float(frequencies[worst]):.3f} of {len(tokens)} draws,"
        f" where its probability is {float(probs[worst]):.3f}.",
    )


def counting_table(context_length, vocab_size):
    """A table whose model counts: after token s comes s + 1, after the last one 0, as good as certainly."""
    following = torch.eye(vocab_size, dtype=torch.float64).roll(1, dims=1)
    return torch.stack([40 * 4.0**t * following for t in range(context_length)])


# %% [markdown] exercise="generate" difficulty=2 minutes=20
# ### 9. The loop
#
# A language model becomes a writer by a loop: read what there is, draw a token, append it, read again.
#
# Write `generate(table, prompt, n_tokens, generator)`, with the model `TableModel(table)` of exercise 5,
# whose table is (C, V, V): it cannot read more than C tokens. `prompt` is (B, T) with T ≥ 1, and T may be
# larger than C. Return (B, T + n_tokens): the prompt, and `n_tokens` more tokens in each row. In each step
#
# - the model reads the **last** C tokens of each row (all of them, while there are fewer);
# - of its logits only those at the last position matter, and their softmax is the distribution to draw from;
# - all rows are drawn by one call, `torch.multinomial(probs, num_samples=1, generator=generator)` with
#   `probs` (B, V), and each row gets its own token.
#
# **Example.** With the model `counting_table(3, 5)`, after which 1 follows 0, 2 follows 1 and so on, the
# prompt `[[2], [0]]` and four tokens more give `[[2, 3, 4, 0, 1], [0, 1, 2, 3, 4]]`.
#
# <details><summary>Hint 1</summary>
#
# Which slice takes the last three entries of a list, and what does it give for a list of two? The same slice
# works along the second axis of a tensor.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# `multinomial` returns (B, 1). Along which axis does `torch.cat` append that to (B, T)?
#
# </details>


# %% solution="generate"
def generate(table: Tensor, prompt: Tensor, n_tokens: int, generator: torch.Generator) -> Tensor:
    """The prompt (B, T) and n_tokens more tokens in each row, drawn one after the other."""
    ### BEGIN SOLUTION
    model, tokens = TableModel(table), prompt
    with torch.no_grad():
        for _ in range(n_tokens):
            logits = model(tokens[:, -len(table) :])[:, -1]  # (B, V)
            drawn = torch.multinomial(logits.softmax(dim=-1), num_samples=1, generator=generator)
            tokens = torch.cat([tokens, drawn], dim=1)
    return tokens
    ### END SOLUTION


# %% check="the_counting_model_counts" points=1
def the_counting_model_counts(generate, draw):
    """The counting model goes on counting in every row, also beyond its context length."""
    tokens = generate(counting_table(3, 5), torch.tensor([[2], [0]]), 4, draw.generator())
    assert_equal(tokens, torch.tensor([[2, 3, 4, 0, 1], [0, 1, 2, 3, 4]]))


check(the_counting_model_counts, generate)


# %% check="the_prompt_stays_in_front" points=1
def the_prompt_stays_in_front(generate, draw):
    """The prompt comes back in front of the new tokens, and no tokens more give the prompt alone."""
    prompt, table = draw.integers(0, 5, 3, 2), draw.normal(6, 5, 5)
    assert_equal(generate(table, prompt, 3, draw.generator())[:, :2], prompt, what="the first two columns")
    assert_equal(generate(table, prompt, 0, draw.generator()), prompt, what="without new tokens")


check(the_prompt_stays_in_front, generate)


# %% check="a_long_prompt_is_read_from_its_end" points=1
def a_long_prompt_is_read_from_its_end(generate, draw):
    """After a prompt longer than the context length, the counting model goes on from its last token."""
    prompt = torch.tensor([[4, 4, 1, 3, 5, 0], [5, 0, 2, 4, 1, 3]])
    tokens = generate(counting_table(4, 7), prompt, 3, draw.generator())
    assert_equal(tokens[:, 6:], torch.tensor([[1, 2, 3], [4, 5, 6]]))


check(a_long_prompt_is_read_from_its_end, generate)


# %% check="the_whole_context_is_read" points=1
def the_whole_context_is_read(generate, draw):
    """A token C places back still decides what comes next, and one further back does not."""
    table = torch.zeros(3, 5, 5, dtype=torch.float64)
    table[0] = 60 * torch.eye(5, dtype=torch.float64)  # position 0 of the window says: repeat me
    tokens = generate(table, torch.tensor([[4, 1, 2, 3], [0, 3, 1, 2]]), 3, draw.generator())
    assert_equal(tokens[:, 4:], torch.tensor([[1, 2, 3], [3, 1, 2]]))


check(the_whole_context_is_read, generate)


# %% check="tokens_are_drawn_from_the_softmax" points=1
def tokens_are_drawn_from_the_softmax(generate, draw):
    """In 4000 equal rows the next token is as frequent as the softmax says (false alarms: 1 in 10 million)."""
    probs = torch.tensor([0.5, 0.26, 0.13, 0.08, 0.03], dtype=torch.float64)
    table = probs.log().expand(2, 5, 5) / 2  # two positions add up to the whole
    tokens = generate(table, torch.tensor([[1, 3]]).expand(4000, 2), 1, draw.generator())
    drawn_within(tokens[:, 2], probs, "the next token")


check(tokens_are_drawn_from_the_softmax, generate)


# %% check="the_generator_decides" points=1
def the_generator_decides(generate, draw):
    """Generators in the same state give the same text, others another."""
    table, prompt = draw.normal(3, 5, 5), draw.integers(0, 5, 4, 2)
    generator, other = draw.generator(), draw.generator()
    text = generate(table, prompt, 8, generator)
    assert_equal(generate(table, prompt, 8, generator), text)
    assert_depends(text, generate(table, prompt, 8, other))


check(the_generator_decides, generate)


# %% check="other_models_write_the_specified_text" points=2 hidden
def other_models_write_the_specified_text(generate, draw):
    """Other models and prompts give the very tokens that the specified draws give."""
    for C, vocab_size, batch_size, T, n_tokens in ((4, 7, 3, 2, 9), (2, 3, 2, 5, 6)):
        table, prompt = (
            3 * draw.normal(C, vocab_size, vocab_size),
            draw.integers(0, vocab_size, batch_size, T),
        )
        generator = draw.generator()
        own = torch.Generator().manual_seed(generator.initial_seed())
        rows = prompt.tolist()
        for _ in range(n_tokens):
            last = [sum(table[t, s] for t, s in enumerate(row[-C:])) for row in rows]
            drawn = torch.multinomial(torch.stack(last).softmax(-1), 1, generator=own)
            rows = [[*row, int(token)] for row, token in zip(rows, drawn, strict=True)]
        assert_equal(generate(table, prompt, n_tokens, generator), torch.tensor(rows))
    counted = generate(counting_table(3, 11), torch.tensor([[8, 1, 9, 4], [0, 5, 2, 7]]), 8, draw.generator())
    expected = torch.tensor([[8, 1, 9, *(range(4, 11)), 0, 1], [0, 5, 2, *(range(7, 11)), 0, 1, 2, 3, 4]])
    assert_equal(counted, expected, what="the counting model")


check(other_models_write_the_specified_text, generate)


# %% provided="comparing_probabilities"
def assert_probs(answer, expected, what=""):
    """The softmax of the logits that came back is the expected distribution, zeros included."""
    assert_true(isinstance(answer, Tensor), f"A tensor of logits is expected, not {type(answer).__name__}.")
    assert_equal(list(answer.shape), list(expected.shape), what="the shape")
    probs = answer.double().softmax(-1)
    assert_true(
        not probs.isnan().any(), "Of these logits there is no softmax: a row is all −∞, or has NaN or ∞."
    )
    shares = answer.double() / answer.double().sum(-1, keepdim=True)
    are_probs = bool((answer >= 0).all()) and same(shares, expected) and not same(probs, expected)
    assert_true(not are_probs, "What you return are the probabilities themselves; logits are asked for.")
    assert_close(probs, expected, what=f"softmax of what you return{what and ': '}{what}")


def renormalised(probs, kept):
    """Probabilities of the kept tokens, in the proportions that they had."""
    left = probs * kept
    return left / left.sum(-1, keepdim=True)


# Probabilities of five tokens, and logits for them whose zero lies anywhere.
PROBS = torch.tensor([[0.1, 0.4, 0.05, 0.25, 0.2], [0.52, 0.02, 0.3, 0.06, 0.1]], dtype=torch.float64)
LOGITS = PROBS.log() + torch.tensor([[1.5], [-2.5]], dtype=torch.float64)

# %% [markdown] exercise="temperature" difficulty=1 minutes=10 exempt="gradient"
# ### 10. Temperature
#
# Write `temperature(logits, t)`, which returns logits (…, V) for the distribution
# $P_t(v) \propto e^{z_v / t}$. Below 1 it is sharper than the model's, above 1 flatter. At $t = 0$ take the
# limit: the most probable token has the probability 1 and all others have 0; of equally probable tokens the
# first one counts.
#
# **Example.** Logits $(0, \ln 3)$ stand for (1/4, 3/4). At $t = 1/2$ they become $(0, 2 \ln 3)$, which is
# (1/10, 9/10); at $t = 0$, (0, 1).
#
# <details><summary>Hint 1</summary>
#
# At which moment is it divided: before the softmax, or after? Try both with the example.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# For t = 0 no division is needed. Which token should keep a finite logit?
#
# </details>


# %% solution="temperature"
def temperature(logits: Tensor, t: float) -> Tensor:
    """Logits (…, V) of the distribution at temperature t ≥ 0."""
    ### BEGIN SOLUTION
    if t > 0:
        return logits / t
    best = logits.argmax(dim=-1, keepdim=True)
    return torch.full_like(logits, -torch.inf).scatter(-1, best, 0.0)
    ### END SOLUTION


# %% check="the_example_is_sharpened" points=1
def the_example_is_sharpened(temperature):
    """The quarters of the example become tenths at t = 1/2, and stay as they are at t = 1."""
    logits = torch.tensor([0.0, math.log(3)], dtype=torch.float64)
    assert_probs(temperature(logits, 0.5), torch.tensor([0.1, 0.9], dtype=torch.float64))
    assert_probs(temperature(logits, 1.0), torch.tensor([0.25, 0.75], dtype=torch.float64))


check(the_example_is_sharpened, temperature)


# %% check="heat_makes_everything_possible" points=1
def heat_makes_everything_possible(temperature):
    """At t = 2 probabilities become proportional to their square roots; at a million all are equal."""
    roots = PROBS.sqrt()
    assert_probs(temperature(LOGITS, 2.0), roots / roots.sum(-1, keepdim=True))
    answer = temperature(LOGITS, 1e6).softmax(-1)
    assert_close(answer, torch.full((2, 5), 0.2, dtype=torch.float64), tolerance=1e-4)


check(heat_makes_everything_possible, temperature)


# %% check="at_zero_only_the_best_is_left" points=1
def at_zero_only_the_best_is_left(temperature):
    """At t = 0 the most probable token has the probability 1, the first one if there are several."""
    logits = torch.tensor([[0.0, -3.0, 2.0], [5.0, 5.0, -1.0], [-7.0, -2.0, -9.0]], dtype=torch.float64)
    expected = torch.eye(3, dtype=torch.float64)[[2, 0, 1]]
    assert_probs(temperature(logits, 0), expected)


check(at_zero_only_the_best_is_left, temperature)


# %% check="other_logits_are_cooled_and_heated" points=1 hidden
def other_logits_are_cooled_and_heated(temperature, draw):
    """Other logits have, at other temperatures, the distribution of the formula."""
    logits = 3 * draw.normal(2, 3, 7) + 20
    logits[..., 4] = -torch.inf
    logits[0, 0, 2], logits[0, 0, 5] = 33.0, 33.0
    for t in (0.3, 1.7):
        powers = [[[math.exp((z - 20) / t) for z in row] for row in rows] for rows in logits.tolist()]
        expected = torch.tensor(powers, dtype=torch.float64)
        assert_probs(temperature(logits, t), expected / expected.sum(-1, keepdim=True), what=f"t = {t}")
    one_hot = torch.eye(7, dtype=torch.float64)[logits.argmax(-1)]
    assert_probs(temperature(logits, 0.0), one_hot, what="t = 0")


check(other_logits_are_cooled_and_heated, temperature)

# %% [markdown] exercise="top_k" difficulty=1 minutes=10 exempt="gradient"
# ### 11. Top-k
#
# Write `top_k(logits, k)`, which returns logits (…, V) in which only the k most probable tokens of each row
# are left, in the proportions that they had, and those that **tie** with the last of them; all others have
# the probability 0. $1 \le k \le V$.
#
# **Example.** Logits $(1, 3, 0, 2)$ with $k = 2$ give $(-\infty, 3, -\infty, 2)$. Logits $(2, 3, 0, 2)$ with
# $k = 2$ leave three tokens.
#
# <details><summary>Hint 1</summary>
#
# The logit of rank k is a threshold. What has to be compared with it, and does the token at the threshold
# stay?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# A logit of 0 is a logit like any other. Which logit stands for a probability of 0?
#
# </details>


# %% solution="top_k"
def top_k(logits: Tensor, k: int) -> Tensor:
    """Logits (…, V) of which only the k largest are left, and those that tie with the last of them."""
    ### BEGIN SOLUTION
    threshold = logits.topk(k, dim=-1).values[..., -1:]  # (…, 1)
    return logits.masked_fill(logits < threshold, -torch.inf)
    ### END SOLUTION


# %% check="the_two_best_of_the_example_are_left" points=1
def the_two_best_of_the_example_are_left(top_k):
    """Of the logits (1, 3, 0, 2) the second and the fourth are left, in their proportion."""
    answer = top_k(torch.tensor([1.0, 3.0, 0.0, 2.0], dtype=torch.float64), 2)
    e = math.e
    assert_probs(answer, torch.tensor([0.0, e / (1 + e), 0.0, 1 / (1 + e)], dtype=torch.float64))


check(the_two_best_of_the_example_are_left, top_k)


# %% check="k_tokens_are_left_in_every_row" points=1
def k_tokens_are_left_in_every_row(top_k, draw):
    """For k from 1 to V, k tokens of every row have a probability, however large the logits are."""
    logits = draw.normal(3, 6) + torch.tensor([[-800.0], [0.0], [900.0]], dtype=torch.float64)
    for k in range(1, 7):
        probs = top_k(logits, k).softmax(-1)
        assert_equal((probs > 0).sum(-1), torch.full((3,), k), what=f"tokens left with k = {k}")


check(k_tokens_are_left_in_every_row, top_k)


# %% check="equals_stay_together" points=1
def equals_stay_together(top_k):
    """A token that ties with the one of rank k stays; one that is better does not bring others in."""
    logits = torch.tensor([[2.0, 3.0, 0.0, 2.0, 2.0], [3.0, 3.0, 1.0, 0.0, -1.0]], dtype=torch.float64)
    kept = torch.tensor([[True, True, False, True, True], [True, True, False, False, False]])
    assert_probs(top_k(logits, 2), renormalised(logits.softmax(-1), kept))


check(equals_stay_together, top_k)


# %% check="other_logits_keep_their_k_best" points=1 hidden
def other_logits_keep_their_k_best(top_k, draw):
    """Other logits keep their k best, some of them with ties."""
    for k in (1, 3, 4):
        logits = 2 * draw.normal(2, 3, 9)
        logits[..., 5] = -torch.inf
        logits[0, :, 2], logits[0, :, 7] = 6.0, 6.0
        ranked = logits.sort(-1, descending=True).values
        expected = renormalised(logits.softmax(-1), logits >= ranked[..., k - 1 : k])
        assert_probs(top_k(logits, k), expected, what=f"k = {k}")


check(other_logits_keep_their_k_best, top_k)

# %% [markdown] exercise="top_p" difficulty=2 minutes=15 exempt="gradient"
# ### 12. Top-p
#
# The nucleus is the smallest set of most probable tokens whose probabilities sum to **at least** p.
#
# Write `top_p(logits, p)`, $0 < p \le 1$, which returns logits (…, V) in which only the nucleus of each row
# is left, in the proportions that it had. So the token with which the sum reaches p belongs to it, and at
# least one token is left. Of equally probable tokens those with smaller numbers come first.
#
# **Example.** The probabilities (0.1, 0.4, 0.05, 0.25, 0.2) are, in their order, 0.4, 0.25, 0.2, 0.1, 0.05
# and sum to 0.4, 0.65, 0.85, 0.95, 1. With p = 0.6 the tokens 1 and 3 are left, with p = 0.7 the tokens 1, 3
# and 4, and with p = 0.01 token 1 alone.
#
# <details><summary>Hint 1</summary>
#
# A token stays if the sum **before** it is less than p. How do you get that sum from `cumsum`?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# `sort` also returns which token stands at each rank. `scatter` along the last axis brings a mask from the
# order of ranks back into the order of tokens.
#
# </details>


# %% solution="top_p"
def top_p(logits: Tensor, p: float) -> Tensor:
    """Logits (…, V) of which only the nucleus is left: the smallest set of best tokens that holds p."""
    ### BEGIN SOLUTION
    probs, order = logits.softmax(dim=-1).sort(dim=-1, descending=True, stable=True)
    before = probs.cumsum(dim=-1) - probs
    before[..., 0] = 0.0
    kept = torch.zeros_like(logits, dtype=torch.bool).scatter(-1, order, before < p)
    return logits.masked_fill(~kept, -torch.inf)
    ### END SOLUTION


# %% check="the_nucleus_of_the_example" points=1
def the_nucleus_of_the_example(top_p):
    """Of the example, p = 0.6 leaves the tokens 1 and 3, p = 0.7 the tokens 1, 3 and 4."""
    for p, kept in ((0.6, (1, 3)), (0.7, (1, 3, 4))):
        expected = renormalised(PROBS[0], torch.isin(torch.arange(5), torch.tensor(kept)))
        assert_probs(top_p(LOGITS[0], p), expected, what=f"p = {p}")


check(the_nucleus_of_the_example, top_p)


# %% check="the_nucleus_holds_at_least_p" points=1
def the_nucleus_holds_at_least_p(top_p, draw):
    """What is left has at least p of the probability, and without its least token it has less."""
    probs = draw.probabilities(6, 7)
    for p in (0.3, 0.55, 0.85):
        left = probs * (top_p(probs.log(), p).softmax(-1) > 0)
        mass = left.sum(-1)
        least = left.masked_fill(left == 0, 2.0).min(-1).values
        assert_true(
            (mass >= p).all(), f"What is left with p = {p} has a probability of {float(mass.min()):.3f}."
        )
        message = f"With p = {p} more tokens are left than needed."
        assert_true((mass - least < p).all(), message)


check(the_nucleus_holds_at_least_p, top_p)


# %% check="a_tiny_p_leaves_the_best_token" points=1
def a_tiny_p_leaves_the_best_token(top_p):
    """With p = 0.000001 the most probable token of each row is left, and nothing else."""
    assert_probs(top_p(LOGITS, 1e-6), torch.eye(5, dtype=torch.float64)[[1, 0]])


check(a_tiny_p_leaves_the_best_token, top_p)


# %% check="a_sum_of_exactly_p_is_enough" points=1
def a_sum_of_exactly_p_is_enough(top_p):
    """Of four equally probable tokens, p = 0.5 leaves the first two, and p = 1 leaves all."""
    logits = torch.full((2, 4), 3.0, dtype=torch.float64)
    half = torch.tensor([[0.5, 0.5, 0.0, 0.0]], dtype=torch.float64)
    assert_probs(top_p(logits, 0.5), half.expand(2, 4), what="p = 0.5")
    assert_probs(top_p(logits, 1.0), torch.full((2, 4), 0.25, dtype=torch.float64), what="p = 1")


check(a_sum_of_exactly_p_is_enough, top_p)


# %% check="other_logits_keep_their_nucleus" points=2 hidden
def other_logits_keep_their_nucleus(top_p, draw):
    """Other logits keep their nucleus, found by adding up token after token."""
    for p in (0.2, 0.5, 0.9, 0.97):
        logits = 2 * draw.normal(2, 3, 8) + 50
        logits[0, 0] = torch.tensor([0.0, 3.0, 1.0, 2.0, 0.5, 1.5, 2.5, -1.0])
        logits[..., 6] = -torch.inf
        kept = torch.zeros(2, 3, 8, dtype=torch.bool)
        for b in range(2):
            for t in range(3):
                probs = logits[b, t].softmax(-1).tolist()
                mass = 0.0
                for token in sorted(range(8), key=lambda v, probs=probs: -probs[v]):
                    if mass < p:
                        kept[b, t, token] = True
                    mass += probs[token]
        assert_probs(top_p(logits, p), renormalised(logits.softmax(-1), kept), what=f"p = {p}")
    equal = torch.zeros(3, 8, dtype=torch.float64)
    first = torch.tensor([0.5, 0.5, 0, 0, 0, 0, 0, 0], dtype=torch.float64)
    assert_probs(top_p(equal, 0.25), first.expand(3, 8), what="equals with p = 1/4")


check(other_logits_keep_their_nucleus, top_p)

# %% [markdown] exercise="min_p" difficulty=1 minutes=10 exempt="gradient"
# ### 13. Min-p
#
# Top-p keeps many bad tokens where the model is unsure. Min-p asks each token how it compares with the best
# one: it stays if $P(v) \ge p \cdot \max_u P(u)$.
#
# Write `min_p(logits, p)`, $0 < p \le 1$, which returns logits (…, V) in which only these tokens of each row
# are left, in the proportions that they had.
#
# **Example.** Of the probabilities (0.1, 0.4, 0.05, 0.25, 0.2), p = 0.3 asks for at least 0.12 and leaves the
# tokens 1, 3 and 4. With p = 1 token 1 alone is left.
#
# <details><summary>Hint 1</summary>
#
# Adding 5 to all logits of a row changes no probability. Does your threshold keep the same tokens then?
#
# </details>


# %% solution="min_p"
def min_p(logits: Tensor, p: float) -> Tensor:
    """Logits (…, V) of which only tokens at least p times as probable as the best are left."""
    ### BEGIN SOLUTION
    relative = logits - logits.max(dim=-1, keepdim=True).values  # log(P / max P)
    return logits.masked_fill(relative < math.log(p), -torch.inf)
    ### END SOLUTION


# %% check="three_tokens_of_the_example_are_left" points=1
def three_tokens_of_the_example_are_left(min_p):
    """Of the example, p = 0.3 leaves the tokens 1, 3 and 4, and p = 0.15 token 0 too."""
    for p, kept in ((0.3, (1, 3, 4)), (0.15, (0, 1, 3, 4))):
        expected = renormalised(PROBS[0], torch.isin(torch.arange(5), torch.tensor(kept)))
        assert_probs(min_p(PROBS[0].log(), p), expected, what=f"p = {p}")


check(three_tokens_of_the_example_are_left, min_p)


# %% check="the_zero_of_the_logits_does_not_matter" points=1
def the_zero_of_the_logits_does_not_matter(min_p):
    """A number added to all logits of a row changes nothing: with p = 0.2 four and three tokens are left."""
    rows = [[1.0, -1.0, 0.5, 2.0, 0.0, -2.0, 1.5], [0.3, -1.0, 2.0, 0.0, 2.5, 1.0, -4.0]]
    logits, left = torch.tensor(rows, dtype=torch.float64), torch.zeros(2, 7, dtype=torch.bool)
    left[0, [0, 2, 3, 6]] = left[1, [2, 4, 5]] = True
    for constant in (0.0, 10.0, -10.0):
        answer = min_p(logits + constant, 0.2)
        assert_probs(answer, renormalised(logits.softmax(-1), left), what=f"{constant:+.0f} added")


check(the_zero_of_the_logits_does_not_matter, min_p)


# %% check="among_many_equals_all_are_left" points=1
def among_many_equals_all_are_left(min_p):
    """Forty equally probable tokens are all left with p = 0.5, though each has a probability of 0.025 only."""
    uniform = torch.full((2, 40), 1 / 40, dtype=torch.float64)
    assert_probs(min_p(torch.zeros(2, 40, dtype=torch.float64), 0.5), uniform)


check(among_many_equals_all_are_left, min_p)


# %% check="the_best_token_is_always_left" points=1
def the_best_token_is_always_left(min_p):
    """With p = 1 the most probable token of each row is left, and nothing else."""
    assert_probs(min_p(LOGITS, 1.0), torch.eye(5, dtype=torch.float64)[[1, 0]])


check(the_best_token_is_always_left, min_p)


# %% check="other_logits_keep_what_is_near_the_best" points=1 hidden
def other_logits_keep_what_is_near_the_best(min_p, draw):
    """Other logits keep the tokens that are at least p times as probable as the best."""
    for p in (0.05, 0.35, 1.0):
        logits = draw.normal(2, 3, 9) - 30
        logits[..., 3] = -torch.inf
        logits[0, 0, :2] = torch.tensor([-25.0, -25.5])
        probs = logits.softmax(-1)
        expected = renormalised(probs, probs >= p * probs.max(-1, keepdim=True).values * (1 - 1e-9))
        assert_probs(min_p(logits, p), expected, what=f"p = {p}")


check(other_logits_keep_what_is_near_the_best, min_p)

# %% [markdown] exercise="combined_filters" difficulty=2 minutes=15 exempt="gradient"
# ### 14. In which order?
#
# Libraries disagree about the order of these steps, and seldom say so. Then the same four settings give other
# texts. This exercise states its order:
#
# 1. Every filter judges the **model's own distribution**, $\mathrm{softmax}(\text{logits})$, with temperature
#    1 and all V tokens: top-k (exercise 11), top-p (exercise 12) and min-p (exercise 13).
# 2. A token is left if **all three** filters leave it.
# 3. What is left is divided by the temperature t, which here is above 0.
#
# Write `combined_filters(logits, t, k, p, least)`, where `least` is the p of min-p. It returns logits (…, V).
#
# **Example.** The probabilities (0.1, 0.4, 0.05, 0.25, 0.2) with k = 4, p = 0.8 and least = 0.55: top-k
# leaves the tokens 0, 1, 3, 4, top-p leaves 1, 3, 4, and min-p, asking for 0.22, leaves 1 and 3. At t = 1/2
# their probabilities are in the proportion $0.4^2 : 0.25^2$.
#
# <details><summary>Hint 1</summary>
#
# Make three masks from the logits as they come, join them, and cool last.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# If top-p gets logits that top-k has cut already, its softmax distributes the mass of the lost tokens over
# the others. Does the sum then reach p earlier or later?
#
# </details>


# %% solution="combined_filters"
def combined_filters(logits: Tensor, t: float, k: int, p: float, least: float) -> Tensor:
    """Logits (…, V) left by top-k, top-p and min-p, each judging the logits as they come, then divided by t."""
    ### BEGIN SOLUTION
    probs, order = logits.softmax(dim=-1).sort(dim=-1, descending=True, stable=True)
    mass_before = (probs.cumsum(dim=-1) - probs).clamp(min=0.0)
    in_nucleus = torch.zeros_like(logits, dtype=torch.bool).scatter(-1, order, mass_before < p)
    in_top_k = logits >= logits.topk(k, dim=-1).values[..., -1:]
    near_the_best = logits >= logits.max(dim=-1, keepdim=True).values + math.log(least)
    return logits.masked_fill(~(in_nucleus & in_top_k & near_the_best), -torch.inf) / t
    ### END SOLUTION


# %% check="two_tokens_of_the_example_are_left" points=1
def two_tokens_of_the_example_are_left(combined_filters):
    """Of the example the tokens 1 and 3 are left, as 0.16 to 0.0625."""
    answer = combined_filters(LOGITS[0], 0.5, 4, 0.8, 0.55)
    assert_probs(answer, renormalised(PROBS[0] ** 2, torch.tensor([False, True, False, True, False])))


check(two_tokens_of_the_example_are_left, combined_filters)


# %% check="the_strictest_filter_decides" points=1
def the_strictest_filter_decides(combined_filters):
    """Whichever filter is the strictest, what it forbids is gone, although the others would leave it."""
    three = torch.tensor([True, False, True, False, True])
    two = torch.tensor([True, False, True, False, False])
    for settings, kept in (((3, 1.0, 1e-9), three), ((5, 0.6, 1e-9), two), ((5, 1.0, 0.5), two)):
        answer = combined_filters(LOGITS[1], 1.0, *settings)
        assert_probs(answer, renormalised(PROBS[1], kept), what=f"k, p, least = {settings}")


check(the_strictest_filter_decides, combined_filters)


# %% check="temperature_does_not_change_who_is_left" points=1
def temperature_does_not_change_who_is_left(combined_filters):
    """Hot or cold, the same tokens are left, with the probabilities of their temperature."""
    kept = torch.tensor([[False, True, False, True, True], [True, False, True, False, False]])
    for t in (0.25, 1.0, 3.0):
        expected = renormalised(PROBS ** (1 / t), kept)
        for k, least in ((5, 1e-9), (4, 0.3)):
            assert_probs(combined_filters(LOGITS, t, k, 0.8, least), expected, what=f"t = {t}")


check(temperature_does_not_change_who_is_left, combined_filters)


# %% check="the_nucleus_is_that_of_all_tokens" points=1
def the_nucleus_is_that_of_all_tokens(combined_filters):
    """What top-k removes counts in the sum of top-p: 0.4 + 0.25 falls short of 0.7 of everything."""
    kept = torch.tensor([False, True, False, True, True])
    assert_probs(combined_filters(LOGITS[0], 1.0, 3, 0.7, 1e-9), renormalised(PROBS[0], kept))


check(the_nucleus_is_that_of_all_tokens, combined_filters)


# %% check="other_settings_leave_what_all_filters_leave" points=2 hidden
def other_settings_leave_what_all_filters_leave(combined_filters, draw):
    """Other logits and settings leave what all three filters leave."""
    for t, k, p, least in (
        (1.3, 3, 0.7, 0.02),
        (0.4, 5, 0.7, 0.02),
        (2.5, 6, 0.9, 0.3),
        (1.3, 2, 0.95, 0.01),
        (3.0, 4, 0.6, 0.05),
    ):
        logits = torch.cat([LOGITS + 3, 1.5 * draw.normal(3, 5)])
        logits = torch.cat([logits, logits.min(-1, keepdim=True).values - 1 - draw.uniform(5, 2)], dim=-1)
        rows = []
        for row in logits:
            probs = row.softmax(-1)
            ranked = sorted(range(7), key=lambda v, probs=probs: -float(probs[v]))
            masses = [float(probs[ranked[:n]].sum()) for n in range(7)]  # before rank n
            near = float(probs.max()) * least
            left = {v for n, v in enumerate(ranked) if n < k and masses[n] < p and float(probs[v]) >= near}
            kept = torch.tensor([v in left for v in range(7)])
            rows.append(renormalised(probs ** (1 / t), kept))
        answer = combined_filters(logits, t, k, p, least)
        assert_probs(answer, torch.stack(rows), what=f"t, k, p, least = {t, k, p, least}")


check(other_settings_leave_what_all_filters_leave, combined_filters)

# %% [markdown] exercise="repetition_penalty" difficulty=1 minutes=10 exempt="gradient"
# ### 15. Repetition penalty
#
# Models like to repeat themselves. The repetition penalty lowers the logits of tokens that have occurred
# already: a positive logit is divided by the penalty, a negative one multiplied by it.
#
# Write `repetition_penalty(logits, history, penalty)` for logits (B, V), the tokens so far `history` (B, T)
# and a penalty of at least 1. It returns logits (B, V). A token that has occurred is penalised once, however
# often it has occurred, and only in its own row. The logits that come in are not to be changed in place.
#
# **Example.** Logits $(2, -1, 3, -4)$, the history $(0, 1, 0)$ and the penalty 2 give $(1, -2, 3, -4)$.
#
# <details><summary>Hint 1</summary>
#
# What does dividing do to a logit of −1? Is the token more or less probable then?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# `scatter` with `True` makes a mask (B, V) of what has occurred, and does not count.
#
# </details>


# %% solution="repetition_penalty"
def repetition_penalty(logits: Tensor, history: Tensor, penalty: float) -> Tensor:
    """Logits (B, V) in which tokens of the history (B, T) are less probable."""
    ### BEGIN SOLUTION
    has_occurred = torch.zeros_like(logits, dtype=torch.bool).scatter(1, history, True)
    penalised = torch.where(logits > 0, logits / penalty, logits * penalty)
    return torch.where(has_occurred, penalised, logits)
    ### END SOLUTION


# %% check="the_example_is_penalised" points=1
def the_example_is_penalised(repetition_penalty):
    """The logits (2, −1, 3, −4) of the example become (1, −2, 3, −4)."""
    logits = torch.tensor([[2.0, -1.0, 3.0, -4.0]], dtype=torch.float64)
    expected = torch.tensor([[1.0, -2.0, 3.0, -4.0]], dtype=torch.float64)
    assert_probs(repetition_penalty(logits, torch.tensor([[0, 1, 0]]), 2.0), expected.softmax(-1))


check(the_example_is_penalised, repetition_penalty)


# %% check="what_has_occurred_becomes_less_probable" points=1
def what_has_occurred_becomes_less_probable(repetition_penalty, draw):
    """A single token that has occurred becomes less probable than it was, whatever its logit."""
    logits = 2 * draw.normal(4, 6)
    logits[0, 2], logits[1, 2] = 1.5, -1.5
    before = logits.softmax(-1)[:, 2]
    after = repetition_penalty(logits, torch.full((4, 1), 2), 1.8).softmax(-1)[:, 2]
    grown = [
        f"{p:.4f} became {q:.4f}" for p, q in zip(before.tolist(), after.tolist(), strict=True) if q >= p
    ]
    assert_true(not grown, f"Not every probability became smaller: {', '.join(grown)}.")


check(what_has_occurred_becomes_less_probable, repetition_penalty)


# %% check="once_or_often_is_the_same" points=1
def once_or_often_is_the_same(repetition_penalty, draw):
    """Tokens that occurred three times are penalised as those that occurred once."""
    logits = 2 * draw.normal(2, 6)
    answer = repetition_penalty(logits, torch.tensor([[4, 0, 4, 4], [3, 3, 1, 3]]), 1.5)
    once = repetition_penalty(logits, torch.tensor([[4, 0], [3, 1]]), 1.5)
    assert_probs(answer, once.softmax(-1))
    assert_depends(answer.softmax(-1), logits.softmax(-1))


check(once_or_often_is_the_same, repetition_penalty)


# %% check="every_row_has_its_own_history" points=1
def every_row_has_its_own_history(repetition_penalty, draw):
    """What has occurred in one row is not penalised in another."""
    logits, history = 2 * draw.normal(3, 6), torch.tensor([[0, 1], [2, 3], [4, 5]])
    answer = repetition_penalty(logits, history, 1.5)
    for row in range(3):
        alone = repetition_penalty(logits[row : row + 1], history[row : row + 1], 1.5)
        assert_probs(answer[row : row + 1], alone.softmax(-1), what=f"row {row}")
    assert_depends(answer.softmax(-1), logits.softmax(-1))


check(every_row_has_its_own_history, repetition_penalty)


# %% check="the_logits_stay_as_they_were" points=1
def the_logits_stay_as_they_were(repetition_penalty, draw):
    """The logits that are handed over are not changed in place."""
    logits = 2 * draw.normal(2, 6)
    answer = repetition_penalty(logits, torch.tensor([[4, 0], [3, 1]]), 1.5)
    assert_equal(list(torch.as_tensor(answer).shape), [2, 6], what="the shape")
    assert_depends(answer, logits)


check(the_logits_stay_as_they_were, repetition_penalty)


# %% check="other_histories_are_penalised" points=1 hidden
def other_histories_are_penalised(repetition_penalty, draw):
    """Other logits and histories are penalised token by token."""
    for batch_size, vocab_size, T, penalty in ((3, 7, 5, 1.3), (2, 11, 4, 2.0)):
        logits, history = 3 * draw.normal(batch_size, vocab_size), draw.integers(0, vocab_size, batch_size, T)
        history[:, 1] = history[:, 0]
        logits[torch.arange(batch_size), history[:, 0]] = torch.tensor([1.5, -2.0, 0.5])[:batch_size].double()
        history[0, 2] = (history[0, 0] + 1) % vocab_size
        logits[0, history[0, 2]] = -1.0
        expected = logits.clone()
        for b in range(batch_size):
            for v in set(history[b].tolist()):
                z = float(logits[b, v])
                expected[b, v] = z / penalty if z > 0 else z * penalty
        assert_probs(repetition_penalty(logits, history, penalty), expected.softmax(-1))


check(other_histories_are_penalised, repetition_penalty)

# %% [markdown] exercise="mirostat" difficulty=3 minutes=20
# ### 16. Mirostat
#
# A controller holds the surprise of a text near a target $\tau$, in **bits**. The surprise of a token is
# $-\log_2 P(v)$ under the model's own distribution, nothing cut off. The state is one number $\mu$, the
# largest surprise allowed. It starts at $\mu = 2\tau$, and for every token
#
# 1. only tokens with a surprise of at most $\mu$ are left; if there are none, the most probable one;
# 2. one token is drawn from what is left, in the proportions that it had;
# 3. $\mu \leftarrow \mu - \eta \cdot (\text{surprise of the token} - \tau)$.
#
# Write `mirostat(logits, target, learning_rate, generator)`, where $\tau$ is `target` and $\eta$ is
# `learning_rate`. To make it testable the logits of all steps are known from the start: `logits` is (T, V),
# one row per step, whatever was drawn before. Return the tuple `(tokens, mus)`: the tokens drawn, (T,) int64,
# and all values of $\mu$, from $2\tau$ before the first token to the one after the last, (T + 1,) float64.
# Draw by `torch.multinomial(probs, num_samples=1, generator=generator)`, once per step, with `probs` (V,).
#
# **Example.** Two equally probable tokens have a surprise of one bit each. With $\tau = 3$ and $\eta = 0.1$,
# $\mu$ goes from 6 to 6.2, 6.4, 6.6, …, because every token is less surprising than wanted.
#
# <details><summary>Hint 1</summary>
#
# `log_softmax` is in nats. How many nats is a bit?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# If the last token was more surprising than wanted, should the next one be allowed more surprise, or less?
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# Step 2 needs the probabilities of what is left, step 3 those of the model. Keep the surprises that you
# computed in step 1.
#
# </details>


# %% solution="mirostat"
def mirostat(
    logits: Tensor, target: float, learning_rate: float, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """Tokens (T,) drawn under the controller, and its states mu (T + 1,), both from logits (T, V)."""
    ### BEGIN SOLUTION
    tokens, mus = [], [2.0 * target]
    for row in logits.double():
        surprises = -row.log_softmax(dim=-1) / math.log(2)  # (V,), bits
        kept = surprises <= mus[-1]
        kept[row.argmax()] = True
        probs = row.masked_fill(~kept, -torch.inf).softmax(dim=-1)
        token = torch.multinomial(probs, num_samples=1, generator=generator)
        mus.append(mus[-1] - learning_rate * (float(surprises[token]) - target))
        tokens.append(int(token))
    return torch.tensor(tokens), torch.tensor(mus, dtype=torch.float64)
    ### END SOLUTION


# %% provided="surprises"
def bits_of(logits, tokens):
    """The surprise −log2 P of each token (T,) under its row of logits (T, V)."""
    return -logits.log_softmax(-1)[torch.arange(len(tokens)), tokens] / math.log(2)


# %% check="two_equal_tokens_surprise_by_one_bit" points=1
def two_equal_tokens_surprise_by_one_bit(mirostat, draw):
    """With two equally probable tokens, τ = 3 and η = 0.1, μ goes in float64 from 6 to 7 in steps of 0.2."""
    _, mus = mirostat(torch.zeros(5, 2, dtype=torch.float64), 3.0, 0.1, draw.generator())
    assert_close(mus, 6.0 + 0.2 * torch.arange(6, dtype=torch.float64))
    assert_dtype(mus, torch.float64)


check(two_equal_tokens_surprise_by_one_bit, mirostat)


# %% check="what_is_certain_allows_more_surprise" points=1
def what_is_certain_allows_more_surprise(mirostat, draw):
    """A certain token surprises by 0 bits, so that μ rises by η times τ at every step."""
    logits = 800 * torch.eye(4, dtype=torch.float64)[[2, 0, 3]]
    tokens, mus = mirostat(logits, 1.5, 0.4, draw.generator())
    assert_equal(tokens, torch.tensor([2, 0, 3]), what="tokens")
    assert_close(mus, 3.0 + 0.6 * torch.arange(4, dtype=torch.float64), what="the states")


check(what_is_certain_allows_more_surprise, mirostat)


# %% check="no_token_surprises_more_than_allowed" points=1
def no_token_surprises_more_than_allowed(mirostat, draw):
    """Of twenty tokens each surprises by at most μ bits, or is the most probable one."""
    logits = 3 * draw.normal(20, 9)
    tokens, mus = mirostat(logits, 0.8, 0.3, draw.generator())
    surprises = bits_of(logits, tokens)
    allowed = (surprises <= mus[:-1] + 1e-6) | (tokens == logits.argmax(-1))
    steps = (~allowed).nonzero().flatten().tolist()
    assert_true(not steps, f"At the steps {steps} a token surprises by more than μ.")


check(no_token_surprises_more_than_allowed, mirostat)


# %% check="every_state_follows_from_the_one_before" points=1
def every_state_follows_from_the_one_before(mirostat, draw):
    """Each μ is the one before, minus η times (surprise of the token under the model − τ)."""
    logits = 2 * draw.normal(12, 7)
    tokens, mus = mirostat(logits, 1.2, 0.5, draw.generator())
    assert_close(mus[1:], mus[:-1] - 0.5 * (bits_of(logits, tokens) - 1.2))


check(every_state_follows_from_the_one_before, mirostat)


# %% check="a_surprising_model_leaves_its_best_token" points=1
def a_surprising_model_leaves_its_best_token(mirostat, draw):
    """Where every token would surprise more than allowed, the most probable one is taken."""
    logits = draw.normal(6, 50)
    tokens, _ = mirostat(logits, 0.01, 0.0, draw.generator())
    assert_equal(tokens, logits.argmax(-1))


check(a_surprising_model_leaves_its_best_token, mirostat)


# %% check="allowed_tokens_keep_their_proportions" points=1
def allowed_tokens_keep_their_proportions(mirostat, draw):
    """In 1500 draws the tokens allowed are as frequent as the model says (false alarms: 1 in 10 million)."""
    probs = torch.tensor([0.1, 0.4, 0.02, 0.28, 0.2], dtype=torch.float64)
    tokens, _ = mirostat(probs.log().expand(1500, 5), 1.25, 0.0, draw.generator())  # at most 2.5 bits
    kept = torch.tensor([False, True, False, True, True])
    drawn_within(tokens, renormalised(probs, kept), "the tokens allowed")


check(allowed_tokens_keep_their_proportions, mirostat)


# %% check="the_same_generator_draws_the_specified_tokens" points=2 hidden
def the_same_generator_draws_the_specified_tokens(mirostat, draw):
    """Other logits give the very tokens and states that the specified draws give."""
    for T, vocab_size, target, learning_rate in ((15, 8, 1.1, 0.4), (9, 20, 2.0, 0.2), (4, 40, 0.01, 0.1)):
        logits, generator = 2 * draw.normal(T, vocab_size) + 5, draw.generator()
        own = torch.Generator().manual_seed(generator.initial_seed())
        expected_tokens, expected_mus = [], [2 * target]
        for row in logits.softmax(-1):
            bits = [-math.log2(q) for q in row.tolist()]
            left = [b <= max(expected_mus[-1], min(bits)) for b in bits]
            probs = renormalised(row, torch.tensor(left))
            token = int(torch.multinomial(probs, 1, generator=own))
            expected_tokens.append(token)
            expected_mus.append(expected_mus[-1] - learning_rate * (bits[token] - target))
        tokens, mus = mirostat(logits, target, learning_rate, generator)
        assert_equal(tokens, torch.tensor(expected_tokens), what="tokens")
        assert_close(mus, torch.tensor(expected_mus, dtype=torch.float64), what="the states")


check(the_same_generator_draws_the_specified_tokens, mirostat)

# %% [markdown]
# ## Part D. Searching, and remembering

# %% [markdown] exercise="extend_beams" difficulty=2 minutes=15 exempt="gradient"
# ### 17. One step of a beam search
#
# A beam holds the W most probable beginnings found so far. `totals` (W,) are their log-probabilities, and
# `logits` (W, V) what the model says about the next token after each of them. One step extends every
# beginning by every token and keeps the `beam_width` most probable of these W · V extensions.
#
# Write `extend_beams(totals, logits, beam_width)`, which returns the tuple `(totals, rows, tokens)`, three
# tensors with one entry for each extension kept, the most probable first: its log-probability, the number of
# the beginning that it extends, and the token that was added. If there are fewer than `beam_width`
# extensions, all are kept. The log-probability of a text is the sum of those of its tokens, so the logits
# have to be normalised first.
#
# **Example.** Two beginnings with the probabilities 1/2 and 1/4, followed by three tokens with the
# probabilities (1/8, 5/8, 1/4) and (1/8, 3/4, 1/8): the extensions have 2/32, 10/32, 4/32 and 1/32, 6/32,
# 1/32. A beam of two keeps 10/32 (beginning 0, token 1) and 6/32 (beginning 1, token 1).
#
# <details><summary>Hint 1</summary>
#
# The candidates make a table (W, V). What has to be added to each of its rows? And which tensor should
# `topk` search, so that all rows compete with each other?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Entry i of the flat table: in which row was it if a row has V entries, and in which column?
#
# </details>


# %% solution="extend_beams"
def extend_beams(totals: Tensor, logits: Tensor, beam_width: int) -> tuple[Tensor, Tensor, Tensor]:
    """The best one-token extensions of W beginnings: log-probabilities, rows and tokens, best first."""
    ### BEGIN SOLUTION
    candidates = (totals[:, None] + logits.log_softmax(dim=-1)).flatten()  # (W · V,)
    best, places = candidates.topk(min(beam_width, len(candidates)))
    return best, places // logits.shape[1], places % logits.shape[1]
    ### END SOLUTION


# %% check="the_example_keeps_two_extensions" points=1
def the_example_keeps_two_extensions(extend_beams):
    """The example keeps 10/32, which is token 1 after beginning 0, and 6/32, token 1 after beginning 1."""
    probs = torch.tensor([[1 / 8, 5 / 8, 1 / 4], [1 / 8, 3 / 4, 1 / 8]], dtype=torch.float64)
    totals = torch.tensor([1 / 2, 1 / 4], dtype=torch.float64).log()
    best, rows, tokens = extend_beams(totals, probs.log(), 2)
    assert_close(best.exp(), torch.tensor([10 / 32, 6 / 32], dtype=torch.float64), what="probabilities")
    assert_equal(rows, torch.tensor([0, 1]), what="rows")
    assert_equal(tokens, torch.tensor([1, 1]), what="tokens")


check(the_example_keeps_two_extensions, extend_beams)


# %% check="one_good_beginning_may_fill_the_beam" points=1
def one_good_beginning_may_fill_the_beam(extend_beams):
    """A beginning that is far more probable than the others takes all places."""
    totals = torch.tensor([-9.0, -1.0, -8.0], dtype=torch.float64)
    logits = torch.tensor([[2.0, 0.0, 1.0, 0.5], [0.5, 1.0, 0.0, 2.0], [0.0, 0.0, 3.0, 1.0]]).double()
    _, rows, tokens = extend_beams(totals, logits, 3)
    assert_equal(rows, torch.tensor([1, 1, 1]), what="rows")
    assert_equal(tokens, torch.tensor([3, 1, 0]), what="tokens")


check(one_good_beginning_may_fill_the_beam, extend_beams)


# %% check="a_constant_in_the_logits_changes_nothing" points=1
def a_constant_in_the_logits_changes_nothing(extend_beams, draw):
    """A number added to all logits of one beginning changes neither who is kept nor the totals."""
    totals, logits = -draw.uniform(3), draw.normal(3, 5)
    answer = extend_beams(totals, logits, 4)
    shifted = extend_beams(totals, logits + torch.tensor([[30.0], [-20.0], [0.0]]).double(), 4)
    for name, own, other in zip(("totals", "rows", "tokens"), answer, shifted, strict=True):
        assert_close(other, own, what=name)
    assert_depends(answer[0], extend_beams(totals - 1, logits, 4)[0])


check(a_constant_in_the_logits_changes_nothing, extend_beams)


# %% check="a_wide_beam_keeps_everything" points=1
def a_wide_beam_keeps_everything(extend_beams, draw):
    """A beam as wide as all extensions keeps each of them once, and their probabilities add up."""
    totals = draw.probabilities(2).log()
    best, rows, tokens = extend_beams(totals, draw.normal(2, 3), 10)
    pairs = sorted(zip(rows.tolist(), tokens.tolist(), strict=True))
    assert_equal(pairs, [(row, token) for row in range(2) for token in range(3)])
    assert_close(best.exp().sum(), 1.0, what="the sum of the probabilities")


check(a_wide_beam_keeps_everything, extend_beams)


# %% check="other_beams_keep_their_best_extensions" points=1 hidden
def other_beams_keep_their_best_extensions(extend_beams, draw):
    """Other beams keep their best extensions, found by trying all."""
    for n_beams, vocab_size, beam_width in ((4, 7, 5), (2, 9, 3), (3, 4, 8)):
        totals, logits = -2 * draw.uniform(n_beams), 2 * draw.normal(n_beams, vocab_size) + 3
        logits[1] += 4
        found = []
        for row in range(n_beams):
            z = logits[row].tolist()
            norm = math.log(sum(math.exp(value) for value in z))
            found += [(float(totals[row]) + z[v] - norm, row, v) for v in range(vocab_size)]
        expected = sorted(found, reverse=True)[:beam_width]
        best, rows, tokens = extend_beams(totals, logits, beam_width)
        assert_close(best, torch.tensor([one[0] for one in expected], dtype=torch.float64), what="totals")
        assert_equal(rows, torch.tensor([one[1] for one in expected]), what="rows")
        assert_equal(tokens, torch.tensor([one[2] for one in expected]), what="tokens")


check(other_beams_keep_their_best_extensions, extend_beams)


# %% provided="bigrams"
def total_of(table, prompt, tokens):
    """The log-probability of tokens after a prompt, when `table` (V, V) holds the logits after each token."""
    text = [prompt[-1], *tokens]
    return sum(float(table[a].log_softmax(-1)[b]) for a, b in pairwise(text))


def every_text(vocab_size, eos, n_tokens):
    """All texts that end with eos, of at most n_tokens tokens, and all of n_tokens tokens without it."""
    unfinished = [[]]
    while len(unfinished[0]) < n_tokens:
        longer = [[*text, token] for text in unfinished for token in range(vocab_size)]
        yield from (text for text in longer if text[-1] == eos)
        unfinished = [text for text in longer if text[-1] != eos]
    yield from unfinished


def logs(rows):
    """A table of logits from rows of probabilities."""
    return torch.tensor(rows, dtype=torch.float64).log()


# %% [markdown] exercise="beam_search" difficulty=3 minutes=35 forbids="course.sampling"
# ### 18. Beam search
#
# The model of this exercise looks at the last token only: `table` (V, V) holds in row s the logits of the
# token after s. Texts end with the token `eos`.
#
# Write `beam_search(table, prompt, eos, n_tokens, beam_width, length_penalty)`, which returns the tuple
# `(tokens, score)` of the best continuation found: a list of numbers without the prompt and with its `eos`,
# if it has one, and its score. `prompt` is a list of at least one token.
#
# - The beam begins with one empty continuation of log-probability 0.
# - A step is exercise 17: of all extensions of all continuations in the beam, the `beam_width` most probable
#   are kept. Those that end with `eos` leave the beam for the finished ones and are not extended any more;
#   the others are the new beam.
# - There are `n_tokens` steps, or fewer if the beam gets empty. What is still in the beam after the last step
#   competes as it is.
# - The score of a continuation is $\log P / n^{\alpha}$, where n is the number of its tokens, **with** `eos`
#   and **without** the prompt, log P the sum of their log-probabilities, that of `eos` included, and α is
#   `length_penalty`. The largest score wins.
#
# **Example.** `eos` is 0. After token 1 come the tokens 0, 1 and 2 with the probabilities 0.4, 0 and 0.6,
# after token 2 with 0.1, 0.9 and 0. From the prompt `[1]` a beam of 2 and two tokens find `[0]` with $\ln 0.4
# \approx -0.92$ and `[2, 1]` with $\ln 0.54 \approx -0.62$. The second wins with
# $\alpha = 0$, and also with $\alpha = 1$, where its score is $-0.31$.
#
# <details><summary>Hint 1</summary>
#
# Keep two lists of pairs (tokens, log P): the beam and the finished. Which of them is empty at the beginning?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# That a text has ended does not mean that it has won: one that is still in the beam may overtake it, because
# its log P is divided by more tokens. When may the search stop?
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# The score decides once, at the very end. Within a step all continuations have the same length, so there log
# P is enough.
#
# </details>


# %% solution="beam_search"
def beam_search(
    table: Tensor, prompt: list[int], eos: int, n_tokens: int, beam_width: int, length_penalty: float
) -> tuple[list[int], float]:
    """The continuation with the best score that a beam finds, and its score."""
    ### BEGIN SOLUTION
    log_probs = table.log_softmax(dim=-1).tolist()
    beam, finished = [([], 0.0)], []
    for _ in range(n_tokens):
        extensions = [
            ([*tokens, token], total + log_prob)
            for tokens, total in beam
            for token, log_prob in enumerate(log_probs[[*prompt, *tokens][-1]])
        ]
        kept = sorted(extensions, key=lambda one: -one[1])[:beam_width]
        finished += [one for one in kept if one[0][-1] == eos]
        beam = [one for one in kept if one[0][-1] != eos]
    scored = [(total / len(tokens) ** length_penalty, tokens) for tokens, total in finished + beam]
    score, tokens = max(scored, key=lambda one: one[0])
    return tokens, score
    ### END SOLUTION


# %% check="the_example_finds_two_tokens" points=1
def the_example_finds_two_tokens(beam_search):
    """In the example [2, 1] wins with ln 0.54, and with half of that if the length penalty is 1."""
    table = logs([[1 / 3, 1 / 3, 1 / 3], [0.4, 0.0, 0.6], [0.1, 0.9, 0.0]])
    for length_penalty in (0.0, 1.0):
        tokens, score = beam_search(table, [1], 0, 2, 2, length_penalty)
        assert_equal(tokens, [2, 1], what="tokens")
        assert_close(score, math.log(0.54) / 2**length_penalty, what="the score")


check(the_example_finds_two_tokens, beam_search)


# %% check="a_narrow_beam_misses_what_a_wide_one_finds" points=1
def a_narrow_beam_misses_what_a_wide_one_finds(beam_search):
    """Where the better first token leads to the worse text, a beam of 1 takes it and a beam of 2 does not."""
    table = logs([[0.25] * 4, [0.0, 0.0, 0.6, 0.4], [0.4, 0.3, 0.3, 0.0], [0.9, 0.1, 0.0, 0.0]])
    assert_equal(beam_search(table, [1], 0, 2, 1, 0.0)[0], [2, 0], what="a beam of 1")
    assert_equal(beam_search(table, [1], 0, 2, 2, 0.0)[0], [3, 0], what="a beam of 2")


check(a_narrow_beam_misses_what_a_wide_one_finds, beam_search)


# %% check="a_finished_text_waits_for_longer_ones" points=1
def a_finished_text_waits_for_longer_ones(beam_search):
    """A text of one token that is ahead at first loses to a longer one with more log P per token."""
    table = logs([[1 / 3, 1 / 3, 1 / 3], [0.55, 0.0, 0.45], [0.02, 0.0, 0.98]])
    tokens, score = beam_search(table, [1], 0, 5, 2, 1.0)
    assert_equal(tokens, [2, 2, 2, 2, 2], what="tokens")
    assert_close(score, math.log(0.45 * 0.98**4) / 5, what="the score")


check(a_finished_text_waits_for_longer_ones, beam_search)


# %% check="a_finished_text_takes_no_place_in_the_beam" points=1
def a_finished_text_takes_no_place_in_the_beam(beam_search):
    """Beside a finished text there is room for two others in a beam of 2, and the second of them wins."""
    table = logs([[0.25] * 4, [0.5, 0.05, 0.4, 0.05], [0.01, 0.01, 0.58, 0.4], [0.94, 0.02, 0.01, 0.03]])
    tokens, score = beam_search(table, [1], 0, 3, 2, 1.0)
    assert_equal(tokens, [2, 3, 0], what="tokens")
    assert_close(score, math.log(0.4 * 0.4 * 0.94) / 3, what="the score")


check(a_finished_text_takes_no_place_in_the_beam, beam_search)


# %% check="nothing_follows_the_end" points=1
def nothing_follows_the_end(beam_search):
    """A text that has ended is not extended, however probable the table finds what would come next."""
    table = logs([[0.98, 0.01, 0.01], [0.7, 0.1, 0.2], [0.5, 0.3, 0.2]])
    tokens, score = beam_search(table, [1], 0, 4, 2, 1.0)
    assert_equal(tokens, [0], what="tokens")
    assert_close(score, math.log(0.7), what="the score")


check(nothing_follows_the_end, beam_search)


# %% check="the_score_counts_the_end_and_not_the_prompt" points=1
def the_score_counts_the_end_and_not_the_prompt(beam_search):
    """A text of three tokens with its end has a third of its log P, whatever the length of the prompt."""
    table = logs([[0.25] * 4, [0.0, 0.0, 0.8, 0.2], [0.1, 0.0, 0.0, 0.9], [0.6, 0.4, 0.0, 0.0]])
    for prompt in ([1], [3, 2, 2, 1]):
        tokens, score = beam_search(table, prompt, 0, 3, 9, 1.0)
        assert_equal(tokens, [2, 3, 0], what="tokens")
        assert_close(score, math.log(0.8 * 0.9 * 0.6) / 3, what=f"the score after {prompt}")


check(the_score_counts_the_end_and_not_the_prompt, beam_search)


# %% check="a_beam_that_keeps_everything_finds_the_best_text" points=2
def a_beam_that_keeps_everything_finds_the_best_text(beam_search, draw):
    """With room for every text the best of all is found: one, two or three tokens, as the penalty says."""
    rows = [
        [0.1, 0.2, 0.3, 0.4],
        [0.4, 0.01, 0.58, 0.01],
        [0.51, 0.005, 0.005, 0.48],
        [0.2, 0.07, 0.07, 0.66],
    ]
    table = logs(rows) + 3 * draw.normal(4, 1)  # a number added to a row changes no probability
    for length_penalty in (0.0, 0.6, 1.0):
        texts = list(every_text(4, 0, 3))
        scores = [total_of(table, [2, 1], text) / len(text) ** length_penalty for text in texts]
        best = max(range(len(texts)), key=scores.__getitem__)
        tokens, score = beam_search(table, [2, 1], 0, 3, 50, length_penalty)
        assert_equal(tokens, texts[best], what=f"tokens with length penalty {length_penalty}")
        assert_close(score, scores[best], what=f"the score with length penalty {length_penalty}")


check(a_beam_that_keeps_everything_finds_the_best_text, beam_search)


# %% check="a_long_text_has_a_finite_score" points=1
def a_long_text_has_a_finite_score(beam_search):
    """Four hundred tokens of probability 0.1 have log P = −921, although their product is 0 as a float."""
    table = torch.zeros(11, 11, dtype=torch.float64)
    table[:, 0] = -torch.inf  # no end
    tokens, score = beam_search(table, [1], 0, 400, 1, 0.0)
    assert_close(score, 400 * math.log(0.1))
    assert_equal(len(tokens), 400, what="the number of tokens")


check(a_long_text_has_a_finite_score, beam_search)


# %% check="other_tables_have_their_best_text" points=2 hidden
def other_tables_have_their_best_text(beam_search, draw):
    """Other tables have the best text that a beam finds, and its score."""
    from course.sampling import beam_search as courses_beam_search

    class Bigrams:
        def __init__(self, table):
            self.log_probs, self.vocab_size, self.context_length = table.log_softmax(-1), len(table), None

        def __call__(self, tokens):
            return self.log_probs[tokens]

    def settings_of(table, prompt, n_tokens, beam_width, length_penalty, eos=0):
        order = draw.permutation(len(table))  # token s is called order[s] from now on
        places = torch.tensor(order).argsort()
        renamed = table[places][:, places] + 5 * draw.normal(len(table), 1)
        return renamed, [order[s] for s in prompt], order[eos], n_tokens, beam_width, length_penalty

    waits = logs([[0.3, 0.35, 0.35], [0.55, 0.01, 0.44], [0.03, 0.01, 0.96]])
    ends = logs([[0.97, 0.02, 0.01], [0.7, 0.1, 0.2], [0.5, 0.3, 0.2]])
    counts = logs([[0.25] * 4, [0.01, 0.01, 0.78, 0.2], [0.1, 0.01, 0.01, 0.88], [0.6, 0.38, 0.01, 0.01]])
    misses = logs([[0.25] * 4, [0.01, 0.01, 0.58, 0.4], [0.4, 0.3, 0.29, 0.01], [0.88, 0.1, 0.01, 0.01]])
    room = logs([[0.25] * 4, [0.5, 0.04, 0.41, 0.05], [0.01, 0.01, 0.57, 0.41], [0.93, 0.02, 0.01, 0.04]])
    cases = [
        settings_of(waits, [1], 6, 2, 1.0),
        settings_of(room, [3, 1], 3, 2, 1.0),
        settings_of(ends, [2, 1], 4, 2, 1.0),
        settings_of(counts, [3, 1], 3, 6, 0.9),
        settings_of(misses, [1, 2, 1], 2, 2, 0.5),
        settings_of(2 * draw.normal(6, 6), [3, 4], 5, 3, 0.7),
    ]
    for table, prompt, eos, n_tokens, beam_width, length_penalty in cases:
        expected = courses_beam_search(
            Bigrams(table), torch.tensor(prompt), n_tokens, beam_width=beam_width, eos=eos,
            length_penalty=length_penalty,
        )[0]  # fmt: skip
        tokens, score = beam_search(table, prompt, eos, n_tokens, beam_width, length_penalty)
        assert_equal(tokens, list(expected.tokens), what="tokens")
        assert_close(score, expected.score(length_penalty), what="the score")


check(other_tables_have_their_best_text, beam_search)


# %% provided="reader"
def weights_of_reader(draw, vocab_size, context_length, d_model):
    """Random parameters of the small model of the next exercise."""
    shapes = {"wte": (vocab_size, d_model), "wpe": (context_length, d_model)}
    shapes |= dict.fromkeys(("W_query", "W_key", "W_value"), (d_model, d_model))
    return {name: draw.normal(*shape) for name, shape in shapes.items()}


def read_all(weights, tokens):
    """Logits (B, T, V) of a model with one attention layer, which reads all tokens (B, T) anew."""
    x = weights["wte"][tokens] + weights["wpe"][: tokens.shape[1]]  # (B, T, D)
    query, key, value = x @ weights["W_query"].T, x @ weights["W_key"].T, x @ weights["W_value"].T
    y = x + functional.scaled_dot_product_attention(query, key, value, is_causal=True)
    return y @ weights["wte"].T


# %% [markdown] exercise="read_with_cache" difficulty=3 minutes=25 exempt="gradient"
# ### 19. A cache of keys and values
#
# To write one more token, `read_all` above computes the keys and values of all earlier tokens again, although
# nothing about them has changed: position t sees only what is to its left. So keep them. A call then reads
# the **new** tokens only.
#
# Write `read_with_cache(weights, tokens, cache)`, with the weights of `read_all`. `tokens` (B, T) are new;
# `cache` is `None` at the first call, and later a dict of what the earlier calls left: `"keys"` and
# `"values"`, (B, S, D) each, where S is the number of tokens that have been read already. Return the tuple
# `(logits, cache)`: the logits (B, T, V) of the new positions, and the new cache with S + T keys and values.
#
# All positions count from the beginning of the text: the new tokens stand at S, S + 1, … The new token at
# position S + i attends to the keys 0 … S + i. The cache that was handed over is not to be changed, because
# somebody may want to continue from it in two ways, as a beam search does.
#
# **Example.** Reading five tokens at once gives the same five rows of logits as reading three, then one, then
# one more, each time with the cache of the call before.
#
# <details><summary>Hint 1</summary>
#
# How many keys are there if three tokens were read before and two are new? Draw the table, 2 rows for the new
# queries and 5 columns for the keys, and mark what each row may see. On which diagonal does it end?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# `torch.cat` makes a new tensor. A dict that is assigned to stays the dict of whoever handed it over.
#
# </details>


# %% solution="read_with_cache"
def read_with_cache(
    weights: dict[str, Tensor], tokens: Tensor, cache: dict[str, Tensor] | None
) -> tuple[Tensor, dict[str, Tensor]]:
    """Logits (B, T, V) of new tokens (B, T) after those in the cache, and the cache with both."""
    ### BEGIN SOLUTION
    n_read = 0 if cache is None else cache["keys"].shape[1]
    T = tokens.shape[1]
    x = weights["wte"][tokens] + weights["wpe"][n_read : n_read + T]  # (B, T, D)
    query, key, value = (x @ weights[name].T for name in ("W_query", "W_key", "W_value"))
    if cache is not None:
        key, value = torch.cat([cache["keys"], key], dim=1), torch.cat([cache["values"], value], dim=1)
    scores = query @ key.mT / math.sqrt(x.shape[-1])  # (B, T, S + T)
    is_future = torch.ones(T, n_read + T, dtype=torch.bool).triu(n_read + 1)
    y = x + scores.masked_fill(is_future, -torch.inf).softmax(dim=-1) @ value
    return y @ weights["wte"].T, {"keys": key, "values": value}
    ### END SOLUTION


# %% provided="piece_by_piece"
def read_in_pieces(read_with_cache, weights, tokens, lengths):
    """The logits of all positions, read in pieces of these lengths, and the last cache."""
    cache, logits = None, []
    for piece in tokens.split(lengths, dim=1):
        answer, cache = read_with_cache(weights, piece, cache)
        logits.append(answer)
    return torch.cat(logits, dim=1), cache


# %% check="without_a_cache_everything_is_read" points=1
def without_a_cache_everything_is_read(read_with_cache, draw):
    """A first call has the logits of `read_all`, and leaves as many keys and values as it read tokens."""
    weights, tokens = weights_of_reader(draw, 7, 9, 4), draw.integers(0, 7, 2, 5)
    logits, cache = read_with_cache(weights, tokens, None)
    assert_close(logits, read_all(weights, tokens), what="logits")
    assert_equal(sorted(cache), ["keys", "values"], what="the names in the cache")
    assert_equal([list(cache[name].shape) for name in ("keys", "values")], [[2, 5, 4]] * 2, what="the shapes")


check(without_a_cache_everything_is_read, read_with_cache)


# %% check="token_by_token_is_the_same" points=1
def token_by_token_is_the_same(read_with_cache, draw):
    """Read one by one, five tokens have the logits that they have at once."""
    weights, tokens = weights_of_reader(draw, 7, 9, 4), draw.integers(0, 7, 2, 5)
    logits, _ = read_in_pieces(read_with_cache, weights, tokens, [1, 1, 1, 1, 1])
    assert_close(logits, read_all(weights, tokens))


check(token_by_token_is_the_same, read_with_cache)


# %% check="piece_by_piece_is_the_same" points=1
def piece_by_piece_is_the_same(read_with_cache, draw):
    """Read in pieces of three, two and two, seven tokens have the logits that they have at once."""
    weights, tokens = weights_of_reader(draw, 7, 9, 4), draw.integers(0, 7, 3, 7)
    logits, cache = read_in_pieces(read_with_cache, weights, tokens, [3, 2, 2])
    assert_close(logits, read_all(weights, tokens), what="logits")
    assert_equal(list(cache["keys"].shape), [3, 7, 4], what="the shape of the last keys")


check(piece_by_piece_is_the_same, read_with_cache)


# %% check="the_cache_holds_the_keys_of_all_tokens" points=1
def the_cache_holds_the_keys_of_all_tokens(read_with_cache, draw):
    """Whether read at once or in pieces, the same keys and values are left in the cache."""
    weights, tokens = weights_of_reader(draw, 7, 9, 4), draw.integers(0, 7, 2, 6)
    _, cache = read_in_pieces(read_with_cache, weights, tokens, [2, 1, 3])
    x = weights["wte"][tokens] + weights["wpe"][:6]
    assert_close(cache["keys"], x @ weights["W_key"].T, what="keys")
    assert_close(cache["values"], x @ weights["W_value"].T, what="values")


check(the_cache_holds_the_keys_of_all_tokens, read_with_cache)


# %% check="the_cache_handed_over_stays_as_it_is" points=1
def the_cache_handed_over_stays_as_it_is(read_with_cache, draw):
    """Two beams can go on from one cache: a call does not change the cache that it gets."""
    weights, tokens = weights_of_reader(draw, 7, 9, 4), draw.integers(0, 7, 2, 3)
    _, cache = read_with_cache(weights, tokens, None)
    for token in (1, 5):
        new = torch.full((2, 1), token)
        logits, _ = read_with_cache(weights, new, cache)
        expected = read_all(weights, torch.cat([tokens, new], dim=1))[:, -1:]
        assert_close(logits, expected, what=f"the logits after token {token}")


check(the_cache_handed_over_stays_as_it_is, read_with_cache)


# %% check="other_texts_are_read_in_other_pieces" points=2 hidden
def other_texts_are_read_in_other_pieces(read_with_cache, draw):
    """Other texts, read in other pieces, have the logits that they have at once."""
    for sizes, batch_size, lengths in (((11, 12, 6), 2, [4, 1, 3, 1]), ((5, 8, 3), 4, [1, 4, 3])):
        weights, tokens = (
            weights_of_reader(draw, *sizes),
            draw.integers(0, sizes[0], batch_size, sum(lengths)),
        )
        logits, cache = read_in_pieces(read_with_cache, weights, tokens, lengths)
        assert_close(logits, read_all(weights, tokens), what="logits")
        kept = {"keys": cache["keys"][:1, :4], "values": cache["values"][:1, :4]}
        new = tokens[:1, 4:6]
        again, _ = read_with_cache(weights, new, kept)
        assert_close(again, logits[:1, 4:6], what="the logits after a shortened cache")


check(other_texts_are_read_in_other_pieces, read_with_cache)

# %% [markdown] written="what_a_cache_costs" points=4 minutes=10
# ### 20. What a cache costs
#
# GPT-2 small has 12 layers and D = 768; a number takes two bytes.
#
# a) How many bytes of keys and values does the cache hold for one text of 1,024 tokens? And how many for a
# beam search with 8 beams, if every beam keeps a cache of its own?
#
# b) A text grows from 1 to T tokens, one at a time. How does the number of multiplications in the attention
# layers (scores and weighted sums only) grow with T without a cache, and how with one? And that of the
# feed-forward layers?
#
# c) When a text is longer than the context length, `generate` of exercise 9 drops the oldest token at every
# step. Why does the cache of exercise 19 not help any more then? Say in one sentence what would have to be
# different about the positions.
#
# ### BEGIN SOLUTION
# a) (1 point) 2 · 12 · 768 · 1,024 numbers are 18.9 million, 37.7 MB; eight beams have 302 MB.
#
# b) (2 points) Without a cache a step at length t costs t² in attention, together T³ / 3 up to constants;
# with a cache it costs t, together T² / 2. (1 point.) The feed-forward layers read t tokens per step without
# a cache, together T² / 2, and one token per step with a cache, together T. (1 point.)
#
# c) (1 point) After the oldest token is dropped every other token stands one position further left and gets
# another row of wpe, so all keys and values change (and in deeper layers because they have read the dropped
# token). Positions would have to enter only as distances between query and key, for instance by rotation.
# ### END SOLUTION
