"""The recorded ladder as every lecture ends with it: rungs up to today in colour, the rest faint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import mean

from course.figures.still import Still, still

TODAY, BEFORE, LATER, FLOOR = "#D55E00", "#0072B2", "#BFC7CF", "#24292F"
INK, FAINT_INK = "#24292F", "#76808A"
KINDS = {"things": "things", "verbs": "verbs", "she, he": "she/he", "quotes": "quotes"}  # and their titles


def rungs(up_to: str, *, new: Sequence[str] = (), live: Mapping[str, float] | None = None) -> Still:
    """The ladder in bits per token: each rung the mean over its recorded seeds, their range as an error bar.

    Below it, how far each rung is from the floor at four kinds of words. `up_to`: the last rung that the
    reader knows; `new`: the rungs of today; `live`: bits per token measured on the page itself, drawn as
    diamonds in the row of their rung. Names are the titles of `course.ladder`. Raises ValueError for another
    name.
    """
    from course.ladder import read_recorded, summaries  # it builds every model; a figure alone need not

    results, live = read_recorded(), live or {}
    recorded, floor = summaries(results), mean(result.floor for result in results)
    titles = [rung.title for rung in recorded]
    for name in (up_to, *new, *live):
        if name not in titles:
            raise ValueError(f"{name}: expected one of {', '.join(titles)}")
    known = [title for title in titles if title in (*titles[: titles.index(up_to) + 1], *new)]
    told = ", ".join(f"{rung.title} {rung.bits_per_token:.2f}" for rung in recorded if rung.title in known)
    alt = f"The ladder in bits per token, as recorded: {told}; the floor is {floor:.2f}."
    alt += gaps(recorded, known)
    if live:
        alt += " Measured on this page: " + ", ".join(f"{n} {bits:.2f}" for n, bits in live.items()) + "."
    n_seeds = max(rung.n_seeds for rung in recorded)
    single = "".join(f" ({rung.title}: one seed)" for rung in recorded if rung.n_seeds == 1)
    caption = (
        f"The course's ladder, as recorded: means of {n_seeds} seeds, with their range{single}."
        f"{' Orange: new today.' if new else ''}{' Blue: known.' if set(known) - set(new) else ''}"
    )
    if known != titles:
        caption += " Faint: still to come."
    caption += (
        " Below: bits above the floor where a thing, a verb, she or he, or a quotation mark came next; "
        "the models that look at no word are left out. A little below 0 is chance."
    )
    if live:
        caption += " Diamonds: this page's own models, made from fewer stories."
    return still(draw(recorded, floor, known, new, live), alt, caption)


def looking(recorded) -> list:
    """The rungs that look at an earlier word: all but the uniform model and the unigram."""
    from course.ladder.rungs import RUNGS
    from course.ladder.weights import BLIND

    return [rung for rung in recorded if rung.title not in {RUNGS[name].title for name in BLIND}]


def gaps(recorded, known: Sequence[str]) -> str:
    """The lower picture in words, for the rungs that the reader knows."""
    told = [
        f"{rung.title} "
        + ", ".join(f"{title} {signed(mean(rung.by_kind[kind]))}" for kind, title in KINDS.items())
        for rung in looking(recorded)
        if rung.title in known
    ]
    return f" Bits above the floor by kind of word: {'; '.join(told)}." if told else ""


def draw(recorded, floor: float, known: Sequence[str], new: Sequence[str], live: Mapping[str, float]):
    """The ladder, and below it the gap of each kind of words; one row for each rung, the first on top."""
    import matplotlib.pyplot as plt

    colours = {
        rung.title: TODAY if rung.title in new else BEFORE if rung.title in known else LATER
        for rung in recorded
    }
    seeing = looking(recorded)
    heights = [0.27 * len(recorded), 0.24 * len(seeing)]
    drawing = plt.figure(figsize=(6.5, 1.9 + sum(heights)))
    grid = drawing.add_gridspec(2, 1, height_ratios=heights, hspace=0.9 / mean(heights))
    draw_bits(drawing.add_subplot(grid[0]), recorded, floor, colours, live)
    draw_gaps(grid[1].subgridspec(1, len(KINDS), wspace=0.12).subplots(sharey=True), seeing, colours)
    return drawing


def draw_bits(axes, recorded, floor: float, colours: Mapping[str, str], live: Mapping[str, float]) -> None:
    """Bits per token; the axis is logarithmic, because the last rungs lie close."""
    for row, rung in enumerate(recorded):
        colour, bits = colours[rung.title], rung.bits_per_token
        axes.barh(row, bits - floor, left=floor, height=0.62, color=colour)
        if rung.n_seeds > 1:
            axes.errorbar(bits, row, xerr=rung.spread / 2, color=ink(colour), capsize=3)
        axes.annotate(  # all below one another, so that none stands at a page's own diamond
            f"{bits:.2f}", (1.01, row), xycoords=("axes fraction", "data"), va="center",
            color=ink(colour), fontsize=9,
        )  # fmt: skip
    if live:
        places = [[rung.title for rung in recorded].index(name) for name in live]
        axes.plot(list(live.values()), places, "D", color="white", markeredgecolor=INK, label="this page")
        for bits, row in zip(live.values(), places, strict=True):
            axes.annotate(
                f"{bits:.2f}", (bits, row), (7, 0), textcoords="offset points", va="center", fontsize=9
            )
    axes.axvline(floor, color=FLOOR, linestyle="--", label=f"floor {floor:.2f}")
    name_rows(axes, recorded, colours)
    axes.set_xscale("log")
    axes.set_xticks([1.5, 2, 3, 4, 5, 6, 7], ["1.5", "2", "3", "4", "5", "6", "7"])
    axes.minorticks_off()
    axes.set(
        xlabel="bits per token (logarithmic axis)",
        xlim=(0.97 * floor, 1.2 * max(rung.bits_per_token for rung in recorded)),
    )
    axes.legend(frameon=False, loc="lower right")


def draw_gaps(panels, recorded, colours: Mapping[str, str]) -> None:
    """Bits above the floor, a panel for each kind: the mean as a bar, the seeds' range as an error bar."""
    widest = max(max(rung.by_kind[kind]) for rung in recorded for kind in KINDS)
    for (kind, title), axes in zip(KINDS.items(), panels, strict=True):
        for row, rung in enumerate(recorded):
            colour, found = colours[rung.title], rung.by_kind[kind]
            low, middle, high = min(found), mean(found), max(found)
            axes.barh(row, middle, height=0.62, color=colour)
            if high - low > 0.02:
                axes.errorbar(middle, row, xerr=[[middle - low], [high - middle]], color=ink(colour))
            axes.annotate(
                signed(middle), (max(0, high), row), (4, 0), textcoords="offset points", va="center",
                color=ink(colour), fontsize=9,
            )  # fmt: skip
        axes.axvline(0, color=FLOOR, linestyle="--")
        axes.set(xlim=(-0.1 * widest, 1.5 * widest), xticks=(0, 1), title=title)
        name_rows(axes, recorded, colours)
    panels[0].set_xlabel("bits above the floor", loc="left")


def name_rows(axes, recorded, colours: Mapping[str, str]) -> None:
    """The rungs' names beside their rows, faint where they are still to come."""
    axes.set_yticks(range(len(recorded)), [rung.title for rung in recorded])
    for label in axes.get_yticklabels():
        label.set_color(ink(colours[label.get_text()]))
    axes.set_ylim(len(recorded) - 0.5, -0.5)
    axes.spines[["top", "right"]].set_visible(False)


def signed(bits: float) -> str:
    """Two decimals with a minus sign, and no minus zero."""
    return f"{bits:z.2f}".replace("-", "−")


def ink(colour: str) -> str:
    """The colour of words and error bars beside a bar of this colour."""
    return FAINT_INK if colour == LATER else INK
