"""Cross-entropy as entropy plus KL divergence, for a distribution that the reader guesses."""

import math
from collections.abc import Mapping

from course.figures.figure import Figure, png


def coding(
    truth: Mapping[str, float], *, caption: str = "Cross-entropy = entropy + Kullback–Leibler divergence."
) -> Figure:
    """Show a distribution, outcome → probability, beside a guess that the reader sets.

    Raises ValueError unless the probabilities are in [0, 1] and sum to one.
    """
    probs = [float(p) for p in truth.values()]
    if min(probs) < 0 or not math.isclose(sum(probs), 1, abs_tol=1e-6):
        raise ValueError(f"expected probabilities that sum to one, got {probs}")
    entropy = -sum(p * math.log2(p) for p in probs if p > 0)
    listed = ", ".join(f"{outcome} {p:.3g}" for outcome, p in truth.items())
    return Figure(
        name="coding",
        data={"outcomes": list(truth), "truth": probs},
        alt=f"True probabilities {listed}; their entropy is {entropy:.3f} bits.",
        caption=caption,
        picture=png(bars(truth)),
    )


def bars(truth: Mapping[str, float]):
    """The fallback picture: truth beside the uniform guess."""
    import matplotlib.pyplot as plt

    drawing, axes = plt.subplots(figsize=(5, 2.4))
    places = range(len(truth))
    axes.bar([x - 0.2 for x in places], list(truth.values()), 0.38, color="#0072B2", label="truth p")
    axes.bar([x + 0.2 for x in places], [1 / len(truth)] * len(truth), 0.38, color="#B35900", label="guess q")
    axes.set_xticks(places, list(truth))
    axes.legend(frameon=False)
    return drawing
