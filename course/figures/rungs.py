"""The recorded ladder as every lecture ends with it: rungs up to today in colour, the rest in pale grey."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import mean

from course.figures.still import Still, still

TODAY, BEFORE, LATER, FLOOR = "#E69F00", "#0072B2", "#D0D7DE", "#D55E00"


def rungs(up_to: str, *, new: Sequence[str] = (), live: Mapping[str, float] | None = None) -> Still:
    """The ladder in bits per token: each rung the mean over its recorded seeds, their range as an error bar.

    `up_to`: the last rung that the reader knows; `new`: the rungs of today; `live`: bits per token measured
    on the page itself, drawn as diamonds in the row of their rung. Names are the titles of `course.ladder`.
    Raises ValueError for another name.
    """
    from course.ladder import read_recorded, summaries  # it builds every model; a figure alone need not

    results, live = read_recorded(), live or {}
    recorded, floor = summaries(results), mean(result.floor for result in results)
    titles = [rung.title for rung in recorded]
    for name in (up_to, *new, *live):
        if name not in titles:
            raise ValueError(f"{name}: expected one of {', '.join(titles)}")
    known = titles[: titles.index(up_to) + 1]
    told = ", ".join(f"{rung.title} {rung.bits_per_token:.2f}" for rung in recorded if rung.title in known)
    alt = f"The ladder in bits per token, as recorded: {told}; the floor is {floor:.2f}."
    if live:
        alt += " Measured on this page: " + ", ".join(f"{n} {bits:.2f}" for n, bits in live.items()) + "."
    n_seeds = max(rung.n_seeds for rung in recorded)
    single = "".join(f" ({rung.title}: one seed)" for rung in recorded if rung.n_seeds == 1)
    caption = (
        f"The course's ladder, as recorded: means of {n_seeds} seeds, with their range{single}. "
        f"{'Orange: new today. ' if new else ''}Blue: known."
    )
    if known != titles:
        caption += " Pale: still to come."
    if live:
        caption += " Diamonds: this page's own models, made from fewer stories."
    return still(draw(recorded, floor, known, new, live), alt, caption)


def draw(recorded, floor: float, known: Sequence[str], new: Sequence[str], live: Mapping[str, float]):
    """One row for each rung, the first on top; the axis is logarithmic, because the last rungs lie close."""
    import matplotlib.pyplot as plt

    drawing, axes = plt.subplots(figsize=(6.5, 0.8 + 0.27 * len(recorded)))
    titles = [rung.title for rung in recorded]
    for row, rung in enumerate(recorded):
        is_known = rung.title in known
        colour = TODAY if rung.title in new else BEFORE if is_known else LATER
        bits = rung.bits_per_token
        axes.barh(row, bits - floor, left=floor, height=0.62, color=colour)
        if rung.n_seeds > 1:
            axes.errorbar(
                bits, row, xerr=rung.spread / 2, color="#24292F" if is_known else "#8C959F", capsize=3
            )
        right = max(bits + rung.spread / 2, live.get(rung.title, 0))
        axes.annotate(
            f"{bits:.2f}", (right, row), (7, 0), textcoords="offset points", va="center",
            color="#24292F" if is_known else "#8C959F", fontsize=9,
        )  # fmt: skip
    if live:
        places = [titles.index(name) for name in live]
        axes.plot(
            list(live.values()), places, "D", color="white", markeredgecolor="#24292F", label="this page"
        )
    axes.axvline(floor, color=FLOOR, linestyle="--", label=f"floor {floor:.2f}")
    axes.set_yticks(range(len(titles)), titles)
    for label in axes.get_yticklabels():
        label.set_color("#24292F" if label.get_text() in known else "#8C959F")
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_xticks([1.5, 2, 3, 4, 5, 6, 7], ["1.5", "2", "3", "4", "5", "6", "7"])
    axes.minorticks_off()
    axes.set(
        xlabel="bits per token (logarithmic axis)",
        xlim=(0.97 * floor, 1.2 * max(rung.bits_per_token for rung in recorded)),
    )
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, loc="lower right")
    return drawing
