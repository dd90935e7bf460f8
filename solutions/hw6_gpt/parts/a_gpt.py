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
# predictions. Texts of unequal lengths are filled up with padding, behind them or in front: `mask` (B, T) is
# True at real tokens, and a prediction whose next token is padding is not judged and not counted, whatever
# its logits are, NaN included. Without a mask all tokens are real.
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


# %% check="who_knows_the_next_token_pays_nothing" points=1
def who_knows_the_next_token_pays_nothing(next_token_loss):
    """Logits that are sure of the next token cost nothing; logits that repeat the token read cost 40."""
    tokens = torch.tensor([[3, 1, 4, 0, 2], [2, 0, 3, 4, 1]])
    certain = 40 * torch.eye(5, dtype=torch.float64)
    assert_close(next_token_loss(certain[tokens.roll(-1, dims=1)], tokens), 0.0, what="who knows")
    assert_close(next_token_loss(certain[tokens], tokens), 40.0, what="who repeats")


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


# %% check="knowing_nothing_costs_ln_v" points=1
def knowing_nothing_costs_ln_v(next_token_loss):
    """Equal logits cost ln V per prediction, however many rows and positions there are."""
    for shape in ((1, 5), (4, 3)):
        tokens = torch.arange(math.prod(shape)).reshape(shape) % 7
        assert_close(next_token_loss(torch.zeros(*shape, 7, dtype=torch.float64), tokens), math.log(7))


# %% check="padding_costs_and_counts_nothing" points=1
def padding_costs_and_counts_nothing(next_token_loss, draw):
    """Padding is not judged, whatever stands there, and every prediction of a real token counts the same."""
    logits, tokens = draw.normal(3, 5, 7), draw.integers(0, 7, 3, 5)
    mask = torch.arange(5) < torch.tensor([[5], [2], [4]])
    answer = next_token_loss(logits, tokens, mask)
    judged = functional.pad(mask[:, 1:], (0, 1))
    elsewhere = torch.where(judged[..., None], logits, 3 * draw.normal(3, 5, 7))
    assert_close(next_token_loss(elsewhere, torch.where(mask, tokens, 6), mask), answer, what="other padding")
    unreadable = logits.masked_fill(~judged[..., None], math.nan)
    assert_close(next_token_loss(unreadable, tokens, mask), answer, what="NaN at the padding")
    sure = 60.0 * functional.one_hot(tokens.roll(-1, dims=1), 7)
    sure[1] = 0.0
    assert_close(next_token_loss(sure, tokens, mask), math.log(7) / 8, what="one of eight costs ln 7")
    flipped = torch.tensor([[False, True, True, True, True]]).expand(3, 5)  # a prompt that is padded in front
    first_unsure = sure.clone().index_fill(1, torch.tensor([0]), 0.0)[::2]
    padded_in_front = next_token_loss(first_unsure, tokens[::2], flipped[::2])
    assert_close(padded_in_front, math.log(7) / 4, what="padding in front: the first real word is predicted")
    assert_depends(answer, next_token_loss(logits, tokens))


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


# %% provided="drawn_weights" helper
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


# %% [markdown] exercise="CausalBlock" difficulty=3 minutes=55 forbids="course.models"
# ### 2. The causal block
#
# The block of GPT-2 is pre-norm: both of its parts read a normalised copy of $x$ and **add** what they find,
#
# $$x \leftarrow x + \mathrm{attention}(\mathrm{ln_1}(x)), \qquad
# x \leftarrow x + \mathrm{mlp}(\mathrm{ln_2}(x)).$$
#
# Attention is causal: position t attends to the positions 0 … t, itself included. One matrix `c_attn` makes
# queries, keys and values at once, **in this order**: of its 3D outputs the first D are the queries of all
# heads, the next D the keys, the last D the values. In each of them head h owns the numbers from $h d_k$ to
# $(h + 1) d_k - 1$, with $d_k = D / H$. Scores are divided by $\sqrt{d_k}$. The heads' outputs are put side by
# side again in their order and go through `c_proj`. The mlp is `c_proj(gelu(c_fc(x)))` with GPT-2's gelu, which
# is `torch.nn.functional.gelu(…, approximate="tanh")`. The norms are layer norms with $\epsilon = 10^{-5}$.
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
# `chunk(3, dim=-1)` gives queries, keys and values, (B, T, D) each. Which view cuts D into H pieces of $d_k$, and
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
# `scaled_dot_product_attention(query, key, value, is_causal=True)` wants (B, H, T, d_k) and does mask, scale and
# softmax. If it changes your answer, which of the three differs? If not, look at what stands around it.
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
        query, key, value = heads.permute(2, 0, 3, 1, 4)  # (B, H, T, d_k) each
        scores = query @ key.mT / math.sqrt(D // self.n_heads)  # (B, H, T, T)
        is_future = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1)
        weights = scores.masked_fill(is_future, -torch.inf).softmax(dim=-1)
        return self.attn["c_proj"]((weights @ value).transpose(1, 2).flatten(2))
        ### END SOLUTION


# %% check="the_block_has_the_parameters_of_gpt_2" points=1
def the_block_has_the_parameters_of_gpt_2(CausalBlock, draw):
    """The block has the twelve parameters of the table, and no others."""
    assert_equal({*CausalBlock(6, 3).gradients()}, {*weights_of_block(draw, 6)})


# %% check="without_its_output_matrices_the_block_changes_nothing" points=1
def without_its_output_matrices_the_block_changes_nothing(CausalBlock, draw):
    """With both c_proj zero, x comes out as it went in; otherwise not."""
    weights, x = weights_of_block(draw, 6), draw.normal(4, 5, 6)
    silent = {name: weight * 0 if "c_proj" in name else weight for name, weight in weights.items()}
    answer, other = (with_weights(CausalBlock(6, 3), one)(x) for one in (silent, weights))
    nothing = "With both c_proj zero your block answers 0 everywhere, so x itself did not get through."
    assert_true(bool((torch.as_tensor(answer) != 0).any()), nothing)
    assert_close(answer, x)
    assert_depends(other, x)


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


# %% check="one_block_reads_texts_of_any_length" points=1
def one_block_reads_texts_of_any_length(CausalBlock, draw):
    """A block that has read 5 positions reads 2, and then 12, of which the first have the outputs they had."""
    block, x = with_weights(CausalBlock(6, 3), weights_of_block(draw, 6)), draw.normal(2, 12, 6)
    before = block(x[:, :5])
    assert_close(block(x[:, :2]), before[:, :2], what="the outputs of 2 positions")
    assert_close(block(x)[:, :5], before, what="the first outputs of 12 positions")
    assert_depends(before[:, :4], before[:, 1:])


# %% check="the_future_gets_nothing_at_all" points=1
def the_future_gets_nothing_at_all(CausalBlock, draw):
    """However low the scores of what a position may see, later positions get no weight."""
    weights, x = weights_of_block(draw, 6), draw.normal(4, 5, 6)
    weights["attn.c_attn.weight"][:12] *= 40  # scores of hundreds, below zero and above
    block, other = with_weights(CausalBlock(6, 3), weights), x.clone()
    other[:, 3:] = draw.normal(4, 2, 6)
    before, after = block(x), block(other)
    assert_close(after[:, :3], before[:, :3], what="the outputs before position 3")
    assert_depends(after[:, 3:], before[:, 3:])


# %% check="the_rows_of_a_batch_do_not_mix" points=1
def the_rows_of_a_batch_do_not_mix(CausalBlock, draw):
    """Each row of a batch has the output that it has alone."""
    block, x = with_weights(CausalBlock(8, 2), weights_of_block(draw, 8)), draw.normal(3, 5, 8)
    together = block(x)
    for row in range(3):
        assert_close(together[row : row + 1], block(x[row : row + 1]), what=f"row {row}")
    assert_depends(together[0], together[1])


# %% check="each_head_uses_its_own_numbers" points=1
def each_head_uses_its_own_numbers(CausalBlock, draw):
    """Where c_proj uses head 1 only, other queries and keys for heads 0 and 2 change nothing."""
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


# %% check="the_block_agrees_with_the_courses" points=2
def the_block_agrees_with_the_courses(CausalBlock, draw):
    """With the same parameters the block of the course gives the same output."""
    weights, x = weights_of_block(draw, 6), draw.normal(4, 5, 6)
    assert_close(with_weights(CausalBlock(6, 2), weights)(x), courses_block(weights, 2)(x))


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


# %% [markdown] exercise="GPT" difficulty=3 minutes=30 forbids="course.models"
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
# The output needs no layer of its own, because `wte.weight` (V, D) does the work. What is a linear layer without
# bias, written as a product?
#
# </details>


# %% alive="a_drawing_gpt"
from course import figures

figures.machine("gpt")  # step by step


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
    assert_equal({*GPT(3, 5, 6, 2, 2).gradients()}, {*weights_of_gpt(draw, 3, 5, 6, 2)})


# %% check="a_new_gpt_finds_all_words_about_equally_likely" points=1
def a_new_gpt_finds_all_words_about_equally_likely(GPT, draw):
    """Before any training, 96 random words cost ln 50 each, give or take 0.5."""
    tokens = draw.integers(0, 50, 12, 8)
    log_probs = answer_of_new(GPT(50, 8, 16, 4, 2), tokens).double().log_softmax(-1)
    loss = -log_probs.gather(-1, draw.integers(0, 50, 12, 8)[..., None]).mean().item()
    message = f"A new model's loss is {loss:.2f}, where ln 50 is {math.log(50):.2f}."
    assert_true(abs(loss - math.log(50)) < 0.5, message)


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


# %% check="the_same_word_elsewhere_has_other_logits" points=1
def the_same_word_elsewhere_has_other_logits(GPT, draw):
    """In a row of equal tokens every position has logits of its own, and equal rows have equal logits."""
    logits = with_weights(GPT(7, 5, 6, 2, 1), weights_of_gpt(draw, 7, 5, 6, 1))(torch.full((3, 4), 2))
    for t in range(3):
        assert_depends(logits[0, t], logits[0, t + 1])
    assert_close(logits[1:], logits[:-1], what="the logits of equal rows")


# %% check="future_tokens_do_not_change_past_logits" points=1
def future_tokens_do_not_change_past_logits(GPT, draw):
    """A shorter text has the first logits of the longer one."""
    model = with_weights(GPT(7, 6, 6, 2, 2), weights_of_gpt(draw, 7, 6, 6, 2))
    tokens = torch.tensor([[3, 0, 1, 6, 2, 2], [5, 2, 5, 4, 4, 1]])
    whole = model(tokens)
    for T in (1, 3, 5):
        assert_close(model(tokens[:, :T]), whole[:, :T], what=f"the logits of the first {T} tokens")
    assert_depends(whole[:, :5], whole[:, 1:])


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


# %% check="the_gpt_agrees_with_the_courses" points=2
def the_gpt_agrees_with_the_courses(GPT, draw):
    """With the same parameters the GPT of the course gives the same logits."""
    weights, tokens = weights_of_gpt(draw, 7, 5, 6, 3), torch.tensor([[3, 0, 1, 6], [5, 2, 5, 4]])
    assert_close(with_weights(GPT(7, 5, 6, 2, 3), weights)(tokens), courses_gpt(weights, 2).logits(tokens))


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


# %% provided="checkpoints" helper
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


# %% [markdown] exercise="gpt2_weights" difficulty=2 minutes=25 forbids="course.models,transformers" exempt="gradient"
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
        assert_equal({*answer}, {*expected}, what=f"names that began with {prefix!r}")


# %% check="the_shapes_are_the_gpts" points=1
def the_shapes_are_the_gpts(gpt2_weights, draw):
    """Every tensor has the shape of the parameter it is for."""
    answer = gpt2_weights(drawn_checkpoint(draw, 7, 5, 4, 1))
    expected = shapes_of(weights_of_gpt(draw, 7, 5, 4, 1))
    assert_equal({name: shape for name, shape in shapes_of(answer).items() if name in expected}, expected)


# %% check="embeddings_norms_and_biases_stay_as_they_are" points=1
def embeddings_norms_and_biases_stay_as_they_are(gpt2_weights, draw):
    """What is no matrix of a block comes out as it went in."""
    for _ in range(2):
        checkpoint = drawn_checkpoint(draw, 5, 5, 5, 1)
        answer = gpt2_weights(checkpoint)
        for name in ("wte.weight", "wpe.weight", "h.0.ln_1.weight", "h.0.attn.c_attn.bias", "ln_f.bias"):
            assert_close(answer[name], checkpoint[f"transformer.{name}"], what=f"the tensor {name}")


# %% check="the_checkpoint_has_the_same_logits_in_your_gpt" points=3
def the_checkpoint_has_the_same_logits_in_your_gpt(gpt2_weights, GPT, draw):
    """Your GPT of exercise 3 has, with these weights, the logits that the course's GPT has with them."""
    checkpoint, tokens = drawn_checkpoint(draw, 7, 5, 4, 2), torch.tensor([[3, 0, 1, 6], [5, 2, 5, 4]])
    weights = weights_of_gpt(draw, 7, 5, 4, 2)
    answer = torch.as_tensor(with_weights(GPT(7, 5, 4, 2, 2), weights)(tokens)).detach()
    translated = with_weights(GPT(7, 5, 4, 2, 2), gpt2_weights(checkpoint))(tokens)
    is_right = same(answer, courses_gpt(weights, 2).logits(tokens).detach())
    assert_true(
        is_right, "Your GPT of exercise 3 is not right yet; without it gpt2_weights cannot be tried out."
    )
    assert_close(translated, logits_of_checkpoint(checkpoint, 2, tokens))


# %% check="other_checkpoints_are_translated" points=2 hidden
def other_checkpoints_are_translated(gpt2_weights, draw):
    """Checkpoints of other sizes become the weights that they were made of."""
    for sizes, prefix in (((5, 4, 10, 3), ""), ((13, 6, 4, 1), "transformer.")):
        checkpoint = drawn_checkpoint(draw, *sizes, prefix)
        names = weights_of_gpt(draw, *sizes)
        answer = gpt2_weights(checkpoint)
        assert_equal({*answer}, {*names}, what="names")
        for name in names:
            stored = checkpoint[prefix + name]
            assert_close(
                answer[name], stored.mT if name.endswith(CONV1D) else stored, what=f"the tensor {name}"
            )


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
    own.load_state_dict(gpt2_weights(theirs.state_dict()), strict=False)  # a mask of yours has no weights
    tokens = torch.randint(config.vocab_size, (2, 20), generator=torch.Generator().manual_seed(0))
    return float((own(tokens) - theirs(tokens).logits).abs().max())


# %% [markdown]
# Where the package `transformers` is installed, `largest_difference_from_transformers(GPT, gpt2_weights)`
# compares your GPT with theirs, both with the same random weights, and should return less than $10^{-10}$.
# With a third argument, `"gpt2"`, it fetches the real weights (half a gigabyte): your GPT then is GPT-2.
