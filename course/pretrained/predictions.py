"""What SmolLM2 expects next: computed live if it is installed, and read from a record if not."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

import torch

from course.pretrained.smollm2 import INSTALL, NotInstalled, Pretrained, is_installed, smollm2

STORED = Path(__file__).with_name("stored.json")
N_LIKELY = 20

# Each context with what is asked to follow it. An empty context is the beginning of a text.
QUESTIONS = (
    ("", "I saw a van"),
    ("", "eyes awe of an"),
    ("I saw a", " van"),
    ("I always order pizza with cheese and", " mushrooms"),
    ("I always order pizza with cheese and", " broccoli"),
    ("The 33rd President of the US was", " Harry S. Truman"),
    ("The students opened their", " books"),
    ("The students opened their", " minds"),
    ("It takes great", " courage"),
    ("The capital of France is", " Paris"),
    ("Two plus two is", " four"),
    ("The keys to the cabinet", " are"),
    ("The keys to the cabinet", " is"),
    ("Once upon a", " time"),
    ("Once upon a time there was a", " princess"),
    ("In the forest there was a small village. The villagers", " loved"),
    ("The cat sat on the", " mat"),
    ("def add(a, b):\n    return", " a + b"),
    ("The key to the cabinets", " are"),
    ("The key to the cabinets", " is"),
    ("The capital of Australia is", " Canberra"),
    ("The opposite of hot is", " cold"),
    ("The sun rises in the", " east"),
    ("A robin is a", " bird"),
    ("The day after Monday is", " Tuesday"),
    ("17 + 26 = ", "43"),
    ("The trophy does not fit into the suitcase because the trophy is too", " big"),
    ("The trophy does not fit into the suitcase because the suitcase is too", " small"),
    ("So long, and thanks for all the", " fish"),
    ("", "So long, and thanks for all the fish."),
    ("", "Learning deep learning is fun"),
    ("In the evening Ilka", " Brunnhild"),
    ("Ilka Brunnhild Osmotar sold nine green kettles. In the evening Ilka", " Brunnhild"),
)


@dataclass(frozen=True)
class Candidate:
    """A token that may come next. Rank 1 is the most probable one."""

    text: str
    probability: float
    rank: int

    @property
    def bits(self) -> float:
        """How surprising the token is: −log₂ of its probability."""
        return -math.log2(self.probability)


@dataclass(frozen=True)
class Prediction:
    """The most probable tokens after a context, and the tokens of what is said to follow."""

    context: str
    continuation: str
    likely: tuple[Candidate, ...]  # the 20 most probable, the first first
    followed: tuple[Candidate, ...]  # the tokens of the continuation, each after those before it
    is_stored: bool  # read from the record, not computed now

    @property
    def probability(self) -> float:
        """P(continuation | context), the product over its tokens."""
        return math.prod(candidate.probability for candidate in self.followed)

    def __str__(self) -> str:
        source = "stored" if self.is_stored else "computed now"
        rows = [f"{candidate.probability:7.2%}  {candidate.text!r}" for candidate in self.likely[:10]]
        return "\n".join([f"{self.context!r}, then ({source}):", *rows])


def predict(context: str, continuation: str = "", pretrained: Pretrained | None = None) -> Prediction:
    """What follows a context, according to SmolLM2, live if it is installed or given, else from the record.

    Raises NotInstalled for a question that only the model itself could answer.
    """
    if pretrained is not None:
        return ask(pretrained, context, continuation)
    if is_installed():
        return ask(loaded(), context, continuation)
    for stored in read_stored():
        if stored.context == context and continuation in ("", stored.continuation):
            return stored
    known = ", ".join(repr(context + continuation) for context, continuation in QUESTIONS)
    raise NotInstalled(
        f"No stored prediction for {context!r} and {continuation!r}; stored are {known}."
        f" To ask anything else: {INSTALL}"
    )


@cache
def loaded() -> Pretrained:
    """The model, loaded once in a process."""
    return smollm2()


@torch.no_grad()
def ask(pretrained: Pretrained, context: str, continuation: str = "") -> Prediction:
    """The model's prediction, computed in one pass over the context and its continuation."""
    encode, model = pretrained.tokenizer.encode, pretrained.model
    before = encode(context) or [pretrained.end_of_text]
    after = encode(continuation)
    tokens = torch.tensor([before + after], device=model.embedding.weight.device)
    probs = model(tokens)[0, len(before) - 1 :].double().exp().cpu()  # (1 + tokens that follow, V)
    likely = probs[0].topk(N_LIKELY).indices.tolist()
    return Prediction(
        context,
        continuation,
        likely=tuple(candidate(pretrained, probs[0], token) for token in likely),
        followed=tuple(candidate(pretrained, row, token) for row, token in zip(probs, after, strict=False)),
        is_stored=False,
    )


def candidate(pretrained: Pretrained, probs: torch.Tensor, token: int) -> Candidate:
    """One token with its probability and its rank."""
    rank = 1 + int((probs > probs[token]).sum())
    return Candidate(pretrained.tokenizer.decode([token]), float(probs[token]), rank)


def read_stored(path: Path = STORED) -> list[Prediction]:
    """The record's predictions."""
    stored = []
    for entry in json.loads(path.read_text(encoding="utf-8"))["predictions"]:
        likely, followed = (
            tuple(Candidate(**each) for each in entry.pop(key)) for key in ("likely", "followed")
        )
        stored.append(Prediction(**entry, likely=likely, followed=followed, is_stored=True))
    return stored


def write_stored(pretrained: Pretrained, path: Path = STORED) -> None:
    """Answer every question with the model and keep the answers."""
    answers = [asdict(ask(pretrained, *question)) for question in QUESTIONS]
    for entry in answers:
        del entry["is_stored"]
        for each in (*entry["likely"], *entry["followed"]):
            each["probability"] = float(f"{each['probability']:.6g}")
    record = {
        "about": "Stored answers of SmolLM2-135M-Instruct (Q4_1), written by python -m course.pretrained.",
        "predictions": answers,
    }
    path.write_text(json.dumps(record, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
