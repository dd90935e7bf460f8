# %% [markdown]
# # 05 · A feed-forward language model
#
# **You will be able to**
#
# - write down the neural language model of Bengio et al. (2003) and say the shape of every part;
# - build it with loops, then with tensors, and check the very first loss against $\ln V$;
# - train it by gradient descent, see from four numbers whether a run is healthy, and read what its embedding has learned;
# - say what it does better than a table of counts, and what it still cannot do.
#
# *40 minutes to read, under 60 seconds to run. You need matrices times vectors; how the gradients are found is lecture 06.
# Before this: [02 · n-grams](02_ngrams.ipynb), [03 · Perplexity](03_perplexity.ipynb).*
#
# **The question of the day:** how can a model predict well in a context it has never seen?

# %% setup

# %%
import math
from collections import Counter

import matplotlib.pyplot as plt
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from course import figures
from course.data.shuffling import ShuffledStories
from course.data.story_language import StoryLanguage
from course.evaluation import score, target_nll
from course.training import TrainingConfig, train

# %% [markdown]
# ## What a table cannot see
#
# A table of counts has one row for *the girls near*, another for *the boys near*, and nothing connects them. Whatever it learned about girls it must
# learn again about boys, and about teachers, farmers and sailors. With 20 words for each of 3 positions there are 8,000 rows;
# the knowledge in them may be a handful of facts.
#
# The idea of Bengio, Ducharme, Vincent and Jauvin (2003): give every word a short list of numbers, its **embedding**, and compute the next word's
# probabilities from those numbers by a smooth function. If *girls* and *boys* have similar numbers, they get similar predictions: every sentence
# about girls also teaches something about boys. The numbers are not given; they are learned together with the function.
#
# ## The model
#
# A window of $N = 3$ words $x_{t-3}, x_{t-2}, x_{t-1}$ predicts the word $x_t$:
#
# $$
# \begin{aligned}
# \mathbf{e} &= [\mathbf{E}\mathbf{x}_{t-3};\; \mathbf{E}\mathbf{x}_{t-2};\; \mathbf{E}\mathbf{x}_{t-1}] && \text{embed each word, and join} \\
# \mathbf{h} &= \sigma(\mathbf{W}\mathbf{e}) && \text{hidden layer} \\
# \mathbf{z} &= \mathbf{U}\mathbf{h} && \text{one number for each word: the logits} \\
# \hat{\mathbf{y}} &= \text{softmax}(\mathbf{z}), \quad \hat y_i = \frac{e^{z_i}}{\sum_{j} e^{z_j}} && \text{probabilities} \\
# L &= -\mathbf{y} \cdot \log \hat{\mathbf{y}} && \text{the surprise at the word that came}
# \end{aligned}
# $$
#
# | symbol | meaning | shape | in the code |
# |---|---|---|---|
# | $V$ | words in the vocabulary | | `vocab_size` |
# | $d$ | numbers per word | | `d_embedding` |
# | $D$ | width of the hidden layer | | `d_hidden` |
# | $N$ | words in the window | | `n_window` |
# | $\mathbf{x}_t$ | word $t$ as a *one-hot* vector: 1 at its own position, 0 elsewhere | $V$ | `one_hot(tokens[t])` |
# | $\mathbf{E}$ | the embedding: one column per word | $d \times V$ | `E` |
# | $[\,\cdot\,;\,\cdot\,]$ | vectors one below the other | | `torch.cat` |
# | $\mathbf{e}$ | the window as one vector | $Nd$ | `e` |
# | $\mathbf{W}$, $\mathbf{U}$ | two matrices of weights | $D \times Nd$, $V \times D$ | `W`, `U` |
# | $\sigma$ | a function applied to each number, here $\tanh$ as in the paper | | `torch.tanh` |
# | $\mathbf{y}$ | the word that came, one-hot | $V$ | `one_hot(target)` |
# | $L$ | the loss, in nats | | `loss` |
#
# (The paper adds a constant vector, a **bias**, to $\mathbf{W}\mathbf{e}$ and to $\mathbf{U}\mathbf{h}$, here called
# $\mathbf{b}$ and $\mathbf{c}$; so does the library. We leave the biases out until the last cell. The paper also tries
# *direct connections*, a further matrix $\mathbf{A}$ from $\mathbf{e}$ straight to the logits, past the hidden layer. It found that they halve the time to learn and cost a
# little generalisation; we go without them.)
#
# Here is the same model as a drawing, with biases and with the paper's option. Build it up
# with the slider, and point at a box for its shape and its line of code in `course.models`.

# %%
figures.machine("feedforward")

# %% [markdown]
# **A question:** the window gets one word longer. Which boxes grow, and which matrices with them?
#
# <details><summary>Answer</summary>
#
# The window, its embeddings and $\mathbf{e}$ grow by one word. With $\mathbf{e}$ the two matrices that read it get $d$ more columns, $\mathbf{W}$ and $\mathbf{A}$. $\mathbf{E}$, $\mathbf{h}$, $\mathbf{U}$ and the logits stay as they are.
#
# </details>
#
# ## The smallest possible one
#
# Take five words ($V = 5$), $d = 2$, $D = 4$ and $N = 3$. No two of these sizes are equal, so a wrong axis shows.

# %%
words = ["the", "cat", "dog", "sat", "ran"]
V, d, D, N = 5, 2, 4, 3
generator = torch.Generator().manual_seed(0)
E = torch.randn(d, V, generator=generator)
W = torch.randn(D, N * d, generator=generator)
U = torch.randn(V, D, generator=generator)
window, target = [words.index(word) for word in ("sat", "the", "cat")], words.index("ran")

# %% [markdown]
# A matrix times a one-hot vector picks out a column. That is all an embedding is: a column of a table, looked up by
# number. No program multiplies by the zeros.


# %%
def one_hot(token: int) -> Tensor:
    return torch.eye(V)[token]


assert torch.equal(E @ one_hot(1), E[:, 1])
E[:, 1]  # what the model knows about "cat"

# %% [markdown]
# Now the five lines of the model, as loops over single numbers.

# %%
e = [E[i, token].item() for token in window for i in range(d)]  # (N·d,)
h = [math.tanh(sum(W[j, k].item() * e[k] for k in range(N * d))) for j in range(D)]  # (D,)
z = [sum(U[i, j].item() * h[j] for j in range(D)) for i in range(V)]  # (V,)
y_hat = [math.exp(z[i]) / sum(math.exp(value) for value in z) for i in range(V)]  # (V,)
loss = -sum(y * math.log(p) for y, p in zip(one_hot(target).tolist(), y_hat, strict=True))
print({word: round(p, 3) for word, p in zip(words, y_hat, strict=True)}, f"loss {loss:.4f}")

# %% [markdown]
# Only one term of the sum in the loss is not zero, so $L = -\log \hat y_{\text{target}}$: the cross-entropy of lecture 01, for one word.
#
# ## The same with tensors
#
# Take many windows at once, as token numbers of shape (B, N). `E.T[windows]` looks up a row of $\mathbf{E}^\top$ for
# each, and flattening joins the rows of a window.


# %%
def forward(windows: Tensor, E: Tensor, W: Tensor, U: Tensor) -> Tensor:
    """Logits (…, V) for windows (…, N)."""
    e = E.T[windows].flatten(start_dim=-2)  # (…, N·d)
    h = torch.tanh(e @ W.T)  # (…, D)
    return h @ U.T  # (…, V)


windows = torch.tensor([window, [0, 1, 3]])  # (B=2, N)
targets = torch.tensor([target, 0])  # (B,)
logits = forward(windows, E, W, U)  # (B, V)
assert torch.allclose(logits[0].softmax(-1), torch.tensor(y_hat))
assert torch.isclose(F.cross_entropy(logits[:1], targets[:1]), torch.tensor(loss))
print("loops and tensors agree")

# %% [markdown]
# **Predict, then run.** Why are the embeddings joined, and not added? What would the model say about *the cat sat* and *sat cat the* if they were
# added?

# %%
order, reverse = torch.tensor([0, 1, 3]), torch.tensor([3, 1, 0])
added = [E.T[tokens].sum(0) for tokens in (order, reverse)]
joined = [E.T[tokens].flatten() for tokens in (order, reverse)]
print("added: ", torch.allclose(*added), "  joined:", torch.allclose(*joined))

# %% [markdown]
# <details><summary>Why</summary>
#
# A sum does not know the order of its terms, so the two would be the same to the model. When they are joined, each position of the window meets its own columns of
# $\mathbf{W}$.
#
# </details>
#
# ## Before training: the first loss
#
# A model that knows nothing should give every word $1/V$, a loss of $\ln V$. If the first loss is far from that, something is wrong before
# anything was learned, so look at it every time.

# %%
language = StoryLanguage()
train_stories = language.sample(4000, torch.Generator().manual_seed(1))
test_stories = language.sample(300, torch.Generator().manual_seed(2))
print(f"V = {language.vocab_size}, ln V = {math.log(language.vocab_size):.3f} nats")
print(language.read(train_stories.tokens[0])[:84])


# %% [markdown]
# For a text, every position has a window: the $N$ tokens that end there. Where the text has not begun, the window is
# filled with a token `fill`; for stories that is `<s>`.


# %%
def windows_of(tokens: Tensor, n_window: int, fill: int) -> Tensor:
    """(B, T) → (B, T, N): the N tokens that end at each position."""
    padded = F.pad(tokens, (n_window - 1, 0), value=fill)
    return padded.unfold(1, n_window, 1)


windows_of(torch.tensor([[5, 6, 7, 8]]), n_window=3, fill=0)

# %% [markdown]
# All parts in one class, with the one interface of this course: tokens (B, T) in, log-probabilities (B, T, V) out.


# %%
class WindowModel(nn.Module):
    """The model of Bengio et al. (2003) without biases and direct connections: log softmax(U tanh(W e))."""

    context_length = None  # a text may have any length

    def __init__(self, n_window, scale_of_U, generator, vocab_size, fill, d_embedding=16, d_hidden=64):
        super().__init__()
        self.vocab_size, self.n_window, self.fill = vocab_size, n_window, fill
        width = n_window * d_embedding
        E = torch.randn(d_embedding, vocab_size, generator=generator) * 0.1
        W = torch.randn(d_hidden, width, generator=generator) / width**0.5
        U = torch.randn(vocab_size, d_hidden, generator=generator) * scale_of_U
        self.E, self.W, self.U = nn.Parameter(E), nn.Parameter(W), nn.Parameter(U)

    def forward(self, tokens):
        windows = windows_of(tokens, self.n_window, self.fill)  # (B, T, N)
        return forward(windows, self.E, self.W, self.U).log_softmax(-1)  # (B, T, V)


# %% [markdown]
# **Predict, then run.** Start the same model with random numbers of three sizes in $\mathbf{U}$. Which first loss is
# near $\ln V$, and are the others above or below?


# %%
def new_model(n_window: int, scale_of_U: float = 0.03) -> WindowModel:
    generator = torch.Generator().manual_seed(0)
    return WindowModel(n_window, scale_of_U, generator, language.vocab_size, language.vocabulary.bos)


for scale in (0.03, 1.0, 30.0):
    first = score(new_model(3, scale), test_stories).cross_entropy
    print(f"U of size {scale:5}: first loss {first:6.3f} nats")
print(f"ln V = {math.log(language.vocab_size):.3f}")

# %% [markdown]
# With large random weights the model is *confident* about something random, and the first training steps are spent unlearning it.
# The width of $\mathbf{h}$ matters too: a sum of $D$ independent random terms grows like $\sqrt{D}$, so weights are drawn smaller the more of them are
# added up. (That is the division by `width**0.5`.)

# %%
for n_terms in (16, 64, 256):
    sums = torch.randn(5000, n_terms, generator=generator).sum(dim=1)
    print(f"{n_terms:3} terms: typical size of the sum {sums.std():5.1f}, √D = {n_terms**0.5:4.1f}")

# %% [markdown]
# ## Learning
#
# Collect all parameters in one letter, $\theta = (\mathbf{E}, \mathbf{W}, \mathbf{U})$. **Stochastic gradient descent**
# (SGD) takes a few examples, finds the direction in which their mean loss falls fastest, and moves every parameter a
# little that way. For one example:
#
# $$\theta^{s+1} = \theta^{s} - \eta\, \frac{\partial\, [-\log p(w_t \mid w_{t-1}, \dots, w_{t-n+1})]}{\partial \theta}$$
#
# | symbol | meaning |
# |---|---|
# | $s$ | the number of the step |
# | $\eta$ | the learning rate: how far to go |
# | $w_t$, $n$ | the word $x_t$, and the order of the model as in lecture 02, in the letters of the paper; $n = N + 1$ |
# | $\partial / \partial \theta$ | the gradient: how the loss changes with each parameter |
#
# On the five-word example, with torch computing the gradients (lecture 06 computes them by hand):

# %%
theta = [parameter.clone().requires_grad_() for parameter in (E, W, U)]
for step in range(21):
    loss = F.cross_entropy(forward(windows, *theta), targets)
    if step % 5 == 0:
        print(f"step {step:2}  loss {loss.item():.4f}")
    gradients = torch.autograd.grad(loss, theta)
    moved = [part - 0.2 * gradient for part, gradient in zip(theta, gradients, strict=True)]
    theta = [part.detach().requires_grad_() for part in moved]

# %% [markdown]
# Which embeddings moved? Only those of words that stood in a window; the others had no part in the loss.

# %%
moved = (theta[0] - E).abs().sum(0)  # (V,): how far each column of E moved
print({word: round(distance, 3) for word, distance in zip(words, moved.tolist(), strict=True)})
assert (moved[[word not in windows.unique() for word in range(V)]] == 0).all()

# %% [markdown]
# How far to go? Look at the simplest loss that has a lowest point, a valley over two parameters, $L(\theta) = \tfrac12\, \theta^\top \mathbf{H}\, \theta$. The matrix $\mathbf{H}$
# holds the curvatures; here the second direction is a hundred times as steep as the first. The gradient is $\mathbf{H}\theta$, so a step of SGD multiplies each part of $\theta$
# by $1 - \eta\, \times$ its curvature.
#
# **Predict, then run.** Compute it before you look at the cell: from which learning rate on does SGD move away from
# the lowest point instead of towards it? The curvatures are 0.2 and 20.

# %%
H = torch.diag(torch.tensor([0.2, 20.0]))
start = torch.tensor([-2.6, 1.4])
for learning_rate in (0.02, 0.04, 0.06, 0.08, 0.09, 0.11, 0.12):
    theta = start
    for _ in range(60):
        theta = theta - learning_rate * (H @ theta)
    loss = 0.5 * theta @ H @ theta
    print(f"η = {learning_rate:.2f}: loss {loss:9.3g}, θ = ({theta[0]:.2f}, {theta[1]:.3g})")

# %% [markdown]
# <details><summary>Where exactly, and why?</summary>
#
# At 0.1. The steep direction is multiplied by $1 - 20\,\eta$ at each step. That shrinks it only while $|1 - 20\,\eta| < 1$, so while $\eta < 2/20$. The flat direction is multiplied by
# $1 - 0.2\,\eta$, which is almost 1: the steepest direction limits the step, and the flattest one waits for it.
#
# </details>
#
# Two remedies are in every library. **Momentum** steps along a running sum of gradients, so that components that keep
# their sign add up, and components that change sign cancel. **Adam** (Kingma and Ba, 2015) divides each parameter's
# step by the usual size of its own gradient. Write $\mathbf{g}$ for the gradient at step $s$. Squares, roots and the
# division are applied number by number:
#
# $$\text{momentum:}\quad \mathbf{v} \leftarrow \beta\,\mathbf{v} + \mathbf{g}, \qquad \theta \leftarrow \theta - \eta\,\mathbf{v}$$
#
# $$\text{Adam:}\quad \mathbf{m} \leftarrow \beta_1 \mathbf{m} + (1-\beta_1)\,\mathbf{g}, \qquad \mathbf{r} \leftarrow \beta_2 \mathbf{r} + (1-\beta_2)\,\mathbf{g}^2, \qquad \theta \leftarrow \theta - \eta\, \frac{\mathbf{m}/(1-\beta_1^s)}{\sqrt{\mathbf{r}/(1-\beta_2^s)} + \epsilon}$$
#
# | symbol | meaning |
# |---|---|
# | $\mathbf{v}$, $\mathbf{m}$, $\mathbf{r}$ | running sum of gradients, running mean of gradients, running mean of their squares; all begin at 0 |
# | $\beta$, $\beta_1$, $\beta_2$ | how much of the old value is kept; often 0.9, 0.9 and 0.999 |
# | $1-\beta_1^s$, $1-\beta_2^s$ | correct for the start at 0 |
# | $\epsilon$ | a very small number, so that nothing is divided by 0 |

# %%
theta, m, r = start.clone(), torch.zeros(2), torch.zeros(2)
by_torch = nn.Parameter(start.clone())
adam = torch.optim.Adam([by_torch], lr=0.2, betas=(0.9, 0.999), eps=1e-8)
for s in range(1, 31):
    g = H @ theta
    m, r = 0.9 * m + 0.1 * g, 0.999 * r + 0.001 * g**2
    theta = theta - 0.2 * (m / (1 - 0.9**s)) / ((r / (1 - 0.999**s)).sqrt() + 1e-8)
    by_torch.grad = H @ by_torch.detach()
    adam.step()
assert torch.allclose(theta, by_torch.detach(), atol=1e-4)
print(f"after 30 steps of Adam, ours and torch's: θ = ({theta[0]:.2f}, {theta[1]:.2f})")

# %% [markdown]
# Now race them. Drag the start; make SGD diverge, and momentum; then turn the valley by 45°, so that the steep and the
# flat direction are no longer those of the two parameters. Which method suffers, and why?

# %%
figures.optimizer_race(H, start)

# %% [markdown]
# Now the stories. `course.training` does the same for every model of this course, with AdamW (Loshchilov and Hutter,
# 2019: Adam that also pulls the weights a little towards 0) and a learning rate that rises for a few steps at the start
# and falls towards the end.

# %% trained
model = new_model(n_window=3)
batches = ShuffledStories(train_stories, batch_size=16)
config = TrainingConfig(n_steps=600, learning_rate=1e-2)
history = train(model, batches, config, device="cpu")
floor = score(language, test_stories)
reached = score(model, test_stories).bits_per_token
print(f"after {history.n_steps} steps: {reached:.2f} bits per token")

# %%
drawing, axes = plt.subplots(figsize=(6, 2.6))
axes.plot(history.losses, color="#0072B2", linewidth=1, label="training loss")
axes.axhline(math.log(language.vocab_size), color="#009E73", linestyle=":", label="ln V")
axes.axhline(floor.cross_entropy, color="#D55E00", linestyle="--", label="floor")
axes.set(xlabel="step", ylabel="nats per token", ylim=(0, 5.4))
axes.legend(frameon=False, loc="center right")
figures.still(
    drawing,
    alt=f"Training loss over {history.n_steps} steps: from {history.losses[0]:.2f} nats, about ln V, "
    f"to {history.losses[-1]:.2f}; the floor is {floor.cross_entropy:.2f}.",
    caption="The loss begins at ln V, as it must, and falls fast at first. The floor stays far.",
)

# %% [markdown]
# ## What goes wrong, and where it shows first
#
# Three runs of the same model on the same batches: one begins with $\mathbf{W}$ and $\mathbf{U}$ thirty times too
# large, one is as above, and one takes steps thirty times too long from the beginning. Besides the loss, we record
# three numbers: how many of the $\tanh$ are **saturated**, how large the gradients are, and how far a step goes
# compared with the size of the weights. A saturated $\tanh$ is close to $\pm 1$, where it is flat and passes hardly any
# gradient.
#
# **Predict, then run.** The loss of the second and the third run begins at the same $\ln V$. Which of the numbers tells them apart after ten steps?

# %%
from course.data.shuffling import next_token_example
from course.figures.training_run import Measured, Recorder
from course.sampling import Sampler, generate
from course.training import next_token_loss

held_out = next_token_example(test_stories, torch.arange(100))
prompt = torch.tensor([[language.vocabulary.bos]])


# %%
@torch.no_grad()
def measure(model) -> Measured:
    windows = windows_of(held_out[0], model.n_window, model.fill)
    h = torch.tanh(model.E.T[windows].flatten(-2) @ model.W.T)  # (B, T, D)
    losses = [next_token_loss(model, example).item() for example in (batches(0), held_out)]
    sampler = Sampler(generator=torch.Generator().manual_seed(0))
    text = language.vocabulary.decode(generate(model, prompt, 16, sampler)[0])
    return Measured(*losses, " ".join(text), model.E.T.clone(), h)


# %%
def recorded(n_times_larger: float, config: TrainingConfig) -> list:
    model, recorder = new_model(3), Recorder(steps, measure)
    with torch.no_grad():
        for weights in (model.W, model.U):
            weights.mul_(n_times_larger)
    recorder(0, model)
    train(model, batches, config, device="cpu", after_step=recorder)
    return recorder.snapshots


steps = (0, 1, 2, 3, 5, 8, 12, 18, 25, 35, 50, 70, 100, 140, 200, 250)
calm = TrainingConfig(n_steps=250, learning_rate=1e-2)
hasty = TrainingConfig(n_steps=250, learning_rate=0.3, n_warmup_steps=1)

# %%
runs = {
    "too large a start": recorded(30, calm),
    "a good run": recorded(1, calm),
    "steps too long": recorded(1, hasty),
}
saturated = {}
for name, snapshots in runs.items():
    for snapshot in snapshots[6], snapshots[-1]:
        at_the_ends = snapshot.measured.activations.abs() > 11 / 12  # the figure's outermost bars
        saturated[name] = at_the_ends.float().mean().item()
        loss, ratio = snapshot.measured.validation_loss, snapshot.updates["W"]
        row = f"{name:18} step {snapshot.step:3}: loss {loss:5.2f}, {saturated[name]:4.0%} saturated"
        print(f"{row}, length of step / of W {ratio:.0e}")
assert saturated["a good run"] < min(saturated["too large a start"], saturated["steps too long"])

# %%
known = language.vocabulary.words
shown_words = "nora emma ben girl boy girls boys river mill sings sing boots hats"
shown = [known.index(word) for word in shown_words.split()]
last_first = dict(reversed(runs.items()))  # the question is about the last
figures.training_run(last_first, known, shown=shown, floor=floor.cross_entropy)

# %% [markdown]
# The loss alone tells little at first: after a dozen steps the third run's is even lower than the second's. But within
# these steps most of the third run's hidden layer has reached $\pm 1$, and it stays there, because a saturated $\tanh$
# passes hardly any gradient. Adam divides by the size of the gradient, so both bad runs still learn, with the rest of
# the layer. Before you wait for a loss to fall, look at the first loss, at the fraction of saturated units and at the
# length of the steps.
#
# ## Dropout
#
# Another thing can go wrong much later: the loss on the training text falls on, while the loss on the validation text
# rises. The model **overfits**: it memorises this text. More text is the best remedy. **Dropout** (Srivastava and others, 2014) helps when there is no more text. In training, each number of the hidden layer is set to 0 with probability $p$, at random and anew at every step, so that no number can rely on any other being there. The remaining numbers are divided by $1 - p$, which keeps the expected sum. In prediction, nothing is dropped. `model.train()` and `model.eval()` tell a module which of the two it does.

# %%
p, values = 0.25, torch.ones(10_000)
is_kept = torch.rand(10_000, generator=generator) >= p
by_hand = values * is_kept / (1 - p)
dropout = nn.Dropout(p)
by_torch = dropout.train()(values)
print(f"by hand: {(by_hand == 0).float().mean():.0%} are zero, mean {by_hand.mean():.2f}")
print(f"torch:   {(by_torch == 0).float().mean():.0%} are zero, mean {by_torch.mean():.2f}")
assert torch.equal(dropout.eval()(values), values)

# %% [markdown]
# The stories are unlimited, and a small model does not memorise 4,000 of them, so this course's models need no dropout. Homework 2 uses it.
#
# ## What it learned about words
#
# Nobody told the model that *nora* and *emma* are names. But names occur in the same contexts, so the same predictions
# are needed after them, and their columns in $\mathbf{E}$ were pushed in the same directions. How alike two words are
# is measured by the **cosine** of the angle between their vectors, 1 for the same direction and 0 for a right angle:
#
# $$\cos(\mathbf{a}, \mathbf{b}) = \frac{\mathbf{a} \cdot \mathbf{b}}{\lVert \mathbf{a} \rVert \, \lVert \mathbf{b} \rVert}$$
#
# **Predict, then run.** Which words will be nearest to *girls*: *girl*, *boys*, or *the*?


# %%
def cosines_with(word: str) -> Tensor:
    vectors = F.normalize(model.E.detach().T, dim=1)  # (V, d), each of length one
    return vectors @ vectors[language.vocabulary.token(word)]  # (V,)


def nearest(word: str, k: int = 5) -> list[str]:
    return language.vocabulary.decode(cosines_with(word).topk(k + 1).indices[1:], keep_special=True)


# %%
with_girls = {
    word: cosines_with("girls")[language.vocabulary.token(word)].item() for word in ("girl", "boys", "the")
}
figures.prediction("Which of the three is nearest to girls?", with_girls)

# %%
for word in ("girls", "nora", "boots", "river", "sings"):
    print(f"{word:6} {nearest(word)}")

# %% [markdown]
# Is that more than a few good examples? The grammar of the stories knows the class of every word; count how often a word and its nearest neighbour belong to the
# same one.

# %%
from dataclasses import fields

lexicon = language.config.lexicon
classes = {field.name: getattr(lexicon, field.name) for field in fields(lexicon)}
actions = classes.pop("actions")  # a verb, and the things that one does it to
classes["verbs"] = [verb for verb, *_ in actions]
classes["things"] = [thing for _, *things in actions for thing in things]
class_of = {word: name for name, members in classes.items() for word in members}

# %%
agree = [class_of.get(nearest(word, 1)[0]) == name for word, name in class_of.items()]
same_class = sum(agree) / len(agree)
n_others = language.vocab_size - 1
by_chance = sum(len(m) * (len(m) - 1) / n_others for m in classes.values()) / len(class_of)
print(f"the nearest word is of the same class for {same_class:.0%} of the words")
print(f"a word drawn at random would be for {by_chance:.0%}")
assert same_class > 3 * by_chance

# %% [markdown]
# Explore the map. It shows the two directions in which the vectors differ most (the *principal coordinates*). Two
# dimensions cannot hold the distances of sixteen, so some neighbours look far apart: switch the measure and compare.

# %%
figures.embedding(model.E.T, language.vocabulary.words, start="girls")

# %% [markdown]
# ## What is better than counting
#
# **No sparsity problem.** Let both models condition on five words: the table of lecture 02 as a 6-gram model, and the network with a window of five. Group the positions of the test text by one question: how often did these five words occur together, in this order, in the training stories?

# %%
from course.models import KneserNey, NGramCounts

bos, vocab_size = language.vocabulary.bos, language.vocab_size
tokens_and_masks = zip(train_stories.tokens, train_stories.mask, strict=True)
sequences = [tokens[mask] for tokens, mask in tokens_and_masks]
six_gram = KneserNey(NGramCounts(sequences, 6, vocab_size, bos))
wider = new_model(n_window=5)
history = train(wider, batches, config, device="cpu")

# %%
times_seen = Counter()
for tokens in sequences:
    times_seen.update(map(tuple, windows_of(tokens[None, :-1], 5, bos)[0].tolist()))
contexts = windows_of(test_stories.tokens[:, :-1], 5, bos).tolist()  # (B, T, N)
times = [[times_seen[tuple(window)] for window in story] for story in contexts]
times = torch.tensor(times)  # (B, T)
is_real = test_stories.mask[:, 1:]


# %%
@torch.no_grad()
def bits_where(model, chosen: Tensor) -> float:
    """Mean bits over the positions (B, T) that are chosen."""
    losses = target_nll(model(test_stories.tokens[:, :-1]), test_stories.tokens[:, 1:])
    return (losses[chosen].mean() / math.log(2)).item()


print(f"{'five words before':25} fraction   6-gram  network   true model   (bits per token)")
seen_at = {"seen more than 20 times": times > 20, "seen 1 to 20 times": (times > 0) & (times <= 20)}
for name, chosen in (seen_at | {"never seen": times == 0}).items():
    chosen = chosen & is_real
    columns = [bits_where(each, chosen) for each in (six_gram, wider, language)]
    share = (chosen.sum() / is_real.sum()).item()
    print(
        f"{name:25} {share:8.0%}"
        + "".join(f"{bits:{width}.2f}" for bits, width in zip(columns, (9, 9, 13), strict=True))
    )

# %% [markdown]
# (Compare within a row: the rows hold different words, and some words are easier for every model.) Where the five words
# were seen often, counting is about as good as the network, and neither knows what was said before them. Where they
# were seen only a few times, the counts are too sparse to tell what else could follow. Where they are new, the table
# falls back on shorter contexts and ignores the other words. The network has seen words *like* these, and stays nearer
# to the truth.
#
# The same holds on real text. On the Brown corpus, a million words of English, the best n-gram's perplexity was 24 %
# higher than the network's, and 8 % higher on the fourteen million words of AP News (quoted from the paper of 2003).
#
# **No need to store the n-grams.** The table grows with the text; the network has as many parameters as its shapes say.

# %%
n_parameters = sum(parameter.numel() for parameter in wider.parameters())
print(f"{n_parameters:,} parameters; {six_gram.counts.n_ngrams:,} different 6-grams in the table")

# %% [markdown]
# ## What remains
#
# **Every window is too small.** Try four sizes. Each position has columns of $\mathbf{W}$ of its own, so the matrix
# grows with the window.
#
# **Predict, then run.** Which step will bring most: from one word to three, from three to five, or from five to eight?

# %%
models = {1: new_model(1), 3: model, 5: wider, 8: new_model(8)}
for n_window in (1, 8):
    train(models[n_window], batches, config, device="cpu")
bits = {n_window: score(m, test_stories).bits_per_token for n_window, m in models.items()}

# %%
saved = {f"from {a} to {b}": bits[a] - bits[b] for a, b in ((1, 3), (3, 5), (5, 8))}
figures.prediction("Which step saves most?", saved, unit="bits")

# %%
for n_window, value in bits.items():
    n_weights = models[n_window].W.numel()
    print(f"window {n_window}: {value:.2f} bits per token, W has {n_weights:5,} numbers")

# %% [markdown]
# What does the widest one still not know? Compare it with the true probabilities, by the kind of word that came next.

# %%
from course.ladder.kinds import bits_by_kind

inputs, following = test_stories.tokens[:, :-1], test_stories.tokens[:, 1:]
with torch.no_grad():
    paid, truth = (target_nll(each(inputs), following) for each in (models[8], language))
above = bits_by_kind(paid, truth, test_stories, language)
print("bits above the floor where this kind of word came next:")
print("\n".join(f"{value:z.2f}  {kind}" for kind, value in above.items()))
assert min(above["things"], above["names"], above["she, he"]) > 3 * above["verbs"]

# %% [markdown]
# A verb agrees with a noun that is usually inside the window. Things, names, and the choice of *she* or *he* depend on
# the first sentence, far outside it. A window of 30 would reach more of that sentence, but its $\mathbf{W}$ would be
# nearly four times as large, with too few examples for most of it. A different text would need a window of 300.
#
# **Nothing is shared between positions.** The first and the second word of the window are multiplied by different
# columns of $\mathbf{W}$. So what was learned about a word at one position is not known at the next. Here is what *girls* contributes to the hidden layer from each of three positions, compared by cosine:

# %%
blocks = model.W.detach().unflatten(1, (3, -1))  # (D, N, d): the columns of each place
girls = model.E.detach()[:, language.vocabulary.token("girls")]  # (d,)
directions = F.normalize((blocks @ girls).T, dim=1)  # (N, D): a row for each place, of length one
(directions @ directions.T).round(decimals=2)

# %% [markdown]
# The same word makes three rather different contributions from the three positions. The next architecture, in lecture
# 07, reads one word after the other with the *same* weights, and keeps what it has read in a state instead of a window.
#
# ## The ladder
#
# With more stories and more steps, a window of four words and a wider hidden layer, the network reaches this rung; the diamond is the window of five above. It is better than every n-gram model of lecture 02, most of all at verbs; at things it gains nothing.

# %%
figures.rungs("feed-forward", new=("feed-forward",), live={"feed-forward": bits[5]})

# %% [markdown]
# ## The same in the library
#
# `course.models` has the model with the paper's biases, and keeps $\mathbf{E}^\top$, one *row* per word, as torch does.
# With our weights and the biases at zero it must give the same answers as our model, on random tokens too:

# %%
from course.models import FeedForwardConfig, FeedForwardLanguageModel

library = FeedForwardLanguageModel(
    FeedForwardConfig(vocab_size, n_window=3, d_embedding=16, d_hidden=64, fill=bos)
)
with torch.no_grad():
    library.embedding.weight.copy_(model.E.T)
    library.hidden.weight.copy_(model.W)
    library.output.weight.copy_(model.U)
    library.hidden.bias.zero_()
    library.output.bias.zero_()
    tokens = torch.randint(vocab_size, (2, 7), generator=generator)  # (B, T)
    assert torch.allclose(library(tokens), model(tokens), atol=1e-5)
print("we have just built the library's model")

# %% [markdown]
# ## Recap
#
# - An embedding gives each word a column of numbers; similar use makes similar columns.
# - $\mathbf{e} = [\mathbf{E}\mathbf{x}; \mathbf{E}\mathbf{x}; \mathbf{E}\mathbf{x}]$, $\mathbf{h} = \sigma(\mathbf{W}\mathbf{e})$, $\mathbf{z} = \mathbf{U}\mathbf{h}$, softmax, surprise: five lines.
# - The first loss should be $\ln V$; look at it before anything else.
# - All of $\theta = (\mathbf{E}, \mathbf{W}, \mathbf{U})$ moves against its gradient, a step for every batch.
# - It predicts well in contexts that were never counted. But its window is limited, $\mathbf{W}$ grows with the window,
#   and the positions of the window share nothing.
#
# **In the homework:** [hw2 · Backpropagation](../homeworks/hw2_backprop/hw2_backprop.ipynb) begins with windows and targets, this model's forward pass, and the
# check of the first loss.
#
# ## Exercises
#
# **1.** $V = 1000$, $d = 16$, $N = 3$, $D = 64$. How many numbers are in $\mathbf{E}$, $\mathbf{W}$ and $\mathbf{U}$?
#
# <details><summary>Answer</summary>
#
# 16,000, then $64 \cdot 48 = 3072$, then 64,000. Most of a small model is its vocabulary.
#
# </details>
#
# **2.** With $V = 1000$ the first loss is 9.8 nats. What should it be, and where do you look for the error?
#
# <details><summary>Answer</summary>
#
# $\ln 1000 = 6.9$. A larger one means that the model is sure of something random: look at the size of the weights that make the logits.
#
# </details>
#
# **3.** The window grows from three words to four. Which matrices grow, and by how much?
#
# <details><summary>Answer</summary>
#
# Only $\mathbf{W}$, by $D \cdot d$ numbers. $\mathbf{E}$ is shared by all positions, and $\mathbf{U}$ sees only $\mathbf{h}$.
#
# </details>
#
# **4.** *(long)* Add the paper's direct connections: one more matrix $\mathbf{A}$, from $\mathbf{e}$ straight to the logits, $\mathbf{z} = \mathbf{U}\mathbf{h} + \mathbf{A}\mathbf{e}$. How many numbers does it have? What is the model when $\mathbf{U} = 0$, and does its embedding still learn?
#
# <details><summary>Answer</summary>
#
# $V \cdot N d$. With $\mathbf{U} = 0$ nothing passes through $\tanh$: the logits are linear in the embeddings, and each word of the window adds its own part. The embedding still gets a gradient, now through $\mathbf{A}$.
#
# ```python
# import torch
# from torch.nn import functional as F
#
# V, d, D, N = 5, 2, 4, 3
# generator = torch.Generator().manual_seed(0)
# E, W, A = (torch.randn(shape, generator=generator) for shape in ((d, V), (D, N * d), (V, N * d)))
#
#
# def logits(windows: torch.Tensor, E, W, U, A) -> torch.Tensor:
#     e = E.T[windows].flatten(-2)
#     return torch.tanh(e @ W.T) @ U.T + e @ A.T
#
#
# assert A.numel() == V * N * d
# windows, nothing = torch.tensor([[3, 0, 1]]), torch.zeros(V, D)
# parts = [E[:, word] @ A[:, place * d : (place + 1) * d].T for place, word in enumerate((3, 0, 1))]
# assert torch.allclose(logits(windows, E, W, nothing, A)[0], sum(parts), atol=1e-5)
# learned = E.clone().requires_grad_()
# F.cross_entropy(logits(windows, learned, W, nothing, A), torch.tensor([4])).backward()
# assert (learned.grad.abs().sum(0) > 0).tolist() == [True, True, False, True, False]
# ```
#
# </details>
#
# ## Further reading
#
# - Yoshua Bengio, Réjean Ducharme, Pascal Vincent and Christian Jauvin, ["A Neural Probabilistic Language Model"](https://www.jmlr.org/papers/v3/bengio03a.html), *Journal of Machine Learning Research* 3 (2003), 1137–1155.
# - Diederik Kingma and Jimmy Ba, ["Adam: A Method for Stochastic Optimization"](https://arxiv.org/abs/1412.6980), ICLR 2015.
# - Nitish Srivastava, Geoffrey Hinton, Alex Krizhevsky, Ilya Sutskever and Ruslan Salakhutdinov, ["Dropout: A Simple Way to Prevent Neural Networks from Overfitting"](https://jmlr.org/papers/v15/srivastava14a.html), *Journal of Machine Learning Research* 15 (2014), 1929–1958.
# - Tomas Mikolov, Kai Chen, Greg Corrado and Jeffrey Dean, ["Efficient Estimation of Word Representations in Vector Space"](https://arxiv.org/abs/1301.3781), ICLR 2013 (workshop).
# - Ilya Loshchilov and Frank Hutter, ["Decoupled Weight Decay Regularization"](https://arxiv.org/abs/1711.05101), ICLR 2019.
# - Daniel Jurafsky and James H. Martin, [*Speech and Language Processing*](https://web.stanford.edu/~jurafsky/slp3/), 3rd edition draft, chapters on neural networks and on embeddings.
# - Andrej Karpathy, [makemore](https://github.com/karpathy/makemore): character models of names, from bigrams on; where our list of names comes from.
