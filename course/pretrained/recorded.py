"""What the lectures show of SmolLM2: recorded, so that a page is the same with and without its weights.

Each function answers from the record if its question is there, and otherwise asks the model itself; without
the weights it then raises NotInstalled.
"""

from __future__ import annotations

import json
import math
from functools import cache, partial
from pathlib import Path
from typing import cast

import torch
from safetensors.torch import load_file, save_file
from torch import nn

from course.models.attention import attention_weights, dot_scores
from course.models.grouped_query_attention import GroupedQueryAttention
from course.models.llama import LlamaBlock
from course.models.multi_head_attention import split_heads
from course.models.positions import rotate_pairs
from course.pretrained.predictions import loaded
from course.pretrained.smollm2 import Pretrained
from course.sampling.generation import stream
from course.sampling.next_token import most_probable
from course.sampling.penalties import (
    dry,
    frequency_penalty,
    no_repeat_ngram,
    presence_penalty,
    repetition_penalty,
)
from course.sampling.pipeline import Transform
from course.sampling.temperatures import temperature
from course.shapes import Float, Tensor

TEXTS = Path(__file__).with_name("recorded_texts.json")
TENSORS = Path(__file__).with_name("recorded_tensors.safetensors")
N_TOKENS, N_LOOPING = 12, 60  # of a continuation, and of one that is long enough to repeat itself
N_BEFORE = (1, 2, 4, 8, 16, 32)  # tokens that a model is shown before the one that it is asked for
N_RANDOM, N_ROWS = 24, 8  # tokens that are read twice, and how often

REVIEW = (
    "The restaurant refused to serve me a ham sandwich, because it only cooks vegetarian food. In the end,"
    " they just gave me two slices of bread. Their ambience was just as good as the food and service."
)
APPLE = "I ate an apple because it was tasty"
TWICE = "Ilka Brunnhild Osmotar sold nine green kettles. In the evening Ilka Brunnhild Osmotar"
LETTER = (  # written for the course, so that no model has read it
    "Dear Tomas, the boat you left behind our shed has become a home. In March a pair of ducks moved in"
    " under the bench, and since then nobody here dares to move it. My brother wanted to paint the boat"
    " before the summer, but the ducks have no opinion on colours and a firm one on visitors. So the paint"
    " stands in the shed, the brushes are dry, and every morning we count the eggs. There were nine of them"
    " yesterday. Please do not hurry with your trailer: the boat is used more now than in all the years when"
    " it was yours."
)
OPEN, NARROW = "The cat sat on the", "It takes great"
FLAT, PEAKED = "Once upon a time there was a", "The capital of France is"
CONTEXTS = (OPEN, NARROW, FLAT, PEAKED)  # whose next tokens are recorded
LOOP = "In the forest there was"  # continued greedily, it says the same sentence for ever
AGAIN = " The villagers"  # and so this one begins

ARTICLE_1 = (  # of the Universal Declaration of Human Rights
    "All human beings are born free and equal in dignity and rights.",
    "Alle Menschen sind frei und gleich an Würde und Rechten geboren.",
    "Tous les êtres humains naissent libres et égaux en dignité et en droits.",
    "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα.",
    "人人生而自由，在尊严和权利上一律平等。",
)
FRENCH = "English: house. French: maison.\nEnglish: water. French: eau.\nEnglish: cheese. French:"
CUT = (
    "strawberry",
    " strawberry",
    "an ERROR",
    "9.11 > 9.9",
    "1000000",
    "31.12.1999",
    "Nora Ephron",
    "Mary Smith",
    "Nguyễn Văn Minh",
    "naïve café",
    "no 🙂 yes 🙃",
    " SolidGoldMagikarp",
    "the value of",
    "the value ",
    *ARTICLE_1,
    REVIEW,
    APPLE,
    TWICE,
    FRENCH,
)
CONTINUED = (
    "young →",
    "hot → cold\nbig → small\nlight → dark\nyoung →",
    "English: cheese. French:",
    FRENCH,
    "The capital of Italy is",
    NARROW,
)
HEADS = {  # a text, and the heads (layer, head), counted from 0, whose weights on it are recorded
    REVIEW: ((13, 8), (16, 0), (11, 6), (22, 0)),
    APPLE: ((25, 2), (16, 0)),
    TWICE: ((16, 0), (18, 6)),
}
UNCHANGED: Transform = partial(temperature, t=1.0)
PENALTIES: dict[str, Transform] = {
    "greedy": UNCHANGED,
    "presence 1": partial(presence_penalty, penalty=1.0),
    "frequency 1": partial(frequency_penalty, penalty=1.0),
    "repetition 1.3": partial(repetition_penalty, penalty=1.3),
    "DRY 2": partial(dry, multiplier=2.0),
    "no repeat 3": partial(no_repeat_ngram, n=3),
}


def cut(text: str) -> list[str]:
    """The text split by SmolLM2's tokenizer; bytes that are not a character by themselves are shown as �."""
    cuts = recorded_texts()["cuts"]
    return cuts[text] if text in cuts else cut_by(loaded(), text)


def continued(prompt: str) -> str:
    """Twelve tokens that continue the prompt by greedy decoding."""
    texts = recorded_texts()["continuations"]
    return texts[prompt] if prompt in texts else continued_by(loaded(), prompt)


def encoded(text: str) -> list[int]:
    """The numbers of the text's tokens."""
    numbers = recorded_texts()["numbers"]
    return numbers[text] if text in numbers else loaded().tokenizer.encode(text)


def penalised(prompt: str) -> dict[str, str]:
    """Sixty tokens that continue the prompt by greedy decoding, under each of the `PENALTIES`."""
    texts = recorded_texts()["penalised"]
    return texts[prompt] if prompt in texts else penalised_by(loaded(), prompt)


def next_log_probs(context: str) -> Float[Tensor, " vocab"]:
    """Natural logarithms of the probabilities of all 49,152 tokens after a context (recorded in 16 bits)."""
    recorded = recorded_tensors()
    log_probs = recorded[context] if context in recorded else log_probs_by(loaded(), context)
    return log_probs.double().log_softmax(-1)


def bits_by_context(text: str) -> dict[int, list[float]]:
    """For each n of `N_BEFORE`: the bits of every token from the 33rd on, given the n tokens before it."""
    recorded = recorded_texts()["bits_by_context"]
    if text not in recorded:
        return bits_by_context_by(loaded(), text)
    return {int(n): bits for n, bits in recorded[text].items()}


def shares_of_heads() -> dict[str, Float[Tensor, "layer head"]]:
    """How much of its weight each head gives to two places, in random tokens that are read twice.

    "word before": to the token before. "copies": to the token that followed when the present one came
    before. Both are means over the second reading.
    """
    return {name: recorded_tensors()[name].double() for name in ("word before", "copies")}


def look(text: str, layer: int, head: int) -> Float[Tensor, "tokens tokens"]:
    """The attention weights of one head, counted from 0; row i is the distribution of token i over tokens."""
    recorded, name = recorded_tensors(), f"{text}|{layer}|{head}"
    weights = recorded[name] if name in recorded else look_by(loaded(), text, layer, head)
    return weights.double() / weights.double().sum(-1, keepdim=True)


@cache
def recorded_texts() -> dict[str, dict]:
    """Tokens, their numbers, and continuations."""
    return json.loads(TEXTS.read_text(encoding="utf-8"))


@cache
def recorded_tensors() -> dict[str, Tensor]:
    """Distributions by context, and weights by text, layer and head."""
    return load_file(TENSORS)


def cut_by(pretrained: Pretrained, text: str) -> list[str]:
    return [pretrained.tokenizer.decode([token]) for token in pretrained.tokenizer.encode(text)]


def continued_by(
    pretrained: Pretrained, prompt: str, n_tokens: int = N_TOKENS, change: Transform = UNCHANGED
) -> str:
    def choose(logits: Tensor, history: Tensor) -> Tensor:
        return most_probable(change(logits, history))

    chosen = stream(pretrained.model, as_batch(pretrained, prompt), n_tokens, choose)
    return pretrained.tokenizer.decode([int(row[0]) for row in chosen])


def penalised_by(pretrained: Pretrained, prompt: str) -> dict[str, str]:
    return {name: continued_by(pretrained, prompt, N_LOOPING, change) for name, change in PENALTIES.items()}


@torch.no_grad()
def log_probs_by(pretrained: Pretrained, context: str) -> Float[Tensor, " vocab"]:
    return pretrained.model.next_log_probs(as_batch(pretrained, context))[0].cpu()


def look_by(pretrained: Pretrained, text: str, layer: int, head: int) -> Float[Tensor, "tokens tokens"]:
    return looks_by(pretrained, as_batch(pretrained, text))[layer, 0, head].cpu()


@torch.no_grad()
def looks_by(pretrained: Pretrained, tokens: Tensor) -> Float[Tensor, "layer batch head tokens tokens"]:
    """The attention weights of all heads for token numbers (B, T)."""
    seen, handles = [], []

    def remember(attention: nn.Module, arguments: tuple[Tensor, ...]) -> None:
        x, turn, mask, *_ = arguments
        attention = cast(GroupedQueryAttention, attention)
        q = rotate_pairs(split_heads(attention.W_query(x), attention.n_heads), turn)  # (B, H, T, d_k)
        k = rotate_pairs(split_heads(attention.W_key(x), attention.n_groups), turn)  # (B, G, T, d_k)
        k = k.repeat_interleave(attention.n_heads // attention.n_groups, dim=1)  # (B, H, T, d_k)
        seen.append(attention_weights(dot_scores(q, k) / math.sqrt(q.shape[-1]), mask))

    try:
        for block in pretrained.model.blocks:
            handles.append(cast(LlamaBlock, block).attention.register_forward_pre_hook(remember))
        pretrained.model.hidden(tokens)
    finally:
        for handle in handles:
            handle.remove()
    return torch.stack(seen)


def shares_by(pretrained: Pretrained) -> dict[str, Float[Tensor, "layer head"]]:
    device, n = pretrained.model.embedding.weight.device, N_RANDOM
    n_tokens, generator = pretrained.model.config.vocab_size, torch.Generator().manual_seed(0)
    once = torch.randint(n_tokens, (N_ROWS, n), generator=generator).to(device)
    looks = looks_by(pretrained, torch.cat([once, once], dim=1))  # (L, B, H, 2n, 2n)
    before, after = looks.diagonal(-1, -2, -1), looks.diagonal(1 - n, -2, -1)
    shares = {"word before": before[..., n - 1 :], "copies": after[..., 1:]}  # of tokens n to 2n − 1
    return {name: share.mean((1, 3)).cpu() for name, share in shares.items()}


@torch.no_grad()
def bits_by_context_by(pretrained: Pretrained, text: str) -> dict[int, list[float]]:
    tokens, bits = as_batch(pretrained, text)[0], {}
    for n in N_BEFORE:
        windows = tokens[max(N_BEFORE) - n :].unfold(0, n + 1, 1)  # (N, n + 1)
        log_probs = pretrained.model(windows[:, :-1])[:, -1]  # (N, V)
        found = -log_probs.gather(-1, windows[:, -1:])[:, 0] / math.log(2)
        bits[n] = [round(each, 3) for each in found.tolist()]
    return bits


def as_batch(pretrained: Pretrained, text: str) -> Tensor:
    """Token numbers (1, T)."""
    return torch.tensor([pretrained.tokenizer.encode(text)], device=pretrained.model.embedding.weight.device)


def write_record(pretrained: Pretrained) -> None:
    """Ask the model everything that the lectures show, and keep its answers."""
    penalised = penalised_by(pretrained, LOOP)
    in_the_loop = LOOP + penalised["greedy"] + AGAIN
    texts = {
        "about": "Answers of SmolLM2-135M-Instruct (Q4_1), written by python -m course.pretrained.",
        "cuts": {text: cut_by(pretrained, text) for text in CUT},
        "continuations": {prompt: continued_by(pretrained, prompt) for prompt in CONTINUED},
        "penalised": {LOOP: penalised},
        "bits_by_context": {LETTER: bits_by_context_by(pretrained, LETTER)},
        "numbers": {text: pretrained.tokenizer.encode(text) for text in (*CONTEXTS, in_the_loop)},
    }
    TEXTS.write_text(json.dumps(texts, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    tensors = {context: log_probs_by(pretrained, context) for context in CONTEXTS}
    tensors[in_the_loop] = log_probs_by(pretrained, in_the_loop)
    for text, heads in HEADS.items():
        tensors |= {f"{text}|{layer}|{head}": look_by(pretrained, text, layer, head) for layer, head in heads}
    tensors |= shares_by(pretrained)
    save_file({name: tensor.half().contiguous() for name, tensor in tensors.items()}, TENSORS)
