"""GitHub Classroom: a workflow for the students' repository that runs the visible checks on every push.

It contains nothing secret: hidden checks stay with the instructor, who grades the collected repositories.
"""

from __future__ import annotations

from autograder.source.address import Address

WORKFLOW = """\
# Runs the checks of {homework} that you see in the notebook, at every push.
name: checks
on: [push]
permissions:
  contents: read
jobs:
  checks:
    runs-on: ubuntu-latest
    timeout-minutes: 20
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with:
          python-version: "3.11"
      - run: pip install --quiet "language-models-from-scratch[validate] @ git+{repository}@{ref}"
      - run: nbgrader validate {homework}.ipynb
"""


def github_classroom(homework: str, address: Address) -> str:
    """The text of .github/workflows/checks.yml in the template repository of the assignment."""
    return WORKFLOW.format(homework=homework, repository=address.repository, ref=address.ref)
