"""Can a recurrent network learn to recall an object many words after it was named?

    tickets  then she went to the shop   →  tickets        distance 6

A text is one object followed by small talk of random words; the model must predict the object again at the
end. A new network is trained for every distance, so its accuracy shows what the gradient can teach over this
distance, without help from shorter ones.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from course.models.recurrent_language_model import Cell, RecurrentConfig, RecurrentLanguageModel
from course.training import TrainingConfig, train

THINGS = ("tickets", "letters", "maps", "cards", "notes", "lists", "signs", "labels")
SMALL_TALK = ("then", "she", "went", "to", "the", "shop", "for", "toner", "it", "was", "dear", "again")
WORDS = THINGS + SMALL_TALK


def recall_texts(distance: int, n_texts: int, generator: torch.Generator) -> Tensor:
    """Tokens (B, distance + 1): an object at step 0, then small talk; the object is the next token.

    Raises ValueError for a distance below 1.
    """
    if distance < 1:
        raise ValueError(f"distance: expected at least 1, got {distance}")
    tokens = torch.randint(len(THINGS), len(WORDS), (n_texts, distance + 1), generator=generator)
    tokens[:, 0] = torch.randint(len(THINGS), (n_texts,), generator=generator)
    return tokens


def recall_loss(model: nn.Module, example: tuple[Tensor, ...]) -> Tensor:
    """−log P in nats of the object of step 0, predicted after the last word of a text."""
    (tokens,) = example
    return -model(tokens)[:, -1].gather(-1, tokens[:, :1]).mean()


def recall_network(cell: Cell, seed: int = 0) -> RecurrentLanguageModel:
    """An untrained network for these texts."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return RecurrentLanguageModel(RecurrentConfig(len(WORDS), cell, d_embedding=16, d_hidden=32))


def recall_accuracy(cell: Cell, distance: int, n_steps: int = 150, seed: int = 0) -> float:
    """Fraction of objects that a new network recalls after training at this distance; chance is 1/8."""
    model = recall_network(cell, seed)

    def batches(step: int) -> tuple[Tensor]:
        return (recall_texts(distance, 32, torch.Generator().manual_seed(step)),)

    train(model, batches, TrainingConfig(n_steps, learning_rate=1e-2), loss=recall_loss, device="cpu")
    tokens = recall_texts(distance, 300, torch.Generator().manual_seed(n_steps + 1))
    with torch.no_grad():
        return (model(tokens)[:, -1].argmax(-1) == tokens[:, 0]).float().mean().item()
