"""The chain rule as a ledger: factors, their product, and the sum of their logarithms."""

from collections.abc import Mapping, Sequence

from course.figures.figure import Figure, png


def chain_rule(
    sentences: Mapping[str, Sequence[float]],
    *,
    caption: str = "Each tile is one factor P(token | what precedes it).",
) -> Figure:
    """Show the factors of one or more sentences, including those of the reader's own model.

    sentences: text → probability of each of its tokens given the tokens before it, in (0, 1].
    Raises ValueError unless each sentence has exactly one probability for each of its tokens.
    """
    ledgers = [(text.split(), checked(text, probs)) for text, probs in sentences.items()]
    tokens, factors = ledgers[0]
    told = ", ".join(f"{token} {p:.3g}" for token, p in zip(tokens, factors, strict=True))
    return Figure(
        name="chain_rule",
        data={"sentences": [{"tokens": tokens, "probs": probs} for tokens, probs in ledgers]},
        alt=f"The factors of “{' '.join(tokens)}”: {told}.",
        caption=caption,
        picture=png(tiles(tokens, factors)),
    )


def checked(text: str, probs: Sequence[float]) -> list[float]:
    """The probabilities as numbers, or an error that says what was expected."""
    probs = [float(p) for p in probs]
    if len(probs) != len(text.split()):
        raise ValueError(f"{text!r} has {len(text.split())} tokens, got {len(probs)} probabilities")
    if not all(0 < p <= 1 for p in probs):
        raise ValueError(f"probabilities must lie in (0, 1], got {probs}")
    return probs


def tiles(tokens: Sequence[str], probs: Sequence[float]):
    """The fallback picture: one bar for each factor."""
    import matplotlib.pyplot as plt

    drawing, axes = plt.subplots(figsize=(1.2 * len(tokens) + 1, 2.2))
    bars = axes.bar(range(len(tokens)), probs, color="#0072B2")
    axes.bar_label(bars, [f"{p:.3g}" for p in probs])
    axes.set_xticks(range(len(tokens)), tokens)
    axes.set_ylim(0, 1.15)
    axes.set_ylabel("P(token | before)")
    axes.spines[["top", "right"]].set_visible(False)
    return drawing
