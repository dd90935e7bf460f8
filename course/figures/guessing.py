"""Shannon's guessing game (1951), the reader against the models of the course."""

from collections.abc import Mapping, Sequence

from course.figures.figure import Figure, png


def guessing(
    text: str,
    models: Mapping[str, Sequence[float]],
    *,
    given: int = 10,
    caption: str = (
        "The better the guesses, the fewer bits a letter carries. Guess each letter until it is "
        "right; models in blue."
    ),
) -> Figure:
    """Hide a text after its first `given` letters.

    models: name → bits that the model needs for each hidden letter. Raises ValueError unless each model has
    one number for each hidden letter.
    """
    hidden = len(text) - given
    for name, bits in models.items():
        if len(bits) != hidden:
            raise ValueError(
                f"{name}: expected {hidden} numbers, one for each hidden letter, got {len(bits)}"
            )
    means = {name: sum(bits) / hidden for name, bits in models.items()}
    return Figure(
        name="guessing",
        data={
            "text": text.lower(),
            "given": given,
            "models": [{"name": name, "bits": [round(b, 3) for b in bits]} for name, bits in models.items()],
        },
        alt=f"A text that begins “{text[:given]}” and {hidden} hidden letters. Bits per letter: "
        + ", ".join(f"{name} {mean:.2f}" for name, mean in means.items()),
        caption=caption,
        picture=png(bars(means)),
    )


def bars(means: Mapping[str, float]):
    """The fallback picture: the bits per letter of the models."""
    import matplotlib.pyplot as plt

    drawing, axes = plt.subplots(figsize=(5, 1 + 0.4 * len(means)))
    drawn = axes.barh(list(means)[::-1], list(means.values())[::-1], color="#0072B2")
    axes.bar_label(drawn, [f"{mean:.2f}" for mean in list(means.values())[::-1]], padding=3)
    axes.set_xlabel("bits per letter")
    return drawing
