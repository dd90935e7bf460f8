# %% [markdown]
# # 18 · The encoder-decoder Transformer
#
# **You will be able to**
#
# - write cross-attention: queries from the decoder, keys and values from the encoder;
# - build the three masks, and say what goes wrong without each;
# - put encoder and decoder together and train them to translate;
# - compare the result with the recurrent translator of lecture 11, on the same data and on equal terms.
#
# *35 minutes to read, about a minute and a half to run, most of it two trainings. You need the block of [14 · The Transformer block](14_transformer_block.ipynb), the decoder of [15 · GPT](15_gpt.ipynb), the encoder of [17 · BERT](17_bert.ipynb), and the data of [11 · Attention](11_attention.ipynb).*
#
# **The question of the day:** the recurrent translator with attention works. What do we gain if nothing in it is recurrent any more?

# %% setup

# %%
import math
import os
import time
from random import Random

import torch
from torch import nn

from course import figures
from course.training import TrainingConfig, best_device, train

torch.set_num_threads(1)  # with matrices this small, one core is faster than several
is_full = os.environ.get("COURSE_SCALE") == "full"  # four times the steps, on a GPU if there is one
device = best_device() if is_full else torch.device("cpu")

# %% [markdown]
# ## The missing link
#
# Lecture 17's encoder reads a text with every word seeing every other. Lecture 15's decoder writes a text with every word seeing those before it. For a translation the decoder must also see the source, and lecture 11 has shown how: it attends to the source before each word. In the Transformer this is **cross-attention**, the attention of lecture 12 with
# one change: the queries come from one sequence, the keys and values from another.
#
# $$Q = X W_q^\top, \qquad K = M W_k^\top, \qquad V = M W_v^\top, \qquad \text{cross}(X, M) = \text{softmax}\Big(\frac{Q K^\top}{\sqrt{d_k}} + \text{mask}\Big) V.$$
#
# | symbol | meaning | shape | in the code |
# |---|---|---|---|
# | $X$ | the decoder's vectors, one for each target position | $(T, D)$ | `x` |
# | $M$ | the **memory**: the output of the encoder's *last* layer, one vector for each source word | $(S, D)$ | `memory` |
# | $W_q, W_k, W_v$ | as in lecture 12, for one head of width $d_k$ | $(d_k, D)$ each | `W_query`, … |
# | $Q$; $K$, $V$ | queries of the target; keys and values of the source (in shapes, $V$ counts words) | $(T, d_k)$; $(S, d_k)$ | `query`; `key`, `value` |
# | mask | 0 where attending is allowed, $-\infty$ where it is not | $(T, S)$ | `mask` |
#
# Compared with lecture 11: $s_t$ has become a query, $h_i$ a key *and*, by another matrix, a value; the score is a scaled dot product. As a loop, with $B = 2$ sentences, $T = 3$, $S = 5$, $D = 6$, $d_k = 4$:

# %%
B, T, S, D, d_k = 2, 3, 5, 6, 4
generator = torch.Generator().manual_seed(0)
x, memory = torch.randn(B, T, D, generator=generator), torch.randn(B, S, D, generator=generator)
W_query, W_key, W_value = (torch.randn(d_k, D, generator=generator) for _ in range(3))
looked_up = torch.zeros(B, T, d_k)
for b in range(B):
    for t in range(T):
        query = W_query @ x[b, t]
        scores = torch.stack([query @ (W_key @ memory[b, i]) for i in range(S)]) / math.sqrt(d_k)
        weights = scores.softmax(0)  # over the S source words
        looked_up[b, t] = sum(weights[i] * (W_value @ memory[b, i]) for i in range(S))


# %%
def look(x, memory, mask=None):
    """Attention of x (B, T, D) over memory (B, S, D); mask: True = may be looked at."""
    query, key, value = x @ W_query.T, memory @ W_key.T, memory @ W_value.T
    scores = query @ key.transpose(1, 2) / math.sqrt(d_k)  # (B, T, S)
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    return scores.softmax(-1) @ value


assert torch.allclose(look(x, memory), looked_up, atol=1e-5)
look(x, memory).shape, look(x, x).shape

# %% [markdown]
# `look(x, x)` is self-attention, so nothing new had to be built. Note that `key` and `value` do *not* depend on the target. They are computed once per sentence, however many words are written.
#
# ## Three masks
#
# The model has three attentions, and each has a mask of its own, because batches are padded and the decoder must not see the future:
#
# 1. **encoder on itself**: every word of the source may look at every real word of the source;
# 2. **decoder on itself**: every position may look at itself and what precedes it: the causal mask of lecture 15, a triangle;
# 3. **decoder on the source**: every position may look at every real word of the source, at any time. There is no triangle, because the whole source is known.
#
# Choose a cell to read why it is allowed or not.

# %%
from course.data.translation_pair import TranslationConfig, translation_pairs, translation_vocabularies
from course.data.vocabulary import BOS, PAD


def padded(words, length: int) -> list[str]:
    return [*words, *[PAD] * (length - len(words))]


few = [translation_pairs(TranslationConfig(min_length=n, max_length=n), 1, Random(n))[0] for n in (5, 8, 6)]
S_most, T_most = max(len(pair.source) for pair in few), max(len(pair.target) for pair in few) + 1
figures.three_masks(
    [padded(pair.source, S_most) for pair in few], [padded([BOS, *pair.target], T_most) for pair in few]
)

# %% [markdown]
# In tensors, with `True` for *may be looked at*, each in a shape that broadcasts to (B, H, queries, keys):

# %%
source = torch.tensor([[5, 9, 4, 7, 6], [8, 4, 6, 0, 0]])  # 0 is padding
is_real = (source != 0)[:, None, None, :]  # masks 1 and 3: (B, 1, 1, S)
triangle = torch.ones(T, T, dtype=torch.bool).tril()  # mask 2: (T, T)
print(is_real[1, 0, 0].int().tolist(), triangle.int().tolist())

# %% [markdown]
# **Predict.** Why can mask 2 ignore the *target's* padding?
#
# <details><summary>Answer</summary>
#
# Padding stands at the end, so the triangle hides it from every real word. What the padded positions themselves compute is never used: the loss leaves them out.
#
# </details>
#
# ## A decoder layer
#
# A decoder layer has three residual steps, each with its norm (pre-norm, as in lecture 14): self-attention, cross-attention and the feed-forward network, which lecture 14 called MLP.
#
# $$\begin{aligned}
# x &\leftarrow x + \text{self}(\text{norm}_1(x)) && \text{what have I written?} \\
# x &\leftarrow x + \text{cross}(\text{norm}_2(x), M) && \text{what does the source say to that?} \\
# x &\leftarrow x + \text{feed-forward}(\text{norm}_3(x))
# \end{aligned}$$

# %%
from course.models import FeedForward, LayerNorm, MultiHeadAttention, TransformerConfig


class DecoderLayer(nn.Module):
    """Self-attention, cross-attention and a feed-forward network, each added to what was there."""

    def __init__(self, config: TransformerConfig):
        super().__init__()
        self.attention = MultiHeadAttention(config.d_model, config.n_heads)
        self.cross_attention = MultiHeadAttention(config.d_model, config.n_heads)
        self.feed_forward = FeedForward(config)
        self.norm_attention = LayerNorm(config.d_model)
        self.norm_cross_attention = LayerNorm(config.d_model)
        self.norm_feed_forward = LayerNorm(config.d_model)

    def forward(self, x, memory, source_mask, is_causal=True):
        """x (B, T, D), memory (B, S, D), source_mask (B, 1, 1, S) → (B, T, D)."""
        own = self.norm_attention(x)
        x = x + self.attention(own, own, own, is_causal=is_causal)
        x = x + self.cross_attention(self.norm_cross_attention(x), memory, memory, source_mask)
        return x + self.feed_forward(self.norm_feed_forward(x))


# %% [markdown]
# **Predict, then run:** how many more weights does a decoder layer have than an encoder layer, for $D = 64$?

# %%
from course.models import EncoderLayer

sizes = TransformerConfig(d_model=64, n_heads=4, n_layers=2, d_ff=256, is_pre_norm=True)
n_encoder, n_decoder = (
    sum(w.numel() for w in layer(sizes).parameters()) for layer in (EncoderLayer, DecoderLayer)
)
figures.prediction(
    "How many more weights does a decoder layer have than an encoder layer, for D = 64?",
    n_decoder - n_encoder,
    between=(100, 1_000_000),
    is_logarithmic=True,
    unit="weights",
)

# %%
print(f"encoder layer {n_encoder:,}, decoder layer {n_decoder:,}, difference {n_decoder - n_encoder:,}")
assert n_decoder - n_encoder == 4 * 64**2 + 4 * 64 + 2 * 64

# %% [markdown]
# <details><summary>Answer</summary>
#
# One more attention, $4 D^2 + 4 D$, and one more norm, $2 D$.
#
# </details>
#
# ## The whole model
#
# The model consists of embeddings with positions for source and target (lecture 13), the encoder of lecture 17, and a stack of decoder layers that **all look at the same memory**. The matrix that embeds the target's words also scores them, as in the paper.
#
# The drawing shows the whole model, in the paper's post-norm order.

# %%
figures.machine("transformer")

# %% [markdown]
# **A question:** while one word after the other is written, which half of the drawing has to be computed only once?
#
# <details><summary>Answer</summary>
#
# The left one. No arrow leads from the target into it, so the memory stays the same for every word that is written, and with it the keys and values that each decoder layer makes of it.
#
# </details>


# %%
def initialise(model: nn.Module, D: int) -> None:
    """First weights: embeddings of deviation 1/√D, matrices as Glorot and Bengio (2010) draw them."""
    for name, weight in model.named_parameters():
        if "embedding" in name:
            nn.init.normal_(weight, std=1 / math.sqrt(D))
        elif weight.ndim == 2:
            nn.init.xavier_uniform_(weight)


# %%
from course.models import Encoder, SinusoidalPositions


class EncoderDecoder(nn.Module):
    """The Transformer of 2017: an encoder reads the source, a decoder scores the words of the target."""

    def __init__(
        self, source_vocab_size: int, vocab_size: int, config: TransformerConfig, is_causal: bool = True
    ):
        super().__init__()
        self.D, self.vocab_size, self.is_causal = config.d_model, vocab_size, is_causal
        self.source_embedding = nn.Embedding(source_vocab_size, self.D)
        self.target_embedding = nn.Embedding(vocab_size, self.D)
        self.positions = SinusoidalPositions(128, self.D)
        self.encoder = Encoder(config)
        self.decoder = nn.ModuleDict(
            {
                "layers": nn.ModuleList(DecoderLayer(config) for _ in range(config.n_layers)),
                "norm": LayerNorm(self.D),
            }
        )
        initialise(self, self.D)

    def embed(self, tokens, embedding):
        return embedding(tokens) * math.sqrt(self.D) + self.positions(tokens.shape[1])  # (B, T, D)

    def encode(self, source):
        """The memory (B, S, D) and the mask of its real words (B, 1, 1, S)."""
        is_real = (source != 0)[:, None, None, :]
        return self.encoder(self.embed(source, self.source_embedding), is_real), is_real

    def decode(self, target, memory, is_real):
        """Logits (B, T, V) of the word after each position of `target`."""
        x = self.embed(target, self.target_embedding)
        for layer in self.decoder["layers"]:
            x = layer(x, memory, is_real, self.is_causal)
        return self.decoder["norm"](x) @ self.target_embedding.weight.T


# %% [markdown]
# As in lecture 10 it is used in two ways: with teacher forcing all positions are computed at once; free running goes from one word to the next.


# %%
class Translator(EncoderDecoder):
    """The encoder-decoder, trained with teacher forcing and run free."""

    def forward(self, source, target):
        """Teacher forcing, all T positions at once: log-probabilities of the next words."""
        return self.decode(target, *self.encode(source)).log_softmax(-1)

    @torch.no_grad()
    def translate(self, source, bos, eos, max_length):
        """Free running, one word after another: the source is read once; after </s> comes only </s>."""
        memory, is_real = self.encode(source)
        tokens = torch.full_like(source[:, :1], bos)
        while tokens.shape[1] <= max_length and not (tokens[:, -1] == eos).all():
            best = self.decode(tokens, memory, is_real)[:, -1:].argmax(-1)
            best = best.masked_fill(tokens[:, -1:] == eos, eos)
            tokens = torch.cat([tokens, best], dim=1)
        return tokens[:, 1:]


# %% [markdown]
# ## What goes wrong without each mask
#
# The data are those of lectures 10 and 11: 12,000 generated sentences of 4 to 15 words, with the one right translation of each.

# %%
from course.translation_experiment.parallel_text import ShuffledPairs, parallel_text, teacher_forcing_loss

data = TranslationConfig(min_length=4, max_length=15)
english, french = translation_vocabularies(data.lexicon)
pairs = translation_pairs(data, 12_000, Random(0))
known = {pair.source for pair in pairs}


def encoded(some):
    return parallel_text([(pair.source, pair.target) for pair in some], english, french)


text = encoded(pairs)


def fit(model: nn.Module, text, n_steps: int, learning_rate: float):
    """Train in place on pairs, 64 at a time, and return what happened."""
    n_steps = 4 * n_steps if is_full else n_steps
    config = TrainingConfig(n_steps, learning_rate, n_warmup_steps=n_steps // 6)
    return train(model, ShuffledPairs(text, 64), config, loss=teacher_forcing_loss, device=device)


# %% [markdown]
# **Without the triangle** (mask 2) position $t$ may look at word $t + 1$ of the target, which is the answer. **Predict, then run:** what happens to the loss in 200 steps on the shorter sentences, and to the translations?

# %% trained
from course.translation_experiment.quality import quality, translations

short = encoded([pair for pair in pairs if len(pair.source) <= 8])
test = translation_pairs(TranslationConfig(min_length=5, max_length=8), 60, Random(5), exclude=known)
loss, bleu, example = {}, {}, {}
for is_causal in (True, False):
    torch.manual_seed(0)
    model = Translator(len(english), len(french), sizes, is_causal)
    loss[is_causal] = sum(fit(model, short, 200, 5e-3).losses[-20:]) / 20
    written = translations(model.cpu(), encoded(test), french)
    bleu[is_causal] = quality(written, [pair.target for pair in test]).bleu
    example[is_causal] = " ".join(written[0][:8])

# %%
is_lower, is_better = loss[False] < loss[True], bleu[False] > bleu[True]
options = {
    "a lower loss and better translations": is_lower and is_better,
    "a lower loss and worse translations": is_lower and not is_better,
    "a higher loss": not is_lower,
}
figures.prediction("What does the model without the triangle reach?", options)

# %%
for is_causal in (True, False):
    print(f"triangle {is_causal!s:5}: loss {loss[is_causal]:.2f}, free running BLEU {bleu[is_causal]:.1f}")
    print(f"  for example “{example[is_causal]}”")
assert bleu[False] < 5

# %% [markdown]
# <details><summary>Answer</summary>
#
# The loss is excellent, and there is no translation. The model has learned to copy the next word from its input, and when it writes by itself there is no next word to copy.
#
# </details>
#
# A loss too good to be true is the symptom to remember.
#
# **Without masks 1 or 3** a sentence's translation depends on how much padding the other sentences of its batch add to it:

# %%
torch.manual_seed(0)
model = Translator(len(english), len(french), sizes).eval()
alone, in_a_batch = torch.tensor([[8, 4, 6]]), torch.tensor([[8, 4, 6, 0, 0]])
target = torch.tensor([[1, 7, 5]])
with torch.no_grad():
    right, _ = model.encode(alone)
    masked, is_real = model.encode(in_a_batch)
    everything = torch.ones_like(is_real)
    unmasked = model.encoder(model.embed(in_a_batch, model.source_embedding), everything)
    cross = [
        model.decode(target, masked, mask)[0, -1]
        - model.decode(target, right, torch.ones(1, 1, 1, 3).bool())[0, -1]
        for mask in (is_real, everything)
    ]
print(
    f"memory of the three words moves by {(masked[:, :3] - right).norm():.3f} with mask 1, "
    f"by {(unmasked[:, :3] - right).norm():.2f} without"
)
print(f"logits move by {cross[0].norm():.3f} with mask 3, by {cross[1].norm():.2f} without")
assert (masked[:, :3] - right).norm() < 1e-4 < (unmasked[:, :3] - right).norm()
assert cross[0].norm() < 1e-4 < cross[1].norm()

# %% [markdown]
# ## Against lecture 11
#
# Both models get the same pairs, the same batches and the same number of steps, and have about the same number of weights. Each has a learning rate chosen by hand (0.008 for RNNsearch, 0.003 for the Transformer).

# %%
from course.models import Seq2Seq, Seq2SeqConfig
from course.translation_experiment.translator_sizes import config_of, n_parameters

common = Seq2SeqConfig(len(english), len(french), d_embedding=48, d_hidden=96, attention="additive")
models, histories = {}, {}
for name, make, learning_rate in (
    ("RNNsearch", lambda: Seq2Seq(config_of("RNNsearch", common)), 8e-3),
    ("Transformer", lambda: Translator(len(english), len(french), sizes), 3e-3),
):
    torch.manual_seed(0)
    models[name] = make()
    histories[name] = fit(models[name], text, 600, learning_rate)
    models[name].cpu().eval()

# %%
from course import plots
from course.translation_experiment.pictures import COLOURS

losses = {name: history.losses for name, history in histories.items()}
figure = plots.loss_curves(losses, unit="nats per word", colours=COLOURS)
figures.still(
    figure,
    alt=figure.alt_text,
    caption="Both find where to look, RNNsearch first. The Transformer is still a little behind in the end.",
)


# %%
def first_below(losses: list[float], nats: float) -> int:
    """When the mean of the last twenty losses is first below a number of nats per word, to ten steps."""
    means = torch.tensor(losses).unfold(0, 20, 1).mean(-1)
    return round(20 + int((means < nats).int().argmax()), -1)


ends = {name: sum(history.losses[-20:]) / 20 for name, history in histories.items()}
for name, history in histories.items():
    steps = ", ".join(f"{nats} after about {first_below(history.losses, nats)}" for nats in (1.0, 0.1))
    print(f"{name:11} below {steps} of {history.n_steps} steps; {ends[name]:.3f} at the end")
assert ends["RNNsearch"] < ends["Transformer"]
assert first_below(histories["RNNsearch"].losses, 1.0) < first_below(histories["Transformer"].losses, 1.0)

# %% [markdown]
# In this run the Transformer takes longer to learn where to look, and has fewer steps left to become exact. There are two possible reasons. The recurrent translator gets word order for free, while the Transformer must learn what its sines and cosines mean. And the Transformer's learning rate is smaller.
#
# This is one seed, one budget of 600 steps and one kind of positions. The record below has more of each.
#
# **Quality**, free running, on sentences of each length that were not trained on:

# %%
lengths = (5, 10, 15, 20, 25, 30)
tests = {
    length: translation_pairs(
        TranslationConfig(min_length=length, max_length=length), 60, Random(length), exclude=known
    )
    for length in lengths
}

# %%
written = {
    name: {length: translations(model, encoded(some), french) for length, some in tests.items()}
    for name, model in models.items()
}
results = {
    name: {length: quality(mine[length], [pair.target for pair in tests[length]]) for length in lengths}
    for name, mine in written.items()
}
for name, by_length in results.items():
    print(
        f"{name:11} exact",
        "  ".join(f"{length}: {result.exact_match:4.0%}" for length, result in by_length.items()),
    )
    print(
        f"{'':11} BLEU ", "  ".join(f"{length}: {result.bleu:4.0f}" for length, result in by_length.items())
    )

# %%
drawn = ("Transformer", "RNNsearch")  # the second is blue, as in the pictures before and after
examples = {
    length: [
        (pair.source, pair.target, [written[name][length][i] for name in drawn])
        for i, pair in enumerate(tests[length][:3])
    ]
    for length in lengths
}
figures.bottleneck(
    {name: {length: result.bleu for length, result in results[name].items()} for name in drawn},
    examples,
    trained_up_to=15,
    measure="BLEU",
    highest=100,
    caption="Both translate what they were trained on. Move the slider beyond 15 words.",
)

# %% [markdown]
# Within the trained lengths both are good in this run, but the Transformer is behind: the longer the sentence, the more often one of its words is wrong. Beyond them it falls faster.
#
# Is this due to the one seed, or to the few steps? `python -m course.translation_experiment budgets` trains the same models with three seeds, and a third model whose heads rotate queries and keys instead of adding sines and cosines (lecture 13). Its record has 600 steps and four times as many; the bars go from the lowest seed to the highest. **Predict, then run:** with four times the steps, does the Transformer catch up at 15 words, and at 30?

# %%
from course.translation_experiment.pictures import bleu_by_steps, by_model
from course.translation_experiment.records import recorded_results
from course.translation_experiment.tables import at_length, in_words, with_range

budgets = {scale: recorded_results(f"budgets_{scale}") for scale in ("1x", "4x")}
longer = {same[0]["kind"]: same for same in by_model(budgets["4x"]["runs"]).values()}
options = {}
for n in (15, 30):
    lowest, highest = (
        end(at_length(longer[kind], n, "bleu")) for end, kind in ((min, "RNNsearch"), (max, "Transformer"))
    )
    options[f"at {n} words"] = highest >= lowest  # the ranges of the seeds meet
figures.prediction("Where does the Transformer catch up with RNNsearch?", options)

# %%
for each in budgets.values():
    print("stored results of:", each["command"], sep="\n")

# %%
figures.still(
    bleu_by_steps([each["runs"] for each in budgets.values()]),
    alt="BLEU by words in the source, from 5 to 30. "
    + " ".join(
        f"After {each['config']['n_steps']:,} steps: {in_words(each['runs'])}." for each in budgets.values()
    ),
    caption="Up to 15 words (dotted) all three are near 100, after 2,400 steps equally near. Beyond, all fall, "
    "and at 30 words RNNsearch has fallen least.",
)

# %%
for each in budgets.values():
    for model, same in by_model(each["runs"]).items():
        errors = with_range([100 * run["alignment_error_rate"] for run in same], 1)
        told = ", ".join(f"{with_range(at_length(same, n, 'bleu'))} at {n}" for n in (15, 20, 30))
        print(f"{same[0]['n_steps']:5,} steps × {len(same)}, {model:19} BLEU {told}")
        print(f"{'':34} alignment error {errors} %")

# %%
bleu = {
    (scale, same[0]["kind"], n): at_length(same, n, "bleu")
    for scale, each in budgets.items()
    for same in by_model(each["runs"]).values()
    for n in (15, 20, 30)
}
assert min(min(bleu["4x", kind, 15]) for kind in ("RNNsearch", "Transformer", "rotary")) > 98
assert max(bleu["4x", "Transformer", 20]) < min(bleu["1x", "Transformer", 20])
assert max(bleu["4x", "Transformer", 20]) < min(bleu["4x", "rotary", 20])
for scale in budgets:
    assert min(bleu[scale, "RNNsearch", 30]) > max(bleu[scale, "Transformer", 30])
    assert min(bleu[scale, "Transformer", 30]) > max(bleu[scale, "rotary", 30])

# %% [markdown]
# After 600 steps the order beyond the trained lengths is the same with every seed, and within them RNNsearch is slightly ahead. After 2,400 steps nothing separates the three within the trained lengths: at 15 words every run is above 98 BLEU, and their alignment errors overlap. What the Transformer lacked there was training. Beyond the trained lengths, RNNsearch stays ahead at 30 words with every seed, and more training does not help the Transformer with sines and cosines: at 20 words it is worse than after 600 steps, with every seed. It has learned more about the positions that it meets in training, and only about those. The Transformer with rotations is now the better of the two at 20 words, with every seed but by very different amounts, and stays last at 30. Here are the same seeds with sixteen times the steps:

# %%
for model, same in by_model(recorded_results("budgets_16x")["runs"]).items():
    bleu |= {("16x", same[0]["kind"], n): at_length(same, n, "bleu") for n in (15, 20, 30)}
    told = ", ".join(f"{with_range(at_length(same, n, 'bleu'))} at {n}" for n in (15, 20, 30))
    print(f"{same[0]['n_steps']:5,} steps × {len(same)}, {model:19} BLEU {told}")

assert min(bleu["16x", "RNNsearch", 30]) > max(*bleu["16x", "Transformer", 30], *bleu["16x", "rotary", 30])
for n in (20, 30):
    assert max(bleu["16x", "Transformer", n]) < min(bleu["4x", "Transformer", n])
assert max(bleu["16x", "Transformer", 20]) < min(bleu["16x", "rotary", 20])

# %% [markdown]
# At 30 words RNNsearch is about as good as before, and ahead with every seed. The Transformer with sines and cosines has fallen further, at 20 and at 30 words. The one with rotations is now above it at 20 words with every seed; at 30 their ranges overlap. (The paper's Transformer took 100,000 steps.)
#
# Why does the Transformer with sines and cosines fall beyond the trained lengths? One possible reason is that it has never met the sines and cosines of these positions. Test this with short sentences, of ten words, whose positions do not start at 1.

# %%
places = models["Transformer"].positions
usual = places.table
by_place = {}
for first in (0, 5, 20, 40):
    places.table = usual.roll(-first, 0)  # place 1 gets the sines and cosines of place 1 + first
    mine = translations(models["Transformer"], encoded(tests[10]), french)
    by_place[first] = quality(mine, [pair.target for pair in tests[10]]).bleu
    print(f"ten words at places {first + 1} to {first + 10}: BLEU {by_place[first]:.0f}")
places.table = usual
assert by_place[40] < 0.5 * by_place[0]

# %% [markdown]
# The sentences are the same; the positions alone spoil the translations. A recurrent network has no position vectors that could be new to it. The simple remedy is to train on all lengths that will be needed. Rotary positions depend on distances only, but distances beyond the trained lengths are new as well. In the record above, after enough training, they help a little just beyond the trained lengths, but not far beyond.
#
# **Alignment.** The Transformer has not one map but one for each head of each layer. Compare each with the gold alignment, linking each target word to the source word of the largest weight:

# %%
from course.models import attention_maps
from course.translation_experiment.quality import attention_links, error_rate, most_looked_at

within = [pair for length in (5, 10, 15) for pair in tests[length]]


def links_of_heads(model: nn.Module) -> dict[str, list]:
    """Layer and head → links of all sentences in `within`; a layer's mean over heads as well."""
    some = encoded(within)
    with torch.no_grad(), attention_maps(model) as maps:
        model(some.source.tokens, some.target.tokens[:, :-1])
    crossing = [weights for name, weights in maps.items() if "cross" in name]  # L times (B, H, T, S)
    found = {}
    for layer, weights in enumerate(crossing, start=1):
        found[f"layer {layer}, mean of heads"] = weights.mean(dim=1)
        found |= {f"layer {layer}, head {head + 1}": weights[:, head] for head in range(weights.shape[1])}
    return {
        name: [most_looked_at(each, len(pair.target)) for each, pair in zip(weights, within, strict=True)]
        for name, weights in found.items()
    }


rates = {"RNNsearch": error_rate(attention_links(models["RNNsearch"], within, english, french), within)}
rates |= {name: error_rate(links, within) for name, links in links_of_heads(models["Transformer"]).items()}
for name, rate in rates.items():
    print(f"{name:22} alignment error rate {rate:6.1%}")

# %% [markdown]
# The recurrent translator has one attention per word, which must find the right place. In the Transformer the heads divide the work: no head is as exact as RNNsearch, one mostly does something else, and the mean over the heads of the last layer comes closest. Here is the clearest single head:

# %%
best = min((name for name in rates if "head " in name), key=rates.get)
layer, head = (int(part.split()[1]) - 1 for part in best.split(", "))
chosen = [pair for pair in tests[10] + tests[15] if len(pair.target) <= 18][:5]
some = encoded(chosen)
with torch.no_grad(), attention_maps(models["Transformer"]) as maps:
    models["Transformer"](some.source.tokens, some.target.tokens[:, :-1])
weights = [weights for name, weights in maps.items() if "cross" in name][layer][:, head]
figures.alignment(
    list(weights), chosen, caption=f"The Transformer's {best}. Flip the switch to see the gold alignment."
)

# %% [markdown]
# **Speed.** First the record: what did one step of training cost, and what did all of them cost?

# %%
print("processor time of the quickest seed, one core")
for each in budgets.values():
    for model, same in by_model(each["runs"]).items():
        milliseconds, n_steps = min(run["cpu_milliseconds_per_step"] for run in same), same[0]["n_steps"]
        print(
            f"{model:19} {milliseconds:3.0f} ms a step, {n_steps:5,} steps in {milliseconds * n_steps / 1000:4.0f} s"
        )

# %% [markdown]
# With 64 short sentences per step the three cost about the same: so many sentences keep one core busy in every model, and only the *amount* of arithmetic counts. So for this pair of languages, on one core, the Transformer is nowhere better: with four times the training it becomes equally good within the trained lengths. Its advantage begins where there is less to do at once. Here are the times with eight sentences per step, for longer and longer sentences:


# %%
def fastest(call, n_times: int = 3) -> float:
    """Seconds of processor time of the fastest of a few calls; other programs disturb it less than a clock."""
    best = math.inf
    for _ in range(n_times):
        began = time.process_time()
        call()
        best = min(best, time.process_time() - began)
    return best


def one_step(model: nn.Module, T: int) -> None:
    """Forwards and backwards for 8 random sentences of T words on both sides."""
    words = torch.randint(4, 100, (8, T), generator=torch.Generator().manual_seed(T))
    model(words, words).mean().backward()


for name, model in models.items():
    steps = {T: 1000 * fastest(lambda model=model, T=T: one_step(model, T)) for T in (10, 40, 120)}
    print(
        f"{name:11} {n_parameters(model):,} weights;",
        ", ".join(f"{T} words {ms:.1f} ms" for T, ms in steps.items()),
    )

# %% [markdown]
# (The milliseconds are those of the machine that ran this page last.) The Transformer is quicker even on one core, the more so the longer the sentences are, because the recurrent translator takes its time steps one by one. Count what must wait: operations that follow one another in one training pass, for $S$ source words, $T$ target words and $L$ layers on each side.


# %%
def chain(S: int, T: int, L: int) -> dict[str, int]:
    """Recurrent steps and the look that follows them, or layers."""
    return {"RNNsearch": S + T + 1, "Transformer": L + L}


for S in (10, 40, 120):
    print(f"S = T = {S:3}: {chain(S, S, 2)}")

# %% [markdown]
# On a processor that does thousands of products at once, the time depends on the length of this chain.
#
# When *writing*, both produce one word after another, and our Transformer repeats all its work for each word. Much of it does not change: in each layer the keys and values of the words written so far (lecture 15), and those of the source. `course.models.Translator` is our class with a **cache** for them. Each step then reads one word, and the source is projected once. **Predict, then run:** which of the three writes fastest?

# %%
from course.models import Translator as LibraryTranslator
from course.models import TranslatorConfig

cached = LibraryTranslator(TranslatorConfig(len(english), len(french), d_model=64, d_ff=256)).eval()
cached.load_state_dict(models["Transformer"].state_dict())
some = encoded(tests[10])
assert translations(cached, some, french) == translations(models["Transformer"], some, french)
seconds = {
    name: fastest(lambda model=model: translations(model, some, french))
    for name, model in (models | {"Transformer with a cache": cached}).items()
}
for name, each in seconds.items():
    print(f"{name:24} {len(some)} sentences in {each:.3f} s")
assert seconds["Transformer with a cache"] < seconds["Transformer"]

# %% [markdown]
# <details><summary>Answer</summary>
#
# The words are the same, and the cache saves about half of the time here, more in longer translations. RNNsearch still writes fastest: its step is one cell and one attention, while the Transformer's is two layers of three parts each.
#
# </details>
#
# **Real captions.** The generated pair has short sentences and two hundred words. What holds on real text? Here are the stored results on Multi30k, English to French, for models of about the same size:

# %%
captions = recorded_results("captions_small")
print("stored results of:", captions["command"], sep="\n")
for run in captions["runs"]:
    cost = f", {ms:.0f} ms of processor time a step" if (ms := run.get("cpu_milliseconds_per_step")) else ""
    print(
        f"{run['kind']:11} seed {run['seed']}: BLEU {run['bleu']:.1f}, {run['n_parameters']:,} weights{cost}"
    )

bleu_of = {
    kind: [run["bleu"] for run in captions["runs"] if run["kind"] == kind]
    for kind in ("RNNenc", "RNNsearch", "Transformer")
}
assert max(bleu_of["RNNenc"]) < min(bleu_of["RNNsearch"]) - 18
assert max(bleu_of["RNNsearch"]) < min(bleu_of["Transformer"]) - 5

# %% [markdown]
# Here the order is reversed. With every seed, attention is worth some twenty points of BLEU, and the Transformer, with about as many weights and as many steps, seven to nine more. (The learning rates were chosen by hand; the processor time was measured on a busy machine.) There are two possible explanations. Nearly all test captions have lengths that occur in training, so new positions cost the Transformer little. And there is far more to learn about words than in the generated pair.
#
# ## The ladder
#
# Lecture 11's ladder with the new rung, in bits per French word; the floor is 0.

# %%
from course.evaluation import evaluating, score, target_nll
from course.models import KneserNey, NGramCounts, Uniform

test_text = encoded(translation_pairs(data, 300, Random(99), exclude=known))


@torch.no_grad()
def bits_given_source(model: nn.Module) -> float:
    """Bits per target word, </s> included, under teacher forcing."""
    with evaluating(model):
        source, inputs, targets, mask = test_text.example(torch.arange(len(test_text)))
        nats = target_nll(model(source, inputs), targets)
    return (nats[mask].sum() / mask.sum() / math.log(2)).item()


sentences = [tokens[mask] for tokens, mask in zip(text.target.tokens, text.target.mask, strict=True)]
rungs = {"uniform": Uniform(len(french))}
for n, name in ((1, "unigram"), (3, "trigram")):
    rungs[name] = KneserNey(NGramCounts(sentences, n, len(french), french.bos))
bits = {name: score(rung, test_text.target).bits_per_token for name, rung in rungs.items()}
bits |= {f"{name}, with source": bits_given_source(model) for name, model in models.items()}
for name, value in bits.items():
    print(f"{name:24} {value:.3f} bits per word")

# %% [markdown]
# The course's own ladder counts language models, so nothing moves on it today:

# %%
figures.rungs("Transformer")

# %% [markdown]
# ## Three families
#
# Now you have met all three forms of the Transformer:
#
# | | encoder (17) | decoder (15) | encoder-decoder (18) |
# |---|---|---|---|
# | attention | on itself, both ways | on itself, causal | both, and decoder on encoder |
# | learns from | hidden words | the next word | the next target word, given a source |
# | made for | understanding: labels, spans | continuing a text | turning one text into another |
# | example | BERT | GPT | the Transformer of 2017, T5, BART |
#
# A decoder alone can translate too: give it the source and a separator, and let it continue. Then one stack does both jobs, and even the source sees itself only through the causal mask. Most large language models today are built that way; encoder-decoders live on where input and output differ in kind, as in speech recognition.
#
# The model of 2017 had the form above, with each norm after its sum, $D = 512$, $L = 6$ and $H = 8$ heads. A larger version reached 28.4 BLEU from English to German (WMT 2014; quoted from the paper). That was more than any system before it, at a fraction of the training cost.
#
# ## The same in the library
#
# Compare our decoder layer with that of `torch.nn`, and our translator with that of `course.models`, each with the same weights:

# %%
from course.models import copy_from_torch

theirs = nn.TransformerDecoderLayer(64, 4, 256, dropout=0.0, batch_first=True, norm_first=True)
reference = LibraryTranslator(
    TranslatorConfig(len(english), len(french), d_model=64, d_ff=256)
).decoder.layers[0]
copy_from_torch(reference, theirs)
ours = DecoderLayer(sizes)
ours.load_state_dict(reference.state_dict())
x, memory = torch.randn(2, 3, 64, generator=generator), torch.randn(2, 5, 64, generator=generator)
everything = torch.ones(2, 1, 1, 5, dtype=torch.bool)
expected = theirs(
    x, memory, tgt_mask=~torch.ones(3, 3, dtype=torch.bool).tril()
)  # in torch.nn, True = may NOT be looked at
assert torch.allclose(ours(x, memory, everything), expected, atol=1e-5)

# %%
source, inputs, _, _ = text.example(torch.arange(5))
with torch.no_grad():
    assert torch.allclose(cached(source, inputs), models["Transformer"](source, inputs), atol=1e-5)
print("we have just built course.models.Translator")

# %% [markdown]
# ## Recap
#
# - Cross-attention: queries from the decoder, keys and values from the encoder's last layer; the source is read once.
# - Three masks: real source words, the triangle, real source words again. Without the triangle the decoder copies its answer.
# - A decoder layer applies self-attention, cross-attention and a feed-forward network; all layers look at the same memory.
# - On the same data the Transformer needs more steps than the recurrent translator to be as good within the trained lengths; beyond them it is worse, with every seed, after 600, 2,400 and 9,600 steps. On real captions it is ahead with every seed. It has many alignment maps, and the heads share the work.
# - Its gain is parallel training: the chain of operations that wait does not grow with the sentence.
#
# **In the homework:** [hw7 · BERT and translation](../homeworks/hw7_bert_and_translation/hw7_bert_and_translation.ipynb), the exercises on cross-attention and the encoder-decoder. The last lecture: [19 · The whole ladder](19_the_whole_ladder.ipynb).
#
# ## Exercises
#
# **1.** The source has 7 words, the target 5, and there are 8 heads. How many weights of cross-attention are there in one layer?
#
# <details><summary>Answer</summary>
#
# $8 \cdot 5 \cdot 7 = 280$.
#
# </details>
#
# **2.** A single sentence is translated, without padding. Which of the three masks is needed?
#
# <details><summary>Answer</summary>
#
# Only the triangle, and only in training: during generation, the future does not exist yet.
#
# </details>
#
# **3.** How many more weights does a decoder layer of width 512 have than an encoder layer?
#
# <details><summary>Answer</summary>
#
# $4 \cdot 512^2 + 4 \cdot 512 + 2 \cdot 512 = 1{,}051{,}648$: one attention and one norm.
#
# </details>
#
# **4.** *(long)* Shuffle the rows of the memory. Does the output of cross-attention change? How, then, does the decoder learn the order of the source?
#
# <details><summary>Answer</summary>
#
# It does not change: the softmax and the sum run over a set. The order reaches the decoder only through what the encoder has written *into* the vectors of the memory, from the positions at its input.
#
# ```python
# import torch
# from course.models import scaled_dot_product_attention
#
# generator = torch.Generator().manual_seed(0)
# x, memory = torch.randn(5, 6, generator=generator), torch.randn(7, 6, generator=generator)
# W_query, W_key, W_value = torch.randn(3, 6, 6, generator=generator)
# order = torch.randperm(7, generator=generator)
#
#
# def cross(memory: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
#     return scaled_dot_product_attention(x @ W_query, memory @ W_key, memory @ W_value)
#
#
# (before, weights), (after, moved) = cross(memory), cross(memory[order])
# assert torch.allclose(before, after, atol=1e-5)
# assert torch.allclose(weights[:, order], moved, atol=1e-5)
# assert not order.equal(torch.arange(7))
# ```
#
# </details>
#
# ## Further reading
#
# - Ashish Vaswani, Noam Shazeer, Niki Parmar, Jakob Uszkoreit, Llion Jones, Aidan N. Gomez, Łukasz Kaiser and Illia Polosukhin, ["Attention Is All You Need"](https://arxiv.org/abs/1706.03762), NIPS 2017.
# - Xavier Glorot and Yoshua Bengio, ["Understanding the Difficulty of Training Deep Feedforward Neural Networks"](https://proceedings.mlr.press/v9/glorot10a.html), AISTATS 2010.
# - Colin Raffel, Noam Shazeer, Adam Roberts, Katherine Lee, Sharan Narang, Michael Matena, Yanqi Zhou, Wei Li and Peter J. Liu, ["Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer"](https://jmlr.org/papers/v21/20-074.html), *Journal of Machine Learning Research* 21 (2020).
# - Mike Lewis, Yinhan Liu, Naman Goyal, Marjan Ghazvininejad, Abdelrahman Mohamed, Omer Levy, Veselin Stoyanov and Luke Zettlemoyer, ["BART: Denoising Sequence-to-Sequence Pre-training for Natural Language Generation, Translation, and Comprehension"](https://aclanthology.org/2020.acl-main.703), ACL 2020.
# - Yun Chen, Yang Liu, Guanhua Chen, Xin Jiang and Qun Liu, ["Accurate Word Alignment Induction from Neural Machine Translation"](https://aclanthology.org/2020.emnlp-main.42), EMNLP 2020.
# - Simon J. D. Prince, [*Understanding Deep Learning*](https://udlbook.github.io/udlbook/), MIT Press, 2023, chapter 12.
