# %% [markdown]
# ## Part D. You against the model
#
# In 1951 Shannon let people guess the next letter of a text, and measured how much they knew about English.
# Here you guess the next word, by betting on it, and the model plays along.

# %% [markdown] exercise="surprise" difficulty=1 minutes=10
# ### 12. The price of a word
#
# Write `surprise(bets, word, n_words)`: how many **bits** does it cost that `word` came, −log₂ of the probability
# that the bets gave it? `bets` is a dict from words to probabilities above 0 that sum to at most 1. What is left
# is spread evenly over the other words of a vocabulary of `n_words` words, which includes those bet on. A word
# that was left nothing costs infinity, `math.inf`. The result is a float.
#
# **Example.** With `bets = {"mat": 0.5, "sofa": 0.25}` and 66 words, "mat" costs 1 bit and "sofa" 2. Of the
# other 64 words each has 0.25/64 = 1/256, so "rug" costs 8 bits.
#
# <details><summary>Hint 1</summary>
#
# Two cases: the word was bet on, or not. How much is left in the second, and among how many words is it
# shared?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# `math.log2(0)` raises an error. When is nothing left?
#
# </details>


# %% solution="surprise"
def surprise(bets: dict[str, float], word: str, n_words: int) -> float:
    """What a word costs in bits, after bets on some of n_words words."""
    ### BEGIN SOLUTION
    left = (1 - sum(bets.values())) / (n_words - len(bets))
    prob = bets.get(word, left)
    return -math.log2(prob) if prob > 0 else math.inf
    ### END SOLUTION


# %% check="the_example_costs_1_2_and_8_bits" points=1
def the_example_costs_1_2_and_8_bits(surprise):
    """In the example "mat" costs 1 bit, "sofa" 2 and "rug" 8; with the bets exchanged, "mat" costs 2."""
    bets = {"mat": 0.5, "sofa": 0.25}
    for word, bits in {"mat": 1.0, "sofa": 2.0, "rug": 8.0}.items():
        assert_close(surprise(bets, word, 66), bits, what=say("the price of {word}", word=repr(word)))
    assert_close(
        surprise({"mat": 0.25, "sofa": 0.5}, "mat", 66), 2.0, what="the price with the bets exchanged"
    )


# %% check="without_a_bet_all_words_cost_the_same" points=1
def without_a_bet_all_words_cost_the_same(surprise):
    """Without a bet, each of 1024 words costs 10 bits."""
    assert_close(surprise({}, "mat", 1024), 10.0)


# %% check="who_bets_everything_may_pay_infinitely" points=1
def who_bets_everything_may_pay_infinitely(surprise):
    """When all is bet on two words, a third costs infinity, and the two cost what they did."""
    bets = {"mat": 0.75, "sofa": 0.25}
    assert_equal(surprise(bets, "rug", 50), math.inf)
    assert_close(surprise(bets, "sofa", 50), 2.0)


# %% check="other_bets_have_their_price" points=2 hidden
def other_bets_have_their_price(surprise, draw):
    """Other bets on other words have their price."""
    for n_bets, n_words in ((1, 9), (3, 40), (4, 20_000)):
        *probs, left = draw.probabilities(n_bets + 1).tolist()
        bets = {f"word {number}": p for number, p in enumerate(probs)}
        for word, p in bets.items():
            assert_close(surprise(bets, word, n_words), -math.log2(p))
        assert_close(surprise(bets, "another", n_words), -math.log2(left / (n_words - n_bets)))


# %% [markdown]
# ## The game
#
# Ten sentences break off before a word. Bet on what came, as in the first line of `BETS`: you may bet on several
# words and need not bet everything. The model bets on every piece of the word in turn, and need not say where the word
# ends. Sentences without a bet are left out, so you can play one by one; a word is shown only after you have bet.
# Nothing here is graded.
#
# *What to see:* where you pay less than the model, and where it pays less than you; your bits per word and its own.
# Both are far below the price of knowing nothing. An infinite price leaves its square white. Your `surprise` (exercise 12) and your `log_prob_of` (exercise 7)
# keep the score; until their checks hold, ready-made ones do, and the first line says so.

# %% alive="the_beginnings"
for number, (beginning, _) in enumerate(GAME):
    print(f"{number}: {beginning} …")

# %% alive="you_against_the_model"
from course import plots

BETS = {
    0: {"rain": 0.8, "snow": 0.1},
}
N_WORDS = 20_000  # about as many as an adult knows

mine = parts(check, log_prob_of=log_prob_of, surprise=surprise)
prices = {}
for number, bets in BETS.items():
    beginning, came = GAME[number]
    found = expected(came, beginning)
    model_pays = -mine.log_prob_of(found.logits, found.tokens) / math.log(2)
    prices[came.strip()] = mine.surprise(bets, came.strip(), N_WORDS) + 0.0, model_pays  # + 0.0: no −0.0
    print(f"{beginning} …{came}: you {prices[came.strip()][0]:.1f} bits, SmolLM2 {model_pays:.1f}")

bits_per_word = [sum(paid) / len(prices) for paid in zip(*prices.values(), strict=True)]
for name, bits in zip(
    ("you", "SmolLM2", "who knows nothing"), (*bits_per_word, math.log2(N_WORDS)), strict=True
):
    print(f"{name:18} {bits:6.2f} bits per word")
plots.heat_map(
    [*zip(*prices.values(), strict=True)],
    ["you", "SmolLM2"],
    list(prices),
    row_title="who bet",
    column_title="the word that came",
)
