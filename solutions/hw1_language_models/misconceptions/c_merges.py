"""What goes wrong when byte-pair encoding learns its merges."""

from collections import Counter
from itertools import pairwise

from autograder.catalogue import misconception, not_code

# 14. bpe_train


def _symbols(word):
    return [bytes([byte]) for byte in word.encode()]


def _replaced(row, pair):
    merged = []
    for symbol in row:
        if merged and (merged[-1], symbol) == pair:
            merged[-1] += symbol
        else:
            merged.append(symbol)
    return merged


def _pair_counts(rows):
    """How often each pair can be merged, without overlap."""
    counts = Counter()
    for row in rows:
        counted_at = {}
        for place, pair in enumerate(pairwise(row)):
            if counted_at.get(pair) != place - 1:
                counts[pair] += 1
                counted_at[pair] = place
    return counts


def _most_frequent(counts):
    return min(counts, key=lambda pair: (-counts[pair], pair))


def _trained(rows, n_merges, count=_pair_counts, choose=_most_frequent, replace=_replaced):
    merges = []
    while len(merges) < n_merges and (counts := count(rows)):
        merges.append(choose(counts))
        rows = [replace(row, merges[-1]) for row in rows]
    return merges


@misconception(of="bpe_train", seen="https://github.com/karpathy/minbpe/pull/72")
def overlapping_pairs_counted(words, n_merges):
    """Overlapping occurrences of a pair are all counted, so `aaa` counts the pair of two `a` twice.

    After merging, how many symbols fewer does `aaa` have? How many occurrences can a merge use up at most?
    """
    return _trained(
        [_symbols(word) for word in words],
        n_merges,
        count=lambda rows: Counter(pair for row in rows for pair in pairwise(row)),
    )


@misconception(of="bpe_train", seen="https://github.com/karpathy/minbpe/pull/90")
def first_of_equals_merged(words, n_merges):
    """Among equally frequent pairs, the one that was met first in the text is merged.

    Give your function the same words in another order. Do the merges stay the same, and which rule would make
    them?
    """
    rows = [_symbols(word) for word in words]
    return _trained(rows, n_merges, choose=lambda counts: max(counts, key=counts.get))


@misconception(of="bpe_train", seen="https://github.com/huggingface/tokenizers/issues/1065")
def last_of_equals_merged(words, n_merges):
    """Among equally frequent pairs, the one that was met last in the text is merged.

    Give your function the same words in another order. Do the merges stay the same, and which rule would make
    them?
    """
    rows = [_symbols(word) for word in words]
    return _trained(rows, n_merges, choose=lambda counts: max(reversed(counts), key=counts.get))


@misconception(of="bpe_train", seen="https://github.com/huggingface/tokenizers/issues/1065")
def largest_of_equals_merged(words, n_merges):
    """Among equally frequent pairs, the largest is merged, not the smallest.

    Other programs use that rule, so both can be right, but not both for this statement. Which way does a
    `max` over (count, pair) settle a tie?
    """
    rows = [_symbols(word) for word in words]
    return _trained(rows, n_merges, choose=lambda counts: max(counts, key=lambda pair: (counts[pair], pair)))


@misconception(of="bpe_train")
def word_frequencies_ignored(words, n_merges):
    """Every different word counts once, however often it occurs in the text.

    In which step do repeated words get lost in your code? What should a word that makes up half of the text
    get in its vocabulary first?
    """
    return _trained([_symbols(word) for word in dict.fromkeys(words)], n_merges)


@misconception(of="bpe_train")
def words_joined(words, n_merges):
    """The words are joined into one row of bytes, so pairs are found across the borders of words.

    Which two bytes stand next to each other in your row where one word ends and the next begins? Would such a
    symbol ever occur inside a word?
    """
    return _trained([_symbols("".join(words))], n_merges)


@misconception(of="bpe_train")
def words_joined_with_spaces(words, n_merges):
    """The words are joined with spaces, and the spaces become part of pairs.

    Look for `b" "` in your merges. Does any of `words` contain a space?
    """
    return _trained([_symbols(" ".join(words))], n_merges)


@misconception(of="bpe_train", seen="https://github.com/karpathy/minbpe/issues/95")
def counted_only_once(words, n_merges):
    """The pairs are counted once at the start, and the most frequent of them are all merged.

    After the first merge of the example, how often does `(b"b", b"c")` still occur? And `(b"ab", b"c")`,
    which did not exist when you counted?
    """
    counts = _pair_counts([_symbols(word) for word in words])
    return sorted(counts, key=lambda pair: (-counts[pair], pair))[:n_merges]


@misconception(of="bpe_train")
def merged_from_the_right(words, n_merges):
    """A run of one letter is merged from the right: three `a` become `a aa`.

    Write down `aaa` before and after your first merge. At which end does your replacement begin?
    """

    def replaced(row, pair):
        mirrored = _replaced([symbol[::-1] for symbol in row[::-1]], (pair[1][::-1], pair[0][::-1]))
        return [symbol[::-1] for symbol in mirrored[::-1]]

    return _trained([_symbols(word) for word in words], n_merges, replace=replaced)


@misconception(of="bpe_train")
def letters_instead_of_bytes(words, n_merges):
    """The words are split into letters, so a letter beyond ASCII starts as one symbol of several bytes.

    How long is `"é"`, and how long is `"é".encode()`? What would a vocabulary of letters have to contain to
    spell every text there is?
    """
    return _trained([[letter.encode() for letter in word] for word in words], n_merges)


@misconception(of="bpe_train")
def no_end_of_training(words, n_merges):
    """When no pair is left, the most frequent of no pairs is asked for, and Python raises ValueError.

    Call your function with one word of two letters and five merges. What is there to merge the second time?
    """
    rows, merges = [_symbols(word) for word in words], []
    for _ in range(n_merges):
        merges.append(_most_frequent(_pair_counts(rows)))
        rows = [_replaced(row, merges[-1]) for row in rows]
    return merges


not_code(
    "9f",
    "the example worked by hand in the documentation is wrong",
    why="a mistake of whoever writes the exercise; here the worked example is itself a check",
)


@misconception(of="bpe_train")
def nothing_replaced_in_the_words(words, n_merges):
    """The pair is put on the list but never replaced in the words, so the same one wins every time.

    Print your words after the first merge. How many symbols has `ab`?
    """
    return _trained([_symbols(word) for word in words], n_merges, replace=lambda row, pair: row)


@misconception(of="bpe_train")
def single_occurrences_not_merged(words, n_merges):
    """Training stops when no pair occurs twice.

    When does the statement stop early? What is left to merge in a text of one word?
    """
    return _trained(
        [_symbols(word) for word in words],
        n_merges,
        count=lambda rows: {pair: n for pair, n in _pair_counts(rows).items() if n > 1},
    )


@misconception(of="bpe_train")
def new_symbols_listed(words, n_merges):
    """The list holds the symbols that the merges make, not the pairs that were merged.

    `b"abc"` may come of `b"a", b"bc"` or of `b"ab", b"c"`. Could somebody replay your list?
    """
    return [first + second for first, second in _trained([_symbols(word) for word in words], n_merges)]


@misconception(of="bpe_train")
def ties_settled_by_the_joined_symbol(words, n_merges):
    """Among equally frequent pairs, the one whose joined symbol is smallest is merged, not the smallest pair.

    `b"abc"` is smaller than `b"az"`. Which is smaller, `(b"ab", b"c")` or `(b"a", b"z")`?
    """
    return _trained(
        [_symbols(word) for word in words],
        n_merges,
        choose=lambda counts: min(counts, key=lambda pair: (-counts[pair], pair[0] + pair[1])),
    )


@misconception(of="bpe_train")
def place_skipped_after_two_equals(words, n_merges):
    """After two equal symbols the count moves on by two, and misses the pair that begins at the second.

    Which pairs does `aab` hold? Write down the places at which your loop stands.
    """

    def counted(rows):
        counts = Counter()
        for row in rows:
            place = 0
            while place < len(row) - 1:
                counts[row[place], row[place + 1]] += 1
                place += 2 if row[place] == row[place + 1] else 1
        return counts

    return _trained([_symbols(word) for word in words], n_merges, count=counted)


@misconception(of="bpe_train")
def run_counted_once(words, n_merges):
    """A pair is not counted if it is the same as the pair before it, so a whole run counts as one pair.

    How many times can the pair of two `a` be merged in `aaaaaaa`, and how many times do you count it?
    """

    def counted(rows):
        return Counter(
            pair for row in rows for before, pair in pairwise([None, *pairwise(row)]) if pair != before
        )

    return _trained([_symbols(word) for word in words], n_merges, count=counted)


@misconception(of="bpe_train")
def pairs_counted_once_a_word(words, n_merges):
    """A pair counts once for each word that contains it, however often it occurs there.

    How often does the pair of `a` and `b` occur in `abab`? What does a `set` of pairs forget?
    """
    return _trained(
        [_symbols(word) for word in words],
        n_merges,
        count=lambda rows: Counter(pair for row in rows for pair in set(pairwise(row))),
    )


@misconception(of="bpe_train")
def first_occurrence_replaced(words, n_merges):
    """In each word only the first occurrence of the pair is replaced.

    Print `abab` after the first merge. Is the pair gone?
    """

    def replaced(row, pair):
        place = next((i for i, found in enumerate(pairwise(row)) if found == pair), None)
        return row if place is None else [*row[:place], pair[0] + pair[1], *row[place + 2 :]]

    return _trained([_symbols(word) for word in words], n_merges, replace=replaced)
