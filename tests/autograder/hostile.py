"""What a student might write wherever a student can write: commands for terminals, markup, formulas."""

import os

from grading import NAME, named, released
from nbformat.v4 import new_code_cell, new_markdown_cell

from autograder.source.sample_submissions import answered

COMMANDS = "\x1b[2J\x1b]0;owned\x07\x9b31m\x85\r\u202elive\u2066\u2028\x00\ud800"
SCRIPT = "<script>window.owned = 1; alert('owned')</script>"
IMAGE = "<img src=x onerror=\"window.owned = 1; alert('owned')\">"
AWAY = "https://evil.example/pixel.png"
MARKUP = [
    SCRIPT,
    IMAGE,
    "<svg/onload=\"alert('owned')\"><a xlink:href='javascript:alert(1)'>x</a></svg>",
    f"<iframe src='{AWAY}'></iframe><object data='{AWAY}'></object><embed src='{AWAY}'>",
    f"<style>@import '{AWAY}'; body {{ background: url({AWAY}) }}</style><link rel=stylesheet href='{AWAY}'>",
    f"<meta http-equiv=refresh content='0;url={AWAY}'><base href='{AWAY}'>",
    f"<form action='{AWAY}'><button autofocus onfocus=alert(1)>press</button></form>",
    "</pre></div></textarea></title></script><script>alert('owned')</script>",
    f"![a picture]({AWAY}) ![a [nested](attachment:x) one]({AWAY}) ![by name][p]\n\n[p]: {AWAY}",
    "[click](javascript:alert('owned')) [click](data:text/html,<script>alert(1)</script>) [c][j]\n\n"
    "[j]: javascript:alert('owned')",
    f"$\\href{{javascript:alert(1)}}{{x}}$ $\\href1 x$ $\\mmlToken{{mi}}[href=javascript:alert(1)]{{x}}$ "
    f"$\\style{{background:url({AWAY})}}{{x}}$ $\\includegraphics{{{AWAY}}}$ $\\text{{{IMAGE}}}$ "
    f"$\\unicode{{x}}\\require{{html}}\\class{{x}}{{y}}\\cssId{{x}}{{y}}\\url{{javascript:alert(1)}}$",
    f"| a | b |\n|---|---|\n| {SCRIPT} | ![x]({AWAY}) |",
    "<details open ontoggle=alert(1)><summary>x</summary></details><math><maction actiontype=statusline>x",
    "{{ 7 * 7 }} {% raw %} ${alert(1)} <%= 1 %>",
]
NAMES = [
    "esc\x1b[2J\x07bell\x9b31m",
    "two\nlines\rback",
    "turned\u202eround\u2066",
    os.fsdecode(b"no \xff utf-8"),
    "<img src=x onerror=alert(1)>",
    "\"'><svg onload=alert(1)>",
    "\";window.owned=1;alert('owned');\"",
    "\\",
    "=cmd|' C calc'!A0",
    " \u200b＝1+1",
    "{{ 7*7 }}${alert(1)}",
    "javascript:alert(1)",
]
SHOWS = """
from IPython.display import HTML, SVG, Javascript, Latex, Markdown, display
for text in TEXTS:
    print(text)
    display(HTML(text), Markdown(text), Latex(text), Javascript("alert('owned')"))
    display({kind: text for kind in KINDS}, raw=True)
display(SVG("<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>"))
"""
KINDS = [
    *("text/html", "text/plain", "text/markdown", "text/latex", "image/svg+xml", "image/png", "image/jpeg"),
    *("application/javascript", "application/json", "application/vnd.jupyter.widget-view+json"),
    "application/pdf",
]
WRONG = "def moving_average(values, width):\n    raise ValueError({words!r})"


def hostile_notebook(course):
    """A submission with all of this in every place of a notebook."""
    texts = [text + COMMANDS.replace("\ud800", "") for text in MARKUP]
    words = named(released(course), "why_smooth")["source"] + "\n\n" + "\n\n".join(MARKUP)
    answers = {"moving_average": WRONG.format(words=" ".join(texts)), "why_smooth": words}
    content = answered(released(course), answers)
    shows = new_code_cell(f"TEXTS = {texts!r}\nKINDS = {KINDS!r}{SHOWS}")
    own = [new_markdown_cell(text) for text in MARKUP]
    own += [shows, new_code_cell(f"raise RuntimeError({' '.join(texts)!r})"), new_code_cell(SCRIPT)]
    for cell in own:
        cell["metadata"] |= {"tags": [COMMANDS, *MARKUP], "widgets": {"x": SCRIPT}, "collapsed": IMAGE}
    own[0]["attachments"] = {
        "x.png": {"image/png": SCRIPT, "image/svg+xml": IMAGE},
        IMAGE: {"text/html": SCRIPT},
    }
    content["metadata"] |= {"title": SCRIPT, "widgets": {"application/vnd.jupyter.widget-state+json": SCRIPT}}
    content["metadata"]["kernelspec"] = {"name": SCRIPT, "display_name": COMMANDS, "language": IMAGE}
    return {**content, "cells": [*content["cells"], *own]}


ODD = ["=cmd|' C calc'!A0", "{{ 7*7 }}${alert(1)}"]  # of these, whose notebooks are graded


def hand_in_under(course, name, data, homework=NAME):
    """Put the bytes of a notebook into a student's folder of any name."""
    folder = course / "submitted" / name / homework
    folder.mkdir(parents=True)
    (folder / f"{homework}.ipynb").write_bytes(data)
