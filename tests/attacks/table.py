"""The table of attacks in docs/attacks.md: `python tests/attacks/table.py` runs them all and writes it.

With names such as `test_memory.py` or `test_reach.py::test_honest_work_goes_on` it runs these, and keeps the
rows of the others.
"""

import ast
import os
import platform
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = map(str, (HERE.parents[1], HERE, HERE.parent))  # the package before tests/, which has its name
sys.path.append(str(HERE.parent / "autograder"))

from attempts import FAMILIES  # noqa: E402
from attempts_inside import INSIDE  # noqa: E402
from attempts_outside import OUTSIDE  # noqa: E402
from besiegers import NAMES, OPEN  # noqa: E402

from autograder.isolation import landlock  # noqa: E402

PAGE = HERE.parents[1] / "docs" / "attacks.md"
LEVELS = ("bwrap", "landlock")
DEFEATED, COSTS, STAYS_OPEN = "defeated", "costs the attacker only", "open"
NOT_TRIED = "not tried here"
START = re.compile(r"\b(?:bwrap|landlock)-(root|ordinary)(?:-([135])\b)?")  # as `Start` calls itself
WHOLE = "test_attempts.py"
ATTEMPT = "test_an_attempt_gains_nothing_tells_nothing_and_leaves_nothing"
ALL_FAMILIES = FAMILIES | {
    "m": "the kernel underneath",
    "n": "files and processes of the same user",
    "o": "what is known to remain",
}

# The family of a file's tests, and of those that belong to another; None where a test attacks nothing.
FAMILY_OF_FILE = {
    "test_files.py": "a",
    "test_kernel.py": "m",
    "test_memory.py": "l",
    "test_network.py": "f",
    "test_processes.py": "g",
    "test_open.py": "o",
    "test_reach.py": "n",
    "test_results.py": "j",
}
FAMILY_OF_TEST = {
    "test_a_database_cannot_be_opened_to_give_oneself_marks": "e",
    "test_nothing_outside_can_be_written": "e",
    "test_nothing_outside_can_be_removed_cut_or_made": "e",
    "test_the_interpreter_cannot_be_changed_for_the_next_one": "b",
    "test_files_cannot_be_hidden_from_being_counted": "l",
    "test_files_cannot_be_hidden_at_the_end_of_a_long_path": "l",
    "test_a_disk_cannot_be_filled": "l",
    "test_a_disk_cannot_be_filled_with_files_that_are_removed": "l",
    "test_a_disk_cannot_be_filled_with_removed_files_of_odd_names": "l",
    "test_a_file_without_a_name_is_counted_as_well": "l",
    "test_a_database_is_written_and_read_without_locks": None,
    "test_the_listener_of_that_test_can_be_reached": None,
    "test_a_bomb_ends_with_a_sentence_and_leaves_nothing": "l",
    "test_a_bomb_in_one_submission_does_not_stop_another": "l",
    "test_an_honest_neighbour_keeps_every_answer_beside_58_busy_processes": "l",
    "test_busy_processes_end_when_they_have_had_their_share": "l",
    "test_memory_cannot_be_hidden_by_forbidding_others_to_look": "l",
    "test_memory_cannot_be_hidden_behind_a_name": "l",
    "test_a_name_that_is_no_text_hides_nothing": "l",
    "test_memory_that_was_moved_to_a_disk_is_counted": None,  # a count by itself, and no attack
    "test_signals_and_limits_of_ones_own_still_work": None,
    "test_honest_work_goes_on": None,
    "test_an_object_that_equals_everything_stays_there": "d",
    "test_a_subclass_that_equals_everything_arrives_without_its_tricks": "d",
    "test_patching_in_there_changes_nothing_out_here": "b",
    "test_there_are_no_frames_of_the_grader_to_look_into": "h",
    "test_a_session_that_is_rewritten_from_inside_is_ended": "i",
    "test_an_error_that_cannot_be_told_is_told_all_the_same": "l",
    "test_the_text_of_an_error_has_an_end": "l",
    "test_nothing_that_could_be_a_page_is_displayed": "k",
    "test_huge_replies_are_cut_off_before_they_fill_the_grader": "l",
    "test_a_reply_that_trickles_ends_with_the_call": "l",
    "test_a_value_without_an_end_is_an_error": "l",
    "test_answers_have_an_end_in_all": "l",
    "test_no_open_file_is_sent_to_the_grader": "l",
}

# What uses up something, and is ended by a limit or by itself: the others lose nothing but some time.
COSTLY = {
    *(name for name, attempt in (INSIDE | OUTSIDE).items() if attempt.family == "l"),
    *(test for test, family in FAMILY_OF_TEST.items() if family == "l"),
    "test_memory_cannot_be_hidden_in_what_was_sent_and_not_received",
    "test_signalling_everyone_ends_oneself_only",
    "test_a_session_that_is_rewritten_from_inside_is_ended",
    "test_an_exit_handler_or_a_thread_does_not_hold_a_submission",
} - {"test_no_open_file_is_sent_to_the_grader", "test_a_name_that_is_no_text_hides_nothing"}
# Tests that pass because an attack succeeds, and at which levels.
OPEN_AT = {
    "test_whether_a_path_exists_and_where_a_link_leads_can_be_asked": {"landlock"},
    "test_a_change_of_an_argument_can_be_hidden_by_climbing_to_the_caller": {"bwrap", "landlock"},
}

# Aimed at whoever collects, reads and marks: what, and the file and name of its test.
ELSEWHERE = (
    (
        "a zip with damaged members, or one that lies",
        "autograder/collecting/test_damaged_zips.py",
        "test_a_damaged_zip_concerns_the_one_who_handed_it_in",
    ),
    (
        "half a character in a tag",
        "autograder/fuzz/test_found.py",
        "test_half_a_character_in_a_cells_settings_is_put_back",
    ),
    (
        "terminal codes in the name of a folder",
        "autograder/collecting/test_collecting_again.py",
        "test_the_table_cannot_be_used_to_write_to_the_terminal",
    ),
    (
        "names that a spreadsheet would run",
        "autograder/test_hostile_words.py",
        "test_what_a_spreadsheet_would_take_for_a_formula_gets_an_apostrophe",
    ),
    (
        "LaTeX that makes links or commands",
        "autograder/test_markup.py",
        "test_every_command_that_makes_links_styles_or_more_commands_is_disarmed",
    ),
    (
        "texts over which a search would take quadratic time",
        "autograder/test_linear.py",
        "test_an_expression_takes_time_in_proportion",
    ),
    (
        "code over which a search would take quadratic time",
        "autograder/test_linear.py",
        "test_searching_code_takes_time_in_proportion",
    ),
    (
        "a notebook in the old format 3, full of outputs",
        "autograder/test_repair.py",
        "test_format_3_takes_no_more_memory_than_any_other",
    ),
    (
        "forms for the website that never end, from nobody who is signed in",
        "autograder/serving/test_serve_pages.py",
        "test_strangers_cannot_fill_the_disk_or_the_memory_with_forms_that_never_end",
    ),
    (
        "large notebooks for the website, again and again",
        "autograder/serving/test_kept_attempts.py",
        "test_attempts_that_would_fill_the_disk_are_refused_but_a_small_one_is_always_kept",
    ),
    (
        "code that Python cannot read",
        "autograder/test_own_work.py",
        "test_no_text_of_an_answer_stops_the_judge",
    ),
    (
        "a constant for every exercise",
        "autograder/test_constants.py",
        "test_a_constant_passes_no_check_that_asks_for_what_always_holds",
    ),
    (
        "a hard link to somebody else's file",
        "autograder/test_collect.py",
        "test_a_second_name_of_another_file_is_not_read",
    ),
    (
        "code that uses up the time before a hidden check",
        "autograder/test_judge.py",
        "test_a_hidden_check_that_there_was_no_time_for_is_not_said_to_fail",
    ),
    (
        "an answer by a star import",
        "autograder/test_own_work.py",
        "test_a_star_import_that_answers_an_exercise_counts_as_a_use",
    ),
    (
        "an answer by a helper or under another name",
        "autograder/test_own_work.py",
        "test_what_an_answer_uses_is_found_through_all_cells",
    ),
    (
        "an answer by a name that is bound unseen",
        "autograder/test_own_work.py",
        "test_code_that_its_text_does_not_show_is_flagged_once_though_no_answer_depends_on_it",
    ),
    (
        "an answer by an import that is no statement",
        "autograder/test_own_work.py",
        "test_the_course_is_found_by_whatever_way_it_is_imported",
    ),
    (
        "an answer from a module that a cell writes",
        "autograder/test_own_work.py",
        "test_a_module_that_the_student_brings_along_is_flagged",
    ),
    (
        "a forbidden function by another path to its module",
        "autograder/test_own_work.py",
        "test_a_class_is_known_by_whatever_path_leads_to_it",
    ),
    (
        "a forbidden function from torch's inner modules",
        "autograder/test_own_work.py",
        "test_the_inner_modules_of_torch_are_forbidden_without_being_listed",
    ),
    (
        "a module bound by a loop, a pattern or an assignment",
        "autograder/test_own_work.py",
        "test_a_module_is_followed_however_it_is_bound_in_another_cell",
    ),
    (
        "a copy of the course's code",
        "autograder/test_own_work.py",
        "test_a_short_copy_is_recognised_where_it_answers_an_exercise",
    ),
    (
        "a table of the visible checks' answers",
        "autograder/test_judge.py",
        "test_a_table_of_the_visible_checks_answers_earns_nothing",
    ),
)

ON_READERS = """## Attacks on whoever collects, reads and marks

These do not need to run, so the level of isolation does not matter. Their tests are elsewhere in `tests`.

| what is handed in | | test |
|---|---|---|"""


TOGETHER = """## A class in which most attack

`tests/autograder/test_siege.py` hands in all of these at once, beside ten honest submissions, and beside
links, a pipe, a directory and a zip in place of notebooks: at both levels, started by root and by an ordinary
user, at `landlock` with versions 1, 3, 5 and the kernel's own. It fails if an honest submission loses a
point, an attacker gains one, the grader's own processes use more than 3 GB or the class takes longer than it
should.

| what a submission does | |
|---|---|"""


OPENING = """# Attacks on the grader, and what becomes of them

Written by `python tests/attacks/table.py`, which runs the attacks. Each row is a test in `tests/attacks`
that fails if the attack gains a point, is told a hidden input, reaches the network, reads or changes a file
outside, outlives the run or harms another submission; many have several variants. An attack of
`test_attempts.py` is a whole submission, graded as any other; the others act on one process in the sandbox.

At each level of isolation an attack is *defeated*; or it *costs the attacker only*, whose submission is ended
by a limit or goes without the points; or it is *open*; – says that it is tried at the other level only. The
last column but one says who had started the grader, and which versions of Landlock the kernel was taken to
have. {machine}
"""
HEAD = """| family | what is attacked, and how | bwrap | landlock | started by; Landlock | test |
|---|---|---|---|---|---|"""
REMAINS = """## What remains

- At `landlock`, on any kernel and whoever starts the grader, *open*: whether a path exists, what size, owner
  and times the file has, and where a link leads, can be asked where its folders may be passed. No file is
  read, listed, watched or changed that way.
- At `landlock`, where an ordinary user starts the grader, *open*: all submissions are that user to the
  kernel, which counts their processes together, so that one with very many can keep others from starting any
  until it is ended. Started as root, the grader gives each submission a user of its own.
- Where an ordinary user starts the grader, at both levels, *not tried*: whether submissions can use up what
  the kernel grants to each user besides, such as pending signals, pages of pipes and watches of `epoll`.
- At `landlock`, *costs the attacker only*: the size of files, removed ones included, is watched and not
  capped. What is written between two looks is on the disk until the submission has ended.
- At both levels, *costs the attacker only*: processes that live for less than a quarter of a second can leave
  some of their processor time uncounted. They have it at low priority, and until the far limit of time.
- At `bwrap` before Linux 6.7 (Landlock below 4), *costs the attacker only*: connections within the sandbox's
  own network may hold more memory than is counted, up to what the kernel gives to all connections.
- At `landlock` before Linux 6.12 (Landlock below 6), *costs the attacker only*: a submission signals nobody
  but its first process, so that it cannot end a program it started. Tried with the version capped on a newer
  kernel; on an older one, which SECURITY.md names, without torch.
- A shared kernel is the border: a fault in it is not defended against. A class to be distrusted that far
  is graded in a virtual machine.
- The student's function is given the inputs of hidden checks. Whoever reads the feedback learns whether each
  one passed, and which were not tried since the time was used up or the code had ended too many of its
  processes: about a bit for each hidden check, of an input that was drawn for this submission only.
- Whether a call changed its arguments is told by the student's process. Replacing what has a name there hides
  nothing; code that climbs the frames to whoever called it, or puts its arguments back as it returns, can.
- What an exercise forbids, and that it is to be written without the course's own package, is searched for in
  the text of all of a student's cells and guarded while they run. That reminds those who forget. A name that
  stands there is found in most of the ways in which Python binds or reaches it. What passes unnoticed: a name
  that is put together while the code runs (`getattr(torch, "layer_" + "norm")`, a module's name in two
  pieces) or handed to a function that looks it up (`attrgetter`), a module that is given as an argument, an
  object that is looked for in memory (`gc`, `__subclasses__`, `ctypes`), code in another form (`pickle`,
  `torch.jit`, a finder of imports), and `builtins` under another name. Some other such ways are flagged for a
  person; none is walled off.
- Visible checks, whose texts students have, can be passed without a solution: by a constant where a check
  asks for little, and by a table where it draws nothing. A table alone earns nothing, since such a check pays
  only beside one of the same exercise with inputs of the submission's own.
"""


@dataclass(frozen=True)
class Attack:
    """A row: what is attacked and how, and the test that fails if it succeeds."""

    family: str
    title: str
    file: str
    test: str


@dataclass
class Results:
    """How every variant of every attack ended; a plug-in of pytest."""

    ended: dict[tuple[str, str, str], set[str]] = field(default_factory=lambda: defaultdict(set))
    started: dict[tuple[str, str], set[tuple[str, int]]] = field(default_factory=lambda: defaultdict(set))

    def pytest_runtest_logreport(self, report: object) -> None:
        if report.when != "call" and report.passed:
            return
        path, _, test = report.nodeid.partition("::")
        file = Path(path).name
        name, _, variant = test.partition("[")
        level = next((level for level in LEVELS if re.search(rf"\b{level}\b", variant)), "")
        attempt = next((n for n in INSIDE | OUTSIDE if re.search(rf"\b{n}\b", variant)), name)
        outcome = "passed" if report.passed else NOT_TRIED if report.skipped else "succeeds"
        key = file, attempt if file == WHOLE else name
        self.ended[*key, level].add(outcome)
        if report.passed:
            self.started[key].add(start_of(variant))

    def of(self, attack: Attack, level: str) -> str:
        """One cell of the table."""
        ended = self.ended.get((attack.file, attack.test, level), set())
        if level == LEVELS[0]:  # what is tried at the best level only
            ended = ended | self.ended.get((attack.file, attack.test, ""), set())
        if ended == {"passed", NOT_TRIED}:  # where it was tried
            ended = {"passed"}
        return "; ".join(sorted(ended - {"passed"})) or (verdict(attack.test, level) if ended else "–")

    def has(self, attack: Attack) -> bool:
        """Whether it was tried in this run."""
        return any((attack.file, attack.test, level) in self.ended for level in ("", *LEVELS))

    def starts(self, attack: Attack) -> str:
        """Who had started the grader where the test passed, and with which versions of Landlock."""
        started = self.started.get((attack.file, attack.test), set())
        users = [user for user in ("root", "ordinary") if user in {user for user, _ in started}]
        versions = sorted({version for _, version in started})
        return f"{' and '.join(users)}; {', '.join(map(str, versions))}"


def verdict(test: str, level: str) -> str:
    """What it means that a test passed at a level."""
    if level in OPEN_AT.get(test, ()):
        return STAYS_OPEN
    return COSTS if test in COSTLY else DEFEATED


def start_of(variant: str) -> tuple[str, int]:
    """Who had started the grader in a variant of a test, and the version of Landlock."""
    if found := START.search(variant):
        return found[1], int(found[2] or landlock.version())
    return "root" if os.geteuid() == 0 else "ordinary", landlock.version()


def machine() -> str:
    """Where the attacks run, in a sentence."""
    release = ".".join(platform.release().split(".")[:2])
    return f"They were run on Linux {release} ({platform.machine()}), whose Landlock is {landlock.version()}."


def attacks() -> list[Attack]:
    """Every attack, by family: whole submissions, and attacks on a single process."""
    found = [Attack(a.family, a.does, WHOLE, name) for name, a in (INSIDE | OUTSIDE).items()]
    for file, family in FAMILY_OF_FILE.items():
        for test in names_of_tests(HERE / file):
            if (of := FAMILY_OF_TEST.get(test, family)) is not None:
                found.append(Attack(of, test.removeprefix("test_").replace("_", " "), file, test))
    return sorted(found, key=lambda attack: (attack.family, attack.file != WHOLE))


def names_of_tests(path: Path) -> Iterator[str]:
    """The names of a file's tests."""
    for statement in ast.parse(path.read_text()).body:
        if isinstance(statement, ast.FunctionDef) and statement.name.startswith("test_"):
            yield statement.name


def row(attack: Attack, results: Results) -> str:
    cells = (
        attack.family,
        attack.title,
        *(results.of(attack, level) for level in LEVELS),
        results.starts(attack),
    )
    return f"| {' | '.join(cells)} | `{attack.file}::{attack.test}` |"


def on_reader(what: str, file: str, test: str) -> str:
    """The row of an attack at which the level does not matter."""
    return f"| {what} | level does not matter | `{file}::{test}` |"


def rows_of(text: str) -> dict[str, str]:
    """Test → its row of a page."""
    return {line.split("`")[-2]: line for line in text.splitlines() if line.endswith("` |")}


def page(results: Results, kept: Mapping[str, str] | None = None) -> str:
    """The page, from a run of attacks.

    kept: test → its row on an earlier page, for what did not run.
    """
    families = "\n".join(f"- {letter}: {name}" for letter, name in ALL_FAMILIES.items())
    old = {} if kept is None else kept
    rows = "\n".join(
        row(attack, results) if results.has(attack) or name not in old else old[name]
        for attack in attacks()
        for name in [f"{attack.file}::{attack.test}"]
    )
    elsewhere = "\n".join(on_reader(*entry) for entry in ELSEWHERE)
    together = "\n".join(f"| {name} | {STAYS_OPEN if name in OPEN else DEFEATED} |" for name in NAMES)
    return (
        f"{OPENING.format(machine=machine())}\n{families}\n\n{HEAD}\n{rows}\n\n"
        f"{ON_READERS}\n{elsewhere}\n\n{TOGETHER}\n{together}\n\n{REMAINS}"
    )


def main() -> int:
    import pytest

    results, chosen = Results(), sys.argv[1:]
    kept = rows_of(PAGE.read_text()) if chosen else {}
    options = [
        "-q",
        "-m",
        "",
        "-p",
        "no:cacheprovider",
        f"--ignore={HERE / 'test_table.py'}",
    ]  # it compares the page
    status = pytest.main([*options, *(str(HERE / name) for name in chosen or [""])], plugins=[results])
    PAGE.write_text(page(results, kept))
    return int(status)


if __name__ == "__main__":
    sys.exit(main())
