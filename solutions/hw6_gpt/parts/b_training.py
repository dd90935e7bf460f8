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
#    by `max_norm` divided by $\lVert g \rVert$; if not, leave it alone;
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


# %% provided="steps_by_hand" helper
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


# %% check="a_step_goes_down_the_gradient" points=1
def a_step_goes_down_the_gradient(train_steps, draw):
    """After one step that needs no clipping, the table has moved by the gradient times the learning rate."""
    for _ in range(2):
        table, batches = draw.normal(4, 5, 5), drawn_batches(draw, 5, 1, 3, 4)
        _, after = train_steps(table, batches, 0.7, 100.0)
        assert_close(after, table - 0.7 * gradient_by_hand(table, batches[0]))


# %% check="a_long_gradient_is_cut_to_the_norm" points=1
def a_long_gradient_is_cut_to_the_norm(train_steps, draw):
    """A step that needs clipping is as long as learning rate times max_norm, and keeps its direction."""
    sure_of_0 = torch.zeros(4, 5, 5, dtype=torch.float64).index_fill(2, torch.tensor([0]), 8.0)
    ones = torch.ones(1, 1, 4, dtype=torch.int64)  # each a surprise: the gradient is about 1.76 long
    gradient = gradient_by_hand(sure_of_0, ones[0])
    for max_norm in (0.5, 1.5):
        _, after = train_steps(sure_of_0, ones, 20.0, max_norm)
        expected = -20.0 * max_norm * gradient / gradient.norm()
        assert_close(after - sure_of_0, expected, tolerance=1e-5, what=f"the step with max_norm {max_norm}")
    table, batches = 3 * draw.normal(4, 5, 5), drawn_batches(draw, 5, 1, 2, 4)
    gradient = gradient_by_hand(table, batches[0])
    _, after = train_steps(table, batches, 2.0, 0.01)
    assert_close(after - table, -2.0 * 0.01 * gradient / gradient.norm(), tolerance=1e-6)


# %% check="every_step_has_its_own_gradient" points=1
def every_step_has_its_own_gradient(train_steps, draw):
    """Three steps on three batches end where three steps of the formula end."""
    table, batches = draw.normal(4, 5, 5), drawn_batches(draw, 5, 3, 2, 4)
    _, after = train_steps(table, batches, 0.5, 100.0)
    expected = table
    for batch in batches:
        expected = expected - 0.5 * gradient_by_hand(expected, batch)
    assert_close(after, expected)


# %% check="a_loss_is_measured_before_its_step" points=1
def a_loss_is_measured_before_its_step(train_steps, draw):
    """The first loss is that of the table as it came, whatever the learning rate."""
    table, batches = draw.normal(4, 5, 5), drawn_batches(draw, 5, 2, 3, 4)
    for learning_rate in (0.1, 1.0):
        losses, _ = train_steps(table, batches, learning_rate, 100.0)
        assert_close(losses[0], loss_by_hand(table, batches[0]))


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


# %% [markdown] exercise="adamw_weights" difficulty=3 minutes=45 forbids="torch.optim.AdamW,torch.optim.Adam,torch.optim.NAdam,torch.optim.RAdam,torch.optim.adamw,torch.optim.adam,torch.optim._functional,torch._fused_adamw_,torch._foreach_lerp,course.training,by_adamw_of_torch" exempt="gradient"
# ### 6. AdamW, at a rate that changes
#
# Language models are trained with **AdamW**. For each parameter $\theta$ it keeps a running mean $m$ of the
# gradient $g$ and one, $v$, of its square, both 0 at first. The $t$-th step of a parameter is
#
# $$m \leftarrow \beta_1 m + (1 - \beta_1) \, g \qquad v \leftarrow \beta_2 v + (1 - \beta_2) \, g^2 \qquad
# \hat m = \frac{m}{1 - \beta_1^t} \qquad \hat v = \frac{v}{1 - \beta_2^t}$$
#
# $$\theta \leftarrow \theta - \eta \left(\frac{\hat m}{\sqrt{\hat v} + \epsilon} + \lambda \, \theta\right)$$
#
# entry by entry. Dividing by $1 - \beta^t$ makes up for the zeros in the beginning. The **weight decay**
# $\lambda \theta$ stands apart from the gradient: it enters neither $m$ nor $v$.
#
# Write the class `AdamW`, derived from `torch.optim.Optimizer`, with the arguments below; `betas` is
# $(\beta_1, \beta_2)$, `eps` is $\epsilon$ and `weight_decay` is $\lambda$. `parameters` may be a generator, as
# that of `model.parameters()`, which can be gone through only once. `step()` takes nothing and moves the
# parameters in place.
#
# - $\eta$ is what stands in the parameter's group under `"lr"` at the moment of the step. There the schedules
#   of torch write it before each step.
# - A parameter whose `.grad` is None stays as it is, without decay, and its $t$ does not rise.
#
# `adamw_weights`, below your class, is written already and stays as it is. It trains `weights`, a dict from
# names to tensors of any shapes, with your optimiser, the first two in one group and each other one in a group of
# its own: for each of the N steps, `gradients` has a dict from the same names to gradients, or None, and `rates`
# has $\eta$. The checks call this function.
#
# **Example.** One weight of 1 has the gradient 2 in two steps, with rates of 0.1, $\epsilon = 0$ and
# $\lambda = 0.5$. In both, $\hat m / \sqrt{\hat v}$ is $2 / \sqrt 4 = 1$. The weight becomes
# $1 - 0.1 \cdot (1 + 0.5) = 0.85$, and then $0.85 - 0.1 \cdot (1 + 0.425) = 0.7075$.
#
# <details><summary>Hint 1</summary>
#
# `super().__init__(parameters, {"lr": lr, …})` puts the parameters and these settings into
# `self.param_groups`, a list of dicts; the parameters of a group are `group["params"]`.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# `self.state[parameter]` is a dict for each parameter, empty before its first step. What has to be in it?
#
# </details>


# %% solution="adamw_weights"
class AdamW(torch.optim.Optimizer):
    """Adam with decoupled weight decay; reads its rate from each group's "lr" at every step."""

    def __init__(self, parameters, lr, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
        ### BEGIN SOLUTION
        super().__init__(parameters, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay})
        ### END SOLUTION

    @torch.no_grad()
    def step(self):
        """Move every parameter that has a gradient."""
        ### BEGIN SOLUTION
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            for parameter in group["params"]:
                if parameter.grad is None:
                    continue
                state = self.state[parameter] or {"t": 0, "m": 0.0, "v": 0.0}
                t = state["t"] + 1
                m = beta1 * state["m"] + (1 - beta1) * parameter.grad
                v = beta2 * state["v"] + (1 - beta2) * parameter.grad**2
                m_hat, v_hat = m / (1 - beta1**t), v / (1 - beta2**t)
                direction = m_hat / (v_hat.sqrt() + group["eps"]) + group["weight_decay"] * parameter
                parameter -= group["lr"] * direction
                self.state[parameter] = {"t": t, "m": m, "v": v}
        ### END SOLUTION


def adamw_weights(
    weights: dict[str, Tensor],
    gradients: list[dict[str, Tensor | None]],
    rates: list[float],
    betas: tuple[float, float],
    eps: float,
    weight_decay: float,
) -> dict[str, Tensor]:
    """The weights after a step of AdamW for each of the N gradients, at the N rates of a schedule."""
    parameters = {name: nn.Parameter(weight.clone()) for name, weight in weights.items()}
    tensors = list(parameters.values())
    optimizer = AdamW((one for one in tensors[:2]), lr=1.0, betas=betas, eps=eps, weight_decay=weight_decay)
    for parameter in tensors[2:]:
        optimizer.add_param_group({"params": [parameter]})  # a second group, a third …
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda n: rates[min(n, len(rates) - 1)])
    for gradient in gradients:
        for name, parameter in parameters.items():
            parameter.grad = None if gradient[name] is None else gradient[name].clone()
        optimizer.step()
        schedule.step()
    return {name: parameter.detach() for name, parameter in parameters.items()}


# %% provided="adamw_of_torch" helper
def by_adamw_of_torch(weights, gradients, rates, betas, eps, weight_decay):
    """What torch's own AdamW makes of the weights."""
    parameters = {name: nn.Parameter(weight.clone()) for name, weight in weights.items()}
    optimizer = torch.optim.AdamW(parameters.values(), betas=betas, eps=eps, weight_decay=weight_decay)
    for gradient, rate in zip(gradients, rates, strict=True):
        optimizer.param_groups[0]["lr"] = rate
        for name, parameter in parameters.items():
            parameter.grad = gradient[name]
        optimizer.step()
    return {name: parameter.detach() for name, parameter in parameters.items()}


def drawn_weights(draw):
    """Weights of three shapes, none of them near 0."""
    return {"W": 2 + draw.uniform(2, 3), "b": -1 - draw.uniform(4), "gain": 1 + draw.uniform(2)}


def drawn_steps(draw, n_steps):
    """Gradients for so many steps, a thousand times as long for W as for b."""
    return [
        {"W": 10 * draw.normal(2, 3), "b": draw.normal(4) / 100, "gain": draw.normal(2)}
        for _ in range(n_steps)
    ]


# %% check="the_example_weight_becomes_0_85_and_0_7075" points=1
def the_example_weight_becomes_0_85_and_0_7075(adamw_weights):
    """The weight of the example becomes 0.85, and 0.7075 after the second step."""
    one, two = torch.tensor([1.0], dtype=torch.float64), torch.tensor([2.0], dtype=torch.float64)
    for n_steps, expected in ((1, 0.85), (2, 0.7075)):
        after = adamw_weights({"w": one}, [{"w": two}] * n_steps, [0.1] * n_steps, (0.9, 0.999), 0.0, 0.5)
        assert_close(
            after["w"], expected * one, what=f"after {n_steps} steps" if n_steps > 1 else "after a step"
        )


# %% check="a_first_step_is_as_long_as_the_rate" points=1
def a_first_step_is_as_long_as_the_rate(adamw_weights, draw):
    """Without decay, a first step moves every weight by the rate, against its gradient, however long that is."""
    weights, steps = drawn_weights(draw), drawn_steps(draw, 1)
    after = adamw_weights(weights, steps, [0.3], (0.8, 0.95), 0.0, 0.0)
    for name, weight in weights.items():
        assert_close(after[name], weight - 0.3 * steps[0][name].sign(), what=name)


# %% check="decay_alone_makes_weights_smaller_by_a_share" points=1
def decay_alone_makes_weights_smaller_by_a_share(adamw_weights, draw):
    """Where all gradients are 0, a step at rate 0.2 with decay 0.5 takes a tenth off every weight."""
    weights = drawn_weights(draw)
    zeros = {name: torch.zeros_like(weight) for name, weight in weights.items()}
    for n_steps in (1, 3):
        after = adamw_weights(weights, [zeros] * n_steps, [0.2] * n_steps, (0.9, 0.99), 1e-8, 0.5)
        for name, weight in weights.items():
            assert_close(after[name], 0.9**n_steps * weight, what=f"{name}, steps: {n_steps}")


# %% check="every_step_has_its_own_rate" points=1
def every_step_has_its_own_rate(adamw_weights, draw):
    """At the rates 0.1, 0 and 0.3, the second step moves nothing, and the third three times as far as at 0.1."""
    weights, steps = drawn_weights(draw), drawn_steps(draw, 3)
    settings = ((0.9, 0.99), 1e-3, 0.1)
    first = adamw_weights(weights, steps[:1], [0.1], *settings)
    second = adamw_weights(weights, steps[:2], [0.1, 0.0], *settings)
    ends = [adamw_weights(weights, steps, [0.1, 0.0, rate], *settings) for rate in (0.1, 0.3)]
    for name, weight in weights.items():
        assert_depends(first[name], weight, what=name)
        assert_close(second[name], first[name], what=f"{name} after the step at rate 0")
        assert_close(
            ends[1][name] - first[name], 3 * (ends[0][name] - first[name]), what=f"the way of {name} at 0.3"
        )


# %% check="both_means_remember_the_steps_before" points=1
def both_means_remember_the_steps_before(adamw_weights, draw):
    """Four steps with four gradients lead where torch's AdamW leads; ε stands beside the root."""
    weights, steps = drawn_weights(draw), drawn_steps(draw, 4)
    for settings in (((0.9, 0.99), 1e-8, 0.0), ((0.5, 0.9), 0.05, 0.2)):
        after = adamw_weights(weights, steps, [0.1] * 4, *settings)
        assert_close(after, by_adamw_of_torch(weights, steps, [0.1] * 4, *settings))


# %% check="without_a_gradient_nothing_moves" points=1
def without_a_gradient_nothing_moves(adamw_weights, draw):
    """A parameter without a gradient stays as it is, decay or not; with its first one it makes a first step."""
    weights, steps = drawn_weights(draw), drawn_steps(draw, 3)
    steps[0]["b"] = steps[1]["b"] = None
    settings = ((0.9, 0.99), 0.0, 0.4)
    after = adamw_weights(weights, steps[:2], [0.1] * 2, *settings)
    assert_close(after["b"], weights["b"], what="b, which has no gradient")
    assert_depends(after["W"], weights["W"], what="W, which has one")
    after = adamw_weights(weights, steps, [0.1] * 3, *settings)
    expected = weights["b"] - 0.1 * (steps[2]["b"].sign() + 0.4 * weights["b"])
    assert_close(after["b"], expected, what="b after its first gradient")


# %% check="other_weights_go_where_adamw_leads" points=2 hidden
def other_weights_go_where_adamw_leads(adamw_weights, draw):
    """Other weights, gradients, rates and settings lead where torch's AdamW leads."""
    for n_steps, settings in ((3, ((0.7, 0.9), 1e-2, 0.3)), (6, ((0.95, 0.8), 1e-8, 0.0))):
        weights, steps = drawn_weights(draw), drawn_steps(draw, n_steps)
        steps[1]["W"] = None
        rates = [draw.number(0.01, 0.3) for _ in range(n_steps)]
        after = adamw_weights(weights, steps, rates, *settings)
        assert_close(after, by_adamw_of_torch(weights, steps, rates, *settings))


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
        " A model that scores below the floor has seen its targets."
    )
    assert_true(bits >= floor - 0.05, message)
    message = f"The stories cost {bits:.4f} bits per token, and so they do with the true model: that is no trained one."
    assert_true(abs(bits - floor) > 1e-4, message)


def assert_distributions(log_probs, shape):
    """Log-probabilities of this shape, of which each row sums to one."""
    assert_true(isinstance(log_probs, Tensor), "A tensor of log-probabilities is expected.")
    assert_equal(list(log_probs.shape), list(shape), what="the shape")
    are_probs = bool(((log_probs.double().sum(-1) - 1).abs() < 1e-4).all())
    assert_true(not are_probs, "What you return are the probabilities; their logarithms are asked for.")
    assert_true(bool((log_probs < 1e-3).all()), "Log-probabilities are never above 0, and some of yours are.")
    total = log_probs.double().exp().sum(-1)
    assert_close(total, torch.ones_like(total), tolerance=1e-4, what="the sum of the probabilities")


# %% [markdown] exercise="story_log_probs" difficulty=3 minutes=50 forbids="course.models,story_language" allows="course.training"
# ### 7. Your GPT learns the stories
#
# Now train your GPT on the stories of lecture 00 and look how close it comes to the floor.
# After `stories = training_stories()` there are 20,000 stories in `stories.tokens` (N, T), int64, and
# `stories.mask` (N, T) is False beyond the end of a story. `VOCAB_SIZE` is V, 160, and `LONGEST_STORY` the
# most tokens of any story, 31.
#
# Write two functions. `trained_model()` makes a model, trains it and returns it; `@cache` makes it run once
# only, at the first call. Inside `torch.no_grad()` nothing can be trained, so write `model = trained_model()` before
# such a block, not in it. `story_log_probs(tokens)` maps
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
# If the loss falls below 0.9 nats, which is the floor, padding is counted, which costs next to nothing, or the
# model sees what it should predict. Which exercise has the causal mask, and which the shift?
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
from contextlib import suppress

# Your model is trained here; everything after this asks the finished one.
with suppress(NotImplementedError):  # until it is written
    began = time.perf_counter()
    trained_model()
    print(f"trained at the scale {SCALE!r} in {time.perf_counter() - began:.0f} s")
    if torch.cuda.is_available():
        print(f"at most {torch.cuda.max_memory_allocated() / 2**30:.1f} GiB on the GPU")


# %% check="every_answer_is_a_distribution" points=1
def every_answer_is_a_distribution(story_log_probs, draw):
    """For any tokens, the probabilities of the next token sum to one at every position; other tokens, others."""
    tokens = draw.integers(0, VOCAB_SIZE, 3, 10)
    answer, other = story_log_probs(tokens), story_log_probs(tokens.roll(1, 0))
    assert_distributions(answer, (3, 10, VOCAB_SIZE))
    assert_depends(answer, other)


# %% check="a_story_is_read_from_left_to_right" points=1
def a_story_is_read_from_left_to_right(story_log_probs):
    """The beginning of a story has the same log-probabilities whatever comes later."""
    stories, _ = heldout(5, 3)
    whole = story_log_probs(stories.tokens[:, :-1])
    for T in (1, 7):
        beginning = story_log_probs(stories.tokens[:, :T])
        assert_close(beginning, whole[:, :T], tolerance=1e-3, what=f"after the first {T} tokens")
    assert_depends(whole[:, 6], whole[:, 7])


# %% check="new_stories_cost_little_more_than_the_floor" points=3
def new_stories_cost_little_more_than_the_floor(story_log_probs):
    """200 new stories cost at most 0.15 bits per token more than the true model pays for them."""
    assert_near_the_floor(story_log_probs, 200, 4)


# %% check="stories_drawn_for_grading_cost_little_more_than_the_floor" points=2 hidden
def stories_drawn_for_grading_cost_little_more_than_the_floor(story_log_probs, draw):
    """Stories drawn for grading cost at most 0.15 bits per token above the floor."""
    assert_near_the_floor(story_log_probs, 200, draw.integers(1000, 10**9))


# %% provided="suspicious_run"
# For the next exercise. The vocabulary has 6 tokens, ln 6 = 1.79; all losses are in nats.
FLOOR = 0.94  # the entropy of the language
TRAINING_LOSS = {0: 1.79, 10: 0.16, 50: 0.03, 200: 0.01}  # after so many steps
LOSS_BY_POSITION = [0.01, 0.01, 0.01, 0.01, 0.01, 0.01]  # the same at the end, position by position
NEXT_TOKEN_LOSS = 5.4  # what the finished model pays for new text, token by token as it comes
START, CONTINUATION = [0, 2], [2, 2, 2, 2, 2]  # what it writes after START if the best token is always taken

# %%
for n_steps, loss in TRAINING_LOSS.items():
    print(f"training loss after {n_steps:3} steps: {loss:.2f}   (floor: {FLOOR:.2f})")
print("by position, at the end:", *(f"{loss:.2f}" for loss in LOSS_BY_POSITION))
print(f"new text, predicted token by token: {NEXT_TOKEN_LOSS:.2f}")
print("after", *START, "it writes", *CONTINUATION)

# %% [markdown] exercise="name_the_leak" difficulty=2 minutes=10
# ### 8. Find the fault
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
    assert_true(answer in why_not, f"{answer!r} is not one of the six names.", is_plain=True)
    assert_true(not why_not[answer], f"With this fault {why_not[answer]}.")


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


# %% [markdown] written="why_below_the_floor" points=4 minutes=10
# ### 9. A loss that is too good
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
# the checks of exercise 7 may help.
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
