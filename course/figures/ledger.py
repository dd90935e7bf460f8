"""The cost of a GPT of any size: shapes, operations, and bytes against a GPU's memory."""

from collections.abc import Mapping
from dataclasses import dataclass

from course.figures.figure import Figure, png
from course.models.gpt import GPTConfig
from course.models.ledger import GPT2_SMALL, GPT2_XL, GPT3, gpt_ledger

WIDTHS = (64, 128, 256, 384, 512, 768, 1024, 1280, 1600, 2048, 4096, 8192, 12_288)
SMALL = GPTConfig(vocab_size=187, context_length=128, d_model=64, n_heads=4, n_layers=2)
MODELS = {"GPT-2 small": GPT2_SMALL, "a GPT of this course": SMALL, "GPT-2 XL": GPT2_XL, "GPT-3": GPT3}


@dataclass(frozen=True)
class Card:
    """An accelerator as its data sheet describes it; the defaults are those of NVIDIA's T4."""

    name: str = "T4"
    memory: float = 16e9  # bytes
    bandwidth: float = 300e9  # bytes per second
    float32: float = 8.1e12  # operations per second at the very most
    float16: float = 65e12


def ledger(
    models: Mapping[str, GPTConfig] | None = None,
    *,
    batch_size: int = 8,
    card: Card | None = None,
    caption: str = (
        "In training, gradients and Adam take at least three times the memory of the weights; "
        "in generation, keys and values are kept instead."
    ),
) -> Figure:
    """Show the cost of a GPT of any size, starting with the given models (including the reader's own).

    A model's context length is both the size of its table of positions and the length T of its texts.
    Activations are counted for fused kernels, which never store the T × T weights.
    Raises ValueError for a size that the sliders cannot show.
    """
    models = MODELS if models is None else models
    presets = [preset(name, config, batch_size) for name, config in models.items()]
    name, config = next(iter(models.items()))
    n_parameters = gpt_ledger(config).n_parameters
    return Figure(
        name="ledger",
        data={"presets": presets, "card": vars(card or Card()), "widths": list(WIDTHS)},
        alt=f"A table of the products in one block and bars of memory. To begin with, {name}: "
        f"{n_parameters:,} parameters, {16 * n_parameters / 1e9:.3g} GB for weights, gradients and Adam.",
        caption=caption,
        picture=png(bars(models)),
    )


def preset(name: str, config: GPTConfig, batch_size: int) -> dict[str, str | int]:
    """A model's sizes under their letters, or an error that names the size that cannot be shown."""
    T, D, F = config.context_length, config.d_model, config.block().d_ff
    for size, value in (("batch_size", batch_size), ("context_length", T)):
        if value & (value - 1) or value < 1:
            raise ValueError(f"{name}: {size}: expected a power of two, got {value}")
    if D not in WIDTHS:
        raise ValueError(f"{name}: d_model: expected one of {WIDTHS}, got {D}")
    if F != 4 * D or config.positions != "learned":
        raise ValueError(f"{name}: expected d_ff = 4 d_model and learned positions")
    sizes = {"V": config.vocab_size, "B": batch_size, "T": T, "D": D}
    return {"name": name, **sizes, "H": config.n_heads, "L": config.n_layers}


def bars(models: Mapping[str, GPTConfig]):
    """The fallback picture: parameters of each model, on a logarithmic axis."""
    import matplotlib.pyplot as plt

    counts = {name: gpt_ledger(config).n_parameters for name, config in models.items()}
    drawing, axes = plt.subplots(figsize=(6, 0.8 + 0.4 * len(counts)))
    drawn = axes.barh(list(counts)[::-1], list(counts.values())[::-1], color="#0072B2")
    axes.bar_label(drawn, [f"{count:,}" for count in list(counts.values())[::-1]], padding=3)
    axes.set(xscale="log", xlabel="parameters", xlim=(1e3, 1e14))
    return drawing
