"""What homework 0 asks SmolLM2: recorded, so that its checks are the same with and without the weights.

Each function answers from the record if its question is there, and otherwise asks the model itself; without
the weights it then raises NotInstalled.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import torch

from course.models.linear import linear
from course.pretrained.chat import Message, as_text
from course.pretrained.predictions import loaded
from course.pretrained.recorded import continued_by
from course.pretrained.smollm2 import Pretrained
from course.shapes import Float, Int, Tensor

RECORD = Path(__file__).with_name("explored.json")
OTHER = "(any other)"
N_KEPT = 20  # of the most probable tokens at each place
N_TOKENS = 24  # of a continuation

PIZZA, PRESIDENT = "I always order pizza with cheese and", "The 33rd President of the US was"
TEXTS = (  # a context, and what follows it
    ("", "I saw a van"),
    ("", "eyes awe of an"),
    *((PIZZA, text) for text in (" mushrooms", " pepperoni", " anchovies", " fried rice", " and")),
    *((PRESIDENT, text) for text in (" Harry S. Truman", " George Washington", " Barack Obama")),
)
WORDINGS = tuple(  # the same question four times
    (
        f"The capital of {country} is",
        f"The city that is the capital of {country} is",
        f"{country}'s capital city is called",
        f"Q: What is the capital of {country}?\nA:",
    )
    for country in ("France", "Australia")
)
ASKED = ("What is the capital of France?", "Name three fruits.", "Can you help me")
PROMPTS = (*ASKED, *(as_text([Message("user", question)]) for question in ASKED))
GAME = (  # the beginning of a sentence, and the word that came
    ("She opened her umbrella because it had started to", " rain"),
    ("He put the milk back into the", " fridge"),
    ("The boat has a hole and is slowly beginning to", " sink"),
    ("Shall I compare thee to a summer's", " day"),
    ("My grandmother keeps her old letters in a", " shoebox"),
    ("We missed the train, so we waited two hours at the", " station"),
    ("Anna gave Ben a book. The book now belongs to", " Ben"),
    ("The opposite of generous is", " stingy"),
    ("Seven plus five is", " twelve"),
    ("It was a bright cold day in April, and the clocks were striking", " thirteen"),
)


@dataclass(frozen=True)
class Expected:
    """What the model expects at N places, over the V pieces of text that matter there.

    pieces: the pieces; the last one, `OTHER`, stands for all that are not listed, so that the softmax of a
    row gives to each piece the probability that it has among all 49,152.
    logits: one row for each place.
    tokens: the number of the piece that came at each place; empty where nothing was said to follow.
    """

    pieces: tuple[str, ...]
    logits: Float[Tensor, "time vocab"]
    tokens: Int[Tensor, " time"]


def expected(text: str, context: str = "") -> Expected:
    """What the model expects in the place of each token of a text, after those before it."""
    entry = read_record()["texts"].get((context, text))
    return as_expected(entry) if entry else expected_by(loaded(), text, context)


def next_after(contexts: Sequence[str]) -> Expected:
    """What the model expects after each of several contexts."""
    entry = read_record()["contexts"].get(tuple(contexts))
    return as_expected(entry) if entry else next_by(loaded(), contexts)


def said_after(prompt: str) -> str:
    """The most probable next token, 24 times, with the marks that the model writes between speakers."""
    texts = read_record()["said"]
    return texts[prompt] if prompt in texts else said_by(loaded(), prompt)


@cache
def read_record() -> dict[str, dict]:
    """The record: texts by (context, text), next tokens by their contexts, continuations by their prompt."""
    record = json.loads(RECORD.read_text(encoding="utf-8"))
    return {
        "texts": {(each["context"], each["text"]): each for each in record["texts"]},
        "contexts": {tuple(each["contexts"]): each for each in record["contexts"]},
        "said": record["said"],
    }


def as_expected(entry: dict) -> Expected:
    """New tensors at each call, so that nobody's changes in place reach another caller."""
    logits = torch.tensor(entry["logits"], dtype=torch.float64)
    return Expected(tuple(entry["pieces"]), logits, torch.tensor(entry["tokens"], dtype=torch.int64))


def expected_by(pretrained: Pretrained, text: str, context: str = "") -> Expected:
    encode = pretrained.tokenizer.encode
    before, tokens = encode(context) or [pretrained.end_of_text], encode(text)
    return narrowed(pretrained, logits_by(pretrained, before + tokens)[len(before) - 1 : -1], tokens)


def next_by(pretrained: Pretrained, contexts: Sequence[str]) -> Expected:
    rows = [logits_by(pretrained, pretrained.tokenizer.encode(context))[-1] for context in contexts]
    return narrowed(pretrained, torch.stack(rows), [])


def said_by(pretrained: Pretrained, prompt: str) -> str:
    return continued_by(pretrained, prompt, N_TOKENS)


@torch.no_grad()
def logits_by(pretrained: Pretrained, tokens: Sequence[int]) -> Float[Tensor, "time vocab"]:
    model = pretrained.model
    hidden = model.hidden(torch.tensor([tokens], device=model.embedding.weight.device))[0]
    return linear(hidden, model.embedding.weight).double().cpu()


def narrowed(pretrained: Pretrained, logits: Float[Tensor, "time vocab"], tokens: Sequence[int]) -> Expected:
    """The columns of the likeliest tokens of every place and of those that came; the others added up."""
    kept = sorted({*logits.topk(N_KEPT).indices.flatten().tolist(), *tokens})
    others = logits.clone()
    others[:, kept] = -torch.inf
    narrow = torch.cat([logits[:, kept], others.logsumexp(-1, keepdim=True)], dim=-1)
    pieces = [pretrained.tokenizer.decode([token]) for token in kept]
    places = torch.tensor([kept.index(token) for token in tokens], dtype=torch.int64)
    return Expected((*pieces, OTHER), narrow, places)


def as_entry(found: Expected) -> dict:
    rounded = [[round(value, 4) for value in row] for row in found.logits.tolist()]
    return {"pieces": found.pieces, "tokens": found.tokens.tolist(), "logits": rounded}


def write_explored(pretrained: Pretrained) -> None:
    """Ask the model everything that homework 0 asks, and keep its answers."""
    record = {
        "about": "Answers of SmolLM2-135M-Instruct (Q4_1), written by python -m course.pretrained.",
        "texts": [
            {"context": context, "text": text, **as_entry(expected_by(pretrained, text, context))}
            for context, text in (*TEXTS, *GAME)
        ],
        "contexts": [
            {"contexts": contexts, **as_entry(next_by(pretrained, contexts))} for contexts in WORDINGS
        ],
        "said": {prompt: said_by(pretrained, prompt) for prompt in PROMPTS},
    }
    text = json.dumps(record, ensure_ascii=False).replace("}, {", "},\n{")
    RECORD.write_text(text + "\n", encoding="utf-8")
