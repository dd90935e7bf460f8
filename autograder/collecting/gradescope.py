"""Gradescope, "Export Submissions": `submission_metadata.yml` beside one folder per submission.

https://help.gradescope.com/article/ujutnle52h-instructor-assignment-export-submissions
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import yaml

from autograder.collecting.attempt import Attempt, attempt_of
from autograder.collecting.tree import CollectingError, Place, Tree

METADATA = "submission_metadata.yml"


def recognises(tree: Tree, homework: str) -> bool:
    """Whether the file that describes the export is there."""
    return any(file.path == (METADATA,) for file in tree.files)


def aside(tree: Tree, homework: str) -> set[Place]:
    """The file that describes the export is nobody's."""
    return {(METADATA,)}


def attempts(tree: Tree, homework: str) -> Iterator[Attempt]:
    """One attempt for every submitter of every submission; members of a group hand in the same files."""
    described = next(file for file in tree.files if file.path == (METADATA,))
    for folder, facts in _described(described.read()).items():
        submitters = facts.get(":submitters") or [{}]
        for submitter in submitters:
            notes = [f"handed in by {len(submitters)} together"] if len(submitters) > 1 else []
            earlier = len(facts.get(":history") or [])
            notes += [f"{earlier} earlier at Gradescope, not in the export"] if earlier else []
            keys = tuple(str(submitter[key]) for key in (":sid", ":email", ":name") if submitter.get(key))
            time = _time(facts.get(":created_at"))
            yield attempt_of(keys or (folder,), tree.below(folder), time=time, notes=tuple(notes))


def _described(data: bytes) -> Mapping[str, Mapping[str, Any]]:
    try:
        found = yaml.load(data, PlainLoader)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise CollectingError(f"{METADATA} cannot be read ({error}). Download the export again.") from error
    if not isinstance(found, dict):
        raise CollectingError(f"{METADATA} does not describe submissions. Download the export again.")
    return {str(folder): facts if isinstance(facts, dict) else {} for folder, facts in found.items()}


class PlainLoader(yaml.SafeLoader):
    """YAML as plain data; Gradescope's Ruby tags are not needed."""


def _plain(loader: PlainLoader, suffix: str, node: yaml.Node) -> Any:
    if isinstance(node, yaml.MappingNode):
        return loader.construct_mapping(node, deep=True)
    if isinstance(node, yaml.SequenceNode):
        return loader.construct_sequence(node, deep=True)
    return loader.construct_scalar(node)


PlainLoader.add_multi_constructor("!", _plain)


def _time(value: object) -> datetime | None:
    """A time; YAML's own times are in UTC if they name no zone."""
    try:
        found = value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)
