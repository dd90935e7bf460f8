"""The pictures of the experiment: quality against length, and an attention map beside the gold alignment."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from course.translation_experiment.records import Record

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Colour-blind readers can tell Okabe and Ito's colours apart; markers and dashes work without colour.
BLUE, ORANGE = "#0072B2", "#D55E00"
GREEN = "#009E73"
COLOURS = {"RNNsearch": BLUE, "RNNenc": ORANGE, "Transformer": ORANGE, "rotary": GREEN}
MARKERS = {"RNNsearch": ("o", "s"), "RNNenc": ("^", "D")}  # trained on shorter sentences, on longer ones
MARKERS_BY_STEPS = {"RNNsearch": "o", "Transformer": "s", "rotary": "^"}
DASHES = ("--", "-")
MEASURES = {"bleu": "BLEU", "token_accuracy": "words in their place", "exact_match": "exact matches"}
HIGHEST = {"bleu": 100.0, "token_accuracy": 1.0, "exact_match": 1.0}


def mean_by_length(runs: Sequence[Record], measure: str) -> dict[int, float]:
    """Length → the mean of one measure over runs that differ in their seeds."""
    return {length: sum(some) / len(some) for length, some in values_by_length(runs, measure).items()}


def values_by_length(runs: Sequence[Record], measure: str) -> dict[int, list[float]]:
    """Length → one measure, of each run."""
    values: dict[int, list[float]] = defaultdict(list)
    for run in runs:
        for point in run["by_length"]:
            values[point["length"]].append(point[measure])
    return dict(sorted(values.items()))


def plot_over_seeds(panel: Axes, runs: Sequence[Record], measure: str, **look: Any) -> None:
    """The mean of one measure by length, with bars from the lowest seed to the highest."""
    values, means = values_by_length(runs, measure), mean_by_length(runs, measure)
    below = [means[length] - min(some) for length, some in values.items()]
    above = [max(some) - means[length] for length, some in values.items()]
    bars = (below, above) if len(runs) > 1 else None
    panel.errorbar(list(means), list(means.values()), yerr=bars, markersize=4, capsize=2, **look)


def by_model(runs: Sequence[Record]) -> dict[str, list[Record]]:
    """RNNenc-30, RNNenc-50, RNNsearch-30, … → the runs of each, one per seed."""
    models: dict[str, list[Record]] = defaultdict(list)
    for run in sorted(runs, key=lambda run: (run["kind"], run["trained_up_to"], run["seed"])):
        models[run["model"]].append(run)
    return dict(models)


def quality_against_length(runs: Sequence[Record]) -> Figure:
    """One panel per measure, one curve per model; dotted lines mark the longest sentences of training."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 3.6), layout="constrained")
    panels = figure.subplots(1, len(MEASURES))
    for panel, measure in zip(panels, MEASURES, strict=True):
        draw_curves(panel, runs, measure)
    names_below(figure, panels[0])
    return figure


def draw_curves(panel: Axes, runs: Sequence[Record], measure: str) -> None:
    """Every model's curve of one measure; dotted lines mark the longest sentences of training."""
    limits = sorted({run["trained_up_to"] for run in runs})
    for limit in limits:
        panel.axvline(limit, color="0.6", linestyle=":", linewidth=1)
    for model, same in by_model(runs).items():
        kind, place = same[0]["kind"], limits.index(same[0]["trained_up_to"]) % 2
        plot_over_seeds(
            panel,
            same,
            measure,
            label=model,
            color=COLOURS[kind],
            marker=MARKERS[kind][place],
            linestyle=DASHES[place],
        )
    panel.set_xlabel("words in the source")
    panel.set_title(MEASURES[measure])
    panel.set_ylim(-0.03 * HIGHEST[measure], 1.03 * HIGHEST[measure])
    panel.spines[["top", "right"]].set_visible(False)


def bleu_by_steps(experiments: Sequence[Sequence[Record]]) -> Figure:
    """One panel per number of steps: mean BLEU by length, with bars from the lowest seed to the highest."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(1.2 + 3.4 * len(experiments), 3.2), layout="constrained")
    panels = figure.subplots(1, len(experiments), sharey=True, squeeze=False)[0]
    for panel, runs in zip(panels, experiments, strict=True):
        for model, same in by_model(runs).items():
            kind = same[0]["kind"]
            look = {"color": COLOURS[kind], "marker": MARKERS_BY_STEPS[kind]}
            plot_over_seeds(panel, same, "bleu", label=model, **look)
        panel.axvline(runs[0]["trained_up_to"], color="0.6", linestyle=":", linewidth=1)
        panel.set_xlabel("words in the source")
        panel.set_title(f"{runs[0]['n_steps']:,} steps")
        panel.set_ylim(-3, 103)
        panel.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("BLEU")
    names_below(figure, panels[0])
    return figure


def names_below(figure: Figure, panel: Axes) -> None:
    """The names of a panel's curves, which are those of all panels, in a row below them."""
    handles, labels = panel.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False)


def map_beside_gold(example: Record) -> Figure:
    """The attention weights for each word that the model writes, beside the gold alignment."""
    from matplotlib.figure import Figure

    S, T = len(example["source"]), len(example["target"])
    gold = [[float([s, t] in example["gold"]) for s in range(S)] for t in range(T)]
    figure = Figure(figsize=(1.6 + 0.6 * S, 1.6 + 0.28 * T), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    titles = ("attention weights", "gold alignment")
    for panel, matrix, title in zip(panels, (example["weights"], gold), titles, strict=True):
        image = panel.imshow([row[:S] for row in matrix], cmap="cividis", vmin=0, vmax=1, aspect="auto")
        panel.set_xticks(range(S), example["source"], rotation=90)
        panel.set_title(title)
    panels[0].set_yticks(range(T), example["target"])
    figure.colorbar(image, ax=panels, shrink=0.8, label="weight")
    return figure
