"""One step of a GRU: two gates, and no cell beside the state."""

from course.figures.machines.description import Box, Line, Machine, Sign, Step

GATES = "r, z = (gates_from_input + gates_from_state).sigmoid().chunk(2, dim=-1)"
CANDIDATE = "n = torch.tanh(candidate_from_input + r * (candidate_from_state + b_candidate))"
PROJECTED = "return linear(x, self.W, self.b)"

GRU_CELL = Machine(
    title="A GRU cell",
    finding=(
        "One gate instead of two decides how much of the old state stays and how much of the new one enters."
    ),
    file="recurrent",
    sizes={"B": 2, "d_x": 3, "D": 4},
    pitch=(100, 84),
    steps=(
        Step(
            "A state arrives, and a word. One product with each makes "
            "the parts of two gates and a candidate.",
            (
                Box("h_before", "h_{t−1}", "B D", (0, 4.15), "state", "(h,) = state", "h"),
                Box("from_state", "U h_{t−1}", "B 3·D", (0, 1.2), "state", "(h @ U.T)", "h @ U.T"),
                Line(("h_before", "from_state"), "U", "state"),
                Box("x", "x_t", "B d_x", (0, -0.9), "input", PROJECTED, "x"),
                Box("projected", "W x_t + b", "B 3·D", (1.5, -0.9), "residual", PROJECTED, "returned"),
                Line(("x", "projected"), "W, b", "input"),
            ),
        ),
        Step(
            "Update gate z, between 0 and 1: how much of each number of the old state stays.",
            (
                Sign("sum", "+", (1.5, 1.2)),
                Line(("from_state", "sum"), "", "state"),
                Line(("projected", "sum")),
                Box("z", "update z", "B D", (1.5, 2.3), "residual", GATES, "z"),
                Line(("sum", "z"), "σ"),
                Sign("keep", "⊙", (1.5, 4.15)),
                Line(("z", "keep")),
                Line(("h_before", "keep"), "", "state"),
            ),
        ),
        Step(
            "Reset gate r: how much of the old state the candidate will see.",
            (
                Box("r", "reset r", "B D", (2.6, 2.3), "residual", GATES, "r"),
                Line(("sum", (2.6, 1.2), "r"), "σ", label_on=1),
                Sign("reset", "⊙", (3.6, 2.3)),
                Line(("r", "reset")),
                Line(
                    ("from_state", (0, 0.1), (3.6, 0.1), "reset"),
                    "U_n h + b_n′",
                    "state",
                    label_on=2,
                    side="left",
                ),
            ),
        ),
        Step(
            "The candidate n: what could be written, from the word and "
            "from what the reset gate lets through.",
            (
                Sign("both", "+", (4.4, 2.3)),
                Line(("reset", "both"), "", "state"),
                Line(("projected", (4.4, -0.9), "both"), "W_n x + b_n", label_on=1),
                Box("n", "candidate n", "B D", (5.5, 2.3), "value", CANDIDATE),
                Line(("both", "n"), "tanh", "value"),
            ),
        ),
        Step(
            "The new state: z of the old and 1 − z of the candidate. The two "
            "fractions add up to one, so no third gate is needed.",
            (
                Sign("write", "⊙", (4.4, 3.3)),
                Line(((1.5, 3.3), "write"), "1 − z"),
                Line(("n", (5.5, 3.3), "write"), "", "value"),
                Sign("add", "+", (4.4, 4.15)),
                Line(("write", "add"), "", "value"),
                Line(("keep", "add"), "", "state"),
                Box("h", "h_t", "B D", (5.5, 4.15), "state", "return (n + z * (h - n),)", "returned[0]"),
                Line(("add", "h"), "", "state"),
            ),
        ),
    ),
)
