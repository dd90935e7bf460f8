"""What the students' repository has of its own: README, pyproject.toml, AGENTS.md, and what git ignores."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path

from autograder.source.address import Address

TEMPLATES = Path(__file__).with_name("student_repository")
IGNORED = "".join(f"{line}\n" for line in (".venv/", "__pycache__/", ".ipynb_checkpoints/", "*.egg-info/"))
NOTEBOOKS, VALIDATE = ("jupyterlab",), ("nbgrader",)  # the instructor's packages that students use too


def own_files(root: Path, notebooks: Iterable[str]) -> dict[str, bytes]:
    """Path → bytes; notebooks: the paths of the published notebooks."""
    stated = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    texts = {
        "README.md": _readme(root, stated, Address.read(root), sorted(notebooks)),
        "AGENTS.md": _agents(root, sorted(notebooks)),
        "pyproject.toml": _pyproject(stated, Address.read(root)),
        ".gitignore": IGNORED,
    }
    return {name: text.encode() for name, text in texts.items()}


def _pyproject(stated: Mapping, address: Address) -> str:
    project, build = stated["project"], stated["build-system"]
    fields = {
        "requires": build["requires"],
        "backend": build["build-backend"],
        **{name: project[name] for name in ("name", "version", "description", "license", "dependencies")},
        "python": project["requires-python"],
        "notebooks": _pinned(project, NOTEBOOKS),
        "validate": _pinned(project, VALIDATE),
        "data": stated["tool"]["setuptools"]["package-data"]["*"],
        "repository": address.repository,
        "ref": address.ref,
    }
    # JSON's strings and lists are valid TOML
    return _template("pyproject").format(**{name: json.dumps(value) for name, value in fields.items()})


def _pinned(project: Mapping, names: Iterable[str]) -> list[str]:
    """These packages with the version ranges that the instructor's extra gives them."""
    extra = project["optional-dependencies"]["instructor"]
    return [entry for entry in extra if entry.startswith(tuple(names))]


def _readme(root: Path, stated: Mapping, address: Address, notebooks: list[str]) -> str:
    project = stated["project"]
    titles = {path: title_of(root / path) for path in notebooks}
    return _template("readme").format(
        title=project["name"].replace("-", " ").capitalize(),
        description=project["description"],
        homeworks=_table("Homework", titles, "homeworks/", address),
        lectures=_table("Lectures", titles, "lectures/", address),
        python=project["requires-python"].lstrip(">=").replace(",<", " or later, below "),
        repository=address.repository,
        folder=address.repository.rpartition("/")[2],
        weights=_template("weights") if (root / "course" / "pretrained").is_dir() else "",
    )


def _agents(root: Path, notebooks: Iterable[str]) -> str:
    listed = [f"- {title_of(root / path)}: `{path}`" for path in notebooks if path.startswith("homeworks/")]
    return _template("agents").format(homeworks="\n".join(listed))


def _table(heading: str, titles: Mapping[str, str], folder: str, address: Address) -> str:
    rows = [
        f"| [{title}]({path}) | {address.badge(path)} |\n"
        for path, title in titles.items()
        if path.startswith(folder)
    ]
    return f"## {heading}\n\n| notebook | |\n|---|---|\n{''.join(rows)}\n" if rows else ""


def title_of(notebook: Path) -> str:
    """Its first heading, or its name where it has none."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    lines = (
        line
        for cell in cells
        if cell["cell_type"] == "markdown"
        for line in "".join(cell["source"]).split("\n")
    )
    heading = next((line for line in lines if line.startswith("# ")), f"# {notebook.stem}")
    return heading.removeprefix("# ").strip().replace("|", "\\|")


def _template(name: str) -> str:
    return (TEMPLATES / f"{name}.txt").read_text(encoding="utf-8")
