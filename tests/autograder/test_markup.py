"""What a student wrote reads the same in a browser and does nothing there."""

import base64
from html.parser import HTMLParser

import pytest
from nbconvert.filters import markdown2html

from autograder.markup import (
    ACTIVE_LATEX,
    WORD_JOINER,
    harmless_attachments,
    harmless_markdown,
    harmless_pictures,
    plain_text,
)

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n and more").decode()


class Elements(HTMLParser):
    """Every element and attribute of a page."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.attributes = set(), {}
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= dict(attrs)


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<SCRIPT src=//evil.example/x.js></SCRIPT>",
        "<img src=x onerror=alert(1)>",
        "text <b onmouseover='alert(1)'>bold</b>",
        "<!-- --><svg/onload=alert(1)>",
        "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
        "<style>body { display: none }</style>",
        "![tracked](https://evil.example/pixel.png)",
        "![tracked][1]\n\n[1]: https://evil.example/pixel.png",
        "<https://evil.example>",
        "[click](javascript:alert(1))",
        "[click](JaVaScRiPt:alert(1))",
        "[click](&#106;avascript:alert(1))",
        "[click]( java\tscript:alert(1))",
        "[click](data:text/html,<script>alert(1)</script>)",
        "[click][1]\n\n[1]: javascript:alert(1)",
        "[click](<javascript:alert(1)>)",
    ],
)
def test_no_element_of_the_students_making_reaches_the_page(text):
    page = Elements(markdown2html(harmless_markdown(text)))
    assert page.tags <= {"p", "a", "code", "pre", "div", "span"}
    assert not {"src", "style", "srcdoc"} & page.attributes.keys()
    assert not [name for name in page.attributes if name.startswith("on")]
    assert str(page.attributes.get("href", "https:")).startswith(("https:", "#"))


@pytest.mark.parametrize(
    "text", ["a < b and b > c", "`<s>` opens a sentence", "x <- y", "1<2", "**bold** and *not*", "p[i]: x"]
)
def test_honest_text_reads_as_it_did(text):
    assert harmless_markdown(text).replace(WORD_JOINER, "") == text


def test_active_latex_is_disarmed_and_the_rest_left_alone():
    assert harmless_markdown(r"$\href{javascript:alert(1)}{x}$").startswith("$\\" + WORD_JOINER)
    assert harmless_markdown(r"$\frac{1}{2} \log p$") == r"$\frac{1}{2} \log p$"


@pytest.mark.parametrize("command", ACTIVE_LATEX)
@pytest.mark.parametrize("after", ["{x}{y}", "[href=javascript:alert(1)]{x}", " x", "1{y}", "_x", "\\alpha"])
def test_every_command_that_makes_links_styles_or_more_commands_is_disarmed(command, after):
    assert f"\\{command}" not in harmless_markdown(f"$\\{command}{after}$")


@pytest.mark.parametrize(
    "text", ["\\classical", "\\unicodes x", "\\database", "\\frac12", "\\styled", "\\mathbb{R}", "\\bboxes"]
)
def test_commands_that_only_begin_alike_are_left_alone(text):
    assert harmless_markdown(f"${text}$") == f"${text}$"


def test_a_picture_that_was_pasted_is_shown_and_no_other():
    kept = "![image.png](attachment:3f2a-11.png)"
    assert harmless_markdown(kept, ["3f2a-11.png"]) == kept
    assert harmless_markdown(kept, ["another.png"]).startswith("!" + WORD_JOINER)
    for other in (
        "![a [b](attachment:x) c](https://evil.example)",
        "![a][attachment:x]",
        "![a](attachment:x y)",
    ):
        assert harmless_markdown(other).startswith("!" + WORD_JOINER)


def test_making_harmless_twice_changes_nothing_more():
    once = harmless_markdown("<b>![x](http://y) \\href{z}")
    assert harmless_markdown(once) == once


def test_codes_of_eight_bits_are_dropped():
    assert plain_text("a\x9b31mb\x85c\x9d") == "a31mbc"


def test_terminal_codes_and_direction_marks_are_dropped():
    assert plain_text("\x1b[31mred\x1b[0m\u202eevil\u202c\n\ttab") == "[31mred[0mevil\n\ttab"


def test_half_a_character_which_no_file_can_hold_is_dropped():
    assert plain_text("a\ud800b").encode() == b"ab"


def test_long_text_is_cut_and_says_so():
    assert plain_text("x" * 30, limit=10) == "x" * 10 + " … (20 more characters)"


def test_only_pictures_that_are_what_they_say_are_kept():
    script = base64.b64encode(b"<svg onload=alert(1)>").decode()
    bundle = {"image/png": PNG, "image/jpeg": script, "image/svg+xml": script, "text/html": "<script>"}
    assert harmless_pictures(bundle) == {"image/png": PNG}
    assert harmless_pictures({"image/png": "not base64 <script>"}) == {}
    assert harmless_pictures({"image/png": ["a list"]}) == {}


def test_attachments_keep_pictures_under_plain_names():
    picture = {"image/png": PNG}
    attachments = {"sketch.png": picture, 'x" onerror="y': picture, "page": {"text/html": "<b>"}}
    assert harmless_attachments(attachments) == {"sketch.png": picture}


def test_a_page_is_made_of_a_text_whose_picture_is_missing():
    assert "attachment" in markdown2html(harmless_markdown("![a](attachment:gone.png)"))
