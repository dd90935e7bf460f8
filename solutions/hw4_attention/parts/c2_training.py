# %% provided="translation_task"
import os
import sys
import time
from dataclasses import dataclass, replace
from random import Random

from course.data.translation_pair import TranslationConfig, translation_pairs, translation_vocabularies
from course.data.vocabulary import Vocabulary
from course.models.seq2seq import Seq2Seq, Seq2SeqConfig
from course.plots import heat_map
from course.training import best_device
from course.translation_experiment.parallel_text import ParallelText, parallel_text
from course.translation_experiment.quality import attention_links, error_rate, translations


def translation_task():
    """Training pairs, and a model of lecture 11; COURSE_SCALE=full makes all of it larger."""
    return cut_task(os.environ.get("COURSE_SCALE", "small"))


@cache
def cut_task(scale):
    """The task at a scale: "small" (sentences of up to 9 words) or "full" (up to 25, and a wider model)."""
    is_small = scale == "small"
    pairs_config = TranslationConfig(min_length=5, max_length=9 if is_small else 25)
    training = translation_pairs(pairs_config, 8_000 if is_small else 20_000, Random(0))
    english, french = translation_vocabularies(pairs_config.lexicon)
    width = 48 if is_small else 256
    model_config = Seq2SeqConfig(
        len(english),
        len(french),
        d_embedding=width // 2,
        d_hidden=width,
        attention="additive",
        pad=english.pad,
    )
    text = parallel_text([(pair.source, pair.target) for pair in training], english, french)
    known = {pair.source for pair in training}
    n_steps, device = (400, torch.device("cpu")) if is_small else (2_000, best_device())
    return Task(pairs_config, n_steps, device, known, english, french, model_config, text)


@dataclass(frozen=True)
class Task:
    """What a translator is trained on, and what is needed to ask it new sentences."""

    pairs_config: TranslationConfig
    n_steps: int
    device: torch.device  # where to train
    known: set  # the sources of the training pairs
    english: Vocabulary
    french: Vocabulary
    model_config: Seq2SeqConfig
    text: ParallelText

    @property
    def source(self):
        """The training sources, (pairs, S) int64, padded with `pad`."""
        return self.text.source.tokens

    @property
    def target(self):
        """Their translations between BOS and EOS, (pairs, T) int64, padded with `pad`."""
        return self.text.target.tokens

    @property
    def pad(self):
        """The padding word of both languages."""
        return self.french.pad

    def new_pairs(self, seed, n_pairs=150):
        """Sentences that were not trained on, with translation and gold alignment."""
        return translation_pairs(self.pairs_config, n_pairs, Random(f"new {seed}"), exclude=self.known)


def loaded(task, weights):
    """The model of the task with these weights, ready to be asked."""
    model = Seq2Seq(task.model_config)
    model.load_state_dict({name: weight.to(torch.float32) for name, weight in weights.items()})
    return model.eval()


def missing_or_misshapen(task, weights):
    """The first parameter of the model that `weights` lack, or give another shape; None if they fit."""
    if not isinstance(weights, dict):
        return "a dict from names to tensors is expected, as `model.state_dict()` gives it"
    expected = {name: list(weight.shape) for name, weight in Seq2Seq(task.model_config).state_dict().items()}
    for name, shape in expected.items():
        found = list(weights[name].shape) if isinstance(weights.get(name), Tensor) else None
        if found != shape:
            return f"{name} should have the shape {shape}" + (
                f", not {found}" if found else ": it is missing"
            )
    return None


def surprise(task, model, pairs):
    """The mean surprise, in nats, of the words of new pairs, and the fraction of inputs that it repeats."""
    text = parallel_text([(pair.source, pair.target) for pair in pairs], task.english, task.french)
    inputs, targets = text.target.tokens[:, :-1], text.target.tokens[:, 1:]
    is_real = targets != task.pad
    with torch.no_grad():
        log_probs = model(text.source.tokens, inputs)
    assert_close(
        log_probs.exp().sum(-1), torch.ones(inputs.shape), what="sums of probabilities", tolerance=1e-4
    )
    at_targets = log_probs.gather(-1, targets[..., None])[..., 0]
    return -float(at_targets[is_real].mean()), float((log_probs.argmax(-1) == inputs)[is_real].float().mean())


def with_exchanged_sources(pairs):
    """Each translation beside the source of the pair before it: what a model that reads its source minds."""
    return [
        replace(pair, source=other.source) for pair, other in zip(pairs, pairs[-1:] + pairs, strict=False)
    ]


def alignment_error(task, model, pairs):
    """The alignment error rate of the model's weights while the right translations are fed."""
    return error_rate(attention_links(model, pairs, task.english, task.french), pairs)


def free_exact_match(task, model, pairs):
    """The fraction of sentences that the model, running free and greedily, translates exactly right."""
    text = parallel_text([(pair.source, pair.target) for pair in pairs], task.english, task.french)
    written = translations(model, text, task.french)
    return sum(tuple(words) == pair.target for words, pair in zip(written, pairs, strict=True)) / len(pairs)


def memory_in_use():
    """The largest memory so far, of the GPU where there is one."""
    if torch.cuda.is_available():
        return f"{torch.cuda.max_memory_allocated() / 2**20:.0f} MB of the GPU"
    if sys.platform == "win32":
        return "memory unknown"
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return f"{peak / (2**20 if sys.platform == 'darwin' else 2**10):.0f} MB"


# %% provided="small_translator"
SMALL_CONFIG = Seq2SeqConfig(
    6, 7, d_embedding=1, d_hidden=2, is_bidirectional=False, attention="additive", pad=0
)


def small_translator(weights):
    """A Seq2Seq with these weights, in float64: six source words, seven target words, padding 0, EOS 2."""
    model = Seq2Seq(SMALL_CONFIG).double()
    model.load_state_dict(weights)
    return model


# %% [markdown] exercise="weights_after" difficulty=2 minutes=30 allows="course.models.seq2seq,course.training,course.translation_experiment"
# ### 18. What a training step does
#
# Before a translator is trained, its steps are worth a look, on a model so small that some of
# them can be followed by hand. `small_translator(weights)` makes it; `model(source, inputs)` gives the
# **log-probabilities** (B, T, V) of the word after each input. Padding is the word 0, BOS 1 and EOS 2.
#
# Write `weights_after(weights, batches, learning_rate)`. `weights` is a dict from the names of the
# parameters to float64 tensors. `batches` is a list of pairs `(source, target)`, int64 tensors of shapes
# (B, S) and (B, T), and a target stands **between BOS and EOS**, then padded. For each batch in turn take one
# step:
#
# 1. The loss is the mean surprise of the batch's real words, EOS included, when the right words before them
#    are fed.
# 2. The gradient is that of this batch's loss alone.
# 3. If the norm of the gradient, of all parameters together, is above 1, the gradient is shortened to 1;
#    `nn.utils.clip_grad_norm_` may do that.
# 4. From every parameter, `learning_rate` times its gradient is subtracted, nothing else (no Adam, no
#    momentum).
#
# Return the weights after the last step, a dict as `model.state_dict()` gives it.
#
# **Example.** All weights are 0, and the one target is BOS 5 3 EOS. The model gives each of 7 words the
# probability 1/7 everywhere, and only `decoder.output.bias` has a gradient: 1/7 − 1/3 for the words 5, 3 and
# EOS, of which each is a third of what is to be said, and 1/7 for the four others. With a learning rate of
# 0.3, the bias is then +0.0571 for these three and −0.0429 for the others.
#
# <details><summary>Hint 1</summary>
#
# `target` holds both the inputs and the targets of exercise 1. Which column is missing from the one, and
# which from the other?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# `backward()` adds to the gradients that are there. What do they hold when your second batch begins?
#
# </details>


# %% solution="weights_after"
def weights_after(
    weights: dict[str, Tensor], batches: list[tuple[Tensor, Tensor]], learning_rate: float
) -> dict[str, Tensor]:
    """The weights of a small translator after one clipped gradient step for each batch."""
    ### BEGIN SOLUTION
    model = small_translator(weights)
    for source, target in batches:
        inputs, targets = target[:, :-1], target[:, 1:]
        log_probs = model(source, inputs).gather(-1, targets[..., None])[..., 0]  # (B, T − 1)
        model.zero_grad()
        (-log_probs[targets != 0].mean()).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        with torch.no_grad():  # the step is no part of the next gradient
            for weight in model.parameters():
                weight -= learning_rate * weight.grad
    return model.state_dict()
    ### END SOLUTION


# %% provided="small_weights" helper
def small_weights(draw=None, scale=1.0):
    """The weights of a small translator by name: all 0, or random ones."""
    shapes = {name: weight.shape for name, weight in Seq2Seq(SMALL_CONFIG).state_dict().items()}
    if draw is None:
        return {name: torch.zeros(shape, dtype=torch.float64) for name, shape in shapes.items()}
    return {name: scale * draw.normal(*shape) for name, shape in shapes.items()}


def a_batch(draw, lengths, more_padding=0):
    """Sources of three words each and targets of these lengths between BOS and EOS, padded."""
    width = max(lengths) + 2 + more_padding
    rows = [[1, *draw.integers(3, 7, n).tolist(), 2] + [0] * (width - n - 2) for n in lengths]
    return draw.integers(1, 6, len(lengths), 3), torch.tensor(rows)


# %% check="the_example_moves_the_constants" points=1
def the_example_moves_the_constants(weights_after):
    """From weights of 0, the target of the example moves the output's constants as shown there."""
    batch = torch.tensor([[3, 4]]), torch.tensor([[1, 5, 3, 2]])
    answer = weights_after(small_weights(), [batch], 0.3)
    fraction = torch.tensor([0, 0, 1, 1, 0, 1, 0], dtype=torch.float64) / 3
    assert_close(answer["decoder.output.bias"], 0.3 * (fraction - 1 / 7))


# %% check="every_real_word_pulls_alike" points=1
def every_real_word_pulls_alike(weights_after):
    """From weights of 0, sentences of two words, one and none pull by their six real words, EOS three times."""
    target = torch.tensor([[1, 4, 6, 2], [1, 5, 2, 0], [1, 2, 0, 0]])
    answer = weights_after(small_weights(), [(torch.tensor([[3, 4], [5, 0], [4, 0]]), target)], 0.6)
    fraction = torch.tensor([0, 0, 3, 0, 1, 1, 1], dtype=torch.float64) / 6
    assert_close(answer["decoder.output.bias"], 0.6 * (fraction - 1 / 7))


# %% check="each_batch_has_a_gradient_of_its_own" points=1
def each_batch_has_a_gradient_of_its_own(weights_after, draw):
    """Two steps in one call lead where one step leads, followed by another from there."""
    weights, first, second = small_weights(draw), a_batch(draw, (2, 3)), a_batch(draw, (3, 1))
    after_one = weights_after(weights, [first], 0.5)
    one_by_one = weights_after(after_one, [second], 0.5)
    together = weights_after(weights, [first, second], 0.5)
    for name in ("decoder.output.bias", "decoder.output.weight"):
        assert_close(together[name], one_by_one[name], what=f"after both steps, {name}")
        assert_depends(after_one[name], one_by_one[name])


# %% check="a_steep_step_is_shortened" points=1
def a_steep_step_is_shortened(weights_after, draw):
    """A model sure of a wrong word steps by the learning rate, over all weights together; others step by less."""
    weights, batch = small_weights(), (torch.tensor([[3]]), torch.tensor([[1, 5, 2]]))
    weights["decoder.output.bias"][6] = 40.0
    answer = weights_after(weights, [batch], 0.3)["decoder.output.bias"] - weights["decoder.output.bias"]
    downhill = torch.tensor([0, 0, 0.5, 0, 0, 0.5, -1.0], dtype=torch.float64)
    assert_close(answer, 0.3 * downhill / downhill.norm(), tolerance=1e-5)
    weights = small_weights(draw) | {"decoder.output.bias": weights["decoder.output.bias"]}
    step = [(new - weights[name]).flatten() for name, new in weights_after(weights, [batch], 0.3).items()]
    assert_close(torch.cat(step).norm(), 0.3, tolerance=1e-4, what="the length of the whole step")
    only_eos = torch.tensor([[3]]), torch.tensor([[1, 2]])  # a gradient with a norm of 0.93
    answer = weights_after(small_weights(), [only_eos], 0.3)["decoder.output.bias"]
    fraction = torch.tensor([0, 0, 1, 0, 0, 0, 0], dtype=torch.float64)
    assert_close(answer, 0.3 * (fraction - 1 / 7), what="after a gradient shorter than 1")


# %% check="encoder_and_attention_learn_too" points=1
def encoder_and_attention_learn_too(weights_after, draw):
    """One step changes every tensor of weights; of the decoder's embedding, it changes the words that are read."""
    weights, source = small_weights(draw, 0.5), draw.integers(1, 6, 3, 3)
    target = torch.tensor([[1, 3, 4, 2, 0], [1, 4, 3, 5, 2], [1, 3, 3, 6, 2]])  # 5 and 6 come last only
    answer = weights_after(weights, [(source, target)], 0.5)
    assert_equal({*answer}, {*weights}, what="the names of the weights")
    unmoved = [name for name, weight in weights.items() if bool((answer[name] == weight).all())]
    assert_equal(unmoved, [], what="weights that stay as they were")
    moved = (answer["decoder.embedding.weight"] != weights["decoder.embedding.weight"]).any(-1)
    assert_equal(moved.nonzero()[:, 0].tolist(), [1, 3, 4, 5, 6], what="the words whose embedding moves")


# %% check="other_batches_move_the_weights" points=2 hidden
def other_batches_move_the_weights(weights_after, draw):
    """Other batches, steep and flat, move all weights as the gradient of a loop says."""
    for scale, learning_rate, lengths in (
        (0.5, 0.4, ((3, 1), (2, 4, 2))),
        (2.0, 0.2, ((1, 5), (2,), (3, 3))),
    ):
        weights = small_weights(draw, scale)
        batches = [a_batch(draw, each, more_padding=len(each) - 1) for each in lengths]
        expected = {name: weight.clone() for name, weight in weights.items()}
        for source, target in batches:
            model = small_translator(expected)
            surprises = []
            for sentence, row in zip(source, target.tolist(), strict=True):
                words = row[: row.index(2) + 1]
                log_probs = model(sentence[None], torch.tensor([words[:-1]]))[0]
                surprises += [-log_probs[place, word] for place, word in enumerate(words[1:])]
            gradients = torch.autograd.grad(sum(surprises) / len(surprises), list(model.parameters()))
            length = math.sqrt(sum(float((gradient**2).sum()) for gradient in gradients))
            for (name, _), gradient in zip(model.named_parameters(), gradients, strict=True):
                expected[name] = expected[name] - learning_rate * gradient / max(length, 1.0)
        answer = weights_after(weights, batches, learning_rate)
        for name, weight in expected.items():
            assert_close(answer[name], weight, tolerance=1e-5, what=f"after the last step, {name}")


# %% [markdown] exercise="trained_weights" difficulty=3 minutes=35 trained="reference" allows="course.models.seq2seq,course.training,course.translation_experiment"
# ### 19. Train one
#
# Now a translator of your own for the small English and the small French of lecture 11. The model is given,
# `Seq2Seq` with additive attention; its learning is yours, and its loss is that of exercise 18.
# `task = translation_task()` has what you need:
#
# | name | meaning |
# |---|---|
# | `Seq2Seq(task.model_config)` | a new model; `model(source, inputs)` gives the **log-probabilities** (B, T, V) of the word after each input |
# | `task.source` | (pairs, S), the sources of 8,000 training pairs, padded |
# | `task.target` | (pairs, T), their translations **between BOS and EOS**, padded |
# | `task.pad` | the padding word of both |
# | `task.n_steps` | a number of steps that suffices |
# | `task.device` | the CPU, which is quick enough; with COURSE_SCALE=full the GPU if there is one |
# | `task.new_pairs(seed)` | sentences that you do not train on |
# | `surprise(task, model, pairs)`, `alignment_error(…)`, `free_exact_match(…)` | how good the model is on such pairs |
#
# Write `trained_weights()`, which trains and returns the weights, a dict as `model.state_dict()` gives it.
# The grader puts them into its own model, draws new sentences, feeds the right translations and compares your
# model's attention with the gold alignment; then it lets the model run free. On new sentences at most this
# much is allowed:
#
# | measured | at most |
# |---|---|
# | surprise per word (each source has one right translation: the floor is about 0) | 0.10 nats |
# | alignment error rate (before any training about 87 %) | 15 % |
# | sentences not translated exactly right, running free | 15 % |
#
# The line `@cache` makes Python remember the answer: the training happens once, in the cell below yours,
# however often the checks ask. It should take well under a minute. Adam with a learning rate of 0.008,
# batches of 64 pairs drawn at random and gradients clipped to a norm of 1 will do.
#
# **Example.** Before any training, with 181 French words, the surprise is about $\ln 181 \approx 5.2$ nats.
#
# <details><summary>Hint 1</summary>
#
# Do the checks of exercise 18 pass? Then only two things are left: drawing row numbers, for which there is
# `torch.randint`, and Adam instead of the plain step.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Print the loss every 50 steps. If it is almost 0 within the first hundred, ask what the decoder was allowed
# to read. If it stays above 1.5, ask whether source and target of a row belong together.
#
# </details>


# %% solution="trained_weights"
@cache
def trained_weights() -> dict[str, Tensor]:
    """The weights, by name, of a Seq2Seq(task.model_config) that has learned to translate."""
    ### BEGIN SOLUTION
    torch.manual_seed(0)
    task, generator = translation_task(), torch.Generator().manual_seed(0)
    model = Seq2Seq(task.model_config).to(task.device)
    optimizer = torch.optim.Adam(model.parameters(), lr=8e-3)
    for _ in range(task.n_steps):
        rows = torch.randint(len(task.source), (64,), generator=generator)
        source, target = task.source[rows].to(task.device), task.target[rows].to(task.device)
        inputs, targets = target[:, :-1], target[:, 1:]
        log_probs = model(source, inputs).gather(-1, targets[..., None])[..., 0]  # (B, T)
        loss = -log_probs[targets != task.pad].mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    return {name: weight.detach().cpu() for name, weight in model.state_dict().items()}
    ### END SOLUTION


# %%
from contextlib import suppress

trained = None
with suppress(NotImplementedError):  # until it is written
    begun = time.perf_counter()
    trained = trained_weights()
    print(f"{time.perf_counter() - begun:.0f} seconds of training, {memory_in_use()}")


# %% check="the_weights_fit_the_model" points=1
def the_weights_fit_the_model(trained_weights):
    """There is a weight of the right shape for every name of the model's parameters."""
    problem = missing_or_misshapen(translation_task(), trained_weights())
    assert_true(problem is None, f"The weights do not fit the model: {problem}.")


# %% check="the_next_word_is_no_surprise" points=1
def the_next_word_is_no_surprise(trained_weights):
    """On new sentences, a word costs at most 0.1 nats when the right words before it are fed."""
    task = translation_task()
    model, pairs = loaded(task, trained_weights()), task.new_pairs("visible")
    nats, repeated = surprise(task, model, pairs)
    elsewhere, _ = surprise(task, model, with_exchanged_sources(pairs))
    hint = f" Beside the source of another sentence it costs {elsewhere:.2f} nats."
    if repeated > 0.5:
        hint = f" At {repeated:.0%} of the places it says the word that it has just read."
    assert_true(nats <= 0.1, f"A word costs {nats:.2f} nats.{hint}")


# %% check="the_attention_finds_the_alignment" points=3
def the_attention_finds_the_alignment(trained_weights):
    """On new sentences, the alignment error rate of the attention weights is at most 15 %."""
    task = translation_task()
    rate = alignment_error(task, loaded(task, trained_weights()), task.new_pairs("visible"))
    assert_true(rate <= 0.15, f"The alignment error rate is {rate:.1%}.")


# %% check="running_free_it_translates" points=3
def running_free_it_translates(trained_weights):
    """Running free, the model translates at least 85 % of new sentences exactly right."""
    task = translation_task()
    fraction = free_exact_match(task, loaded(task, trained_weights()), task.new_pairs("visible"))
    assert_true(fraction >= 0.85, f"{fraction:.0%} of the sentences are right.")


# %% check="other_new_sentences_are_aligned_and_translated" points=2 hidden
def other_new_sentences_are_aligned_and_translated(trained_weights, draw):
    """Other new sentences are aligned and translated within the same bounds."""
    task = translation_task()
    model, pairs = loaded(task, trained_weights()), task.new_pairs(draw.integers(0, 10**9))
    nats, rate = surprise(task, model, pairs)[0], alignment_error(task, model, pairs)
    fraction = free_exact_match(task, model, pairs)
    report = (
        f"A word costs {nats:.2f} nats, the error rate is {rate:.1%}, and {fraction:.0%} are exactly right."
    )
    assert_true(nats <= 0.1 and rate <= 0.15 and fraction >= 0.85, report)


# %%
if trained is not None:
    task = translation_task()
    [pair] = task.new_pairs("a picture", 1)
    text = parallel_text([(pair.source, pair.target)], task.english, task.french)
    with torch.no_grad():
        weights = loaded(task, trained).alignment(text.source.tokens, text.target.tokens[:, :-1])[0]
    heat_map(
        weights[: len(pair.target)],
        pair.target,
        pair.source,
        row_title="target",
        column_title="source",
        largest=1.0,
    )


# %% provided="broken_map"
# For the next exercise: the weights, rounded, of one sentence of a batch. Rows and columns are labelled as exercise 15
# wants them; the other sentence of the batch is two words longer, so the source is followed by padding.
SOURCE = ["the", "black", "cat", "never", "sleeps", ".", "(padding)", "(padding)"]
TARGET = ["le", "chat", "noir", "ne", "dort", "jamais", "."]
GOLD = [(0, 0), (2, 1), (1, 2), (3, 3), (4, 4), (3, 5), (5, 6)]  # links (source, target)
BROKEN_MAP = [
    [0.17, 0.17, 0.17, 0.17, 0.17, 0.17, 0.00, 0.00],
    [0.86, 0.03, 0.03, 0.03, 0.02, 0.03, 0.00, 0.00],
    [0.03, 0.03, 0.86, 0.03, 0.03, 0.03, 0.00, 0.00],
    [0.02, 0.87, 0.03, 0.03, 0.02, 0.03, 0.00, 0.00],
    [0.03, 0.03, 0.02, 0.87, 0.03, 0.03, 0.00, 0.00],
    [0.02, 0.03, 0.03, 0.03, 0.86, 0.03, 0.00, 0.00],
    [0.03, 0.03, 0.02, 0.87, 0.03, 0.03, 0.00, 0.00],
]

# %%
heat_map(BROKEN_MAP, TARGET, SOURCE, row_title="target", column_title="source", largest=1.0)

# %% [markdown] exercise="name_the_fault" difficulty=2 minutes=10
# ### 20. Find the fault
#
# A classmate's attention decoder had learned to translate. Then its code was rewritten to be faster, the
# trained weights were loaded into it, and now it translates badly. The picture above shows the weights of the
# new code for *the black cat never sleeps .* while the right translation is fed; the numbers are in
# `BROKEN_MAP`, the gold alignment is in `GOLD`. Write `name_the_fault()`, which takes nothing and returns the
# name of the one fault:
#
# | name | what the program would do |
# |---|---|
# | `"padding_not_masked"` | take the softmax over all columns, padding included |
# | `"softmax_over_the_targets"` | take the softmax over the rows, so that each source word shares out one |
# | `"axes_swapped"` | write the weights of each target word into a column |
# | `"query_of_the_old_state"` | ask at step t with the state $\mathbf s_{t-1}$, before the word was read |
# | `"rows_labelled_by_inputs"` | label each row with the word that was read, and leave the row of BOS out |
# | `"weights_left_unsharp"` | divide the scores by ten, so that all words weigh about the same |
#
# **Example of the reasoning.** If the row of *le* showed its largest weight at *cat*, where the row of *chat*
# belongs, and every other row that of the next word too, the rows would be labelled with the words that were
# read.
#
# <details><summary>Hint 1</summary>
#
# Add up each row and each column, and look at the padding. Which names are out?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Write next to each row the target word to which its largest weight belongs by `GOLD`. What is left for the
# first row to know?
#
# </details>


# %% solution="name_the_fault"
def name_the_fault() -> str:
    """The name of the one fault behind the map."""
    ### BEGIN SOLUTION
    return "query_of_the_old_state"
    ### END SOLUTION


# %% check="the_fault_keeps_rows_whole_and_padding_dark" points=1
def the_fault_keeps_rows_whole_and_padding_dark(name_the_fault):
    """The answer is one of the six names, and the sums of the map do not speak against it."""
    spoken_against = {
        "padding_not_masked": "The padding has no weight in the picture.",
        "softmax_over_the_targets": "The rows of the picture sum to one, and its columns do not.",
        "axes_swapped": "The rows of the picture sum to one, and its columns do not.",
        "query_of_the_old_state": "",
        "rows_labelled_by_inputs": "",
        "weights_left_unsharp": "Six rows of the picture have one weight above 0.8.",
    }
    answer = name_the_fault()
    assert_true(answer in spoken_against, f"{answer!r} is not one of the six names.")
    assert_true(not spoken_against[answer], spoken_against[answer])


# %% check="the_fault_draws_this_very_map" points=3 hidden
def the_fault_draws_this_very_map(name_the_fault):
    """A decoder with the fault you name, and no other, has exactly this map."""
    scores = torch.zeros(len(TARGET) + 1, len(SOURCE), dtype=torch.float64)  # a row for EOS too
    for row in range(len(TARGET)):
        scores[row] = 0.1 * ((3 * torch.arange(len(SOURCE)) + 2 * row) % 4 - 2.0)
    for source, target in GOLD:
        scores[target, source] = 3.4
    is_word = torch.tensor([not word.startswith("(") for word in SOURCE])
    before = torch.zeros(1, len(SOURCE), dtype=torch.float64)  # nothing was read: all words score alike

    def drawn(fault):
        rows = torch.cat([before, scores]) if fault == "query_of_the_old_state" else scores
        rows = rows / 10 if fault == "weights_left_unsharp" else rows
        shown = is_word | (fault == "padding_not_masked")
        axis = 0 if fault == "softmax_over_the_targets" else 1
        weights = rows.masked_fill(~shown, -math.inf).softmax(axis).nan_to_num()
        weights = weights[1:] if fault == "rows_labelled_by_inputs" else weights[: len(TARGET)]
        return weights.T if fault == "axes_swapped" else weights

    answer = str(name_the_fault())
    assert_close(drawn(answer), torch.tensor(BROKEN_MAP), tolerance=0.012, what="the map with that fault")


# %% [markdown] written="what_three_percent_means" points=4 minutes=15
# ### 21. What the picture proves
#
# Your translator of exercise 19 has a few percent of alignment error although it translates nearly everything
# right.
#
# a) Its errors are not scattered. Where would you look for them first, and why can a word be right while the
# attention looks at the wrong place? (*snowman* is *bonhomme de neige*, *potato* is *pomme de terre*.)
#
# b) Another model reads EOS at the end of the source, and in its map most of the weight of many rows lies on
# EOS or on the full stop before it. A classmate concludes that these target words translate the full stop.
# What else can it mean, in a model whose encoder is recurrent?
#
# c) To show that a target word depends on a source word, what would you do besides looking at weights?
#
# ### BEGIN SOLUTION
# a) (1 point) At words that the last words give away: *de* and *neige* after *bonhomme*, *à coucher*, *ne* …
# *pas*, EOS. The decoder's own state is enough to say them, so the loss does not tell the attention where to
# look.
#
# b) (2 points) The encoder's state at the end has read the whole sentence, so looking there is looking at a
# summary of everything (the bottleneck of part A again), not at the word that stands there. (1 point.) Or the
# decoder needs nothing from the source, and since the weights must sum to one, it puts them where they do
# least harm. (1 point.)
#
# c) (1 point) Change or remove the source word and see whether the probability of the target word changes; or
# the gradient of its log-probability with respect to the source word's embedding.
# ### END SOLUTION


# %% [markdown]
# ## It looks at the right words
#
# A translator made of your own parts: your `Encoder` (exercise 2) reads, your `AttentionDecoder` (14) looks back and
# writes, your `sequence_loss` (4) tells it how far off it is. It learns from the pairs of exercise 19; then your
# `alignment_map` (15), `alignment_links` (16) and `alignment_error_rate` (17) show where it looks in a new sentence.
# Nothing here is graded: change it as you like.
#
# *What to see:* bright cells inside the red frames, which are the true alignment, even where the adjective and the
# noun change places; and an error rate of about ten percent. A part whose checks do not hold yet is replaced by a
# ready-made one, and the first line says which.

# %% alive="your_attention_aligns"
from course.mine import parts
from course.plots import heat_map

mine = parts(
    check,
    decoder_inputs_and_targets=decoder_inputs_and_targets,
    Encoder=Encoder,
    AttentionDecoder=AttentionDecoder,
    sequence_loss=sequence_loss,
    alignment_map=alignment_map,
    alignment_links=alignment_links,
    alignment_error_rate=alignment_error_rate,
)
task = translation_task()
english, french = task.english, task.french


class MyTranslator(nn.Module):
    """Logits (B, T, V) and attention weights (B, T, S) for pairs, the right words being fed."""

    def __init__(self, d_embedding=32, d_hidden=64):
        super().__init__()
        self.encoder = mine.Encoder(len(english), d_embedding, d_hidden)
        self.decoder = mine.AttentionDecoder(len(french), d_embedding, d_hidden, d_hidden)
        nn.init.normal_(self.decoder.W, std=0.1)

    def forward(self, source, lengths, inputs):
        memory, summary = self.encoder(source, lengths)  # (B, S, D), (B, D)
        return self.decoder(summary, inputs, memory, source != task.pad)


def batch_of(pairs):
    """Sources with their lengths, and what the decoder reads and should say, with its lengths."""
    sources = [torch.tensor(english.encode(pair.source, eos=True)) for pair in pairs]
    targets = [torch.tensor(french.encode(pair.target)) for pair in pairs]
    read = nn.utils.rnn.pad_sequence(sources, batch_first=True, padding_value=task.pad)
    said = mine.decoder_inputs_and_targets(targets, french.bos, french.eos, task.pad)
    return (
        read,
        torch.tensor([*map(len, sources)]),
        *said,
        torch.tensor([len(words) + 1 for words in targets]),
    )


rng = Random(0)
pairs = translation_pairs(task.pairs_config, 4000, rng)
torch.manual_seed(1)
model, n_steps = MyTranslator(), 300
optimizer = torch.optim.Adam(params=model.parameters(), lr=8e-3)
for _ in range(n_steps):
    source, lengths, inputs, targets, n_words = batch_of(rng.sample(pairs, 48))
    loss = mine.sequence_loss(model(source, lengths, inputs)[0], targets, n_words, task.pad)
    model.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_([*model.parameters()], 1.0)
    optimizer.step()

new = translation_pairs(task.pairs_config, 150, Random(1), exclude={pair.source for pair in pairs})
source, lengths, inputs, targets, _ = batch_of(new)
with torch.inference_mode():
    logits, weights = model(source, lengths, inputs)
maps = [mine.alignment_map(weights, i, len(p.target), len(p.source) + 1) for i, p in enumerate(new)]
found = [mine.alignment_links(one) for one in maps]
error = mine.alignment_error_rate(found, [list(p.sure) for p in new], [list(p.alignment) for p in new])
is_real = targets != task.pad
right = (logits.argmax(dim=-1) == targets)[is_real].double().mean()
print(
    f"In 150 new sentences {right:.0%} of the words are right, and the alignment error rate is {error:.1%}."
)
longest = max(range(len(new)), key=lambda i: len(new[i].source))
shown = new[longest]
heat_map(
    maps[longest],
    shown.target,
    [*shown.source, french.word(french.eos)],
    row_title="target",
    column_title="source",
    marked=[(t, s) for s, t in shown.alignment],
    largest=1.0,
)
