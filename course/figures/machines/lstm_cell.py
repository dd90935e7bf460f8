"""One step of an LSTM: three gates around a cell that is only added to."""

from course.figures.machines.description import Box, Line, Machine, Sign, Step

GATES = "i, f, g, o = torch.addmm(projected, h, U.T).chunk(4, dim=-1)"
NEW_CELL = "c = f.sigmoid() * c + i.sigmoid() * g.tanh()"
SHOWN = "return o.sigmoid() * c.tanh(), c"

LSTM_CELL = Machine(
    title="An LSTM cell",
    finding=(
        "On its way through a step the cell's state meets one product and one sum, and no matrix: "
        "that is where the gradient survives."
    ),
    file="recurrent",
    sizes={"B": 2, "d_x": 3, "D": 4},
    pitch=(100, 84),
    steps=(
        Step(
            "Two states arrive from the step before: the cell c is the memory, h is what was shown of it.",
            (
                Box("c_before", "c_{t−1}", "B D", (0, 4.15), "state", "h, c = state", "c"),
                Box("h_before", "h_{t−1}", "B D", (0, 1.2), "key", "h, c = state", "h"),
            ),
        ),
        Step(
            "A word arrives. One product makes the word's part of the three gates and the candidate.",
            (
                Box("x", "x_t", "B d_x", (1.1, -1), "input", "return linear(x, self.W, self.b)", "x"),
                Box(
                    "projected",
                    "W x_t + b",
                    "B 4·D",
                    (1.1, 0.1),
                    "residual",
                    "return linear(x, self.W, self.b)",
                    "returned",
                ),
                Line(("x", "projected"), "W, b", "input"),
            ),
        ),
        Step(
            "The shown state adds its part, U h. The sum is cut into four pieces of D numbers each.",
            (
                Sign("sum", "+", (1.1, 1.2)),
                Line(("projected", "sum")),
                Line(("h_before", "sum"), "U", "key"),
            ),
        ),
        Step(
            "Forget gate: each number of the cell is multiplied by a number between 0 and 1.",
            (
                Box("f", "forget f", "B D", (1.1, 2.4), "residual", GATES, "f"),
                Sign("keep", "⊙", (1.1, 4.15)),
                Line(("sum", "f")),
                Line(("f", "keep"), "σ"),
                Line(("c_before", "keep"), "", "state"),
            ),
        ),
        Step(
            "Input gate and candidate: how much is written, and what could be.",
            (
                Box("i", "input i", "B D", (2.1, 2.4), "residual", GATES, "i"),
                Box("g", "candidate g", "B D", (3.2, 2.4), "value", GATES, "g"),
                Line(("sum", (2.1, 1.2), "i")),
                Line(("sum", (3.2, 1.2), "g")),
                Sign("write", "⊙", (2.65, 3.4)),
                Line(("i", (2.1, 3.4), "write"), "σ", label_on=0, side="left"),
                Line(("g", (3.2, 3.4), "write"), "tanh", "value", label_on=0),
            ),
        ),
        Step(
            "The cell is what was kept plus what is written. Along this "
            "line a gradient meets only the forget gate.",
            (
                Sign("add", "+", (2.65, 4.15)),
                Box("c", "c_t", "B D", (5.35, 4.15), "state", NEW_CELL),
                Line(("keep", "add"), "", "state"),
                Line(("write", "add"), "", "value"),
                Line(("add", "c"), "", "state"),
            ),
        ),
        Step(
            "Output gate: how much of the cell is shown. Both states go to the next step.",
            (
                Box("o", "output o", "B D", (4.3, 2.4), "residual", GATES, "o"),
                Line(("sum", (4.3, 1.2), "o")),
                Sign("show", "⊙", (5.35, 2.4)),
                Line(("o", "show"), "σ"),
                Line(("c", "show"), "tanh", "state"),
                Box("h", "h_t", "B D", (5.35, 1.2), "key", SHOWN, "returned[0]"),
                Line(("show", "h"), "", "key"),
            ),
        ),
    ),
)
