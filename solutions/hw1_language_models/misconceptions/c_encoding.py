"""What goes wrong when words become symbols, and symbols text."""

from itertools import pairwise

from autograder.catalogue import misconception

# 15. bpe_encode


def _single_bytes(word):
    return [bytes([byte]) for byte in word.encode()]


def _joined_pairs(row, pair):
    joined = []
    for symbol in row:
        if joined and (joined[-1], symbol) == pair:
            joined[-1] += symbol
        else:
            joined.append(symbol)
    return joined


def _encoded(symbols, merges, key):
    """Merge the pair that comes first by key(rank), all its occurrences, until no pair is known."""
    rank = {pair: key(place) for place, pair in enumerate(merges)}
    while known := [pair for pair in pairwise(symbols) if pair in rank]:
        symbols = _joined_pairs(symbols, min(known, key=rank.get))
    return symbols


@misconception(of="bpe_encode", seen="https://github.com/huggingface/course/issues/608")
def leftmost_pair_first(word, merges):
    """The leftmost pair that is in `merges` is merged first, whatever its rank.

    Which pair of `abcd` did training merge first, given the merges of the check? Where does your loop find
    out about rank?
    """
    symbols = _single_bytes(word)
    while True:
        place = next((i for i, pair in enumerate(pairwise(symbols)) if pair in merges), None)
        if place is None:
            return symbols
        symbols[place : place + 2] = [symbols[place] + symbols[place + 1]]


@misconception(of="bpe_encode")
def longest_symbol_first(word, merges):
    """The word is cut from the left into the longest symbols that the vocabulary holds.

    That is how WordPiece encodes. For `banana` it finds a longer symbol than the statement does: would
    training, which merged in order of rank, ever have built it here?
    """
    data, symbols = word.encode(), []
    vocabulary = {left + right for left, right in merges}
    while data:
        length = next(n for n in range(len(data), 0, -1) if n == 1 or data[:n] in vocabulary)
        symbols.append(data[:length])
        data = data[length:]
    return symbols


@misconception(of="bpe_encode", seen="https://github.com/rasbt/LLMs-from-scratch/issues/558")
def passes_from_left_to_right(word, merges):
    """The word is read from left to right until nothing changes, and rank plays no role.

    In the first reading of `abcd`, which two pairs do you merge, and which of the four was learned first?
    What is left of that one?
    """
    symbols = _single_bytes(word)
    while True:
        merged, place = [], 0
        while place < len(symbols):
            width = 2 if tuple(symbols[place : place + 2]) in merges else 1
            merged.append(b"".join(symbols[place : place + width]))
            place += width
        if merged == symbols:
            return symbols
        symbols = merged


@misconception(of="bpe_encode")
def last_learned_first(word, merges):
    """The pair of highest rank, learned last, is merged first.

    The merges are replayed in the order in which they were learned. Which end of the list is that?
    """
    return _encoded(_single_bytes(word), merges, key=lambda place: -place)


@misconception(of="bpe_encode")
def one_pass_over_the_word(word, merges):
    """The word is read once, merging neighbours in twos; what was merged is not looked at again.

    After `abab` has become `ab ab`, is there a pair in `merges` among the new neighbours? How often may a
    loop have to look?
    """
    symbols, merged, place = _single_bytes(word), [], 0
    while place < len(symbols):
        width = 2 if tuple(symbols[place : place + 2]) in merges else 1
        merged.append(b"".join(symbols[place : place + width]))
        place += width
    return merged


@misconception(of="bpe_encode")
def symbol_grown_while_it_can(word, merges):
    """The word is read once, and a symbol takes in the next byte as long as their pair is in `merges`.

    Which rank does the pair have that you merge first in `abcd`? What could the second byte have been merged
    with instead?
    """
    merged = []
    for symbol in _single_bytes(word):
        if merged and (merged[-1], symbol) in merges:
            merged[-1] += symbol
        else:
            merged.append(symbol)
    return merged


@misconception(of="bpe_encode")
def each_merge_used_once(word, merges):
    """The merges are taken in order, but each replaces only the first occurrence of its pair.

    Encode `xyxyxy` by hand with the one merge `(b"x", b"y")`. What tells your loop that a merge is finished?
    """
    symbols = _single_bytes(word)
    for pair in merges:
        place = next((i for i, found in enumerate(pairwise(symbols)) if found == pair), None)
        if place is not None:
            symbols[place : place + 2] = [pair[0] + pair[1]]
    return symbols


@misconception(of="bpe_encode")
def word_split_into_letters(word, merges):
    """The word is split into letters before it is encoded, so `é` is one symbol from the start.

    The merges say how `b"\\xc3"` and `b"\\xa9"` become `é`. Do you ever have these two symbols side by side?
    """
    return _encoded([letter.encode() for letter in word], merges, key=lambda place: place)


@misconception(of="bpe_encode")
def letters_as_single_bytes(word, merges):
    """Every letter is turned into one byte (Latin-1), which is not UTF-8 and ends after 256 letters.

    Join your symbols for `né` and compare them with `"né".encode()`. How many bytes does UTF-8 take for `é`?
    """
    return _encoded([letter.encode("latin-1") for letter in word], merges, key=lambda place: place)


@misconception(of="bpe_encode")
def stopped_after_the_first_merge(word, merges):
    """One merge is made, and no second look is taken at what it left.

    After `ababx` has become `ab ab x`, is a pair of neighbours in `merges`? Where does your loop end?
    """
    symbols = _single_bytes(word)
    rank = {pair: place for place, pair in enumerate(merges)}
    known = [pair for pair in pairwise(symbols) if pair in rank]
    return _joined_pairs(symbols, min(known, key=rank.get)) if known else symbols


@misconception(of="bpe_encode")
def replaced_from_the_right(word, merges):
    """A run of one letter is merged from the right: three `a` become `a aa`.

    At which end of the word does your replacement begin, and at which in the statement?
    """
    symbols, rank = _single_bytes(word), {pair: place for place, pair in enumerate(merges)}
    while known := [pair for pair in pairwise(symbols) if pair in rank]:
        best, place = min(known, key=rank.get), len(symbols) - 1
        while place > 0:
            if (symbols[place - 1], symbols[place]) == best:
                symbols[place - 1 : place + 1] = [best[0] + best[1]]
                place -= 1
            place -= 1
    return symbols


@misconception(of="bpe_encode")
def characters_for_bytes(word, merges):
    """The symbols are characters of a string, which no pair of `bytes` is equal to, so nothing is merged.

    What is `"n" == b"n"` in Python? Of which type are the two halves of a pair in `merges`?
    """
    return list(word)


# 16. bpe_decode


@misconception(of="bpe_decode")
def decoded_as_ascii(symbols):
    """The bytes are read as ASCII, where none of the bytes of `é` has a meaning.

    Which letters does ASCII have? In which encoding were the bytes made?
    """
    return b"".join(symbols).decode("ascii", errors="replace")


@misconception(of="bpe_decode")
def invalid_text_decoded_symbol_by_symbol(symbols):
    """Where the whole text is no valid UTF-8, each symbol is decoded on its own, and spread letters are lost.

    One byte of a long text is wrong. What becomes of the `é` at its other end?
    """
    whole = b"".join(symbols).decode(errors="replace")
    one_by_one = "".join(symbol.decode(errors="replace") for symbol in symbols)
    return one_by_one if "\ufffd" in whole else whole


@misconception(of="bpe_decode")
def decoded_symbol_by_symbol(symbols):
    """Each symbol is decoded on its own, and half a letter raises UnicodeDecodeError.

    Which of the symbols of the example is a text by itself? When are all bytes of the `é` together?
    """
    return "".join(symbol.decode() for symbol in symbols)


@misconception(of="bpe_decode")
def replaced_symbol_by_symbol(symbols):
    """Each symbol is decoded on its own, so a letter spread over two symbols becomes replacement characters.

    In which of your steps were the two bytes of `é` last next to each other? What would have to happen before
    the decoding?
    """
    return "".join(symbol.decode(errors="replace") for symbol in symbols)


@misconception(of="bpe_decode")
def whole_text_or_error(symbols):
    """The bytes are joined and decoded strictly, so invalid UTF-8 raises UnicodeDecodeError.

    A model may emit any symbols. What should a reader see in the place of half a letter, and which argument
    of `decode` says so?
    """
    return b"".join(symbols).decode()


@misconception(of="bpe_decode")
def invalid_bytes_dropped(symbols):
    """Bytes that are no valid UTF-8 are dropped without a trace.

    How would a reader of your text know that something was missing? Which values can `errors` have?
    """
    return b"".join(symbols).decode(errors="ignore")


@misconception(of="bpe_decode")
def bytes_read_as_letters(symbols):
    """Every byte is read as one letter (Latin-1), so `é` comes out as two letters.

    What do you get for `[b"\\xc3\\xa9"]`? In which encoding were the bytes made?
    """
    return b"".join(symbols).decode("latin-1")


@misconception(of="bpe_decode")
def symbols_joined_with_spaces(symbols):
    """A space is put between the symbols.

    Symbols are pieces of words. Where do the spaces of a text live after encoding?
    """
    return b" ".join(symbols).decode(errors="replace")


@misconception(of="bpe_decode")
def outer_spaces_cut_off(symbols):
    """The spaces at both ends of the text are cut off.

    A model writes a text piece by piece, and most pieces begin with a space. What happens where two meet?
    """
    return b"".join(symbols).decode(errors="replace").strip()
