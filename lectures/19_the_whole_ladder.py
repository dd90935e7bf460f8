# %% [markdown]
# # 19 · The whole ladder
#
# **You will be able to**
#
# - tell the history of language models as a sequence of single ideas, and say what each was worth in bits;
# - read the whole ladder: quality, parameters, and time;
# - run a small scaling study, and say what may and may not be concluded from one;
# - translate the Transformer of 2017 into one of today, line by line;
# - say what instruction tuning and preferences add to a model that predicts, and what they do not.
#
# *35 minutes to read, about a minute to run. Before this: everything, but at least [03 · Perplexity](03_perplexity.ipynb), [09 · LSTM and GRU](09_lstm_gru.ipynb) and [15 · The decoder](15_gpt.ipynb).*
#
# **The question of the day:** which idea saved how many bits, and how many would more of everything save?

# %% setup

# %%
import itertools
import math
import os
from textwrap import fill

import matplotlib.pyplot as plt
import torch
from torch import nn

from course import figures
from course.data.shuffling import ShuffledStories
from course.data.story_language import StoryLanguage
from course.data.story_rules import StoryConfig
from course.data.vocabulary import Batch
from course.evaluation import score
from course.ladder import RUNGS, as_table, read_recorded, summaries
from course.models import GPT, GPTConfig
from course.training import TrainingConfig, best_device, train

is_full = os.environ.get("COURSE_SCALE") == "full"  # the real size, for a GPU
if not is_full:
    torch.set_num_threads(1)  # with matrices this small, one core is faster than several

# %% [markdown]
# ## Six steps, one idea each
#
# | year | who | the one idea | what it removed | here |
# |---|---|---|---|---|
# | 2000, 2003 | Yoshua Bengio and others, "A Neural Probabilistic Language Model" | words are **vectors**, learned with the task; a fixed window of them | counting: similar words share what is learned | [05](05_feedforward.ipynb) |
# | 2014 | Ilya Sutskever and others, "Sequence to Sequence Learning" | an LSTM reads into **one state**, another writes from it | the fixed window | [09](09_lstm_gru.ipynb), [10](10_sequence_to_sequence.ipynb) |
# | 2014 | Dzmitry Bahdanau and others, "Neural Machine Translation by Jointly Learning to Align and Translate" | **look back** at all states, weighted by what is needed now | the bottleneck of one vector | [11](11_attention.ipynb) |
# | 2017 | Ashish Vaswani and seven colleagues at Google, "Attention Is All You Need" | **only** attention | the loop over time | [12](12_self_attention.ipynb)–[14](14_transformer_block.ipynb) |
# | 2018, 2019 | GPT and BERT | **pre-train** on text without labels, then adapt | most of the labels | [15](15_gpt.ipynb), [17](17_bert.ipynb) |
# | 2020 | Tom Brown and others, GPT-3 | the same, a hundred times **larger**; the task is put in the prompt | the adapting | [15](15_gpt.ipynb) |
#
# (The choice of years follows a lecture of Andrej Karpathy's, [Stanford CS25](https://www.youtube.com/watch?v=XfpMkf4rD6E). Much came earlier or in between: Shannon's n-grams, 1948; Elman's network, 1990; the LSTM, 1997; word vectors for everybody, word2vec, 2013; and ELMo, 2018, which read them off a pre-trained LSTM in both directions.)
#
# Each row removes something that the row before it still needed. None of them changed the question, $P(\text{next word} \mid \text{context})$, and that is why all of them fit on one ladder.
#
# ## The ladder, measured
#
# Every model of the course is trained on the same stories, by the same loop, at the settings of `course.ladder`, with three seeds. This takes longer than a lecture may, so the results are read from the record that the command `python -m course.ladder` wrote; any line of it can be run again below.
#
# | column | meaning | unit |
# |---|---|---|
# | bits/token | cross-entropy on stories that no model has seen | bits |
# | spread | largest minus smallest over the seeds | bits |
# | above floor | $100 \, (\text{bits} / \text{floor} - 1)$ | percent |
# | seconds, CPU seconds | building and training: by the clock, and of processor time | s |

# %%
recorded = read_recorded()
rungs = summaries(recorded)
floor = sum(result.floor for result in recorded) / len(recorded)
print(as_table(rungs, floor))

# %%
figures.ladder(rungs, floor)

# %% [markdown]
# **Predict, then run:** choose "seconds of training" in the figure. Which rungs are both slower *and* worse than another?

# %%
for rung in rungs:
    quicker = [other for other in rungs if other.seconds < rung.seconds]
    better = [other.title for other in quicker if other.bits_per_token < rung.bits_per_token]
    if better:
        print(f"{rung.title} ({rung.seconds:.1f} s) is beaten in both by {', '.join(better)}")
    assert ("self-attention" in better) == (rung.title in ("GRU", "LSTM"))

# %% [markdown]
# (The counted models all take about a second or less, so chance decides which of them is quicker.) GRU and LSTM are both slower and worse than self-attention, because they must read one word after another. Otherwise, fewer bits take more seconds.
#
# Step by step: how many bits did each idea save, and what fraction of the distance from the uniform model to the floor is that?

# %%
worst, width = rungs[0].bits_per_token, max(len(rung.title) for rung in rungs)
for lower, upper in itertools.pairwise(rungs):
    saved = lower.bits_per_token - upper.bits_per_token
    share = saved / (worst - floor)
    print(f"{lower.title:>{width}} → {upper.title:{width}} {saved:6.3f} bits, {share:6.1%} of the way")

# %% [markdown]
# Counting covers most of the distance, in a second. The history above is about the last seventh of it. That part matters because it contains the words that carry the story: who, what, and which one it was.
#
# A recorded number is only a claim. To check one, choose a rung that trains quickly, and run it again:

# %%
from course.ladder import SCALES, Corpus, climb

corpus = Corpus(SCALES["default"], seed=0)
again, _ = climb(RUNGS["trigram"], corpus, SCALES["default"], seed=0)
(before,) = (result for result in recorded if result.rung == "trigram" and result.seed == 0)
print(f"trigram: recorded {before.bits_per_token:.6f}, again {again.bits_per_token:.6f} bits per token")
assert math.isclose(before.bits_per_token, again.bits_per_token, rel_tol=1e-4)

# %% [markdown]
# An average does not say *where* bits are lost. Three of the recorded models answer below, beside the truth, with the weights of one training (the bits above are means of three): one that counts, one with a state and one with attention. **Predict, then try:** which question separates the RNN from the Transformer most? At which are they equally good, while the trigram wastes more than a bit?

# %%
from course.ladder import recorded_models

three = recorded_models(["trigram", "rnn", "gpt"], corpus)
bits = {result.title: result.bits_per_token for result in recorded if result.seed == 0}
figures.every_rung(
    three,
    corpus.language,
    {title: bits[title] for title in three},
    floor,
    caption="What the RNN's state has lost, the Transformer looks up. Choose a beginning, click a word or type one; then let each continue.",
)

# %%
from course.figures.every_rung import BEGINNINGS, next_word

vocabulary = corpus.language.vocabulary
print(f"{'bits wasted':20}", *(f"{title:>12}" for title in three))
for question, text in BEGINNINGS.items():
    tokens = [vocabulary.bos, *vocabulary.encode(text.split())]
    truth, *guesses = next_word(three, corpus.language, tokens).values()
    possible = truth > 0
    wasted = [(truth[possible] * (truth[possible] / guess[possible]).log2()).sum() for guess in guesses]
    print(f"{question:20}", *(f"{bits:12.4f}" for bits in wasted))

# %% [markdown]
# <details><summary>Answer</summary>
#
# Whether it is *sing* or *sings*, and whether a bracket is open, fits into the RNN's state: there it is as good as the Transformer. The speaker and the thing were named many words ago, among other names and things. There the RNN does no better than the trigram, and attention saves bits that no average shows.
#
# </details>
#
# ## More of everything
#
# The last idea of the table is really a measurement: for large models the loss falls along straight lines in logarithmic axes, with the number of parameters, with the amount of text and with the computation (Kaplan and others, 2020):
#
# $$L(N) = L_\infty + \Big(\frac{N_c}{N}\Big)^{\alpha}.$$
#
# | symbol | meaning |
# |---|---|
# | $N$ | parameters (or tokens of text, or operations) |
# | $L$ | loss, here in bits per token |
# | $L_\infty$ | what no size can remove: the entropy of the language |
# | $\alpha$, $N_c$ | slope and position of the line |
#
# For English $L_\infty$ is unknown and has to be fitted along with the rest. Ours is known exactly, so we can look at what really should be a straight line: $L - L_\infty$. To fit in a lecture, the stories are shorter, with two things to remember instead of five.

# %%
language = StoryLanguage(StoryConfig(n_bindings=2, n_recalls=2, nesting_depth=1))
test_stories = language.sample(300, torch.Generator().manual_seed(0))
many_stories = language.sample(40_000 if is_full else 8000, torch.Generator().manual_seed(1))
small_floor = score(language, test_stories).bits_per_token
n_tokens_per_story = many_stories.mask[:, 1:].sum(1).float().mean().item()
print(f"{language.vocab_size} words, {n_tokens_per_story:.0f} tokens per story, floor {small_floor:.3f} bits")


# %%
def study(d_model: int, n_stories: int, n_steps: int) -> tuple[int, list[tuple[float, float]]]:
    """Train one GPT; its number of parameters, and (operations, bits above the floor) along the way."""
    torch.manual_seed(0)
    model = GPT(
        GPTConfig(
            language.vocab_size,
            language.longest_story,
            d_model,
            n_heads=2,
            n_layers=2,
            positions="rotary",
            initial_deviation=0.1,
        )
    )
    n_parameters = sum(parameter.numel() for parameter in model.parameters())
    seen = Batch(many_stories.tokens[:n_stories], many_stories.mask[:n_stories])
    curve = []

    def look(step: int, model: nn.Module) -> None:
        if step in (n_steps // 16, n_steps // 8, n_steps // 4, n_steps // 2, n_steps):
            operations = 6 * n_parameters * 16 * n_tokens_per_story * step
            curve.append((operations, score(model, test_stories).bits_per_token - small_floor))

    config = TrainingConfig(n_steps, learning_rate=5e-3, weight_decay=0.1)
    train(model, ShuffledStories(seen, 16), config, device=best_device(), after_step=look)
    return n_parameters, curve


# %% [markdown]
# We ask three questions. What do more **parameters** give, with the same text and steps? What does more **text** give, at the same size and steps? And what does more **computation** give, at six operations per parameter and token (lecture 14)?

# %%
n_steps = 4000 if is_full else 320
widths = (8, 16, 32, 64)
by_width = {d_model: study(d_model, len(many_stories), n_steps) for d_model in widths}
for d_model, (n_parameters, curve) in by_width.items():
    print(f"D {d_model:3}: {n_parameters:7,} parameters, {curve[-1][1]:.3f} bits above the floor")

# %%
amounts = (50, 200, 800)
by_amount = {n: study(32, n, n_steps)[1][-1][1] for n in amounts}
by_amount[len(many_stories)] = by_width[32][1][-1][1]
for n, above in by_amount.items():
    print(f"{n:6,} stories: {above:.3f} bits above the floor")

# %%
drawing, axes = plt.subplots(1, 3, figsize=(10, 3.2), sharey=True)
axes[0].loglog(
    [n for n, _ in by_width.values()], [curve[-1][1] for _, curve in by_width.values()], "o-", color="#0072B2"
)
axes[1].loglog([n * n_tokens_per_story for n in by_amount], list(by_amount.values()), "s--", color="#009E73")
for (d_model, (_, curve)), style, colour in zip(
    by_width.items(), ("o:", "s-.", "^--", "D-"), ("#CC79A7", "#E69F00", "#56B4E9", "#0072B2"), strict=True
):
    axes[2].loglog(*zip(*curve, strict=True), style, color=colour, label=f"D = {d_model}", markersize=4)
axes[2].legend(frameon=False, fontsize=8)
for panel, label in zip(axes, ("parameters", "tokens of text", "operations"), strict=True):
    panel.set(xlabel=label)
axes[0].set(ylabel="bits above the floor")
axes[0].set_yticks([0.2, 0.5, 1, 2, 5], ["0.2", "0.5", "1", "2", "5"])
axes[0].minorticks_off()
figures.still(
    drawing,
    alt="Bits above the floor, by parameters: "
    + ", ".join(f"{n:,} {curve[-1][1]:.2f}" for n, curve in by_width.values())
    + "; by stories: "
    + ", ".join(f"{n:,} {above:.2f}" for n, above in by_amount.items())
    + ".",
    caption="Left: width, everything else equal. Middle: text, read again and again. Right: along the training, one line per width.",
)

# %% [markdown]
# The middle panel flattens after 800 stories. In 320 steps of 16 stories a model reads 5120, so it reads the 800 more than six times, and never reads a third of the 8000. New stories then help no more than known ones. Each resource helps only while the others suffice.
#
# The right panel shows how to spend a budget: at few operations a *small* model is best, because it has taken more steps; at many operations, a large one. The lower edge of all lines together is the best that each amount of computation can reach. Is the left panel a power law? Then the slope between neighbouring points should always be the same:

# %%
points = [(n, curve[-1][1]) for n, curve in by_width.values()]
slopes = [
    -math.log(above1 / above0) / math.log(n1 / n0)
    for (n0, above0), (n1, above1) in itertools.pairwise(points)
]
print("α between neighbours:", [round(slope, 2) for slope in slopes])
few, some, many = (by_amount[n] for n in amounts)  # each four times the one before
print("α between amounts of text:", [round(math.log(a / b, 4), 2) for a, b in ((few, some), (some, many))])

# %% [markdown]
# **Predict, then run.** Take the first three sizes, draw the straight line through the outer two of them, and predict the fourth. How far off is the prediction?

# %%
(n0, a0), _, (n2, a2), (n3, a3) = points
slope = -math.log(a2 / a0) / math.log(n2 / n0)
predicted = a2 * (n3 / n2) ** -slope
figures.prediction(
    "How many times the predicted loss above the floor is the measured one?",
    a3 / predicted,
    between=(0.1, 10),
    is_logarithmic=True,
    unit="times",
)

# %%
print(f"predicted {predicted:.3f}, measured {a3:.3f} bits above the floor")

# %% [markdown]
# Our study is very small: it has four points over one and a half orders of magnitude, and the slope is not even constant. The published studies fit many runs over several more orders of magnitude. Kaplan and others report exponents of 0.076 for parameters, 0.095 for tokens, 0.050 for computation; Hoffmann and others (2022), training longer, found $L = 1.69 + 406.4 / N^{0.34} + 410.7 / D^{0.28}$ nats, with $D$ their number of tokens, and recommend about twenty tokens per parameter (all quoted). The two disagree about the exponents because they trained differently. That a line is straight over the measured range is a fact; that it continues is a bet. Ours cannot stay straight for long, because each rule of this small language is learned rather suddenly. A smooth curve comes from averaging over many rules.
#
# ## What has changed since 2017
#
# The block of 2017 is still there, but nearly every part of it has been replaced once:
#
# | part | 2017 | today (for instance Llama 2, Mixtral) | why |
# |---|---|---|---|
# | positions | sinusoidal, added at the input | RoPE: queries and keys rotated in each layer (Su and others, 2021) | depends on distances; lecture 13 |
# | norm | LayerNorm after the residual | RMSNorm before the sublayer (Zhang and Sennrich, 2019; Xiong and others, 2020) | cheaper; trains without warm-up; lecture 14 |
# | MLP | $W_2\,\text{ReLU}(W_1 x)$, $F = 4D$ | SwiGLU: $W_2\,(\text{SiLU}(W_1 x) \odot W_3 x)$, $F \approx \tfrac83 D$ (Shazeer, 2020) | better at equal cost |
# | heads | as many keys and values as queries | GQA: groups of queries share them (Ainslie and others, 2023) | smaller KV cache |
# | experts | one MLP for every token | MoE: a router picks 2 of 8 (Shazeer and others, 2017; Jiang and others, 2024) | more parameters at equal cost |
# | biases | everywhere | nearly nowhere | not needed |
#
# The paragraphs below explain each ($F$ is the width inside the MLP, $\odot$ multiplies number by number, and $\text{SiLU}(a) = a\,\sigma(a)$). $H$ heads of queries share $G$ heads of keys and values, $R = H/G$ queries for each key. The drawing shows all of these except the experts, which have their own drawing below; compare it with those of lectures 14 and 18.

# %%
figures.machine("llama_block")

# %% [markdown]
# **A question:** which boxes are kept in the KV cache while a text is written? By what factor is the cache smaller than with as many keys as queries?
#
# <details><summary>Answer</summary>
#
# $k$, once it has been rotated, and $v$; everything else is computed for the new word and forgotten. Both have $G$ heads instead of $H$, so the cache is $R = H/G$ times smaller, in the drawing by half.
#
# </details>
#
# Each change takes a few lines. **RMSNorm** drops the mean and the bias:

# %%
from course.models import rms_norm

x = torch.randn(2, 5, 6, generator=torch.Generator().manual_seed(0))  # (B, T, D)
by_hand = x / (x.square().mean(-1, keepdim=True) + 1e-5).sqrt()
assert torch.allclose(by_hand, rms_norm(x, torch.ones(6), 1e-5), atol=1e-6)
assert torch.allclose(by_hand, nn.functional.rms_norm(x, (6,), eps=1e-5), atol=1e-6)

# %% [markdown]
# **SwiGLU** has two hidden layers side by side; one of them, passed through SiLU, gates the other. It has three matrices instead of two, so $F$ shrinks to two thirds for the same number of parameters:

# %%
D, F = 6, 24
W_1, W_3, W_2 = (
    torch.randn(shape, generator=torch.Generator().manual_seed(1)) for shape in ((16, D), (16, D), (D, 16))
)
swiglu = (nn.functional.silu(x @ W_1.T) * (x @ W_3.T)) @ W_2.T  # (B, T, D)
assert W_1.numel() + W_2.numel() + W_3.numel() == 2 * D * F  # 16 = ⅔ · 24
swiglu.shape

# %% [markdown]
# **Grouped-query attention** has fewer heads of keys and values than of queries. Here $H = 4$ heads of queries share $G = 2$ of keys and values; each serves two.

# %%
B, T, H, G, d_k = 2, 5, 4, 2, 3
generator = torch.Generator().manual_seed(2)
q = torch.randn(B, H, T, d_k, generator=generator)
k, v = torch.randn(2, B, G, T, d_k, generator=generator)
one_by_one = torch.stack(
    [
        nn.functional.scaled_dot_product_attention(q[:, h], k[:, h // 2], v[:, h // 2], is_causal=True)
        for h in range(H)
    ],
    dim=1,
)
repeated = [part.repeat_interleave(H // G, dim=1) for part in (k, v)]  # (B, H, T, d_k)
assert torch.allclose(
    one_by_one, nn.functional.scaled_dot_product_attention(q, *repeated, is_causal=True), atol=1e-6
)
print(f"the cache shrinks to {G / H:.0%}")

# %% [markdown]
# In a **mixture of experts**, a small router gives every expert a logit for each token. The two best experts are run, and their outputs are mixed with the softmax of their two logits:
#
# $$y = \sum_{e \in \text{top-2}} g_e \, \text{MLP}_e(x), \qquad g = \text{softmax}(\text{the two largest of } W_\text{router}\, x).$$

# %%
n_experts = 8
router = torch.randn(n_experts, D, generator=generator)
experts = torch.randn(n_experts, D, D, generator=generator)  # each expert a single matrix, to keep it short
logits, chosen = (x @ router.T).topk(2, dim=-1)  # (B, T, 2) each
gates = logits.softmax(-1)
loop = torch.zeros_like(x)
for b in range(2):
    for t in range(5):
        for gate, expert in zip(gates[b, t], chosen[b, t], strict=True):
            loop[b, t] += gate * (experts[expert] @ x[b, t])

# %%
mixed = torch.zeros_like(x)
for expert in range(n_experts):  # over all the tokens that chose it, as is done in practice
    b, t, place = (chosen == expert).nonzero(as_tuple=True)
    mixed[b, t] += gates[b, t, place, None] * (x[b, t] @ experts[expert].T)
assert torch.allclose(mixed, loop, atol=1e-5)
print("tokens per expert:", torch.bincount(chosen.flatten(), minlength=n_experts).tolist())

# %% [markdown]
# In a layer of Mixtral, the experts stand where the MLP was. For one token:

# %%
figures.machine("mixtral_layer")

# %% [markdown]
# Nothing here keeps the router from sending every token to the same two experts. The others would then never learn, so training adds a penalty for unequal use (exercise 4).
#
# Mixtral 8×7B has 46.7 billion parameters and uses 12.9 billion of them for each token (quoted from Jiang and others, 2024). From its sizes:

# %%
D, n_layers, F, V, H, G, d_k = 4096, 32, 14_336, 32_000, 32, 8, 128
attention = D * H * d_k + 2 * D * G * d_k + H * d_k * D  # query, key and value, output
expert, rest = 3 * D * F, D * n_experts + 2 * D  # SwiGLU; router and two norms
for name, n_used in {"all": 8, "per token": 2}.items():
    print(f"{name:10} {(n_layers * (attention + n_used * expert + rest) + 2 * V * D + D) / 1e9:.1f} billion")

# %% [markdown]
# (Not $8 \times 7 = 56$: the experts share everything but the MLP.)

# %% [markdown]
# ## From a predictor to an assistant
#
# A pre-trained model continues texts. The assistants that people have talked to since ChatGPT (2022) are such models, trained further. The additions were, in order:
#
# **1. The task in the prompt.** Lecture 15 showed one case of in-context learning; here it is measured. SmolLM2 reads pairs of opposites and then a new word, as in `hot → cold`, `young →`. **Predict, then run:** how many bits does the right answer cost without an example, after one, and after six?

# %%
from course.pretrained.assistant import ASKED, INSTRUCTIONS, bits_by_examples, reply

in_bits = torch.tensor(bits_by_examples())  # (examples 0 to 6, words asked)
means = in_bits.mean(dim=1).tolist()
figures.prediction(
    "How many bits does the answer cost after one example?", means[1], between=(0, means[0]), unit="bits"
)

# %%
for n, bits in enumerate(in_bits):
    spread = f"from {bits.min():.2f} to {bits.max():.2f} over {len(ASKED)} words"
    print(f"{n} example{'s: ' if n != 1 else ':  '}{bits.mean():5.2f} bits, {spread}")
assert (in_bits[1] < in_bits[0] - 3).all()
assert (in_bits[6] < in_bits[1]).all()
assert in_bits[6].mean() < 1

# %% [markdown]
# No weight has changed. One example tells the model which form the text has, and a few more which relation is meant: then the answer costs less than a bit. (The numbers are recorded, as are the replies below; where the package of SmolLM2 is installed, `reply` takes any instruction.)
#
# **2. Instruction tuning.** Anyone who asks a question wants an answer, but a likely continuation of a question can be another question. So the model is trained further on instructions with good answers that people wrote (Wei and others, 2021; Ouyang and others, 2022). The loss is that of lecture 01, computed only on the tokens of the answer. A conversation is one text, with special tokens around each message:

# %%
from course.pretrained import Message, as_text

print(as_text([Message("user", INSTRUCTIONS[0]), Message("assistant", "Rome.")], begins_answer=False))

# %% [markdown]
# The SmolLM2 that the course has is tuned in this way; its untuned weights are not in the package, so they cannot be shown beside it. What can be shown is what its tuning depends on: the same weights read the same instruction, once as bare text and once in the format of a conversation.

# %%
for instruction in INSTRUCTIONS:
    told = reply(instruction)
    print(instruction)
    print(fill(f"as bare text: {told.plain!r}", 100, initial_indent="  ", subsequent_indent="    "))
    print(fill(f"in a chat: {told.chat!r}", 100, initial_indent="  ", subsequent_indent="    ") + "\n")
assert reply(INSTRUCTIONS[0]).plain.startswith("<|im_end|>")

# %% [markdown]
# After the first bare instruction the model itself closes the message and opens an answer: tuning has taught it what follows a question. After the second it runs into a loop. In the format of a chat, both get an answer of the right form. The facts are another matter. After *The capital of Italy is* the same weights write *Rome* (recorded with lecture 15), and in the chat they invent a name. Tuning teaches how to answer; what a model knows comes mostly from pre-training, and 135 million parameters in about four bits each know little.
#
# **3. Preferences.** It is easier to say which of two answers is better than to write a good one. People compare pairs of answers, and a network learns a **reward** $r$ from their choices, by $P(a \text{ preferred to } b) = \sigma(r(a) - r(b))$ (Bradley and Terry, 1952; Christiano and others, 2017). Then the probabilities of answers are moved from $P_0$, those of the tuned model, towards a higher reward. Each nat of distance costs $\beta$:
#
# $$\max_P\ \sum_a P(a)\, r(a) - \beta\, \text{KL}(P \,\|\, P_0), \qquad\text{with the solution}\qquad P(a) \propto P_0(a)\, e^{r(a) / \beta}.$$
#
# Large models come near this by reinforcement learning. DPO (Rafailov and others, 2023) reads the solution backwards, $r(a) = \beta \ln \frac{P(a)}{P_0(a)} + \text{constant}$, and trains $P$ on the choices directly. For a handful of answers it can be computed. Let the answers be the ten likeliest words after *Once upon a time there was a*, and let the raters like long words: $r$ is the number of letters. **Predict, then run:** what remains of the ten when $\beta$ goes to zero?

# %%
from course.pretrained import predict
from course.pretrained.recorded import FLAT

likely = predict(FLAT).likely[:10]
names = [token.text.strip() for token in likely]
P_0 = torch.tensor([token.probability for token in likely], dtype=torch.float64)
P_0 = P_0 / P_0.sum()
r = torch.tensor([len(name) for name in names], dtype=torch.float64)


def gain(P: torch.Tensor, beta: float) -> torch.Tensor:
    """Mean reward less β times the divergence from P_0."""
    return P @ r - beta * (P * (P / P_0).log()).sum()


for beta in (100.0, 2.0, 0.5, 0.1):
    P = (P_0.log() + r / beta).softmax(0)
    entropy = torch.special.entr(P).sum() / math.log(2)
    favourite = f"{names[P.argmax()]} with {P.max():.4f}"
    print(f"β = {beta:5}: reward {P @ r:.2f}, favourite {favourite}, entropy {entropy:.2g} bits")
    others = torch.randn(1000, 10, generator=torch.Generator().manual_seed(0), dtype=torch.float64).softmax(
        -1
    )
    assert gain(P, beta) > max(gain(other, beta) for other in others)  # no other is better

# %% [markdown]
# <details><summary>Answer</summary>
#
# One word remains.
#
# </details>
#
# A reward is a measurement of what people want, not the thing itself; pushed far enough, the model finds what is measured, here length, and loses its variety. $\beta$ decides how far to go.
#
# **4. Tools.** A model that writes text can write a call: a search, a calculation, a line of code. The program around it stops the writing at the end of the call, runs it, and puts the result into the context; then the model reads it and continues (Schick and others, 2023). So a small model need not know today's date or be able to multiply; it has to know when to call which tool. The result is text like any other. A model trusts a wrong result as much as a right one, and may follow an instruction hidden in a web page, so the program must decide what a call may do. An *agent* is this loop, with calls that change things.
#
# **5. Reasoning.** A model that writes its steps before its answer is more often right (Wei and others, 2022). One reason is known from this course: each token gets a fixed amount of computation, but written steps add tokens, and all of them can be looked back at. Since 2024 such steps have been trained as well, by reinforcement learning where the answer can be checked, as in mathematics and programs (DeepSeek-AI, 2025). Computation then improves accuracy a second time: after training, by writing more. The steps are text that led to the answer, and do not always report what the network computed. The loop is still that of lecture 16.
#
# ## Where it breaks
#
# **The ladder ends here.** Our language can be learned almost completely: a model within two percent of the floor has almost nothing left to learn from it. English has a floor that nobody knows. **Bits are not abilities**: a tenth of a bit may be all that separates knowing who "she" is from guessing, or closing brackets from leaving them open, and an average does not say which. **And a ladder
# compares what was trained alike**: a different learning rate can move a rung by more than an idea does. In the record, is each step clearly larger than the spread of its two models?

# %%
from course.ladder.records import gaps

for step, saved, spread in gaps(rungs):
    verdict = "clear" if saved > 2 * spread else "not clear from these seeds"
    print(f"{step:32} {saved:7.4f} bits, spread {spread:.4f}: {verdict}")

# %%
figures.rungs("Transformer")

# %% [markdown]
# ## The same in the library
#
# The table above is `course.ladder.as_table`, the steps are `course.ladder.records.gaps`, RMSNorm is `course.models.RMSNorm`. With a GPU, `python -m course.ladder --scale full` runs the whole ladder again at ten times the size.

# %%
from course.models import RMSNorm

assert torch.allclose(RMSNorm(6)(x), by_hand, atol=1e-4)
for (_, saved, _), lower, upper in zip(gaps(rungs), rungs, rungs[1:], strict=False):
    assert math.isclose(saved, lower.bits_per_token - upper.bits_per_token)
print("the ladder of this page is course.ladder's")

# %% [markdown]
# ## Recap
#
# - One question, six ideas: vectors, a state, looking back, nothing but looking, pre-training, size.
# - Counting covers most of the way; remembering covers the part that matters for the story.
# - Loss above the floor falls with parameters, text and computation, and each helps only while the others suffice.
# - A power law is a description of the range in which it was measured.
# - RoPE, RMSNorm, SwiGLU, GQA and experts replace parts of the block; the block stays.
# - Examples in the prompt show the task, instruction tuning the form of an answer, preferences which answers are wanted: $P \propto P_0\, e^{r/\beta}$.
#
# **In the homework:** there is none of its own; [hw6 · GPT](../homeworks/hw6_gpt/hw6_gpt.ipynb) and [hw7 · BERT and translation](../homeworks/hw7_bert_and_translation/hw7_bert_and_translation.ipynb) build the two upper ends of the ladder.
#
# ## Exercises
#
# **1.** Mixtral has 46.7 billion parameters and uses 12.9 billion for a token: 8 experts, of which 2 are run, and the rest shared. How large is one expert, in all layers together, and how large is the rest?
#
# <details><summary>Answer</summary>
#
# $8E + R = 46.7$ and $2E + R = 12.9$, so $E = 5.6$ and $R = 1.6$ billion.
#
# </details>
#
# **2.** The loss above $L_\infty$ falls as $N^{-0.076}$. By what factor must the number of parameters grow to halve it?
#
# <details><summary>Answer</summary>
#
# $2^{1 / 0.076} \approx 9000$.
#
# </details>
#
# **3.** Two models differ by 0.02 bits, and the same model with another seed differs by 0.05. What do you conclude?
#
# <details><summary>Answer</summary>
#
# Nothing yet. Use more seeds, or a larger test text.
#
# </details>
#
# **4.** *(long)* A router may send every token to the same two experts, and the others then never learn. Training adds a penalty against this: for $n$ experts it is $n \sum_e f_e\, p_e$, with $f_e$ the fraction of the choices that fall on expert $e$ and $p_e$ the mean probability that the router gives it. Compute it for a router without a preference and for one that always prefers the same experts. Why is $p_e$ in it, and not $f_e$ alone?
#
# <details><summary>Answer</summary>
#
# It is 1 when all experts are used alike, and grows up to $n / 2$ when two of them get everything. The fractions $f_e$ come from a choice and have no gradient; $p_e$ has one, and it lowers the logits of the experts that are chosen too often. (Fedus, Zoph and Shazeer, 2022.)
#
# ```python
# import torch
#
# n, generator = 8, torch.Generator().manual_seed(0)
#
#
# def balance(logits: torch.Tensor) -> torch.Tensor:
#     chosen = logits.topk(2).indices
#     share = torch.bincount(chosen.flatten(), minlength=n) / chosen.numel()
#     return n * (share * logits.softmax(-1).mean(0)).sum()
#
#
# noise = torch.randn(4000, n, generator=generator)
# preference = torch.tensor([9.0, 9.0, *[0.0] * 6])
# assert abs(balance(noise) - 1) < 0.02
# assert balance(noise + preference) > 3.5
# logits = (noise + preference).requires_grad_()
# balance(logits).backward()
# assert logits.grad[:, :2].sum() > 0 > logits.grad[:, 2:].sum()
# ```
#
# </details>
#
# ## Further reading
#
# - Yoshua Bengio, Réjean Ducharme, Pascal Vincent and Christian Jauvin, ["A Neural Probabilistic Language Model"](https://www.jmlr.org/papers/v3/bengio03a.html), *Journal of Machine Learning Research* 3 (2003), 1137–1155; first at NIPS 2000.
# - Ilya Sutskever, Oriol Vinyals and Quoc V. Le, ["Sequence to Sequence Learning with Neural Networks"](https://arxiv.org/abs/1409.3215), NeurIPS 2014.
# - Dzmitry Bahdanau, Kyunghyun Cho and Yoshua Bengio, ["Neural Machine Translation by Jointly Learning to Align and Translate"](https://arxiv.org/abs/1409.0473), ICLR 2015.
# - Ashish Vaswani and others, ["Attention Is All You Need"](https://arxiv.org/abs/1706.03762), NeurIPS 2017.
# - Tom B. Brown and others, ["Language Models are Few-Shot Learners"](https://arxiv.org/abs/2005.14165), NeurIPS 2020.
# - Jared Kaplan and others, ["Scaling Laws for Neural Language Models"](https://arxiv.org/abs/2001.08361), arXiv 2001.08361 (2020).
# - Jordan Hoffmann and others, ["Training Compute-Optimal Large Language Models"](https://arxiv.org/abs/2203.15556), NeurIPS 2022.
# - Albert Q. Jiang and others, ["Mixtral of Experts"](https://arxiv.org/abs/2401.04088), arXiv 2401.04088 (2024).
# - Noam Shazeer, ["GLU Variants Improve Transformer"](https://arxiv.org/abs/2002.05202), arXiv 2002.05202 (2020).
# - Joshua Ainslie and others, ["GQA: Training Generalized Multi-Query Transformer Models from Multi-Head Checkpoints"](https://arxiv.org/abs/2305.13245), EMNLP 2023.
# - Biao Zhang and Rico Sennrich, ["Root Mean Square Layer Normalization"](https://arxiv.org/abs/1910.07467), NeurIPS 2019.
# - Ruibin Xiong and others, ["On Layer Normalization in the Transformer Architecture"](https://arxiv.org/abs/2002.04745), ICML 2020.
# - Jason Wei and others, ["Finetuned Language Models Are Zero-Shot Learners"](https://arxiv.org/abs/2109.01652), ICLR 2022 (first 2021).
# - Long Ouyang and others, ["Training Language Models to Follow Instructions with Human Feedback"](https://arxiv.org/abs/2203.02155), NeurIPS 2022.
# - Ralph A. Bradley and Milton E. Terry, ["Rank Analysis of Incomplete Block Designs: I. The Method of Paired Comparisons"](https://doi.org/10.2307/2334029), *Biometrika* 39 (1952), 324–345.
# - Paul F. Christiano and others, ["Deep Reinforcement Learning from Human Preferences"](https://arxiv.org/abs/1706.03741), NIPS 2017.
# - Rafael Rafailov and others, ["Direct Preference Optimization: Your Language Model is Secretly a Reward Model"](https://arxiv.org/abs/2305.18290), NeurIPS 2023.
# - Timo Schick and others, ["Toolformer: Language Models Can Teach Themselves to Use Tools"](https://arxiv.org/abs/2302.04761), NeurIPS 2023.
# - Jason Wei and others, ["Chain-of-Thought Prompting Elicits Reasoning in Large Language Models"](https://arxiv.org/abs/2201.11903), NeurIPS 2022.
# - DeepSeek-AI, ["DeepSeek-R1: Incentivizing Reasoning Capability in LLMs via Reinforcement Learning"](https://arxiv.org/abs/2501.12948), arXiv 2501.12948 (2025).
# - Noam Shazeer and others, ["Outrageously Large Neural Networks: The Sparsely-Gated Mixture-of-Experts Layer"](https://arxiv.org/abs/1701.06538), ICLR 2017.
