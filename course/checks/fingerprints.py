"""Fingerprints of wrong solutions: how they answer the visible checks, as plain JSON small enough to ship.

What a mistake gets wrong is written down; what it gets right is sealed, so that no right answer can be read
here.
"""

import json
import math
from collections.abc import Mapping
from pathlib import Path

import torch

from course.checks.closeness import (
    EXACT,
    PYTHON_NUMBER,
    TOLERANCES,
    is_array,
    is_number,
    is_truth,
    near,
    same,
    tensor_of,
)
from course.checks.seal import bears, essence, seal
from course.checks.trace import Object, Outcome, Thing, Trace

LONGEST = 64  # entries of one value that are written down
MOST_REAL = 16  # of a tensor of real numbers, whose sums tell of the others
DIGITS = 8  # of each number: more than any tolerance asks for


def load(name: str) -> dict:
    """The fingerprints of a homework: NAME.json beside the notebook, else the installed one, else empty."""
    for folder in (Path.cwd(), Path(__file__).parent / "fingerprints"):
        path = folder / f"{name}.json"
        if path.is_file():
            return json.loads(path.read_text(encoding="utf-8"))
    return {"homework": name, "exercises": {}, "checks": {}}


def differing(wrong: Trace, right: Trace) -> list[list]:
    """The fingerprint of a mistake on one check, [event, outcome] for each event; [] if all are right.

    `wrong` is the mistake's own run of the check, up to where that failed; `right` the replay of that run on
    the reference. So the arguments are those that a student with the same mistake is asked.
    """
    pairs = [(w.outcome, r.outcome) for w, r in zip(wrong.events, right.events, strict=False)]
    if all(same(w, r) for w, r in pairs):
        return []
    return [[i, {"sealed": seal(w)} if same(w, r) else encode(w)] for i, (w, r) in enumerate(pairs)]


def known_answer(outcome: Outcome, encoded: Mapping) -> bool:
    """Whether an outcome is the one that was written down or sealed."""
    if "sealed" in encoded:
        return bears(outcome, encoded["sealed"])
    return agree(encode(outcome), encoded)


def encode(outcome: Outcome) -> dict:
    """An outcome as JSON; of long values their length or shape, a sample of their entries and two sums."""
    if outcome.kind == "error":
        return {"error": outcome.error}
    encoded = {"value": encode_value(outcome.value)}
    if outcome.changed is not None:
        encoded["changed"] = encode_value(outcome.changed)
    return encoded


def encode_value(value: object) -> object:
    """A plain value as JSON; what JSON lacks becomes an object whose first key is its kind."""
    if value is None or is_truth(value):
        return None if value is None else bool(value)
    if is_number(value):
        return _number(value.item() if is_array(value) else value)
    if isinstance(value, str | bytes):
        return _text(value)
    if is_array(value):
        return _tensor(tensor_of(value))
    if isinstance(value, list | tuple):
        return _sampled("list", [*value])
    if isinstance(value, dict):
        return _sampled("dict", sorted(([k, v] for k, v in value.items()), key=lambda entry: repr(entry[0])))
    if isinstance(value, set | frozenset):
        return _sampled("set", sorted(value, key=repr))
    return {"object": value.index} if isinstance(value, Object) else _other(value)


def agree(a: object, b: object) -> bool:
    """Whether two pieces of encoded JSON are equal within the tolerance of their numbers."""
    if isinstance(a, dict) and isinstance(b, dict):
        if "tensor" in a and "tensor" in b:
            return _tensors_agree(a, b)
        return a.keys() == b.keys() and all(agree(a[key], b[key]) for key in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(agree(x, y) for x, y in zip(a, b, strict=True))
    return same(a, b)


def spread(length: int, most: int = LONGEST) -> list[int]:
    """At most so many positions, evenly spaced, the first and the last among them."""
    if length <= most:
        return list(range(length))
    return [round(i * (length - 1) / (most - 1)) for i in range(most)]


def _number(value: complex) -> object:
    if isinstance(value, complex):
        return {"complex": [_number(value.real), _number(value.imag)]}
    if isinstance(value, int):
        return value
    return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else {"float": str(value)}


def _text(value: str | bytes) -> object:
    if isinstance(value, str) and len(value) <= LONGEST:
        return value
    kind = "text" if isinstance(value, str) else "bytes"
    return {kind: len(value), "start": repr(value[:LONGEST]), "whole": seal(Outcome("value", value))}


def _sampled(kind: str, entries: list) -> dict:
    encoded = {kind: len(entries), "sample": [_entry(kind, entries[i]) for i in spread(len(entries))]}
    return encoded if len(entries) <= LONGEST else encoded | {"sums": _sums(entries)}


def _entry(kind: str, entry: object) -> object:
    return [encode_value(part) for part in entry] if kind == "dict" else encode_value(entry)


def _tensor(tensor: torch.Tensor) -> dict:
    flat = torch.view_as_real(tensor).reshape(-1) if tensor.is_complex() else tensor.reshape(-1)
    most = MOST_REAL if flat.is_floating_point() and flat.isfinite().all() else LONGEST
    sample = [_plain(entry) for entry in flat[spread(flat.numel(), most)].tolist()]
    encoded = {
        "tensor": str(tensor.dtype).removeprefix("torch."),
        "shape": list(tensor.shape),
        "sample": sample,
    }
    return encoded if flat.numel() <= most else encoded | {"sums": _sums(tensor)}


def _plain(entry: float) -> object:
    number = _number(entry)
    return number["float"] if isinstance(number, dict) else number


def _sums(value: object) -> list[float]:
    return [float(f"{total:.{DIGITS}g}") for total in essence(value)[1]]


def _other(value: object) -> dict:
    return {"thing": value.name} if isinstance(value, Thing) else {"other": repr(value)}


def _tensors_agree(a: dict, b: dict) -> bool:
    dtypes = [getattr(torch, encoded["tensor"]) for encoded in (a, b)]
    kinds = [(dtype.is_floating_point, dtype.is_complex, dtype == torch.bool) for dtype in dtypes]
    if a["shape"] != b["shape"] or kinds[0] != kinds[1] or len(a["sample"]) != len(b["sample"]):
        return False
    tolerance = max(TOLERANCES.get(dtype, PYTHON_NUMBER if dtype.is_complex else EXACT) for dtype in dtypes)
    pairs = zip(a["sample"] + a.get("sums", []), b["sample"] + b.get("sums", []), strict=True)
    return all(near(float(x), float(y), tolerance) for x, y in pairs)
