"""Where students fetch the course: the badge and the set-up cell that every notebook carries."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

SETUP = """\
# Set-up: about 15 seconds on Colab, nothing to do where the course is installed. Safe to run again.
import importlib.util
import subprocess
import sys
from pathlib import Path

if importlib.util.find_spec("course") is None:
    address = "git+{repository}@{ref}"
    here = [str(folder) for folder in Path.cwd().parents if (folder / "course" / "checks").is_dir()]
    sys.path[:0] = here[:1]  # a downloaded course, in a folder above this notebook
    try:
        if not here:
            subprocess.check_call([sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", address])
    except (subprocess.CalledProcessError, OSError):
        raise ImportError(
            f"The course could not be fetched from {{address}}. With a network, run this cell again; "
            "without one, put the notebook into a downloaded copy of the course. Or open it in Colab."
        ) from None
    importlib.invalidate_caches()
needed = ("torch", "numpy", "matplotlib", "safetensors")
missing = [name for name in needed if importlib.util.find_spec(name) is None]
if missing:
    raise ImportError(
        f"The course needs {{', '.join(missing)}}, not installed here. In a terminal: "
        f"pip install {{' '.join(missing)}}. Or open this notebook in Colab, which has everything."
    )"""

STATED = re.compile(r'^( +address = )"git\+[^"\n]*"$', re.MULTILINE)  # as SETUP states it

BADGE = "[![Open in Colab](https://colab.research.google.com/assets/colab-badge.svg)]({address})"


@dataclass(frozen=True)
class Address:
    """A repository on GitHub and a tag of it; where the site is published, or "" if it is not."""

    repository: str
    ref: str
    site: str = ""

    @classmethod
    def read(cls, root: Path) -> Address:
        """The address in [tool.course] of pyproject.toml, the only place that states it."""
        stated = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["course"]
        return cls(
            stated["repository"].removesuffix("/"), stated["ref"], stated.get("site", "").removesuffix("/")
        )

    def setup(self) -> str:
        """The text of the set-up cell."""
        return SETUP.format(repository=self.repository, ref=self.ref)

    @property
    def version(self) -> str:
        """What a homework says of itself, so that a question about it can be answered for the right one."""
        return f"Version {self.ref.removeprefix('v')}"

    def badge(self, path: str) -> str:
        """A badge that opens the notebook at this path of the repository in Colab."""
        project = self.repository.removeprefix("https://github.com/")
        return BADGE.format(
            address=f"https://colab.research.google.com/github/{project}/blob/{self.ref}/{path}"
        )


def without_address(text: str) -> str:
    """A cell's text without the repository and tag that a set-up cell states; no check depends on them."""
    return STATED.sub(r'\1""', text)
