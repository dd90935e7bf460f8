"""Quality against the length of the source, with a sentence of each length to read."""

from collections.abc import Mapping, Sequence

from course.figures.figure import Figure, png

Words = Sequence[str]


def bottleneck(
    curves: Mapping[str, Mapping[int, float]],
    examples: Mapping[int, Sequence[tuple[Words, Words, Sequence[Words]]]],
    *,
    trained_up_to: int,
    measure: str = "exact match",
    highest: float = 1.0,
    unit: str = "words",
    caption: str = (
        "The longer the source, the harder it is to get all of it across; "
        "what does not stand in its place is underlined."
    ),
) -> Figure:
    """Show each model's quality by source length, and its translations.

    curves: name → {length: value}, at most three models, all with the same lengths. examples: length → some
    of (source, right translation, one written translation per model). highest: the value of a perfect model.
    unit: what lengths count.
    Raises ValueError if lengths differ between models, or a length lacks an example for some model.
    """
    lengths = sorted(next(iter(curves.values()), {}))
    check(curves, examples, lengths)
    series = [
        {"name": name, "values": [round(float(values[length]), 4) for length in lengths]}
        for name, values in curves.items()
    ]
    told = "; ".join(
        f"{name} " + ", ".join(f"{value:.2f}" for value in values.values()) for name, values in curves.items()
    )
    return Figure(
        name="bottleneck",
        data={
            "lengths": lengths,
            "curves": series,
            "trained": trained_up_to,
            "measure": measure,
            "unit": unit,
            "highest": highest,
            "examples": [[example(*each) for each in examples[length]] for length in lengths],
        },
        alt=f"{measure[0].upper()}{measure[1:]}, sources of {', '.join(map(str, lengths))} {unit}: {told}.",
        caption=caption,
        picture=png(drawn(series, lengths, trained_up_to, (f"{unit} in the source", measure))),
    )


def check(curves: Mapping, examples: Mapping, lengths: Sequence[int]) -> None:
    """Raise ValueError, saying what was expected, unless every model has every length and every sentence."""
    if not 1 <= len(curves) <= 3:
        raise ValueError(f"curves: expected one to three models, got {len(curves)}")
    for name, values in curves.items():
        if sorted(values) != lengths or len(lengths) < 2:
            raise ValueError(
                f"{name}: expected at least two lengths, the same as {lengths}, got {sorted(values)}"
            )
    for length in lengths:
        some = examples.get(length, ())
        if not some or any(len(written) != len(curves) for _, _, written in some):
            raise ValueError(
                f"examples: expected some of {length} words with {len(curves)} translations each"
            )


def example(source: Words, target: Words, written: Sequence[Words]) -> dict:
    """One sentence in the form that the module reads."""
    return {"source": list(source), "target": list(target), "written": [list(words) for words in written]}


def drawn(series: Sequence[dict], lengths: Sequence[int], trained_up_to: int, axis_names: tuple[str, str]):
    """The fallback picture: the curves."""
    import matplotlib.pyplot as plt

    drawing, axes = plt.subplots(figsize=(6, 3))
    styles = zip(("#D55E00", "#0072B2", "#009E73"), ("-", "--", ":"), ("o", "s", "^"), strict=True)
    for each, (colour, dashes, marker) in zip(series, styles, strict=False):
        axes.plot(lengths, each["values"], color=colour, linestyle=dashes, marker=marker, label=each["name"])
    axes.axvline(trained_up_to, color="grey", linewidth=0.8, linestyle=":")
    axes.set(xlabel=axis_names[0], ylabel=axis_names[1])
    axes.legend(frameon=False)
    return drawing
