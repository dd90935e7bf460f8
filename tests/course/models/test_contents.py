"""The package's table of contents is complete, and importing it stays light."""

import re
import subprocess
import sys
from pathlib import Path

import course.models

FILES = {path.stem for path in Path(course.models.__file__).parent.glob("*.py")} - {"__init__"}


def test_the_table_of_contents_names_every_file_once():
    rows = re.findall(r"^ *([a-z0-9_, ]+?)  +\S", course.models.__doc__, re.MULTILINE)
    named = [name for row in rows for name in row.split(", ")]
    assert sorted(named) == sorted(FILES)


def test_every_exported_name_exists_and_is_listed_once():
    assert len(set(course.models.__all__)) == len(course.models.__all__)
    assert [name for name in course.models.__all__ if not hasattr(course.models, name)] == []


def test_every_class_made_from_sizes_is_exported_with_its_sizes():
    configs = [name for name in course.models.__all__ if name.endswith("Config")]
    made = {name.removesuffix("LanguageModel") for name in course.models.__all__}
    made.add("Transformer")  # whose sizes are those of an encoder and of a decoder
    assert {name.removesuffix("Config") for name in configs} <= made
    assert all(getattr(course.models, name).__dataclass_params__.frozen for name in configs)


def test_the_models_import_nothing_that_colab_lacks():
    heavy = ["jaxtyping", "transformers", "tokenizers", "nltk", "autograder", "matplotlib"]
    program = (
        "import sys; sys.modules['jaxtyping'] = None; import course.models;"
        f"print([name for name in {heavy} if sys.modules.get(name)])"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
