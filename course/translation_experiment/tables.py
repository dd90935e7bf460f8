"""The numbers of the experiment as tables in Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from course.translation_experiment.pictures import by_model
from course.translation_experiment.records import Record


def markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table whose first column is text and whose others are numbers."""
    rules = ["---", *["---:"] * (len(header) - 1)]
    return "\n".join("| " + " | ".join(row) + " |" for row in (header, rules, *rows))


def mean(runs: Sequence[Record], key: str) -> float:
    """The mean of one value over runs that differ in their seeds."""
    return sum(run[key] for run in runs) / len(runs)


def lengths_table(runs: Sequence[Record], measure: str = "bleu", factor: float = 1.0) -> str:
    """One row per model: one measure, by source length, over the seeds."""
    lengths = lengths_of(runs)
    rows = [
        [model, *(with_range([factor * value for value in at_length(same, n, measure)]) for n in lengths)]
        for model, same in by_model(runs).items()
    ]
    return markdown(["model", *map(str, lengths)], rows)


def in_words(runs: Sequence[Record], measure: str = "bleu") -> str:
    """What a picture of one measure by length shows: "RNNenc-15 100, 70 (68–73), 32; RNNsearch-15 100, …"."""
    return "; ".join(
        f"{model} " + ", ".join(with_range(at_length(same, n, measure)) for n in lengths_of(same))
        for model, same in by_model(runs).items()
    )


def lengths_of(runs: Sequence[Record]) -> list[int]:
    """The lengths that were measured, in order."""
    return sorted({point["length"] for run in runs for point in run["by_length"]})


def at_length(runs: Sequence[Record], length: int, measure: str) -> list[float]:
    """One measure at one length, for each run."""
    return [point[measure] for run in runs for point in run["by_length"] if point["length"] == length]


def models_table(runs: Sequence[Record]) -> str:
    """One row per model: size, training, alignment error rate within the trained lengths."""
    header = ["model", "parameters", "steps", "seconds of training", "loss", "alignment error rate, %"]
    rows = [
        [
            model,
            f"{same[0]['n_parameters']:,}",
            f"{same[0]['n_steps']:,}",
            f"{mean(same, 'seconds_of_training'):.0f}",
            with_range([run["final_loss"] for run in same], 4),
            with_range([100 * run["alignment_error_rate"] for run in same], 1)
            if "alignment_error_rate" in same[0]
            else "–",
        ]
        for model, same in by_model(runs).items()
    ]
    return markdown(header, rows)


def of_training_table(runs: Sequence[Record]) -> str:
    """One row per model: quality on training sentences and on new ones of the greatest trained length."""
    header = ["model", "words", "BLEU, training", "BLEU, new", "exact, training, %", "exact, new, %"]
    rows = []
    for model, same in by_model(runs).items():
        limit = same[0]["trained_up_to"]
        row = [model, str(limit)]
        for measure, factor in (("bleu", 1), ("exact_match", 100)):
            known, new = [run["of_training"][measure] for run in same], at_length(same, limit, measure)
            row += [with_range([factor * value for value in values]) for values in (known, new)]
        rows.append(row)
    return markdown(header, rows)


def captions_table(runs: Sequence[Record]) -> str:
    """One row per model: size, training, BLEU."""
    header = ["model", "parameters", "width", "steps", "ms of CPU per step", "loss", "BLEU"]
    rows = [
        [
            f"{run['model']}, seed {run['seed']}",
            f"{run['n_parameters']:,}",
            str(run["width"]),
            f"{run['n_steps']:,}",
            f"{run['cpu_milliseconds_per_step']:.0f}" if "cpu_milliseconds_per_step" in run else "–",
            f"{run['final_loss']:.2f}",
            f"{run['bleu']:.1f}",
        ]
        for run in sorted(runs, key=lambda run: (run["model"], run["seed"]))
    ]
    return markdown(header, rows)


def with_range(values: Sequence[float], digits: int = 0) -> str:
    """The mean of some values with the lowest and the highest, "97 (95–98)"; alone where they are alike."""
    middle, lowest, highest = (
        f"{value:.{digits}f}" for value in (sum(values) / len(values), min(values), max(values))
    )
    return middle if lowest == highest else f"{middle} ({lowest}–{highest})"


def budgets_table(runs: Sequence[Record]) -> str:
    """One row per model, over its seeds: size, processor time, loss, alignment error, BLEU by length."""
    lengths = lengths_of(runs)
    header = ["model", "seeds", "steps", "parameters", "ms of CPU per step", "loss", "alignment error, %"]
    rows = []
    for model, same in by_model(runs).items():
        row = [model, str(len(same)), f"{same[0]['n_steps']:,}", f"{same[0]['n_parameters']:,}"]
        row.append(f"{min(run['cpu_milliseconds_per_step'] for run in same):.0f}")
        row.append(with_range([run["final_loss"] for run in same], 4))
        row.append(with_range([100 * run["alignment_error_rate"] for run in same], 1))
        rows.append([*row, *(with_range(at_length(same, length, "bleu")) for length in lengths)])
    return markdown([*header, *(f"BLEU {length}" for length in lengths)], rows)


def lengths_report(runs: Sequence[Record]) -> str:
    """The tables of `lengths`, with their headings."""
    blocks = [models_table(runs), "BLEU by words in the source:", lengths_table(runs)]
    blocks += ["Exact matches in percent, by words in the source:", lengths_table(runs, "exact_match", 100)]
    if all("of_training" in run for run in runs):
        blocks += [
            "On training sentences and on new ones, at the greatest trained length:",
            of_training_table(runs),
        ]
    return "\n\n".join(blocks)


REPORTS = {"lengths": lengths_report, "budgets": budgets_table, "captions": captions_table}
