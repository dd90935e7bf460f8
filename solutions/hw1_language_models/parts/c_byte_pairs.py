# %% [markdown]
# ## Part C. Tokens: byte-pair encoding and bits per byte
#
# In this part a **symbol** is a `bytes` object such as `b"th"`, and a **pair** is a tuple of two symbols. At
# first every symbol is a single byte of the text in UTF-8: `"é"` is two symbols, `b"\xc3"` and `b"\xa9"`.

# %% [markdown] exercise="bpe_train" difficulty=3 minutes=35 forbids="course.tokenizers,course.tokenizers.bpe.BytePairTokenizer"
# ### 14. Byte-pair encoding: learning the merges
#
# Byte-pair encoding (BPE) builds a vocabulary from the bottom up. Every word starts as a row of single bytes.
# Then, `n_merges` times:
#
# 1. Count the pairs of neighbouring symbols inside the words, **as the words are now**. `words` is running
#    text: a word that occurs five times counts five times. Overlapping occurrences cannot all be merged, so
#    they are counted from the left without overlap: `b"a", b"a", b"a"` holds the pair of `b"a"` and `b"a"`
#    once, four in a row hold it twice.
# 2. Take the most frequent pair. Among equally frequent ones take the smallest in Python's order of tuples of
#    bytes.
# 3. Append it to the list of merges, and in every word replace it by one symbol, from the left: three `b"a"`
#    in a row become `b"aa", b"a"`.
#
# If no word has two symbols left, stop early. (Programs differ in how they count overlaps and settle ties,
# and so learn different merges from the same text. These are the rules of this exercise.)
#
# Write `bpe_train(words, n_merges)`, which returns the list of pairs in the order they were merged. Do not
# use `course.tokenizers`.
#
# **Example.** `words = ["ab", "ab", "abc", "bc"]`. The pair `(b"a", b"b")` occurs 3 times, `(b"b", b"c")`
# twice: merge the first. Now the words are `ab`, `ab`, `ab c`, `b c`, and both `(b"ab", b"c")` and
# `(b"b", b"c")` occur once: merge the smaller, `(b"ab", b"c")`. So `bpe_train(words, 2)` is
# `[(b"a", b"b"), (b"ab", b"c")]`, and with `n_merges=3` the third pair is `(b"b", b"c")`. After that nothing
# is left to merge.
#
# <details><summary>Hint 1</summary>
#
# Three small functions make it readable: split a word into symbols, count the pairs of one row of symbols,
# replace a pair in one row of symbols.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# `min(counts, key=...)` can settle "most frequent, then smallest" if the key is a tuple. How do you make a
# larger count come first in a `min`?
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# Two occurrences of a pair overlap only if they start at neighbouring places. So remember for each pair where
# you last counted it.
#
# </details>


# %% solution="bpe_train"
def bpe_train(words: list[str], n_merges: int) -> list[tuple[bytes, bytes]]:
    """The pairs that byte-pair encoding merges, in order: ["ab", "ab", "bc"], 1 → [(b"a", b"b")]."""
    ### BEGIN SOLUTION
    rows = [[bytes([byte]) for byte in word.encode()] for word in words]
    merges = []
    for _ in range(n_merges):
        counts = sum((count_pairs(row) for row in rows), Counter())
        if not counts:
            break
        merges.append(min(counts, key=lambda pair: (-counts[pair], pair)))
        rows = [replace_pair(row, merges[-1]) for row in rows]
    return merges


def count_pairs(row: list[bytes]) -> Counter:
    """How often each pair of neighbours can be merged in a row of symbols: a a a → {(a, a): 1}."""
    from itertools import pairwise

    counts, counted_at = Counter(), {}
    for place, pair in enumerate(pairwise(row)):
        if counted_at.get(pair) != place - 1:  # else it overlaps the one just counted
            counts[pair] += 1
            counted_at[pair] = place
    return counts


def replace_pair(row: list[bytes], pair: tuple[bytes, bytes]) -> list[bytes]:
    """The row with every occurrence of the pair, from the left, made one symbol."""
    replaced = []
    for symbol in row:
        if replaced and (replaced[-1], symbol) == pair:
            replaced[-1] += symbol
        else:
            replaced.append(symbol)
    return replaced
    ### END SOLUTION


# %% check="the_example_merges_come_in_order" points=1
def the_example_merges_come_in_order(bpe_train):
    """The example has the three merges of the statement."""
    words = ["ab", "ab", "abc", "bc"]
    assert_equal(bpe_train(words, 3), [(b"a", b"b"), (b"ab", b"c"), (b"b", b"c")])
    assert_equal(bpe_train(words, 2), [(b"a", b"b"), (b"ab", b"c")])


# %% check="a_frequent_word_counts_as_often_as_it_occurs" points=1
def a_frequent_word_counts_as_often_as_it_occurs(bpe_train):
    """A pair in one word that occurs six times goes before a pair in three words that occur once."""
    assert_equal(bpe_train(["cd", "cde", "cdf", *["ab"] * 6], 1), [(b"a", b"b")])


# %% check="no_pair_crosses_the_border_of_a_word" points=1
def no_pair_crosses_the_border_of_a_word(bpe_train):
    """The end of one word and the beginning of the next are no pair."""
    words = ["ca", "bd"] * 4 + ["bd", "pq", "pq"]
    assert_equal(bpe_train(words, 3), [(b"b", b"d"), (b"c", b"a"), (b"p", b"q")])


# %% check="a_run_of_one_letter_is_counted_without_overlap" points=1
def a_run_of_one_letter_is_counted_without_overlap(bpe_train):
    """The pair of two `a` is twice in `aaaaa` and three times in `aaaaaaa`; `aab` holds that of `a` and `b` too."""
    assert_equal(bpe_train(["aaaaa", "bc", "bcd", "bce"], 1), [(b"b", b"c")])
    assert_equal(bpe_train(["aaaaaaa", "BC", "BCD"], 1), [(b"a", b"a")])
    assert_equal(bpe_train(["aab", "aab", "ab"], 1), [(b"a", b"b")])


# %% check="a_run_of_one_letter_is_merged_from_the_left" points=1
def a_run_of_one_letter_is_merged_from_the_left(bpe_train):
    """After the first merge `aaa` is `aa a`, not `a aa`."""
    assert_equal(bpe_train(["aaa", "aaa"], 2), [(b"a", b"a"), (b"aa", b"a")])


# %% check="among_equally_frequent_pairs_the_smallest_goes_first" points=1
def among_equally_frequent_pairs_the_smallest_goes_first(bpe_train):
    """`my`, `zx` and `ab`, once each, are merged in alphabetical order, and `a`, `z` goes before `ab`, `c`."""
    assert_equal(bpe_train(["my", "zx", "ab"], 3), [(b"a", b"b"), (b"m", b"y"), (b"z", b"x")])
    assert_equal(bpe_train(["ab", "ab", "abc", "az"], 3), [(b"a", b"b"), (b"a", b"z"), (b"ab", b"c")])


# %% check="pairs_are_counted_again_after_every_merge" points=1
def pairs_are_counted_again_after_every_merge(bpe_train):
    """Once `ab` is a symbol, `abc` holds the pair of `ab` and `c`, and no longer that of `b` and `c`."""
    merges = bpe_train(["abc"] * 4 + ["ab"] + ["bd"] * 3, 3)
    assert_equal(merges, [(b"a", b"b"), (b"ab", b"c"), (b"b", b"d")])


# %% check="training_stops_when_nothing_is_left_to_merge" points=1
def training_stops_when_nothing_is_left_to_merge(bpe_train):
    """Words of one byte have no pair, and `xy` has one."""
    assert_equal(bpe_train(["x", "y"], 3), [])
    assert_equal(bpe_train(["xy", "x"], 3), [(b"x", b"y")])


# %% check="a_merge_leaves_longer_symbols_alone" points=1
def a_merge_leaves_longer_symbols_alone(bpe_train):
    """Merging `ab` and `w` leaves `xab` before a `w` or a `z` as it is, and `abab` is two `ab`."""
    counts = {"xa": 10, "xab": 2, "ab": 7, "abq": 3, "xabz": 2, "abw": 1}
    words = [word for word, count in counts.items() for _ in range(count)]
    merges = [(b"a", b"b"), (b"x", b"a"), (b"x", b"ab"), (b"ab", b"q"), (b"xab", b"z"), (b"ab", b"w")]
    assert_equal(bpe_train(words, 6), merges)
    merges = [(b"a", b"b"), (b"c", b"d"), (b"ab", b"ab")]
    assert_equal(bpe_train(["abab"] * 3 + ["cd"] * 4, 3), merges)


# %% check="a_letter_beyond_ascii_is_several_bytes" points=1
def a_letter_beyond_ascii_is_several_bytes(bpe_train):
    """`é` begins as two bytes, which are merged like any others."""
    assert_equal(bpe_train(["é", "é", "né"], 1), [(b"\xc3", b"\xa9")])


# %% check="other_texts_have_their_merges" points=2 hidden
def other_texts_have_their_merges(bpe_train, draw):
    """Other texts have the merges that the three steps lead to."""

    def replaced(row, pair):
        merged = list(row)
        for place in range(len(row)):
            if tuple(merged[place : place + 2]) == pair:
                merged[place : place + 2] = [pair[0] + pair[1]]
        return merged

    def merges_of(words, n_merges):
        rows, merges = [[bytes([byte]) for byte in word.encode()] for word in words], []
        while len(merges) < n_merges and any(len(row) > 1 for row in rows):
            pairs = sorted({(row[i], row[i + 1]) for row in rows for i in range(len(row) - 1)})
            shrinks = [sum(len(row) - len(replaced(row, pair)) for row in rows) for pair in pairs]
            merges.append(pairs[shrinks.index(max(shrinks))])
            rows = [replaced(row, merges[-1]) for row in rows]
        return merges

    a, b, c, d, e = (chr(ord("a") + place) for place in sorted(draw.permutation(26)[:5]))
    more = draw.integers(3, 6)
    texts = (
        [a + b] * (more + 4) + [c + d, c + d + e, c + d + a],  # a frequent word
        [c + a, b + d] * more,  # pairs across borders
        [a * 3] * more + [b + c] * (more + 1),  # runs
        [a * 2 + b] * more + [a + b],
        [a * 7] * more + [b + c] * 2 * more,
        [b + e, d + c, a + e],  # ties
        [a + b + c] * (more + 2) + [b + d] * more,  # counts that change
        ["é" + a, "é", "ü"] * more,
        ["".join(draw.sentence([a, b, "ß"], length)) for length in (2, 5, 3, 7, 4, 6)],
    )
    for words in texts:
        assert_equal(bpe_train(words, 6), merges_of(words, 6))


# %% [markdown] exercise="bpe_encode" difficulty=2 minutes=20 forbids="course.tokenizers,course.tokenizers.bpe.encode_word"
# ### 15. Byte-pair encoding: a new word
#
# A word that is to be encoded goes through the same merges, in the order in which they were learned. The
# place of a pair in `merges` is its **rank**. Start from single bytes and repeat: among the pairs of
# neighbouring symbols that are in `merges`, take the one of lowest rank and replace all its occurrences, from
# the left, by one symbol. Stop when no pair of neighbours is in `merges`.
#
# Write `bpe_encode(word, merges)`, which returns the list of symbols. `word` is a string, `merges` a list of
# pairs of `bytes`. Do not use `course.tokenizers`.
#
# **Example.** `merges = [(b"n", b"a"), (b"a", b"n"), (b"an", b"an"), (b"an", b"a")]` and the word `"banana"`.
# The lowest rank among its pairs is that of `(b"n", b"a")`; after replacing both occurrences the symbols are
# `[b"b", b"a", b"na", b"na"]`. None of the pairs left is in `merges`, so this is the answer, although longer
# symbols would fit.
#
# <details><summary>Hint 1</summary>
#
# Make a dict from pair to rank first. Then `min` over the neighbouring pairs finds the one to merge.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# A merge creates new neighbours, which may be in `merges` themselves. When can you be sure that you are done?
#
# </details>


# %% solution="bpe_encode"
def bpe_encode(word: str, merges: list[tuple[bytes, bytes]]) -> list[bytes]:
    """The symbols of a word after all merges that apply, lowest rank first."""
    ### BEGIN SOLUTION
    from itertools import pairwise

    rank = {pair: place for place, pair in enumerate(merges)}
    symbols = [bytes([byte]) for byte in word.encode()]
    while known := [pair for pair in pairwise(symbols) if pair in rank]:
        left, right = min(known, key=rank.get)
        merged = []
        for symbol in symbols:
            if symbol == right and merged and merged[-1] == left:
                merged[-1] = left + right
            else:
                merged.append(symbol)
        symbols = merged
    return symbols
    ### END SOLUTION


# %% check="banana_is_b_a_na_na" points=1
def banana_is_b_a_na_na(bpe_encode):
    """In the example, `banana` becomes `b`, `a`, `na`, `na`."""
    merges = [(b"n", b"a"), (b"a", b"n"), (b"an", b"an"), (b"an", b"a")]
    assert_equal(bpe_encode("banana", merges), [b"b", b"a", b"na", b"na"])
    merges = [(b"a", b"n"), (b"n", b"a"), (b"an", b"an"), (b"an", b"a")]
    assert_equal(bpe_encode("banana", merges), [b"b", b"anan", b"a"], what="with the first two exchanged")


# %% check="the_symbols_spell_the_word" points=1
def the_symbols_spell_the_word(bpe_encode):
    """Joined together, the symbols are the bytes of the word."""
    for word in ("lowerlow", "x", "Zoë naïve"):
        symbols = bpe_encode(word, [(b"l", b"o"), (b"lo", b"w"), (b"e", b"r")])
        assert_equal(b"".join(symbols), word.encode(), what=f"the symbols of {word} joined")


# %% check="the_lowest_rank_is_merged_first" points=1
def the_lowest_rank_is_merged_first(bpe_encode):
    """The pair learned first goes before the pair farther left and before the longer symbol."""
    merges = [(b"b", b"c"), (b"a", b"b"), (b"ab", b"c"), (b"c", b"d")]
    assert_equal(bpe_encode("abcd", merges), [b"a", b"bc", b"d"])


# %% check="merged_symbols_are_merged_again" points=1
def merged_symbols_are_merged_again(bpe_encode):
    """Merges apply to the symbols that merges made: `abab` becomes one symbol."""
    assert_equal(bpe_encode("ababx", [(b"a", b"b"), (b"ab", b"ab")]), [b"abab", b"x"])


# %% check="every_occurrence_is_merged" points=1
def every_occurrence_is_merged(bpe_encode):
    """A pair that occurs three times is replaced three times, in a run from the left, before any later pair."""
    assert_equal(bpe_encode("xyzxyxy", [(b"x", b"y")]), [b"xy", b"z", b"xy", b"xy"])
    assert_equal(bpe_encode("aaa", [(b"a", b"a")]), [b"aa", b"a"])
    assert_equal(bpe_encode("cabab", [(b"a", b"b"), (b"c", b"a")]), [b"c", b"ab", b"ab"])


# %% check="words_beyond_ascii_are_encoded_byte_by_byte" points=1
def words_beyond_ascii_are_encoded_byte_by_byte(bpe_encode):
    """`né` has three bytes, of which the last two merge; `ö` stays two bytes if no merge joins them."""
    merges = [(b"\xc3", b"\xa9")]
    assert_equal(bpe_encode("né", merges), [b"n", b"\xc3\xa9"])
    assert_equal(bpe_encode("ö", merges), [b"\xc3", b"\xb6"])


# %% check="other_words_are_encoded_by_rank" points=2 hidden
def other_words_are_encoded_by_rank(bpe_encode, draw):
    """Other words, with other merges, are encoded lowest rank first."""
    a, b, c, d, e = (chr(ord("a") + place).encode() for place in draw.permutation(26)[:5])
    merges = [(a, b), (e, a + b), (c, d), (a + b, c), (e, a + b + c), (b"\xc3", b"\xb8")]
    word, symbols = (a + b + c + d + e + a + b + c).decode(), [a + b, c + d, e + a + b, c]
    assert_equal(bpe_encode(word, merges), symbols)
    assert_equal(bpe_encode(word * 3, merges), symbols * 3)
    assert_equal(bpe_encode("øæ", merges), [b"\xc3\xb8", b"\xc3", b"\xa6"])
    assert_equal(bpe_encode((a * 5).decode(), [(a, a), (a + a, a)]), [a + a, a + a + a])
    assert_equal(bpe_encode((a + b + c + d).decode(), [(b, c), (c, d), (a, b)]), [a, b + c, d])


# %% [markdown] exercise="bpe_decode" difficulty=1 minutes=5
# ### 16. Back to text
#
# A symbol need not be valid UTF-8: `"é"` may be spread over two symbols, and a model may emit any symbols in
# any order. Write `bpe_decode(symbols)`, which returns the text of a list of `bytes`. Where the bytes of the
# whole text are no valid UTF-8, put the replacement character `"\ufffd"` (`errors="replace"` in
# `bytes.decode`).
#
# **Example.** `bpe_decode([b"n", b"\xc3", b"\xa9", b"e"])` is `"née"`. `bpe_decode([b"n", b"\xc3", b"e"])` is
# `"n\ufffde"`, as `b"\xc3"` alone is half a letter.
#
# <details><summary>Hint 1</summary>
#
# Where does the `"é"` of the example exist as a whole: in one symbol, or only in the row of all bytes?
#
# </details>


# %% solution="bpe_decode"
def bpe_decode(symbols: list[bytes]) -> str:
    """The text of a row of symbols: [b"caf", b"\xc3", b"\xa9"] → "café"."""
    ### BEGIN SOLUTION
    return b"".join(symbols).decode("utf-8", errors="replace")
    ### END SOLUTION


# %% check="plain_symbols_become_their_text" points=1
def plain_symbols_become_their_text(bpe_decode):
    """Symbols that are text by themselves are put together without anything between them."""
    assert_equal(bpe_decode([b"low", b"er", b" ", b"down"]), "lower down")
    assert_equal(bpe_decode([b" caf\xc3\xa9", b"s "]), " cafés ")


# %% check="a_letter_may_be_spread_over_symbols" points=1
def a_letter_may_be_spread_over_symbols(bpe_decode):
    """The two bytes of `é` may come in two symbols, the three of `€` in two or three."""
    assert_equal(bpe_decode([b"n", b"\xc3", b"\xa9", b"e"]), "née")
    assert_equal(bpe_decode([b"5 \xe2", b"\x82\xac", b"\xe2", b"\x82", b"\xac"]), "5 €€")


# %% check="bytes_that_are_no_text_are_shown_as_such" points=1
def bytes_that_are_no_text_are_shown_as_such(bpe_decode):
    """Half a letter becomes the replacement character, and the rest is still there, spread letters too."""
    assert_equal(bpe_decode([b"n", b"\xc3", b"e"]), "n\ufffde")
    assert_equal(bpe_decode([b"n", b"\xc3", b"\xa9", b"e", b"\xc3"]), "née\ufffd")


# %% check="other_texts_come_back_from_their_bytes" points=1 hidden
def other_texts_come_back_from_their_bytes(bpe_decode, draw):
    """Any text, cut into symbols anywhere, comes back."""
    text = " " + "".join(draw.sentence(["a", " ", "ß", "日", "𝛑"], 20)) + "日𝛑"
    row = text.encode()
    cuts = [0, *sorted(draw.permutation(len(row))[:9]), len(row) - 1, len(row)]
    assert_equal(bpe_decode([row[cuts[i] : cuts[i + 1]] for i in range(len(cuts) - 1)]), text)
    assert_equal(bpe_decode([*(row[i : i + 1] for i in range(len(row))), b"\xff"]), text + "\ufffd")


# %% [markdown] exercise="split_special" difficulty=2 minutes=10 forbids="course.tokenizers,course.tokenizers.bpe.split_special"
# ### 17. Special tokens stay whole
#
# Some tokens are no text but marks, such as `<|end|>` between two documents. BPE must never see them: before
# encoding, the text is cut so that each mark is a piece of its own.
#
# Write `split_special(text, special_tokens)`, which returns the list of pieces in order. Joined together the
# pieces are `text` again; every special token that occurs is a piece of its own; no piece is empty; and what
# lies between two special tokens is one piece. Where special tokens overlap, the one that begins first counts,
# and of those that begin at the same place the longest. `special_tokens` is a list of strings in any order and
# may be empty; an empty text has no pieces. Do not use `course.tokenizers`.
#
# **Example.** `split_special("one<|end|>two<|end|><|end|>", ["<|end|>"])` is
# `["one", "<|end|>", "two", "<|end|>", "<|end|>"]`.
#
# <details><summary>Hint 1</summary>
#
# `re.split` keeps what it cuts at if the pattern is in parentheses. Which characters of `<|end|>` mean
# something else in a pattern, and what does `re.escape` do?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# In a pattern `a|ab`, the first alternative that fits is taken. In which order should the special tokens
# stand?
#
# </details>


# %% solution="split_special"
def split_special(text: str, special_tokens: list[str]) -> list[str]:
    """The text cut so that each special token is a piece of its own: "a<|end|>" → ["a", "<|end|>"]."""
    ### BEGIN SOLUTION
    import re

    longest_first = sorted(special_tokens, key=len, reverse=True)
    if not longest_first:
        return [text] if text else []
    pattern = "|".join(re.escape(token) for token in longest_first)
    return [piece for piece in re.split(f"({pattern})", text) if piece]
    ### END SOLUTION


# %% check="the_example_text_has_five_pieces" points=1
def the_example_text_has_five_pieces(split_special):
    """The text of the example is cut into five pieces."""
    pieces = ["one", "<|end|>", "two", "<|end|>", "<|end|>"]
    assert_equal(split_special("one<|end|>two<|end|><|end|>", ["<|end|>"]), pieces)
    pieces = ["one<|end|>", "two", "<|end|><|end|>"]
    assert_equal(split_special("one<|end|>two<|end|><|end|>", ["two"]), pieces, what="cut at `two`")


# %% check="the_pieces_spell_the_text" points=1
def the_pieces_spell_the_text(split_special):
    """Joined together, the pieces are the text, and none of them is empty."""
    text = "<pad>a b<eos> c<pad><pad>"
    pieces = split_special(text, ["<eos>", "<pad>"])
    assert_equal("".join(pieces), text, what="the pieces joined")
    assert_true("" not in pieces, f"There is an empty piece in {pieces}.")


# %% check="every_special_token_is_cut_out" points=1
def every_special_token_is_cut_out(split_special):
    """With two special tokens, each occurrence of either is a piece."""
    assert_equal(split_special("a<x>b<y>c<x>", ["<y>", "<x>"]), ["a", "<x>", "b", "<y>", "c", "<x>"])


# %% check="the_longer_special_token_counts" points=1
def the_longer_special_token_counts(split_special):
    """Of `<s>` and `<s><s>`, however listed, the longer is cut out where both fit; of overlapping ones, the first."""
    expected = ["<s><s>", "a", "<s>", "b"]
    for tokens in (["<s><s>", "<s>"], ["<s>", "<s><s>"]):
        assert_equal(split_special("x<s><s>a<s>b", tokens), ["x", *expected])
        assert_equal(split_special("<s><s>a<s>b", tokens), expected)
    assert_equal(split_special("x[a]bc]", ["[a]", "]bc]"]), ["x", "[a]", "bc]"])


# %% check="without_special_tokens_the_text_is_one_piece" points=1
def without_special_tokens_the_text_is_one_piece(split_special):
    """A text without special tokens is one piece, and an empty text none."""
    assert_equal(split_special("a.b|c", ["<|end|>"]), ["a.b|c"])
    assert_equal(split_special("abc", []), ["abc"])
    assert_equal(split_special("", []), [])


# %% check="other_texts_are_cut_at_their_special_tokens" points=1 hidden
def other_texts_are_cut_at_their_special_tokens(split_special, draw):
    """Other texts are cut at special tokens made of any characters."""
    for mark in ("[{}]", "<|{}|>", "({})*", "$${}.^"):
        name = "".join(draw.sentence(list("abcde"), 4))
        short, long = mark.format(name), mark.format(name) * 2
        pieces = ["x y", long, "z|", short, "abc", short]
        assert_equal(split_special("".join(pieces), [short, long]), pieces)
        assert_equal(split_special(long + long + "w", [short, "never", long]), [long, long, "w"])
    assert_equal(split_special("no mark", []), ["no mark"])


# %% [markdown] exercise="bits_per_byte" difficulty=1 minutes=10
# ### 18. One unit for all tokenizers
#
# Perplexity is a cost per token, and what a token is depends on the tokenizer. The bytes of a text do not. So
# models with different tokenizers are compared in **bits per byte**: everything the model pays for a text, in
# bits, divided by the number of bytes of the text in UTF-8.
#
# Write `bits_per_byte(token_log_probs, text)`, which returns this as one number. `token_log_probs` is a list
# with $\ln P$ of each of the text's tokens, in nats.
#
# **Example.** The text `"née"` has four bytes. A model has two tokens for it and gives each the probability
# 1/8: it pays 3 + 3 = 6 bits, which is 1.5 bits per byte.
#
# <details><summary>Hint 1</summary>
#
# Do it in two steps: the total in bits, then the number of bytes. What is one nat in bits?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# `len("née")` is 3, because a string consists of characters.
#
# </details>


# %% solution="bits_per_byte"
def bits_per_byte(token_log_probs: list[float], text: str) -> float:
    """What a model pays for a text, in bits, per byte of the text in UTF-8."""
    ### BEGIN SOLUTION
    bits = -sum(token_log_probs) / math.log(2)
    return bits / len(text.encode())
    ### END SOLUTION


# %% check="the_example_costs_one_and_a_half_bits_per_byte" points=1
def the_example_costs_one_and_a_half_bits_per_byte(bits_per_byte):
    """`née` in two tokens of probability 1/8 costs 1.5 bits per byte."""
    assert_close(bits_per_byte([math.log(1 / 8)] * 2, "née"), 1.5)


# %% check="the_same_price_in_more_tokens_is_the_same" points=1
def the_same_price_in_more_tokens_is_the_same(bits_per_byte, draw):
    """A text that costs as much in two tokens as in five has the same bits per byte."""
    price, text = draw.number(-9, -7), "over there"
    answer = bits_per_byte([price / 4, 3 * price / 4], text)
    assert_close(bits_per_byte([price / 5] * 5, text), answer)
    assert_depends(answer, bits_per_byte([price, price], text))


# %% check="a_letter_beyond_ascii_weighs_as_much_as_its_bytes" points=1
def a_letter_beyond_ascii_weighs_as_much_as_its_bytes(bits_per_byte, draw):
    """For the same price, four letters of two bytes cost as much as eight of one, or five and three spaces."""
    log_probs = draw.uniform(3, low=-5, high=-1).tolist()
    answer = bits_per_byte(log_probs, "eaosEAOS")
    assert_close(bits_per_byte(log_probs, "éàöß"), answer)
    assert_close(bits_per_byte(log_probs, " to see "), answer, what="with spaces")
    assert_depends(answer, bits_per_byte([2 * log_prob for log_prob in log_probs], "eaosEAOS"))


# %% check="guessing_bytes_blindly_costs_eight_bits" points=1
def guessing_bytes_blindly_costs_eight_bits(bits_per_byte):
    """A model whose tokens are bytes, each of probability 1/256, pays 8 bits per byte."""
    assert_close(bits_per_byte([math.log(1 / 256)] * 400, "bytes" * 80), 8.0)


# %% check="other_texts_have_their_bits_per_byte" points=1 hidden
def other_texts_have_their_bits_per_byte(bits_per_byte, draw):
    """Other texts cost their tokens' bits, shared among their bytes."""
    for text, n_bytes, n_tokens in (("日本語", 9, 4), ("a", 1, 1), ("naïve Zoë " * 5, 60, 31)):
        log_probs = draw.uniform(n_tokens, low=-8, high=-0.5)
        expected = -log_probs.sum().item() * math.log2(math.e) / n_bytes
        assert_close(bits_per_byte(log_probs.tolist(), text), expected)


# %% [markdown] exercise="cheapest_model" difficulty=2 minutes=10
# ### 19. Which model is best?
#
# Several models were run on the same held-out text, each with its own tokenizer. A report says
#
# | key | meaning |
# |---|---|
# | `"perplexity"` | perplexity per token, with the model's own tokens |
# | `"n_tokens"` | how many tokens its tokenizer made of the text |
# | `"n_unknown"` | how many of these were `<unk>`, which stands for whatever the vocabulary lacks |
#
# A model with an `<unk>` among its tokens has not predicted this text: it was never charged for saying what
# stood there. Leave it out of the comparison. The best of the others is the one to which the **whole text**
# costs the fewest bits.
#
# Write `cheapest_model(reports)`, which returns the name of the best model. `reports` is a dict from name to
# report, and at least one model has no `<unk>`.
#
# **Example.** Four reports:
#
# | name | `"perplexity"` | `"n_tokens"` | `"n_unknown"` |
# |---|---|---|---|
# | `"words"` | 64.0 | 100 | 0 |
# | `"pieces"` | 8.0 | 240 | 0 |
# | `"letters"` | 4.0 | 500 | 0 |
# | `"short"` | 2.0 | 700 | 30 |
#
# The text costs `words` $100 \cdot \log_2 64 = 600$ bits, `pieces` $240 \cdot \log_2 8 = 720$ bits, `letters`
# $500 \cdot \log_2 4 = 1000$ bits; `short` is left out. The answer is `"words"`, although its perplexity is
# the highest.
#
# <details><summary>Hint 1</summary>
#
# A perplexity of $2^b$ means $b$ bits per token. What does the whole text cost, then?
#
# </details>


# %% solution="cheapest_model"
def cheapest_model(reports: dict[str, dict[str, float]]) -> str:
    """The name of the model that pays the fewest bits for the text, among those that predicted all of it."""
    ### BEGIN SOLUTION
    bits = {
        name: report["n_tokens"] * math.log2(report["perplexity"])
        for name, report in reports.items()
        if report["n_unknown"] == 0
    }
    return min(bits, key=bits.get)
    ### END SOLUTION


# %% provided="reports" helper
def reports_of(*rows):
    """Reports from rows of name, bits per token, number of tokens, number of unknown ones."""
    return {
        name: {"perplexity": 2**bits, "n_tokens": n_tokens, "n_unknown": n_unknown}
        for name, bits, n_tokens, n_unknown in rows
    }


# %% check="the_words_are_cheapest_in_the_example" points=1
def the_words_are_cheapest_in_the_example(cheapest_model):
    """In the example the model over words is the best, and also where it pays less for each of fewer tokens."""
    spellers = [("words", 6, 100, 0), ("pieces", 3, 240, 0), ("letters", 2, 500, 0)]
    reports = reports_of(*spellers, ("short", 1, 700, 30))
    assert_equal(cheapest_model(reports), "words")
    assert_equal(cheapest_model(reports_of(("words", 2, 100, 0), ("pieces", 8, 120, 0))), "words")
    assert_equal(cheapest_model(reports_of(("words", 8, 100, 0), ("pieces", 2, 120, 0))), "pieces")


# %% check="the_lowest_perplexity_need_not_win" points=1
def the_lowest_perplexity_need_not_win(cheapest_model, draw):
    """A low perplexity over many tokens may cost more than a high one over few."""
    n = draw.integers(100, 200)
    reports = reports_of(("lines", 70.0, n // 2, 0), ("pieces", 5.0, 2 * n, 0), ("letters", 1.8, 6 * n, 0))
    reports |= reports_of(("words", 11.5, n, 0), ("bytes", 1.9, 9 * n, 0), ("dots", 3.0, 10 * n, 0))
    reports |= reports_of(("strokes", 1.75, 7 * n, 0))
    assert_equal(cheapest_model(reports), "pieces")


# %% check="a_model_that_skipped_words_is_left_out" points=1
def a_model_that_skipped_words_is_left_out(cheapest_model, draw):
    """A model with unknown tokens does not win, however little it pays."""
    n = draw.integers(100, 200)
    reports = reports_of(("words", 5.0, n, 3), ("pieces", 4.0, 2 * n, 0), ("letters", 3.0, 6 * n, 0))
    assert_equal(cheapest_model(reports), "pieces")
    reports |= reports_of(("stems", 5.5, n, 1))
    assert_equal(cheapest_model(reports), "pieces", what="with a second model that skipped words")


# %% check="other_models_are_compared_by_their_whole_price" points=1 hidden
def other_models_are_compared_by_their_whole_price(cheapest_model, draw):
    """Of other models, the one that pays least for the whole text wins."""
    n = draw.integers(500, 900)
    rows = [
        ("a", 11.0, n, 0), ("b", 6.4, int(1.5 * n), 0), ("c", 4.0, 3 * n, 0),
        ("d", 1.5, 7 * n, 0), ("e", 6.0, n, 1), ("f", 9.5, int(1.2 * n), 0),
    ]  # fmt: skip
    shuffled = [rows[place] for place in draw.permutation(len(rows))]
    assert_equal(cheapest_model(reports_of(*shuffled)), "b")


# %% [markdown]
# ## It writes
#
# Your n-gram model reads 20,000 stories of the course, and takes its place among the course's own models. It is made
# of your `ngram_counts` (exercise 7) and your `interpolated_prob` (exercise 11), with contexts of up to two words.
# Nothing here is graded: change it as you like.
#
# *What to see:* two words of context explain most of what can be known; how near your model comes to the course's
# trigram, which is smoothed by Kneser and Ney's method; and two stories that are right from word to word, and forget
# at once who had what. The column *known* says how much of the way from the uniform model down to the floor a model
# has gone. A part whose checks do not hold yet is replaced by a ready-made one, and the first line says which.

# %% alive="your_n_grams_write"
import time

from course.ladder import SCALES, Corpus, on_the_ladder
from course.mine import parts

mine = parts(check, ngram_counts=ngram_counts, interpolated_prob=interpolated_prob)
WEIGHTS = [0.99, 0.99, 0.97]  # of contexts of no word, of one and of two


class StoryNGrams:
    """Your estimate as a language model: log-probabilities (B, T, V) of the next word for tokens (B, T)."""

    context_length = None

    def __init__(self, sentences, vocabulary):
        self.vocabulary, self.vocab_size, self.rows = vocabulary, len(vocabulary), {}
        self.counts = [mine.ngram_counts(sentences, n) for n in range(1, len(WEIGHTS) + 1)]
        self.n_parameters = sum(len(followers) for counts in self.counts for followers in counts.values())
        self.words = sorted({word for sentence in sentences for word in sentence})
        self.places = vocabulary.encode([*self.words, EOS])

    def row(self, context):
        """The log-probabilities (V,) after a context of two words."""
        if context not in self.rows:
            probs = torch.zeros(self.vocab_size)
            estimates = [mine.interpolated_prob(self.counts, WEIGHTS, context, w, self.words)
                         for w in (*self.words, EOS)]  # fmt: skip
            probs[self.places] = torch.tensor(estimates)
            self.rows[context] = probs.log()
        return self.rows[context]

    def __call__(self, tokens):
        stories = [[BOS, *map(self.vocabulary.word, story)] for story in tokens.tolist()]
        return torch.stack(
            [
                torch.stack([self.row(tuple(story[t : t + 2])) for t in range(len(story) - 1)])
                for story in stories
            ]
        )


corpus = Corpus(SCALES["default"], seed=0)
vocabulary = corpus.language.vocabulary
began = time.perf_counter()
n_grams = StoryNGrams([vocabulary.decode(story.tolist()) for story in corpus.sequences], vocabulary)
standing = on_the_ladder("my trigram", n_grams, corpus, seconds=time.perf_counter() - began)
print(standing)

generator = torch.Generator().manual_seed(3)
for _ in range(2):
    story = [BOS, BOS]
    while story[-1] != EOS and len(story) < 80:
        story.append(
            vocabulary.word(torch.multinomial(n_grams.row(tuple(story[-2:])).exp(), 1, generator=generator))
        )
    print("\n" + " ".join(story[2:]))
standing.picture()
