"""Nothing that holds a notebook is passed over in silence, whatever the format of the download."""

import pytest
from downloads import CANVAS, FLAT, GITHUB, GRADESCOPE, HOMEWORK, MOODLE, NBGRADER, laid_out, notebook, zipped

from autograder.cli import main
from autograder.collecting import CollectingError, gather
from autograder.collecting.tree import OF_THE_SYSTEM
from autograder.submissions.collect import collect

STRAY = {  # the download, its students, and something of nobody's that could be one
    "Canvas": (CANVAS, {"40112", "40113"}, "bob.ipynb"),
    "Moodle": (MOODLE, {"zoe-o-hara", "li-na"}, f"Bob/{HOMEWORK}.ipynb"),
    "Gradescope": (
        GRADESCOPE,
        {"3001", "3002", "cy@uni.edu"},
        f"assignment_77_export/submission_503/{HOMEWORK}.ipynb",
    ),
    "GitHub Classroom": (GITHUB, {"ann-lee", "ann-ray"}, f"downloaded/{HOMEWORK}.ipynb"),
    "nbgrader": (NBGRADER, {"ada", "bo"}, f"dan/HW2-Backprop/{HOMEWORK}.ipynb"),
    "flat": (FLAT, {"ada", "bo"}, "cy/hw.ipynb"),
}
forms = pytest.mark.parametrize("form", STRAY)


def students(to):
    return {found.student for found in collect(to, HOMEWORK) if found.path}


def everything_in(to):
    return {path.read_bytes() for path in to.rglob("*") if path.is_file()}


@forms
@pytest.mark.parametrize("pack", [zipped, laid_out])
@pytest.mark.parametrize("ending", ["", ".txt"])
def test_a_notebook_of_nobody_is_named_and_everybody_else_is_collected(form, pack, ending, tmp_path):
    files, known, stray = STRAY[form]
    source = pack(tmp_path / "download", {**files, stray + ending: notebook("of nobody")})
    collected = gather(source, HOMEWORK, tmp_path / "submitted")
    assert collected.form == form
    assert students(tmp_path / "submitted") == known
    assert ["/".join(path).split("/")[-1] for path in collected.lost] == [stray.split("/")[-1] + ending]


@forms
def test_as_many_of_nobody_as_there_are_students_are_refused_and_nothing_is_written(form, tmp_path):
    files, known, stray = STRAY[form]
    strays = {stray.replace(".ipynb", f"{n}.ipynb"): notebook(f"{n}") for n in range(len(known))}
    with pytest.raises(CollectingError, match=rf"{form}, with {len(known)} of its students.*unclear whose"):
        gather(zipped(tmp_path / "d.zip", {**files, **strays}), HOMEWORK, tmp_path / "submitted")
    assert not (tmp_path / "submitted").exists()


@forms
def test_every_notebook_of_a_download_without_strays_is_somebodys(form, tmp_path):
    files = STRAY[form][0]
    collected = gather(zipped(tmp_path / "d.zip", files), HOMEWORK, tmp_path / "submitted")
    assert collected.lost == ()
    there = everything_in(tmp_path / "submitted")
    notebooks = {data for name, data in files.items() if name.endswith(f"{HOMEWORK}.ipynb")}
    assert notebooks <= there


@forms
@pytest.mark.parametrize("name", ["work.zip", "broken.zip"])
def test_a_zip_that_may_hold_a_notebook_is_named_too(form, name, tmp_path):
    files, _, stray = STRAY[form]
    inner = zipped(tmp_path / "inner.zip", {"a.ipynb": notebook()}).read_bytes()
    stray = "/".join([*stray.split("/")[:-1], name])
    source = zipped(tmp_path / "d.zip", {**files, stray: inner if name == "work.zip" else b"PK"})
    [lost] = gather(source, HOMEWORK, tmp_path / "submitted").lost
    assert lost[-1] == name


@forms
def test_other_files_of_nobody_are_noted(form, tmp_path):
    files, _, stray = STRAY[form]
    stray = stray.replace(".ipynb", ".docx")
    collected = gather(
        zipped(tmp_path / "d.zip", {**files, stray: b"words"}), HOMEWORK, tmp_path / "submitted"
    )
    assert collected.lost == ()
    [note] = [note for note in collected.notes if note.startswith("of no student")]
    assert note.endswith(stray.split("/")[-1])


@forms
@pytest.mark.parametrize("name", ["._hw.ipynb", *(f"{name}/a.ipynb" for name in sorted(OF_THE_SYSTEM))])
def test_what_a_system_adds_is_nobodys(form, name, tmp_path):
    files, known, stray = STRAY[form]
    added = "/".join([*stray.split("/")[:-1], name])
    collected = gather(zipped(tmp_path / "d.zip", {**files, added: b""}), HOMEWORK, tmp_path / "submitted")
    assert (collected.lost, students(tmp_path / "submitted")) == ((), known)


def test_another_homework_in_nbgraders_layout_is_set_aside_whatever_a_student_called_the_notebook(tmp_path):
    other = {"dan/hw1_language_models/Untitled.ipynb": notebook("dan")}
    collected = gather(zipped(tmp_path / "n.zip", NBGRADER | other), HOMEWORK, tmp_path / "submitted")
    assert collected.lost == ()


def test_a_link_that_may_stand_for_a_notebook_is_not_passed_over(tmp_path):
    source = laid_out(tmp_path / "d", FLAT)
    (source / "cy.ipynb").symlink_to(source / "ada.ipynb")
    collected = gather(source, HOMEWORK, tmp_path / "submitted")
    assert collected.lost == (("cy.ipynb",),)
    assert "left out cy.ipynb: a link" in collected.notes


def test_a_repository_of_another_name_does_not_change_the_logins(tmp_path):
    odd = {"course-template/.git/HEAD": b"ref: refs/heads/main", "course-template/a.ipynb": notebook("t")}
    collected = gather(laid_out(tmp_path / "g", GITHUB | odd), HOMEWORK, tmp_path / "submitted")
    assert {row.student for row in collected.rows} == {"ann-lee", "ann-ray"}
    assert collected.lost == (("course-template", "a.ipynb"),)


def test_a_repository_that_was_downloaded_without_its_history_is_a_students(tmp_path):
    odd = {f"hw2-backprop-ann-zed/{HOMEWORK}.ipynb": notebook("zed")}
    gather(laid_out(tmp_path / "g", GITHUB | odd), HOMEWORK, tmp_path / "submitted")
    assert students(tmp_path / "submitted") == {"ann-lee", "ann-ray", "ann-zed"}


def test_the_word_warns_and_fails_and_collecting_again_mends_it(course_folder, tmp_path, capsys):
    source = laid_out(
        tmp_path / "d", {"ada.ipynb": notebook(), "bo.ipynb": notebook(), "cy/a.ipynb": notebook()}
    )
    words = ["collect", str(source), "--homework", "mini_homework", "--root", str(course_folder)]
    assert main(words) == 1
    said = capsys.readouterr()
    assert "NOT COLLECTED, because it is unclear whose: cy/a.ipynb." in said.err
    assert "flat: 2 students." in said.out
    (source / "cy" / "a.ipynb").rename(source / "cy.ipynb")
    assert main(words) == 0
    assert capsys.readouterr().err == ""
