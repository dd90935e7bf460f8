# %% [markdown]
# # 14 · The Transformer block
#
# **You will be able to**
#
# - build a block from attention, an MLP, two residuals and two norms, and say what each prevents;
# - settle over which axis LayerNorm averages, by code;
# - tell post-norm from pre-norm, and encoder from decoder from encoder-decoder;
# - count the parameters of BERT and of GPT-3 from their sizes, term by term;
# - say what a model costs in operations and in bytes, in training and in generation.
#
# *35 minutes to read, about 45 seconds to run. Before this: [13 · Heads and positions](13_heads_and_positions.ipynb).*
#
# **The question of the day:** what must be added to attention before it can be stacked a hundred times, and what does the stack cost?

# %% setup

# %%
import math
import os

import matplotlib.pyplot as plt
import torch
from torch import nn
from torch.nn import functional as F

from course import figures
from course.models import LayerNorm, Linear, MultiHeadAttention
from course.training import TrainingConfig, TrainingDiverged, best_device, next_token_loss, train

torch.set_num_threads(1)  # with matrices this small, one core is faster than several
is_full = os.environ.get("COURSE_SCALE") == "full"  # four times the steps, on a GPU if there is one
device = best_device() if is_full else torch.device("cpu")

# %% [markdown]
# ## Attention alone, twelve times
#
# **Predict, then run.** Ten random words go through twelve attention layers, one after the other, and nothing else. How alike are any two of them at the end? (Mean cosine of all pairs: 0 for unrelated, 1 for the same direction.)


# %%
def likeness(x: torch.Tensor) -> float:
    """Mean cosine between different words of a text (T, D)."""
    cosines = F.cosine_similarity(x[:, None], x[None], dim=-1)
    return ((cosines.sum() - len(x)) / (len(x) * (len(x) - 1))).item()


torch.manual_seed(0)
layers = [MultiHeadAttention(64, n_heads=4) for _ in range(12)]
words = torch.randn(10, 64)  # (T, D)
x, without_residual = words, [likeness(words)]
with torch.no_grad():
    for layer in layers:
        x = layer(x[None], x[None], x[None])[0]
        without_residual.append(likeness(x))

# %%
figures.prediction(
    "What is the mean cosine after twelve layers of attention?", min(1.0, without_residual[-1])
)

# %%
print([round(value, 2) for value in without_residual])

# %% [markdown]
# Attention alone cannot be stacked: after two layers all word vectors are practically equal. An attention layer averages values and applies linear maps, and averaging averages leads to the average of everything (Dong, Cordonnier and Loukas, 2021). The solution is simple: keep what was there, and *add* the layer's output.
#
# $$X \leftarrow X + \text{Attention}(X)$$
#
# This is the idea of the LSTM's cell again: do not rewrite, add. This **residual** path has the derivative 1, so gradients also pass from the last block to the first.

# %%
x, with_residual = words, [likeness(words)]
with torch.no_grad():
    for layer in layers:
        x = x + layer(x[None], x[None], x[None])[0]
        with_residual.append(likeness(x))
print([round(value, 2) for value in with_residual])
assert without_residual[-1] > 0.99
assert with_residual[-1] < 0.5

# %% [markdown]
# ## A small network for each word
#
# These are the symbols from here on; you know most of them:
#
# | symbol | meaning |
# |---|---|
# | $B$, $T$ | texts at once, words in each |
# | $D$ | width of a word's vector, between blocks as well |
# | $H$, $d_k = D/H$ | heads, width of a head |
# | $F = 4D$ | width inside the small network (in the code `F_inside`, where `F` is torch's) |
# | $L$ | number of blocks |
# | $V$ | size of the vocabulary |
# | $X$, $x_n$ | all words, one per row, $(T, D)$; one of them, $(D)$ |
# | $N$ | number of parameters |
#
# Attention moves information *between* words, and for given weights it is linear. A network of two layers, the **MLP** (multi-layer perceptron), then processes the information. It reads one word at a time, with the same weights for every word:
#
# $$\text{MLP}(x) = W_2\, \text{ReLU}(W_1 x + b_1) + b_2, \qquad W_1 : (4D, D), \quad W_2 : (D, 4D)$$
#
# Project to four times the width, apply the nonlinearity, and project back.

# %%
B, T, D = 2, 5, 6
generator = torch.Generator().manual_seed(0)
W_1, b_1 = torch.randn(4 * D, D, generator=generator), torch.randn(4 * D, generator=generator)
W_2, b_2 = torch.randn(D, 4 * D, generator=generator), torch.randn(D, generator=generator)
X = torch.randn(B, T, D, generator=generator)
word_by_word = torch.stack([W_2 @ (W_1 @ x + b_1).relu() + b_2 for x in X[0]])
all_at_once = (X @ W_1.T + b_1).relu() @ W_2.T + b_2  # (B, T, D) → (B, T, 4D) → (B, T, D)
assert torch.allclose(all_at_once[0], word_by_word, atol=1e-4)
all_at_once.shape

# %% [markdown]
# BERT and GPT use **GELU** instead of ReLU: $\text{gelu}(a) = a\,\Phi(a)$, with $\Phi(a)$ the fraction of a standard normal distribution below $a$. Far from zero they agree; near zero GELU is smooth.

# %%
a = torch.tensor([-4.0, -1.0, -0.1, 0.0, 0.1, 1.0, 4.0])
by_hand = a * (1 + torch.erf(a / math.sqrt(2))) / 2
assert torch.allclose(by_hand, F.gelu(a), atol=1e-6)
print("relu", [round(v, 3) for v in a.relu().tolist()])
print("gelu", [round(v, 3) for v in by_hand.tolist()])

# %% [markdown]
# ## LayerNorm: over what?
#
# The sum grows from block to block. A **norm** brings the numbers back to one scale:
#
# $$y = \frac{x - \text{E}[x]}{\sqrt{\text{Var}[x] + \epsilon}} \odot \gamma + \beta$$
#
# with a gain $\gamma$ and an offset $\beta$ that are learned. But the mean and variance of *what*? Some texts say "across all words", some "across the batch". Take PyTorch's own example, 20 texts of 5 words of width 10, and try all readings:

# %%
batch, sentence_length, width = 20, 5, 10
embedding = torch.randn(batch, sentence_length, width, generator=generator)
theirs = nn.LayerNorm(width)(embedding)
readings = {
    "each word by itself": (2,),
    "all words of a text": (1, 2),
    "each feature, over the words": (1,),
    "each feature, over the batch": (0,),
    "each feature, over batch and words": (0, 1),
}
for reading, axes in readings.items():
    mean = embedding.mean(axes, keepdim=True)
    variance = embedding.var(axes, keepdim=True, unbiased=False)  # divided by n, not by n − 1
    ours = (embedding - mean) / (variance + 1e-5).sqrt()
    print(f"{reading:36}{torch.allclose(ours, theirs, atol=1e-5)}")

# %% [markdown]
# LayerNorm normalises **each word by itself**: it takes one mean and one variance over that word's $D$ numbers. (Where words are columns, that is "column by column".) To see that nothing else enters, change everything but one word: the output of that word stays the same.

# %%
changed = torch.randn_like(embedding)
changed[3, 2] = embedding[3, 2]
assert torch.equal(nn.LayerNorm(width)(changed)[3, 2], theirs[3, 2])
print(f"mean {theirs[3, 2].mean():z.4f}, variance {theirs[3, 2].var(unbiased=False).item():.4f}")

# %% [markdown]
# That is why one and the same model can run on a batch of one, on a text of any length, and while generating word by word. (BatchNorm, which averages over the batch, could not.)
#
# ## The block
#
# A block has two sublayers, each with its residual and its norm. The paper of 2017 normalises *after* adding, **post-norm**:
#
# $$\begin{aligned}
# X &\leftarrow X + \text{MultiHead}(X) \\
# X &\leftarrow \text{LayerNorm}(X) \\
# x_n &\leftarrow x_n + \text{MLP}(x_n) \quad \text{for every } n \\
# X &\leftarrow \text{LayerNorm}(X)
# \end{aligned}$$
#
# GPT-2 and most models since normalise what a sublayer *reads*, **pre-norm**: $X \leftarrow X + \text{MultiHead}(\text{LayerNorm}(X))$, likewise for the MLP, and one last norm after the last block. The residual path itself is then never touched.
#
# The drawing shows both orders side by side.

# %%
figures.machine("block")

# %% [markdown]
# **A question:** on which side is there a path from bottom to top that meets nothing but sums? What does that mean for a gradient?
#
# <details><summary>Answer</summary>
#
# On the right, the pre-norm side. Along that path a gradient reaches the first block as it left the last, whatever the sublayers do; what comes back through them is added to it. On the left each sum passes through a LayerNorm, which rescales the gradient twice per block.
#
# </details>


# %%
class Block(nn.Module):
    """Attention between words, then a network for each word; norms where `order` says."""

    def __init__(self, d_model: int, n_heads: int, order: str, has_rotation: bool = False) -> None:
        super().__init__()
        self.order = order
        self.attention = MultiHeadAttention(d_model, n_heads, has_rotation=has_rotation)
        self.mlp = nn.Sequential(Linear(d_model, 4 * d_model), nn.GELU(), Linear(4 * d_model, d_model))
        self.norm1, self.norm2 = LayerNorm(d_model), LayerNorm(d_model)

    def forward(self, x: torch.Tensor, is_causal: bool = False) -> torch.Tensor:
        def attend(x: torch.Tensor) -> torch.Tensor:
            return self.attention(x, x, x, is_causal=is_causal)

        if self.order == "pre-norm":
            x = x + attend(self.norm1(x))
            return x + self.mlp(self.norm2(x))
        if self.order == "post-norm":
            x = self.norm1(x + attend(x))
            return self.norm2(x + self.mlp(x))
        if self.order == "no norm":
            x = x + attend(x)
            return x + self.mlp(x)
        return self.mlp(attend(x))  # "no residual"


# %% [markdown]
# ### What each part is for
#
# Five stacks of twelve such blocks are trained on stories for 60 steps, from the same start. Three of them, with no norm, post-norm and pre-norm, have a high learning rate (0.03) from the first step on. A stack without residuals has a rate of 0.01. A second stack with post-norm reaches the same 0.01 slowly (a **warm-up**). **Predict, then run.** Which of them learn? (A model that knows only how frequent each word is reaches the unigram's rung: 6.24 bits, which are 4.3 nats.)

# %%
from course.data.shuffling import ShuffledStories
from course.data.story_language import StoryLanguage

language = StoryLanguage()
stories = language.sample(2500, torch.Generator().manual_seed(1))


# %%
class Stack(nn.Module):
    """A language model of twelve narrow blocks."""

    def __init__(self, order: str, d_model: int = 32, n_layers: int = 12) -> None:
        super().__init__()
        self.embedding = nn.Embedding(language.vocab_size, d_model)
        self.blocks = nn.ModuleList(Block(d_model, 4, order, has_rotation=True) for _ in range(n_layers))
        self.norm = LayerNorm(d_model) if order == "pre-norm" else nn.Identity()
        self.output = Linear(d_model, language.vocab_size)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.embedding(tokens)
        for block in self.blocks:
            x = block(x, is_causal=True)
        return self.output(self.norm(x)).log_softmax(dim=-1)


# %%
def losses(order: str, learning_rate: float = 0.03, n_warmup_steps: int = 0) -> list[float]:
    """What each of 60 steps cost, in nats per word, up to where it broke."""
    seen = []

    def recorded(model: nn.Module, example: tuple[torch.Tensor, ...]) -> torch.Tensor:
        loss = next_token_loss(model, example)
        seen.append(loss.item())
        return loss

    torch.manual_seed(0)
    config = TrainingConfig(60, learning_rate, n_warmup_steps=n_warmup_steps, clip_norm=1e9)
    try:
        train(Stack(order), ShuffledStories(stories, 8), config, loss=recorded, device="cpu")
    except TrainingDiverged:
        print(f"{order}: the loss is no longer a number")
    return seen


# %%
runs = {order: losses(order) for order in ("no norm", "post-norm", "pre-norm")}
runs["no residual, rate 0.01"] = losses("no residual", 0.01)
runs["post-norm, rate 0.01, warmed up"] = losses("post-norm", 0.01, 30)
final = {name: sum(run[50:]) / 10 if len(run) == 60 else math.inf for name, run in runs.items()}
for name, loss in final.items():
    print(f"{name:32} {loss:.2f} nats at the end")

# %%
drawing, axes = plt.subplots(figsize=(5.4, 3))
looks = {  # line, colour, width; how far its name is moved up or down
    "no norm": ("-", "#D55E00", 2, 0),
    "post-norm": ("-", "#CC79A7", 5, 8),
    "pre-norm": ("-", "#E69F00", 2, -8),
    "no residual, rate 0.01": ("--", "#0072B2", 1.5, -8),
    "post-norm, rate 0.01, warmed up": ("--", "#009E73", 2, 8),
}
for name, run in runs.items():
    line, colour, width, shift = looks[name]
    axes.plot(run, line, color=colour, linewidth=width)
    end = (len(run), final[name]) if math.isfinite(final[name]) else (0, 7.6)
    axes.annotate(
        name, end, (6, shift), color=colour, textcoords="offset points", va="center", annotation_clip=False
    )
axes.set(xlabel="step", ylabel="nats per word", xlim=(-1, 60), ylim=(1.5, 8))
figures.still(
    drawing,
    alt="Training losses of twelve blocks at the end: "
    + ", ".join(f"{name} {loss:.2f}" for name, loss in final.items())
    + " nats per word.",
    caption="Twelve blocks, 60 steps. The line that leaves the picture never comes back.",
)

# %%
learned = [name for name, loss in final.items() if loss < 3]
print("learned:", learned)
assert learned == ["pre-norm", "post-norm, rate 0.01, warmed up"]

# %% [markdown]
# <details><summary>Answer</summary>
#
# Without norms the numbers grow from block to block until the loss is no longer a number. Without residuals, even at a third of the learning rate, twelve blocks learn no more than how frequent each word is. Post-norm learns too, if the learning rate is lower and rises slowly: this is why the Transformer came with a warm-up. Pre-norm needs neither (Xiong and others, 2020).
#
# </details>
#
# ## Three kinds of Transformer
#
# There are three ways to wire the same block. They differ in which words may look at which.
#
# | kind | attention | for | example |
# |---|---|---|---|
# | encoder | every word sees every word | understanding a text: sentiment, names, answers | BERT (lecture 17) |
# | decoder | every word sees itself and what precedes it | generating: the next token | GPT (lecture 15); GPT-4o, behind ChatGPT, is one too |
# | encoder-decoder | the decoder also looks at the encoder's output: **cross-attention**, queries from the decoder, keys and values from the encoder | one text into another: translation | the Transformer of 2017 (lecture 18) |
#
# Between them, they do nearly every task with text: translate, answer questions, summarise, continue a text, correct spelling and grammar, find names, find what a pronoun refers to, judge a review or sort texts by subject, change a style.
#
# Which word sees which can be measured: change one input, and note which outputs move.

# %%
from collections.abc import Callable

from course.models import Decoder, Encoder, TransformerConfig

torch.manual_seed(0)
sizes = TransformerConfig(d_model=12, n_heads=3, n_layers=2, d_ff=48)
encoder, decoder = Encoder(sizes), Decoder(sizes)
target, source = torch.randn(1, 5, 12), torch.randn(1, 4, 12)


@torch.no_grad()
def who_moves(model: Callable[[torch.Tensor], torch.Tensor], x: torch.Tensor) -> torch.Tensor:
    """(outputs, inputs): 1 where output i moves when input j changes."""
    columns = []
    for j in range(x.shape[1]):
        changed = x.clone()
        changed[0, j] += 1
        columns.append((model(changed) - model(x)).abs().amax(dim=-1)[0] > 1e-6)
    return torch.stack(columns, dim=1).int()


moves = {
    "encoder": who_moves(encoder, target),
    "decoder": who_moves(lambda x: encoder(x, is_causal=True), target),
    "encoder-decoder: target": who_moves(lambda x: decoder(x, encoder(source)), target),
    "encoder-decoder: source": who_moves(lambda memory: decoder(target, encoder(memory)), source),
}
assert torch.equal(moves["encoder"], torch.ones(5, 5, dtype=torch.int32))
assert torch.equal(moves["decoder"], torch.ones(5, 5, dtype=torch.int32).tril())
assert torch.equal(moves["encoder-decoder: target"], moves["decoder"])
assert torch.equal(moves["encoder-decoder: source"], torch.ones(5, 4, dtype=torch.int32))

# %%
drawing, panels = plt.subplots(1, 4, figsize=(9, 2.6))
for axes, (name, matrix) in zip(panels, moves.items(), strict=True):
    axes.imshow(matrix, cmap="Blues", vmin=0, vmax=1.4)
    axes.set(
        title=name.replace(": ", ":\n"),
        xlabel="input changed",
        xticks=range(matrix.shape[1]),
        yticks=range(5),
    )
    axes.set_xticks([j + 0.5 for j in range(matrix.shape[1] - 1)], minor=True)
    axes.set_yticks([i + 0.5 for i in range(4)], minor=True)
    axes.grid(which="minor", color="white")
    axes.tick_params(which="minor", length=0)
panels[0].set_ylabel("output moved")
drawing.tight_layout()
figures.still(
    drawing,
    alt="Who moves whom: in the encoder every input moves every output; in the decoder a lower triangle; in the "
    "encoder-decoder a lower triangle for the target and everything for the source.",
    caption="Measured, not drawn from the masks: a filled cell means that this output moved.",
)

# %% [markdown]
# The second picture, *decoder*, is the encoder with a causal mask: a GPT has no cross-attention, so only the mask distinguishes its block from an encoder's.
#
# ## The parameter ledger
#
# Count every matrix of a block with its bias, then the norms:
#
# $$\underbrace{4(D^2 + D)}_{W_q, W_k, W_v, W_o} + \underbrace{2DF + F + D}_{\text{MLP}} + \underbrace{4D}_{\text{two norms}} \;=\; 12 D^2 + 13 D \quad \text{for } F = 4D$$


# %%
def block_parameters(D: int, F: int) -> int:
    """Attention, MLP, two norms."""
    return 4 * (D * D + D) + (2 * D * F + F + D) + 4 * D


n_built = sum(p.numel() for p in Block(24, 4, "pre-norm").parameters())
assert block_parameters(24, 96) == 12 * 24**2 + 13 * 24 == n_built
print(f"{n_built:,} in a block of width 24; fraction in the MLP's matrices: {8 * 24**2 / n_built:.2f}")

# %% [markdown]
# **BERT-large** (quoted from its paper: 24 layers, width 1024, 16 heads, 4096 inside the MLP, about 340 million parameters; texts of 512, and a vocabulary of 30,522 tokens in the published model). Here it is term by term; lecture 17 explains its *segments* and its *pooler*:

# %%
V, T_most, D, F_inside, L = 30_522, 512, 1024, 4096, 24
bert = {
    "tokens          V D": V * D,
    "positions       T D": T_most * D,
    "segments        2 D": 2 * D,
    "first norm      2 D": 2 * D,
    "attention       L 4(D² + D)": L * 4 * (D * D + D),
    "MLP             L (2DF + F + D)": L * (2 * D * F_inside + F_inside + D),
    "norms           L 4D": L * 4 * D,
    "pooler          D² + D": D * D + D,
}
for term, n_parameters in bert.items():
    print(f"{term:34} {n_parameters:>12,}")
print(f"{'all':34} {sum(bert.values()):>12,}")

# %% [markdown]
# That makes 335 million. The paper rounds to 340; the head that fills in masked words (one more matrix $D^2$, a norm, and a bias per token of the vocabulary) adds another million. Now **GPT-3** (quoted: 96 layers, width 12,288, 96 heads of 128, texts of 2048, 175 billion). Its vocabulary is GPT-2's, and its output matrix is its embedding, counted once.

# %%
head = (D * D + D) + 2 * D + V
print(f"BERT-large with the head for masked words: {(sum(bert.values()) + head) / 1e6:.1f} million")
V, T_most, D, L = 50_257, 2048, 12_288, 96
F_inside = 4 * D
gpt3 = {
    "tokens          V D": V * D,
    "positions       T D": T_most * D,
    "attention       L 4(D² + D)": L * 4 * (D * D + D),
    "MLP             L (2DF + F + D)": L * (2 * D * F_inside + F_inside + D),
    "norms           L 4D": L * 4 * D,
    "last norm       2 D": 2 * D,
}
for term, n_parameters in gpt3.items():
    print(f"{term:34} {n_parameters:>16,}")
print(f"{'all':34} {sum(gpt3.values()):>16,}")
print(f"12 L D² alone: {12 * L * D**2 / sum(gpt3.values()):.1%}")

# %% [markdown]
# That makes 174.6 billion, and gives a formula to remember: $N \approx 12 L D^2$. To check, build both models without memory for the numbers (PyTorch's *meta* device keeps only shapes) and count; then compare with the library's own ledger.

# %%
from course.models import BERT, GPT, GPTConfig, bert_ledger, gpt_ledger
from course.models.bert import Pooler
from course.models.ledger import BERT_LARGE, GPT2_SMALL, GPT3

with torch.device("meta"):
    built = {"BERT-large": (BERT(BERT_LARGE), Pooler(BERT_LARGE)), "GPT-3": (GPT(GPT3),)}
counted = {name: sum(p.numel() for part in parts for p in part.parameters()) for name, parts in built.items()}
assert counted["BERT-large"] == sum(bert.values()) == bert_ledger(BERT_LARGE).n_parameters
assert counted["GPT-3"] == sum(gpt3.values()) == gpt_ledger(GPT3).n_parameters
print({name: f"{n:,}" for name, n in counted.items()})

# %%
small = {entry.name: entry.n_parameters for entry in gpt_ledger(GPT2_SMALL).entries}
shares = {}
for name, terms in (("GPT-2 small", small), ("BERT-large", bert), ("GPT-3", gpt3)):
    parts = {"embedding": 0, "attention": 0, "MLP": 0, "the rest": 0}
    for term, n_parameters in terms.items():
        kinds = {
            "tokens": "embedding",
            "query": "attention",
            "attention": "attention",
            "MLP": "MLP",
            "feed-forward": "MLP",
        }
        parts[next((kind for key, kind in kinds.items() if key in term), "the rest")] += n_parameters
    shares[name] = {part: n_parameters / sum(terms.values()) for part, n_parameters in parts.items()}

# %%
drawing, axes = plt.subplots(figsize=(6.5, 2))
left = [0.0] * 3
for part, colour, hatch in zip(
    shares["GPT-3"], ("#0072B2", "#E69F00", "#009E73", "#999999"), ("", "//", "..", ""), strict=True
):
    widths = [share[part] for share in shares.values()]
    axes.barh(list(shares), widths, left=left, color=colour, hatch=hatch, edgecolor="white", label=part)
    left = [a + b for a, b in zip(left, widths, strict=True)]
axes.set(xlabel="fraction of the parameters", xlim=(0, 1))
axes.legend(frameon=False, ncols=4, fontsize=9, loc="lower center", bbox_to_anchor=(0.5, 1))
figures.still(
    drawing,
    alt="Fractions of the parameters: "
    + "; ".join(
        f"{name}: " + ", ".join(f"{part} {share:.1%}" for part, share in parts.items())
        for name, parts in shares.items()
    )
    + ".",
    caption="The wider the model, the less its vocabulary counts; attention to MLP is one to two everywhere.",
)

# %% [markdown]
# ## Operations
#
# In the forward pass, each parameter of a matrix is used once per token, for one multiplication and one addition: 2 operations. In the backward pass it takes part in two products, one for the gradient of its input and one for its own: 4 more. That makes **6 per parameter and token**. The scores and the mixing of values come on top (lecture 12: $4TD$ per token and block, three times):
#
# $$C \approx 6N + 12\, L D T \quad \text{operations per token of training}$$
#
# Check this with PyTorch's counter, on a small GPT:

# %%
from torch.utils.flop_counter import FlopCounterMode

config = GPTConfig(vocab_size=29, context_length=16, d_model=24, n_heads=3, n_layers=2, is_fused=False)
gpt = GPT(config)
tokens = torch.randint(29, (2, 16), generator=generator)
with FlopCounterMode(display=False) as forwards:
    loss = next_token_loss(gpt, (tokens, tokens))
with FlopCounterMode(display=False) as backwards:
    loss.backward()
V, T, D, L = 29, 16, 24, 2
per_token = 2 * (12 * L * D**2 + V * D) + 4 * L * D * T
assert forwards.get_total_flops() == 2 * 16 * per_token
assert backwards.get_total_flops() == 2 * forwards.get_total_flops()
print(f"forwards {forwards.get_total_flops():,}, backwards {backwards.get_total_flops():,}: two to one")

# %% [markdown]
# (The counter ignores biases and norms, because they do not multiply by a matrix; the formula with $N$ includes them. They hardly matter.) What did GPT-3 cost? It read 300 billion tokens. Its paper says $3.14 \cdot 10^{23}$ operations (quoted, table D.1). A T4, the card that Colab lends, promises $65 \cdot 10^{12}$ per second at the very best (quoted from its data sheet, for 16-bit numbers).

# %%
from course.models.ledger import training_flops_per_token

n_tokens = 300e9
simple = 6 * gpt_ledger(GPT3).n_parameters * n_tokens
exact = training_flops_per_token(GPT3) * n_tokens
years = simple / 65e12 / (365 * 24 * 3600)
print(f"6 N × tokens = {simple:.3g}; with the scores {exact:.3g}; one T4 at its best: {years:.0f} years")
assert f"{simple:.2e}" == "3.14e+23"

# %% [markdown]
# ## Memory
#
# In training, each parameter takes four numbers: itself, its gradient, and Adam's two running means. That is 16 bytes in float32. On top of them come the **activations**, the numbers that the forward pass must keep for the backward pass. How many are they? Autograd can report what it keeps:


# %%
def kept(model: nn.Module, tokens: torch.Tensor) -> int:
    """Numbers that autograd keeps for the backward pass, without the parameters themselves."""
    own = {parameter.untyped_storage().data_ptr() for parameter in model.parameters()}
    tensors = {}

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        if tensor.is_floating_point() and tensor.untyped_storage().data_ptr() not in own:
            tensors[tensor.untyped_storage().data_ptr()] = tensor
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        next_token_loss(model, (tokens, tokens))
    return sum(tensor.untyped_storage().nbytes() // 4 for tensor in tensors.values())


for T in (16, 32, 64):
    tokens = torch.zeros(2, T, dtype=torch.int64)
    sizes = {"vocab_size": 29, "context_length": T, "d_model": 24, "n_heads": 3, "n_layers": 2}
    fused, written_out = (kept(GPT(GPTConfig(**sizes, is_fused=choice)), tokens) for choice in (True, False))
    print(
        f"T = {T}: per word {fused / (2 * T):.0f} numbers with fused attention, {written_out / (2 * T):.0f} with the weights written out"
    )

# %% [markdown]
# How much memory the activations take depends on how attention is computed. If the attention weights are written out, each word stores a row of $T$ weights per head, so the total grows with $T^2$. Fused attention avoids this: it stores a fixed number of values per word. For each word and each block, these are
#
# - $8D$: the inputs of the two norms, the inputs of the three products of width $D$ (projection to queries, keys and values; output projection; first matrix of the MLP), and the queries, keys and values themselves;
# - $2F$: the hidden layer of the MLP before and after the nonlinearity;
# - $H$: one number per head, for the softmax;
# - $4$: the mean and the scale of each of the two norms.
#
# After the last block come the final norm ($2D + 2$) and the log-probabilities ($V$). For $B$ texts of $T$ words, that makes
#
# $$B\,T\,\big(L\,(8D + 2F + H + 4) + 2D + 2 + V\big) \text{ numbers.}$$

# %%
for n_layers, d_model, n_heads in ((2, 24, 3), (3, 16, 2)):
    model = GPT(GPTConfig(29, 16, d_model=d_model, n_heads=n_heads, n_layers=n_layers))
    per_block = 8 * d_model + 2 * (4 * d_model) + n_heads + 4
    formula = 2 * 16 * (n_layers * per_block + 2 * d_model + 2 + 29)
    assert kept(model, torch.zeros(2, 16, dtype=torch.int64)) == formula
    print(f"L = {n_layers}, D = {d_model}, H = {n_heads}: {formula:,} numbers, as counted")

# %% [markdown]
# During **generation** there are no gradients, and no activations need to be stored. But each new word attends to the keys and values of all earlier words. Recomputing them at every step would be wasteful, so they are stored in the **KV cache** (lecture 15), which takes $2\,L\,B\,T\,D$ numbers.
#
# **Predict, then run.** GPT-2 small, eight texts of 1024 tokens, float32. What is largest: weights, Adam, activations, or (in generation) the cache?

# %%
from course.models.ledger import cache_bytes, training_bytes

V, T, D, H, L = 50_257, 1024, 768, 12, 12
activations = 4 * 8 * T * (L * (8 * D + 2 * 4 * D + H + 4) + 2 * D + 2 + V)
memory = {
    "weights": training_bytes(GPT2_SMALL) / 4,
    "gradients": training_bytes(GPT2_SMALL) / 4,
    "Adam": training_bytes(GPT2_SMALL) / 2,
    "activations": activations,
    "KV cache": cache_bytes(GPT2_SMALL, batch_size=8),
}

# %%
options = {name: n_bytes / 1e9 for name, n_bytes in memory.items()}
figures.prediction("What takes most memory?", options, unit="GB")

# %%
for name, n_bytes in memory.items():
    print(f"{name:11} {n_bytes / 1e9:.2f} GB")

# %% [markdown]
# Here is the whole ledger, compared with the 16 GB of a T4; you can change every size. Questions to try: what doubles when $T$ doubles, and what quadruples? Where does *generating* become a matter of reading memory rather than of computing? Which is the largest GPT that can be *trained* on this card?

# %%
figures.ledger(
    {
        "a GPT of this course": GPTConfig(160, 128, d_model=64, n_heads=4, n_layers=2),
        "GPT-2 small": GPT2_SMALL,
        "GPT-3": GPT3,
    }
)

# %% [markdown]
# ## Where it breaks
#
# Training breaks at the 16 GB line: at 16 bytes per parameter there is room for a billion parameters, if nothing else is stored. GPT-3 needs

# %%
print(f"{16 * gpt_ledger(GPT3).n_parameters / 1e12:.1f} TB to be trained, activations not counted;")
print(f"{2 * gpt_ledger(GPT3).n_parameters / 1e9:.0f} GB only to be held, at two bytes per number;")
print(f"{cache_bytes(GPT3, bytes_per_number=2) / 1e9:.1f} GB of cache for each text of 2048 tokens.")

# %% [markdown]
# ## The ladder
#
# We train one block and two blocks of width 64, with rotary positions and pre-norm, on the same stories for the same number of steps as before. The embedding is also the output matrix.

# %%
from course.evaluation import score, target_nll
from course.ladder.kinds import bits_by_kind

test_stories = language.sample(200, torch.Generator().manual_seed(2))
models = {}
for n_layers, name in ((1, "one block"), (2, "two blocks")):
    torch.manual_seed(0)
    sizes = {
        "d_model": 64,
        "n_heads": 4,
        "n_layers": n_layers,
        "positions": "rotary",
        "initial_deviation": 0.1,
    }
    models[name] = GPT(GPTConfig(language.vocab_size, language.longest_story, **sizes))
    config = TrainingConfig(n_steps=1200 if is_full else 300, learning_rate=5e-3)
    train(models[name], ShuffledStories(stories, 32), config, device=device)
    models[name].cpu()

# %%
bits = {name: score(model, test_stories).bits_per_token for name, model in models.items()}
floor = score(language, test_stories).bits_per_token
for name, value in (bits | {"floor": floor}).items():
    print(f"{name:10} {value:.2f} bits per token")
assert max(bits.values()) < 1.5 * floor

# %%
figures.rungs("Transformer", new=("Transformer",), live={"Transformer": bits["two blocks"]})

# %% [markdown]
# The rung is the model with two blocks; the diamond is this page's, which had a fifth of its steps and an eighth of its stories. What
# does the second block add? Here are the bits above the floor by the kind of word that came next:

# %%
read, following = test_stories.tokens[:, :-1], test_stories.tokens[:, 1:]
above = {}
with torch.no_grad():
    truth = target_nll(language(read), following)
    for name, model in models.items():
        above[name] = bits_by_kind(target_nll(model(read), following), truth, test_stories, language)
for kind in ("full stops", "verbs", "she, he", "things"):
    print(f"{kind:10}", "   ".join(f"{name} {above[name][kind]:5.2f}" for name in above))
assert above["two blocks"]["verbs"] < above["one block"]["verbs"] / 2

# %% [markdown]
# In bits the second block seems to add little so far. But look at the verbs. In *the boy behind the markets who knows the girls* … the verb agrees with the boy, and three nouns stand before it. To tell which of them is the subject, a model must first know something else about each. Stacking helps where one answer depends on another. Lecture 15 trains the stack to the end.
#
# ## The same in the library
#
# Compare the block of this lecture with `course.models.EncoderLayer` and PyTorch's, in both orders, with the same random weights:

# %%
from course.models import EncoderLayer
from course.models.torch_weights import copy_from_torch

x = torch.randn(2, 5, 24, generator=generator)
for order in ("post-norm", "pre-norm"):
    theirs = nn.TransformerEncoderLayer(
        24, 3, 96, dropout=0.0, activation="gelu", batch_first=True, norm_first=order == "pre-norm"
    )
    sizes = TransformerConfig(24, 3, 1, 96, activation="gelu", is_pre_norm=order == "pre-norm")
    library, ours = EncoderLayer(sizes), Block(24, 3, order)
    copy_from_torch(library, theirs)
    ours.attention.load_state_dict(library.attention.state_dict())
    ours.mlp[0].load_state_dict(library.feed_forward.expand.state_dict())
    ours.mlp[2].load_state_dict(library.feed_forward.contract.state_dict())
    ours.norm1.load_state_dict(library.norm_attention.state_dict())
    ours.norm2.load_state_dict(library.norm_feed_forward.state_dict())
    assert torch.allclose(ours(x), theirs(x), atol=1e-5)
    assert torch.allclose(ours(x), library(x), atol=1e-5)
print("we have just built course.models.EncoderLayer")

# %% [markdown]
# ## Recap
#
# - A block is $X + \text{attention}$, then $X + \text{MLP}$: attention mixes information between words, the MLP processes each word; residuals keep words distinct and gradients from vanishing.
# - LayerNorm normalises each word's own $D$ numbers, and does not depend on any other word or text.
# - Pre-norm leaves the residual path untouched; post-norm needs a warm-up.
# - Encoder, decoder and encoder-decoder are one block under different masks, the last with cross-attention.
# - $N \approx 12LD^2$; $6N$ operations per token of training; 16 bytes per parameter and the activations; $2LBTD$ numbers of cache in generation.
#
# **In the homework:** [hw5 · Transformer](../homeworks/hw5_transformer/hw5_transformer.ipynb), the exercises on the norm, the block and the complete encoder.
#
# ## Exercises
#
# **1.** What does LayerNorm make of $(1, 3, 5, 7)$, with $\gamma = 1$, $\beta = 0$ and no $\epsilon$?
#
# <details><summary>Answer</summary>
#
# Mean 4, variance 5: $(-1.34, -0.45, 0.45, 1.34)$.
#
# </details>
#
# **2.** How many parameters does a block of width 256 with $F = 4D$ have?
#
# <details><summary>Answer</summary>
#
# $12 \cdot 256^2 + 13 \cdot 256 = 789{,}760$.
#
# </details>
#
# **3.** In a pre-norm block the last matrices of attention and of the MLP are set to zero. What does the block compute? What does it do to a gradient that passes through it?
#
# <details><summary>Answer</summary>
#
# Nothing: it returns what it reads, and the gradient passes unchanged. Some models are initialised this way.
#
# </details>
#
# **4.** *(long)* GPT-2 came in four sizes: 12 blocks of width 768, 24 of 1024, 36 of 1280 and 48 of 1600, with 50,257 tokens, 1024 learned positions and one matrix for embedding and output. Count the parameters of each, by one formula.
#
# <details><summary>Answer</summary>
#
# $L\,(12 D^2 + 13 D) + (50{,}257 + 1024)\, D + 2D$: 124, 355, 774 and 1558 million. (The paper printed 117 and 345 for the first two; its authors corrected that later.)
#
# ```python
# from course.models.ledger import GPTConfig, gpt_ledger
#
# sizes = {(12, 768): 124, (24, 1024): 355, (36, 1280): 774, (48, 1600): 1558}
# for (L, D), millions in sizes.items():
#     n = L * (12 * D**2 + 13 * D) + (50_257 + 1024) * D + 2 * D
#     assert n == gpt_ledger(GPTConfig(50_257, 1024, D, 1, L)).n_parameters
#     assert round(n / 1e6) == millions
# ```
#
# </details>
#
# ## Further reading
#
# - Ashish Vaswani, Noam Shazeer, Niki Parmar, Jakob Uszkoreit, Llion Jones, Aidan N. Gomez, Łukasz Kaiser and Illia Polosukhin, ["Attention Is All You Need"](https://arxiv.org/abs/1706.03762), NeurIPS 2017.
# - Jimmy Lei Ba, Jamie Ryan Kiros and Geoffrey E. Hinton, ["Layer Normalization"](https://arxiv.org/abs/1607.06450), arXiv:1607.06450, 2016.
# - Kaiming He, Xiangyu Zhang, Shaoqing Ren and Jian Sun, ["Deep Residual Learning for Image Recognition"](https://arxiv.org/abs/1512.03385), CVPR 2016.
# - Ruibin Xiong, Yunchang Yang, Di He, Kai Zheng, Shuxin Zheng, Chen Xing, Huishuai Zhang, Yanyan Lan, Liwei Wang and Tie-Yan Liu, ["On Layer Normalization in the Transformer Architecture"](https://arxiv.org/abs/2002.04745), ICML 2020.
# - Yihe Dong, Jean-Baptiste Cordonnier and Andreas Loukas, ["Attention Is Not All You Need: Pure Attention Loses Rank Doubly Exponentially with Depth"](https://arxiv.org/abs/2103.03404), ICML 2021.
# - Jared Kaplan, Sam McCandlish, Tom Henighan, Tom B. Brown, Benjamin Chess, Rewon Child, Scott Gray, Alec Radford, Jeffrey Wu and Dario Amodei, ["Scaling Laws for Neural Language Models"](https://arxiv.org/abs/2001.08361), arXiv:2001.08361, 2020: the $6N$.
# - Tom B. Brown and others, ["Language Models are Few-Shot Learners"](https://arxiv.org/abs/2005.14165), NeurIPS 2020: GPT-3.
# - Jacob Devlin, Ming-Wei Chang, Kenton Lee and Kristina Toutanova, ["BERT: Pre-training of Deep Bidirectional Transformers for Language Understanding"](https://aclanthology.org/N19-1423), NAACL 2019.
# - Alexander Rush and others, ["The Annotated Transformer"](https://nlp.seas.harvard.edu/annotated-transformer/): the paper, line by line, as code.
