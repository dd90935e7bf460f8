"""The figures' modules: files that an editor and a linter can follow, and one text that imports nothing."""

import shutil
import subprocess
from pathlib import Path

import pytest
from in_node import needs_node

import course.figures
from course.figures.figure import TIE, module, own_text, together

ROOT = Path(__file__).parents[3]
FOLDER = Path(course.figures.__file__).parent
FIGURES = sorted(path.stem for path in FOLDER.glob("*.mjs") if path.stem != "frame")
ESLINT = ROOT / "node_modules/.bin/eslint"

each_figure = pytest.mark.parametrize("name", FIGURES)
needs_eslint = pytest.mark.skipif(
    shutil.which("node") is None or not ESLINT.exists(), reason="eslint is not installed: make lint-figures"
)


def can_be_rendered(path: Path) -> bool:
    script = f"process.exit(typeof (await import('{path.as_uri()}')).default.render === 'function' ? 0 : 3)"
    node = subprocess.run(
        ["node", "--input-type=module", "-e", script], capture_output=True, text=True, timeout=60
    )
    assert node.returncode in (0, 3), node.stderr
    return node.returncode == 0


@needs_node
@each_figure
def test_what_a_figures_file_imports_is_there(name):
    assert can_be_rendered(FOLDER / f"{name}.mjs")


def test_what_a_figure_imports_stands_before_it_and_once():
    order = together("every_rung")
    assert order[0] == "frame"
    assert order[-1] == "every_rung"
    assert len(set(order)) == len(order)
    assert order.index("models/arrays") < order.index("models/recurrent") < order.index("models/ladder")


@needs_node
@each_figure
def test_a_figure_and_its_frame_are_one_program_in_one_text(name, tmp_path):
    (tmp_path / "figure.mjs").write_text(module(name))
    assert can_be_rendered(tmp_path / "figure.mjs")


@pytest.mark.parametrize("name", ["frame", *FIGURES])
def test_a_file_is_tied_to_the_others_in_one_place(name):
    text = (FOLDER / f"{name}.mjs").read_text(encoding="utf-8")
    assert len(TIE.findall(text)) == 1
    assert len(text) > len(own_text(name)) > 0.9 * len(text)


@pytest.mark.parametrize("name", FIGURES)
def test_a_text_field_is_the_frames_own(name):
    """In which a telephone writes no capitals; see `field`."""
    assert 'type: "text"' not in (FOLDER / f"{name}.mjs").read_text(encoding="utf-8")


@needs_eslint
def test_a_linter_finds_nothing_new_in_the_modules():
    found = subprocess.run([ESLINT, "."], cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert found.returncode == 0, found.stdout + found.stderr


@needs_eslint
@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ("no-unused-vars", "const unused = 1;"),
        ("no-undef", "export const width = breadth;"),
        ("no-undef", "leaked = 1;"),
        ("@stylistic/max-len", f"// {'long ' * 28}"),
    ],
)
def test_the_linter_sees(rule, text):
    """What eslint says of such a line, if a figure's module held it."""
    command = [ESLINT, "--stdin", "--stdin-filename", "course/figures/new.mjs", "--format", "json"]
    found = subprocess.run(command, cwd=ROOT, input=text + "\n", capture_output=True, text=True, timeout=60)
    assert f'"ruleId":"{rule}"' in found.stdout, found.stdout + found.stderr
