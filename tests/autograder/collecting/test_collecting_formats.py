"""Every platform's download is told apart by looking, and each student's work arrives where it is graded."""

import subprocess
from datetime import UTC, datetime

import pytest
from downloads import CANVAS, FLAT, GITHUB, GRADESCOPE, HOMEWORK, MOODLE, NBGRADER, laid_out, notebook, zipped

from autograder.collecting import CollectingError, Roster, gather
from autograder.collecting.github_classroom import slug_of
from autograder.submissions.collect import collect

EXPECTED = {
    "Canvas": (CANVAS, {"40112": "jane second", "40113": "ravi"}),
    "Moodle": (MOODLE, {"zoe-o-hara": "zoe", "li-na": "li na"}),
    "Gradescope": (GRADESCOPE, {"3001": "ada", "3002": "bo and cy", "cy@uni.edu": "bo and cy"}),
    "GitHub Classroom": (GITHUB, {"ann-lee": "ann lee", "ann-ray": "ann ray"}),
    "nbgrader": (NBGRADER, {"ada": "ada", "bo": "bo"}),
    "flat": (FLAT, {"ada": "ada", "bo": "bo"}),
}


def rows(collected):
    return {row.student: row for row in collected.rows}


def handed_in(to):
    """Student → bytes of the notebook that the grader will read."""
    return {found.student: found.path.read_bytes() for found in collect(to, HOMEWORK) if found.path}


@pytest.mark.parametrize("form", EXPECTED)
@pytest.mark.parametrize("pack", [zipped, laid_out])
def test_a_download_is_recognised_and_the_grader_finds_its_bytes_unchanged(form, pack, tmp_path):
    files, students = EXPECTED[form]
    source = pack(tmp_path / "download", files)
    collected = gather(source, HOMEWORK, tmp_path / "submitted")
    assert collected.form == form
    assert handed_in(tmp_path / "submitted") == {who: notebook(says) for who, says in students.items()}


@pytest.mark.parametrize("form", EXPECTED)
def test_a_source_folder_is_left_as_it_was(form, tmp_path):
    source = laid_out(tmp_path / "download", EXPECTED[form][0])
    gather(source, HOMEWORK, tmp_path / "submitted")
    there = {
        path.relative_to(source).as_posix(): path.read_bytes() for path in source.rglob("*") if path.is_file()
    }
    assert there == EXPECTED[form][0]


@pytest.mark.parametrize("form", EXPECTED)
def test_collecting_twice_changes_nothing(form, tmp_path):
    source, to = zipped(tmp_path / "download.zip", EXPECTED[form][0]), tmp_path / "submitted"
    gather(source, HOMEWORK, to)
    before = {path: path.read_bytes() for path in to.rglob("*") if path.is_file()}
    again = gather(source, HOMEWORK, to)
    assert {path: path.read_bytes() for path in to.rglob("*") if path.is_file()} == before
    assert all("there already" in row.notes for row in again.rows)


def test_of_two_uploads_to_canvas_the_later_counts_and_the_earlier_is_kept(tmp_path):
    collected = gather(zipped(tmp_path / "c.zip", CANVAS), HOMEWORK, tmp_path / "submitted")
    assert (
        "2 notebooks in one attempt; the latest counts, the others are kept" in rows(collected)["40112"].notes
    )
    [kept] = (tmp_path / "submitted" / ".kept" / "40112").rglob("*.ipynb")
    assert kept.read_bytes() == notebook("jane first")


def test_whoever_is_anonymous_in_canvas_goes_by_the_number_given_instead(tmp_path):
    files = {
        f"anon_{who}_90000{place}_{HOMEWORK}.ipynb": notebook(who)
        for place, who in enumerate(("fCM1T", "31337"))
    }
    assert gather(zipped(tmp_path / "c.zip", files), HOMEWORK, tmp_path / "submitted").form == "Canvas"
    assert handed_in(tmp_path / "submitted") == {who: notebook(who) for who in ("fCM1T", "31337")}


def test_canvas_marks_who_was_late(tmp_path):
    collected = rows(gather(zipped(tmp_path / "c.zip", CANVAS), HOMEWORK, tmp_path / "submitted"))
    assert collected["40113"].late == "marked late, time unknown"
    assert collected["40112"].late == ""


def test_what_lies_beside_a_notebook_comes_with_it(tmp_path):
    gather(zipped(tmp_path / "m.zip", MOODLE), HOMEWORK, tmp_path / "submitted")
    there = tmp_path / "submitted" / "zoe-o-hara" / HOMEWORK
    assert (there / "data" / "words.txt").read_bytes() == b"words"


def test_what_lies_elsewhere_in_a_repository_is_kept(tmp_path):
    gather(laid_out(tmp_path / "g", GITHUB), HOMEWORK, tmp_path / "submitted")
    [kept] = (tmp_path / "submitted" / ".kept" / "ann-lee").rglob("README.md")
    assert kept.read_bytes() == b"read me"


def test_moodle_without_folders_is_moodle_too(tmp_path):
    files = {
        f"Li Na_81231_assignsubmission_file_{HOMEWORK}.ipynb": notebook("li na"),
        "Li Na_81231_assignsubmission_file_data.csv": b"1,2",
        "Li Na_81231_assignsubmission_onlinetext_onlinetext.html": b"<p>my words</p>",
    }
    assert gather(zipped(tmp_path / "m.zip", files), HOMEWORK, tmp_path / "submitted").form == "Moodle"
    there = tmp_path / "submitted" / "li-na" / HOMEWORK
    assert sorted(path.name for path in there.iterdir()) == [
        "data.csv",
        f"{HOMEWORK}.ipynb",
        "onlinetext.html",
    ]


@pytest.mark.parametrize("described", [b"- a list", b"{unclosed", b"\xff\xfe\x00"])
def test_an_export_that_does_not_describe_itself_is_refused_in_a_sentence(described, tmp_path):
    source = zipped(tmp_path / "g.zip", {"submission_metadata.yml": described})
    with pytest.raises(CollectingError, match=r"submission_metadata\.yml"):
        gather(source, HOMEWORK, tmp_path / "submitted")


def test_two_of_the_same_name_in_moodle_stay_two(tmp_path):
    twins = {
        f"Li Na_{number}_assignsubmission_file_/{HOMEWORK}.ipynb": notebook(str(number))
        for number in (81, 82)
    }
    collected = gather(zipped(tmp_path / "m.zip", twins), HOMEWORK, tmp_path / "submitted")
    assert handed_in(tmp_path / "submitted") == {"li-na-81": notebook("81"), "li-na-82": notebook("82")}
    assert all("2 participants are called Li Na" in row.notes for row in collected.rows)


def test_two_whose_names_are_spelt_alike_stay_two(tmp_path):
    alike = {"a b.ipynb": notebook("one"), "a-b.ipynb": notebook("two")}
    gather(zipped(tmp_path / "f.zip", alike), HOMEWORK, tmp_path / "submitted")
    assert sorted(handed_in(tmp_path / "submitted").values()) == [notebook("one"), notebook("two")]


def test_gradescope_says_when_and_what_came_later_than_due_is_late(tmp_path):
    due = datetime(2026, 11, 20, 12, tzinfo=UTC)
    source = zipped(tmp_path / "g.zip", GRADESCOPE)
    collected = rows(gather(source, HOMEWORK, tmp_path / "submitted", due=due))
    assert (collected["3001"].time, collected["3001"].late) == ("2026-11-20 11:59:58", "")
    assert collected["3002"].late == "1 d 30 min"
    assert "handed in by 2 together" in collected["3002"].notes
    assert "1 earlier at Gradescope, not in the export" in collected["3001"].notes
    stamp = tmp_path / "submitted" / "3001" / HOMEWORK / "timestamp.txt"
    assert stamp.read_text() == "2026-11-20 11:59:58.123456 UTC"


def test_the_last_commit_says_when_a_repository_was_handed_in(tmp_path):
    repository = laid_out(tmp_path / "s-submissions" / "s-ann", {f"{HOMEWORK}.ipynb": notebook()})
    settings = ["-c", "user.name=ann", "-c", "user.email=ann@uni.edu", "-c", "commit.gpgsign=false"]
    environment = {"PATH": "/usr/bin:/bin:/usr/local/bin", "GIT_COMMITTER_DATE": "2026-11-20T13:00:00+0100"}
    for words in (["init", "-q"], ["add", "-A"], [*settings, "commit", "-qm", "done"]):
        subprocess.run(["git", *words], cwd=repository, env=environment, check=True)
    collected = rows(gather(repository.parent, HOMEWORK, tmp_path / "submitted"))
    assert collected["ann"].time == "2026-11-20 12:00:00"
    assert not (tmp_path / "submitted" / "ann" / HOMEWORK / ".git").exists()


def test_no_setting_of_a_repository_starts_a_program(tmp_path):
    witness = tmp_path / "witness"
    config = f"""
[core]
    repositoryformatversion = 1
    fsmonitor = touch {witness}
    pager = touch {witness}
    sshCommand = touch {witness}
    editor = touch {witness}
[extensions]
    partialClone = evil
[protocol "ext"]
    allow = always
[remote "evil"]
    url = "ext::sh -c touch% {witness}"
    promisor = true
    partialclonefilter = blob:none
"""
    repository = laid_out(tmp_path / "s-submissions" / "s-ann", {f"{HOMEWORK}.ipynb": notebook()})
    subprocess.run(["git", "init", "-q"], cwd=repository, check=True)
    (repository / ".git" / "config").write_text(config)
    (repository / ".git" / "HEAD").write_text("1234567890123456789012345678901234567890")
    collected = rows(gather(repository.parent, HOMEWORK, tmp_path / "submitted"))
    assert collected["ann"].time == ""
    assert not witness.exists()


@pytest.mark.parametrize(
    ("folders", "parent", "homework", "slug"),
    [
        (["hw2-ann-lee", "hw2-ann-ray"], "hw2-submissions", HOMEWORK, "hw2-"),
        (["hw2-backprop-ann"], "downloads", HOMEWORK, "hw2-backprop-"),
        (["essay-ann", "essay-bo"], "downloads", HOMEWORK, "essay-"),
        (["ann", "bo"], "downloads", HOMEWORK, ""),
    ],
)
def test_the_login_is_what_follows_the_name_of_the_exercise(folders, parent, homework, slug):
    assert slug_of(folders, parent, homework) == slug


def test_a_zip_that_a_student_handed_in_is_looked_into(tmp_path):
    inner = zipped(tmp_path / "inner.zip", {f"work/{HOMEWORK}.ipynb": notebook("inside")}).read_bytes()
    source = zipped(tmp_path / "c.zip", {"doejane_40112_900001_hw2.zip": inner})
    collected = gather(source, HOMEWORK, tmp_path / "submitted")
    assert handed_in(tmp_path / "submitted")["40112"] == notebook("inside")
    assert "handed in as hw2.zip" in collected.rows[0].notes
    assert inner in [path.read_bytes() for path in (tmp_path / "submitted").rglob("*.zip")]


def test_a_student_without_a_notebook_is_reported_and_nothing_is_lost(tmp_path):
    source = zipped(tmp_path / "m.zip", {"Li Na_8_assignsubmission_file_/essay.docx": b"words"})
    [row] = gather(source, HOMEWORK, tmp_path / "submitted").rows
    assert "no notebook" in row.notes
    assert (tmp_path / "submitted" / "li-na" / HOMEWORK / "essay.docx").read_bytes() == b"words"


def test_a_roster_gives_everybody_one_id_and_names_who_is_absent(tmp_path):
    roster = Roster({"40112": "jd", "singhravi": "rs", "99999": "absent"})
    collected = gather(zipped(tmp_path / "c.zip", CANVAS), HOMEWORK, tmp_path / "submitted", roster=roster)
    assert set(rows(collected)) == {"jd", "rs"}
    assert collected.notes == ("nothing from absent",)


def test_who_is_not_in_the_roster_is_collected_and_reported(tmp_path):
    roster = Roster({"40112": "jd"})
    collected = gather(zipped(tmp_path / "c.zip", CANVAS), HOMEWORK, tmp_path / "submitted", roster=roster)
    assert "not in the roster" in rows(collected)["40113"].notes
    assert "not in the roster" not in rows(collected)["jd"].notes


@pytest.mark.parametrize("files", [{}, {"slides.pdf": b"%PDF"}, {"a/b/c.txt": b"x"}])
def test_what_no_format_fits_is_refused_with_what_was_looked_for(files, tmp_path):
    (tmp_path / "odd").mkdir()
    with pytest.raises(CollectingError, match="Canvas, Moodle, Gradescope or GitHub Classroom"):
        gather(laid_out(tmp_path / "odd", files), HOMEWORK, tmp_path / "submitted")


def test_a_file_that_is_no_zip_is_refused_in_a_sentence(tmp_path):
    (tmp_path / "x.zip").write_bytes(b"not a zip")
    with pytest.raises(CollectingError, match="neither a folder nor a zip"):
        gather(tmp_path / "x.zip", HOMEWORK, tmp_path / "submitted")
