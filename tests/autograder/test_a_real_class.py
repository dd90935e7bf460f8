"""What went wrong when a class of 150 was played from the documents alone, and the tests of each fault.

Each line is one recipe: how to bring the fault about, and the tests that do it.
"""

import ast
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
RECIPES = {
    "grade, correct a visible check and change points, release, grade: all are accused of tampering": (
        "test_regrading.py::test_nobody_is_accused_after_a_corrected_release_but_who_changed_a_check",
    ),
    "an ordinary assignment reads a data file that lies beside its source": (
        "test_ordinary.py::test_data_is_released_beside_the_notebook_in_its_folder_too",
        "test_ordinary.py::test_a_notebook_reads_the_data_of_its_assignment_in_its_folder_too",
    ),
    "Canvas: typed answers, links and late anonymous files become students of other names": (
        "collecting/test_odd_downloads.py::test_canvas_names_of_text_link_and_anonymous_late_are_understood",
        "collecting/test_as_canvas_zips.py::test_what_was_typed_is_its_writers",
        "collecting/test_as_canvas_zips.py::test_the_anonymous_go_by_their_sign",
    ),
    "half of a download is not named as the platform names files": (
        "collecting/test_odd_downloads.py::test_an_archive_that_is_half_understood_is_refused_with_a_list",
        "collecting/test_unclaimed.py::test_as_many_of_nobody_as_there_are_students_are_refused_and_nothing_is_written",
        "collecting/test_unclaimed.py::test_a_notebook_of_nobody_is_named_and_everybody_else_is_collected",
    ),
    "Canvas calls the assignment otherwise than the homework: the import makes a second one": (
        "exports/test_exports.py::test_no_second_assignment_is_made_in_canvas_and_those_there_are_are_named",
        "exports/test_exports.py::test_the_assignment_of_canvas_may_be_named_by_title_or_number",
        "exports/test_round_trips.py::test_canvas_reads_one_assignment_and_leaves_all_others_alone",
    ),
    "one student has left the course: nothing is exported": (
        "exports/test_exports.py::test_a_student_without_a_row_is_listed_and_the_others_marks_are_written",
    ),
    "nobody can be excused": (
        "exports/test_exports.py::test_who_is_excused_says_so_to_canvas_and_keeps_moodles_row",
        "exports/test_round_trips.py::test_canvas_reads_every_mark_scaled_and_ex_for_who_is_excused",
    ),
    "Moodle shows a comment's stars, and swallows what looks like a tag": (
        "exports/test_exports.py::test_comments_are_html_in_which_a_students_signs_are_text",
        "exports/test_round_trips.py::test_moodle_reads_every_mark_scaled_and_comments_as_they_were_meant",
    ),
    "Moodle's sign for no date is taken for a formula": (
        "exports/test_exports.py::test_a_date_that_moodle_does_not_know_stays_as_it_is",
    ),
    "written answers are not marked yet: the export says nothing": (
        "exports/test_export_word.py::test_unmarked_answers_are_named_and_stop_the_export_if_asked",
    ),
    "Canvas says LATE without a time: no penalty and no word": (
        "test_preview.py::test_an_extension_and_late_without_a_time_reach_the_gradebook",
        "collecting/test_odd_downloads.py::test_the_word_says_when_it_was_due_and_logs_who_is_late_by_an_unknown_time",
    ),
    "Gradescope: no notebook at the top, or two": (
        "exports/test_exports.py::test_gradescope_grades_the_notebook_wherever_it_lies",
        "exports/test_exports.py::test_gradescope_gets_a_results_file_whatever_was_uploaded",
    ),
    "Gradescope: hidden checks can be found out by uploading again and again": (
        "exports/test_exports.py::test_gradescope_shows_hidden_checks_when_it_is_told_to",
        "exports/test_round_trips.py::test_gradescope_adds_up_to_the_points_of_the_record_and_shows_what_may_be_seen",
    ),
    "Gradescope: its image has an old Python, and torch comes with the GPU part": (
        "exports/test_exports.py::test_gradescopes_image_is_given_a_python_that_is_new_enough_and_torch_without_a_gpu",
    ),
    "the report shows formulas and emphasis as they were typed": (
        "test_report.py::test_short_texts_get_code_emphasis_and_formulas_and_are_escaped",
    ),
    "feedback opens with a hundred lines all called Test cell": (
        "test_nbgrader_plugin.py::test_feedback_opens_with_the_exercises_and_claims_and_their_scores",
    ),
    "a browser saved the notebook under another name": (
        "collecting/test_odd_downloads.py::test_a_notebook_that_a_browser_renamed_is_a_notebook",
    ),
    "two files of one attempt in Canvas are called two attempts": (
        "collecting/test_collecting_formats.py::test_of_two_uploads_to_canvas_the_later_counts_and_the_earlier_is_kept",
    ),
    "Formgrader counts no submissions in another folder": (
        "test_formgrader.py::test_what_lies_in_another_folder_is_not_counted_as_submitted_and_grading_says_so",
    ),
    "a homework of which verify says that a claim does not hold is released without a word": (
        "test_verify.py::test_a_release_of_what_verify_found_wrong_says_so_until_it_is_mended",
    ),
    "students fetch the course from the repository that holds the solutions": (
        "test_publish.py::test_nothing_secret_is_published_and_every_secret_was_there_to_be_found",
        "test_publish.py::test_what_students_must_not_have_is_refused_before_anything_is_written",
        "test_publish.py::test_whoever_would_publish_where_the_solutions_are_is_warned",
    ),
}


@pytest.mark.parametrize("recipe", RECIPES)
def test_every_recipe_is_a_test(recipe):
    for named in RECIPES[recipe]:
        file, name = named.split("::")
        tree = ast.parse((TESTS / file).read_text(encoding="utf-8"))
        assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}, named
