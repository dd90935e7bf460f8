"""Byte-pair encoding, one merge at a time, on texts of the reader's choice."""

from collections.abc import Mapping, Sequence

from course.figures.figure import Figure, png
from course.tokenizers.bpe import BytePairTokenizer
from course.tokenizers.bpe_training import Merge


def bpe(
    merges: Sequence[Merge],
    texts: Mapping[str, str],
    *,
    caption: str = "Blue tiles were merged, grey ones are single bytes; ␣ is a space.",
) -> Figure:
    """Show how the first n merges, pairs of bytes in the order learned, tokenize one of several texts.

    texts: name → text; the first is shown at the start. Raises ValueError if there is no merge or no text,
    or if a merge joins two strings of bytes that are not both tokens yet.
    """
    if not merges or not texts:
        raise ValueError(f"expected at least one merge and one text, got {len(merges)} and {len(texts)}")
    (first, text), *_ = texts.items()
    counts = sorted({round(len(merges) * share / 8) for share in range(9)})
    n_tokens = [len(BytePairTokenizer(tuple(merges[:count])).encode(text)) for count in counts]
    return Figure(
        name="bpe",
        data={
            # One character for each byte: JSON has no bytes.
            "merges": [[left.decode("latin-1"), right.decode("latin-1")] for left, right in merges],
            "texts": [{"name": name, "text": text} for name, text in texts.items()],
        },
        alt=f"Tokens of the text “{first}”: {n_tokens[0]} without merges, "
        f"{n_tokens[-1]} after {counts[-1]} merges.",
        caption=caption,
        picture=png(curve(counts, n_tokens)),
    )


def curve(counts: Sequence[int], n_tokens: Sequence[int]):
    """The fallback picture: number of tokens against number of merges."""
    import matplotlib.pyplot as plt

    drawing, axes = plt.subplots(figsize=(5, 2.4))
    axes.plot(counts, n_tokens, "o-", color="#0072B2")
    axes.set(xlabel="merges", ylabel="tokens", ylim=(0, 1.05 * max(n_tokens)))
    return drawing
