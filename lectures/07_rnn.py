# %% [markdown]
# # 07 · Recurrent networks
#
# **You will be able to**
#
# - write a recurrent network as one line that is applied at every step, and say which weights the steps share;
# - name the five ways of connecting inputs and outputs, and put the right head on each;
# - train it by teacher forcing, and carry gradients back through time, whole or truncated;
# - stack it, read in both directions, and let it write;
# - say what it can do that a window cannot, and what it costs.
#
# *35 minutes to read, about a minute to run. You need the window model of
# [05 · A feed-forward language model](05_feedforward.ipynb) and gradients from [06 · Backpropagation by hand](06_backprop.ipynb).*
#
# **The question of the day:** how can a model of fixed size read a text of any length?

# %% setup

# %%
import math
import textwrap

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from course import figures

torch.set_num_threads(1)  # with matrices this small, one core is faster than several

# %% [markdown]
# ## From a window to a state
#
# The network of lecture 05 looks at the last $N$ words. Three things are wrong with that. A window of any size is too small for some sentence. Its matrix
# grows with it. And each position of the window has its own weights, so what was learned about a word two positions back says nothing about the same word three positions back.
#
# A person reads differently: one word at a time, with a summary of everything so far in mind. After each word the summary is
# updated, always by the same rule. That is a **recurrent neural network** (RNN), and the summary is its **state** $h_t$:
#
# $$h_t = \sigma(U h_{t-1} + W x_t), \qquad h_0 = 0, \qquad \hat y_t = \text{softmax}(R\, h_t).$$
#
# | symbol | meaning | shape | in the code |
# |---|---|---|---|
# | $t$ | the step, $1 \dots T$ | | `t` |
# | $x_t$ | the word read at step $t$, as a vector (its embedding, $E$ times a one-hot) | $(d_x)$ | `x[t]` |
# | $d_x$ | numbers per word, which lecture 05 called $d$ | | `d_embedding` |
# | $h_t$ | the state after step $t$ | $(D)$ | `h` |
# | $W$ | what a word does to the state | $(D, d_x)$ | `W` |
# | $U$ | what the old state does to the new one | $(D, D)$ | `U` |
# | $\sigma$ | a nonlinearity, here $\tanh$; its bias is left out for now | | `torch.tanh` |
# | $R$ | reads the state, as $\mathbf{U}$ did in lecture 05; many papers call it $V$, but here $V$ is the number of words | $(V, D)$ | `R` |
# | $\hat y_t$ | the distribution over the word after $x_t$ | $(V)$ | `probs` |
#
# Side by side, with bold letters for lecture 05 ($\mathbf{x}_t$ is the one-hot vector of word $t$), the only difference is where the past comes in:
#
# | | feed-forward (lecture 05) | recurrent |
# |---|---|---|
# | embed | $\mathbf{e} = [\mathbf{E} \mathbf{x}_{t-3}; \mathbf{E} \mathbf{x}_{t-2}; \mathbf{E} \mathbf{x}_{t-1}]$ | $x_t = E\, \mathbf{x}_t$ |
# | hidden | $\mathbf{h} = \sigma(\mathbf{W} \mathbf{e})$ | $h_t = \sigma(U h_{t-1} + W x_t)$ |
# | predict | $\hat{\mathbf{y}} = \text{softmax}(\mathbf{U} \mathbf{h})$ | $\hat y_t = \text{softmax}(R\, h_t)$ |
# | weights of the input | different for each place in the window | the same for every word |
#
# ## The smallest one
#
# The corpus has two sentences and seven words. No two sizes are equal, so a confused axis cannot hide.

# %%
sentences = ["harry went back and saw hermione", "ron went back and saw harry"]
split = [sentence.split() for sentence in sentences]
symbols = sorted({word for words in split for word in words})
tokens = torch.tensor([[symbols.index(word) for word in words] for words in split])
B, T, V, D, d_embedding = 2, 5, len(symbols), 6, 4
inputs, targets = tokens[:, :-1], tokens[:, 1:]  # (B, T) each: the targets are one step ahead
symbols


# %%
def random_weights(generator: torch.Generator) -> list[Tensor]:
    """E, one row for each word, W, U and R."""
    shapes = ((V, d_embedding, 1), (D, d_embedding, 2), (D, D, 2), (V, D, 2))
    return [torch.randn(n, m, generator=generator) / smaller for n, m, smaller in shapes]


generator = torch.Generator().manual_seed(1)
E, W, U, R = random_weights(generator)

# %% [markdown]
# The forward pass is the formula in a loop. One sentence, one step at a time:


# %%
def states_of(x: Tensor) -> Tensor:
    """All states (T, D) of one text x (T, d_x)."""
    h, states = torch.zeros(D), []
    for t in range(len(x)):
        h = torch.tanh(U @ h + W @ x[t])  # (D)
        states.append(h)
    return torch.stack(states)


x = E[inputs[0]]  # (T, d_embedding)
states = states_of(x)
swapped = states_of(x[[2, 1, 0, 3, 4]])  # the first and the third word exchanged
states[-1], swapped[-1]

# %% [markdown]
# The last state has seen all five words, and their order matters.
#
# **Predict, then run.** How many numbers are in $W$, $U$ and $R$ together? How many more are needed for a text of a
# thousand words? And how many more does the window model of lecture 05 need, whose first matrix has $D \cdot N \cdot
# d_x$ of them for a window of $N$ words?

# %%
recurrent = W.numel() + U.numel() + R.numel()
for N in (5, 1000):
    print(f"{N:4} words: recurrent {recurrent}, window {D * N * d_embedding + V * D}")
thousand = torch.randn(1000, d_embedding, generator=generator)
print("the state after 1000 words:", states_of(thousand)[-1].shape)

# %% [markdown]
# <details><summary>Why the recurrent number stays</summary>
#
# $24 + 36 + 42 = 102$ for any length: the same three matrices act at every step. This is called **weight sharing** through time.
# The model does not grow, and what it learns at one position holds at every other.
#
# </details>
#
# Here is the loop unrolled, one column for each step.

# %%
figures.machine("rnn")

# %% [markdown]
# **A question:** how many arrows lie between the first word and the last prediction, and how many of them are $U$?
#
# <details><summary>Answer</summary>
#
# Five in the drawing: one $W$, three $U$ and one $R$. For a text of $T$ words $T + 1$, of which $T - 1$ are the same $U$: what happens to a gradient on that way is lecture 08.
#
# </details>
#
# ## The same in tensors
#
# Only $U h_{t-1}$ has to wait for the step before. $W x_t$ does not, so all steps and all sentences are multiplied at once, and the
# loop keeps a single product. States of $B$ sentences are the rows of a matrix; hence the transposes.


# %%
def rnn(x: Tensor, U: Tensor, W: Tensor) -> Tensor:
    """All states (B, T, D) of inputs (B, T, d_x)."""
    h = x.new_zeros(len(x), len(U))
    states = []
    for projected in (x @ W.T).unbind(dim=1):  # T times (B, D)
        h = torch.tanh(projected + h @ U.T)
        states.append(h)
    return torch.stack(states, dim=1)


assert torch.allclose(rnn(E[inputs], U, W)[0], states, atol=1e-6)
probs = (rnn(E[inputs], U, W) @ R.T).softmax(-1)  # (B, T, V)
probs.shape

# %% [markdown]
# ## Five ways to connect it
#
# One rule for a step allows many shapes of input and output. The letters a to e name them:


# %%
figures.machine("configurations")

# %% [markdown]
# | | input → output | example | what is read |
# |---|---|---|---|
# | a | one → one | an ordinary feed-forward network | the only state |
# | b | one → many | a picture → its caption | every state; inputs after the first are the words already written |
# | c | many → one | a review → positive or negative | the last state |
# | d | many → many, one after the other | English → French | the states after the last input (lecture 10) |
# | e | many → many, in step | a language model, a tag for each word, a class for each video frame | every state |
#
# In code they differ in which states are kept. With $T = 5$ inputs:

# %%
quiet = torch.zeros(B, 3, d_embedding)  # no new input; a real model feeds its last word
states, first = rnn(E[inputs], U, W), E[inputs[:, :1]]  # (B, T, D), (B, 1, d_x)
kept = {"a": rnn(first, U, W), "b": rnn(torch.cat([first, quiet], dim=1), U, W)}
kept |= {"c": states[:, -1], "d": rnn(torch.cat([E[inputs], quiet], dim=1), U, W)[:, T:], "e": states}
for name, some in kept.items():
    print(f"{name}: states {tuple(some.shape)}, logits {tuple((some @ R.T).shape)}")

# %% [markdown]
# ## Teacher forcing
#
# The loss of a language model is the average surprise at the true next words (lecture 01):
#
# $$L = -\frac{1}{T} \sum_{t=1}^{T} \log \hat y_t[x_{t+1}],$$
#
# where $\hat y_t[x_{t+1}]$ is the probability that it gave to the word that came.
#
# Which word does the model read at step $t + 1$: the one it thought likeliest, or the one in the text? In training, the one in the
# text, whatever the model thought. This is **teacher forcing**: the teacher corrects each word before the next is tried. *Harry went back and
# saw Hermione*: if the model bets on *ron* after *saw*, its loss is high at that word, and it reads on from the true sentence.


# %%
def loss_of(parameters: list[Tensor]) -> Tensor:
    E, W, U, R = parameters
    logits = rnn(E[inputs], U, W) @ R.T  # (B, T, V): each step reads the true word
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


by_hand = -sum(probs[b, t, targets[b, t]].log() for b in range(B) for t in range(T)) / (B * T)
assert torch.isclose(loss_of([E, W, U, R]), by_hand)
print(f"before training: {by_hand:.3f} nats; all {V} words equally likely: ln {V} = {math.log(V):.3f}")


# %%
def trained(parameters: list[Tensor], n_steps: int = 300) -> list[Tensor]:
    for _ in range(n_steps):
        leaves = [part.detach().requires_grad_() for part in parameters]
        gradients = torch.autograd.grad(loss_of(leaves), leaves)
        parameters = [part - 0.3 * step for part, step in zip(parameters, gradients, strict=True)]
    return parameters


parameters = trained([E, W, U, R])
print(f"after 300 steps: {loss_of(parameters):.3f} nats")

# %% [markdown]
# When the trained model writes, there is no teacher: each word it chooses is its next input. This is **free running**.
#
# **Predict, then run.** It has memorised both sentences. What does it write after *harry*? And what if its first word
# is forced to be *and*, a beginning that it has never seen?


# %%
def write(first: str, n_words: int) -> str:
    E, W, U, R = parameters
    h, words = torch.zeros(D), [first]
    for _ in range(n_words):
        h = torch.tanh(U @ h + W @ E[symbols.index(words[-1])])
        words.append(symbols[(R @ h).argmax()])
    return " ".join(words)


for first in ("harry", "ron", "and"):
    print(write(first, 5))
assert [write("harry", 5), write("ron", 5)] == sentences

# %% [markdown]
# <details><summary>Answer</summary>
#
# The last word of each sentence depends on the first, four words away: a trigram cannot tell the two apart after *and saw*; the state can.
#
# </details>
#
# After a beginning that it has never seen, the model has no teacher to correct it. Lecture 10 returns to this difference between training and generating.
#
# Success was not guaranteed. Begin with different random weights:

# %%
for seed in range(4):
    start = random_weights(torch.Generator().manual_seed(seed))
    print(f"seed {seed}: {loss_of(trained(start)):.3f} nats after 300 steps")
print(f"log(2) / 5 = {math.log(2) / 5:.3f}")

# %% [markdown]
# Most stop just above $\tfrac{1}{5} \log 2$: they have learned everything except the last of the five words, the only one that needs memory. There the model still guesses between two.
# Lecture 08 finds out why.
#
# ## Backpropagation through time
#
# Unrolled over $T$ steps, an RNN is a deep feed-forward network whose layers share their weights. So lecture 06 applies: go back from step $T$ to step 1 and
# add up what each use of $U$ contributes. Write $a_t = U h_{t-1} + W x_t$ for the input of $\tanh$, and $\delta_t = \partial L / \partial a_t$:
#
# $$\frac{\partial L}{\partial h_t} = \underbrace{\tfrac{1}{T} R^\top (\hat y_t - y_t)}_{\text{from the prediction at } t} + \underbrace{U^\top \delta_{t+1}}_{\text{from the future}}, \qquad
# \delta_t = \frac{\partial L}{\partial h_t} \odot (1 - h_t^2), \qquad \frac{\partial L}{\partial U} = \sum_{t=1}^{T} \delta_t h_{t-1}^\top.$$
#
# Here $y_t$ is the one-hot vector of the true next word, $\odot$ multiplies number by number, $1 - h_t^2$ is the slope of $\tanh$, and
# $\delta_{T+1} = 0$, since nothing follows the end. ($W$ gets the same sum with $x_t$ in the place of $h_{t-1}$.) The
# algorithm is called **backpropagation through time** (BPTT). Compute it by hand, for the first sentence:

# %%
h = torch.cat([torch.zeros(1, D), rnn(E[inputs[:1]], U, W)[0]])  # (T + 1, D), h[0] = 0
errors = (h[1:] @ R.T).softmax(-1) - F.one_hot(targets[0], V)  # (T, V)
delta_after, grad_U = torch.zeros(D), torch.zeros(D, D)
for t in range(T, 0, -1):
    grad_h = R.T @ errors[t - 1] / T + U.T @ delta_after
    delta_after = grad_h * (1 - h[t] ** 2)
    grad_U += delta_after[:, None] * h[t - 1]  # summing as we go

asked = U.clone().requires_grad_()
loss = F.cross_entropy(rnn(E[inputs[:1]], asked, W)[0] @ R.T, targets[0])
(from_autograd,) = torch.autograd.grad(loss, asked)
assert torch.allclose(grad_U, from_autograd, atol=1e-6)
print(f"largest difference from autograd: {(grad_U - from_autograd).abs().max():.0e}")

# %% [markdown]
# ## Truncated after 20 steps
#
# The gradient of a whole book needs all of its states in memory at once. In practice a text is cut into pieces of about 20 steps. The
# **state** is carried from piece to piece, so the forward pass is that of the whole text; the **gradient** stops at the boundary.
# One call does it: `detach`.


# %%
def text_loss(x: Tensor, y: Tensor, U: Tensor, n_steps: int) -> Tensor:
    """Mean loss of one text, x (T, d_x) and targets y (T), gradients cut every `n_steps`."""
    h, total = torch.zeros(D), 0.0
    for t in range(len(x)):
        h = h.detach() if t % n_steps == 0 else h
        h = torch.tanh(U @ h + W @ x[t])
        total = total + F.cross_entropy(R @ h, y[t])
    return total / len(x)


long_text = torch.randint(V, (101,), generator=generator)
x, y = E[long_text[:-1]], long_text[1:]

# %% [markdown]
# **Predict, then run.** Compared with no cuts at all, how far off is the gradient with pieces of 20 steps: by 1 %, by 10 %, or by more? And the loss?

# %%
whole_loss = text_loss(x, y, asked, 100)
(whole,) = torch.autograd.grad(whole_loss, asked)
losses, off = {}, {}
for n_steps in (1, 5, 20, 100):
    losses[n_steps] = text_loss(x, y, asked, n_steps)
    (cut,) = torch.autograd.grad(losses[n_steps], asked)
    off[n_steps] = ((cut - whole).norm() / whole.norm()).item()
    assert torch.isclose(losses[n_steps], whole_loss)

# %%
figures.prediction(
    "How far off is the gradient with pieces of 20 steps?",
    off[20],
    between=(0.001, 1),
    is_logarithmic=True,
    unit="%",
)

# %%
for n_steps, loss in losses.items():
    print(f"pieces of {n_steps:3}: loss {loss:.4f}, gradient off by {off[n_steps]:4.0%}")

# %% [markdown]
# <details><summary>Answer</summary>
#
# The loss never changes, because the states do not. The gradient does: each cut throws away what lies further back than its piece. Twenty steps are a
# compromise between memory and exactness. How much of the gradient comes from far back depends on the weights; that is the subject of lecture 08.
#
# </details>
#
# ## Three heads
#
# The same states serve many tasks. A **head** is the last matrix, together with the choice of states it reads. The head of a language model reads every $h_t$ and gives the next word, $(B, T, V)$. The head of a labeller (parts of speech, names) reads every $h_t$ and gives this word's tag, $(B, T, \text{tags})$. The head of a classifier (sentiment, spam) reads the last $h_T$, or the mean of all, and gives one answer, $(B, \text{classes})$.
#
# Labelling shows what a state cannot know when the text is read from left to right. *washington* may be a person or a place, and the verb that decides comes after it. The remedy is a second network that reads from right to left. At each word the two states are joined:
#
# $$\overrightarrow{h}_t = \sigma(\overrightarrow{U}\, \overrightarrow{h}_{t-1} + \overrightarrow{W} x_t), \qquad \overleftarrow{h}_t = \sigma(\overleftarrow{U}\, \overleftarrow{h}_{t+1} + \overleftarrow{W} x_t), \qquad h_t = [\overrightarrow{h}_t; \overleftarrow{h}_t].$$
#
# The two have weights of their own. In code, the second one is the first, applied to the reversed text, with its states reversed again:

# %%
W_backward = torch.randn(D, d_embedding, generator=generator) / 2
U_backward = torch.randn(D, D, generator=generator) / 3


def both_directions(x: Tensor) -> Tensor:
    """States (B, T, 2D): what was read so far, and what is still to come."""
    return torch.cat([rnn(x, U, W), rnn(x.flip(1), U_backward, W_backward).flip(1)], dim=-1)


both_directions(E[inputs]).shape

# %% [markdown]
# Here are sentences with names and tags; `B-` begins a name, `I-` continues it, `O` is outside. They differ in length, so the short ones are padded; the
# padding has the label −1, which the loss leaves out. Of 2,500 sentences, 500 are held out.

# %%
from random import Random

from course.data.labelled import TAGS, EntityConfig, draw_tagged_sentences
from course.data.vocabulary import Batch, Vocabulary, pad_sequences

tagged = draw_tagged_sentences(EntityConfig(), 2500, Random(0))
vocabulary = Vocabulary.from_sentences(sentence.words for sentence in tagged)
words = pad_sequences([vocabulary.encode(s.words) for s in tagged], vocabulary.pad)
tags = pad_sequences([[TAGS.index(tag) for tag in s.tags] for s in tagged], -1)
shown = [f"{word}/{tag}" for word, tag in zip(tagged[4].words, tagged[4].tags, strict=True)]
print(textwrap.fill(" ".join(shown), 88))

# %% [markdown]
# A labeller is an embedding, a network and a head. (The layers of the library are the functions above with their
# weights inside; today's last cell checks that.)

# %%
from course.models import RNN
from course.training import TrainingConfig, train


class Labeller(nn.Module):
    """A label for each word, or with `is_classifier` one for the whole text."""

    def __init__(self, vocab_size, n_labels, is_bidirectional=False, is_classifier=False):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, 24)
        self.network = RNN(24, 32, is_bidirectional=is_bidirectional)
        self.head = nn.Linear(64 if is_bidirectional else 32, n_labels)
        self.is_classifier = is_classifier

    def forward(self, tokens: Tensor, mask: Tensor) -> Tensor:
        states, last = self.network(self.embedding(tokens), mask=mask)  # states (B, T, 32 or 64)
        return self.head(last[0][-1] if self.is_classifier else states)


def label_loss(model: nn.Module, example: tuple[Tensor, ...]) -> Tensor:
    tokens, mask, labels = example
    return F.cross_entropy(model(tokens, mask).movedim(-1, 1), labels, ignore_index=-1)


# %%
def labels_found(model: Labeller, texts: Batch, labels: Tensor, learning_rate: float) -> Tensor:
    """The model's answers for the texts from 2000 on, after training on those before."""

    def batches(step: int) -> tuple[Tensor, ...]:
        chosen = torch.randint(2000, (32,), generator=torch.Generator().manual_seed(step))
        return texts.tokens[chosen], texts.mask[chosen], labels[chosen]

    train(model, batches, TrainingConfig(200, learning_rate), loss=label_loss, device="cpu")
    with torch.no_grad():
        return model(texts.tokens[2000:], texts.mask[2000:]).argmax(-1)


def tags_right(is_bidirectional: bool) -> tuple[float, float]:
    """The share of right tags: of all words, and of the words of names alone."""
    torch.manual_seed(0)
    found = labels_found(Labeller(len(vocabulary), len(TAGS), is_bidirectional), words, tags.tokens, 1e-2)
    right, is_real = (found == tags.tokens[2000:]).float(), tags.mask[2000:]
    is_name = is_real & (tags.tokens[2000:] != TAGS.index("O"))
    return right[is_real].mean().item(), right[is_name].mean().item()


# %% [markdown]
# **Predict, then run.** A network in one direction and one in both learn from the same sentences. How much better is the second, and on which words?

# %%
one_way, both_ways = tags_right(False), tags_right(True)

# %%
gains = {"in the words of names": both_ways[1] - one_way[1], "in all words": both_ways[0] - one_way[0]}
figures.prediction("Where do both directions raise the fraction of right tags more?", gains, unit="%")

# %%
for name, (of_all, of_names) in (("left to right", one_way), ("both directions", both_ways)):
    print(f"{name:15}: {of_all:.1%} of all tags right, {of_names:.1%} of those in names")
assert both_ways[1] - one_way[1] > both_ways[0] - one_way[0] > 0

# %% [markdown]
# The words to the right help with the names. A language model may not look there: the word to the right is the answer.
# For labelling and classifying, the whole text is there from the start.
#
# Classification reads one state, the last. Here are reviews in which *not* reverses the next word, and opinions are
# weighed against each other. An opinion does not always agree with the label, so even the best rule is sometimes wrong:

# %%
from course.data.labelled import SentimentConfig, draw_reviews
from course.data.sentiment import best_accuracy

reviews = draw_reviews(SentimentConfig(), 2500, Random(1))
review_words = Vocabulary.from_sentences(review.words for review in reviews)
texts = pad_sequences([review_words.encode(review.words) for review in reviews], review_words.pad)
labels = torch.tensor([review.label for review in reviews])
for review in reviews[:3]:
    print(f"{' '.join(review.words)} → {review.label}")
torch.manual_seed(0)
found = labels_found(Labeller(len(review_words), 2, is_classifier=True), texts, labels, 5e-3)
accuracy, best = (found == labels[2000:]).float().mean(), best_accuracy(SentimentConfig())
print(f"reviews right: {accuracy:.1%}; the best possible rule: {best:.1%}")

# %% [markdown]
# ## Stacked
#
# The states of one layer are a sequence of vectors, like the inputs. So they can be the inputs of a second layer:
#
# $$h^{(l)}_t = \sigma(U^{(l)} h^{(l)}_{t-1} + W^{(l)} h^{(l-1)}_t), \qquad h^{(0)}_t = x_t.$$
#
# Each layer can build on what the one below has made of the text.

# %%
U_upper, W_upper = (torch.randn(D, D, generator=generator) / 3 for _ in range(2))
lower = rnn(E[inputs], U, W)  # (B, T, D)
upper = rnn(lower, U_upper, W_upper)  # (B, T, D): the same function again
upper.shape

# %% [markdown]
# ## It writes
#
# In 2013 Alex Graves let recurrent networks write character by character: no vocabulary of words, only the next symbol,
#
# $$\Pr(x_{t+1} = k \mid y_t) = y_t^k = \frac{\exp(\hat y_t^k)}{\sum_{k'=1}^{K} \exp(\hat y_t^{k'})}.$$
#
# (In his notation $\hat y_t$ are the logits and $y_t$ the probabilities; $K$ is the number of symbols.) Trained on Wikipedia with its markup, his network of
# LSTM layers wrote pages such as *"The 'Rebellion' (Myerodent) is [[literal]], related mildly older than old half sister …"* (quoted from the paper,
# shortened): invented words, but brackets that close, dates, and a table of links. His network had about 21 million weights (quoted too); ours has about five
# hundred times fewer, and reads Python's documentation. The same paper lets a network write by *hand*: the next element is then not a letter but a movement
# of a pen, drawn from a mixture of Gaussian distributions. The network computes the parameters of the mixture, and it looks up the letters to be written by a
# soft window, an early form of attention. Was his the first neural network to predict the next element of a sequence? No: words had been predicted by Bengio
# and others (2000) and by Mikolov and others (2010), letters by Sutskever, Martens and Hinton (2011).

# %%
from course.data.corpora import python_documentation

text = " ".join("".join(c for c in python_documentation().lower() if c.isascii()).split())
alphabet = sorted(set(text))
letters = torch.tensor([alphabet.index(c) for c in text])  # (N,)
n_rows = 64
rows = letters[: len(letters) // n_rows * n_rows].view(n_rows, -1)  # read side by side
len(alphabet), rows.shape

# %% [markdown]
# Training uses truncated BPTT as above, with pieces of 20 steps: the state is carried on, the gradient is cut. The loop is written out because today's lecture is about it;
# `clip_grad_norm_` limits the norm of the gradient, for a reason that lecture 08 gives. The model writes a sample before training, at some points during it, and at the end. Each letter is drawn from the formula above.

# %%
from course.models import RecurrentConfig, RecurrentLanguageModel

torch.manual_seed(0)
config = RecurrentConfig(len(alphabet), "rnn", d_embedding=24, d_hidden=160)
writer = RecurrentLanguageModel(config)
optimizer = torch.optim.Adam(writer.parameters(), lr=4e-3)
print(f"{sum(parameter.numel() for parameter in writer.parameters()):,} weights")


# %%
def train_on_piece(step: int, state: tuple[Tensor, ...] | None) -> tuple[float, tuple[Tensor, ...]]:
    piece = rows[:, 20 * step : 20 * step + 21]  # (B, 20 inputs and one more target)
    logits, state = writer.read(piece[:, :-1], state)  # (B, 20, V)
    loss = F.cross_entropy(logits.flatten(0, 1), piece[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(writer.parameters(), 1.0)
    optimizer.step()
    return loss.item(), tuple(part.detach() for part in state)  # values go on, gradients do not


@torch.no_grad()
def write_letters(start: str, n_letters: int, generator: torch.Generator) -> str:
    tokens = torch.tensor([[alphabet.index(c) for c in start]])
    written, state = start, None
    for _ in range(n_letters):
        logits, state = writer.read(tokens, state)  # the state knows what came before
        tokens = torch.multinomial(logits[0, -1:].softmax(-1), 1, generator=generator)  # (1, 1)
        written += alphabet[tokens.item()]
    return textwrap.fill(written, 88)


# %%
n_pieces = (rows.shape[1] - 1) // 20
state, losses = None, []
for step in range(600):
    if step in (0, 100):
        print(f"after {step} pieces:\n{write_letters('the ', 150, torch.Generator().manual_seed(1))}\n")
    state = None if step % n_pieces == 0 else state  # a new round begins with an empty state
    loss, state = train_on_piece(step % n_pieces, state)
    losses.append(loss)
print(f"after 600 pieces:\n{write_letters('the ', 300, torch.Generator().manual_seed(1))}\n")
bits = [losses[0] / math.log(2), sum(losses[-20:]) / 20 / math.log(2)]
print(f"bits per letter: {bits[0]:.2f} before training, {bits[1]:.2f} at the end")

# %% [markdown]
# That was a minute of training on a manual. The record of `python -m course.shakespeare` shows longer training on livelier texts: an RNN of 128 units
# on 32,000 first names, one per line, and one of 256 units on scenes of Shakespeare. Both wrote after 1, 10 and 100 % of their steps.
# **Predict, then run:** what is right first, the lengths of words, their spelling, or the turns of speakers?

# %%
from course.shakespeare import read_recorded

runs = read_recorded()
for name in ("names", "rnn"):
    run, bits = runs[name], {step: nats / math.log(2) for step, nats, _ in runs[name]["scores"]}
    print(f"{name}: {run['n_parameters']:,} weights, {run['n_read']:,} characters of training text")
    for step, written in run["samples"].items():
        lines = [written.replace("\n", " / ")] if name == "names" else written.split("\n")
        print(f"\nafter {int(step):,} steps, {bits[int(step)]:.2f} bits per character of held-out text:")
        print("\n".join(textwrap.fill(line, 100) for line in lines))
    print("-" * 88)
    assert list(bits.values()) == sorted(bits.values(), reverse=True)

# %% [markdown]
# <details><summary>Answer</summary>
#
# First come the frequent letters and about the right lengths, then spellings that could be English, and the form of a play: short lines, and a name with
# a colon before a speech.
#
# </details>
#
# The text never makes sense: an RNN of this size remembers only a word or two.
#
# The next figure shows the model trained on this page while it reads a sentence: 24 of its 160 units, and what it expects next. Move the step and watch how the state changes after a
# space, and how the prediction sharpens within a word. The figure takes any model's states and probabilities: pass your own.

# %%
sentence = "the value of the expression is"
with torch.no_grad():
    reading = torch.tensor([[alphabet.index(c) for c in sentence]])
    states, _ = writer.network(writer.embedding(reading))  # (1, T, D)
    probs = writer.output(states).softmax(-1)
figures.unrolled(list(sentence), states[0, :-1, :24], probs[0, :-1], alphabet)

# %% [markdown]
# ## Where it breaks
#
# | for | against |
# |---|---|
# | reads input of any length | each step must wait for the one before: the steps cannot run in parallel |
# | step $t$ can, in theory, use what was read long before | in practice what was read long before is hard to reach |
# | the model does not grow with the context | the state does not grow either: everything must fit into $D$ numbers |
# | the same weights at every position | |
#
# You can see the first objection in the code: the loop has as many rounds as the text has tokens, on any machine. You can measure the second one. In the
# stories of this course the true distribution is known, so we can ask how far each *kind* of word stays above what is possible. First train one model of
# lecture 05 and one of today:

# %%
from course.data.shuffling import ShuffledStories
from course.data.story_language import StoryLanguage
from course.evaluation import score, target_nll
from course.ladder.kinds import bits_by_kind
from course.models import FeedForwardConfig, FeedForwardLanguageModel

language = StoryLanguage()
train_stories = language.sample(2500, torch.Generator().manual_seed(1))
test_stories = language.sample(200, torch.Generator().manual_seed(2))
V, sizes = language.vocab_size, {"d_embedding": 48, "d_hidden": 128}
torch.manual_seed(0)
window = FeedForwardLanguageModel(FeedForwardConfig(V, 4, fill=language.vocabulary.bos, **sizes))
recurrent = RecurrentLanguageModel(RecurrentConfig(V, "rnn", **sizes))
config = TrainingConfig(n_steps=400, learning_rate=4e-3)
for model in (window, recurrent):
    history = train(model, ShuffledStories(train_stories, 32), config, device="cpu")
    print(f"{type(model).__name__:25} last loss {history.losses[-1] / math.log(2):.2f} bits")

# %% [markdown]
# Here is the gap to the true distribution, by the kind of the word that came next:

# %%
read, came = test_stories.tokens[:, :-1], test_stories.tokens[:, 1:]  # (B, T) each
with torch.no_grad():
    by_recurrent, by_language = (target_nll(each(read), came) for each in (recurrent, language))
above = bits_by_kind(by_recurrent, by_language, test_stories, language)
for kind, excess in above.items():
    print(f"{kind:10} {excess:5.2f} bits above the floor")

# %% [markdown]
# Full stops are learned. The most expensive words are the ones that recur: the name and the things of a story are
# mentioned at its beginning, and again dozens of words later. The state *could* hold them. Lecture 08 asks why it does
# not.
#
# ## The ladder

# %%
rungs = {"feed-forward": window, "RNN": recurrent}
bits = {name: score(model, test_stories).bits_per_token for name, model in rungs.items()}
print(", ".join(f"{name} {value:.2f} bits per token" for name, value in bits.items()))
assert bits["RNN"] < bits["feed-forward"]
figures.rungs("RNN", new=("RNN",), live=bits)

# %% [markdown]
# The recorded models of these two rungs answer below, with their own weights, beside the truth. **Predict, then look:** the window holds the last four words, the state whatever it has kept. There are six beginnings. At which of them does the RNN waste far fewer bits than the window, and at which does its memory not help?

# %%
from course import ladder

recorded = {result.title: result for result in ladder.read_recorded() if result.seed == 0}
both = ladder.recorded_models(["feedforward", "rnn"])
figures.every_rung(
    both,
    language,
    {title: recorded[title].bits_per_token for title in both},
    recorded["RNN"].floor,
    caption="Four words or a state: choose a beginning, then click a word or type one.",
)

# %% [markdown]
# <details><summary>Answer</summary>
#
# Only at the bracket. The window sees the inner one but not the outer one, so it gives a probability of a quarter to opening another; the RNN's state has kept both. The window knows as well as the RNN whether it is *sing* or *sings*. At *She or he?*, at *Who said it?* and at *Which thing?* both waste more than a bit: the name and the things stood at the beginning of the story, and the state has not kept them.
#
# </details>

# %% [markdown]
# ## The same in the library
#
# `torch.nn.RNN` is the field's own implementation, `course.models.RNN` is ours. With the weights of the lecture's first model all three give the same states. (Theirs
# has two biases, which are zero here.)

# %%
theirs = nn.RNN(d_embedding, D, batch_first=True)
ours = RNN(d_embedding, D)
with torch.no_grad():
    theirs.weight_ih_l0.copy_(W)
    theirs.weight_hh_l0.copy_(U)
    theirs.bias_ih_l0.zero_()
    theirs.bias_hh_l0.zero_()
ours.copy_from_torch(theirs)
assert torch.allclose(rnn(E[inputs], U, W), theirs(E[inputs])[0], atol=1e-6)
assert torch.allclose(rnn(E[inputs], U, W), ours(E[inputs])[0], atol=1e-6)
print("we have just built torch.nn.RNN")

# %% [markdown]
# ## Recap
#
# - $h_t = \sigma(U h_{t-1} + W x_t)$: one rule, the same weights at every step, any length.
# - The same rule serves five shapes of input and output; a head is the last matrix and the choice of states it reads.
# - Teacher forcing trains on the true history; BPTT carries gradients back and adds them up; truncation cuts them after about 20 steps.
# - Layers stack; labelling and classifying may read in both directions, a language model may not.
# - It needs fewer bits than the n-gram models and the window above, but it misses words that come back from far away.
#
# **In the homework:** [hw3 · Recurrent networks](../homeworks/hw3_recurrent/hw3_recurrent.ipynb), the exercises on the RNN step, backpropagation through time
# and labelling.
#
# ## Exercises
#
# **1.** $d_x = 10$, $D = 20$, $V = 50$. How many numbers are in $W$, $U$ and $R$ together, for texts of ten words? And for texts of a thousand?
#
# <details><summary>Answer</summary>
#
# $200 + 400 + 1000 = 1600$, for any length.
#
# </details>
#
# **2.** Which of the five shapes does each of these have: a spam filter, a part-of-speech tagger, a program that
# captions pictures, a translator, a classifier of single pictures?
#
# <details><summary>Answer</summary>
#
# c, e, b, d, a.
#
# </details>
#
# **3.** Set $U = 0$. Which model of an earlier lecture is left?
#
# <details><summary>Answer</summary>
#
# One that sees only the last word: the network of lecture 05 with a window of one. Everything older came through $U$.
#
# </details>
#
# **4.** *(long)* Use a bidirectional network as a language model by mistake. Show, without training anything, that its prediction at step $t$ depends on the very word that it should predict. What would its training loss look like?
#
# <details><summary>Answer</summary>
#
# Change word $t + 1$ and see whether the output at step $t$ changes. In a forward network it does not; in a bidirectional one it does. The loss would fall far below what is possible: the answer is in the input, and the network only has to find it there. In generation there is no word to the right, and the network fails.
#
# ```python
# import torch
# from course.models import RNN
#
# torch.manual_seed(0)
# x = torch.randn(1, 6, 4)
# changed = x.clone()
# changed[0, 4] += 1.0  # the word that step 3 has to predict
# for is_bidirectional in (False, True):
#     network = RNN(4, 5, is_bidirectional=is_bidirectional)
#     with torch.no_grad():
#         moved = (network(x)[0] - network(changed)[0]).abs().sum(-1)[0] > 1e-6
#     assert moved.tolist()[4:] == [True, True]
#     assert moved.tolist()[:4] == [is_bidirectional] * 4
# ```
#
# </details>
#
# ## Further reading
#
# - Jeffrey L. Elman, ["Finding Structure in Time"](https://doi.org/10.1207/s15516709cog1402_1), *Cognitive Science* 14 (1990), 179–211.
# - Paul J. Werbos, ["Backpropagation Through Time: What It Does and How to Do It"](https://doi.org/10.1109/5.58337), *Proceedings of the IEEE* 78 (1990), 1550–1560.
# - Ronald J. Williams and David Zipser, ["A Learning Algorithm for Continually Running Fully Recurrent Neural Networks"](https://doi.org/10.1162/neco.1989.1.2.270), *Neural Computation* 1 (1989), 270–280.
# - Mike Schuster and Kuldip K. Paliwal, ["Bidirectional Recurrent Neural Networks"](https://doi.org/10.1109/78.650093), *IEEE Transactions on Signal Processing* 45 (1997), 2673–2681.
# - Tomáš Mikolov, Martin Karafiát, Lukáš Burget, Jan Černocký and Sanjeev Khudanpur, ["Recurrent Neural Network Based Language Model"](https://doi.org/10.21437/Interspeech.2010-343), Interspeech 2010.
# - Alex Graves, ["Generating Sequences With Recurrent Neural Networks"](https://arxiv.org/abs/1308.0850), arXiv:1308.0850, 2013.
# - Andrej Karpathy, ["The Unreasonable Effectiveness of Recurrent Neural Networks"](https://karpathy.github.io/2015/05/21/rnn-effectiveness/), 2015: the five shapes are his drawing.
# - Ilya Sutskever, James Martens and Geoffrey Hinton, ["Generating Text with Recurrent Neural Networks"](https://icml.cc/2011/papers/524_icmlpaper.pdf), ICML 2011: letter by letter, two years before Graves.
