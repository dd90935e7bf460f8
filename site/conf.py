"""Sphinx's configuration for the folder that `autograder site` has assembled; needs no network.

Notebooks come with their outputs, and Sphinx executes none. Figures are modules inside those outputs, and
formulas are set by the MathJax of jupyter-server-mathjax, so a page loads nothing from other servers.
"""

import os
import re
import tomllib
from functools import cache
from html import escape as in_html
from importlib.util import find_spec
from pathlib import Path

from babel.core import Locale
from sphinx.search import SearchEnglish, languages

ROOT = Path(os.environ["COURSE_ROOT"])
ADDRESS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["course"]

project = "Language models from scratch"
author = "the authors of the course"
highlight_language = "text"  # an indented block holds a command or what one printed, and keeps its columns
smartquotes_action = "qe"  # quotes and ellipses; --option keeps its dashes
language = os.environ.get("SITE_LANGUAGE", "en")  # see autograder.website.translated
extensions = ["myst_nb", "sphinx.ext.mathjax"]
exclude_patterns = ["**/.ipynb_checkpoints", "_templates"]
suppress_warnings = [
    "myst.header",
    "mystnb.unknown_mime_type",
]  # lectures fold hints under headings of any level

nb_execution_mode = "off"
nb_code_prompt_show, nb_code_prompt_hide = "Show the {type}", "Hide the {type}"
nb_ipywidgets_js = {}
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
myst_update_mathjax = False  # its settings are for MathJax 3

html_theme = "sphinx_book_theme"
html_title = project
SITE_ADDRESS = ADDRESS.get("site", "").rstrip("/")  # "" where the site is not published
html_baseurl = f"{SITE_ADDRESS}/{language}" if SITE_ADDRESS and language != "en" else SITE_ADDRESS
templates_path = ["_templates"]
html_sidebars = {"index": [], "**": ["home.html", "search-button-field.html", "sbt-sidebar-nav.html"]}
# Importing the package would start half of Jupyter.
html_static_path = ["_static", str(Path(find_spec("jupyter_server_mathjax").origin).with_name("static"))]
html_css_files = ["site.css"]
html_js_files = [("site.js", {"defer": "defer"})]
html_context = {"default_mode": "auto"}
html_extra_path = ["extra"]
html_favicon = "_static/favicon.svg"
html_copy_source = False
html_use_index = False
html_theme_options = {
    "repository_url": ADDRESS["repository"],
    "repository_branch": ADDRESS["ref"],
    "use_repository_button": True,
    "launch_buttons": {"colab_url": "https://colab.research.google.com"},
    "show_toc_level": 2,
    "pygments_dark_style": "github-dark",  # keywords stand out, and docstrings do not
    "navbar_persistent": [],  # the search is in the sidebar
    "navigation_with_keys": False,  # the arrow keys belong to the figures
}

mathjax_path = "MathJax.js?config=TeX-AMS-MML_HTMLorMML-full,Safe"
if language != "en":
    html_static_path = ["_static"]
    mathjax_path = f"../../_static/{mathjax_path}"  # that of the English pages
    html_theme_options |= {
        "use_repository_button": False,
        "launch_buttons": {},
        "footer_content_items": [],  # the theme's "by" reads badly in German
    }
mathjax2_config = {
    "tex2jax": {
        "inlineMath": [["\\(", "\\)"]],
        "displayMath": [["\\[", "\\]"]],
        "processClass": "math",
        "ignoreClass": "document",
    },
    "HTML-CSS": {
        "availableFonts": [],
        "webFont": "STIX-Web",
        "imageFont": None,
        # The first formulas are seen before the last are set.
        **{"EqnChunk": 8, "EqnChunkFactor": 1.5, "EqnChunkDelay": 10},
        "matchFontHeight": False,  # which would set them in the height of x, larger than their text
        "scale": 100,
        # MathJax fetches its blank font from about:blank, which browsers refuse and report as an error.
        "styles": {"@font-face": {"font-family": "MathJax_Blank", "src": "local('MathJax_Blank')"}},
    },
    "showMathMenu": False,
    "menuSettings": {"inTabOrder": False},  # Tab goes from control to control
    "messageStyle": "none",
    # The preview would set each formula twice, and first in fonts that are not here.
    "fast-preview": {"disabled": True},
}


class English(SearchEnglish):
    """English, of which a word is stemmed once rather than once a page."""

    def __init__(self, options):
        super().__init__(options)
        self.stem = cache(self.stem)


languages["en"] = English

EMPTY_HEADING = re.compile(r'<th class="head(?: text-\w+)?"><p></p></th>')


def setup(app):
    """Make the empty corner of a table an ordinary cell, although Markdown has to write it as a heading."""
    app.connect("html-page-context", leave_corners_empty)
    app.connect("html-page-context", describe)
    app.connect("html-page-context", offer_languages)


def leave_corners_empty(app, page, template, context, doctree):
    if "body" in context:
        context["body"] = EMPTY_HEADING.sub("<td></td>", context["body"])


def offer_languages(app, page, template, context, doctree):
    """Links from a page to its translations, each in its own language."""
    root = context["pathto"]("", resource=True) or ""
    if app.config.language != "en":
        others = {"en": f"{root}../{page}.html"}
    else:
        catalogues = (ROOT / "languages").glob(f"*/{Path(page).name}.po") if "/" in page else ()
        codes = [path.parent.name for path in catalogues if page.startswith(TRANSLATED)]
        others = {code: f"{root}{code}/{page}.html" for code in sorted(codes)}
    if others and "body" in context:
        links = "".join(
            f'<a hreflang="{code}" lang="{code}" href="{address}">{Locale(code).display_name}</a>'
            for code, address in others.items()
        )
        context["body"] = f'<p class="languages">{links}</p>{context["body"]}'


TRANSLATED = ("lectures/", "homeworks/")  # the folders whose pages may be translated

DESCRIPTION = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["description"]


def plain(title):
    """A title without its markup, as the value of an attribute."""
    return in_html(re.sub("<[^>]+>", "", title).replace("&amp;", "&"))


def describe(app, page, template, context, doctree):
    """What a message with a link to a page shows of it."""
    root = context["pathto"]("", resource=True) + ("" if language == "en" else "../")
    address = f"{SITE_ADDRESS}/" if SITE_ADDRESS else root
    title = app.config.html_title
    said = {
        "og:title": title if page == "index" else f"{context.get('title', title)} · {title}",
        "og:type": "website",
        "og:description": DESCRIPTION,
        "og:image": f"{address}_static/social.png",
        "twitter:card": "summary_large_image",
    }
    tags = [f'<meta property="{key}" content="{plain(value)}">' for key, value in said.items()]
    tags.append(f'<meta name="description" content="{plain(DESCRIPTION)}">')
    context["metatags"] = "\n".join([context.get("metatags", ""), *tags])
