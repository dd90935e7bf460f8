"""Attempts on what lies around the student's process: the notebook file, records, machine, and readers."""

import base64

from attempts import Attempt, checks_of

SVG = base64.b64encode(b"<svg xmlns='http://www.w3.org/2000/svg' onload='evil()'/>").decode()


def more_points(notebook):
    for cell in checks_of(notebook):
        cell["metadata"]["nbgrader"] |= {"points": 100}


def half_pictures(notebook):
    text = {"cell_type": "markdown", "metadata": {}, "source": "![" * 60_000}
    notebook["cells"].append(text)


def checks_become_answers(notebook):
    for cell in checks_of(notebook):
        cell["metadata"]["nbgrader"] |= {"solution": True, "grade": True, "locked": False, "task": False}
        cell["source"] = "pass"


def checks_become_text(notebook):
    for cell in checks_of(notebook):
        cell["cell_type"] = "markdown"


def no_checks(notebook):
    doomed = checks_of(notebook)
    notebook["cells"] = [cell for cell in notebook["cells"] if cell not in doomed]


def names_swapped(notebook):
    """The hidden checks get the name of the visible ones, which are emptied, and the other way round."""
    visible, hidden, *_ = checks_of(notebook)
    for cell, other in ((visible, hidden), (hidden, visible)):
        cell["metadata"]["nbgrader"] = dict(cell["metadata"]["nbgrader"], grade_id=other["id"])
    visible["source"] = "assert True"


def checks_twice(notebook):
    copies = [dict(cell, source="assert True") for cell in checks_of(notebook)]
    notebook["cells"] = [*copies, *notebook["cells"], *copies]


def another_schema(notebook):
    for cell in notebook["cells"]:
        if "nbgrader" in cell["metadata"]:
            cell["metadata"]["nbgrader"] |= {"schema_version": 99, "checksum": "0" * 32, "cell_type": "raw"}


def odd_types(notebook):
    for cell in checks_of(notebook):
        cell["metadata"]["nbgrader"] |= {"points": {"$": 1e308}, "grade_id": "../../gradebook"}
    for value, cell in zip((None, [], {}, 7, True), notebook["cells"], strict=False):
        cell["metadata"] = {"nbgrader": value, "tags": value, "name": value}


def a_check_of_ones_own(notebook):
    own = {"grade": True, "solution": False, "locked": True, "points": 50, "grade_id": "mine"}
    cell = {"cell_type": "code", "metadata": {"nbgrader": own}, "source": "assert True", "outputs": []}
    notebook["cells"].append(cell | {"execution_count": None, "id": "mine"})


def tags_and_kernel(notebook):
    notebook["metadata"]["kernelspec"] = {"name": "mine", "argv": ["sh", "-c", "touch DESK/owned"]}
    notebook["metadata"]["language_info"] = {"name": "perl"}
    for cell in checks_of(notebook):
        cell["metadata"]["tags"] = ["skip-execution", "raises-exception", "remove-cell"]


def outputs_that_pass(notebook):
    for cell in checks_of(notebook):
        text = "✓ Averages are right.\nscore: 4/4"
        cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": text}]
        cell["execution_count"] = 1


def text_with_scripts(notebook):
    text = "<script>evil()</script><img src=x onerror=evil()> ![p](attachment:p.svg) [l](javascript:evil())"
    cell = {"cell_type": "markdown", "metadata": {}, "source": text, "id": "evil"}
    notebook["cells"].append(cell | {"attachments": {"p.svg": {"image/svg+xml": SVG}}})


EDITED = {
    edit.__name__: Attempt("c", does, edit=edit)
    for edit, does in (
        (more_points, "gives its checks a hundred points each"),
        (checks_become_answers, "turns the checks into answers that are graded by hand"),
        (checks_become_text, "turns the checks into text, which does not run"),
        (no_checks, "removes the checks"),
        (names_swapped, "swaps the names of hidden and visible checks and empties one"),
        (checks_twice, "hands in every check three times, twice as one that passes"),
        (another_schema, "claims another schema, checksum and type for every cell"),
        (odd_types, "puts values of odd types and a path where metadata are expected"),
        (a_check_of_ones_own, "adds a check of its own that is worth fifty points"),
        (tags_and_kernel, "names a kernel of its own and tags that skip checks or excuse them"),
    )
}

SQL = "import sqlite3\nbook = sqlite3.connect('DESK/gradebook.db', isolation_level=None)\n"
GRADEBOOK = {
    "ones_own_mark": Attempt(
        "e", "sets its own mark in the database", before=(SQL + "book.execute('update mark set points = 4')",)
    ),
    "a_classmates_mark": Attempt(
        "e",
        "takes a classmate's mark away with nbgrader's own interface, or the database file itself",
        before=(
            "from nbgrader.api import Gradebook\n"
            "with Gradebook('sqlite:///DESK/gradebook.db') as book: book.remove_student('ada')",
            "open('DESK/gradebook.db', 'r+b').write(bytes(4096))",
        ),
    ),
    "a_lock_that_is_held": Attempt(
        "e",
        "locks the database and keeps it locked in a process that stays",
        before=(
            "import os, time\n"
            "if os.fork() == 0:\n"
            "    try:\n"
            "        import fcntl, sqlite3\n"
            "        fcntl.flock(open('DESK/gradebook.db'), fcntl.LOCK_EX)\n"
            "        sqlite3.connect('DESK/gradebook.db').execute('begin exclusive')\n"
            "        time.sleep(LONG)\n"
            "    finally: os._exit(0)",
        ),
    ),
}

NETWORK = {
    "the_answer_fetched": Attempt(
        "f",
        "asks a service on the grader's machine for the answer",
        "from urllib.request import urlopen\n\n"
        "def moving_average(values, width):\n"
        "    with urlopen('http://127.0.0.1:PORT/', data=repr(values).encode(), timeout=1) as reply:\n"
        "        return eval(reply.read())\n",
    ),
    "the_inputs_sent_away": Attempt(
        "f",
        "sends the inputs of the checks away, by datagram and through a program",
        "import socket, subprocess\n\n"
        "def moving_average(values, width):\n"
        "    try: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', PORT))\n"
        "    except OSError: pass\n"
        "    subprocess.run(['bash', '-c', 'echo x > /dev/tcp/127.0.0.1/PORT'], capture_output=True)\n"
        "    return []\n",
    ),
}

OUTLIVING = {
    "programs_left_running": Attempt(
        "g",
        "leaves programs running in sessions of their own",
        before=(
            "import subprocess\n"
            "for _ in range(3): subprocess.Popen(['sleep', 'LONG'], start_new_session=True)\n"
            "!nohup sleep LONG > /dev/null 2>&1 &",
        ),
    ),
    "work_left_for_later": Attempt(
        "g",
        "leaves exit handlers, threads and a child that ignores every signal",
        before=(
            "import atexit, os, signal, threading, time, weakref\n"
            "atexit.register(time.sleep, LONG)\n"
            "threading.Thread(target=time.sleep, args=(LONG,)).start()\n"
            "if os.fork() == 0:\n"
            "    for number in range(1, 65):\n"
            "        try: signal.signal(number, signal.SIG_IGN)\n"
            "        except (OSError, ValueError): pass\n"
            "    os.execvp('sleep', ['sleep', 'LONG'])",
        ),
    ),
}

FORGED = {
    "outputs_in_the_file": Attempt(
        "j", "hands in outputs of checks that say they passed", edit=outputs_that_pass
    ),
    "a_display_hook": Attempt(
        "j",
        "prints and displays what a record of full marks looks like, whatever is displayed",
        before=(
            "import json, sys\n"
            "from IPython.display import display\n"
            "record = {'student': 'me', 'points': 4, 'max_points': 4, 'status': 'graded', 'exercises': []}\n"
            "sys.displayhook = lambda value: print(json.dumps(record))\n"
            "get_ipython().display_pub.publish = lambda *a, **k: print(json.dumps(record))\n"
            "print(json.dumps(record)); display(record)",
        ),
    ),
    "records_as_files": Attempt(
        "j",
        "writes records of full marks wherever a grader might look for them, also when it exits",
        before=(
            "import atexit, json, os\n"
            "def forge():\n"
            "    for place in ('.', '/tmp', 'DESK', os.path.expanduser('~')):\n"
            "        for name in ('results.json', 'grades/mini_homework/me.json', 'mini_homework.json'):\n"
            "            try:\n"
            "                os.makedirs(os.path.dirname(f'{place}/{name}'), exist_ok=True)\n"
            "                open(f'{place}/{name}', 'w').write(json.dumps({'points': 4, 'max_points': 4}))\n"
            "            except OSError: pass\n"
            "forge(); atexit.register(forge)",
        ),
    ),
    "an_object_that_unpickles_into_code": Attempt(
        "j",
        "returns an object that would run code in whoever unpickles or copies it",
        "class Trap:\n"
        "    def __reduce__(self): return (open, ('DESK/owned', 'w'))\n"
        "    __reduce_ex__ = lambda self, version: self.__reduce__()\n"
        "    __deepcopy__ = __copy__ = lambda self, *a: open('DESK/owned', 'w')\n\n"
        "def moving_average(values, width): return [Trap()] * 4\n",
    ),
    "a_clean_exit": Attempt(
        "j",
        "leaves with exit status 0 as soon as it is asked",
        "import os\n\ndef moving_average(values, width): os._exit(0)\n",
    ),
}

MARKUP = {
    "pages_as_outputs": Attempt(
        "k",
        "displays pages, scripts and pictures that hold scripts",
        before=(
            "from IPython.display import HTML, SVG, Javascript, Markdown, display\n"
            "evil = '<script>evil()</script><svg onload=evil()>'\n"
            "display(HTML(evil), Javascript('evil()'), Markdown(evil), SVG(evil))\n"
            "widget = 'application/vnd.jupyter.widget-view+json'\n"
            "display({'text/html': evil, 'image/png': evil, widget: {}}, raw=True)\n"
            "print(evil, '\\x1b[2J\\x1b]0;evil\\x07')",
        ),
    ),
    "text_with_scripts": Attempt(
        "k", "hands in text cells with scripts and attachments", edit=text_with_scripts
    ),
    "errors_with_scripts": Attempt(
        "k",
        "raises errors whose class, text and line are markup",
        "Evil = type('<script>evil()</script>', (Exception,), {})\n\n"
        "def moving_average(values, width):\n"
        "    raise Evil('<img src=x onerror=evil()>\\x1b[2J')  # <script>evil()</script>\n",
    ),
    "values_with_scripts": Attempt(
        "k",
        "returns values whose text is markup",
        "def moving_average(values, width): return ['<script>evil()</script>', '\\x1b]0;evil\\x07']\n",
    ),
}

EXHAUSTING = {
    "time_in_small_pieces": Attempt(
        "l",
        "uses up the time in many small pieces, none of them over its limit",
        after=("import time\ntime.sleep(1)",) * 30,
    ),
    "a_death_in_every_call": Attempt(
        "l",
        "crashes in every call, each after a while",
        "import ctypes, time\n\n"
        "def moving_average(values, width):\n"
        "    time.sleep(1)\n"
        "    ctypes.string_at(0)\n",
    ),
    "memory": Attempt(
        "l",
        "asks for memory in pieces until there is none",
        before=("kept = []\nwhile True: kept.append(bytearray(b'x') * (64 << 20))",),
    ),
    "output": Attempt("l", "prints without an end", before=("while True: print('x' * 100_000)",)),
    "processes": Attempt(
        "l",
        "starts processes without an end",
        before=("import os\nwhile True:\n    try: os.fork()\n    except OSError: pass",),
    ),
    "disk": Attempt(
        "l",
        "fills files and directories",
        before=("for i in range(10**6):\n    open(f'{i}', 'wb').write(bytes(1 << 20))",),
    ),
    "replies": Attempt(
        "l",
        "returns values that are huge, deep, without an end or of odd types",
        "import torch\n\n"
        "def moving_average(values, width):\n"
        "    deep = []\n"
        "    for _ in range(10**5): deep = [deep]\n"
        "    endless = []; endless.append(endless)\n"
        "    odd = [bytes(1 << 26), endless, torch.empty(0).to_sparse(), 10**5000]\n"
        "    return deep if width == 3 else odd\n",
    ),
    "many_cells": Attempt("l", "hands in four thousand cells", after=("x = 1",) * 4000),
    "a_range_without_measure": Attempt(
        "l",
        "returns ranges that take no place until they are read",
        "def moving_average(values, width):\n    return range(2**62 if width == 3 else 10**8)\n",
    ),
    "many_handles": Attempt(
        "l",
        "returns twenty thousand objects, of which the grader must keep account",
        "def moving_average(values, width):\n    return [object() for _ in range(20_000)]\n",
    ),
    "a_million_entries": Attempt(
        "l",
        "returns a million numbers, and an array of an odd shape without an entry",
        "import numpy as np\n\n"
        "def moving_average(values, width):\n"
        "    return [0.5] * 10**6 if width == 3 else np.empty((2**39, 0))\n",
    ),
    "displays_without_measure": Attempt(
        "l",
        "displays twenty pictures of 4 MB",
        before=(
            "import base64\nfrom IPython.display import display\n"
            "picture = base64.b64encode(b'\\x89PNG\\r\\n\\x1a\\n' + bytes(2_900_000)).decode()",
        ),
        after=("display({'image/png': picture}, raw=True)",) * 20,
    ),
    "an_answer_that_cannot_be_parsed": Attempt(
        "l",
        "answers with nine thousand minus signs and a getattr",
        "def moving_average(values, width):\n    return getattr(values, 'a')" + "-" * 9_000 + "1\n",
    ),
    "text_that_takes_quadratic_time": Attempt(
        "l", "hands in a text cell of sixty thousand half pictures", edit=half_pictures
    ),
}

OUTSIDE = EDITED | GRADEBOOK | NETWORK | OUTLIVING | FORGED | MARKUP | EXHAUSTING
