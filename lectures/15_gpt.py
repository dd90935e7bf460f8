# %% [markdown]
# # 15 · The decoder: GPT
#
# **You will be able to**
#
# - say what a decoder must not see, and show with a gradient that it does not;
# - put minus infinity in the right place, and explain why a zero, or masking after the softmax, is wrong;
# - write a GPT in fewer than seventy lines, train it to within two percent of what is possible, and see where it looks;
# - generate with a cache of keys and values, and say what it saves and what it costs;
# - load a GPT-2 checkpoint into your own module, and read the table of GPT-3.
#
# *40 minutes to read, under 90 seconds to run, most of it one training. Before this: [14 · The Transformer block](14_transformer_block.ipynb).*
#
# **The question of the day:** attention looks everywhere. How can you train it to predict the next word without showing it that word?

# %% setup

# %%
import importlib.util
import json
import math
import os
import tempfile
import textwrap
import time
from dataclasses import dataclass
from pathlib import Path

import matplotlib.pyplot as plt
import torch
from torch import nn
from torch.nn import functional as F

from course import figures
from course.data.shuffling import ShuffledStories
from course.data.story_language import StoryLanguage
from course.evaluation import score, target_nll
from course.models import rotate
from course.training import TrainingConfig, best_device, train

is_full = os.environ.get("COURSE_SCALE") == "full"  # the real size, for a GPU
if not is_full:
    torch.set_num_threads(1)  # with matrices this small, one core is faster than several

# %% [markdown]
# ## One purpose
#
# The **G**enerative **P**re-trained **T**ransformer does one thing: it generates the next token. It is lecture 01's chain rule with the best context so far:
#
# $$P(x_1, x_2, \dots, x_T) = P(x_1) \prod_{t=2}^{T} P(x_t \mid x_1, x_2, \dots, x_{t-1}),$$
#
# for instance
#
# $$\begin{aligned} P(\text{learning deep learning is fun}) ={} & P(\text{learning}) \cdot P(\text{deep} \mid \text{learning}) \\ & \cdot P(\text{learning} \mid \text{learning deep}) \\ & \cdot P(\text{is} \mid \dots) \cdot P(\text{fun} \mid \dots). \end{aligned}$$
#
# Training makes the logarithm of this product as large as possible on real texts, all its factors at once. For a story of our language:

# %%
language = StoryLanguage()
vocabulary, V = language.vocabulary, language.vocab_size
beginning = "nora had cups , hats , cats , pears and books ."
story = torch.tensor([vocabulary.encode(beginning.split(), bos=True)])
factors = language(story[:, :-1]).gather(-1, story[:, 1:, None]).exp().flatten()
read_out = zip(language.read(story[0]).split(), factors, strict=True)
print(textwrap.fill(" · ".join(f"P({word}|…) {p:.2f}" for word, p in read_out), 100))
print(f"P(beginning) = {factors.prod():.1e} = exp({factors.log().sum():.1f})")

# %% [markdown]
# And for the example, from lecture 01's real model SmolLM2, which is a decoder of the kind that this lecture builds (its answers are recorded; where its package is installed, `predict` takes any text). A word may be more than one token.

# %%
from course.pretrained import predict

sentence = predict("", "Learning deep learning is fun")
print(" · ".join(f"P({token.text.strip()}|…) {token.probability:.1e}" for token in sentence.followed))
print(f"P(sentence) = {sentence.probability:.1e}")
assert sentence.followed[2].probability > 100 * sentence.followed[0].probability

# %% [markdown]
# ## No cheating
#
# An RNN could not look ahead: at step $t$ the rest of the text had not been read. Attention reads all of it at once, and the word to be predicted at position $t$ is in the input, at position $t + 1$. Self-attention without a mask would learn only to copy it. So each position may attend only to itself and to
# the positions on its left.
#
# | symbol | meaning | shape |
# |---|---|---|
# | $B, T, D$ | texts at once, positions, width | |
# | $H, d_k$ | heads, width of a head, $D = H d_k$ | |
# | $q_i, k_j, v_j$ | query, key, value of a position | $(d_k)$ |
# | $s_{ij} = q_i \cdot k_j / \sqrt{d_k}$ | score of position $j$ for the query at position $i$ | $(B, H, T, T)$ |
# | $m_{ij}$ | mask: $0$ where $j \le i$, $-\infty$ where $j > i$ | $(T, T)$ |
# | $\alpha_{ij}$ | weight, the softmax of $s_{ij} + m_{ij}$ over $j$ | $(B, H, T, T)$ |
#
# Take five tokens, one head and a loop: position $i$ takes its softmax over the scores up to $i$, and the rest of the row is zero.

# %%
words = ["learning", "deep", "learning", "is", "fun"]
T, d_k = 5, 3
generator = torch.Generator().manual_seed(0)
q, k, v = torch.randn(3, T, d_k, generator=generator)
weights = torch.zeros(T, T)
for i in range(T):
    weights[i, : i + 1] = (k[: i + 1] @ q[i] / math.sqrt(d_k)).softmax(0)
figures.attention(weights, words, caption="No weight above the diagonal: nobody looks to the right.")

# %% [markdown]
# In tensors there is one softmax for all rows, so the future must be excluded before it: its scores become $-\infty$, and $e^{-\infty} = 0$.

# %%
scores = q @ k.T / math.sqrt(d_k)  # (T, T)
future = torch.ones(T, T, dtype=torch.bool).triu(diagonal=1)  # True above the diagonal
masked = scores.masked_fill(future, -torch.inf)
assert torch.allclose(masked.softmax(-1), weights)
masked

# %% [markdown]
# Lecture 12 set the *weights* of the future to 0 after the softmax, and the sums of the rows gave it away. **Predict, then run.** What if the *scores* of the future are set to 0 before the softmax? Do the rows sum to one, and how much weight does the future get?

# %%
ways = {
    "score 0 before": scores.masked_fill(future, 0.0).softmax(-1),
    "weight 0 after": scores.softmax(-1).masked_fill(future, 0.0),
    "score −∞ before": masked.softmax(-1),
}
for name, found in ways.items():
    print(
        f"{name:16} row sums {' '.join(f'{row:.2f}' for row in found.sum(-1))}  weight on the future {found[future].sum():.2f}"
    )

# %% [markdown]
# <details><summary>Answer</summary>
#
# The rows sum to one, but a score of 0 is an ordinary score, $e^0 = 1$: every word of the future gets a weight, in each row the same for all of them.
#
# </details>
#
# Only $-\infty$ before the softmax treats the future as if it did not exist. (Some drawings mask "the current and the right context". They belong to a picture in
# which the sequence has already been shifted by one; here position $i$ predicts token $i + 1$, so it may see token $i$.)
#
# ## A GPT in fewer than seventy lines
#
# A GPT consists of multi-head attention (lecture 13), the block in pre-norm order (lecture 14), and token embeddings that are used twice, at the input and at the output. The argument `cache` is for later.
#
# The sum that runs through all blocks, to which every layer adds its result, is called the **residual stream**.
#
# Before the code comes the drawing, with GPT-2's learned positions.

# %%
figures.machine("gpt")

# %% [markdown]
# **A question:** which of these boxes would look different in an encoder?
#
# <details><summary>Answer</summary>
#
# Only the weights: the triangle above the diagonal would be filled as well. Every shape stays. What would differ is the task: a model that sees the next word cannot be trained to predict it (lecture 17 says what an encoder predicts instead).
#
# </details>


# %%
@dataclass(frozen=True)
class Sizes:
    """What must be known to build the model."""

    vocab_size: int
    context_length: int
    d_model: int = 64
    n_heads: int = 4
    n_layers: int = 2
    is_rotary: bool = True  # positions as rotations (lecture 13); False: a learned vector each, as in GPT-2
    is_causal: bool = True
    deviation: float = 0.1  # of the first weights; GPT-2, much wider, takes 0.02


# %%
class Attention(nn.Module):
    """H heads of self-attention; each position looks at itself and to the left."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.sizes, D = sizes, sizes.d_model
        self.W_query, self.W_key, self.W_value, self.W_output = (nn.Linear(D, D) for _ in range(4))

    def forward(self, x, cache=None):
        B, T, D = x.shape
        q, k, v = (
            W(x).view(B, T, self.sizes.n_heads, -1).transpose(1, 2)
            for W in (self.W_query, self.W_key, self.W_value)
        )  # (B, H, T, d_k)
        if self.sizes.is_rotary:
            first = 0 if cache is None else cache.length
            q, k = rotate(q, first), rotate(k, first)
        if cache is not None:
            k, v = cache.append(k, v)  # (B, H, all positions so far, d_k)
        is_causal = self.sizes.is_causal and T > 1  # a single new position may see all that is cached
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=is_causal)  # (B, H, T, d_k)
        return self.W_output(mixed.transpose(1, 2).reshape(B, T, D))


# %%
class Block(nn.Module):
    """x + attention(norm(x)), then x + mlp(norm(x))."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        D = sizes.d_model
        self.norm_attention, self.norm_feed_forward = nn.LayerNorm(D), nn.LayerNorm(D)
        self.attention = Attention(sizes)
        self.expand, self.contract = nn.Linear(D, 4 * D), nn.Linear(4 * D, D)

    def forward(self, x, cache=None):
        x = x + self.attention(self.norm_attention(x), cache)
        return x + self.contract(F.gelu(self.expand(self.norm_feed_forward(x)), approximate="tanh"))


# %%
class Decoder(nn.Module):
    """Tokens (B, T) → log-probabilities of the next token at every position (B, T, V)."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.sizes, self.vocab_size, self.context_length = sizes, sizes.vocab_size, sizes.context_length
        self.embedding = nn.Embedding(sizes.vocab_size, sizes.d_model)
        self.positions = None if sizes.is_rotary else nn.Embedding(sizes.context_length, sizes.d_model)
        self.blocks = nn.ModuleList(Block(sizes) for _ in range(sizes.n_layers))
        self.norm = nn.LayerNorm(sizes.d_model)
        for name, parameter in self.named_parameters():
            if parameter.ndim == 2:  # what is added to the residual stream begins smaller
                is_added = "W_output" in name or "contract" in name
                nn.init.normal_(
                    parameter, std=sizes.deviation / (math.sqrt(2 * sizes.n_layers) if is_added else 1)
                )

    def forward(self, tokens, caches=None):
        caches = caches or [None] * len(self.blocks)
        first = 0 if caches[0] is None else caches[0].length
        x = self.embedding(tokens)  # (B, T, D)
        if self.positions is not None:
            x = x + self.positions.weight[first : first + tokens.shape[1]]
        for block, cache in zip(self.blocks, caches, strict=True):
            x = block(x, cache)
        return (self.norm(x) @ self.embedding.weight.T).log_softmax(-1)


# %% [markdown]
# PyTorch's `scaled_dot_product_attention` does what the cells above did, in one call. Check it with our five tokens:

# %%
assert torch.allclose(
    F.scaled_dot_product_attention(q[None], k[None], v[None], is_causal=True)[0], weights @ v, atol=1e-6
)
torch.manual_seed(0)
small = Decoder(Sizes(V, 16))
print(f"{sum(parameter.numel() for parameter in small.parameters()):,} parameters")

# %% [markdown]
# **Does the future reach the past?** The gradient can tell. Which input positions does the output at each position depend on?


# %%
def influence(model: Decoder, T: int = 6) -> torch.Tensor:
    """(T, T): |∂ answer at position i / ∂ embedding at position j|."""
    x = torch.randn(1, T, model.sizes.d_model, generator=torch.Generator().manual_seed(1)).requires_grad_()
    hidden = x
    for block in model.blocks:
        hidden = block(hidden)
    rows = [
        torch.autograd.grad(hidden[0, i].sum(), x, retain_graph=True)[0][0].norm(dim=-1) for i in range(T)
    ]
    return torch.stack(rows)


print((influence(small) > 0).int())
assert (influence(small).triu(diagonal=1) == 0).all()

# %% [markdown]
# There are only zeros above the diagonal, through all layers: the output at position $i$ cannot depend on what comes after it. And what happens without the mask? Two models get the same beginnings of stories and the same few steps. **Predict, then run:** what is the loss of the one that may look ahead, and what does it write?

# %%
stories = language.sample(200_000 if is_full else 18_000, torch.Generator().manual_seed(1))
test_stories = language.sample(1000, torch.Generator().manual_seed(0))


def beginnings(step: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The first 14 tokens of 32 stories, and each one's next token."""
    tokens = stories.tokens[32 * step : 32 * (step + 1), :15]
    return tokens[:, :-1], tokens[:, 1:]


# %% trained
n_steps, losses = 300 if is_full else 150, {}
for is_causal in (True, False):
    torch.manual_seed(0)
    tried = Decoder(Sizes(V, 16, is_causal=is_causal))
    history = train(tried, beginnings, TrainingConfig(n_steps, learning_rate=5e-3), device=best_device())
    tried.cpu()
    losses[is_causal] = sum(history.losses[-10:]) / 10
    text = story[:, :1]
    with torch.no_grad():
        for _ in range(12):
            text = torch.cat([text, tried(text)[:, -1].argmax(-1, keepdim=True)], dim=1)
    print(f"{'with' if is_causal else 'without'} the mask: loss {losses[is_causal]:.2f} nats, writes:")
    print(textwrap.fill(language.read(text[0]), 100), "\n")

# %%
last = [beginnings(step) for step in range(n_steps - 10, n_steps)]  # the same ten batches
possible = sum(target_nll(language(inputs), targets).mean() for inputs, targets in last) / 10
print(f"the true language itself pays {possible:.2f} nats")
assert losses[False] < possible < losses[True]

# %% [markdown]
# A loss below the floor must be an error: the model has learned to copy the next token, which does not exist when it generates.
#
# ## Training
#
# Nothing is new here: it is the training loop of lecture 05, with all positions of all stories at once.

# %%
sizes = Sizes(V, language.longest_story, d_model=128 if is_full else 64)
config = TrainingConfig(n_steps=12_000 if is_full else 1600, learning_rate=5e-3, weight_decay=0.1)
torch.manual_seed(0)
model = Decoder(sizes)
history = train(model, ShuffledStories(stories, 16), config, device=best_device())
model.cpu()
floor = score(language, test_stories)
reached = score(model, test_stories)
print(
    f"floor {floor.bits_per_token:.4f}, GPT {reached.bits_per_token:.4f} bits per token: {reached.percent_above(floor):.2f} % above what is possible"
)
assert reached.percent_above(floor) < 2

# %%
smooth = torch.tensor(history.losses).unfold(0, 20, 20).mean(-1) / math.log(2)  # means of 20 steps, in bits
assert smooth[10] - floor.bits_per_token < 0.1 * (smooth[0] - floor.bits_per_token)  # after 210 steps

# %%
drawing, axes = plt.subplots(figsize=(6, 3))
axes.plot(torch.arange(len(smooth)) * 20 + 10, smooth, color="#0072B2", label="training loss")
axes.axhline(floor.bits_per_token, color="#D55E00", linestyle="--", label=f"floor {floor.bits_per_token:.2f}")
axes.set(xlabel="step", ylabel="bits per token", ylim=(1.3, 3))
axes.legend(frameon=False)
figures.still(
    drawing,
    alt="Training loss in bits per token by step: "
    + ", ".join(
        f"{smooth[i]:.2f} at {20 * i + 10}"
        for i in (0, len(smooth) // 8, len(smooth) // 4, len(smooth) // 2, len(smooth) - 1)
    )
    + f"; the floor is {floor.bits_per_token:.2f}.",
    caption="Most of the way takes a few hundred steps, the rest takes all the others.",
)

# %% [markdown]
# Lecture 09's LSTM lost most bits on the things that recur. Here are the bits above the floor, by the kind of word that came next:

# %%
from course.ladder.kinds import bits_by_kind

few = language.sample(200, torch.Generator().manual_seed(2))
read, following = few.tokens[:, :-1], few.tokens[:, 1:]
with torch.no_grad():
    paid, truth = (target_nll(each(read), following) for each in (model, language))
above = bits_by_kind(paid, truth, few, language)
for kind in ("verbs", "she, he", "quotes", "things"):
    print(f"{kind:8} {above[kind]:6.3f} bits above the floor")

# %% [markdown]
# Values slightly below zero are possible here, because we look only at positions where such a word did come. A model that expects *she* slightly too often gains where *she* comes, and loses where it does not. Over all positions together no model is below the floor, except by luck.
#
# ## Where it looks
#
# After a verb comes the thing that belongs to it, and the introduction named that thing. Where does the first layer look from the last word, "fed"? The heads are sorted by the weight that they give to "cats":


# %%
def attention_of(model: Decoder, layer: int, tokens: torch.Tensor) -> torch.Tensor:
    """The weights (H, T, T) of one layer for a text (1, T)."""
    x = model.embedding(tokens)
    for block in model.blocks[:layer]:
        x = block(x)
    attention, x = model.blocks[layer].attention, model.blocks[layer].norm_attention(x)
    q, k = (
        rotate(W(x).view(1, len(tokens[0]), model.sizes.n_heads, -1).transpose(1, 2))
        for W in (attention.W_query, attention.W_key)
    )
    future = torch.ones(q.shape[2], q.shape[2], dtype=torch.bool).triu(diagonal=1)
    return (q @ k.mT / math.sqrt(q.shape[-1])).masked_fill(future, -torch.inf).softmax(-1)[0]


# %%
text = "nora had cups , hats , cats , pears and books . the king sings . she read books and fed"
tokens = torch.tensor([vocabulary.encode(text.split(), bos=True)])
with torch.no_grad():
    maps = attention_of(model, 0, tokens)
    expected = model(tokens)[0, -1].exp().topk(3)
print(
    "after 'fed':",
    {vocabulary.word(int(i)): round(p, 3) for p, i in zip(*map(torch.Tensor.tolist, expected), strict=True)},
)
at_cats = maps[:, -1, 1 + text.split().index("cats")]  # (H)
print(
    "weight of 'fed' on 'cats', head by head:", *(f"{w:.2g}" for w in sorted(at_cats.tolist(), reverse=True))
)
assert (at_cats > 0.3).sum() == 1
shown = ["<s>", *text.split()]
figures.attention(
    maps[at_cats.argsort(descending=True)],
    shown,
    start=(0, len(shown) - 1),
    caption="The last row is “fed”. Choose another head: only the first one finds the cats from there.",
)

# %% [markdown]
# A single head is enough. An RNN would have to carry five things in its state through every word in between; here the verb's query matches the thing's key, however many words lie between them.
#
# ## Generating with a KV cache
#
# To write 60 words, the loop of lecture 07 would call the model 60 times on a growing text, and each call would compute the keys and values of all the old words again. They cannot have changed: no position attends to its right, so nothing at an old position depends on the new word. **Keep them**, in a **KV cache**. Then each step feeds in one token only.

# %%
example = "nora had cups , hats and cats . she fed cats ."
figures.kv_cache(example.split(), 5, n_layers=2, d_model=64)


# %%
class LayerCache:
    """Keys and values of one layer, for all positions so far: the KV cache."""

    def __init__(self) -> None:
        self.keys = self.values = None

    @property
    def length(self) -> int:
        return 0 if self.keys is None else self.keys.shape[2]

    def append(self, k, v):
        self.keys = k if self.keys is None else torch.cat([self.keys, k], dim=2)
        self.values = v if self.values is None else torch.cat([self.values, v], dim=2)
        return self.keys, self.values


# %% [markdown]
# Word by word with a cache, or the whole text at once: the outputs must be the same.

# %%
caches = [LayerCache() for _ in model.blocks]
with torch.no_grad():
    one_by_one = torch.cat([model(tokens[:, t : t + 1], caches) for t in range(tokens.shape[1])], dim=1)
    at_once = model(tokens)
assert torch.allclose(one_by_one, at_once, atol=1e-4)
print(
    f"largest difference below 1e-4; each layer has cached {caches[0].length} positions of width {sizes.d_model}, twice"
)


# %%
@torch.no_grad()
def write(model: Decoder, text: torch.Tensor, n_tokens: int, has_cache: bool) -> torch.Tensor:
    """Append the most probable token n times to texts (B, T)."""
    caches = [LayerCache() for _ in model.blocks] if has_cache else None
    new = text
    for _ in range(n_tokens):
        log_probs = model(new if has_cache else text, caches)[:, -1]
        new = log_probs.argmax(-1, keepdim=True)
        text = torch.cat([text, new], dim=1)
    return text


# %%
prompts = test_stories.tokens[:16, :13]
written = {}
for has_cache in (False, True):
    began = time.perf_counter()
    written[has_cache] = write(model, prompts, 80, has_cache)
    print(f"{'with' if has_cache else 'without'} a cache: {time.perf_counter() - began:.2f} s")
assert written[True].equal(written[False])
first = written[True][0].tolist()
print(textwrap.fill(" ".join(vocabulary.decode(first[: first.index(vocabulary.eos)])), 100))

# %% [markdown]
# With $T$ tokens, the cache saves work: $T$ tokens instead of about $\tfrac12 T^2$ pass through all the matrices. It costs memory: two vectors per layer and token. For GPT-3 and one text of its full 2048 tokens, lecture 14 found 9.7 GB, with two bytes per number. **Predict, then run:** from how many such texts on does the cache take more memory than the 175 billion parameters?

# %%
from course.models.ledger import GPT3, cache_bytes

in_bytes = 2 * 96 * 2048 * 12_288 * 2  # keys and values · layers · tokens · width · bytes
assert cache_bytes(GPT3, bytes_per_number=2) == in_bytes
n_texts = math.ceil(2 * 175e9 / in_bytes)
figures.prediction(
    "From how many texts on is GPT-3's cache larger than GPT-3?",
    n_texts,
    between=(1, 10_000),
    is_logarithmic=True,
    unit="texts",
)

# %%
print(f"{2 * 175:.0f} GB of parameters, {in_bytes / 1e9:.1f} GB for each text: from {n_texts} texts on")

# %% [markdown]
# ## GPT-2 in our own module
#
# The weights of GPT-2 (Radford and others, 2019) are public, in a layout that has become a standard: a folder with `config.json` and `model.safetensors`, a list of named arrays. If our module is really a GPT-2, it must be able to load them. Because this page must run without a network, we make a small folder of that layout with random weights: with the `transformers` library if it is installed, otherwise by writing
# the arrays ourselves. Set `COURSE_GPT2` to the folder of a real checkpoint to use that.

# %%
folder = Path(os.environ.get("COURSE_GPT2") or tempfile.mkdtemp())
their_config = {
    "model_type": "gpt2",
    "vocab_size": 97,
    "n_positions": 40,
    "n_embd": 48,
    "n_head": 3,
    "n_layer": 2,
}
their_config |= {
    "activation_function": "gelu_new",
    "layer_norm_epsilon": 1e-5,
    "bos_token_id": 0,
    "eos_token_id": 0,
}
has_transformers = importlib.util.find_spec("transformers") is not None


# %%
def write_checkpoint(folder: Path, config: dict) -> None:
    """Random weights in GPT-2's layout: matrices are (inputs, outputs); c_attn holds query, key and value."""
    from safetensors.torch import save_file

    D, draw = config["n_embd"], torch.Generator().manual_seed(2)
    shapes = {"wte.weight": (config["vocab_size"], D), "wpe.weight": (config["n_positions"], D)}
    matrices = {
        "attn.c_attn": (D, 3 * D),
        "attn.c_proj": (D, D),
        "mlp.c_fc": (D, 4 * D),
        "mlp.c_proj": (4 * D, D),
    }
    for h in range(config["n_layer"]):
        for name, (n_in, n_out) in matrices.items():
            shapes |= {f"h.{h}.{name}.weight": (n_in, n_out), f"h.{h}.{name}.bias": (n_out,)}
        shapes |= {f"h.{h}.ln_{n}.{part}": (D,) for n in (1, 2) for part in ("weight", "bias")}
    shapes |= {"ln_f.weight": (D,), "ln_f.bias": (D,)}
    save_file(
        {name: torch.randn(shape, generator=draw) / 4 for name, shape in shapes.items()},
        folder / "model.safetensors",
    )
    (folder / "config.json").write_text(json.dumps(config))


# %%
if "COURSE_GPT2" not in os.environ and has_transformers:
    from transformers import GPT2Config, GPT2LMHeadModel, logging

    logging.set_verbosity_error()
    logging.disable_progress_bar()
    torch.manual_seed(2)
    GPT2LMHeadModel(GPT2Config(**their_config)).save_pretrained(folder)
elif "COURSE_GPT2" not in os.environ:
    write_checkpoint(folder, their_config)
their_config = json.loads((folder / "config.json").read_text())
print(sorted(path.name for path in folder.iterdir() if path.name in ("config.json", "model.safetensors")))

# %% [markdown]
# Now translate their names into ours. There are two traps: GPT-2 stores its matrices transposed, $(\text{inputs}, \text{outputs})$, and it stores query, key and value side by side in one matrix.

# %%
from safetensors.torch import load_file

OURS = {
    "wte": "embedding",
    "wpe": "positions",
    "ln_f": "norm",
    "ln_1": "norm_attention",
    "ln_2": "norm_feed_forward",
}
OURS |= {"attn.c_proj": "attention.W_output", "mlp.c_fc": "expand", "mlp.c_proj": "contract"}

# %%
found = {}
for their_name, array in load_file(folder / "model.safetensors").items():
    module, _, part = their_name.removeprefix("transformer.").rpartition(".")
    prefix, name = (
        ("", module)
        if not module.startswith("h.")
        else (f"blocks.{module.split('.')[1]}.", module.split(".", 2)[2])
    )
    array = (
        array.T if "c_" in name and array.ndim == 2 else array
    )  # (inputs, outputs) → (outputs, inputs); a bias stays as it is
    if name == "attn.c_attn":
        for matrix, piece in zip(("query", "key", "value"), array.chunk(3), strict=True):
            found[f"{prefix}attention.W_{matrix}.{part}"] = piece
    elif name in OURS:  # the rest: buffers of old versions, and the output matrix, which is the embedding
        found[f"{prefix}{OURS[name]}.{part}"] = array

# %%
gpt2 = Decoder(
    Sizes(
        their_config["vocab_size"],
        their_config["n_positions"],
        their_config["n_embd"],
        their_config["n_head"],
        their_config["n_layer"],
        is_rotary=False,
    )
)
gpt2.load_state_dict(found)  # strict: no name too few, none too many
tokens = torch.randint(their_config["vocab_size"], (2, 11), generator=torch.Generator().manual_seed(3))
with torch.no_grad():
    ours = gpt2(tokens)
if has_transformers:
    from transformers import GPT2LMHeadModel

    with torch.no_grad():
        theirs = GPT2LMHeadModel.from_pretrained(folder)(tokens).logits.log_softmax(-1)
    assert torch.allclose(ours, theirs, atol=1e-4)
print("loaded; every weight has found its place")

# %% [markdown]
# **Predict, then run.** Suppose you forget to transpose the square matrix `attn.c_proj`. Does loading fail?

# %%
turned = found | {name: array.T for name, array in found.items() if "W_output.weight" in name}
gpt2.load_state_dict(turned)
with torch.no_grad():
    print(
        "it loads, and the answers are off by",
        "more than 0.1" if (gpt2(tokens) - ours).abs().max() > 0.1 else "nothing",
    )
_ = gpt2.load_state_dict(found)

# %% [markdown]
# <details><summary>Answer</summary>
#
# No: a square matrix fits either way.
#
# </details>
#
# A checkpoint is loaded correctly when the *outputs* agree with a known implementation, not when the shapes do.
#
# ## GPT-3
#
# GPT-3 (Brown and others, 2020) is GPT-2 made wider and deeper; every other layer attends only to a band of recent words (its section 2.1). The columns of sizes are quoted from its table 2.1; the parameters are counted by lecture 14's ledger from the sizes. (Two rows cannot be right as they are printed: 5140 is no multiple of 40 heads, and 24 heads of width 128 are not 2048. For the count only the width matters.)

# %%
from course.models.ledger import GPTConfig, gpt_ledger

quoted = {  # layers, width, heads, parameters as printed
    "Small": (12, 768, 12, "125M"), "Medium": (24, 1024, 16, "350M"), "Large": (24, 1536, 16, "760M"),
    "XL": (24, 2048, 24, "1.3B"), "2.7B": (32, 2560, 32, "2.7B"), "6.7B": (32, 4096, 32, "6.7B"),
    "13B": (40, 5140, 40, "13.0B"), "175B": (96, 12_288, 96, "175.0B"),
}  # fmt: skip
for name, (n_layers, d_model, n_heads, printed) in quoted.items():
    n = gpt_ledger(GPTConfig(50_257, 2048, d_model, 1, n_layers)).n_parameters
    print(
        f"{name:7} L {n_layers:3}  D {d_model:6}  H {n_heads:3}   counted {n / 1e9:8.3f} B   printed {printed}"
    )

# %% [markdown]
# The largest has 96 layers, 96 heads of width 128, embeddings of 12,288 and contexts of 2048 tokens, and was trained on 300 billion tokens (all quoted). With six operations per parameter and token (lecture 14) its training cost

# %%
operations = 6 * gpt_ledger(GPT3).n_parameters * 300e9
print(f"{operations:.2e} operations; the paper says 3.14e+23")
assert abs(operations / 3.14e23 - 1) < 0.01
ours_cost = 6 * sum(p.numel() for p in model.parameters()) * 16 * 58 * config.n_steps
print(f"ours: about {ours_cost:.0e}, for a language with {V} words")

# %% [markdown]
# ## Shakespeare once more
#
# The stories are simple. Lecture 07's RNN also read Tiny Shakespeare, character by character. Here is what a GPT with
# four blocks wrote after 1, 10 and 100 % of its steps, with the settings that nanoGPT recommends for a laptop. It is
# the record of `python -m course.shakespeare`, which takes twenty minutes on one core.

# %%
from course import shakespeare

recorded = shakespeare.read_recorded()
for step, written_then in recorded["cpu"]["samples"].items():
    print(f"after {int(step):,} steps:\n{written_then}\n{'-' * 88}")

# %% [markdown]
# It learns in the order in which the RNN did: frequent letters, lengths and spelling, the form of a play. **Predict, then run.** Both were
# measured on the same held-out tenth of the text. Which is ahead at the end?

# %%
n_read, in_bits = {}, {}
for name, run in {"RNN": recorded["rnn"], "GPT": recorded["cpu"]}.items():
    setting, (n_steps_taken, nats, _) = run["setting"], run["scores"][-1]
    n_read[name] = setting["batch_size"] * setting["context_length"] * n_steps_taken
    in_bits[name] = nats / math.log(2)

# %%
figures.prediction("Which needs fewer bits per character at the end?", in_bits, is_least=True, unit="bits")

# %%
for name, bits in in_bits.items():
    print(f"{name}: {bits:.2f} bits per character, after {n_read[name] / 1e6:.1f} million characters")
on_gpu = shakespeare.SETTINGS["gpu"]
n_more = on_gpu.batch_size * on_gpu.context_length * on_gpu.training.n_steps
print(
    f"nanoGPT on a GPU: {on_gpu.published_loss / math.log(2):.2f} bits, after {n_more / 1e6:.0f} million (quoted)"
)

# %% [markdown]
# <details><summary>Answer</summary>
#
# The RNN is ahead.
#
# </details>
#
# This compares two training runs, not two architectures: the RNN had read four times as much, and
# both saw at most 64 characters back, so looking far back has little to offer. With six blocks, contexts of 256
# characters and many more of them, nanoGPT's published model needs fewer bits than either. A Transformer wins when it
# is given much text and long contexts.
#
# ## A real decoder
#
# SmolLM2 is a decoder of this kind, too (lecture 19 shows what has changed since GPT-2). Here is what it expects after three beginnings.

# %%
from course import plots

beginnings = ("It takes great", "The students opened their", "The capital of France is")
bars = {
    f"{text} …": {token.text.strip(): token.probability for token in predict(text).likely[:6]}
    for text in beginnings
}
picture = plots.next_words(bars)
figures.still(
    picture, picture.alt_text, caption="The six likeliest next tokens of SmolLM2 after three beginnings."
)

# %% [markdown]
# In lecture 03, two words of context lowered the perplexity of n-gram models on newspaper text from 962 to 109. A decoder can look back much further. Is it worth it? The letter below was written for this course, so that no model has read it.

# %%
from course.pretrained.recorded import LETTER, bits_by_context

print(textwrap.fill(LETTER, 100))

# %% [markdown]
# From its 33rd token on, SmolLM2 predicts every token from the $n$ tokens before it, and from nothing else.
#
# **Predict, then run.** How large is the perplexity for $n = 1$? From which $n$ on does it hardly fall any more?

# %%
in_bits = {n: sum(bits) / len(bits) for n, bits in bits_by_context(LETTER).items()}
for n, bits in in_bits.items():
    print(f"{n:2} tokens of context: {bits:5.2f} bits per token, perplexity {2**bits:6,.0f}")
assert sorted(in_bits.values(), reverse=True) == list(in_bits.values())
assert in_bits[16] - in_bits[32] > 0.2

# %% [markdown]
# (With a single token it is worse than a bigram would be: the model has hardly ever read a text that begins in the middle of a sentence.) The perplexity falls all the way to the end; even from 16 to 32 tokens it falls by a quarter. This gain is what justifies attention's $T^2$ cost. It is also why a perplexity means little without the length of the context: a long text that is cut into windows gives the first tokens of each window almost nothing to look at (lecture 03, exercise 4).
#
# ## A task in the prompt
#
# GPT-2 came in four sizes, from 124 million to 1.5 billion parameters, trained on WebText: 40 GB of pages to which readers of Reddit had linked. Its paper showed that a model that only predicts the next word can be *asked*: a text followed by "TL;DR:" gets a summary, more or less. That is **zero-shot**. GPT-3's paper showed
# **few-shot** or **in-context learning**: put a few solved examples in front of the question. No weight changes; the pattern is in the context, and the likeliest continuation follows it. (The sizes are quoted from the papers.)
#
# What does such a model see of a prompt? It sees lecture 04's subwords. GPT-2 has 50,257 of them: the 256 bytes, the results of 50,000 merges, and one
# token that ends a text; GPT-3 has the same. SmolLM2's tokenizer is of this kind, with fewer merges:

# %%
from course.pretrained import cut
from course.pretrained.recorded import CONTINUED, FRENCH

assert 256 + 50_000 + 1 == 50_257
print(textwrap.fill(" ".join(map(repr, cut(FRENCH))), 100))

# %% [markdown]
# A space belongs to the word after it, a line break is a token of its own, and the rarer French words are split.
#
# SmolLM2 is as large as the smallest GPT-2, has read far more, and was trained on conversations afterwards. Its continuations are recorded; where its package is installed, `continued` takes any prompt. **Predict, then run.** How does it continue each of these?

# %%
from course.pretrained import continued

answers = {prompt: continued(prompt).split("\n")[0] for prompt in CONTINUED}
for prompt, answer in answers.items():
    print(f"{prompt}▸{answer or ' (an empty line)'}\n")
assert answers["young →"] == ""
assert [answer for prompt, answer in answers.items() if prompt.startswith("hot")] == [" old"]
assert "fromage" not in " ".join(answers.values())

# %% [markdown]
# <details><summary>Answer</summary>
#
# Alone, *young →* means nothing: the model writes an empty line. After three pairs of opposites it means *old*.
#
# </details>
#
# With cheese the examples teach the *form* of the answer, one French word. But the answer is wrong: *brie* is a French cheese, and the French word for cheese is *fromage*. Examples in the prompt show which task is meant; the answer itself must come from the weights.
#
# ## Where it breaks
#
# **The context has an end.** With learned positions there is no vector for position $T + 1$; with rotations the model gives an answer, but for distances that were never trained. Either way the model sees a window, and a KV cache cannot simply be moved along with it, because every position in the cache would change its number. **The cost of looking at everything** is
# quadratic (lecture 12). And **it reads in one direction only**: what "bank" means in "the bank of the river" is decided before "river" has been read. Generating has no other way; but to *understand* a text that is already there, a model may read both sides. Lecture 17 lets it.
#
# ## The ladder
#
# The ladder's last rung, the *Transformer*, has as many blocks, heads and numbers per word as this page's model. The diamond is the model trained on this page, on different stories and with half as many per step. On the ladder every model is trained on the same stories, with three seeds; lecture 19 discusses it rung by rung.

# %%
figures.rungs("Transformer", live={"Transformer": reached.bits_per_token})

# %% [markdown]
# ## The same in the library
#
# `course.models.GPT` has the same parts under the same names, and reads the same folder:

# %%
from course.models import GPT, gpt_config, load_weights

library = load_weights(GPT(gpt_config(folder)), folder)
with torch.no_grad():
    assert torch.allclose(library(tokens), ours, atol=1e-4)
    rotary = GPT(
        GPTConfig(V, language.longest_story, sizes.d_model, sizes.n_heads, sizes.n_layers, positions="rotary")
    )
names = {"expand": "feed_forward.expand", "contract": "feed_forward.contract"}
state = {}
for name, array in model.state_dict().items():
    parts = [names.get(part, part) for part in name.split(".")]
    parts[-1] = "gain" if parts[-1] == "weight" and parts[-2].startswith("norm") else parts[-1]
    state[".".join(parts)] = array
rotary.load_state_dict(state)
with torch.no_grad():
    assert torch.allclose(rotary(prompts), model(prompts), atol=1e-4)
print("we have just built course.models.GPT")

# %% [markdown]
# ## Recap
#
# - A decoder predicts every next token of a text at once; minus infinity above the diagonal, before the softmax, keeps it from seeing them.
# - A gradient shows it: the answer at a position does not depend on anything to its right. A loss below the floor shows the opposite.
# - A GPT is embeddings, causal blocks, a norm, and the embeddings again. On the stories two small blocks come within two percent of the floor.
# - Keys and values of the past never change, so they are cached: one token per step instead of all of them, at the cost of memory.
# - GPT-2 is this module with other sizes, and GPT-3 nearly so; a checkpoint is loaded correctly if its outputs agree.
#
# **In the homework:** [hw6 · GPT](../homeworks/hw6_gpt/hw6_gpt.ipynb), masked attention, the training step, the cache, and the checkpoint in your own model.
#
# ## Exercises
#
# **1.** Of the $6 \times 6$ scores of a text of six tokens, how many does the mask leave?
#
# <details><summary>Answer</summary>
#
# $1 + 2 + \dots + 6 = 21$.
#
# </details>
#
# **2.** How many bytes does the KV cache take in GPT-2 small (12 blocks, width 768) for 1024 tokens, at two bytes per number?
#
# <details><summary>Answer</summary>
#
# $2 \cdot 12 \cdot 1024 \cdot 768 \cdot 2 \approx 38$ million.
#
# </details>
#
# **3.** A colleague's model reaches 0.9 bits per token on the stories. What do you ask first?
#
# <details><summary>Answer</summary>
#
# Ask where it sees the future, because the floor is higher than that. The cause may be a missing mask, a missing shift by one, or test stories among the training stories.
#
# </details>
#
# **4.** *(long)* The mask is off by one: `triu(diagonal=2)` hides everything from the *second* next token on. Find the error with a gradient. Would the shapes, or the sums of the rows, have shown it?
#
# <details><summary>Answer</summary>
#
# The matrix of influences has one diagonal too many above the main one, and that diagonal is the answer to be predicted. Shapes are right, and every row still sums to one.
#
# ```python
# import torch
#
# T, D = 6, 4
# generator = torch.Generator().manual_seed(0)
# W = torch.randn(3, D, D, generator=generator)
# x = torch.randn(T, D, generator=generator, requires_grad=True)
#
#
# def influence(diagonal: int) -> torch.Tensor:
#     q, k, v = x @ W
#     hidden = torch.ones(T, T, dtype=torch.bool).triu(diagonal)
#     weights = (q @ k.T / D**0.5).masked_fill(hidden, -torch.inf).softmax(-1)
#     assert torch.allclose(weights.sum(-1), torch.ones(T))
#     rows = [torch.autograd.grad((weights @ v)[i].sum(), x, retain_graph=True)[0].norm(dim=-1) for i in range(T)]
#     return torch.stack(rows) > 0
#
#
# assert not influence(1).triu(1).any()
# assert influence(2).diagonal(1).all()
# assert not influence(2).triu(2).any()
# ```
#
# </details>
#
# ## Further reading
#
# - Alec Radford, Karthik Narasimhan, Tim Salimans and Ilya Sutskever, ["Improving Language Understanding by Generative Pre-Training"](https://cdn.openai.com/research-covers/language-unsupervised/language_understanding_paper.pdf), OpenAI, 2018.
# - Alec Radford, Jeffrey Wu, Rewon Child, David Luan, Dario Amodei and Ilya Sutskever, ["Language Models are Unsupervised Multitask Learners"](https://cdn.openai.com/better-language-models/language_models_are_unsupervised_multitask_learners.pdf), OpenAI, 2019.
# - Tom B. Brown and others, ["Language Models are Few-Shot Learners"](https://arxiv.org/abs/2005.14165), NeurIPS 2020.
# - Ashish Vaswani and others, ["Attention Is All You Need"](https://arxiv.org/abs/1706.03762), NeurIPS 2017.
# - Jianlin Su, Yu Lu, Shengfeng Pan, Ahmed Murtadha, Bo Wen and Yunfeng Liu, ["RoFormer: Enhanced Transformer with Rotary Position Embedding"](https://arxiv.org/abs/2104.09864), arXiv 2104.09864 (2021).
# - Ofir Press and Lior Wolf, ["Using the Output Embedding to Improve Language Models"](https://aclanthology.org/E17-2025), EACL 2017.
# - Andrej Karpathy, [nanoGPT](https://github.com/karpathy/nanoGPT): a GPT-2 to train, in two files; the two settings for Tiny Shakespeare, and the loss on a GPU, are its README's.
