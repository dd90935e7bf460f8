"""A question that shows its answer only after the reader has given one."""

from collections.abc import Mapping

from course.figures.figure import Figure, png


def prediction(
    question: str,
    found: Mapping[str, float] | float,
    *,
    between: tuple[float, float] = (0, 1),
    is_logarithmic: bool = False,
    is_least: bool = False,
    unit: str = "",
    caption: str = "You answer first, then the figure.",
) -> Figure:
    """Ask for one of several options, or for a number.

    found: option → number, and the largest is right (or the smallest, with `is_least`); or option →
    bool, and every True is right; or one number, for which the reader sets a slider. between: the
    slider's ends, on a logarithmic scale if `is_logarithmic`. unit: "%" shows 0.25 as 25 %. Raises ValueError
    for fewer than two options, if none is right, or for a number that is not between the ends.
    """
    if isinstance(found, Mapping):
        data, told = of_options(found, is_least), f"Choose one of: {', '.join(found)}."
    else:
        data, told = of_number(float(found), between, is_logarithmic), "Set a number on a scale."
    return Figure(
        name="prediction",
        data={"question": question, "unit": unit, **data},
        alt=f"A question, with its answer hidden: {question} {told}",
        caption=caption,
        picture=png(asked(question, told)),
    )


def of_options(found: Mapping[str, float], is_least: bool) -> dict:
    """The figure's data for a choice."""
    if len(found) < 2:
        raise ValueError(f"expected at least two options, got {list(found)}")
    values = list(found.values())
    if all(isinstance(value, bool) for value in values):
        right = [i for i, value in enumerate(values) if value]
    else:
        values = [rounded(value) for value in values]
        right = [values.index(min(values) if is_least else max(values))]
    if not right:
        raise ValueError(f"none of the options {list(found)} is right")
    return {"options": list(found), "values": values, "right": right}


def of_number(value: float, between: tuple[float, float], is_logarithmic: bool) -> dict:
    """The figure's data for a slider."""
    low, high = between
    if not low <= value <= high or (is_logarithmic and low <= 0):
        raise ValueError(
            f"expected {value} between {low} and {high}, and positive ends of a logarithmic scale"
        )
    return {"value": rounded(value), "low": low, "high": high, "isLogarithmic": is_logarithmic}


def rounded(value: float) -> float:
    """Four digits, so that the figure's bytes do not depend on a processor's last ones."""
    return float(f"{float(value):.4g}")


def asked(question: str, told: str):
    """The fallback picture: the question without the answer."""
    import textwrap

    import matplotlib.pyplot as plt

    lines = [*textwrap.wrap(question, 70), *textwrap.wrap(told, 70)]
    drawing, axes = plt.subplots(figsize=(6, 0.3 + 0.22 * len(lines)))
    axes.text(0, 1, "\n".join(lines), va="top", fontsize=10)
    axes.axis("off")
    return drawing
