# %% [markdown]
# # 11 · Attention
#
# **You will be able to**
#
# - write attention in three lines: scores, weights, context;
# - score a query against a key in three ways, and mask what is not there;
# - train a translator that looks back, and read its alignment map;
# - judge such a map against the truth by its error rate;
# - say which limit of lecture 10 is gone, and which remains.
#
# *35 minutes to read, about a minute to run. Before this: [10 · Sequence to sequence](10_sequence_to_sequence.ipynb).*
#
# **The question of the day:** what if the decoder may look back at the source before every word?

# %% setup

# %%
import math
import os
from collections import Counter
from random import Random

import matplotlib.pyplot as plt
import torch
from torch import nn

from course import figures
from course.training import TrainingConfig, best_device, train

torch.set_num_threads(1)  # with matrices this small, one core is faster than several
is_full = os.environ.get("COURSE_SCALE") == "full"  # four times the steps, on a GPU if there is one
device = best_device() if is_full else torch.device("cpu")

# %% [markdown]
# ## Keep all states
#
# In lecture 10 the encoder's states $h_1 \dots h_{S-1}$ were thrown away, and the decoder had only the last one. A human translator works differently: before writing each word, the translator looks back at the part of the source that it comes from. So keep all the states, and give each step $t$ of the decoder **its own summary** $c_t$: an average of the
# states, in which the states that matter now weigh most. The network learns what matters (Bahdanau, Cho and Bengio, 2015).
#
# Attention takes three lines. The decoder's state $s$ is the **query**. It is compared with every $h_i$, the **keys**, and the answer is an average of the **values**, which are the same $h_i$ again.
#
# $$\begin{aligned}
# e_{ti} &= \text{score}(s, h_i) && \text{how well does word } i \text{ answer?} \\
# \alpha_{ti} &= \frac{\exp(e_{ti})}{\sum_{k=1}^{S} \exp(e_{tk})} && \text{weights that sum to one} \\
# c_t &= \sum_{i=1}^{S} \alpha_{ti}\, h_i && \text{the average}
# \end{aligned}$$
#
# | symbol | meaning | shape | in the code |
# |---|---|---|---|
# | $S$, $T$ | words of the source, words of the target | | `S`, `T` |
# | $D$, $D_h$ | width of the decoder's states, of the encoder's | | `D`, `D_h` |
# | $N$ | hidden units of the additive score | | `N` |
# | $h_i$ | the encoder's state at source word $i$ = $1 \dots S$ | $(D_h)$ | `memory[i]` |
# | $s$ | the query, a state of the decoder: $s_{t-1}$ or $s_t$, see below | $(D)$ | `s` |
# | $e_{ti}$ | score of word $i$ at step $t$, any number | | `scores` |
# | $\alpha_{ti}$ | attention weight: from 0 to 1, each row sums to 1 | $(T, S)$ in all | `weights` |
# | $c_t$ | the context of step $t$ | $(D_h)$ | `contexts` |
#
# Compute it by hand, with the simplest score, the dot product, for four source words and states of $D = 3$ numbers:

# %%
memory = torch.tensor([[1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 1.0, 1.0], [0.0, 0.0, 1.0]])  # (S=4, D=3)
s = torch.tensor([0.0, 2.0, -1.0])
scores = [sum(s[d] * h[d] for d in range(3)) for h in memory]  # e_i, one loop
exponentials = [math.exp(e) for e in scores]
weights = [each / sum(exponentials) for each in exponentials]
context = sum(weight * h for weight, h in zip(weights, memory, strict=True))
print("scores ", [f"{e:.2f}" for e in scores])
print("weights", [f"{weight:.3f}" for weight in weights], " context", context)

# %% [markdown]
# **Predict, then run.** (a) The query is doubled, $2s$: are the weights sharper or flatter? (b) It is zero. What is the context then?
#
# <details><summary>Answer</summary>
#
# (a) Sharper: the differences of the scores double. (b) All scores are zero, all weights $1/S$, and the context is the plain mean of the states. Attention can always fall back on that.
#
# </details>

# %%
for query in (s, 2 * s, 0 * s):
    weights = (memory @ query).softmax(0)
    print("weights", weights.numpy().round(3), " context", (weights @ memory).numpy().round(3))

# %% [markdown]
# Attention is like a dictionary with soft lookup: a query is compared with all keys, and the answer is a mixture of values. Here keys and values are the same $h_i$; lecture 12 separates them. And it is differentiable: the gradient says in which direction each score should change.
#
# ## Three scores
#
# The dot product needs $D = D_h$, and each number must mean the same in both states. Two other scores need neither:
#
# $$\text{dot: } s \cdot h \qquad\quad \text{bilinear: } s^\top W h \qquad\quad \text{additive: } v^\top \tanh(W_q s + W_k h)$$
#
# with $W: (D, D_h)$, and for the additive score a small network of $N$ hidden units, $W_q: (N, D)$, $W_k: (N, D_h)$, $v: (N)$. Bahdanau and others used the additive one; Luong, Pham and Manning (2015) compared all three. First compute them in a loop over every pair:

# %%
B, T, S, D, D_h, N = 2, 3, 5, 4, 6, 7
generator = torch.Generator().manual_seed(0)
states = torch.randn(B, T, D, generator=generator)  # queries: the decoder's
memory = torch.randn(B, S, D_h, generator=generator)  # keys and values: the encoder's
W = torch.randn(D, D_h, generator=generator)
W_q, W_k, v = (torch.randn(*shape, generator=generator) for shape in ((N, D), (N, D_h), (N,)))
bilinear, additive = torch.empty(B, T, S), torch.empty(B, T, S)
for b in range(B):
    for t in range(T):
        for i in range(S):
            bilinear[b, t, i] = states[b, t] @ W @ memory[b, i]
            additive[b, t, i] = v @ torch.tanh(W_q @ states[b, t] + W_k @ memory[b, i])

# %% [markdown]
# Then compute all pairs at once. In the additive score the two products are computed once per word, not once per pair; broadcasting over a new axis adds every one to every other.

# %%
all_bilinear = states @ W @ memory.transpose(1, 2)  # (B, T, S)
from_states, from_memory = states @ W_q.T, memory @ W_k.T  # (B, T, N), (B, S, N)
all_additive = torch.tanh(from_states[:, :, None] + from_memory[:, None]) @ v  # (B, T, S, N) → (B, T, S)
assert torch.allclose(all_bilinear, bilinear, atol=1e-5)
assert torch.allclose(all_additive, additive, atol=1e-5)
print("numbers to learn: dot 0, bilinear", W.numel(), " additive", W_q.numel() + W_k.numel() + v.numel())

# %% [markdown]
# **The softmax runs over the source words**, the last axis: each target word distributes its attention. Over another axis the numbers would look just as plausible.

# %%
weights = all_additive.softmax(dim=-1)
contexts = weights @ memory  # (B, T, S) times (B, S, D_h)
assert torch.allclose(weights.sum(-1), torch.ones(B, T))
weights.shape, contexts.shape

# %% [markdown]
# ### Masking: padding gets no weight
#
# Suppose that the second sentence has three words and two of padding. Set its scores to $-\infty$ *before* the softmax: $e^{-\infty} = 0$, and the other weights still sum to one. If you set weights to zero afterwards, they do not.

# %%
mask = torch.tensor(
    [[True, True, True, True, True], [True, True, True, False, False]]
)  # (B, S), True = a word
masked = all_additive.masked_fill(~mask[:, None], -math.inf).softmax(dim=-1)
zeroed = weights * mask[:, None]
print("masked before:", masked[1, 2].numpy().round(2), "sum", round(masked[1, 2].sum().item(), 2))
print("zeroed after: ", zeroed[1, 2].numpy().round(2), "sum", round(zeroed[1, 2].sum().item(), 2))
assert torch.allclose(masked[1, :, :3], all_additive[1, :, :3].softmax(dim=-1))

# %% [markdown]
# ## A state for each word: the bidirectional encoder
#
# $h_i$ should say what word $i$ means *here*. A forward encoder knows only what came before it; in *the black cat*, the state at *black* has not seen the noun that decides between *noir* and *noire*. So read in both directions, with two recurrent networks $f$ and $g$, and put the two states side by side:
#
# $$\overrightarrow{h}_i = f(\overrightarrow{h}_{i-1}, x_i), \qquad \overleftarrow{h}_i = g(\overleftarrow{h}_{i+1}, x_i), \qquad h_i = [\overrightarrow{h}_i;\, \overleftarrow{h}_i], \qquad D_h = 2D.$$

# %%
from course.models import GRU

torch.manual_seed(0)
both = GRU(3, 4, is_bidirectional=True)
x = torch.randn(1, S, 3, generator=generator)
other_end = x.clone()
other_end[0, -1] += 1  # another last word
moved = (both(x)[0] - both(other_end)[0]).abs()[0] > 1e-6  # (S, 2D)
print("numbers that notice, at words 1 to 5:")
print("of the 4 forwards ", moved[:, :4].sum(1).tolist())
print("of the 4 backwards", moved[:, 4:].sum(1).tolist())

# %% [markdown]
# ## Which state is the query: $s_{t-1}$ or $s_t$
#
# Bahdanau and others take the *previous* state as the query, and feed the context into the next state:
#
# $$e_{ti} = \text{score}(s_{t-1}, h_i), \qquad s_t = \text{decoder}(s_{t-1}, y_{t-1}, c_t), \qquad P(y_t \mid y_{<t}, x) = \text{softmax}(R\,[s_t; c_t] + b).$$
#
# ($[s_t; c_t]$ is one vector after the other. Many write $V$ for $R$; here $V$ counts words. Some notes feed the *previous* context into the new state, $s_t = \text{decoder}(s_{t-1}, y_{t-1}, c_{t-1})$. Then $s_t$ does not depend on $c_t$, and a context helps only from the next step on, as in Luong's
# input feeding. The recurrent networks of the paper are often called LSTMs; they are gated units, the GRU of lecture 09.) As a loop, for one sentence:

# %%
from course.models import GRUCell

torch.manual_seed(1)
V, d_embedding = 8, 3
cell = GRUCell(d_embedding + D_h, D)
E, R, b = (torch.randn(*shape, generator=generator) for shape in ((V, d_embedding), (V, D + D_h), (V,)))
s, previous_words = torch.zeros(1, D), [0, 5, 2]  # <s> and two words
with torch.no_grad():
    for y in previous_words:
        weights = (torch.tanh(s @ W_q.T + memory[0] @ W_k.T) @ v).softmax(0)  # asks with s_{t-1}: (S)
        c_t = (weights @ memory[0])[None]
        (s,) = cell(torch.cat([E[y][None], c_t], dim=-1), (s,))
        probs = (torch.cat([s, c_t], dim=-1) @ R.T + b).softmax(-1)
        print("looks", weights.numpy().round(2), " next word", probs.argmax().item())

# %% [markdown]
# Here each step waits for the attention of the step before it. Luong and others take the **new state** $s_t$ as the query. In the simplest form the context enters the output only:
#
# $$s_t = \text{decoder}(s_{t-1}, y_{t-1}), \qquad e_{ti} = \text{score}(s_t, h_i), \qquad P(y_t \mid y_{<t}, x) = \text{softmax}(R\,[s_t; c_t] + b).$$
#
# (Luong and others put one more layer before the output: $\tilde h_t = \tanh(W_c [c_t; s_t])$.) Then, under teacher forcing, all states $s_1 \dots s_T$ are known before any attention is computed, and the attention of all steps takes a few matrix products. We take this one.
#
# Here is one step of the decoder as a drawing.

# %%
figures.machine("seq2seq_attention")

# %% [markdown]
# **A question:** along how many arrows does the first word of the source reach the prediction now, and along how many in lecture 10?
#
# <details><summary>Answer</summary>
#
# Now along five: into its state $h_1$, from there into the sum, the context, beside $s_t$, and into the scores $z_t$. In lecture 10 along six to the first prediction and along eight to the third: each further word, of the source or of the target, adds an arrow. Now none does.
#
# </details>
#
# ## The whole model
#
# `Seq2SeqEncoder` is lecture 10's encoder, in both directions; it returns `memory`, its `mask`, and the decoder's first `state` (from the last states of both directions). New is the decoder:

# %%
from course.models import Linear
from course.models.seq2seq import EncodedSource, Seq2SeqConfig, Seq2SeqEncoder


class AttentionDecoder(nn.Module):
    """A language model of the target whose every step looks back at all of the source."""

    def __init__(self, config: Seq2SeqConfig):
        super().__init__()
        D, D_h, V = config.d_hidden, config.d_memory, config.target_vocab_size
        self.E_target = nn.Embedding(V, config.d_embedding)
        self.network = GRU(config.d_embedding, D)
        self.W_query, self.W_key = Linear(D, D, bias=False), Linear(D_h, D, bias=False)
        self.v = Linear(D, 1, bias=False)
        self.output = Linear(D + D_h, V)

    def scores(self, states, memory):
        """vᵀ tanh(W_q s + W_k h) of every step and every source word: (B, T, S)."""
        return self.v(torch.tanh(self.W_query(states)[:, :, None] + self.W_key(memory)[:, None])).squeeze(-1)

    def forward(self, previous, encoded: EncodedSource, state):
        """Logits (B, T, V) of what follows `previous` (B, T), the last state, the weights (B, T, S)."""
        states, state = self.network(self.E_target(previous), state)  # s_1 … s_T: (B, T, D)
        scores = self.scores(states, encoded.memory)
        weights = scores.masked_fill(~encoded.mask[:, None], -math.inf).softmax(dim=-1)
        contexts = weights @ encoded.memory  # c_1 … c_T: (B, T, D_h)
        return self.output(torch.cat([states, contexts], dim=-1)), state, weights


# %% [markdown]
# The rest is lecture 10: teacher forcing in training, the model's own words when it translates.


# %%
class RNNsearch(nn.Module):
    """An encoder-decoder whose decoder looks back."""

    def __init__(self, config: Seq2SeqConfig):
        super().__init__()
        self.vocab_size = config.target_vocab_size
        self.encoder, self.decoder = Seq2SeqEncoder(config), AttentionDecoder(config)

    def forward(self, source, target):
        """Teacher forcing: log-probabilities of the word after each word of `target`."""
        encoded = self.encoder(source)
        return self.decoder(target, encoded, encoded.state)[0].log_softmax(-1)

    def alignment(self, source, target):
        """Where each step looks, (B, T, S)."""
        encoded = self.encoder(source)
        return self.decoder(target, encoded, encoded.state)[2]

    @torch.no_grad()
    def translate(self, source, bos, eos, max_length):
        """Free running, as in lecture 10."""
        encoded = self.encoder(source)
        state, previous, written = encoded.state, torch.full_like(source[:, :1], bos), []
        for _ in range(max_length):
            logits, state, _ = self.decoder(previous, encoded, state)
            previous = logits.argmax(-1).masked_fill(previous == eos, eos)
            written.append(previous)
        return torch.cat(written, dim=1)


# %% [markdown]
# ## With and without
#
# We use the data of lecture 10, sentences of 4 to 15 words. **RNNsearch** is the class above. **RNNenc** is lecture 10's model with the same bidirectional encoder, $c$ at every step. Both have the same width, the same batches and the same number of steps.

# %%
from course.data.translation_pair import TranslationConfig, translation_pairs, translation_vocabularies
from course.models import Seq2Seq
from course.translation_experiment.parallel_text import ShuffledPairs, parallel_text, teacher_forcing_loss
from course.translation_experiment.translator_sizes import config_of, n_parameters

data = TranslationConfig(min_length=4, max_length=15)
english, french = translation_vocabularies(data.lexicon)
pairs = translation_pairs(data, 12_000, Random(0))
text = parallel_text([(pair.source, pair.target) for pair in pairs], english, french)
common = Seq2SeqConfig(len(english), len(french), d_embedding=48, d_hidden=96, attention="additive")

# %% trained
models, losses, seconds = {}, {}, {}
for kind, make in (("RNNenc", Seq2Seq), ("RNNsearch", RNNsearch)):
    torch.manual_seed(0)
    models[kind] = make(config_of(kind, common))
    training = TrainingConfig(n_steps=2400 if is_full else 600, learning_rate=8e-3)
    history = train(models[kind], ShuffledPairs(text, 64), training, loss=teacher_forcing_loss, device=device)
    losses[kind], seconds[kind] = history.losses, history.seconds
    models[kind].cpu()
    print(
        f"{kind:9} {n_parameters(models[kind]):,} parameters, "
        f"loss at the end {sum(losses[kind][-20:]) / 20:.3f} nats per word"
    )

# %%
from course import plots
from course.translation_experiment.pictures import COLOURS

assert sum(losses["RNNsearch"][-20:]) < 0.05 * sum(losses["RNNenc"][-20:])
figure = plots.loss_curves(losses, unit="nats per word", colours=COLOURS)
figures.still(
    figure,
    alt=figure.alt_text,
    caption="With attention the loss falls to almost nothing; without it, it is still far above in the end.",
)

# %% [markdown]
# The two begin alike. Then attention finds where to look, and its loss drops to almost nothing. Now the measure that lecture 10 insisted on: free running, by length, on sentences that were not trained on.

# %%
from course.translation_experiment.quality import quality, translations

known = {pair.source for pair in pairs}
lengths = (5, 10, 15, 20, 25, 30)
tests = {
    length: translation_pairs(
        TranslationConfig(min_length=length, max_length=length), 60, Random(length), exclude=known
    )
    for length in lengths
}


def encoded(some):
    return parallel_text([(pair.source, pair.target) for pair in some], english, french)


# %%
written = {
    kind: {length: translations(model, encoded(some), french) for length, some in tests.items()}
    for kind, model in models.items()
}
results = {
    kind: {length: quality(mine[length], [pair.target for pair in tests[length]]) for length in lengths}
    for kind, mine in written.items()
}
for kind, by_length in results.items():
    print(
        f"{kind:9} exact",
        "  ".join(f"{length}: {result.exact_match:4.0%}" for length, result in by_length.items()),
    )
    print(f"{'':9} BLEU ", "  ".join(f"{length}: {result.bleu:4.0f}" for length, result in by_length.items()))

# %%
examples = {
    length: [
        (pair.source, pair.target, [mine[length][i] for mine in written.values()])
        for i, pair in enumerate(tests[length][:3])
    ]
    for length in lengths
}
figures.bottleneck(
    {
        kind: {length: result.bleu for length, result in by_length.items()}
        for kind, by_length in results.items()
    },
    examples,
    trained_up_to=15,
    measure="BLEU",
    highest=100,
)

# %%
for length in (10, 15, 20, 25):
    assert results["RNNsearch"][length].bleu > results["RNNenc"][length].bleu
assert results["RNNsearch"][15].exact_match > 0.5 > results["RNNenc"][15].exact_match
assert min(results["RNNsearch"][length].bleu for length in (5, 10, 15)) > 95

# %% [markdown]
# The bottleneck is gone: within the trained lengths RNNsearch's curve is flat. (Most of RNNenc's fall there is slow learning, as lecture 10 found; what is left of it after ten times the steps is shown below.) Beyond them it falls too, later and more gently: generalising to lengths never seen in training is a separate problem.
#
# ## Where does it look?
#
# The weights are a by-product that we can read. A new sentence is fed in with its right translation, and for each French word we read which English words it attended to. **Predict, then run:** where will it look for an adjective such as *rouges*, at *red* or at the noun whose gender and number it must take? And for the *de* inside *bonshommes de neige*, which is one word in English?

# %%
readable = [pair for pair in tests[10] + tests[15] if len(pair.target) <= 18]
chosen = sorted(
    readable,
    key=lambda pair: -sum((s - u) * (t - w) < 0 for s, t in pair.alignment for u, w in pair.alignment),
)[:6]
model = models["RNNsearch"].eval()
example = encoded(chosen)
with torch.no_grad():
    maps = model.alignment(example.source.tokens, example.target.tokens[:, :-1])
pair, weights = chosen[0], maps[0]
row = weights[pair.target.index("rouges")]
noun = pair.source[pair.source.index("red") + 1]
options = {word: row[pair.source.index(word)].item() for word in ("red", noun, "the")}
figures.prediction("At which English word does rouges look most?", options, unit="%")

# %%
for word in ("rouges", "de"):
    row = weights[pair.target.index(word)]
    print(f"{word:7}", ", ".join(f"{pair.source[s]} {row[s]:.2f}" for s in row.argsort(descending=True)[:3]))
assert pair.source[weights[pair.target.index("rouges")].argmax()] == "red"

# %% [markdown]
# <details><summary>Answer</summary>
#
# It will look at the adjective, which says the colour. Gender and number are known by then, from the decoder's own state, or from $h_i$ at the adjective, which has read the noun too. For *de* there is nothing to look up: it follows *bonshommes* without any help from the source. The **gold alignment** (the true one, which the generator wrote down) links it to *snowmen*. The model may look there or anywhere else, so it spreads its weights.
#
# </details>
#
# Here is the whole sentence, and five others whose words change their order most:

# %%
figures.alignment(list(maps), chosen)

# %% [markdown]
# In the notebook, write an English sentence of your own with words of the vocabulary (Enter translates it), and choose the model; the page shows one example. RNNenc has no weights to show.

# %%
from course.explore import choice, explore, sentence


@torch.no_grad()
def translate(source: str, kind: str):
    tokens = torch.tensor([english.encode(source.split())])
    target = models[kind].translate(tokens, french.bos, french.eos, 40)
    read = french.decode(target[0])
    if kind == "RNNenc":
        return " ".join(read)
    before = torch.cat([torch.tensor([[french.bos]]), target], dim=1)[:, : len(read)]
    weights = models[kind].alignment(tokens, before)[0]
    return figures.attention(weights, read, source.split())


source = sentence("English", " ".join(chosen[1].source))
explore(translate, source=source, kind=choice("model", ["RNNsearch", "RNNenc"]))

# %% [markdown]
# ## Right or wrong?
#
# A map that looks sensible proves little. For this pair of languages the truth is known: the generator wrote down which word translates which. Flip the switch *show the gold alignment*. The **alignment error rate** (Och and Ney, 2003) puts a number on it. The model's links $A$ connect each target word to the source word with the largest weight;
# $S_\text{sure}$ are the **sure** links of the truth, $P \supseteq S_\text{sure}$ the **possible** ones (a target word that renders several source words, as *danseront* does *will dance*, may be linked to any of them):
#
# $$\text{AER} = 1 - \frac{|A \cap S_\text{sure}| + |A \cap P|}{|A| + |S_\text{sure}|}.$$
#
# | symbol | meaning | in the code |
# |---|---|---|
# | $A$ | pairs of a source word and a target word: the links that the model makes | `A` |
# | $S_\text{sure}$ | the sure links (Och and Ney write $S$, here the length of the source) | `sure` |
# | $P$ | the possible links, the sure ones among them | `possible` |
#
# Compute it by hand for three links found, two sure and three possible ones.

# %%
from course.evaluation import alignment_error_rate

A, sure, possible = {(0, 0), (1, 2), (2, 3)}, {(0, 0), (2, 1)}, {(0, 0), (2, 1), (1, 2)}
by_hand = 1 - (len(A & sure) + len(A & possible)) / (len(A) + len(sure))
assert math.isclose(by_hand, alignment_error_rate([A], [sure], [possible]))
print(f"1 − ({len(A & sure)} + {len(A & possible)}) / ({len(A)} + {len(sure)}) = {by_hand:.2f}")

# %% [markdown]
# Is the model's rate good? Compare it with that of links that need no model: straight across (word $t$ of $T$ to word $t S / T$ of the source), and at random.

# %%
from course.translation_experiment.quality import attention_links, error_rate

within = [pair for length in (5, 10, 15) for pair in tests[length]]
straight = [
    [(t * len(pair.source) // len(pair.target), t) for t in range(len(pair.target))] for pair in within
]
rng = Random(0)
random_links = [[(rng.randrange(len(pair.source)), t) for t in range(len(pair.target))] for pair in within]
links = attention_links(model, within, english, french)
rates = {
    name: error_rate(each, within)
    for name, each in (("random", random_links), ("straight across", straight), ("attention", links))
}
print({name: f"{rate:.1%}" for name, rate in rates.items()})
assert rates["attention"] < 0.5 * rates["straight across"]

# %% [markdown]
# Nobody told the network which word belongs to which. It was only trained to predict the next French word, and found the alignment because that helps. (The best-known map of the paper translates *the agreement on the European Economic Area was signed in August 1992*, "L'accord sur la zone économique européenne a été signé en août 1992": at *European Economic Area* the weights run backwards through the three words; quoted from its figure 3. Two years later
# attention and deep LSTMs went into Google's translator, and its readers noticed: Wu and others, 2016.) Here is the map beside the gold alignment, for the sentence that changes its order most:

# %%
from course.translation_experiment.pictures import map_beside_gold

pair, weights = chosen[0], maps[0][: len(chosen[0].target)]
drawing = map_beside_gold(
    {
        "source": pair.source,
        "target": pair.target,
        "weights": weights.tolist(),
        "gold": [list(link) for link in pair.alignment],
    }
)
rate = error_rate([[(int(s), t) for t, s in enumerate(weights.argmax(-1))]], [pair])
figures.still(
    drawing,
    alt=f"Two maps of “{' '.join(pair.target)}” by “{' '.join(pair.source)}”: attention weights, and the gold "
    f"alignment. They agree but for an error rate of {rate:.0%}.",
    caption=f"Alignment error rate of this sentence {rate:.1%}, "
    f"of all {len(within)} sentences of 5, 10 and 15 words {rates['attention']:.1%}.",
)

# %% [markdown]
# Which links are wrong? If they were accidents, they would be scattered over all words.

# %%
wrong = Counter(
    pair.target[t]
    for pair, found in zip(within, links, strict=True)
    for s, t in found
    if (s, t) not in set(pair.alignment)
)
seen = Counter(word for pair in within for word in pair.target)
print(f"{sum(wrong.values())} wrong links of {sum(seen.values())}; most often at:")
for word, n in wrong.most_common(6):
    print(f"  {word:10} {n:3} of {seen[word]} times")
insides = {"de", "terre", "neige", "à", "coucher"}  # of pomme de terre, bonhomme de neige, chambre à coucher
assert sum(wrong[word] for word in insides | {"ne", "n'", "pas", "jamais"}) > wrong.total() / 2

# %% [markdown]
# They are not. Two kinds make up more than half. One is the inside of *pomme de terre*, *bonhomme de neige* and the like, which the decoder can write without looking. The other is the parts of a negation, *ne … pas*, *ne … jamais*: the encoder's states next to *not* and *never* have read these words too, so attending to a neighbour may do as well. The weights say where the network *looked*, which is not always where an answer *came from*. A map is evidence, not proof; here we could check it.
#
# ## The figure of the paper
#
# Bahdanau and others trained RNNenc and RNNsearch on sentences of up to 30 and up to 50 words. Their test BLEU, quoted from table 1 of the paper: RNNenc-30 **13.93**, RNNenc-50 **17.82**, RNNsearch-30 **21.50**, RNNsearch-50 **26.75**. Here is their figure 2, quality against length, for our pair of languages. It is drawn from **stored results** (more training than above; the commands are printed):

# %%
from course.translation_experiment.pictures import by_model, draw_curves
from course.translation_experiment.records import recorded_results
from course.translation_experiment.tables import at_length, in_words, with_range

stored = {scale: recorded_results(f"lengths_{scale}") for scale in ("small", "full", "learnt")}
for each in stored.values():
    print("stored results of:", each["command"], sep="\n")

# %%
drawing, axes = plt.subplots(1, 2, figsize=(9, 3.4), sharey=True)
for panel, scale in zip(axes, ("small", "full"), strict=True):
    draw_curves(panel, stored[scale]["runs"], "bleu")
    panel.set(xlabel="words in the source", title="")
    panel.legend(frameon=False, fontsize=9, ncols=2, loc="upper center", bbox_to_anchor=(0.5, -0.18))
axes[0].set_ylabel("BLEU")
figures.still(
    drawing,
    alt="BLEU by source length, stored: "
    + "; ".join(in_words(stored[scale]["runs"]) for scale in ("small", "full"))
    + ".",
    caption="RNNsearch holds over the lengths that it was trained on (up to the dotted lines), and RNNenc does not. "
    "Stored results, with bars from the lowest seed to the highest where there are several.",
)


# %%
def seeds_and_steps(same: list[dict]) -> str:
    """As "RNNenc-15, seeds 0 1, 1,600 steps", of runs that differ in their seeds."""
    seeds = " ".join(str(run["seed"]) for run in same)
    return f"{same[0]['model']}, seeds {seeds}, {same[0]['n_steps']:,} steps"


for scale in ("small", "full"):
    for same in by_model(stored[scale]["runs"]).values():
        ends = [run["final_loss"] for run in same]
        errors = [100 * run["alignment_error_rate"] for run in same if run["kind"] == "RNNsearch"]
        told = f", AER {with_range(errors, 1)} %" if errors else ""
        print(f"{seeds_and_steps(same)}: {with_range(ends, 4)} nats per word{told}")
        assert max(ends) < 0.01 if errors else min(ends) > 0.2

# %%
enc, search = by_model(stored["learnt"]["runs"]).values()
for same in (enc, search):
    told = ", ".join(f"{with_range(at_length(same, n, 'bleu'))} at {n}" for n in (10, 15, 20, 30))
    print(f"{seeds_and_steps(same)}: BLEU {told} words")
assert max(run["final_loss"] for run in enc + search) < 0.01
assert min(at_length(enc, 10, "bleu")) > 95
assert max(at_length(enc, 15, "bleu")) < 90 < 95 < min(at_length(search, 15, "bleu"))
assert 2 * max(at_length(enc, 20, "bleu")) < min(at_length(search, 20, "bleu"))

# %% [markdown]
# The shape is the paper's: without attention, quality falls from the start. With attention, it holds over the trained lengths and falls beyond them, and training on longer sentences moves that limit. The size of the gap is not the paper's. In the figure RNNenc has not learned even its training sentences, so its curves show the bottleneck *and* how much more slowly it learns. The last two lines separate these two effects. Once both have learned their training sentences, after ten times the steps, ten words are no longer too many for RNNenc, but fifteen still are. At twenty words, RNNsearch is more than twice as good.
#
# Does this hold on real text? **Multi30k** has captions from English to French, translated here by models of about the same size. These results are stored, too.

# %%
captions = recorded_results("captions_small")
print("stored results of:", captions["command"], sep="\n")
by_kind = {kind: [run for run in captions["runs"] if run["kind"] == kind] for kind in ("RNNenc", "RNNsearch")}
for kind, same in by_kind.items():
    scores, first = with_range([run["bleu"] for run in same], 1), same[0]
    print(f"{kind:11} BLEU {scores}   ({first['n_parameters']:,} parameters, {first['n_steps']:,} steps)")
assert min(run["bleu"] for run in by_kind["RNNsearch"]) > 1.5 * max(run["bleu"] for run in by_kind["RNNenc"])

# %%
of_first_seed = {kind: same[0]["examples"] for kind, same in by_kind.items()}
for written in list(zip(*of_first_seed.values(), strict=True))[:3]:
    print(f"\n{'source':11} {written[0]['source']}\n{'right':11} {written[0]['reference']}")
    for kind, example in zip(of_first_seed, written, strict=True):
        print(f"{kind:11} {example['written']}")

# %% [markdown]
# ## Where it breaks
#
# **Attention does not make the networks faster.** The decoder waits for the word before, and the encoder for the state before: $h_i$ needs $h_{i-1}$. Attention shortened the path of the *information*, not the chain of *computation*. The record of `python -m course.clocks` has the time of one core for two passes: *reading*, the encoder of this lecture, and *looking*, the additive attention of $S$ steps of the decoder over $S$ words. If time grows as a power of $S$, then on logarithmic axes the slope between two lengths is that power:

# %%
from course.clocks import read_recorded, slope

clock = read_recorded()
for S in clock["reading"]:
    print(
        f"{S:3} words: reading, one after another, {clock['reading'][S]:.2f} ms; all looks at once, {clock['looking'][S]:.2f} ms"
    )
slopes = {kind: slope(clock[kind], 64, 256) for kind in ("reading", "looking")}
print(f"from 64 to 256 words: reading has slope {slopes['reading']:.2f}, looking {slopes['looking']:.2f}")
assert abs(slopes["reading"] - 1) < 0.2
assert abs(slopes["looking"] - 2) < 0.3

# %% [markdown]
# The time for reading grows in proportion to the length, and the work cannot be spread over more cores, because each step waits for the one before. Attention takes a few products that can be spread, but they grow with $S \cdot T$, the number of pairs, here with the square of $S$; that will matter later. And why should only a decoder attend, and only to a different sentence? Lecture 12 asks what remains if *every* word attends and *nothing* waits.
#
# ## The ladder
#
# Here is lecture 10's ladder, in bits per French word, with the new rung. The floor is 0: each source has one right translation.

# %%
from course.data.shuffling import ShuffledStories
from course.evaluation import evaluating, score, target_nll
from course.models import KneserNey, NGramCounts, RecurrentConfig, RecurrentLanguageModel, Uniform

test_text = encoded(translation_pairs(data, 300, Random(99), exclude=known))


@torch.no_grad()
def bits_given_source(model: nn.Module) -> float:
    """Bits per target word, </s> included, under teacher forcing."""
    with evaluating(model):
        source, inputs, targets, mask = test_text.example(torch.arange(len(test_text)))
        nats = target_nll(model(source, inputs), targets)
    return (nats[mask].sum() / mask.sum() / math.log(2)).item()


# %%
torch.manual_seed(0)
writer = RecurrentLanguageModel(RecurrentConfig(len(french), "gru", d_embedding=48, d_hidden=96))
french_only = TrainingConfig(n_steps=1200 if is_full else 300, learning_rate=1e-2)
train(writer, ShuffledStories(text.target, 64), french_only, device=device)
writer.cpu()
sentences = [tokens[mask] for tokens, mask in zip(text.target.tokens, text.target.mask, strict=True)]
rungs = {"uniform": Uniform(len(french))}
for n, name in ((1, "unigram"), (3, "trigram")):
    rungs[name] = KneserNey(NGramCounts(sentences, n, len(french), french.bos))
rungs["GRU, without source"] = writer
bits = {name: score(rung, test_text.target).bits_per_token for name, rung in rungs.items()}
bits |= {f"{kind}, with source": bits_given_source(each) for kind, each in models.items()}
for name, value in bits.items():
    print(f"{name:23} {value:.3f} bits per word")
assert bits["RNNsearch, with source"] < bits["RNNenc, with source"] < bits["GRU, without source"]

# %% [markdown]
# A translator answers a different question from a language model, so the course's ladder stays where it was after lecture 09:

# %%
figures.rungs("LSTM")

# %% [markdown]
# ## The same in the library
#
# The three scores and the masked softmax are functions of `course.models`, and the whole model is its `Seq2Seq`:

# %%
from course.models import additive_scores, attention_weights, bilinear_scores

states, memory = torch.randn(B, T, D, generator=generator), torch.randn(B, 5, D_h, generator=generator)
assert torch.allclose(bilinear_scores(states, memory, W), states @ W @ memory.transpose(1, 2), atol=1e-5)
pairs_met = torch.tanh((states @ W_q.T)[:, :, None] + (memory @ W_k.T)[:, None])
assert torch.allclose(additive_scores(states, memory, W_q, W_k, v), pairs_met @ v, atol=1e-5)
hidden = (pairs_met @ v).masked_fill(~mask[:, None], -math.inf).softmax(-1)
assert torch.allclose(attention_weights(pairs_met @ v, mask[:, None]), hidden, atol=1e-6)

# %%
library = Seq2Seq(config_of("RNNsearch", common))
renamed = {"E_target": "embedding"} | {name: f"scores.{name}" for name in ("W_query", "W_key", "v")}
weights = {}
for name, value in model.state_dict().items():
    side, part, rest = name.split(".", 2)
    weights[f"{side}.{renamed.get(part, part)}.{rest}"] = value
library.load_state_dict(weights)
source, inputs, _, _ = text.example(torch.arange(5))
assert torch.allclose(library(source, inputs), model(source, inputs), atol=1e-5)
assert torch.allclose(library.alignment(source, inputs), model.alignment(source, inputs), atol=1e-5)
print("we have just built course.models.Seq2Seq with additive attention")

# %% [markdown]
# ## Recap
#
# - Attention: scores of a query against all states, softmax over the states, and their weighted average, $c_t = \sum_i \alpha_{ti} h_i$.
# - Scores can be dot products, bilinear or additive; what is not there gets $-\infty$ before the softmax.
# - The bottleneck is gone: quality no longer falls with length within the trained lengths.
# - The weights align the two sentences, though nothing in training asked for it; the error rate against the gold alignment says how well.
# - Still one step after another, in both networks. Lecture 12 takes the loop out.
#
# **In the homework:** [hw4 · Attention](../homeworks/hw4_attention/hw4_attention.ipynb), the exercises on scores with a mask and on the attention decoder, whose alignment error rate is graded.
#
# ## Exercises
#
# **1.** Two source words have the scores $\ln 3$ and 0. What are their weights? And if 5 is added to both scores?
#
# <details><summary>Answer</summary>
#
# 0.75 and 0.25, both times: a softmax sees only differences.
#
# </details>
#
# **2.** In the additive score set $v = 0$. Where does the decoder look, and what is its context?
#
# <details><summary>Answer</summary>
#
# Everywhere equally: all scores are zero. The context is the mean of the states, the same at every step.
#
# </details>
#
# **3.** The model links 1–1, 2–2 and 3–2; sure and possible links are 1–1, 2–2 and 3–3. What is the alignment error rate?
#
# <details><summary>Answer</summary>
#
# $1 - (2 + 2) / (3 + 3) = \tfrac13$.
#
# </details>
#
# **4.** *(long)* Reversing a string was hard in lecture 10. Solve it with attention and without training: give keys, values and queries by hand so that the context at step $t$ is the letter at position $n + 1 - t$, for a string of any length up to 50. (The values may be the letters themselves.)
#
# <details><summary>Answer</summary>
#
# Let the key of position $i$ be the one-hot vector of $i$, and the query of step $t$ a large multiple of the one-hot vector of $n + 1 - t$. Then one score is large and the others are zero, and the softmax picks one letter. Length is no obstacle: there is no state that everything must pass through. All the network has to learn is *where* in the string it is.
#
# ```python
# import torch
#
# generator = torch.Generator().manual_seed(0)
# for n in (1, 7, 50):
#     letters = torch.randint(10, (n,), generator=generator)
#     keys, values = torch.eye(n), torch.eye(10)[letters]
#     queries = 50 * torch.eye(n).flip(0)
#     contexts = (queries @ keys.T).softmax(-1) @ values
#     assert contexts.argmax(-1).equal(letters.flip(0))
# ```
#
# </details>
#
# ## Further reading
#
# - Dzmitry Bahdanau, Kyunghyun Cho and Yoshua Bengio, ["Neural Machine Translation by Jointly Learning to Align and Translate"](https://arxiv.org/abs/1409.0473), ICLR 2015.
# - Minh-Thang Luong, Hieu Pham and Christopher D. Manning, ["Effective Approaches to Attention-based Neural Machine Translation"](https://aclanthology.org/D15-1166), EMNLP 2015.
# - Franz Josef Och and Hermann Ney, ["A Systematic Comparison of Various Statistical Alignment Models"](https://aclanthology.org/J03-1002), *Computational Linguistics* 29 (2003), 19–51.
# - Yonghui Wu and others, ["Google's Neural Machine Translation System: Bridging the Gap between Human and Machine Translation"](https://arxiv.org/abs/1609.08144), arXiv:1609.08144, 2016: attention goes into service.
# - Philipp Koehn and Rebecca Knowles, ["Six Challenges for Neural Machine Translation"](https://aclanthology.org/W17-3204), Workshop on Neural Machine Translation, 2017: attention is not always alignment.
# - Desmond Elliott, Stella Frank, Khalil Sima'an and Lucia Specia, ["Multi30K: Multilingual English-German Image Descriptions"](https://aclanthology.org/W16-3210), Workshop on Vision and Language, 2016 (the French side: Elliott and others, WMT 2017).
# - Jay Alammar, ["Visualizing A Neural Machine Translation Model"](https://jalammar.github.io/visualizing-neural-machine-translation-mechanics-of-seq2seq-models-with-attention/), 2018.
# - Chris Olah and Shan Carter, ["Attention and Augmented Recurrent Neural Networks"](https://doi.org/10.23915/distill.00001), *Distill*, 2016.
