"""Every solution notebook, run from top to bottom, earns every point that nbgrader can read off it."""

from pathlib import Path

import pytest
from nbgrader.validator import Validator
from traitlets.config import Config

SOLUTIONS = sorted((Path(__file__).parents[1] / "solutions").glob("*/*.ipynb"))
SECONDS = 900  # the longest a cell may take


@pytest.mark.nightly
@pytest.mark.parametrize("path", SOLUTIONS, ids=lambda path: path.stem)
def test_every_claim_holds_for_the_solutions(path):
    validator = Validator(config=Config({"Execute": {"timeout": SECONDS}}), validate_all=True)
    assert validator.validate(str(path)) == {}
