"""What every committed notebook must be, so that Colab, JupyterLab, VS Code and the site all show it."""

import json
import re
from itertools import pairwise
from pathlib import Path

import nbformat
import pytest

from autograder.making.products import SESSION
from autograder.source.address import Address
from course import figures
from course.figures.figure import own_text

ROOT = Path(__file__).parents[1]
LECTURES = sorted((ROOT / "lectures").glob("*.ipynb"))
RELEASES = sorted((ROOT / "homeworks").glob("*/*.ipynb"))
SOLUTIONS = sorted((ROOT / "solutions").glob("*/*.ipynb"))
ADDRESS = Address.read(ROOT)
CELL_BYTES, NOTEBOOK_BYTES = 300_000, 2_000_000
FOLDING = {"hide-output", "hide-cell"}  # tags of cells whose outputs are folded


def place(path):
    return f"{path.relative_to(ROOT).parts[0]}/{path.stem}"


each_notebook = pytest.mark.parametrize("path", LECTURES + RELEASES + SOLUTIONS, ids=place)
each_lecture = pytest.mark.parametrize("path", LECTURES, ids=place)
each_homework = pytest.mark.parametrize("path", RELEASES + SOLUTIONS, ids=place)


def read(path):
    return json.loads(path.read_text(encoding="utf-8"))


def source(cell):
    return "".join(cell["source"])


def outputs(content):
    return [output for cell in content["cells"] for output in cell.get("outputs", [])]


def headings(content):
    """(level, text) of every heading, not counting comments in fenced code."""
    texts = (source(cell) for cell in content["cells"] if cell["cell_type"] == "markdown")
    lines = (line for text in texts for line in re.sub(r"```.*?```", "", text, flags=re.S).splitlines())
    found = (re.match(r"(#+) +(.*)", line) for line in lines)
    return [(len(match[1]), match[2]) for match in found if match]


@each_notebook
def test_the_notebook_is_valid_and_opens_with_a_python_kernel(path):
    content = read(path)
    nbformat.validate(content)
    assert content["metadata"]["kernelspec"]["name"] == "python3"


@each_notebook
def test_no_widget_is_committed_without_the_kernel_that_moves_it(path):
    content = read(path)
    assert "widgets" not in content["metadata"]  # without its "state", GitHub refuses to show the notebook
    kinds = {kind for output in outputs(content) for kind in output.get("data", {})}
    assert not [kind for kind in kinds if kind.startswith("application/vnd.jupyter.widget")]


@each_notebook
def test_nothing_is_noted_about_the_program_it_was_saved_with(path):
    assert set(read(path)["metadata"]) == {"kernelspec", "language_info"}


@each_notebook
def test_every_cell_has_an_id_of_its_own(path):
    ids = [cell["id"] for cell in read(path)["cells"]]
    assert len(ids) == len(set(ids))


@each_notebook
def test_the_badge_opens_what_readers_have(path):
    """A solution's badge is the one of its release, which is made from it."""
    where = path.relative_to(ROOT).as_posix().replace("solutions/", "homeworks/")
    version = "" if path.parent.name == "lectures" else f" {ADDRESS.version}"
    assert source(read(path)["cells"][0]).strip() == ADDRESS.badge(where) + version


@each_notebook
def test_the_set_up_cell_is_the_one_of_the_course_and_nothing_else_is_installed(path):
    code = [source(cell) for cell in read(path)["cells"] if cell["cell_type"] == "code"]
    begins_a_session = "" if path.parent.name == "lectures" else SESSION.format(name=path.stem)
    assert code[0] == ADDRESS.setup() + begins_a_session
    assert not [
        text for text in code[1:] if re.search(r"pip\b.*\binstall|^\s*[!%]\s*(pip|conda)", text, re.M)
    ]


@each_notebook
def test_every_picture_is_described(path):
    content = read(path)
    for output in outputs(content):
        data = output.get("data", {})
        html = "".join(data.get("text/html", ""))
        assert "image/png" not in data or "<img" in html
        for tag in re.findall(r"<img\b[^>]*>", html):
            assert re.search(r'\balt="[^"]{20,}"', tag), tag[:80]
        assert not re.findall(r"<svg\b(?![^>]*aria-label)[^>]*>", html)
    for cell in content["cells"]:
        if cell["cell_type"] == "markdown":
            assert not re.search(r"!\[\s*\]\(|<img\b(?![^>]*\balt=)", source(cell))


@each_notebook
def test_nothing_shown_is_fetched_from_elsewhere(path):
    """Figures live with the network cut, and Colab removes frames in silence."""
    for output in outputs(read(path)):
        html = "".join(output.get("data", {}).get("text/html", ""))
        assert not re.findall(r"<iframe|<link\b|<script[^>]*\bsrc=|\bfetch\(|\bimport\b[^\n]*https?:", html)


@each_notebook
def test_sizes_stay_within_what_a_page_can_carry(path):
    assert path.stat().st_size <= NOTEBOOK_BYTES
    for cell in read(path)["cells"]:
        assert len(json.dumps(cell.get("outputs", []))) <= CELL_BYTES, cell["id"]


@each_notebook
def test_no_path_of_a_machine_is_in_it(path):
    text = path.read_text(encoding="utf-8")
    assert not re.findall(r"(?<![\w.:/])/(?:home|root|tmp|var|mnt|opt|usr|Users|content|work)/[\w.-]+", text)
    assert not re.findall(r"\b[A-Z]:\\\\Users|site-packages|dist-packages|file://", text)


@each_notebook
def test_there_is_one_title_and_no_level_of_headings_is_skipped(path):
    levels = [level for level, _ in headings(read(path))]
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


@each_notebook
def test_markdown_is_plain(path):
    for cell in read(path)["cells"]:
        if cell["cell_type"] == "markdown":
            assert not re.search(r"^(```|:::)\{|\{\w+\}`", source(cell), re.M), source(cell)[:80]
            assert not re.search(r"</summary>(?!\s*\n\s*\n)", source(cell)), "Markdown needs a blank line"


@each_notebook
def test_links_to_other_files_of_the_course_lead_somewhere(path):
    for cell in read(path)["cells"]:
        if cell["cell_type"] == "markdown":
            for target in re.findall(r"\]\((?!https?:)([^)#\s]+\.\w+)(?:#[^)]*)?\)", source(cell)):
                assert (path.parent / target).exists(), target


@each_lecture
def test_a_lecture_was_executed_from_top_to_bottom_without_an_error(path):
    code = [cell for cell in read(path)["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    assert [output for output in outputs(read(path)) if output["output_type"] == "error"] == []
    assert [output["text"] for output in outputs(read(path)) if output.get("name") == "stderr"] == []


@each_homework
def test_a_homework_is_committed_as_if_nobody_had_run_it(path):
    code = [cell for cell in read(path)["cells"] if cell["cell_type"] == "code"]
    assert [cell["id"] for cell in code if cell["outputs"] or cell["execution_count"]] == []


@each_lecture
def test_the_answer_to_a_prediction_is_folded_until_it_is_asked_for(path):
    cells, asked, folded = read(path)["cells"], False, 0
    for cell in cells:
        if cell["cell_type"] == "markdown":
            asked = "**Predict" in source(cell)
        elif asked and '<script type="module">' not in json.dumps(cell["outputs"]).replace('\\"', '"'):
            assert cell["metadata"]["jupyter"]["outputs_hidden"]
            tags = set(cell["metadata"]["tags"])
            tells = re.search(r"^\s*assert\b", source(cell), re.M)
            assert tags & FOLDING
            assert not tells or tags & {"hide-cell", "hide-input"}
            folded += 1
    assert folded


@each_lecture
def test_a_question_about_a_drawing_is_answered_below_it(path):
    for cell in read(path)["cells"]:
        for below in source(cell).split("**A question:**")[1:]:
            assert re.match(r"[^\n]+\n\n<details><summary>Answer</summary>\n\n[^<]+\n</details>", below), (
                below[:80]
            )


@each_lecture
def test_what_a_lecture_recommends_is_one_click_away(path):
    text = "\n".join(source(cell) for cell in read(path)["cells"] if cell["cell_type"] == "markdown")
    entries = re.findall(r"^- .*$", text.partition("## Further reading")[2], flags=re.M)
    assert entries
    assert not [entry for entry in entries if "](http" not in entry and "in print only" not in entry]


@each_lecture
def test_a_lecture_has_what_every_lecture_has(path):
    content = read(path)
    text = "\n".join(source(cell) for cell in content["cells"])
    titles = " ".join(title for _, title in headings(content)).lower()
    assert re.search(r"minutes? to read", text)
    assert "you will be able to" in text.lower()
    assert "recap" in titles
    assert "further reading" in titles or "references" in titles
    assert "predict" in text.lower()  # something is asked before it is shown
    assert '<script type=\\"module\\">' in json.dumps(outputs(content))  # a figure that lives


MODULES = {path.stem: own_text(path.stem) for path in (ROOT / "course/figures").glob("*.mjs")}


@each_lecture
def test_the_figures_of_a_lecture_are_those_of_the_course_today(path):
    """Their modules are copied into the outputs, where they would grow old in silence."""
    alive = [
        html
        for output in outputs(read(path))
        if '<script type="module">' in (html := "".join(output.get("data", {}).get("text/html", "")))
    ]
    modules = [
        text.replace("export default", "const figure =", 1)
        for name, text in MODULES.items()
        if name != "frame"
    ]
    assert alive
    for html in alive:
        assert MODULES["frame"] in html
        assert any(module in html for module in modules), html[:200]


DRAWING = re.compile(r'figures\.machine\("(\w+)"\)')


@each_lecture
def test_a_drawn_machine_shows_the_code_of_today(path):
    """Its boxes quote lines of `course/models`, which may have moved since the lecture was run."""
    for cell in read(path)["cells"]:
        if (drawing := DRAWING.fullmatch(source(cell).strip())) is not None:
            [output] = cell["outputs"]
            assert "".join(output["data"]["text/html"]) == figures.machine(drawing[1]).html()


def test_machines_are_drawn_in_most_lectures():
    drawn = [path for path in LECTURES if any(DRAWING.search(source(cell)) for cell in read(path)["cells"])]
    assert len(drawn) > len(LECTURES) // 2
