"""A sentence in which the reader masks one word, and the predictions of one or two models for it."""

from collections.abc import Mapping, Sequence

from torch import Tensor

from course.figures.figure import Figure, png


def fill_in(
    tokens: Sequence[str],
    readers: Mapping[str, Tensor],
    words: Sequence[str],
    *,
    start: int = 0,
    n_shown: int = 5,
    caption: str = (
        "The words around a hole narrow down what can stand in it; what did stand there is "
        "underlined. Click a word."
    ),
) -> Figure:
    """Show P(word at t | the rest) for every position t of a sentence, by one or two models (name → probs).

    readers: probabilities (T, V) of each model, row t computed with word t masked. words: the V words. Raises
    ValueError if shapes and names do not match, or if a row is not a distribution.
    """
    tokens, words = list(tokens), list(words)
    if not 1 <= len(readers) <= 2:
        raise ValueError(f"readers: expected one or two, got {len(readers)}")
    if not 0 <= start < len(tokens):
        raise ValueError(f"start: expected 0 … {len(tokens) - 1}, got {start}")
    listed = [
        {"name": name, "guesses": best(checked(name, probs, len(tokens), words), words, n_shown)}
        for name, probs in readers.items()
    ]
    told = "; ".join(f"{reader['name']}: {spoken(reader['guesses'][start])}" for reader in listed)
    sentence = " ".join(["<mask>" if t == start else token for t, token in enumerate(tokens)])
    return Figure(
        name="fill_in",
        data={"tokens": tokens, "readers": listed, "start": start},
        alt=f"“{sentence}”. Guesses for the hidden word, {told}.",
        caption=caption,
        picture=png(bars(listed, start, sentence)),
    )


def checked(name: str, probs: Tensor, n_tokens: int, words: Sequence[str]) -> Tensor:
    """The probabilities on the CPU, or an error that says what was expected."""
    if probs.shape != (n_tokens, len(words)):
        raise ValueError(f"{name}: expected shape ({n_tokens}, {len(words)}), got {tuple(probs.shape)}")
    probs = probs.detach().cpu().double()
    if (probs < 0).any() or ((probs.sum(-1) - 1).abs() > 1e-3).any():
        raise ValueError(f"{name}: expected rows that sum to one (probabilities, not log-probabilities)")
    return probs


def best(probs: Tensor, words: Sequence[str], n_shown: int) -> list[list[list]]:
    """For each position, the most probable words with their probabilities: [["plot", 0.71], …]."""
    values, places = probs.topk(min(n_shown, len(words)))
    return [
        [[words[place], round(value, 5)] for value, place in zip(*row, strict=True)]
        for row in zip(values.tolist(), places.tolist(), strict=True)
    ]


def spoken(guesses: Sequence[Sequence]) -> str:
    return ", ".join(f"{word} {p:.2f}" for word, p in guesses[:3])


def bars(readers: Sequence[dict], start: int, sentence: str):
    """The fallback picture: the predictions at the first position shown."""
    import matplotlib.pyplot as plt

    drawing, axes = plt.subplots(1, len(readers), figsize=(7, 2.4), squeeze=False)
    for panel, reader, colour in zip(axes[0], readers, ("#0072B2", "#B35900"), strict=False):
        guesses = reader["guesses"][start][::-1]
        panel.barh([word for word, _ in guesses], [p for _, p in guesses], color=colour)
        panel.set(title=reader["name"], xlim=(0, 1))
    drawing.suptitle(sentence, fontsize=9)
    drawing.tight_layout()
    return drawing
