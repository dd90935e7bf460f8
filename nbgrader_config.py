"""nbgrader's settings: every nbgrader command works in this folder.

Homework is written in solutions/ and released to homeworks/; submissions lie in submitted/.
"""

import os
import sysconfig
from pathlib import Path

from autograder.nbgrader.ignored import ignored_files
from autograder.nbgrader.plugin import use_feedback, use_judge
from autograder.source.homework import CODE_STUB, TEXT_STUB

c = get_config()  # noqa: F821  nbgrader defines it
COURSE = Path(__file__).parent

# Two courses on one machine differ in this name.
c.CourseDirectory.course_id = os.environ.get("COURSE_ID", "language-models")

# nbgrader has a setting of its own called solution_directory: where `nbgrader generate_solution` writes
# answer keys. That is something else: our solutions/ is what nbgrader calls the source.
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "homeworks"

# nbgrader copies every other file of the source folder into the release: the references, the misconceptions,
# the hidden checks. It must copy none but data.
c.CourseDirectory.ignore = ignored_files(COURSE)

# Marks are kept in gradebook.db in this folder, or in the database whose URL is in the environment.
if url := os.environ.get("GRADEBOOK_URL"):
    from autograder.marks.database import with_driver

    c.CourseDirectory.db_url = with_driver(url)

c.ClearSolutions.code_stub = {"python": CODE_STUB}
c.ClearSolutions.text_stub = TEXT_STUB

# A homework runs in about a minute; nbgrader gives one cell 30 seconds.
c.ExecutePreprocessor.timeout = 120

# Students fetch from one folder that everyone on the machine can write. Where there is none, `make lab` makes
# one beside this file in which release, fetch, submit and collect can be tried alone. The environment can
# name another.
EVERYONES = Path("/usr/local/share/nbgrader/exchange")
if folder := os.environ.get("EXCHANGE_ROOT"):
    c.Exchange.root = folder
elif not EVERYONES.is_dir() and (COURSE / "exchange").is_dir():
    c.Exchange.root = str(COURSE / "exchange")

# Where it makes a database, nbgrader calls `alembic`, which is on the PATH only in an activated environment.
os.environ["PATH"] = os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", "")])

# ---- this grader inside nbgrader's own commands ----
# Feedback shows no hidden check and no markup that a student wrote.
use_feedback(c)

# `nbgrader autograde`, and formgrader's button, repair submissions, run them in the sandbox and judge them
# from outside, as `autograder grade` does. Without this line nbgrader runs students' code and the checks in
# one kernel, unconfined.
use_judge(c)
