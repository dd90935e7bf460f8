"""Numbers of pieces that the visible checks once let pass."""

from autograder.proving.strangers import stranger


@stranger(of="pieces_per_word")
def any_space_begins_a_word(pieces):
    counts = []
    for piece in pieces:
        if not counts or " " in piece:
            counts.append(0)
        counts[-1] += 1
    return counts


@stranger(of="pieces_per_word")
def any_white_space_begins_a_word(pieces):
    counts = []
    for piece in pieces:
        if not counts or piece[:1].isspace():
            counts.append(0)
        counts[-1] += 1
    return counts
