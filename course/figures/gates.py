"""One LSTM unit over a short sequence, with gates that the reader sets."""

from collections.abc import Sequence

from course.figures.figure import Figure, png


def gates(
    candidate: Sequence[float],
    forget_gate: Sequence[float],
    input_gate: Sequence[float],
    output_gate: Sequence[float],
    *,
    caption: str = (
        "What the forget gates leave of a cell is also what returns of its gradient. Pull a gate up or down."
    ),
) -> Figure:
    """Show c_t = f c_{t−1} + i g, h_t = o tanh(c_t) and ∂c_T/∂c_t for one unit, with any gates.

    candidate: g_t, in [−1, 1]. The gates: f_t, i_t, o_t at the same 2 … 16 steps, in [0, 1].
    Raises ValueError if the lengths differ or a number is outside its range.
    """
    given = {"candidate": candidate, "forget": forget_gate, "input": input_gate, "output": output_gate}
    series = {name: [round(float(value), 4) for value in values] for name, values in given.items()}
    check(series)
    cells = cell_states(series["candidate"], series["forget"], series["input"])
    return Figure(
        name="gates",
        data=series,
        alt=f"One LSTM unit over {len(candidate)} steps. Its cell state: "
        + ", ".join(f"{c:.2f}" for c in cells)
        + ".",
        caption=caption,
        picture=png(bars(series, cells)),
    )


def check(series: dict[str, list[float]]) -> None:
    """Raise ValueError, saying what was expected, unless these can be a unit's gates."""
    lengths = {name: len(values) for name, values in series.items()}
    if len(set(lengths.values())) != 1 or not 2 <= lengths["candidate"] <= 16:
        raise ValueError(f"expected four equally long sequences of 2 … 16 numbers, got {lengths}")
    for name, values in series.items():
        lowest = -1 if name == "candidate" else 0
        if not all(lowest <= value <= 1 for value in values):
            raise ValueError(f"{name}: expected numbers in [{lowest}, 1], got {values}")


def cell_states(candidate: list[float], forget_gate: list[float], input_gate: list[float]) -> list[float]:
    """c_1 … c_T from c_0 = 0."""
    states = [0.0]
    for g, f, i in zip(candidate, forget_gate, input_gate, strict=True):
        states.append(f * states[-1] + i * g)
    return states[1:]


def bars(series: dict[str, list[float]], cells: list[float]):
    """The fallback picture: the gates as a heat map above the cell state."""
    import matplotlib.pyplot as plt

    drawing, (above, below) = plt.subplots(2, 1, figsize=(6, 3.4), sharex=True)
    names = ["input", "forget", "output"]
    above.imshow([series[name] for name in names], cmap="Blues", vmin=0, vmax=1, aspect="auto")
    above.set_yticks(range(3), names)
    below.bar(range(len(cells)), cells, color="#0072B2")
    below.axhline(0, color="black", linewidth=0.6)
    below.set_xticks(range(len(cells)), range(1, len(cells) + 1))
    below.set(xlabel="t", ylabel="cell $c_t$")
    return drawing
