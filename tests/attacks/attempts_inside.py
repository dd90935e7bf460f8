"""Attempts from inside the student's own process: on the checks, on the shell, on whoever calls."""

from attempts import IF_FOUND, Attempt

READING = {
    "the_history_of_the_shell": Attempt(
        "a",
        "searches the shell's history for the text of a check",
        IF_FOUND,
        before=(
            "shell = get_ipython()\n"
            "past = [*globals().get('In', []), *(row[2] for row in shell.history_manager.get_range())]\n"
            "found = [text for text in past if 'averages_are_' + 'right' in str(text)]",
        ),
    ),
    "the_events_of_the_shell": Attempt(
        "a",
        "asks the shell to be told of every cell that runs",
        IF_FOUND.replace("if found", "if any('averages_are_' + 'right' in text for text in found)"),
        before=(
            "found = []\n"
            "for event in ('pre_run_cell', 'pre_execute'):\n"
            "    get_ipython().events.register(event, lambda *info: found.append(str([*map(vars, info)])))",
        ),
    ),
    "the_files_around": Attempt(
        "a",
        "searches all directories above and beside it for a hidden check",
        IF_FOUND,
        before=(
            "import itertools, os, pathlib\n"
            "starts = [os.getcwd(), os.path.dirname(os.getcwd()), '/tmp', '/var/tmp', 'DESK']\n"
            "first = lambda s: itertools.islice(pathlib.Path(s).rglob('*.[ijp][psy]*'), 500)\n"
            "paths = itertools.chain.from_iterable(map(first, starts))\n"
            "found = []\n"
            "for path in paths:\n"
            "    try: found += [path] if 'pelican_values' in path.read_text() else []\n"
            "    except (OSError, UnicodeDecodeError): pass",
        ),
    ),
    "the_objects_in_memory": Attempt(
        "a",
        "searches all objects in memory for the text or the name of a check",
        IF_FOUND.replace("if found", "if search()"),
        before=(
            "import gc\n"
            "def search():\n"
            "    names = {getattr(t, '__name__', '') for t in gc.get_objects() if callable(t)}\n"
            "    return 'averages_are_right_for_any_' + 'width' in names",
        ),
    ),
    "arguments_and_environment": Attempt(
        "a",
        "looks for paths of the course in the environment and in arguments",
        IF_FOUND,
        before=(
            "import os, sys\n"
            "words = [*os.environ.values(), *sys.argv, *sys.orig_argv]\n"
            "found = [w for w in words if 'submitted' in w or 'solutions' in w or 'gradebook' in w]",
        ),
    ),
    "inputs_told_by_an_exception": Attempt(
        "a",
        "puts the inputs of the hidden check into the text, the notes, the cause and the class of an error",
        "def moving_average(values, width):\n"
        "    error = type('Told_' + str(values[0]).replace('.', '_'), (Exception,), {})(repr(values))\n"
        "    error.add_note(repr(values))\n"
        "    raise error from ValueError(repr(values))\n",
    ),
    "inputs_told_by_every_other_way": Attempt(
        "a",
        "prints, warns, logs, displays, draws and returns the inputs of the hidden check",
        "import logging, os, sys, warnings\n"
        "from IPython.display import display\n\n"
        "def moving_average(values, width):\n"
        "    print(values); print(values, file=sys.stderr); display(repr(values))\n"
        "    os.write(2, repr(values).encode())\n"
        "    warnings.warn(repr(values)); logging.error(values); moving_average.__doc__ = repr(values)\n"
        "    return {repr(value): repr(values) for value in values}\n",
        after=("seen = []\nprint(seen)",),
    ),
    "inputs_told_by_an_exit_status": Attempt(
        "a",
        "is right about visible checks, and tells an input of the hidden one by the way in which it ends",
        "import os, signal\n\n"
        "def moving_average(values, width):\n"
        "    if width == 1: os._exit(100 + int(10 * abs(values[0])) % 100)\n"
        "    if width == 4: os.kill(os.getpid(), signal.SIGRTMIN + int(10 * abs(values[0])) % 30)\n"
        "    return [sum(values[i : i + width]) / width for i in range(len(values) - width + 1)]\n",
        fair=2,
    ),
    "inputs_kept_for_a_later_process": Attempt(
        "a",
        "writes the inputs of the hidden check to a file for the process that comes after its death",
        "import os, pathlib\n"
        "for place in ('.', '/tmp', '/dev/shm'):\n"
        "    for path in pathlib.Path(place).glob('told*'): print(path.read_text())\n\n"
        "def moving_average(values, width):\n"
        "    for place in ('.', '/tmp', '/dev/shm'):\n"
        "        try: pathlib.Path(place, 'told').write_text(repr(values))\n"
        "        except OSError: pass\n"
        "    os._exit(0)\n",
    ),
}

DISARMING = {
    "assert_removed_by_an_input_transformer": Attempt(
        "b",
        "has the shell drop every line that asserts",
        before=(
            "drop = lambda lines: [line for line in lines if 'assert' not in line]\n"
            "get_ipython().input_transformers_post.append(drop)",
        ),
    ),
    "assert_removed_from_the_syntax_tree": Attempt(
        "b",
        "has the shell turn every call of an assertion into nothing",
        before=(
            "import ast\n"
            "class Disarm(ast.NodeTransformer):\n"
            "    def visit_Assert(self, node): return ast.Pass()\n"
            "    def visit_Expr(self, node): return ast.Pass()\n"
            "get_ipython().ast_transformers.append(Disarm())",
        ),
    ),
    "the_compiler_replaced": Attempt(
        "b",
        "replaces compile and exec by ones that leave assertions out",
        before=(
            "import builtins\n"
            "original = builtins.compile\n"
            "def compile(source, *rest, **options):\n"
            "    return original(str(source).replace('assert_', 'str and id or '), *rest, **options)\n"
            "builtins.compile = compile; builtins.exec = lambda *a, **k: None",
        ),
    ),
    "the_checks_replaced_by_a_module": Attempt(
        "b",
        "puts modules of its own in place of course.checks, in memory and as files",
        before=(
            "import os, sys, types\n"
            "fake = types.ModuleType('course.checks')\n"
            "fake.assert_close = fake.assert_equal = fake.homework = lambda *a, **k: (lambda *a, **k: None)\n"
            "sys.modules['course.checks'] = fake\n"
            "os.makedirs('course', exist_ok=True)\n"
            "for name in ('course/__init__.py', 'course/checks.py', 'sitecustomize.py', 'torch.py'):\n"
            "    open(name, 'w').write('assert_close = assert_equal = print')",
        ),
    ),
    "numbers_made_to_agree": Attempt(
        "b",
        "patches what compares: builtins, torch, numpy and math",
        before=(
            "import builtins, math, numpy, torch\n"
            "for module in (builtins, math, numpy, torch):\n"
            "    for name in ('len', 'abs', 'all', 'any', 'isclose', 'allclose', 'equal', 'array_equal'):\n"
            "        if hasattr(module, name): setattr(module, name, lambda *a, **k: True)",
        ),
    ),
    "a_trace_function": Attempt(
        "b",
        "jumps over whatever runs, with a trace and a profile function",
        "import sys, threading\n\n"
        "def jump(frame, event, argument):\n"
        "    if 'values' not in frame.f_locals: frame.f_lineno = frame.f_lineno + 1\n"
        "    return jump\n\n"
        "def moving_average(values, width):\n"
        "    sys.settrace(jump); threading.settrace(jump); sys.setprofile(lambda *a: None)\n"
        "    return []\n",
    ),
}

AGREEING = {
    name: Attempt("d", does, answer)
    for name, does, answer in (
        (
            "a_list_that_equals_all",
            "returns a list that equals everything and has any length",
            "class Agreeable(list):\n"
            "    __eq__ = lambda self, other: True\n"
            "    __ne__ = lambda self, other: False\n"
            "    __len__ = lambda self: 4\n"  # for the right one it would fairly get its point
            "    __getitem__ = lambda self, index: self\n"
            "    __float__ = lambda self: 5.0\n\n"
            "def moving_average(values, width): return Agreeable()\n",
        ),
        (
            "an_object_that_claims_to_be_a_list",
            "returns an object that lies about its class and compares as equal",
            "class Liar:\n"
            "    __class__ = list\n"
            "    __eq__ = lambda self, other: True\n"
            "    __len__ = lambda self: 4\n"  # for the right one it would fairly get its point
            "    __iter__ = lambda self: iter([self] * 5)\n"
            "    __sub__ = __rsub__ = __abs__ = lambda self, *other: 0.0\n\n"
            "def moving_average(values, width): return Liar()\n",
        ),
        (
            "a_number_that_equals_all",
            "returns numbers of a class that compares as close to everything",
            "class Close(float):\n"
            "    __eq__ = __le__ = __ge__ = __lt__ = __gt__ = lambda self, other: True\n"
            "    __sub__ = __rsub__ = __abs__ = lambda self, *other: 0.0\n"
            "    __hash__ = float.__hash__\n\n"
            "def moving_average(values, width): return [Close(7)] * (len(values) - width)\n",
        ),
        (
            "an_array_that_equals_all",
            "returns a numpy array and a tensor of classes that answer every comparison with yes",
            "import numpy, torch\n"
            "class Array(numpy.ndarray):\n"
            "    def __array_ufunc__(self, *a, **k): return numpy.True_\n"
            "    def __array_function__(self, *a, **k): return True\n"
            "class Tensor(torch.Tensor):\n"
            "    @classmethod\n"
            "    def __torch_function__(cls, *a, **k): return True\n\n"
            "def moving_average(values, width):\n"
            "    return numpy.zeros(3).view(Array) if width == 3 else torch.zeros(3).as_subclass(Tensor)\n",
        ),
        (
            "values_that_are_no_numbers",
            "returns numbers that are none, in case those compare as equal",
            "def moving_average(values, width): return [float('nan')] * (len(values) - width + 2)\n",
        ),
        (
            "the_object_that_came_in",
            "changes its argument in place, in case the right answer is made from it",
            "def moving_average(values, width):\n"
            "    values[:] = [0.0] * (width - 1)\n"
            "    return values[:1] * 0\n",
        ),
    )
}

CALLERS = {
    name: Attempt("h", does, "import gc, inspect, sys, threading\n\n" + answer)
    for name, does, answer in (
        (
            "the_frames_that_call",
            "looks for the expected value in the local variables of every frame that calls it",
            "def moving_average(values, width):\n"
            "    for record in inspect.stack():\n"
            "        for name in ('expected', 'right', 'reference'):\n"
            "            found = record.frame.f_locals.get(name)\n"
            "            if isinstance(found, list): return found\n"
            "    return []\n",
        ),
        (
            "the_frames_of_a_traceback",
            "raises, catches and follows the frames of the traceback outwards",
            "def moving_average(values, width):\n"
            "    try: raise ValueError\n"
            "    except ValueError as error: frame = error.__traceback__.tb_frame\n"
            "    while frame := frame.f_back:\n"
            "        if 'expected' in frame.f_locals: return frame.f_locals['expected']\n"
            "        if 'moving_average' in frame.f_globals.get('references', ()):\n"
            "            return frame.f_globals['references']['moving_average'](values, width)\n"
            "    return []\n",
        ),
        (
            "the_frames_of_other_threads",
            "looks for the expected value in the frames of all threads",
            "def moving_average(values, width):\n"
            "    for frame in sys._current_frames().values():\n"
            "        while frame:\n"
            "            if 'expected' in frame.f_locals: return frame.f_locals['expected']\n"
            "            frame = frame.f_back\n"
            "    return []\n",
        ),
        (
            "whoever_refers_to_the_argument",
            "follows references from its argument to lists of the expected length",
            "def moving_average(values, width):\n"
            "    wanted = len(values) - width + 1\n"
            "    for holder in gc.get_referrers(values):\n"
            "        for thing in gc.get_referents(holder):\n"
            "            if type(thing) is list and len(thing) == wanted: return thing\n"
            "    return []\n",
        ),
    )
}

REPLACING = {
    "the_check_function_replaced": Attempt(
        "i",
        "gives `check`, `homework` and the assertions new meanings in the notebook",
        before=("check = homework = assert_close = assert_equal = lambda *a, **k: None",),
    ),
    "the_shells_methods_replaced": Attempt(
        "i",
        "replaces the methods with which a shell runs cells and shows errors",
        before=(
            "from IPython.core.interactiveshell import ExecutionResult, InteractiveShell\n"
            "def fine(self, *a, **k):\n"
            "    return ExecutionResult(None)\n"
            "runs = ('run_cell', '_run_cell', 'run_cell_async', 'run_code', 'run_ast_nodes')\n"
            "for name in (*runs, 'showtraceback', 'showsyntaxerror'):\n"
            "    setattr(InteractiveShell, name, fine)",
        ),
    ),
    "a_shell_that_cannot_run": Attempt(
        "i",
        "breaks the shell, so that every later question to the process fails in it",
        before=(
            "from IPython.core.interactiveshell import InteractiveShell\n"
            "InteractiveShell.run_cell = InteractiveShell.run_cell_async = lambda *a, **k: 1 / 0\n"
            "InteractiveShell.user_ns = property(lambda self: 1 / 0)\n"
            "import autograder.isolation.session as session\n"
            "for name in list(session.OPERATIONS): session.OPERATIONS[name] = lambda *a, **k: 1 / 0",
        ),
    ),
    "the_checks_methods_replaced": Attempt(
        "i",
        "replaces methods of the checks' own classes",
        before=(
            "import course.checks as checks, inspect\n"
            "for thing in list(vars(checks).values()):\n"
            "    if inspect.isclass(thing):\n"
            "        for name in ('__init__', '__call__', '__eq__', 'request'):\n"
            "            try: setattr(thing, name, lambda *a, **k: None)\n"
            "            except TypeError: pass\n"
            "checks.Mismatch = checks.Points = type('Harmless', (), {})",
        ),
    ),
    "the_session_replaced": Attempt(
        "i",
        "has the process that talks to the grader answer for itself",
        "def moving_average(values, width):\n"
        "    frame = __import__('sys')._getframe()\n"  # who answers cannot be imported, but calls this
        "    while 'OPERATIONS' not in frame.f_globals: frame = frame.f_back\n"
        "    session = frame.f_globals\n"
        "    reply = session['wire'].encode({'value': {'value': True, 'left': None, 'graph': None}})\n"
        "    session['Session'].answer = lambda self, frame: reply\n"
        "    return []\n",
    ),
}

INSIDE = READING | DISARMING | AGREEING | CALLERS | REPLACING
