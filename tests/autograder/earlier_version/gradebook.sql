BEGIN TRANSACTION;
CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL);
INSERT INTO "alembic_version" VALUES('e43177bfe90b');
CREATE TABLE assignment (
	id VARCHAR(32) NOT NULL, 
	name VARCHAR(128) NOT NULL, 
	duedate DATETIME, 
	course_id VARCHAR(128) NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (name), 
	FOREIGN KEY(course_id) REFERENCES course (id)
);
INSERT INTO "assignment" VALUES('59e4dc76c7f04b58a087bc71577ebc7c','mini_homework',NULL,'language-models');
CREATE TABLE base_cell (
	id VARCHAR(32) NOT NULL, 
	name VARCHAR(128) NOT NULL, 
	notebook_id VARCHAR(32) NOT NULL, 
	type VARCHAR(50), 
	PRIMARY KEY (id), 
	UNIQUE (name, notebook_id, type), 
	FOREIGN KEY(notebook_id) REFERENCES notebook (id)
);
INSERT INTO "base_cell" VALUES('b58c1eadec5e4d0d8bb22dbe435bd6d7','there_is_one_average_per_window','bbf7d53ce4a4492188fa37966b2fafe3','GradeCell');
INSERT INTO "base_cell" VALUES('77d672d7d09e4386bedf273f8050204c','averages_are_right','bbf7d53ce4a4492188fa37966b2fafe3','GradeCell');
INSERT INTO "base_cell" VALUES('ceeda642a6b247c0a562a4f096efb33c','averages_are_right_for_any_width','bbf7d53ce4a4492188fa37966b2fafe3','GradeCell');
INSERT INTO "base_cell" VALUES('947079f285f24d1583d05b32cbb5d4ca','why_smooth','bbf7d53ce4a4492188fa37966b2fafe3','GradeCell');
INSERT INTO "base_cell" VALUES('4dc8554e4bb74c198bb73b6045ef8790','moving_average','bbf7d53ce4a4492188fa37966b2fafe3','SolutionCell');
INSERT INTO "base_cell" VALUES('64975ce1a25944c196e3192280ce0159','why_smooth','bbf7d53ce4a4492188fa37966b2fafe3','SolutionCell');
CREATE TABLE comment (
	id VARCHAR(32) NOT NULL, 
	notebook_id VARCHAR(32), 
	cell_id VARCHAR(32), 
	auto_comment TEXT, 
	manual_comment TEXT, 
	PRIMARY KEY (id), 
	UNIQUE (cell_id, notebook_id), 
	FOREIGN KEY(notebook_id) REFERENCES submitted_notebook (id), 
	FOREIGN KEY(cell_id) REFERENCES base_cell (id)
);
INSERT INTO "comment" VALUES('2dd7fdd9711347eea2aaacea51e02fc0','8ae0b9361dba4fd7a211b8d1ee9a3d91','4dc8554e4bb74c198bb73b6045ef8790',NULL,NULL);
INSERT INTO "comment" VALUES('8cfc78256d4d4dd68b32a7012bb50427','8ae0b9361dba4fd7a211b8d1ee9a3d91','64975ce1a25944c196e3192280ce0159',NULL,'well said');
INSERT INTO "comment" VALUES('6b2ff0510a50494a99fdc527dcf07dd9','c1f2767326344e1fa26165ca7a44dbb5','4dc8554e4bb74c198bb73b6045ef8790','The sum of each window is divided by the number of all values. How many numbers did you add up before you divided?',NULL);
INSERT INTO "comment" VALUES('7a90bfadea404f1f9af2e0f9a9b2420a','c1f2767326344e1fa26165ca7a44dbb5','64975ce1a25944c196e3192280ce0159',NULL,NULL);
CREATE TABLE course (
	id VARCHAR(128) NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (id)
);
INSERT INTO "course" VALUES('language-models');
INSERT INTO "course" VALUES('default_course');
CREATE TABLE grade (
	id VARCHAR(32) NOT NULL, 
	notebook_id VARCHAR(32), 
	cell_id VARCHAR(32), 
	auto_score FLOAT, 
	manual_score FLOAT, 
	extra_credit FLOAT, 
	needs_manual_grade BOOLEAN NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (cell_id, notebook_id), 
	FOREIGN KEY(notebook_id) REFERENCES submitted_notebook (id), 
	FOREIGN KEY(cell_id) REFERENCES base_cell (id)
);
INSERT INTO "grade" VALUES('56b7a73465fd4428b5cc66f3264c25aa','8ae0b9361dba4fd7a211b8d1ee9a3d91','b58c1eadec5e4d0d8bb22dbe435bd6d7',1.0,NULL,NULL,0);
INSERT INTO "grade" VALUES('a3823e30bc404d8c958519d1645a86d8','8ae0b9361dba4fd7a211b8d1ee9a3d91','77d672d7d09e4386bedf273f8050204c',1.0,NULL,NULL,0);
INSERT INTO "grade" VALUES('7c7ab882a4c4435d8115d84d0535a7e2','8ae0b9361dba4fd7a211b8d1ee9a3d91','ceeda642a6b247c0a562a4f096efb33c',2.0,NULL,NULL,0);
INSERT INTO "grade" VALUES('f945c496233e46678678f92f31ca9fb1','8ae0b9361dba4fd7a211b8d1ee9a3d91','947079f285f24d1583d05b32cbb5d4ca',NULL,2.0,NULL,0);
INSERT INTO "grade" VALUES('5cd85287bc304b6e9307304fdc55600e','c1f2767326344e1fa26165ca7a44dbb5','b58c1eadec5e4d0d8bb22dbe435bd6d7',1.0,NULL,NULL,0);
INSERT INTO "grade" VALUES('d6ab5aa3295746088cf01566e407c13f','c1f2767326344e1fa26165ca7a44dbb5','77d672d7d09e4386bedf273f8050204c',0.0,NULL,NULL,0);
INSERT INTO "grade" VALUES('e6a954db896047229cc68aaa5a729dc7','c1f2767326344e1fa26165ca7a44dbb5','ceeda642a6b247c0a562a4f096efb33c',0.0,NULL,NULL,0);
INSERT INTO "grade" VALUES('11805be734cc43aa8051799e3bb835bb','c1f2767326344e1fa26165ca7a44dbb5','947079f285f24d1583d05b32cbb5d4ca',NULL,NULL,NULL,1);
CREATE TABLE grade_cells (
	id VARCHAR(32) NOT NULL, 
	max_score FLOAT NOT NULL, 
	cell_type VARCHAR(8) NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY(id) REFERENCES base_cell (id)
);
INSERT INTO "grade_cells" VALUES('b58c1eadec5e4d0d8bb22dbe435bd6d7',1.0,'code');
INSERT INTO "grade_cells" VALUES('77d672d7d09e4386bedf273f8050204c',1.0,'code');
INSERT INTO "grade_cells" VALUES('ceeda642a6b247c0a562a4f096efb33c',2.0,'code');
INSERT INTO "grade_cells" VALUES('947079f285f24d1583d05b32cbb5d4ca',3.0,'markdown');
CREATE TABLE notebook (
	id VARCHAR(32) NOT NULL, 
	name VARCHAR(128) NOT NULL, 
	assignment_id VARCHAR(32), 
	kernelspec VARCHAR(1024), 
	PRIMARY KEY (id), 
	UNIQUE (name, assignment_id), 
	FOREIGN KEY(assignment_id) REFERENCES assignment (id)
);
INSERT INTO "notebook" VALUES('bbf7d53ce4a4492188fa37966b2fafe3','mini_homework','59e4dc76c7f04b58a087bc71577ebc7c','{"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}');
CREATE TABLE solution_cells (
	id VARCHAR(32) NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY(id) REFERENCES base_cell (id)
);
INSERT INTO "solution_cells" VALUES('4dc8554e4bb74c198bb73b6045ef8790');
INSERT INTO "solution_cells" VALUES('64975ce1a25944c196e3192280ce0159');
CREATE TABLE source_cell (
	id VARCHAR(32) NOT NULL, 
	name VARCHAR(128) NOT NULL, 
	cell_type VARCHAR(8) NOT NULL, 
	locked BOOLEAN NOT NULL, 
	source TEXT, 
	checksum VARCHAR(128), 
	notebook_id VARCHAR(32), 
	PRIMARY KEY (id), 
	UNIQUE (name, notebook_id), 
	FOREIGN KEY(notebook_id) REFERENCES notebook (id)
);
INSERT INTO "source_cell" VALUES('1b26bca322f04baa9226740f2193b799','setup','code',1,'# Set-up: about 15 seconds on Colab, nothing to do where the course is installed. Safe to run again.
import importlib.util
import subprocess
import sys

if importlib.util.find_spec("course") is None:
    address = "git+https://github.com/language-models-from-scratch/course@v0.1.0"
    subprocess.check_call([sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", address])
    importlib.invalidate_caches()','de3fb2dd132b02d5c8d02ce58ccde029','bbf7d53ce4a4492188fa37966b2fafe3');
INSERT INTO "source_cell" VALUES('b278325b5f3b43699b201a5eb8c9305b','imports','code',1,'from course.checks import assert_close, assert_equal, homework

check = homework("mini_homework")','185033a77a9145ada52d8c090b8ff662','bbf7d53ce4a4492188fa37966b2fafe3');
INSERT INTO "source_cell" VALUES('071955f40a7b48a3a64393d7c049a51c','moving_average-statement','markdown',1,'## 1. Moving average

*●○○ · 4 points · about 5 minutes*

Average each window of `width` neighbouring values: `[1, 3, 5]` with width 2 gives `[2, 4]`.

<details><summary>Hint 1</summary>How many windows of width 2 fit into three values?</details>
<details><summary>Hint 2</summary>Window i holds `values[i : i + width]`.</details>','64ed748e4587250c5387dbf55e3ba81e','bbf7d53ce4a4492188fa37966b2fafe3');
INSERT INTO "source_cell" VALUES('6caba44294874801b874dd28102eeccf','moving_average','code',0,'def moving_average(values: list[float], width: int) -> list[float]:
    """The mean of every window of neighbouring values, in order."""
    # YOUR CODE HERE
    raise NotImplementedError','b7841c867e15ffb5eee96fe2d74547d5','bbf7d53ce4a4492188fa37966b2fafe3');
INSERT INTO "source_cell" VALUES('cc8d70e265d1468596787853f260eac6','there_is_one_average_per_window','code',1,'def there_is_one_average_per_window(moving_average, draw):
    """Seven values hold five windows of width three."""
    values = draw.normal(7).tolist()
    assert_equal(len(moving_average(values, 3)), 5)


check(there_is_one_average_per_window, moving_average)','fcc5fc8ea90cf4af79a82b6619de0281','bbf7d53ce4a4492188fa37966b2fafe3');
INSERT INTO "source_cell" VALUES('8698431f1f784517b15d69d39cf1b185','averages_are_right','code',1,'def averages_are_right(moving_average):
    """[2, 4, 9, 1] averages to [5, 14/3] in windows of three."""
    assert_close(moving_average([2.0, 4.0, 9.0, 1.0], 3), [5.0, 14 / 3])


check(averages_are_right, moving_average)','5f6e3ac2fb8647264064456ce4a63acc','bbf7d53ce4a4492188fa37966b2fafe3');
INSERT INTO "source_cell" VALUES('9a8b420961bc4794810d672e467033f5','averages_are_right_for_any_width','code',1,'# Examined after you hand in: Averages are right for windows of any width.
### BEGIN HIDDEN TESTS
def averages_are_right_for_any_width(moving_average, draw):
    """Averages are right for windows of any width."""
    pelican_values = draw.normal(11).tolist()
    for width in (1, 4, 11):
        expected = [sum(pelican_values[i : i + width]) / width for i in range(12 - width)]
        assert_close(moving_average(pelican_values, width), expected)


check(averages_are_right_for_any_width, moving_average)
### END HIDDEN TESTS','d4473ab13493d3dfd80311f6db6665aa','bbf7d53ce4a4492188fa37966b2fafe3');
INSERT INTO "source_cell" VALUES('0601985f65b84de8a3f01be085100c94','why_smooth','markdown',0,'*3 points · about 5 minutes · graded by hand*

Why does a wider window give a smoother curve, and what does it cost?

*Write your answer here.*','57b9205e8eaa1e5cba0344bcf6e60df0','bbf7d53ce4a4492188fa37966b2fafe3');
CREATE TABLE student (
	id VARCHAR(128) NOT NULL, 
	first_name VARCHAR(128), 
	last_name VARCHAR(128), 
	email VARCHAR(128), 
	lms_user_id VARCHAR(128), 
	PRIMARY KEY (id)
);
INSERT INTO "student" VALUES('ada',NULL,NULL,NULL,NULL);
INSERT INTO "student" VALUES('bo',NULL,NULL,NULL,NULL);
CREATE TABLE submitted_assignment (
	id VARCHAR(32) NOT NULL, 
	assignment_id VARCHAR(32), 
	student_id VARCHAR(128), 
	timestamp DATETIME, 
	extension DATETIME, 
	PRIMARY KEY (id), 
	UNIQUE (assignment_id, student_id), 
	FOREIGN KEY(assignment_id) REFERENCES assignment (id), 
	FOREIGN KEY(student_id) REFERENCES student (id)
);
INSERT INTO "submitted_assignment" VALUES('aae48cc4a89a42e69ca77314aad9bf47','59e4dc76c7f04b58a087bc71577ebc7c','ada',NULL,NULL);
INSERT INTO "submitted_assignment" VALUES('81fdb386f14e4cfb98d549a4926afb58','59e4dc76c7f04b58a087bc71577ebc7c','bo',NULL,NULL);
CREATE TABLE submitted_notebook (
	id VARCHAR(32) NOT NULL, 
	assignment_id VARCHAR(32), 
	notebook_id VARCHAR(32), 
	flagged BOOLEAN, 
	late_submission_penalty FLOAT, 
	PRIMARY KEY (id), 
	UNIQUE (notebook_id, assignment_id), 
	FOREIGN KEY(assignment_id) REFERENCES submitted_assignment (id), 
	FOREIGN KEY(notebook_id) REFERENCES notebook (id)
);
INSERT INTO "submitted_notebook" VALUES('8ae0b9361dba4fd7a211b8d1ee9a3d91','aae48cc4a89a42e69ca77314aad9bf47','bbf7d53ce4a4492188fa37966b2fafe3',0,NULL);
INSERT INTO "submitted_notebook" VALUES('c1f2767326344e1fa26165ca7a44dbb5','81fdb386f14e4cfb98d549a4926afb58','bbf7d53ce4a4492188fa37966b2fafe3',0,NULL);
CREATE TABLE task_cells (
	id VARCHAR(32) NOT NULL, 
	max_score FLOAT NOT NULL, 
	cell_type VARCHAR(8) NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY(id) REFERENCES base_cell (id)
);
COMMIT;
