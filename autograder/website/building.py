"""A homework's own page: what students build, with a drawing if there is one, and a table of exercises."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from markupsafe import Markup

from autograder.reporting.prose import typeset
from autograder.source.homework import STARS, Asked, HomeworkSource, title, title_of
from autograder.website.homework_page import anchor, number_of
from course import figures

# The machines that a homework ends in, see course.figures.machines.
BUILT = {
    "hw2_backprop": ("feedforward",),
    "hw3_recurrent": ("lstm_cell",),
    "hw4_attention": ("seq2seq_attention",),
    "hw5_transformer": ("block",),
    "hw6_gpt": ("gpt",),
    "hw7_bert_and_translation": ("bert", "transformer"),
}


def building(homework: HomeworkSource) -> str:
    """The page in Markdown, for a folder beside `homeworks` and `mistakes`."""
    notebook = address_of(homework)
    known = f"../mistakes/{homework.name}"
    number, _ = _number_and_subject(homework)
    return "\n".join(
        [
            "---\nnosearch: true  # its notebook, which is on the same subject, is found",
            "html_theme.sidebar_secondary.remove: true\n---",
            f"# What you build in {number[0].lower()}{number[1:]}",
            "",
            introduction(homework),
            "",
            f"*{'; '.join(_amounts(homework))}.* [Open the notebook]({notebook}), and write your",
            "answers where it says `YOUR CODE HERE`. If a check fails, look among the",
            f"[known mistakes]({known}.md): each asks the question that leads to it.",
            *_drawn(homework.name),
            "",
            "## What you write",
            "",
            "| | exercise | difficulty | minutes | points |",
            "|---:|---|---|---:|---:|",
            *_rows(homework),
            "",
            "```{toctree}",
            ":hidden:",
            "",
            f"The notebook <{notebook.removesuffix('.ipynb')}>",
            f"Known mistakes <{known}>",
            "```",
            "",
        ]
    )


def address_of(homework: HomeworkSource, statement: str = "") -> str:
    """The address of a homework's notebook, or of a statement in it, for a page in a folder of the site."""
    notebook = f"../homeworks/{homework.name}/{homework.name}.ipynb"
    return f"{notebook}#{anchor(statement)}" if statement else notebook


def _rows(homework: HomeworkSource) -> Iterator[str]:
    """The exercises in the order of the notebook, each leading to its place there."""
    written = {each.name: each for each in homework.written}
    for cell in homework.cells:
        asked: Asked
        if "exercise" in cell.labels:
            asked = homework.exercise(str(cell.labels["exercise"]))
            difficulty = STARS[asked.difficulty - 1]
        elif "written" in cell.labels:
            asked, difficulty = written[str(cell.labels["written"])], "in words"
        else:
            continue
        link = f"[{typeset(title(cell.source))}]({address_of(homework, cell.source)})"
        yield f"| {number_of(cell.source)} | {link} | {difficulty} | {asked.minutes} | {asked.points:g} |"
    for words, of in (("together", homework.regular), ("and as a bonus", homework.on_top)):
        if of:
            minutes, points = _sums(of)
            yield f"| | {words} | | {minutes} | {points:g} |"


def introduction(homework: HomeworkSource) -> str:
    """The first paragraph below the title."""
    return " ".join(homework.cells[0].source.split("\n\n")[1].split())


def _amounts(homework: HomeworkSource) -> list[str]:
    """What a homework asks in all, and what it offers as a bonus, if anything."""
    bonus = [f"bonus: {' · '.join(_in_all(homework.on_top))}"] if homework.on_top else []
    return [" · ".join(_in_all(homework.regular)), *bonus]


def _in_all(asked: Sequence[Asked]) -> tuple[str, str, str]:
    """`20 exercises`, `about 6 hours`, `110 points`."""
    minutes, points = _sums(asked)
    hours, half = divmod(round(minutes / 30), 2)
    time = f"{minutes} minutes" if minutes < 90 else f"{hours}{'½' * half} hours"
    plural = "" if len(asked) == 1 else "s"
    return f"{len(asked)} exercise{plural}", f"about {time}", f"{points:g} points"


def _sums(asked: Sequence[Asked]) -> tuple[int, float]:
    """The minutes and points of exercises together."""
    return sum(each.minutes for each in asked), sum(each.points for each in asked)


def _drawn(name: str) -> Iterable[str]:
    for machine in BUILT.get(name, ()):
        yield from ("", "```{raw} html", *figures.machine(machine).html().splitlines(), "```")


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
        *amounts, points = _in_all(homework.regular)
        if homework.on_top:
            points += f" + {sum(each.points for each in homework.on_top):g} bonus"
        cards.append(
            Markup('<li><small>{}</small><a href="building/{}.html">{}</a><small>{}</small></li>').format(
                number, homework.name, subject or number, Markup("<br>").join([*amounts, points])
            )
        )
    return "\n".join(['<ol class="path homeworks">', *cards, "</ol>", ""])


def _number_and_subject(homework: HomeworkSource) -> tuple[str, str]:
    """`Homework 4: one vector` as `("Homework 4", "One vector")`."""
    number, _, subject = title_of(homework).partition(": ")
    return number, subject[:1].upper() + subject[1:]
