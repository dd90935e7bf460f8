# %% [markdown]
# # 04 · Tokenisation
#
# **You will be able to**
#
# - split a text into characters, words and subwords, and say what each choice costs;
# - learn byte-pair merges by hand and in code, and encode a new text with them;
# - tell BPE, WordPiece and unigram apart, and explain what bytes are good for;
# - predict where token boundaries will trip a model;
# - compare models with different tokenizers in a fair unit.
#
# *40 minutes to read, under 40 seconds to run. Before this: [03 · Perplexity](03_perplexity.ipynb).*
#
# **The question of the day:** the chain rule multiplies over tokens, but what is a token?

# %% setup

# %%
import math
from collections import Counter
from itertools import pairwise

import matplotlib.pyplot as plt
import torch
from torch import Tensor

from course import figures
from course.data.corpora import python_documentation

# %% [markdown]
# ## Two obvious answers
#
# **Characters.** There are few different ones, and no word is unknown as long as the alphabet has its letters. But
# texts become long. Every prediction is a small step, and most of them only finish a word that is already decided.

# %%
text = python_documentation()
alphabet = sorted(set(text))
character_token = {character: i for i, character in enumerate(alphabet)}
tokens = [character_token[character] for character in "the cat"]
print(f"{len(alphabet)} characters; 'the cat' = {tokens}")

# %% [markdown]
# **Words.** Texts are short, and each token means something. But there is no end of words: new ones keep coming,
# however much you have read.
#
# **Predict, then run.** Read the first half of Python's documentation and collect its words. What fraction of the words of
# the second half, counted with repetition, will be new? What fraction of its *different* words?

# %%
words = text.split()
first, second = words[: len(words) // 2], words[len(words) // 2 :]
known = set(first)
running = sum(word not in known for word in second) / len(second)
different = len(set(second) - known) / len(set(second))

# %%
figures.prediction("What fraction of the different words of the second half is new?", different, unit="%")

# %%
print(f"new: {running:.0%} of the running words, {different:.0%} of the different ones")

# %% [markdown]
# A word model replaces all of these by `<unk>`: it can neither read them nor write them. And *token*, *tokens* and *tokenizer* are three
# unrelated numbers to it.
#
# The answer that won lies in between: **subwords**, the *pieces* of words. Frequent words stay whole, rare ones are
# spelled from parts, and the parts go down to single bytes, so that nothing is unknown. Which parts? Let the text
# decide.
#
# ## Byte-pair encoding by hand
#
# **Byte-pair encoding** (BPE) was a method of compressing files (Gage, 1994) before it became a tokenizer (Sennrich, Haddow and Birch, 2016).
# It is based on one idea: *the most frequent pair of neighbours becomes one symbol; repeat.*
#
# | word | meaning | in the code |
# |---|---|---|
# | symbol, token | one piece of text | `"e"`, `"es"`; later a number |
# | pair | two symbols that stand side by side | `("e", "s")` |
# | merge | a pair that has become one symbol | `("e", "s")` → `"es"` |
# | rank | the place of a merge in the list of merges | `merges.index(pair)` |
# | $V$ | the number of different tokens | `vocab_size` |
#
# The corpus of the 2016 paper has four words. Only how often each occurs matters, since no merge may cross a word boundary.

# %%
word_counts = {"low": 5, "lower": 2, "newest": 6, "widest": 3}
spelled = {word: tuple(word) for word in word_counts}  # every word begins as its letters
spelled["newest"]

# %% [markdown]
# **Predict, then run.** Which pair of letters is the most frequent? Count by hand before you look; a word that occurs six times counts
# six times.


# %%
def count_pairs(spelled: dict[str, tuple], word_counts: dict[str, int]) -> Counter:
    """How often each pair of neighbours occurs in the corpus."""
    counts = Counter()
    for word, symbols in spelled.items():
        for pair in pairwise(symbols):
            counts[pair] += word_counts[word]
    return counts


pair_counts = count_pairs(spelled, word_counts)

# %%
asked = (("l", "o"), ("e", "w"), ("e", "s"), ("d", "e"))
options = {f"{a} + {b}": pair_counts[a, b] for a, b in asked}
figures.prediction("Which of these pairs is the most frequent?", options, unit="times")

# %%
pair_counts.most_common(4)

# %% [markdown]
# Two pairs share the first place: `es` and `st` both occur in *newest* and *widest*, nine times. A rule has to decide; ours takes the smaller
# pair, in the order of the alphabet. Then the pair is replaced everywhere, from the left.


# %%
def replace(symbols: tuple, pair: tuple, merged) -> tuple:
    """Write `merged` wherever the pair stands, from the left."""
    result, i = [], 0
    while i < len(symbols):
        found = symbols[i : i + 2] == pair
        result.append(merged if found else symbols[i])
        i += 2 if found else 1
    return tuple(result)


replace(tuple("newest"), ("e", "s"), "es")

# %% [markdown]
# That is the whole algorithm. Ten merges:

# %%
for rank in range(10):
    counts = count_pairs(spelled, word_counts)
    pair = min(counts, key=lambda pair: (-counts[pair], pair))  # most frequent, then smallest
    spelled = {word: replace(each, pair, "".join(pair)) for word, each in spelled.items()}
    merged = f"{pair[0]:>4} + {pair[1]:5} ({counts[pair]} times)"
    print(f"merge {rank}: {merged}   {' '.join(spelled['widest'])}")

# %% [markdown]
# It found *est*, which ends English superlatives, and *low*, which is a word, without knowing what either is. Note the
# second merge: `es` and `t`, not `s` and `t`. After the first merge the letter `s` no longer stands alone before a `t`.
# **You must count again after every merge.**
#
# ## The same with tensors
#
# To count pairs, put a sequence beside itself, shifted by one. `torch.unique` counts the rows; −1 marks borders, and
# pairs that touch one are dropped.

# %%
repeated = "".join((word + " ") * n for word, n in word_counts.items())
sequence = torch.tensor([ord(c) if c != " " else -1 for c in repeated])  # (N,)
pairs = torch.stack([sequence[:-1], sequence[1:]], dim=1)  # (N − 1, 2)
pairs, counts = pairs[(pairs >= 0).all(dim=1)].unique(dim=0, return_counts=True)
found = zip(pairs.tolist(), counts.tolist(), strict=True)
by_tensor = {tuple(map(chr, pair)): n for pair, n in found}
assert by_tensor == count_pairs({word: tuple(word) for word in word_counts}, word_counts)
print(f"equal: {len(by_tensor)} different pairs")

# %% [markdown]
# ## Where to begin: bytes
#
# Letters are a poor foundation. There are some 150,000 characters in Unicode, and a text may contain any of them. But
# every text is stored as **bytes**, and there are only 256. In the usual encoding, UTF-8, an English letter is one
# byte, an accented letter two, most other scripts two or three, an emoji four.

# %%
for piece in ("cat", "é", "λ", "猫", "🙂"):
    print(f"{piece:4} {list(piece.encode())}")

# %% [markdown]
# Begin with the 256 bytes as tokens 0 to 255, and each merge adds one: $V = 256 + \text{merges}$. Anything that was
# never seen in training is spelled in bytes. **There are no unknown tokens any more.**
#
# And what is a "word", whose boundary no merge may cross? GPT-2 split the text with a pattern before learning: a word *with the space in front of it*,
# a number, a run of punctuation, white space. Joined together, these **pre-tokens** give back the text exactly, including every space.

# %%
from course.tokenizers.byte_symbols import SINGLE_BYTES, byte_tokens
from course.tokenizers.pre_tokens import split_pre_tokens

sample = "I don't know 42 cats!"
assert "".join(split_pre_tokens(sample)) == sample
split_pre_tokens(sample)

# %% [markdown]
# Now learn for real, with the two functions from above, on the first part of the documentation. `byte_tokens` turns a word into token numbers (GPT-2's
# order of the bytes, with visible characters first), and `spelling` records which bytes each token stands for.


# %%
def learn(word_counts: dict[str, int], n_merges: int) -> list[tuple[bytes, bytes]]:
    """The first n merges of byte-pair encoding, as pairs of bytes."""
    spelled = {word: tuple(byte_tokens(word)) for word in word_counts}
    spelling, merges = list(SINGLE_BYTES), []
    for _ in range(n_merges):
        counts = count_pairs(spelled, word_counts)
        pair = min(counts, key=lambda pair: (-counts[pair], pair))
        merges.append((spelling[pair[0]], spelling[pair[1]]))
        spelled = {word: replace(each, pair, len(spelling)) for word, each in spelled.items()}
        spelling.append(spelling[pair[0]] + spelling[pair[1]])
    return merges


opening = text[:30_000]
merges = learn(Counter(split_pre_tokens(opening)), 60)
print(" ".join(repr((left + right).decode()) for left, right in merges[:16]))

# %% [markdown]
# The library does the same without counting everything again each time, because a merge changes only the words that
# contain the pair.

# %%
from course.tokenizers.bpe import BytePairTokenizer

library = BytePairTokenizer.train(opening, vocab_size=256 + 60)
assert list(library.merges) == merges
print("sixty merges, all equal to the library's")

# %% [markdown]
# ## A convention to settle: overlaps and ties
#
# How often does *aaa* contain the pair *aa*? Twice, if you look at every position. Once, if you count what can be
# merged: after one merge a single `a` is left. Both conventions are in use, and they can learn different merges from
# the same text:


# %%
def count_without_overlap(symbols: str, pair: str) -> int:
    return symbols.count(pair)  # Python's str.count goes on after the end of a match


def count_every_place(symbols: str, pair: str) -> int:
    return sum(symbols[i : i + 2] == pair for i in range(len(symbols) - 1))


corpus = ["aaaaa", "bc", "bc", "bc"]
for count in (count_every_place, count_without_overlap):
    found = {pair: sum(count(word, pair) for word in corpus) for pair in ("aa", "bc")}
    print(f"{count.__name__:22} {found}   first merge: {max(found, key=found.get)}")

# %% [markdown]
# Ties are the other choice: the smaller pair, the one met first in the text, or whichever a hash table gives. Programs
# differ in both. A tokenizer is its list of merges, so never add merges learned by one program to those of another.
# **In this lecture and in `course.tokenizers`** every position counts, and among equals the pair with the smaller token
# numbers wins. **In homework 1** pairs are counted *without overlap*, and among equals the smaller pair of byte strings
# wins. Look for these conventions in every paper that you want to reproduce.
#
# ## Encoding a new text
#
# The merges were learned in an order, and that order is the rule: of all pairs in the word that have a rank, merge the one with the **lowest rank**
# everywhere, and look again.
#
# **Predict, then run.** The merges are `b`+`c`, then `a`+`b`, then `ab`+`c`. How is *abc* tokenized: by the longest token that fits from the left, or in a different way?


# %%
def encode_word(symbols: tuple, merges: list[tuple]) -> tuple:
    rank = {pair: i for i, pair in enumerate(merges)}
    while known_pairs := [pair for pair in pairwise(symbols) if pair in rank]:
        left, right = min(known_pairs, key=rank.get)
        symbols = replace(symbols, (left, right), left + right)
    return symbols


encode_word(tuple("abc"), [("b", "c"), ("a", "b"), ("ab", "c")])

# %% [markdown]
# <details><summary>Why</summary>
#
# `b`+`c` has rank 0 and goes first. Then the word is `a`, `bc`, and that pair has no rank. The token `abc` exists and
# fits, but it is not used: merges applied in a different order would give tokens that the model has hardly ever seen in
# this context.
#
# </details>
#
# Decoding is easier: look up the bytes of each token, **join them, then** read the whole as UTF-8. One character may span two tokens, and decoding token by token would make it unreadable.

# %%
cat = library.encode("猫")
one_by_one = [library.decode([token]) for token in cat]
print(cat, "whole:", library.decode(cat), "  one by one:", *one_by_one)
assert library.decode(cat) == "猫"

# %% [markdown]
# Follow the merges one by one. Move *Merges* and watch the tiles grow, and choose a tile to see what it was made of.
# Then take one of the other texts, and compare how many tokens each needs.

# %%
tokenizer = BytePairTokenizer.train(text, vocab_size=256 + 600)
figures.bpe(
    tokenizer.merges,
    {
        "from the documentation": "The value of the expression is assigned to the target.",
        "words it never saw": "A hedgehog hibernates underneath rhododendrons.",
        "numbers": "In 1984 and 2024, 3.14159 times 100000 is 314159.",
        "français": "L'été, les élèves dînent à la fenêtre.",
        "Ελληνικά": "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι.",
        "emoji": "no 🙂 yes 🙃",
    },
)

# %% [markdown]
# ## How many tokens should there be?
#
# Each merge shortens the text and lengthens the vocabulary. A model pays for both. A longer text takes more steps of
# computation. A larger vocabulary means more rows in the first and the last matrix of a neural model (lecture 05), and
# each row is trained on fewer examples.
#
# **Predict, then run.** From 512 to 1,024 tokens the vocabulary doubles. Will the text become half as long?

# %%
paragraphs = [paragraph + "\n\n" for paragraph in text.split("\n\n")]
held_out = paragraphs[::20]  # every twentieth paragraph is for judging
training = [paragraph for i, paragraph in enumerate(paragraphs) if i % 20]
n_bytes = len("".join(held_out).encode())
largest = BytePairTokenizer.train("".join(training), vocab_size=4096)

# %%
sizes = [256, 512, 1024, 2048, 4096]
tokenizers = {size: BytePairTokenizer(largest.merges[: size - 256]) for size in sizes}
lengths = [sum(len(tokenizers[size].encode(p)) for p in held_out) for size in sizes]
bytes_per_token = [n_bytes / length for length in lengths]

# %%
drawing, axes = plt.subplots(figsize=(5, 2.6))
axes.semilogx(sizes, bytes_per_token, "o-", color="#0072B2", base=2)
axes.set(xlabel="vocab_size", ylabel="bytes per token", ylim=(0, 5))
axes.set_xticks(sizes, [str(size) for size in sizes])
figures.still(
    drawing,
    alt="Bytes per token on held-out text, with "
    + ", ".join(f"{size} tokens {b:.2f}" for size, b in zip(sizes, bytes_per_token, strict=True)),
    caption="Every doubling of the vocabulary saves less than the one before.",
)

# %%
savings = [after / before for before, after in pairwise(bytes_per_token)]
assert savings == sorted(savings, reverse=True)
print("each doubling divides the length by", *[f"{saving:.2f}" for saving in savings])

# %% [markdown]
# Models in use have settled between 30,000 and 250,000 tokens: BERT has 30,522, GPT-2 has 50,257, and XLM-R, which reads a
# hundred languages, has 250,002 (quoted from their published configurations).
#
# ## Two alternatives
#
# **WordPiece** (Schuster and Nakajima, 2012; the tokenizer of BERT) also merges pairs, but not the most frequent one. It takes the pair that is most frequent
# *compared with its parts*:
#
# $$\text{score}(a, b) = \frac{\text{count}(a\,b)}{\text{count}(a) \cdot \text{count}(b)}.$$
#
# (This score is Hugging Face's reconstruction. Google never published its training code; the paper chooses the pair
# that raises the likelihood of the text most.)
#
# If $a$ and $b$ met only by chance, $\text{count}(a\,b)$ would be proportional to the denominator; so this measures how
# much they belong together. Pieces inside a word are marked `##`. A new word is split from the left: each time, the
# longest piece that fits is taken.

# %%
from course.tokenizers.wordpiece import longest_match

spelled = {word: tuple(word) for word in word_counts}
letters = Counter(letter for word, n in word_counts.items() for letter in word * n)
counts = count_pairs(spelled, word_counts)
scores = {a + b: count / (letters[a] * letters[b]) for (a, b), count in counts.items()}
print("by count:", ["".join(pair) for pair, _ in counts.most_common(3)])
print("by score:", sorted(scores, key=lambda pair: (-scores[pair], pair))[:3])
print(longest_match("lowest", {"low": 0, "lo": 1, "##est": 2, "##e": 3, "##s": 4}))

# %% [markdown]
# BPE took `es`, which is frequent; the score prefers `id`, letters that never occur without each other.
#
# **Unigram** (Kudo, 2018; with BPE the tokenizer of SentencePiece) goes the other way. It begins with far too many
# pieces, gives each a probability, and throws out those whose removal costs least. Of all ways to cut a word it takes
# the most probable, $\arg\max \prod_i P(\text{piece}_i)$: lecture 01 with pieces as tokens. For a short word you can
# try all cuts; with $n$ letters there are $2^{n-1}$.

# %%
from itertools import product

from course.tokenizers.unigram_cuts import Pieces, best_cut

probs = {"un": 0.1, "do": 0.08, "undo": 0.006, "ing": 0.12} | dict.fromkeys("undoig", 0.01)
log_probs = {piece: math.log(p) for piece, p in probs.items()}


def all_cuts(word: str):
    for borders in product([False, True], repeat=len(word) - 1):
        places = [0, *(i + 1 for i, is_border in enumerate(borders) if is_border), len(word)]
        yield [word[a:b] for a, b in pairwise(places)]


possible = [cut for cut in all_cuts("undoing") if all(piece in log_probs for piece in cut)]
best = max(possible, key=lambda cut: sum(log_probs[piece] for piece in cut))
print(f"{2**6} cuts, {len(possible)} of them spelled with known pieces; the best is {best}")
assert best == best_cut("undoing", Pieces(log_probs))

# %% [markdown]
# *un·do·ing* has probability $0.1 \cdot 0.08 \cdot 0.12$, *undo·ing* $0.006 \cdot 0.12$: the first is likelier,
# although it has more pieces. (The library does not try all cuts: it goes from position to position and keeps only the
# best way to reach each one.)
#
# Both alternatives start from characters, so they need a fallback for characters they have never seen. BERT outputs `[UNK]`. SentencePiece can fall back on
# **bytes**: 256 extra pieces `<0x00>` to `<0xFF>` spell what nothing else can.


# %%
def with_byte_fallback(text: str, alphabet: set[str]) -> list[str]:
    return [
        piece
        for c in text
        for piece in ([c] if c in alphabet else [f"<0x{byte:02X}>" for byte in c.encode()])
    ]


print(with_byte_fallback("a 猫", set("abc ")))

# %% [markdown]
# ## Special tokens
#
# Some tokens are not text: where a document begins and ends, padding, the turns of a conversation. They get numbers of their own, and must never
# come from ordinary text, or a user could end the document by typing its end.

# %%
with_end = BytePairTokenizer(tokenizer.merges, special_tokens=("<|end|>",))
print("as special token:", with_end.encode("bye<|end|>"))
plain = tokenizer.encode("bye<|end|>")
print("as plain text:   ", [tokenizer.spelling(token).decode() for token in plain])

# %% [markdown]
# So a program that feeds user text into a model should encode it with the second tokenizer, and insert the special
# tokens itself.
#
# ## Where it breaks: boundaries
#
# A model sees token numbers. What lies inside a token is as invisible to it as the letters of a word are to your ear.
#
# **Spelling.** How many letters *r* are in *error*? With characters you can look; with tokens you would have to know:


# %%
def cut(string: str) -> list[str]:
    spellings = [tokenizer.spelling(token) for token in tokenizer.encode(string)]
    return [spelling.decode(errors="replace") for spelling in spellings]


for string in ("an error", "an Error", "an ERROR", "error"):
    print(f"{string!r:12} {cut(string)}")

# %% [markdown]
# One word is spelled in several ways, and the token numbers do not show that they are related. Whether the model learns
# how many *r* a token has depends on whether somebody ever spelled it out in its training text.
#
# **Numbers.** The digits are grouped by what was frequent, not by place value, so columns do not line up:

# %%
for string in ("10", "100", "1000", "1024", "1999", "2000"):
    print(f"{string:6} {cut(string)}")

# %% [markdown]
# Some newer tokenizers therefore split every number into single digits (Touvron et al., 2023).
#
# **Prompts.** Encoding is not additive: the tokens of two halves are not always the tokens of the whole.
#
# **Predict, then run.** A prompt ends in a space, `the value␣`, and the model should continue with `of`. Why is that
# harder for it than after `the value`?

# %%
print(cut("the value") + cut(" of"), cut("the value ") + cut("of"), sep="\n")
assert cut("the value of") == cut("the value") + cut(" of")
assert cut("the value of") != cut("the value ") + cut("of")

# %% [markdown]
# <details><summary>Why</summary>
#
# In training, the space always belonged to the word after it: the token was `␣of`. A prompt that ends in a space has
# already used up that space as a token of its own, and *of* without a space hardly ever followed one in training; here
# *of* is not even a single token. The rule for prompts: no space at the end.
#
# </details>
#
# **Other languages.** Merges are spent on the text they were learned from. Here is the first sentence of the Universal Declaration of Human Rights, article 1
# (United Nations, 1948), in five languages, under merges learned from English.
#
# **Predict, then run.** How many times as many tokens as in English does the same sentence take in German, and how many in Greek?

# %%
article = {
    "English": "All human beings are born free and equal in dignity and rights.",
    "German": "Alle Menschen sind frei und gleich an Würde und Rechten geboren.",
    "French": "Tous les êtres humains naissent libres et égaux en dignité et en droits.",
    "Greek": "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα.",
    "Chinese": "人人生而自由，在尊严和权利上一律平等。",
}
n_tokens_in = {name: len(tokenizer.encode(sentence)) for name, sentence in article.items()}

# %%
figures.prediction(
    "How many times as many tokens as the English sentence does the Greek one take?",
    n_tokens_in["Greek"] / n_tokens_in["English"],
    between=(1, 12),
    unit="times",
)

# %%
for name, sentence in article.items():
    n_tokens, length = n_tokens_in[name], len(sentence)
    print(f"{name:8} {length:3} characters {n_tokens:4} tokens, {n_tokens / length:.2f} for each")

# %% [markdown]
# The same meaning costs a Greek reader several times the tokens: several times the price, and fewer words in the same context window.
#
# ## A tokenizer in use
#
# SmolLM2 of lecture 03 has a byte-level BPE like ours, with 49,152 tokens, learned from billions of words of the web. The results below are recorded; where its package is installed, `cut` of `course.pretrained` answers for any text, so try your name.
#
# **Predict, then run.** Which of these are one token: *strawberry* at the start of a text, *strawberry* in the middle, *ERROR*, 9.11, a million, your name?

# %%
from course.pretrained import cut as cut_by_smollm2

samples = ["strawberry", " strawberry", "an ERROR", "9.11 > 9.9", "1000000", "Nora Ephron"]
samples += ["naïve café", " SolidGoldMagikarp", "the value of", "the value "]
for string in samples:
    print(f"{string!r:21} {cut_by_smollm2(string)}")
assert cut_by_smollm2(" strawberry") == [" strawberry"]
assert len(cut_by_smollm2("strawberry")) == 3
assert cut_by_smollm2("1000000") == list("1000000")

# %% [markdown]
# With a space in front *strawberry* is one token, and its letters are out of sight: a model that is asked how many *r*
# it has must have read the answer somewhere. Without the space it is three other tokens. Digits come one by one, by
# rule. That helps with columns, but it does not tell a model that 9.11 is less than 9.9: the first has two tokens after
# the point, the second has one. A space at the end of a prompt is a token of its own here too.
#
# ` SolidGoldMagikarp` was *one* token of GPT-2's vocabulary, the name of a user with many posts in the text from which
# the tokenizer was learned, but few in the text on which the model was trained. The numbers that the model keeps for
# this token were hardly trained, and models answered it with nonsense (Rumbelow and Watkins, 2023). So train tokenizer
# and model on the same text. Here the name is five pieces.
#
# And the five languages?

# %%
for name, sentence in article.items():
    ours, theirs = len(tokenizer.encode(sentence)), len(cut_by_smollm2(sentence))
    print(f"{name:8} {ours:4} tokens with our 600 merges, {theirs:3} with SmolLM2's 48,900")
in_use = {name: len(cut_by_smollm2(sentence)) for name, sentence in article.items()}
assert in_use["Greek"] > 3 * in_use["English"]

# %% [markdown]
# Even with eighty times as many merges, Greek still costs several times as much as English: nearly all merges were spent on English, where most words are now single tokens.
#
# ## The fair unit
#
# Which tokenizer makes the best language model? Perplexity cannot tell: it counts choices *per token*, and tokens
# differ. Bits per byte, from lecture 03, do not depend on how the text is split into tokens. Here is one kind of model,
# Kneser–Ney of order 4, on the same text under six tokenizers.
#
# **Predict, then run.** As the vocabulary grows, which way does perplexity go? Which way do bits per byte?

# %%
from course.models import KneserNey, NGramCounts
from course.tokenizers import Tokenizer
from course.tokenizers.characters import CharacterTokenizer


def surprise(tokenizer: Tokenizer, training: list[str], held_out: list[str], order: int) -> Tensor:
    """The bits of every token of the held-out texts, (N,)."""
    V = tokenizer.vocab_size  # one more token, V, marks the beginning
    sequences = [torch.tensor(tokenizer.encode(text)) for text in training]
    model = KneserNey(NGramCounts(sequences, order, V + 1, bos=V))
    bits = []
    for text in held_out:
        tokens = torch.tensor([[V, *tokenizer.encode(text)]])  # (B=1, T + 1)
        log_probs = model(tokens[:, :-1]).gather(-1, tokens[:, 1:, None])  # (1, T, 1)
        bits.append(-log_probs.flatten() / math.log(2))
    return torch.cat(bits)


# %%
candidates = {"characters": CharacterTokenizer.train(text)}
candidates |= {f"BPE {size}": tokenizers[size] for size in sizes}
rows = {}
for name, candidate in candidates.items():
    bits = surprise(candidate, training, held_out, order=4)
    rows[name] = perplexity, per_byte = 2 ** bits.mean().item(), bits.sum().item() / n_bytes
    print(f"{name:10} perplexity {perplexity:6.2f} per token   {per_byte:.3f} bits per byte")

# %%
drawing, both = plt.subplots(1, 2, figsize=(7, 2.6))
for column, label in enumerate(("perplexity per token", "bits per byte")):
    values, axes = [rows[f"BPE {size}"][column] for size in sizes], both[column]
    axes.plot(values, "o-", color="#0072B2")
    axes.set(xlabel="vocab_size", ylabel=label, ylim=(0, 1.15 * max(values)))
    axes.set_xticks(range(len(sizes)), [str(size) for size in sizes])
drawing.tight_layout()
figures.still(
    drawing,
    alt="Left: perplexity per token rises with the vocabulary, "
    + ", ".join(f"{rows[f'BPE {size}'][0]:.1f}" for size in sizes)
    + ". Right: bits per byte fall and level off, "
    + ", ".join(f"{rows[f'BPE {size}'][1]:.2f}" for size in sizes)
    + ".",
    caption="The same models judged twice: in a unit that changes with them, and in one that stays.",
)

# %% [markdown]
# Measured by perplexity, characters and bytes win by far; measured by bits per byte, they are the worst. Three tokens
# of context are three letters for one model and up to three words for another. Larger vocabularies gain from this
# longer context, until their counts become sparse.
#
# A caution: a byte is a fair unit only for the *same text*. Also, the probability of a text here is that of a single
# token sequence. Other sequences spell the same bytes, so the sum over all of them would be larger; it is rarely
# computed.
#
# ## The ladder
#
# The stories of this course come in words, but they can be written as text. The number of bits for a whole story can then be compared with the floor,
# whatever the tokenizer: divide by the same number of words. Here is how one begins:

# %%
from course.data.story_language import StoryLanguage

language = StoryLanguage()
train = language.sample(4000, torch.Generator().manual_seed(1))
test = language.sample(300, torch.Generator().manual_seed(2))
written = [language.read(tokens) + "\n" for tokens in train.tokens]  # \n is the end of the story
judged = [language.read(tokens) + "\n" for tokens in test.tokens]
n_words = int(test.mask[:, 1:].sum())
judged[0][:70]

# %% [markdown]
# All three models look five tokens back. **Predict, then run.** Which tokens bring the model nearest to the floor: characters, pieces or words?


# %%
class StoryWords:
    """Story words as tokens; the line feed is </s>."""

    vocab_size = language.vocab_size

    def encode(self, text: str) -> list[int]:
        return language.vocabulary.encode(text.split(), eos=True)


candidates = {
    "characters": CharacterTokenizer.train("".join(written)),
    "BPE 400": BytePairTokenizer.train("".join(written[:1000]), vocab_size=400),
    "words": StoryWords(),
}

# %%
from course.evaluation import score

ladder = {"uniform": math.log2(language.vocab_size)}
for name, candidate in candidates.items():
    bits = surprise(candidate, written, judged, order=6)
    ladder[f"6-gram, {name}"] = bits.sum().item() / n_words
floor = score(language, test).bits_per_token

# %%
options = {name: ladder[f"6-gram, {name}"] - floor for name in candidates}
figures.prediction(
    "Which tokens bring the model nearest to the floor?",
    options,
    is_least=True,
    unit="bits",
)

# %%
drawing, axes = plt.subplots(figsize=(6, 2.2))
names = list(ladder)[::-1]  # barh draws from the bottom up
bars = axes.barh(names, [ladder[name] for name in names], color="#0072B2")
axes.bar_label(bars, [f"{ladder[name]:.2f}" for name in names], padding=3)
axes.axvline(floor, color="#D55E00", linestyle="--", label=f"floor {floor:.2f}")
axes.set(xlabel="bits per word of the story", xlim=(0, ladder["uniform"] + 0.8))
axes.legend(frameon=False)
figures.still(
    drawing,
    alt="The ladder in bits per word: "
    + ", ".join(f"{name} {bits:.2f}" for name, bits in ladder.items())
    + f"; floor {floor:.2f}.",
    caption="Five tokens of context are worth more when the tokens are longer.",
)

# %% [markdown]
# From here on the stories are read in words: they have fewer than 160 different ones, so none needs to be split. Models
# of real language read subwords. So the ladder of the course counts bits per word, and today adds no rung to it:

# %%
figures.rungs("4-gram")

# %% [markdown]
# ## The same in the library
#
# Take text made of random characters, unlike anything the tokenizer has learned from, and compare what we wrote above
# with `course.tokenizers`, token by token.

# %%
generator = torch.Generator().manual_seed(0)
for _ in range(50):
    points = torch.randint(32, 1000, (20,), generator=generator).tolist()
    random_text = "the " + "".join(map(chr, points)) + " values"
    ours = []
    for word in split_pre_tokens(random_text):
        ours += encode_word(tuple(bytes([byte]) for byte in word.encode()), merges)
    assert ours == [library.spelling(token) for token in library.encode(random_text)]
    assert library.decode(library.encode(random_text)) == random_text
print("the library cuts as we do, and every text comes back")

# %% [markdown]
# ## Recap
#
# - Characters make texts long, words make vocabularies endless; subwords lie in between, and bytes below them leave nothing unknown.
# - BPE merges the most frequent pair, counts again, and repeats; encoding applies the merges by rank.
# - WordPiece merges by count compared with chance; unigram keeps the pieces that make the text likely.
# - What lies inside a token is invisible to a model; spelling, numbers, prompts that end in a space, and other
#   languages suffer from token boundaries.
# - Perplexities of different tokenizers do not compare; bits per byte do.
#
# **In the homework:** [hw1](../homeworks/hw1_language_models/hw1_language_models.ipynb), the exercises on learning merges (counted without overlap), on
# encoding a new word, and on bits per byte.
#
# ## Exercises
#
# **1.** The merges are `l`+`o`, then `lo`+`w`, then `e`+`r`. How is *slower* tokenized, and how is *lowlow*?
#
# <details><summary>Answer</summary>
#
# `s low er` and `low low`. No merge joins `low` with anything.
#
# </details>
#
# **2.** A byte-level tokenizer has learned 1,000 merges and has two special tokens. How large is its vocabulary, and into how many tokens can it split *naïve café* at most?
#
# <details><summary>Answer</summary>
#
# $256 + 1000 + 2 = 1258$. At most 12 tokens: ten characters, of which *ï* and *é* take two bytes each.
#
# </details>
#
# **3.** A vocabulary doubles, and the text becomes a tenth shorter. Which two costs of a model change, and in which direction?
#
# <details><summary>Answer</summary>
#
# There are a tenth fewer steps to compute for the same text. The first and the last matrix of the model have twice as many rows, each of which is seen about half as often in training.
#
# </details>
#
# **4.** *(long)* With $n$ letters a word has $2^{n-1}$ cuts. Find the most probable one without trying them all: for each position, from left to right, keep only the best way to reach it.
#
# <details><summary>Answer</summary>
#
# The best way to position $j$ ends with some piece from $i$ to $j$, and what stands before $i$ must itself be the best way to $i$. That makes at most $\tfrac12 n(n+1)$ comparisons. (It is the algorithm of Viterbi, 1967.)
#
# ```python
# import math
# from course.tokenizers.unigram_cuts import Pieces, best_cut
#
# probs = {"un": 0.1, "do": 0.08, "undo": 0.006, "ing": 0.12} | dict.fromkeys("undoig", 0.01)
# log_probs = {piece: math.log(p) for piece, p in probs.items()}
#
#
# def cut(word: str) -> list[str]:
#     best = [(0.0, [])] + [(-math.inf, [])] * len(word)
#     for j in range(1, len(word) + 1):
#         for i in range(j):
#             if word[i:j] in log_probs:
#                 reached = best[i][0] + log_probs[word[i:j]]
#                 best[j] = max(best[j], (reached, [*best[i][1], word[i:j]]))
#     return best[-1][1]
#
#
# for word in ("undoing", "undo", "doing", "gundoing"):
#     assert cut(word) == list(best_cut(word, Pieces(log_probs)))
# assert cut("undoing") == ["un", "do", "ing"]
# ```
#
# </details>
#
# ## Further reading
#
# - Philip Gage, ["A New Algorithm for Data Compression"](http://www.pennelynn.com/Documents/CUJ/HTML/94HTML/19940045.HTM), *The C Users Journal* 12 (1994), 23–38.
# - Rico Sennrich, Barry Haddow and Alexandra Birch, ["Neural Machine Translation of Rare Words with Subword Units"](https://aclanthology.org/P16-1162), ACL 2016.
# - Mike Schuster and Kaisuke Nakajima, ["Japanese and Korean Voice Search"](https://doi.org/10.1109/ICASSP.2012.6289079), ICASSP 2012.
# - Taku Kudo, ["Subword Regularization: Improving Neural Network Translation Models with Multiple Subword Candidates"](https://aclanthology.org/P18-1007), ACL 2018.
# - Taku Kudo and John Richardson, ["SentencePiece: A simple and language independent subword tokenizer and detokenizer for Neural Text Processing"](https://aclanthology.org/D18-2012), EMNLP 2018 (demonstrations).
# - Hugo Touvron et al., ["LLaMA: Open and Efficient Foundation Language Models"](https://arxiv.org/abs/2302.13971), arXiv:2302.13971, 2023.
# - Alec Radford, Jeffrey Wu, Rewon Child, David Luan, Dario Amodei and Ilya Sutskever, ["Language Models are Unsupervised Multitask Learners"](https://cdn.openai.com/better-language-models/language_models_are_unsupervised_multitask_learners.pdf), OpenAI, 2019.
# - Aleksandar Petrov, Emanuele La Malfa, Philip H. S. Torr and Adel Bibi, ["Language Model Tokenizers Introduce Unfairness Between Languages"](https://arxiv.org/abs/2305.15425), NeurIPS 2023.
# - Jessica Rumbelow and Matthew Watkins, ["SolidGoldMagikarp (plus, prompt generation)"](https://www.lesswrong.com/posts/aPeJE8bSo6rAFoLqg/solidgoldmagikarp-plus-prompt-generation), 2023.
# - Andrej Karpathy, [minbpe](https://github.com/karpathy/minbpe): byte-level BPE as GPT uses it, in a few files.
