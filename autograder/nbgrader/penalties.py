"""For `nbgrader generate_feedback`: the late penalty of now, as `autograder export` takes it off."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path

from nbconvert.exporters.exporter import ResourcesDict
from nbconvert.preprocessors import Preprocessor
from nbformat import NotebookNode
from nbgrader.api import Gradebook
from traitlets import Bool

from autograder.marks.late import penalties_now, policy_of


class Penalties(Preprocessor):
    """Enter one student's penalty before GetGrades reads it: marks by hand may be newer than the grading."""

    enabled = Bool(True, help="whether to use it").tag(config=True)

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        about, config = resources["nbgrader"], deepcopy(self.config)
        config.pop("NbConvertBase", None)  # for exporters; AssignLatePenalties warns of it
        with Gradebook(about["db_url"]) as gradebook:
            student = {about["student"]}
            penalties_now(gradebook, Path.cwd(), about["assignment"], policy_of(config), student)
        return nb, resources
