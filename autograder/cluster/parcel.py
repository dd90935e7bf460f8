"""The job bundle sent to a desk: the job description, the homework's folder, and the versions to use."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from autograder.grading.order import Order
from autograder.isolation import Limits
from autograder.software import files_in, software


@dataclass(frozen=True)
class Parcel:
    """A job description, the homework's files by path, and the software versions that must be used."""

    order: Order
    files: Mapping[str, bytes]
    software: Mapping[str, str]

    @classmethod
    def pack(cls, order: Order, root: Path) -> Parcel:
        """Everything in the homework's folder under root."""
        folder = root / "solutions" / order.homework
        files = {str(path.relative_to(folder)): path.read_bytes() for path in files_in(folder)}
        return cls(order, files, software())

    def unpack(self, root: Path) -> None:
        """Write the homework's folder under another root."""
        for name, data in self.files.items():
            path = root / "solutions" / self.order.homework / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)

    def as_bytes(self) -> bytes:
        """The form in which the parcel is sent."""
        files = {name: base64.b64encode(data).decode() for name, data in self.files.items()}
        return json.dumps({**vars(self), "files": files}, default=vars).encode()

    @classmethod
    def from_bytes(cls, text: bytes) -> Parcel:
        """The inverse of `as_bytes`."""
        said = json.loads(text)
        order = {**said["order"], "limits": Limits(**said["order"]["limits"])}
        files = {name: base64.b64decode(data) for name, data in said["files"].items()}
        return cls(Order(**order), files, said["software"])
