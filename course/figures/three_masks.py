"""The three masks of an encoder-decoder Transformer, for any sentence of a padded batch."""

from collections.abc import Sequence

from course.data.vocabulary import PAD
from course.figures.figure import Figure, png

LONGEST = 12  # words, so that three matrices fit side by side


def three_masks(
    sources: Sequence[Sequence[str]],
    targets: Sequence[Sequence[str]],
    *,
    pad: str = PAD,
    caption: str = (
        "Blue: may be looked at. In 1 and 3 padding is hidden, in 2 only the future is. "
        "Choose a cell to read why."
    ),
) -> Figure:
    """Show which positions may attend to which: encoder on itself, decoder on itself, decoder on the source.

    sources, targets: words of each sentence of a batch, padded at the end to lengths of at most 12; the
    target as the decoder reads it, starting with <s>.
    Raises ValueError if the numbers or the lengths differ, or if a source is only padding.
    """
    check(sources, targets, pad)
    n_real = sum(word != pad for word in sources[0])
    return Figure(
        name="three_masks",
        data={
            "sentences": [
                {"source": list(source), "target": list(target)}
                for source, target in zip(sources, targets, strict=True)
            ],
            "pad": pad,
        },
        alt=f"Three masks for a source of {n_real} words among {len(sources[0])} places and a target of "
        f"{len(targets[0])}: the encoder sees all real source words, the decoder itself as a lower triangle "
        "and all real source words.",
        caption=caption,
        picture=png(three_panels(sources[0], targets[0], pad)),
    )


def check(sources: Sequence[Sequence[str]], targets: Sequence[Sequence[str]], pad: str) -> None:
    """Raise ValueError, saying what was expected, unless these are the two sides of a padded batch."""
    if len(sources) != len(targets) or not sources:
        raise ValueError(f"expected as many targets as sources, got {len(targets)} and {len(sources)}")
    for name, side in (("sources", sources), ("targets", targets)):
        lengths = {len(sentence) for sentence in side}
        if len(lengths) != 1 or max(lengths) > LONGEST:
            raise ValueError(f"{name}: expected one length of at most {LONGEST}, got {sorted(lengths)}")
    if any(all(word == pad for word in source) for source in sources):
        raise ValueError("sources: expected at least one real word in each, got only padding")


def three_panels(source: Sequence[str], target: Sequence[str], pad: str):
    """The fallback picture."""
    import matplotlib.pyplot as plt

    is_real = [word != pad for word in source]
    triangle = [[key <= query for key in range(len(target))] for query in range(len(target))]
    panels = (
        ("1 · encoder on itself", [is_real] * len(source), source, source),
        ("2 · decoder on itself", triangle, target, target),
        ("3 · decoder on the source", [is_real] * len(target), target, source),
    )
    drawing, axes = plt.subplots(1, 3, figsize=(10, 3.4), layout="constrained")
    for panel, (title, mask, rows, columns) in zip(axes, panels, strict=True):
        panel.imshow([[float(allowed) for allowed in row] for row in mask], cmap="Blues", vmin=0, vmax=1.4)
        panel.set_xticks(range(len(columns)), columns, rotation=90)
        panel.set_yticks(range(len(rows)), rows)
        panel.set_title(title, fontsize=10)
    return drawing
