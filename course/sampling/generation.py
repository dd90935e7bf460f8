"""The loop that generates text from a language model: read, choose a token, append it, repeat."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import nn

from course.language_model import LanguageModel, check_tokens
from course.sampling.bounds import expect_count
from course.sampling.next_token import NextToken, most_probable
from course.sampling.padded_prompts import reads_padding
from course.shapes import Int, Tensor

Chooser = Callable[[Tensor, Tensor], Tensor]


def generate(
    model: LanguageModel,
    prompt: Int[Tensor, "batch time"],
    n_tokens: int,
    choose: Chooser = most_probable,
    *,
    eos: int | None = None,
    use_cache: bool = True,
) -> Int[Tensor, "batch longer"]:
    """Append up to `n_tokens` tokens to each row of the prompt.

    `choose(logits (B, V), history (B, T)) → tokens (B,)` is `most_probable`, a `Sampler` or a `Mirostat`.
    Once a row has generated `eos`, it is filled with `eos`; generation ends when all rows have done so.
    Meanwhile a module is in evaluation mode, so dropout is off.
    """
    chosen = list(stream(model, prompt, n_tokens, choose, eos=eos, use_cache=use_cache))
    return torch.cat([prompt, *(tokens[:, None] for tokens in chosen)], dim=1)


def stream(
    model: LanguageModel,
    prompt: Int[Tensor, "batch time"],
    n_tokens: int,
    choose: Chooser = most_probable,
    *,
    eos: int | None = None,
    use_cache: bool = True,
) -> Iterator[Int[Tensor, " batch"]]:
    """The tokens that `generate` appends, each as soon as it is chosen."""
    expect_count("n_tokens", n_tokens, 10**9, "any length")
    check_tokens(prompt.clamp(min=0) if reads_padding(model) else prompt, model.vocab_size)
    training = model if isinstance(model, nn.Module) and model.training else None
    if training is not None:
        training.eval()
    try:
        yield from _chosen(NextToken(model, use_cache=use_cache), prompt, n_tokens, choose, eos)
    finally:
        if training is not None:
            training.train()


@torch.no_grad()
def _chosen(
    next_token: NextToken, tokens: Tensor, n_tokens: int, choose: Chooser, eos: int | None
) -> Iterator[Tensor]:
    has_ended = torch.zeros(len(tokens), dtype=torch.bool, device=tokens.device)
    for _ in range(n_tokens):
        chosen = choose(next_token(tokens), tokens)
        if eos is not None:
            chosen = chosen.masked_fill(has_ended, eos)
            has_ended = has_ended | (chosen == eos)
        yield chosen
        if has_ended.all():
            break
        tokens = torch.cat([tokens, chosen[:, None]], dim=1)


def greedy(
    model: LanguageModel, prompt: Int[Tensor, "batch time"], n_tokens: int, *, eos: int | None = None
) -> Int[Tensor, "batch longer"]:
    """Always append the most probable next token; the text as a whole need not be the most probable one."""
    return generate(model, prompt, n_tokens, most_probable, eos=eos)


def without_ending(row: Int[Tensor, " time"], eos: int) -> list[int]:
    """The tokens of a generated row before the first `eos`."""
    tokens = row.tolist()
    return tokens[: tokens.index(eos)] if eos in tokens else tokens
