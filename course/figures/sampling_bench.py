"""A bench for samplers: logits that the reader sets, temperature and filters, and two hundred draws."""

import hashlib
import math
from collections.abc import Sequence

from course.figures.figure import Figure, png


def sampling_bench(
    tokens: Sequence[str],
    logits: Sequence[float],
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float = 1.0,
    min_p: float = 0.0,
    is_hot_first: bool = False,
    caption: str = (
        "Temperature changes every probability; a filter removes the smallest, and the rest share "
        "what it took. Drag a green bar."
    ),
) -> Figure:
    """Show how temperature, top-k, top-p and min-p change softmax(logits), for 2 … 16 tokens.

    The filters act in this order, the temperature after them or (`is_hot_first`) before. Logits are shown to
    one decimal. Raises ValueError if tokens and logits do not match, or if a logit is not finite.
    """
    rounded = [round(float(z), 1) for z in logits]
    check(tokens, rounded)
    settings = {
        "temperature": float(temperature),
        "topK": len(rounded) if top_k is None else int(top_k),
        "topP": float(top_p),
        "minP": float(min_p),
        "isHotFirst": bool(is_hot_first),
    }
    probs = softmax(rounded)
    entropy = -sum(p * math.log2(p) for p in probs if p > 0)
    listed = ", ".join(f"{token} {p:.3f}" for token, p in zip(tokens, probs, strict=True))
    data = {
        "tokens": list(tokens),
        "logits": rounded,
        "low": min(0, math.floor(min(rounded)) - 1),
        "high": max(0, math.ceil(max(rounded)) + 1),
        "settings": settings,
    }
    return Figure(
        name="sampling_bench",
        data=data | {"id": hashlib.sha256(repr(data).encode()).hexdigest()[:8]},
        alt=f"Probabilities of the next word: {listed}. Their entropy is {entropy:.2f} bits.",
        caption=caption,
        picture=png(bars(tokens, rounded, probs)),
    )


def check(tokens: Sequence[str], logits: Sequence[float]) -> None:
    """Raise ValueError, saying what was expected, unless the bench can show these."""
    if len(tokens) != len(logits) or not 2 <= len(tokens) <= 16:
        raise ValueError(
            f"expected 2 … 16 tokens with a logit each, got {len(tokens)} tokens and {len(logits)} logits"
        )
    if not all(math.isfinite(z) for z in logits):
        raise ValueError(f"logits: expected finite numbers, got {logits}")


def softmax(logits: Sequence[float]) -> list[float]:
    """The probabilities of a few logits."""
    powers = [math.exp(z - max(logits)) for z in logits]
    return [power / sum(powers) for power in powers]


def bars(tokens: Sequence[str], logits: Sequence[float], probs: Sequence[float]):
    """The fallback picture: logits above their probabilities."""
    import matplotlib.pyplot as plt

    drawing, (above, below) = plt.subplots(2, 1, figsize=(7, 3.6), sharex=True)
    above.bar(range(len(tokens)), logits, color="#009E73")
    above.set(ylabel="logit z")
    below.bar(range(len(tokens)), probs, color="#0072B2")
    below.set(ylabel="P")
    below.set_xticks(range(len(tokens)), tokens, rotation=30)
    return drawing
