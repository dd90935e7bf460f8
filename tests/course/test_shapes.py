"""The glossary, with jaxtyping and without it."""

import re
import subprocess
import sys
from pathlib import Path

import course.shapes
from course.shapes import AXES, SIZES, VALUES

MODELS = Path(course.shapes.__file__).parent / "models"
WITHOUT_JAXTYPING = """
import sys
sys.modules["jaxtyping"] = None  # importing it raises ImportError
import torch
from course.models import GPT, GPTConfig
from course.shapes import Bool, Float, Int, Tensor
assert Float[Tensor, "batch time"] is Int[Tensor, ""] is Bool[Tensor, "..."] is Tensor
print(GPT(GPTConfig(7, 5, 8, 2, 1))(torch.zeros(1, 3, dtype=torch.int64)).shape)
"""


def test_the_models_run_where_jaxtyping_is_missing():
    ran = subprocess.run([sys.executable, "-c", WITHOUT_JAXTYPING], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.strip() == "torch.Size([1, 3, 7])"


def test_no_name_stands_for_two_things():
    codes = [entry.code for entry in (*AXES, *SIZES, *VALUES)]
    assert len(set(codes)) == len(codes)


def test_the_axes_of_the_models_are_in_the_glossary():
    """At least those of the layers that everything else is made of."""
    known = {entry.code for entry in AXES} | {"time", "d_key", "d_value", "d_query"}
    for file in ("transformer", "gpt", "multi_head_attention"):
        shapes = re.findall(r'\[Tensor, "([^"]*)"\]', (MODELS / f"{file}.py").read_text())
        assert shapes, file
        used = {axis for shape in shapes for axis in shape.split() if axis not in ("...", "1", "new")}
        assert used <= known, file
