"""The command line is a table: each word calls its function, imports it late and answers in sentences."""

import subprocess
import sys

import pytest
from grading import NAME, hand_in, new_course, released

from autograder.cli import VERBS, Verb, main
from autograder.source.notebook import SourceError


def test_help_says_one_line_about_every_word(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    lines = capsys.readouterr().out.splitlines()
    for word, verb in VERBS.items():
        assert any(line.split()[:1] == [word] and line.endswith(verb.help) for line in lines), word


def test_help_imports_nothing_heavy():
    assert (
        heavy_after(
            "from autograder.cli import main\ntry: main(['grade', '--help'])\nexcept SystemExit: pass"
        )
        == "[]"
    )


def test_a_grading_starts_its_warm_process_before_it_imports_anything_heavy(tmp_path):
    course = new_course(tmp_path / "course")
    hand_in(course / "submitted", "ada", NAME, released(course))
    words = ["grade", NAME, "--submissions", f"{course}/submitted", "--root", str(course)]
    program = f"""
from autograder.cli import main
from autograder.isolation import Warm
def start(self):
    raise Started
class Started(Exception): pass
Warm.start = start
try: main({words})
except Started: print("now")
"""
    assert heavy_after(program, lines=2) == "now\n[]"


def test_a_grading_does_not_wait_for_what_only_draws():
    program = "import autograder.grading.clerk, autograder.marks.gradebook, autograder.nbgrader.ignored"
    assert heavy_after(program, ("matplotlib", "course.figures", "torch")) == "['torch']"


def heavy_after(program, slow=("torch", "nbformat", "nbgrader"), lines=1):
    """The last lines of a program, of which one lists the slow packages that a fresh Python has imported."""
    watch = f"import sys; print([name for name in {slow} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", f"{program}\n{watch}"], capture_output=True, text=True)
    return "\n".join(done.stdout.splitlines()[-lines:])


def test_a_word_calls_its_function_with_its_options(capsys):
    greet = Verb(
        "greet", lambda part: part.add_argument("name"), lambda args: print(f"hello {args.name}") or 7
    )
    assert main(["greet", "ada"], {"greet": greet}) == 7
    assert capsys.readouterr().out == "hello ada\n"


def fail(problem):
    def run(args):
        raise problem

    return {"try": Verb("try", lambda part: None, run)}


@pytest.mark.parametrize(
    ("problem", "status"),
    [(SourceError("it is not there"), 2), (FileNotFoundError("no such file"), 2), (KeyboardInterrupt(), 130)],
)
def test_what_a_user_can_mend_is_said_without_a_traceback(capsys, problem, status):
    assert main(["try"], fail(problem)) == status
    captured = capsys.readouterr()
    assert captured.err.strip().startswith("autograder try: ")
    assert "Traceback" not in captured.err


def test_the_traceback_is_there_for_who_asks(capsys):
    with pytest.raises(SourceError, match="it is not there"):
        main(["try", "--traceback"], fail(SourceError("it is not there")))


def test_a_fault_in_the_program_is_not_blamed_on_the_user():
    with pytest.raises(KeyError):
        main(["try"], fail(KeyError("name")))


@pytest.mark.parametrize("word", ["build", "verify", "release"])
def test_an_unknown_homework_is_named_with_those_there_are(course_folder, capsys, word):
    assert main([word, "hw9", "--root", str(course_folder)]) == 2
    assert capsys.readouterr().err == (
        f"autograder {word}: There is no homework called hw9. There are: mini_homework.\n"
    )


def test_who_stands_in_the_wrong_folder_is_told_so(tmp_path, capsys):
    assert main(["verify", "hw9", "--root", str(tmp_path)]) == 2
    assert f"{tmp_path} has no homework in solutions/" in capsys.readouterr().err


def test_build_says_what_it_wrote_and_check_fails_on_what_is_stale(course_folder, mini, edit, capsys):
    words = ["build", "mini_homework", "--root", str(course_folder)]
    assert main([*words, "--check"]) == 1
    assert main(words) == 0
    assert main([*words, "--check"]) == 0
    edit(mini / "mini_homework.py", "# # Averages", "# # Means")
    assert main([*words, "--check"]) == 1
    lines = capsys.readouterr().out.splitlines()
    out = [line for line in lines if not line.endswith("are run again.")]
    notebook = "solutions/mini_homework/mini_homework.ipynb"
    assert out[0] == f"out of date: {notebook}"
    assert out[-1] == f"out of date: {notebook}"
    assert f"written: {notebook}" in out
    assert "Everything is up to date." in out
