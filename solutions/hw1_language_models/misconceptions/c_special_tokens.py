"""What goes wrong when special tokens are cut out of a text."""

import re

from autograder.catalogue import misconception

# 17. split_special


@misconception(of="split_special")
def special_tokens_not_cut(text, special_tokens):
    """The text is returned whole, so special tokens will be split into bytes like ordinary text.

    What would BPE make of `<|end|>` if nobody had told it? Which piece of your answer is the special token?
    """
    return [text] if text else []


@misconception(of="split_special")
def special_tokens_lost(text, special_tokens):
    """The text is cut at the special tokens, but the tokens themselves are gone.

    Join your pieces and compare with the text. What does `re.split` do differently when the pattern is in
    parentheses?
    """
    if not special_tokens:
        return [text] if text else []
    longest_first = sorted(special_tokens, key=len, reverse=True)
    return [piece for piece in re.split("|".join(map(re.escape, longest_first)), text) if piece]


@misconception(of="split_special")
def pattern_not_escaped(text, special_tokens):
    """The special tokens are put into the pattern as they are, and `|` in `<|end|>` means "or" there.

    Which pieces do you get for `<|end|>`? Which characters have a meaning of their own in a regular
    expression?
    """
    if not special_tokens:
        return [text] if text else []
    longest_first = sorted(special_tokens, key=len, reverse=True)
    return [piece for piece in re.split(f"({'|'.join(longest_first)})", text) if piece]


@misconception(of="split_special")
def empty_pieces_kept(text, special_tokens):
    """Where two special tokens touch, or one stands at an end, an empty piece is left.

    What lies between two special tokens that follow each other? Does the statement want it?
    """
    if not special_tokens:
        return [text]
    longest_first = sorted(special_tokens, key=len, reverse=True)
    return re.split(f"({'|'.join(map(re.escape, longest_first))})", text)


@misconception(of="split_special")
def listed_order_decides(text, special_tokens):
    """Where two special tokens fit, the one that is listed first is taken, not the longer one.

    Swap the two special tokens in the list. Do your pieces change? What does a pattern `a|ab` find in `ab`?
    """
    if not special_tokens:
        return [text] if text else []
    return [piece for piece in re.split(f"({'|'.join(map(re.escape, special_tokens))})", text) if piece]


@misconception(of="split_special")
def shortest_first(text, special_tokens):
    """Where two special tokens fit, the shorter one is taken, and the longer one is never found.

    Is there any text in which your function finds `<s><s>`? Which of the two has to be looked for first?
    """
    if not special_tokens:
        return [text] if text else []
    pattern = "|".join(map(re.escape, sorted(special_tokens, key=len)))
    return [piece for piece in re.split(f"({pattern})", text) if piece]


@misconception(of="split_special")
def cut_everywhere_without_tokens(text, special_tokens):
    """With no special tokens the pattern is empty, and an empty pattern fits between any two letters.

    Print your pattern for an empty list. Where does it match, and what should happen to a text without marks?
    """
    pattern = "|".join(map(re.escape, sorted(special_tokens, key=len, reverse=True)))
    return [piece for piece in re.split(f"({pattern})", text) if piece]


@misconception(of="split_special")
def only_the_first_special_token(text, special_tokens):
    """The text is cut at the first special token of the list only.

    Give your function two special tokens and a text that contains both. Which of them is still inside a
    piece?
    """
    if not special_tokens:
        return [text] if text else []
    return [piece for piece in re.split(f"({re.escape(special_tokens[0])})", text) if piece]


@misconception(of="split_special")
def empty_text_as_a_piece(text, special_tokens):
    """An empty text comes back as one empty piece.

    How many pieces has an empty text, by the statement? Which line of yours answers when there is nothing to
    cut at?
    """
    if not special_tokens:
        return [text]
    ordered = sorted(special_tokens, key=len, reverse=True)
    return [piece for piece in re.split(f"({'|'.join(map(re.escape, ordered))})", text) if piece]


@misconception(of="split_special")
def spaces_stripped(text, special_tokens):
    """The spaces around the pieces are cut off.

    Join your pieces. Is that the text you were given, to the last space?
    """
    if not special_tokens:
        return [text] if text else []
    ordered = sorted(special_tokens, key=len, reverse=True)
    pieces = re.split(f"({'|'.join(map(re.escape, ordered))})", text)
    return [piece.strip() for piece in pieces if piece.strip()]


@misconception(of="split_special")
def empty_pieces_between_tokens_kept(text, special_tokens):
    """Where two special tokens touch, or one stands at an end, an empty piece is left.

    What lies between two special tokens that follow each other? Does the statement want it?
    """
    if not special_tokens:
        return [text] if text else []
    ordered = sorted(special_tokens, key=len, reverse=True)
    return re.split(f"({'|'.join(map(re.escape, ordered))})", text)


@misconception(of="split_special")
def longest_cut_out_of_the_whole_text_first(text, special_tokens):
    """The longest special token is cut out of the whole text first, even where another begins before it.

    In `x[a]bc]`, which of `[a]` and `]bc]` begins first? Which of the two do you find?
    """
    pieces = [text]
    for token in sorted(special_tokens, key=len, reverse=True):
        pieces = [
            part
            for piece in pieces
            for part in ([piece] if piece in special_tokens else re.split(f"({re.escape(token)})", piece))
        ]
    return [piece for piece in pieces if piece]
