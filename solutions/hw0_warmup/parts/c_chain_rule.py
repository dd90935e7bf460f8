# %% [markdown]
# ## Part C. A model to question
#
# The next cell holds a small language model. It is trained when it is first asked, in about a second, on four
# hundred short stories of a generated language, and predicts the next word from the **last four words**: a
# table of embeddings, one hidden layer and a softmax, the model of lecture 05. You need not read the cell;
# only run it. What matters is what the model answers:
#
# `next_word_probs(words)` takes the words of a story so far and returns a dict: for each word of the language
# the probability that it comes next. `</s>` is the end of the story and counts as a word.

# %% provided="trained_model"
LANGUAGE = StoryLanguage(
    StoryConfig(n_bindings=2, n_recalls=1, nesting_depth=0, agreement_distance=1, lexicon=Lexicon().first(3))
)
WORDS, BOS = LANGUAGE.vocabulary.words, LANGUAGE.vocabulary.bos
N_WINDOW = 4


def logits_after(windows, E, W, b, U, c):
    """Logits of the next word for windows (B, 4): one hidden layer over the embedded words."""
    return torch.tanh(E[windows].flatten(start_dim=1) @ W.T + b) @ U.T + c


@cache
def trained_weights(seed=3, n_steps=150, d_embedding=8, d_hidden=24):
    """E, W, b, U, c after full-batch training on the windows of 400 stories; trains when first asked."""
    draw = Draw(seed)
    stories = LANGUAGE.sample(400, torch.Generator().manual_seed(1))
    padded = functional.pad(stories.tokens, (N_WINDOW - 1, 0), value=BOS)
    windows = padded.unfold(1, N_WINDOW + 1, 1)[stories.mask[:, 1:]]  # (M, 5): four words and the next
    windows, counts = torch.unique(windows, dim=0, return_counts=True)
    shares = counts.double() / counts.sum()
    weights = [
        draw.normal(len(WORDS), d_embedding),
        draw.normal(d_hidden, N_WINDOW * d_embedding) / 8,
        torch.zeros(d_hidden, dtype=torch.float64),
        draw.normal(len(WORDS), d_hidden) / 10,
        torch.zeros(len(WORDS), dtype=torch.float64),
    ]
    speeds = [torch.zeros_like(weight) for weight in weights]
    for _ in range(n_steps):
        own = [weight.requires_grad_() for weight in weights]
        logits = logits_after(windows[:, :-1], *own)
        loss = (shares * functional.cross_entropy(logits, windows[:, -1], reduction="none")).sum()
        gradients = torch.autograd.grad(loss, own)
        speeds = [0.9 * speed + grad for speed, grad in zip(speeds, gradients, strict=True)]
        weights = [weight.detach() - 3 * speed for weight, speed in zip(own, speeds, strict=True)]
    return weights


def next_word_probs(words):
    """The model's probability of each word, given the words of the story so far."""
    tokens = [BOS] * N_WINDOW + LANGUAGE.vocabulary.encode(words)
    probs = logits_after(torch.tensor([tokens[-N_WINDOW:]]), *trained_weights()).softmax(-1)[0]
    return dict(zip(WORDS, probs.tolist(), strict=True))


def predictions_for(words):
    """One dict for each word of a story: the model's probabilities before it read that word."""
    return [next_word_probs(words[:t]) for t in range(len(words))]


STORY_TEXT = "anna had nuts and scarves . she ate nuts and wore scarves . </s>"
STORY = STORY_TEXT.split()


# %% [markdown]
# Ask it something. Which words can follow? Which cannot?

# %%
for t in (0, 1, 2, 7):
    ranked = sorted(next_word_probs(STORY[:t]).items(), key=lambda pair: -pair[1])[:4]
    print(f"{' '.join(STORY[:t]) or '(the beginning)':>32} →", ", ".join(f"{w} {p:.2f}" for w, p in ranked))

# %% [markdown] exercise="story_log_prob" difficulty=1 minutes=10
# ### 7. The probability of a story
#
# A model that predicts the next word gives every whole story a probability, by the chain rule:
#
# $$P(w_1 \dots w_n) = P(w_1) \cdot P(w_2 \mid w_1) \cdots P(w_n \mid w_1 \dots w_{n-1})$$
#
# The product of many small factors is too small for a float, so we add logarithms.
#
# Write `story_log_prob(predictions, words)`, the **natural logarithm** of the probability of the whole story,
# as a float. `words` is a list of n words, the last of which is `"</s>"`; it is predicted like any other.
# `predictions` is a list of n dicts: `predictions[t]` says what the model expected in the place of
# `words[t]`, before it read that word; it gives each word of the language a probability above 0.
#
# **Example.** The story `["hush", "</s>"]` with the predictions `{"hush": 0.25, "</s>": 0.75}` and
# `{"hush": 0.5, "</s>": 0.5}` has the probability 0.25 · 0.5 = 1/8, so the answer is −ln 8 ≈ −2.079.
#
# <details><summary>Hint 1</summary>
#
# For each t, look up one number in one dict. What do you do with the n numbers?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# The logarithm of a product is the sum of the logarithms. Take each logarithm before there is a product.
#
# </details>


# %% solution="story_log_prob"
def story_log_prob(predictions: list[dict[str, float]], words: list[str]) -> float:
    """ln P(words), where predictions[t] are the model's probabilities in the place of words[t]."""
    ### BEGIN SOLUTION
    return sum(math.log(probs[word]) for probs, word in zip(predictions, words, strict=True))
    ### END SOLUTION


# %% check="the_example_costs_ln_8" points=1
def the_example_costs_ln_8(story_log_prob):
    """The story of the example has the log-probability -ln 8."""
    predictions = [{"hush": 0.25, "</s>": 0.75}, {"hush": 0.5, "</s>": 0.5}]
    assert_close(story_log_prob(predictions, ["hush", "</s>"]), -math.log(8))


# %% check="three_short_stories_share_0_44" points=1
def three_short_stories_share_0_44(story_log_prob):
    """If a story ends at once with 0.2, or after one word with 0.3, the three shortest have 0.2 + 0.8 · 0.3."""
    predictions = [{"a": 0.5, "b": 0.3, "</s>": 0.2}, {"a": 0.6, "b": 0.1, "</s>": 0.3}]
    stories = [["</s>"], ["a", "</s>"], ["b", "</s>"]]
    total = sum(math.exp(story_log_prob(predictions[: len(words)], words)) for words in stories)
    assert_close(total, 0.2 + 0.8 * 0.3, what="the sum of the three probabilities")


# %% check="a_very_long_story_is_no_trouble" points=1
def a_very_long_story_is_no_trouble(story_log_prob):
    """400 words of probability 1/10 have the log-probability -400 ln 10, though 0.1 ** 400 is 0."""
    predictions, words = [{"la": 0.1, "</s>": 0.9}] * 399 + [{"la": 0.9, "</s>": 0.1}], ["la"] * 399
    assert_close(story_log_prob(predictions, [*words, "</s>"]), -400 * math.log(10))


# %% check="the_model_prefers_what_it_has_read" points=1
def the_model_prefers_what_it_has_read(story_log_prob):
    """For the trained model, a story is far likelier than with its first sentence read backwards."""
    answers = []
    for words in (STORY, [*STORY[4::-1], *STORY[5:]]):
        predictions, places = predictions_for(words), torch.tensor(LANGUAGE.vocabulary.encode(words))
        log_probs = torch.tensor([list(probs.values()) for probs in predictions], dtype=torch.float64).log()
        expected = -functional.nll_loss(log_probs, places, reduction="sum").item()
        answers.append(story_log_prob(predictions, words))
        assert_close(answers[-1], expected, what=f"the log-probability of: {' '.join(words)}")
    assert_true(answers[0] > answers[1] + 10, f"The two stories have {answers[0]} and {answers[1]} nats.")


# %% check="other_stories_have_their_log_prob" points=2 hidden
def other_stories_have_their_log_prob(story_log_prob, draw):
    """Other stories, with other predictions, have their log-probability."""
    names = ["ox", "owl", "elk", "</s>"]
    for n in (3, 7, 900):
        rows = draw.probabilities(n, 4)
        places = draw.integers(0, 3, n)
        places[-1] = 3
        predictions = [dict(zip(names, row, strict=True)) for row in rows.tolist()]
        words = [names[place] for place in places.tolist()]
        assert_close(story_log_prob(predictions, words), rows.log()[torch.arange(n), places].sum().item())


# %% [markdown] exercise="top_words" difficulty=1 minutes=10
# ### 8. What would it say next?
#
# Write `top_words(probs, k)`: the `k` most probable words, the most probable first, as a list. `probs` is a
# dict from words to probabilities with at least `k` words. Words of equal probability come in alphabetical
# order, so that the answer is always the same.
#
# **Example.** `top_words({"b": 0.3, "c": 0.1, "a": 0.3, "d": 0.3}, 2)` is `["a", "b"]`.
#
# <details><summary>Hint 1</summary>
#
# `sorted(probs, key=…)` sorts the words by whatever the key says, the smallest first. Which key is smallest
# for the most probable word?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Tuples are compared entry by entry: the second entry decides where the first ones are equal.
#
# </details>


# %% solution="top_words"
def top_words(probs: dict[str, float], k: int) -> list[str]:
    """The k most probable words, most probable first; equal ones in alphabetical order."""
    ### BEGIN SOLUTION
    return sorted(probs, key=lambda word: (-probs[word], word))[:k]
    ### END SOLUTION


# %% check="the_example_gives_a_and_b" points=1
def the_example_gives_a_and_b(top_words):
    """The two most probable words of the example are a and b, in this order."""
    assert_equal(top_words({"b": 0.3, "c": 0.1, "a": 0.3, "d": 0.3}, 2), ["a", "b"])


# %% check="the_most_probable_word_comes_first" points=1
def the_most_probable_word_comes_first(top_words):
    """Of probabilities 0.2, 0.5 and 0.3 the words of 0.5 and 0.3 come out, in this order."""
    assert_equal(top_words({"ant": 0.2, "bee": 0.5, "cow": 0.3}, 2), ["bee", "cow"])


# %% check="the_model_names_a_person_first" points=1
def the_model_names_a_person_first(top_words):
    """Of the trained model's 6 likeliest first words all are names, and `had` is the likeliest second."""
    people = {"nora", "anna", "clara", "ben", "hugo", "omar"}
    answer = top_words(next_word_probs([]), 6)
    assert_equal(sorted(answer), sorted(people), what="the six likeliest first words")
    assert_equal(top_words(next_word_probs(["anna"]), 1), ["had"], what="the likeliest word after anna")


# %% check="other_words_come_by_probability" points=2 hidden
def other_words_come_by_probability(top_words, draw):
    """Other words, some equally probable, come out in their order."""
    assert_equal(top_words({"yew": 0.2, "ash": 0.2, "oak": 0.5, "elm": 0.1}, 3), ["oak", "ash", "yew"])
    names = ["elm", "oak", "fir", "ash", "yew", "bay", "fig"]
    for k in (1, 3, 5):
        order = [names[place] for place in draw.permutation(7)]
        probs = dict(zip(order, [0.1, 0.3, 0.1, 0.05, 0.25, 0.1, 0.1], strict=True))
        ties = sorted(word for word, prob in probs.items() if prob == 0.1)
        assert_equal(top_words(probs, k), [order[1], order[4], *ties, order[3]][:k])


# %% [markdown]
# With both functions you can let the model go on by itself, always with its likeliest word, and ask how
# probable it finds the result. Change the beginning and run the cell again.

# %%
story = ["nora", "had"]
while story[-1] != "</s>" and len(story) < 40:
    story += top_words(next_word_probs(story), 1)
print(" ".join(story))
print(f"log-probability {story_log_prob(predictions_for(story), story):.2f} nats, {len(story)} words")

# %% [markdown]
# And here is a cell for questions of your own. You will want it for the last exercise.

# %%
beginning = "nora had nuts and"
probs = next_word_probs(beginning.split())
print({word: round(probs[word], 3) for word in top_words(probs, 5)})

# %% [markdown] written="what_four_words_cannot_know" points=4 minutes=15
# ### 9. What four words cannot know
#
# In this language a story begins with what somebody has ("anna had nuts and scarves ."), and what is eaten,
# worn or printed later is always one of these things. The model sees the last four words only.
#
# a) Give two beginnings of stories, different in exactly one word, after which the true language predicts
# different words, but this model must give exactly the same answer. Ask the model about both and quote what
# `next_word_probs` says.
#
# b) The longer a story, the smaller its probability. Does that mean that the model finds long stories bad?
# Say what you would compare instead, if you had to choose which of two stories of different length suits the
# model better.
#
# c) "The model knows that people eat apples and not gloves." Name one thing you could measure with
# `next_word_probs` that speaks for this sentence and one thing that it does not show.
#
# ### BEGIN SOLUTION
# a) (2 points: one for the beginnings, one for the measured numbers.) The differing word must lie more than
# four words back, for instance "anna had nuts and scarves . she ate" and "anna had apples and scarves . she
# ate": the last four words are "scarves . she ate" in both, so the two dicts are equal, while the language
# continues with nuts in the one and with apples in the other.
#
# b) (1 point) No: every word multiplies by a number below 1, so the total falls with the length whatever the
# story is. Compare the average log-probability per word (or perplexity); `</s>` counts as a word.
#
# c) (1 point) For: after "she ate", the probabilities of apples, nuts and plums are large and those of gloves
# and boots near 0, also in contexts that did not occur in training. Not shown: anything beyond which words
# follow which. The model has no apples; "eat" could be any sign with the same neighbours. Any clear
# distinction between predicting words and knowing what they stand for has the point.
# ### END SOLUTION
