"""What `autograder verify` last found wrong with a homework, until its folder changes."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from autograder.marks.records import write_text
from autograder.proving.proof import Proof
from autograder.software import contents, digest


def remember(root: Path, homework: str, proofs: Iterable[Proof]) -> None:
    """Keep the claims that do not hold; nothing is kept if all hold."""
    wrong = [
        f"{proof.exercise}: {said}"
        for proof in proofs
        if proof.homework == homework
        for said in proof.violations
    ]
    path = _path(root, homework)
    if wrong:
        write_text(path, json.dumps({"folder": _digest(root, homework), "violations": wrong}) + "\n")
    else:
        path.unlink(missing_ok=True)


def still_wrong(root: Path, homework: str) -> list[str]:
    """The claims that did not hold when this very folder was last verified."""
    try:
        said = json.loads(_path(root, homework).read_text(encoding="utf-8"))
        return said["violations"] if said["folder"] == _digest(root, homework) else []
    except (OSError, ValueError, KeyError, TypeError):
        return []


def _path(root: Path, homework: str) -> Path:
    return root / "build" / "verify" / f"{homework}.json"


def _digest(root: Path, homework: str) -> str:
    folder = root / "solutions" / homework
    return digest(*(line for pattern in ("*.py", "*.tsv") for line in contents(folder, pattern)))
