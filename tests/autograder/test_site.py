"""The site holds everything, fetches nothing and keeps its figures alive."""

import json
import re
from pathlib import Path

import pytest

from autograder.making.build import build
from autograder.making.release import release
from autograder.source.loading import load
from autograder.website.site import ONLY_IN_COLAB, assemble, make_site
from autograder.website.site_pages import glossary, mistakes, summary
from course.shapes import AXES, SIZES, VALUES

ROOT = Path(__file__).parents[2]
PAGE_BYTES = 2_000_000


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """The site of this repository, made once."""
    return make_site(ROOT, tmp_path_factory.mktemp("built") / "site").parent


@pytest.fixture(scope="session")
def pages(site):
    return {path.relative_to(site).as_posix(): path.read_text() for path in site.rglob("*.html")}


def lectures():
    return sorted((ROOT / "lectures").glob("*.ipynb"))


def test_every_lecture_and_released_homework_is_a_page(pages):
    homeworks = (ROOT / "homeworks").glob("*/*.ipynb")
    for path in [*lectures(), *homeworks]:
        assert path.relative_to(ROOT).with_suffix(".html").as_posix() in pages


def test_no_page_fetches_anything_from_elsewhere(pages):
    for name, text in pages.items():
        fetched = re.findall(r"<(?:script|img|iframe|source)\b[^>]*?\bsrc=\"(https?:)?//", text)
        fetched += re.findall(r"<link\b(?=[^>]*rel=\"(?:stylesheet|preload)\")[^>]*href=\"https?://", text)
        assert not fetched, name
        assert not re.search(r"\bimport\b[^;\n]*[\"']https?://|fetch\([\"']https?://", text), name


def test_every_figure_of_a_lecture_is_alive_on_its_page(pages):
    for path in lectures():
        outputs = json.dumps([cell.get("outputs", []) for cell in json.loads(path.read_text())["cells"]])
        ids = set(re.findall(r'figure-[0-9a-f]{12}(?=\\")', outputs))
        page = pages[f"lectures/{path.stem}.html"]
        assert ids
        for identity in ids:
            assert f'id="{identity}"' in page
        assert page.count('<script type="module" async>') == outputs.count('<script type=\\"module\\">')


def test_every_page_is_light_with_all_its_pictures(site, pages):
    for name, text in pages.items():
        pictures = {site / "_images" / picture for picture in re.findall(r"_images/([\w.-]+)\"", text)}
        size = len(text.encode()) + sum(picture.stat().st_size for picture in pictures)
        assert size < PAGE_BYTES, f"{name} weighs {size:,} bytes"


def test_formulas_are_set_by_what_the_site_itself_holds(site, pages):
    assert (site / "_static" / "MathJax.js").is_file()
    assert "_static/MathJax.js" in pages["lectures/03_perplexity.html"]


def test_what_is_of_use_in_colab_only_is_left_out(pages):
    assert not [name for name, text in pages.items() if "colab-badge.svg" in text]
    assert "launch" in pages["lectures/01_chain_rule.html"]
    assert set(ONLY_IN_COLAB) == {"badge", "setup"}


def test_the_glossary_explains_every_name_once():
    lines = glossary().splitlines()
    for name in (*AXES, *SIZES, *VALUES):
        assert len([line for line in lines if line.startswith(f"| `{name.code}` |")]) == 1


def test_mistakes_are_asked_about_before_they_are_told(mini):
    homework = load(mini)
    page = mistakes(homework)
    for entry in homework.misconceptions:
        asked, told = page.index(entry.question), page.index(entry.diagnosis)
        assert page.rindex("<summary>", 0, told) < asked < page.index("</summary>", asked) < told


def test_code_and_formulas_in_a_question_are_set_and_no_tag_opens():
    page = summary("Is `<s>` *scored*, and is `2*3*4` 1 < 2 where $p_i$ falls?")
    assert "Is <code" in page
    assert ">&lt;s&gt;</span></code> <em>scored</em>, and is <code" in page
    assert ">2*3*4</span></code> 1 &lt; 2 where <math" in page
    assert "<msub>" in page


def test_nothing_a_student_must_not_have_reaches_the_sources_of_the_site(lay_out, tmp_path):
    root = lay_out(tmp_path / "course")
    for name in ("site", "docs"):
        (root / name).symlink_to(ROOT / name)
    build(root, ["mini_homework"])
    release(root, "mini_homework")
    source = assemble(root, tmp_path / "source")
    made = [*(source / "homeworks").rglob("*.ipynb"), *(source / "mistakes").rglob("*.md")]
    everything = "".join(path.read_text() for path in made)
    hidden = next(check for check in load(root / "solutions" / "mini_homework").checks if check.hidden)
    secret = max(hidden.source.splitlines(), key=len).strip()
    assert len(made) == 2
    assert secret not in everything
    assert "### BEGIN SOLUTION" not in everything
