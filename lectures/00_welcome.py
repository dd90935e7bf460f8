# %% [markdown]
# # 00 · Welcome: what a language model does
#
# **You will be able to**
#
# - say in one sentence what a language model computes, and name things it can and cannot do;
# - use the ten pieces of PyTorch that this course needs;
# - read the ladder on which every model of the course will be placed;
# - use the checks of a homework, and know what they tell you.
#
# *20 minutes to read, under 20 seconds to run. You need Python and a little linear algebra, nothing else.*
#
# **The question of the day:** what is there to learn?

# %% setup

# %%
import math
import textwrap

import torch

from course import figures
from course.data.story_language import StoryLanguage
from course.models import NGram, NGramCounts, Uniform

# %% [markdown]
# ## One question, asked again and again
#
# A language model reads some text and answers one question: **which word comes next, and how likely is each?** Everything
# else follows. To write, draw a word from the answer, append it, and ask again. To translate or to chat, begin with a
# text after which the wanted words are likely, and do the same.
#
# In 1950 Alan Turing proposed replacing the question "Can machines think?" with a game: given two texts, can a judge
# tell which of the two writers is a machine? Here is the game on a very small scale. The real texts are stories in a
# small English that was made for this course. The others come from a simple model of lecture 02. It has counted how
# often each word follows each other word in 2,000 such stories, and it looks only one word back. (The names in the code
# are explained where they belong; today read it for its gist.)

# %%
language = StoryLanguage()
generator = torch.Generator().manual_seed(0)
batch = language.sample(2000, generator)  # words as numbers; the mask says where a story is over
stories = [tokens[mask] for tokens, mask in zip(batch.tokens, batch.mask, strict=True)]
pairs = NGramCounts(stories, 2, language.vocab_size, language.vocabulary.bos)
one_word_back = NGram(pairs)

# %% [markdown]
# Writing with a model takes a loop of two lines: ask it, and append what you draw.


# %%
def write(model, n_tokens: int, generator: torch.Generator) -> list[int]:
    tokens = [language.vocabulary.bos]
    while len(tokens) < n_tokens and tokens[-1] != language.vocabulary.eos:
        log_probs = model(torch.tensor([tokens]))[0, -1]  # one for each possible next word
        tokens.append(torch.multinomial(log_probs.exp(), 1, generator=generator).item())
    return tokens


def text(tokens: list[int]) -> str:
    return " ".join(language.vocabulary.decode(tokens))


print(textwrap.fill(text(write(one_word_back, 30, generator)), 88))

# %%
imitations = [write(one_word_back, 24, generator) for _ in range(8)]
real = [language.read(batch.tokens[i][:24]) for i in range(8)]
imitated = [text(tokens) for tokens in imitations]
figures.imitation(real, imitated, imitator="a model that looks one word back")

# %% [markdown]
# You probably won. Note *how*: any two neighbours look right, and what gives the model away is what it has forgotten: a verb that does not agree with its subject, a quotation that never closes, objects that nobody owned.
#
# **Predict, then run.** Cut each text into runs of 2 words, of 4, of 8. What fraction of the runs also occurs in the
# 2,000 stories that the model learned from? And for real stories that it has never seen?


# %%
def runs(tokens: list[int], length: int) -> list[tuple[int, ...]]:
    return [tuple(tokens[i : i + length]) for i in range(len(tokens) - length + 1)]


fresh = language.sample(300, generator)
unseen = [tokens[mask].tolist() for tokens, mask in zip(fresh.tokens, fresh.mask, strict=True)]
for length in (2, 4, 8):
    known = {run for story in stories for run in runs(story.tolist(), length)}
    for name, texts in {"by the machine": imitations, "new and real": unseen}.items():
        found = [run in known for tokens in texts for run in runs(tokens, length)]
        print(f"{length} words in a row, {name:14}: {sum(found) / len(found):4.0%} known")

# %% [markdown]
# Every pair in the generated text is known, because known pairs are all the model has to draw from. But real stories repeat longer runs far more often
# than the machine's do: their words fit together over more than one step. Even there, most runs of eight are new, so memorising a corpus is never enough. Each model of this course removes a fault of the one before.
#
# Models trained in this way on a large part of the written word have become astonishingly able. They have limits too.
#
# | today's large models can | they still cannot, or not reliably |
# |---|---|
# | write fluent text in many languages, and code | know whether what they wrote is true |
# | answer from what they read in training | know what happened after their training |
# | follow a pattern shown in the prompt | count, calculate and plan without slips |
# | translate, summarise, explain | say how sure they are in a way you can rely on |
#
# Most of the limits on the right have one cause: the model was trained to say what is *likely next*, and likely is not
# the same as true.
#
# How do these models work? A text is split into tokens, which are words or parts of words (lecture 04). Each token
# becomes a vector (05). A stack of layers called Transformer blocks lets every vector look at those before it (12 to
# 15). The last vector gives a distribution over the next token, from which one is drawn (16). First such a model is
# trained on a large part of the written word, then on conversations and on people's judgements of its answers.
# What comes next is open. There are already models that read pictures and sound, that call tools, and that write out
# long trains of thought before they answer. How far will more data and more computation carry? Lecture 19 asks this
# with numbers; nobody has the answer.
#
# ## The ladder
#
# The stories above were generated, so the true probability of every next word is known. A model is measured by its
# **surprise** at each word that comes: $-\log_2$ of the probability that it gave to the word, in **bits**. A certain
# word is no surprise, 0 bits; one of two equally likely words costs 1 bit. Known probabilities give this course
# something rare: a **floor**. On average no model can need fewer bits per word than the language itself, and every
# model can be placed between knowing nothing and knowing everything. A **token** is what a model reads and predicts one
# at a time, here a word or a punctuation mark; lecture 03 explains the unit, bits per token. Lower is better.
#
# The machine above gives the probability zero to any pair of words it has not seen, which makes it infinitely surprised
# when one occurs. The `k` below gives every pair a little probability; lecture 02 says how.
#
# **Predict, then run.** The *uniform* model knows nothing: it finds all words equally likely. What fraction of its bits
# does a single word of context save, and how much is left for the rest of the course?


# %%
def bits_per_token(model, tokens: torch.Tensor, mask: torch.Tensor) -> float:
    """The average surprise at each next token, in bits."""
    log_probs = model(tokens[:, :-1]).gather(-1, tokens[:, 1:, None]).squeeze(-1)  # of each word
    return -(log_probs[mask[:, 1:]].sum() / mask[:, 1:].sum() / math.log(2)).item()


nothing, smoothed = Uniform(language.vocab_size), NGram(pairs, k=0.1)
rungs = {"uniform": nothing, "one word back": smoothed, "the language": language}
bits = {name: bits_per_token(model, fresh.tokens, fresh.mask) for name, model in rungs.items()}
{name: round(value, 3) for name, value in bits.items()}

# %% [markdown]
# Here is the whole ladder as it was recorded, with longer training. You have met the two rungs in orange; *bigram* is
# the field's name for a model that looks one word back. The faint ones come in later lectures; *unigram*, between the
# two, counts single words.

# %%
live = {"uniform": bits["uniform"], "bigram": bits["one word back"]}
figures.rungs("uniform", new=("uniform", "bigram"), live=live)

# %% [markdown]
# | lecture | model | what it adds |
# |---|---|---|
# | 02 | n-grams | the one to four words before |
# | 05 | feed-forward network | words that are alike are treated alike |
# | 07 | recurrent network | a state that carries something forward |
# | 09 | LSTM and GRU | a state that keeps it |
# | 11 to 15 | attention, Transformer | looking back at everything, directly |
#
# ## How the homework works
#
# A homework notebook gives you a function to write and **checks**, each a sentence that is true of a right solution.
# One cell tells you which of them hold. For the first that does not, it shows what your function returned and what was
# expected. If the mistake is a known one, the cell names it; otherwise it gives a hint, and the next hint when you run
# it again. This is the first exercise of homework 0, with a mistake already made:


# %%
def different_words(text: str) -> int:
    """How many different words a text has, capital letters or not."""
    return len(text.split())


# %% [markdown]
# And this is its first check. A homework has all checks of an exercise in one cell, folded: one click shows them.

# %%
from course.checks import assert_equal, homework

check = homework("hw0_exploring")


def the_example_has_six_words(different_words):
    """`The cat saw the dog and the bird` has 6 different words."""
    assert_equal(different_words("The cat saw the dog and the bird"), 6)


check(the_example_has_six_words, different_words=different_words)

# %% [markdown]
# You see the claim, what your function returned and what was expected, the mistake with a question about it, and the
# points so far. Fix `different_words` above and run the two cells again. Some checks are kept back for grading. They
# test the same claims with other sizes and other numbers, so a function that is correct in general, and not just on the
# example, will pass them.
#
# ## PyTorch in ten cells
#
# **One.** A tensor is an array of numbers with a shape and a type. This course writes shapes in capitals: $B$ sequences at
# once, $T$ positions in each, $D$ numbers at each position.

# %%
B, T, D = 2, 5, 6
x = torch.arange(B * T * D, dtype=torch.float32).view(B, T, D)
x.shape, x.dtype

# %% [markdown]
# **Two.** Indexing removes an axis or keeps it. The last position of every sequence:

# %%
x[:, -1].shape, x[:, -1:].shape

# %% [markdown]
# **Three.** A reduction removes the axis it runs over; `keepdim=True` leaves it with size one, ready for the next step.

# %%
x.mean(dim=-1).shape, x.mean(dim=-1, keepdim=True).shape

# %% [markdown]
# **Four.** Broadcasting stretches axes of size one (and missing ones on the left) to fit. Convenient, and the most common
# source of wrong answers that raise no error. That is why we give all axes different sizes where we can.

# %%
centred = x - x.mean(dim=-1, keepdim=True)  # (B, T, D) − (B, T, 1)
assert torch.allclose(centred.sum(-1), torch.zeros(B, T), atol=1e-4)
centred.shape

# %% [markdown]
# **Five.** A matrix product contracts the last axis with the first axis of a matrix; all other axes are carried along.

# %%
W = torch.randn(D, 4, generator=generator)
by_loop = torch.stack([torch.stack([x[b, t] @ W for t in range(T)]) for b in range(B)])
assert torch.allclose(by_loop, x @ W)
(x @ W).shape

# %% [markdown]
# **Six.** `transpose` swaps two axes; `view` splits the same row of numbers in a different way.
#
# **Predict, then run.** `x.transpose(0, 1)` and `x.view(T, B, D)` have the same shape. Do they hold the same numbers?

# %%
x.transpose(0, 1).shape == x.view(T, B, D).shape, torch.equal(x.transpose(0, 1), x.view(T, B, D))

# %% [markdown]
# <details><summary>Why not</summary>
#
# `transpose` keeps every number at its sequence and its position, and only swaps the order of the two axes. `view` reads the
# numbers in memory order and cuts that row into new pieces: the first position of its result mixes position 0 of sequence 0
# with position 1 of sequence 0. No error is raised; the model just learns badly.
#
# </details>
#
# **Seven.** The softmax turns any numbers into a distribution, positive numbers that add up to one:
# $\text{softmax}(z)_i = e^{z_i} / \sum_j e^{z_j}$.

# %%
z = torch.tensor([2.0, 1.0, -1.0])
assert torch.allclose(z.softmax(-1), z.exp() / z.exp().sum())
z.softmax(-1), z.softmax(-1).sum()

# %% [markdown]
# **Eight.** Autograd records what you compute and gives the derivative of the result with respect to every input that
# was created with `requires_grad=True`. For $y = \sum_i w_i^2$ it must be $2 w$:

# %%
w = torch.tensor([3.0, -1.0, 0.5], requires_grad=True)
(w**2).sum().backward()
assert torch.equal(w.grad, 2 * w.detach())
w.grad

# %% [markdown]
# **Nine.** Randomness comes from a generator that you create and pass on, so that the same cell gives the same numbers.

# %%
a = torch.randn(3, generator=torch.Generator().manual_seed(1))
b = torch.randn(3, generator=torch.Generator().manual_seed(1))
assert torch.equal(a, b)
a

# %% [markdown]
# **Ten.** Tensors live on a device. The course runs on a CPU, and uses a GPU where there is one; this line finds it.

# %%
has_mps = torch.backends.mps.is_available()  # the GPU of a Mac
device = "cuda" if torch.cuda.is_available() else "mps" if has_mps else "cpu"
x.to(device).sum().item()

# %% [markdown]
# ## Recap
#
# - A language model answers "which word comes next, and how likely is each?"; writing is asking again and again.
# - Likely is not the same as true: most limits of language models come from there.
# - Tensors have shapes; know each axis by name, and give all axes different sizes while you learn.
# - The course measures every model in bits per token against a floor that is known exactly.
# - Checks are sentences; a failing one shows what your function returned, and names the mistake or gives a hint.
#
# **In the homework:** [hw0 · Exploring language models](../homeworks/hw0_exploring/hw0_exploring.ipynb) lets you question a real one, and play against it.
#
# ## Exercises
#
# **1.** `x` has the shape (2, 5, 6). What are the shapes of `x[:, 2]`, `x[0]`, `x.sum(1)` and `x.sum(1, keepdim=True)`?
#
# <details><summary>Answer</summary>
#
# (2, 6), (5, 6), (2, 6) and (2, 1, 6). An index or a sum removes its axis; `keepdim=True` leaves it with size one.
#
# </details>
#
# **2.** Which of these can be added to `x`: a tensor of shape (5, 6), of (2, 1, 6), of (2, 6)?
#
# <details><summary>Answer</summary>
#
# The first two. Shapes are aligned from the right: (5, 6) fits under (2, 5, 6), and the axis of size one is stretched. Under (2, 6), a 5 meets a 2.
#
# </details>
#
# **3.** How many bits does the uniform model need for each word of a language of 128 words? And if somebody tells it which half of the words is possible?
#
# <details><summary>Answer</summary>
#
# $\log_2 128 = 7$, and then 6. Each time the possible words are halved, one bit is saved.
#
# </details>
#
# **4.** *(long)* Put a model that looks *two* words back on the ladder, with the same `k`. Train it on 2,000 stories, as above, and then on 20. Is looking further back always better?
#
# <details><summary>Answer</summary>
#
# No. With 2,000 stories the second word of context helps. With 20 stories most pairs of words are new, and the model
# with the shorter context does better: a longer context helps only if it has occurred in training. The smoothing
# methods of lecture 02 solve a good part of this problem.
#
# ```python
# import torch
# from course.data.story_language import StoryLanguage
# from course.evaluation import score
# from course.models import NGram, NGramCounts
#
# language = StoryLanguage()
# batch = language.sample(2000, torch.Generator().manual_seed(0))
# stories = [tokens[mask] for tokens, mask in zip(batch.tokens, batch.mask, strict=True)]
# fresh = language.sample(300, torch.Generator().manual_seed(1))
#
#
# def bits(n_stories: int, order: int) -> float:
#     counts = NGramCounts(stories[:n_stories], order, language.vocab_size, language.vocabulary.bos)
#     return score(NGram(counts, k=0.1), fresh).bits_per_token
#
#
# assert bits(2000, 3) < bits(2000, 2)
# assert bits(20, 3) > bits(20, 2)
# ```
#
# </details>
#
# ## Further reading
#
# - Alan M. Turing, ["Computing Machinery and Intelligence"](https://doi.org/10.1093/mind/LIX.236.433), *Mind* 59 (1950), 433–460.
# - Daniel Jurafsky and James H. Martin, [*Speech and Language Processing*](https://web.stanford.edu/~jurafsky/slp3/), 3rd edition draft, chapters 3 and 7.
# - Adam Paszke et al., ["PyTorch: An Imperative Style, High-Performance Deep Learning Library"](https://arxiv.org/abs/1912.01703), NeurIPS 2019.
