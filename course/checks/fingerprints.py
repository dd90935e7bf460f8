"""The fingerprints of wrong solutions: outcomes as plain JSON, short enough to ship, exact enough to recognise."""

import json
import math
from pathlib import Path

import numpy as np
import torch

from course.checks.closeness import same, tensor_of
from course.checks.trace import Event, Object, Outcome, Thing, Trace

LONGEST = 64  # entries kept of one tensor, list or text


def load(name: str) -> dict:
    """The fingerprints of a homework: NAME.json beside the notebook, else the one installed; empty if there is none."""
    for folder in (Path.cwd(), Path(__file__).parent / "fingerprints"):
        path = folder / f"{name}.json"
        if path.is_file():
            return json.loads(path.read_text(encoding="utf-8"))
    return {"homework": name, "exercises": {}, "checks": {}}


def differing(wrong: Trace, right: Trace) -> list[list]:
    """The fingerprint of a wrong solution on one check: [event, outcome] wherever it answers other than the right one.

    `wrong` is the wrong solution's own run of the check, `right` the replay of that run on the reference: so the
    arguments are those that a student with the same mistake is asked.
    """
    pairs = zip(wrong.events, right.events, strict=False)
    return [[i, encode(w.outcome)] for i, (w, r) in enumerate(pairs) if not same(w.outcome, r.outcome)]


def encode(outcome: Outcome) -> dict:
    """An outcome as plain JSON: large values as length or shape and an evenly spaced sample of at most 64 entries."""
    if outcome.kind == "error":
        return {"error": outcome.error}
    encoded = {"value": encode_value(outcome.value)}
    if outcome.changed is not None:
        encoded["changed"] = encode_value(outcome.changed)
    return encoded


def encode_value(value: object) -> object:
    """A plain value as JSON; each kind that JSON lacks is a one-entry object named after it."""
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, str | bytes):
        return _text(value)
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, complex):
        return {"complex": [_number(value.real), _number(value.imag)]}
    if isinstance(value, torch.Tensor | np.ndarray):
        return _tensor(tensor_of(value))
    if isinstance(value, list | tuple):
        return {"list": len(value), "sample": [encode_value(value[i]) for i in spread(len(value))]}
    return _unordered(value)


def spread(length: int) -> list[int]:
    """At most 64 positions, evenly spaced, the first and the last among them."""
    if length <= LONGEST:
        return list(range(length))
    return [round(i * (length - 1) / (LONGEST - 1)) for i in range(LONGEST)]


def _number(value: float) -> float | str:
    return value if math.isfinite(value) else {"float": str(value)}


def _text(value: str | bytes) -> object:
    kind = "text" if isinstance(value, str) else "bytes"
    if kind == "text" and len(value) <= LONGEST:
        return value
    return {
        kind: len(value),
        "sample": [ord(value[i]) if kind == "text" else value[i] for i in spread(len(value))],
    }


def _tensor(tensor: torch.Tensor) -> dict:
    flat = tensor.detach().reshape(-1)
    sample = flat[spread(flat.numel())].tolist()
    dtype = str(tensor.dtype).removeprefix("torch.")
    return {"tensor": dtype, "shape": list(tensor.shape), "sample": [encode_value(entry) for entry in sample]}


def _unordered(value: object) -> dict:
    if isinstance(value, dict):
        entries = sorted(([encode_value(k), encode_value(v)] for k, v in value.items()), key=_order)
        return {"dict": len(entries), "sample": [entries[i] for i in spread(len(entries))]}
    if isinstance(value, set | frozenset):
        entries = sorted((encode_value(entry) for entry in value), key=_order)
        return {"set": len(entries), "sample": [entries[i] for i in spread(len(entries))]}
    if isinstance(value, Object):
        return {"object": value.index}
    return {"thing": value.name} if isinstance(value, Thing) else {"other": repr(value)}


def _order(encoded: object) -> str:
    return json.dumps(encoded[0] if isinstance(encoded, list) else encoded)


def agree(a: object, b: object) -> bool:
    """Whether two encoded outcomes are equal within the tolerance of their numbers."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(agree(a[key], b[key]) for key in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(agree(x, y) for x, y in zip(a, b, strict=True))
    return same(a, b)


def known_answer(event: Event, encoded: dict) -> bool:
    """Whether an event came out as a fingerprint says."""
    return agree(encode(event.outcome), encoded)
