"""Every solution notebook, run from top to bottom, earns every point and keeps its living end's promise."""

from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell
from nbgrader.preprocessors import NbGraderPreprocessor
from nbgrader.validator import Validator
from promised import PROMISED
from traitlets import Unicode
from traitlets.config import Config

SOLUTIONS = sorted((Path(__file__).parents[1] / "solutions").glob("*/*.ipynb"))
SECONDS = 900  # the longest a cell may take
BEFORE = "import time as clock\n\nbegun = clock.process_time()"
AFTER = """seconds_busy = clock.process_time() - begun
assert not mine.ready_made
assert {promise}"""


class AskForThePromise(NbGraderPreprocessor):
    """Put cells around the last cells that are alive, of which the second asks for what was promised."""

    promise = Unicode().tag(config=True)

    def preprocess(self, nb, resources):
        alive = [place for place, cell in enumerate(nb.cells) if "alive" in cell.metadata]
        first = last = alive[-1]
        while first - 1 in alive:
            first -= 1
        nb.cells.insert(last + 1, new_code_cell(AFTER.format(promise=self.promise)))
        nb.cells.insert(first, new_code_cell(BEFORE))
        return nb, resources


def validator(promise):
    settings = {"Execute": {"timeout": SECONDS}, "AskForThePromise": {"promise": promise}}
    asking = Validator(config=Config(settings), validate_all=True)
    asking.preprocessors = [AskForThePromise, *asking.preprocessors]
    return asking


@pytest.mark.nightly
@pytest.mark.parametrize("path", SOLUTIONS, ids=lambda path: path.stem)
def test_every_claim_holds_for_the_solutions_and_so_does_the_promise(path):
    assert validator(PROMISED[path.stem]).validate(str(path)) == {}


@pytest.mark.nightly
def test_a_promise_that_is_not_kept_is_noticed():
    [failed] = validator("False").validate(str(SOLUTIONS[0]))["failed"]
    assert "assert False" in failed["source"]
