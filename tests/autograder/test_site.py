"""The site holds everything, fetches nothing and keeps its figures alive."""

import ast
import json
import re
import subprocess
import sys
from dataclasses import replace
from html import escape, unescape
from pathlib import Path
from unittest.mock import Mock
from urllib.parse import unquote

import pytest

from autograder.cli import main
from autograder.making.build import build
from autograder.making.release import release
from autograder.source.address import Address
from autograder.source.loading import load, names
from autograder.website import site as site_pages
from autograder.website.mistakes import mistakes
from autograder.website.model_pages import TAUGHT, drawn_files
from autograder.website.site import (
    ONLY_IN_COLAB,
    Pages,
    SiteError,
    assemble,
    begin_overviews,
    make_site,
    unmeasured,
)
from course.figures.machines import MACHINES

ROOT = Path(__file__).parents[2]
HEADING = re.compile(r"^#{2,3} (.+)$", re.M)
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


def test_no_link_of_any_page_leads_nowhere(site, pages):
    lost = {}
    for name, text in pages.items():
        folder = (site / name).parent
        links = re.findall(r'<a\b[^>]*?\bhref="([^"#?:]+)["#?]', text)
        if missing := sorted(link for link in set(links) if not (folder / link).exists()):
            lost[name] = missing
    assert lost == {}


def test_every_link_to_a_part_of_a_page_finds_it(site, pages):
    lost = {}
    for name, text in pages.items():
        links = re.findall(r'<a\b[^>]*?\bhref="([^"#?:]*)#([^"]+)"', text)
        for page, part in set(links):
            target = (
                pages[(site / name).parent.joinpath(page).resolve().relative_to(site).as_posix()]
                if page
                else text
            )
            if f'id="{unquote(part)}"' not in target:
                lost.setdefault(name, []).append(f"{page}#{part}")
    assert lost == {}


@pytest.mark.parametrize("path", sorted((ROOT / "site").glob("*.md")), ids=lambda path: path.stem)
def test_a_section_that_is_named_is_a_link_and_no_comment_stands_beside_a_command(path):
    headings = {found for page in (ROOT / "site").glob("*.md") for found in HEADING.findall(page.read_text())}
    text = path.read_text()
    assert not headings & set(re.findall(r"(?<![*\w[])\*([^*\n]+)\*(?!\*)", text))
    assert not re.search(r"`docs/\w+\.md`", text)
    for block in re.findall(r"^```sh\n(.*?)^```", text, re.M | re.S):
        assert not re.search(r"\S +# ", block)


def test_a_page_without_a_result_is_left_out(site, pages, tmp_path):
    assert "measured/full_scale.html" not in pages
    (tmp_path / "some.md").write_text("| `run` | fast | not measured |\n| `walk` | slow | 3 |\n")
    (tmp_path / "none.md").write_text(
        "| what | is | seconds |\n|---|---|---|\n| `run` | fast | not measured |\n"
    )
    assert unmeasured(str(tmp_path), ["some.md", "none.md"]) == ["none.md"]


def test_every_exercise_that_has_known_mistakes_is_a_link_into_its_notebook(pages):
    for name in names(ROOT):
        page = pages[f"mistakes/{name}.html"]
        for exercise in load(ROOT / "solutions" / name).exercises:
            named = rf'href="([^"]+)"><span [^>]+><code [^>]+><span class="pre">{exercise.name}</span>'
            assert re.search(named, page)[1].startswith(f"../homeworks/{name}/{name}.html#")


def test_the_first_page_leads_to_every_lecture_and_homework_and_shows_its_picture(pages):
    first = pages["index.html"]
    for path in lectures():
        card = re.search(rf'<li data-lecture="{path.stem}">(.*?)</li>', first, re.S)[1]
        assert "<svg" in card
        assert f'href="lectures/{path.stem}.html"' in card
        assert re.search(r"\d+ minutes", card)
    for path in (ROOT / "homeworks").glob("*/*.ipynb"):
        assert f'href="building/{path.stem}.html"' in first


def test_a_homework_shows_its_drawing_and_folds_its_checks(pages):
    page = pages["homeworks/hw2_backprop/hw2_backprop.html"]
    assert page.count('<div class="live">') == 1
    assert "<summary>Checks of " in page
    assert "@title" not in page
    for path in (ROOT / "homeworks").glob("*/*.ipynb"):
        places = re.findall(
            rf'href="../homeworks/{path.stem}/{path.stem}.html#([^"]+)"', pages[f"building/{path.stem}.html"]
        )
        assert len(places) > 10
        assert all(f'id="{place}"' in pages[f"homeworks/{path.stem}/{path.stem}.html"] for place in places)


def test_the_readers_navigation_has_one_page_for_instructors_and_one_for_developers_at_its_top(pages):
    navigation = re.search(r'<nav class="bd-links.*?</nav>', pages["lectures/00_welcome.html"], re.S)[0]
    top = re.findall(r'<li class="toctree-l1[^"]*"><a class="reference internal" href="([^"]+)"', navigation)
    others = [link for link in top if link.startswith("../") and not link.startswith("../building/")]
    looked_up = ["../glossary.html", "../models.html", "../break_it.html"]
    assert others == [*looked_up, "../instructors.html", "../developers.html"]
    for nested in ("deploying", "commands", "tried_with", "models/gpt", "measured/attacks"):
        assert f'href="../{nested}.html"' in navigation


def test_every_drawing_stands_beside_the_source_that_it_quotes(pages):
    files = drawn_files()
    assert sorted(name for drawn in files.values() for name in drawn) == sorted(MACHINES)
    for file, drawn in files.items():
        page = pages[f"models/{file}.html"]
        assert page.count('<div class="live">') == len(drawn)
        source = page[page.index('aria-label="The source"') :]
        for name in drawn:
            assert escape(MACHINES[name].finding) in page
            assert f'<div id="{name}">' in page
            for box in MACHINES[name].boxes():
                quoted = source.partition(f'<p class="file">course/models/{box.file or file}.py</p>')[2]
                code = re.search(r"<pre>.*?</pre>", quoted, re.S)[0]
                assert box.code in unescape(re.sub("<[^>]+>", "", code))


def test_a_models_page_says_what_it_shows_and_where_it_is_taught(site, pages):
    cards = (site.with_name(f"{site.name}-source") / "model_cards.html").read_text()
    order = re.findall(r'href="models/(\w+)\.html"', cards)
    assert order == list(drawn_files()) == list(TAUGHT)
    navigation = re.search(r'<nav class="bd-links.*?</nav>', pages["models.html"], re.S)[0]
    assert re.findall(r'href="models/(\w+)\.html"', navigation) == order
    assert not re.search(r"<span></span>|<span>[a-z]|[$`']", cards)
    for file in order:
        article = re.search(r"<article.*?</article>", pages[f"models/{file}.html"], re.S)[0]
        assert 'href="../lectures/' in article
        assert ('href="../building/' in article) is bool(TAUGHT[file][1])


def test_every_drawn_module_says_how_to_draw_it():
    files = drawn_files()
    for path in (ROOT / "course" / "models").glob("*.py"):
        said = ast.get_docstring(ast.parse(path.read_text())) or ""
        assert re.findall(r'`figures\.machine\("(\w+)"\)`', said) == files.get(path.stem, [])


def test_a_search_engine_and_a_lost_reader_find_the_site(site, pages):
    address = Address.read(ROOT).site
    assert address.startswith("https://")
    found = (site / "sitemap.xml").read_text()
    for page in ("lectures/00_welcome.html", "de/lectures/00_welcome.html"):
        assert f"<loc>{address}/{page}</loc>" in found
    assert "_static" not in found
    assert "search.html" not in found
    for door in ("", "#the-path", "glossary.html", "search.html"):
        assert f'href="{address}/{door}"' in pages["404.html"]
    assert (site / "_static" / "social.png").is_file()
    for name, text in pages.items():
        pictures = re.findall(r'<meta property="og:image" content="([^"]+)"', text)
        assert set(pictures) <= {f"{address}/_static/social.png", f"{address}/de/_static/social.png"}, name
    assert f'content="{address}/_static/social.png"' in pages["index.html"]


def test_mistakes_are_asked_about_before_they_are_told(mini):
    homework = load(mini)
    page = mistakes(homework)
    for entry in homework.misconceptions:
        asked, told = page.index(entry.question), page.index(entry.diagnosis)
        assert page.rindex("<summary>", 0, told) < asked < page.index("</summary>", asked) < told


def test_a_question_that_uncovers_two_mistakes_is_asked_once(mini):
    homework = load(mini)
    known = homework.misconceptions[0]
    other = replace(known, diagnosis="Another mistake that the same question uncovers.")
    page = mistakes(replace(homework, misconceptions=(known, replace(known, seen=None), other)))
    assert page.count(known.diagnosis) == 1
    assert page.count(known.question) == page.count("</details>") == 1
    assert page.index(known.diagnosis) < page.index(other.diagnosis) < page.index("</details>")


@pytest.fixture
def small(lay_out, tmp_path):
    """A course of one homework, released, with the frame of this site."""
    root = lay_out(tmp_path / "course")
    for name in ("site", "docs", "CITATION.cff"):
        (root / name).symlink_to(ROOT / name)
    build(root, ["mini_homework"])
    release(root, "mini_homework")
    return root


def test_nothing_a_student_must_not_have_reaches_the_sources_of_the_site(small, tmp_path):
    source = assemble(small, tmp_path / "source")
    made = [*(source / "homeworks").rglob("*.ipynb"), *(source / "mistakes").rglob("*.md")]
    everything = "".join(path.read_text() for path in made)
    hidden = next(check for check in load(small / "solutions" / "mini_homework").checks if check.hidden)
    secret = max(hidden.source.splitlines(), key=len).strip()
    assert len(made) == 2
    assert secret not in everything
    assert "### BEGIN SOLUTION" not in everything


def pages_of(program):
    words = [sys.executable, "-c", program]
    return Pages(subprocess.Popen(words, stderr=subprocess.PIPE, text=True), Path("pages"))


def test_what_sphinx_reports_is_an_error():
    assert pages_of("").finished() == Path("pages/index.html")
    with pytest.raises(SiteError, match="Sphinx reports:\na broken link"):
        pages_of("import sys; sys.exit('a broken link')").finished()


def test_no_process_is_left_behind_where_the_site_cannot_be_built(small, monkeypatch):
    begun = pages_of("import time; time.sleep(1)")
    monkeypatch.setattr(site_pages, "begin_overviews", lambda root: begun)
    monkeypatch.setattr(site_pages, "make_site", Mock(side_effect=SiteError("It cannot be built.")))
    assert main(["site", "--root", str(small)]) == 2
    assert begun.process.poll() == 0


def test_the_pages_for_instructors_name_hidden_checks_and_are_apart_from_the_site(small):
    hidden = next(check for check in load(small / "solutions" / "mini_homework").checks if check.hidden)
    index = begin_overviews(small).finished()
    assert index == small / "build" / "instructors" / "index.html"
    assert 'href="mini_homework.html"' in index.read_text()
    assert f"{hidden.name} (hidden)" in index.with_name("mini_homework.html").read_text()
    assert f"{hidden.name} (hidden)" not in "".join(
        path.read_text() for path in assemble(small, small / "build" / "site-source").rglob("*.md")
    )
