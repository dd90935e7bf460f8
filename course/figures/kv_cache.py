"""Generation with and without a KV cache."""

from collections.abc import Sequence

from course.figures.figure import Figure, png


def kv_cache(
    tokens: Sequence[str],
    n_prompt: int,
    *,
    n_layers: int = 2,
    d_model: int = 64,
    caption: str = (
        "With a memory of keys and values, a step computes one new pair; without it, all of them again."
    ),
) -> Figure:
    """Show which keys and values each step of generation computes, after a prompt of `n_prompt` tokens.

    tokens: the whole text, 2 … 24 tokens. Raises ValueError unless 1 ≤ n_prompt < number of tokens.
    """
    tokens = list(tokens)
    if not 2 <= len(tokens) <= 24:
        raise ValueError(f"tokens: expected 2 … 24, got {len(tokens)}")
    if not 1 <= n_prompt < len(tokens):
        raise ValueError(f"n_prompt: expected 1 … {len(tokens) - 1}, so that a token is left, got {n_prompt}")
    remembering, forgetting = pairs_computed(len(tokens), n_prompt)
    return Figure(
        name="kv_cache",
        data={"tokens": tokens, "prompt": n_prompt, "layers": n_layers, "width": d_model},
        alt=f"Writing {len(tokens) - n_prompt} tokens after a prompt of {n_prompt}: each layer computes "
        f"{remembering} pairs of key and value if it remembers them, {forgetting} if it does not.",
        caption=caption,
        picture=png(grid(tokens, n_prompt)),
    )


def pairs_computed(n_tokens: int, n_prompt: int) -> tuple[int, int]:
    """Pairs of key and value per layer until the last token is chosen: with a cache, without one.

    12 tokens after a prompt of 5 → (11, 56): each of the first 11 once, or 5 + 6 + … + 11.
    """
    return n_tokens - 1, sum(range(n_prompt, n_tokens))


def grid(tokens: Sequence[str], n_prompt: int):
    """The fallback picture: steps by positions, computed cells dark."""
    import matplotlib.pyplot as plt

    drawing, axes = plt.subplots(figsize=(7, 3.2))
    steps = len(tokens) - n_prompt
    shades = [
        [1.0 if step == 0 or t == n_prompt + step - 1 else 0.35 for t in range(n_prompt + step)]
        + [0.0] * (steps - step)
        for step in range(steps)
    ]
    axes.imshow(shades, cmap="Oranges", vmin=0, vmax=1.2, aspect="auto")
    axes.set_xticks(range(len(tokens)), tokens, rotation=45, ha="right")
    axes.set_yticks(range(steps), [f"step {step + 1}" for step in range(steps)])
    return drawing
