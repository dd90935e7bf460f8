"""Downloads as the platforms make them, small, and a notebook to be in them."""

import json
import zipfile

HOMEWORK = "hw2_backprop"


def notebook(says="x = 1"):
    """The bytes of a notebook that can be told from another."""
    cell = {"cell_type": "code", "id": "a", "metadata": {}, "outputs": [], "source": says}
    return json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()


def zipped(path, files):
    """A zip of {name: bytes}."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path


def laid_out(folder, files):
    """A folder of {name: bytes}."""
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


CANVAS = {
    "doejane_40112_900001_hw2_backprop.ipynb": notebook("jane first"),
    "doejane_40112_900007_hw2_backprop-1.ipynb": notebook("jane second"),
    "singhravi_LATE_40113_900003_hw2_backprop.ipynb": notebook("ravi"),
    "singhravi_LATE_40113_900004_notes_for_you.txt": b"hello",
}
MOODLE = {
    "Zoë O'Hara_81230_assignsubmission_file_/hw2_backprop.ipynb": notebook("zoe"),
    "Zoë O'Hara_81230_assignsubmission_file_/data/words.txt": b"words",
    "Li Na_81231_assignsubmission_file_/my solution (1).ipynb": notebook("li na"),
}
GRADESCOPE = {
    "assignment_77_export/submission_metadata.yml": b"""---
submission_501:
  :submitters:
  - :name: Ada King
    :sid: '3001'
    :email: ada@uni.edu
  :created_at: 2026-11-20 11:59:58.123456000 Z
  :score: 3.0
  :results: !ruby/hash:ActiveSupport::HashWithIndifferentAccess
    tests: []
  :history:
  - :id: 499
    :created_at: 2026-11-20 10:00:00.000000000 Z
submission_502:
  :submitters:
  - :name: Bo Chen
    :sid: '3002'
    :email: bo@uni.edu
  - :name: Cy Diaz
    :email: cy@uni.edu
  :created_at: 2026-11-21 12:30:00.000000000 Z
  :history: []
""",
    "assignment_77_export/submission_501/hw2_backprop.ipynb": notebook("ada"),
    "assignment_77_export/submission_502/hw2_backprop.ipynb": notebook("bo and cy"),
}
GITHUB = {
    "hw2-backprop-ann-lee/hw2_backprop/hw2_backprop.ipynb": notebook("ann lee"),
    "hw2-backprop-ann-lee/.git/HEAD": b"ref: refs/heads/main",
    "hw2-backprop-ann-lee/README.md": b"read me",
    "hw2-backprop-ann-ray/hw2_backprop/hw2_backprop.ipynb": notebook("ann ray"),
    "hw2-backprop-ann-ray/.git/HEAD": b"ref: refs/heads/main",
}
NBGRADER = {
    "ada/hw2_backprop/hw2_backprop.ipynb": notebook("ada"),
    "ada/hw2_backprop/timestamp.txt": b"2026-11-20 12:00:00.000000 UTC",
    "bo/hw2_backprop/hw2_backprop.ipynb": notebook("bo"),
    "cy/hw1_language_models/hw1_language_models.ipynb": notebook("another homework"),
}
FLAT = {"ada.ipynb": notebook("ada"), "bo.ipynb": notebook("bo")}
