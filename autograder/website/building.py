"""A homework's own page: what students build, with a drawing if there is one, and a table of exercises."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from markupsafe import Markup

from autograder.reporting.prose import typeset
from autograder.source.homework import STARS, Asked, Exercise, HomeworkSource, Written, title_of
from course import figures

# The machine that a homework ends in, see course.figures.machines.
BUILT = {
    "hw2_backprop": "feedforward",
    "hw3_recurrent": "lstm_cell",
    "hw4_attention": "seq2seq_attention",
    "hw5_transformer": "transformer",
    "hw6_gpt": "gpt",
    "hw7_bert_and_translation": "bert",
}
# How a question's name is spelt in a sentence.
SPELT = {"jacobian": "Jacobian", "bert": "BERT", "ninety seven": "ninety-seven"}


def building(homework: HomeworkSource) -> str:
    """The page in Markdown, for a folder beside `homeworks` and `mistakes`."""
    notebook = in_notebook(homework)
    rows = [
        f"| [{typeset(exercise.title)}]({in_notebook(homework, exercise)}) "
        f"| {STARS[exercise.difficulty - 1]} | {exercise.minutes} | {exercise.points:g} |"
        for exercise in homework.exercises
    ]
    return "\n".join(
        [
            "---\nnosearch: true  # its notebook, which has the same title, is found\n---",
            f"# {title_of(homework)}",
            "",
            introduction(homework),
            "",
            f"*{'; '.join(_amounts(homework))}.* [Open the notebook]({notebook}), and write your",
            "answers where it says `YOUR CODE HERE`.",
            *_drawn(homework.name),
            "",
            "## What you write",
            "",
            "| exercise | difficulty | minutes | points |",
            "|---|---|---:|---:|",
            *rows,
            *map(_in_words, homework.written),
            "",
            "```{toctree}",
            ":maxdepth: 1",
            "",
            f"The notebook <{notebook.removesuffix('.ipynb')}>",
            f"Known mistakes <../mistakes/{homework.name}>",
            "```",
            "",
        ]
    )


def in_notebook(homework: HomeworkSource, exercise: Exercise | None = None) -> str:
    """The address of a homework's notebook, or of an exercise in it, for a page in a folder of the site.

    MyST names the place of a heading by its words.
    """
    notebook = f"../homeworks/{homework.name}/{homework.name}.ipynb"
    if exercise is None:
        return notebook
    heading = exercise.statement.partition("\n")[0].lstrip("#").strip()
    anchor = re.sub(r"[^-\w]", "", heading.lower().replace(" ", "-"))
    return f"{notebook}#{anchor}"


def _in_words(each: Written) -> str:
    asked = each.name.replace("_", " ")
    for name, spelt in SPELT.items():
        asked = asked.replace(name, spelt)
    return f"| {asked[0].upper()}{asked[1:]}, in words | | {each.minutes} | {each.points:g} |"


def introduction(homework: HomeworkSource) -> str:
    """The first paragraph below the title."""
    return " ".join(homework.cells[0].source.split("\n\n")[1].split())


def _amounts(homework: HomeworkSource) -> list[str]:
    """What a homework asks in all, and what it offers as a bonus, if anything."""
    bonus = [f"bonus: {_in_all(homework.on_top)}"] if homework.on_top else []
    return [_in_all(homework.regular), *bonus]


def _in_all(asked: Sequence[Asked]) -> str:
    """`20 exercises · about 6 hours · 110 points`."""
    minutes, points = sum(each.minutes for each in asked), sum(each.points for each in asked)
    time = f"{minutes} minutes" if minutes < 90 else f"{minutes / 60:.0f} hours"
    plural = "" if len(asked) == 1 else "s"
    return f"{len(asked)} exercise{plural} · about {time} · {points:g} points"


def _drawn(name: str) -> Iterable[str]:
    if name in BUILT:
        yield from ("", "```{raw} html", *figures.machine(BUILT[name]).html().splitlines(), "```")


def homework_navigation(homeworks: Iterable[HomeworkSource]) -> str:
    """The homeworks in the sidebar, below a heading that their titles need not repeat."""
    split = [(*_number_and_subject(homework), homework.name) for homework in homeworks]
    entries = [
        f"{number.removeprefix('Homework ')} · {subject} <building/{name}>" if subject else f"building/{name}"
        for number, subject, name in split
    ]
    head = ["```{toctree}", ":caption: Homework", ":hidden:", ":maxdepth: 2", ""]
    return "\n".join([*head, *entries, "```", ""])


def homework_cards(homeworks: Iterable[HomeworkSource]) -> str:
    """Cards for the first page: what each homework is about, and how long it takes."""
    cards = []
    for homework in homeworks:
        number, subject = _number_and_subject(homework)
        cards.append(
            Markup('<li><small>{}</small><a href="building/{}.html">{}</a><small>{}</small></li>').format(
                number, homework.name, subject or number, Markup("<br>").join(_amounts(homework))
            )
        )
    return "\n".join(['<ol class="path homeworks">', *cards, "</ol>", ""])


def _number_and_subject(homework: HomeworkSource) -> tuple[str, str]:
    """`Homework 4: one vector` as `("Homework 4", "One vector")`."""
    number, _, subject = title_of(homework).partition(": ")
    return number, subject[:1].upper() + subject[1:]
