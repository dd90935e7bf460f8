"""Five ways to connect the inputs, states and outputs of a recurrent network."""

from course.figures.still import Still, still

KINDS = {  # steps at which there is an input, a state, an output
    "a  one to one": ([0], [0], [0]),
    "b  one to many": ([0], [0, 1, 2], [0, 1, 2]),
    "c  many to one": ([0, 1, 2], [0, 1, 2], [2]),
    "d  many, then many": ([0, 1], [0, 1, 2, 3], [2, 3]),
    "e  one for each": ([0, 1, 2], [0, 1, 2], [0, 1, 2]),
}
LOOKS = (("#E69F00", "s"), ("#0072B2", "o"), ("#009E73", "^"))  # of inputs, states, outputs, from below


def configurations() -> Still:
    """One small diagram for each of the five; squares are inputs, circles states, triangles outputs."""
    import matplotlib.pyplot as plt

    drawing, panels = plt.subplots(1, 5, figsize=(10, 2.4), sharey=True)
    for panel, (name, columns) in zip(panels, KINDS.items(), strict=True):
        for height, ((colour, marker), places) in enumerate(zip(LOOKS, columns, strict=True)):
            panel.plot(places, [height] * len(places), marker, color=colour, markersize=13)
        inputs, states, outputs = columns
        ends = [((t, 0), (t, 1)) for t in inputs] + [((t, 1), (t, 2)) for t in outputs]
        ends += [((t - 1, 1), (t, 1)) for t in states if t > 0]
        for start, end in ends:
            panel.annotate("", end, start, arrowprops={"arrowstyle": "->", "shrinkA": 9, "shrinkB": 9})
        panel.set(title=name, xlim=(-0.6, 3.6), ylim=(-0.5, 2.5), xticks=[])
        panel.set_yticks([0, 1, 2], ["input x", "state h", "output y"])
        panel.tick_params(length=0)
        panel.spines[:].set_visible(False)
    return still(
        drawing,
        alt="Five diagrams of inputs (squares), states (circles) and outputs (triangles): "
        "a, one input, one output; b, one input, three outputs; c, three inputs, one output at the end; "
        "d, two inputs, then two outputs; e, an output at each input.",
        caption="The same rule for a step, connected in five ways.",
    )
