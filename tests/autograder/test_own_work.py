"""Write it yourself: what an answer uses is found in all of the student's cells, and under other names."""

import ast
import copy
from pathlib import Path

import pytest

import course
from autograder.source.homework import Exercise, references
from autograder.source.loading import find, names
from autograder.source.released import SourceCell
from autograder.source.sample_submissions import reference_answers
from autograder.submissions.copied import copied, structure, without_docstring
from autograder.submissions.handed_in import HandedCell
from autograder.submissions.own_work import MOST_SEARCHED, OwnWork
from autograder.submissions.repair import repair
from autograder.submissions.starred import files_of_the_course, starred
from autograder.submissions.statements import codes
from course.checks.forbidden import LONGEST_SOURCE, Rule
from course.checks.source import forbidden_in

ROOT = Path(__file__).resolve().parents[2]


def exercise(name, forbids=(), allows=()):
    return Exercise(name, name, "", 1, 5, tuple(forbids), (), "", "", 1, allows=tuple(allows))


def cell_of(name, role="answer"):
    nbgrader = {"grade_id": name, "solution": role == "answer", "grade": False, "locked": role == "given"}
    return SourceCell(name, role, "code", f"def {name}(): ...", f"def {name}(): ...", nbgrader)


def work(*cells, exercises=None, provided=""):
    """What is found in cells: (exercise, text) for an answer, a text for a cell of the student's own."""
    exercises = exercises or [exercise("top_k", ["torch.topk", ".topk"])]
    source = [cell_of(entry.name) for entry in exercises]
    handed = [
        HandedCell("code", cell, None, nbgrader={})
        if isinstance(cell, str)
        else HandedCell("code", cell[1], cell[0], nbgrader=cell_of(cell[0]).nbgrader)
        for cell in cells
    ]
    if provided:
        given = cell_of("imports", "given")
        source = [SourceCell("imports", "given", "code", provided, provided, given.nbgrader), *source]
        handed = [HandedCell("code", provided, "imports", nbgrader=given.nbgrader), *handed]
    return OwnWork(repair(handed, source), exercises)


def uses(*cells, **options):
    found = work(*cells, **options)
    return [sentence for entry in found.exercises for sentence in found.uses(entry)]


PLAIN = ("top_k", "def top_k(x, k):\n    return x")


@pytest.mark.parametrize(
    ("cells", "sentence"),
    [
        (
            [("top_k", "import torch\ndef top_k(x, k):\n    return torch.topk(x, k)")],
            "torch.topk` in line 3.",
        ),
        (
            ["def find(x, k):\n    return x.topk(k)", ("top_k", "def top_k(x, k):\n    return find(x, k)")],
            "uses `.topk` in line 2 of cell 1.",
        ),
        (
            [
                "from torch import topk as find",
                "best = find",
                ("top_k", "def top_k(x, k):\n    return best(x, k)"),
            ],
            "uses `torch.topk` in line 2.",
        ),
        ([PLAIN, "def top_k(x, k):\n    return x.topk(k)"], "uses `.topk` in line 2 of cell 2."),
        (
            [("top_k", "from course.sampling.filters import top_k")],
            "`top_k` is `course.sampling.filters.top_k`.",
        ),
        (
            [PLAIN, "from course.sampling import filters\ntop_k = filters.top_k"],
            "`top_k` is `course.sampling.filters.top_k`.",
        ),
        (
            ["import importlib as i", ("top_k", "top_k = i.import_module('course.sampling.filters').top_k")],
            "uses `course.sampling.filters.top_k` in line 1.",
        ),
        (
            [
                "class A:\n    def go(self, x):\n        return inner(x)",
                "def inner(x):\n    return x.topk(1)",
                ("top_k", "def top_k(x, k):\n    return A().go(x)"),
            ],
            "uses `.topk` in line 2 of cell 2.",
        ),
        (  # `inner` is a variable of one function and the other cell's in another
            [
                "def inner(x):\n    return x.topk(1)",
                (
                    "top_k",
                    "def top_k(x, k):\n    def a(inner):\n        return inner\n    return inner(x)",
                ),
            ],
            "uses `.topk` in line 2 of cell 1.",
        ),
    ],
)
def test_what_an_answer_uses_is_found_through_all_cells(cells, sentence):
    assert any(sentence in found for found in uses(*cells))


@pytest.mark.parametrize(
    "cells",
    [
        [PLAIN],
        [PLAIN, "import torch\ntorch.topk(torch.ones(3), 1)"],
        ["from torch import topk\ntopk(x, 1)", ("top_k", "def top_k(topk, k):\n    return topk + k")],
        ["def topk(x, k):\n    return x", ("top_k", "def top_k(x, k):\n    return topk(x, k)")],
        ["from course.data import vocabulary", ("top_k", "def top_k(x, k):\n    return vocabulary")],
        ["values = x.topk(3)", ("top_k", "def top_k(x, k):\n    values = x + k\n    return values")],
    ],
)
def test_what_an_answer_does_not_use_is_not_held_against_it(cells):
    assert uses(*cells) == []


@pytest.mark.parametrize(
    "text",
    [
        "%time from course.sampling.filters import top_k",
        "%timeit -n 1 -r 1 global top_k; from course.sampling.filters import top_k",
        "%%time\nfrom course.sampling.filters import top_k",
        "%%prun -s cumulative from course.sampling.filters import top_k\nprint(top_k)",
        "import importlib as i\ntop_k = i.import_module(name='course.sampling.filters').top_k",
        "from importlib import import_module as get\ntop_k = get('course.sampling.filters').top_k",
        "import importlib as i\nget = i.import_module\ntop_k = get('.filters', 'course.sampling').top_k",
        "top_k = __import__('course.sampling.filters', fromlist=['top_k']).top_k",
        "import pkgutil\ntop_k = pkgutil.resolve_name('course.sampling.filters:top_k')",
        "import runpy\ntop_k = runpy.run_module('course.sampling.filters')['top_k']",
        "import sys\ntop_k = sys.modules['course.sampling.filters'].top_k",
        "import sys\ntop_k = vars(sys.modules['course.sampling.filters'])['top_k']",
        "import sys\nname = 'cou' 'rse.sampling.filters'\ntop_k = sys.modules[name].top_k",
        "top_k = eval('__import__(\"course.sampling.filters\").sampling.filters.top_k')",
    ],
)
@pytest.mark.parametrize("is_answer", [True, False], ids=["the answer", "a cell of one's own"])
def test_the_course_is_found_by_whatever_way_it_is_imported(text, is_answer):
    found = uses(("top_k", text)) if is_answer else uses(PLAIN, text)
    assert any("`course" in sentence for sentence in found), found


def test_a_text_that_names_the_course_counts_only_where_an_answer_reaches_it():
    assert uses(PLAIN, "words = ['of', 'course']\nprint(words)") == []
    assert uses(("top_k", "def top_k(x, k):\n    'course'\n    return 'of course', 'course. And'")) == []


def modules_that_bind_exercises(homework):
    """(module, exercise) for each star import that would answer an exercise of a homework."""
    exercises = {entry.name for entry in find(homework, ROOT).exercises}
    return [
        (module, name)
        for module in files_of_the_course()
        for name, path in starred(module).items()
        if name in exercises and path.startswith("course.")
    ]


def test_there_are_many_star_imports_that_would_answer_an_exercise():
    """And those of the samplers and of the recurrent networks are among them."""
    assert sum(len(modules_that_bind_exercises(homework)) for homework in names(ROOT)) > 40
    recurrent = modules_that_bind_exercises("hw3_recurrent")
    assert {("course.models.recurrent", name) for name in ("rnn_step", "LSTMCell", "GRUCell")} <= {*recurrent}
    assert ("course.sampling.filters", "top_k") in modules_that_bind_exercises("hw6_gpt")


@pytest.mark.parametrize("homework", names(ROOT))
@pytest.mark.parametrize("is_answer", [True, False], ids=["the answer", "a cell of one's own"])
def test_a_star_import_that_answers_an_exercise_counts_as_a_use(homework, is_answer):
    exercises = find(homework, ROOT).exercises
    for module, name in modules_that_bind_exercises(homework):
        star = f"from {module} import *"
        stub = (name, f"def {name}(*inputs): ...")
        found = (
            work((name, star), exercises=exercises) if is_answer else work(stub, star, exercises=exercises)
        )
        path = starred(module)[name]
        assert found.uses(find(homework, ROOT).exercise(name)) == [f"`{name}` is `{path}`."]


def test_a_star_import_of_what_may_be_used_is_no_use():
    answer = ("top_k", "def top_k(x, k):\n    return torch.sort(vocabulary(x))")
    assert uses("from course.data.vocabulary import *", "from torch import *", answer) == []


def test_a_star_import_of_torch_binds_what_it_has():
    answer = ("top_k", "def top_k(x, k):\n    return topk(x, k)")
    assert uses("from torch import *", answer) == ["`top_k` uses `torch.topk` in line 2."]


@pytest.mark.parametrize(
    "elsewhere",
    [
        "from course.sampling import filters\ndef f():\n    global top_k\n    top_k = filters.top_k\nf()",
        "from course.sampling import filters\n[top_k := filters.top_k for _ in [1]]",
        "from course.sampling import filters\ndef f(a=(top_k := filters.top_k)): ...",
        "from course.sampling import filters\nmatch filters.top_k:\n    case top_k: ...",
        "from course.sampling import filters\ntop_k.__code__ = filters.top_k.__code__",
        "from course.sampling import filters\nsetattr(top_k, '__code__', filters.top_k.__code__)",
        "from course.sampling import filters\nclass A:\n    global top_k\n    top_k = filters.top_k",
        "from course.sampling import filters\ntop_k.__setattr__('__code__', filters.top_k.__code__)",
        "from course.sampling import filters\ntype.__setattr__(top_k, 'forward', filters.top_k)",
    ],
)
def test_a_name_is_followed_however_it_is_bound_or_changed(elsewhere):
    assert any("`course.sampling.filters.top_k" in sentence for sentence in uses(PLAIN, elsewhere))


@pytest.mark.parametrize(
    "elsewhere",
    [
        *("t: object = torch", "t, u = torch, None", "print(t := torch)", "for t in [torch]: ..."),
        *("with nullcontext(torch) as t: ...", "match torch:\n    case t: ..."),
        *("import sys\nt = sys.modules.get('torch')", "t = torch.hub.torch", "t = torch.functional.F.torch"),
    ],
)
def test_a_module_is_followed_however_it_is_bound_in_another_cell(elsewhere):
    answer = ("top_k", "def top_k(x, k):\n    return t.topk(x, k)")
    assert uses(f"import torch\n{elsewhere}", answer) == ["`top_k` uses `torch.topk` in line 2."]


def test_a_module_is_followed_through_an_attribute_of_a_class_in_another_cell():
    answer = ("top_k", "def top_k(x, k):\n    return K.t.topk(x, k)")
    assert "`top_k` uses `torch.topk` in line 2." in uses("import torch", "class K:\n    t = torch", answer)


def test_a_class_with_an_attribute_of_the_same_name_is_not_taken_for_another():
    other = "from torch import nn\nclass Theirs:\n    layer = nn.LayerNorm"
    answer = ("top_k", "class top_k:\n    def forward(self, x):\n        return self.layer(x)")
    assert uses(other, answer, exercises=[exercise("top_k", ["torch.nn.LayerNorm"])]) == []


@pytest.mark.parametrize(
    ("path", "forbidden"),
    [
        ("torch._VF.topk", "torch.topk"),
        ("torch._refs.native_layer_norm", "torch.layer_norm"),
        ("torch.functional.F._VF.topk", "torch.topk"),
        ("torch.ops.aten.topk", "torch.nn.LayerNorm"),
        ("torch._log_softmax", "torch.log_softmax"),
        ("torch._fused_rms_norm", "torch.nn.RMSNorm"),
    ],
)
def test_the_inner_modules_of_torch_are_forbidden_without_being_listed(path, forbidden):
    answer = ("top_k", f"def top_k(x, k):\n    return {path}(x, k)")
    [found] = uses("import torch", answer, exercises=[exercise("top_k", [forbidden])])
    assert "uses `torch." in found
    assert uses("import torch", answer, exercises=[exercise("top_k", [".topk_", "sorted"])]) == []


@pytest.mark.parametrize(
    "path", ["nn.modules.normalization.LayerNorm", "nn.modules.transformer.LayerNorm", "nn.modules.LayerNorm"]
)
def test_a_class_is_known_by_whatever_path_leads_to_it(path):
    answer = ("top_k", f"def top_k(x, k):\n    return {path}(k)(x)")
    [found] = uses("from torch import nn", answer, exercises=[exercise("top_k", ["torch.nn.LayerNorm"])])
    assert "LayerNorm` in line 2." in found


@pytest.mark.parametrize("line", ["len?", "?len", "files = !ls", "%time 1 + 1", "%%time", "/print 1"])
def test_a_line_of_ipythons_own_does_not_keep_a_cell_from_being_searched(line):
    helper = f"{line}\ndef find(x, k):\n    return x.topk(k)"
    assert uses(helper, ("top_k", "def top_k(x, k):\n    return find(x, k)")) == [
        "`top_k` uses `.topk` in line 3 of cell 1."
    ]


def test_a_remainder_on_a_line_of_its_own_is_no_magic():
    answer = ("top_k", "def top_k(x, k):\n    y = (k\n     % 2)\n    return x.topk(y)")
    assert uses(answer) == ["`top_k` uses `.topk` in line 4."]


UNSEEN = {
    "exec(open(m.__file__).read())": "exec",
    "globals()['top_k'] = m.top_k": "globals()",
    "locals().update(vars(m))": "locals()",
    "get_ipython().user_ns.update(vars(m))": "user_ns",
    "%run solved.py": "%run",
    "names = globals()\nnames['top_k'] = m.top_k": "globals()",
    "vars()['top_k'] = m.top_k": "vars()",
    "dict.update(globals(), vars(m))": "globals()",
    "get_ipython().push({'top_k': m.top_k})": "push",
    "get_ipython().run_line_magic('run', 'solved.py')": "%run",
    "import __main__\n__main__.top_k = m.top_k": "__main__",
    "import sys\nsetattr(sys.modules[__name__], 'top_k', m.top_k)": "__main__",
    "from runpy import run_path\nrun_path('solved.py')": "run_path",
    "def later():\n    globals()['top_k'] = m.top_k": "globals()",
    "class A:\n    locals().update(vars(m))": "locals()",
    "def later(a=locals().update(vars(m))): ...": "locals()",
    "def later():\n    class top_k:\n        locals()['forward'] = m.top_k\n    return top_k": "locals()",
    "def print(names):\n    names['top_k'] = m.top_k\nprint(globals())": "globals()",
    "timeit(text, globals=globals())": "globals()",
    "timeit('global top_k; top_k = m.top_k', globals=globals())": "globals()",
    "timeit('exec(text)', globals=globals())": "exec",
    "text = 'global top_k; top_k = m.top_k'; timeit(text, globals=globals())": "globals()",
    "text = 'pass'; text += read(); timeit(text, globals=globals())": "globals()",
    "text = read(); timeit('f()', setup=text, globals=globals())": "globals()",
    "for text in ['pass', read()]: timeit(text, globals=globals())": "globals()",
    "def text(): ...\ndef f(text): timeit(text, globals=globals())": "globals()",
    "timeit(f'{text}', globals=globals())": "globals()",
    "timeit(f'f(); {text}', globals=globals())": "globals()",
    "timeit(f'global top_k; top_k = m.{name}', globals=globals())": "globals()",
    "import sys\nsys.modules[__name__].__dict__['top_k'] = m.top_k": "__main__",
    "import sys\nvars(sys.modules[__name__])['top_k'] = m.top_k": "__main__",
    "import sys\ngetattr(sys.modules[__name__], '__dict__')['top_k'] = m.top_k": "__main__",
    "from importlib import import_module as f\nimport_module(name='__main__').top_k = m.top_k": "__main__",
    "import sys\n[m.top_k for m in sys.modules.values() if hasattr(m, 'top_k')]": "sys.modules",
    "import sys\nfor name, entry in sys.modules.items(): top_k = entry.top_k": "sys.modules",
    "import sys\ntop_k = [getattr(m, 'top_k', None) for m in sys.modules.values()][0]": "sys.modules",
    "import sys\n[vars(m)['top_k'] for n, m in list(sys.modules.items()) if 'filters' in n]": "sys.modules",
    "import sys\n[m.__dict__['top_k'] for m in sys.modules.values()]": "sys.modules",
    "import sys\nfound = next(iter(sys.modules.values()))": "sys.modules",
    "import sys\nfound = list(sys.modules.items())": "sys.modules",
    "import sys\nfor m in sys.modules.values(): found.append(m)": "sys.modules",
    "import sys\n[m('x') for m in sys.modules.values()]": "sys.modules",
    "builtins.exec(text)": "exec",
    "__builtins__.eval(text)": "eval",
    "getattr(builtins, 'eval')(text)": "eval",
    "vars(builtins)['exec'](text)": "exec",
    "__builtins__['exec'](text)": "exec",
    "from builtins import eval as f\nf(text)": "eval",
    "import sys\nsys._getframe().f_globals['top_k'] = m.top_k": "f_globals",
    "f.__globals__['top_k'] = m.top_k": "__globals__",
    "eval(text)": "eval",
    "eval('(top_k := m.top_k)')": "eval",
    "eval('1', globals())": "eval",
    ";exec from course.sampling.filters import top_k": "exec",
    "get_ipython().run_line_magic('time', 'from course.sampling.filters import top_k')": "%time",
}


@pytest.mark.parametrize("text", UNSEEN)
def test_code_that_its_text_does_not_show_is_flagged_once_though_no_answer_depends_on_it(text):
    [flag] = work(PLAIN, f"import course.sampling.filters as m\n{text}\n{text}").unseen()
    assert f"`{UNSEEN[text]}` in cell 2 (line " in flag


@pytest.mark.parametrize(
    "text",
    [
        *("print(globals())", "'model' in globals()", "vars(model)", "sorted(locals())", "globals()"),
        *("seed = globals()['seed']", "globals().get('seed')", "f(**locals())", "model.eval()"),
        *("for name in list(globals()): print(name)", "[n for n in globals()]", "m.__file__"),
        *("bool(globals())", "list(filter(None, globals()))", "any(globals())", "all(locals())"),
        *("str(globals())", "len(locals().keys())", "'%(seed)s' % globals()", "f'{locals()}'"),
        *("'{seed}'.format(**globals())", "'{seed}'.format_map(globals())", "if not globals(): f()"),
        *("assert globals()", "[*globals()]", "pprint(globals())", "pprint.pprint(vars())"),
        *("def f(x):\n    return locals()", "def f(x):\n    x = vars()\n    return dict(x)"),
        *("lambda x: locals()", "eval('1+1')", "eval('f(seed)')", "print(eval('[1, 2]'))"),
        *("timeit.timeit('f(x)', globals=globals())", "timeit('f()', 'import torch', globals=globals())"),
        *(
            "Timer('y = f(x)', globals=globals()).repeat(3)",
            "%time f()",
            "y = %time f()",
            "%timeit -n 3 f(x)",
        ),
        *("print(sys.modules[__name__])", "sys.modules[__name__].seed", "dir(sys.modules[__name__])"),
        *(
            "vars(sys.modules[__name__]).keys()",
            "getattr(sys.modules[__name__], 'seed')",
            "'a' in sys.modules",
        ),
        *(
            "inspect.getmembers(sys.modules[__name__])",
            "print(vars(sys.modules[__name__]))",
            "list(sys.modules)",
        ),
        "globals().pop('seed', None)",
        *(
            "def f(): ...\ntimeit.timeit(f, number=3, globals=globals())",
            "f = lambda: 3\nTimer(f, globals=globals())",
            "from torch import exp as f\ntimeit(f, globals=globals())",
            "setup = 'x = 1'\ntimeit.timeit('f(x)', setup=setup, globals=globals())",
            "for text in ['f(1)', 'f(2)']:\n    print(timeit(text, globals=globals()))",
            "timeit(f'f({n})', globals=globals())",
            "n = 3\ntext = f'f({n})'\ntimeit(text, f'x = {n}', globals=globals())",
            "timeit(f'{name}(x)', globals=globals())",
        ),
        *(
            "for name, module in sys.modules.items(): print(name)",
            "for name, m in sorted(sys.modules.items()):\n    print(f'{name}: {m}', m.__name__, m)",
            "{m.__name__ for m in sys.modules.values() if hasattr(m, '__version__')}",
            "{n: getattr(m, '__version__', '') for n, m in sys.modules.items() if m and '.' not in n}",
            "len(sys.modules.values())",
            "sum(isinstance(m, ModuleType) for m in sys.modules.values())",
        ),
        *("if __name__ == '__main__': f()", "%matplotlib inline", "%timeit f()", "!ls", "%run_", "%%time\n1"),
    ],
)
def test_looking_at_names_and_magics_that_bind_nothing_are_no_matter(text):
    assert list(work(PLAIN, text).unseen()) == []


def test_a_cell_that_ran_though_it_cannot_be_read_is_flagged():
    found = work(PLAIN, "run solved.py", "x = (", "# " + "x" * LONGEST_SOURCE, "%%bash\nls -l", "x = 1")
    assert list(found.unread_cells({0, 1, 3, 4, 5})) == [
        "Not searched, since they are too long or no plain Python, and yet run: cell 2, 4."
    ]
    assert list(found.unread_cells({0, 4, 5})) == []


@pytest.mark.parametrize(
    ("writes", "imports"),
    [
        ("%%writefile solved.py\nfrom course.sampling.filters import top_k", "from solved import top_k"),
        ("%%file more/solved.py\ntop_k = 1", "import more.solved"),
        ("open('solved.py', 'w').write(text)", "import solved as s"),
        ("!cp other.txt solved.py && ls", "import importlib\nimportlib.import_module(name='solved')"),
        ("%%writefile solved.py\ntop_k = 1", "%load_ext solved"),
        ("%%writefile solved.py\ntop_k = 1", "get('solved')"),
        ("%%writefile random.py\ntop_k = 1", "import random"),
        ("%%writefile solved.py\ntop_k = 1", "try:\n    import solved\nexcept ImportError: ..."),
        ("name = 'solved' + '.' + 'py'", "import solved"),
    ],
)
def test_a_module_that_the_student_brings_along_is_flagged(writes, imports):
    [flag] = work(PLAIN, writes, imports).own_modules({0, 1, 2})
    module = "random" if "random" in imports else "more" if "more" in imports else "solved"
    line = imports.count("\n", 0, imports.rfind("solved")) + 1
    assert flag == (
        f"Modules of the student's own, whose files were not searched: `{module}` in cell 3 (line {line})."
    )


@pytest.mark.parametrize(
    "cells",
    [
        ["import torch, random, numpy as np\nfrom course.data import vocabulary\n__import__('math')"],
        ["import importlib\nimportlib.import_module('.data', 'course')\nf('notes.py')"],
        ["try:\n    import google.colab\nexcept ImportError: ..."],
        ["%load_ext autoreload\n%autoreload 2"],
        ["%reload_ext storemagic"],
        ["%%writefile notes.txt\nimport solved", "print('notes.txt')"],
        ["%%writefile solved.py\ntop_k = 1", "!python solved.py", "print(open('solved.py').read())"],
    ],
)
def test_what_is_installed_or_only_written_is_no_module_of_the_students_own(cells):
    assert list(work(PLAIN, *cells).own_modules(set(range(9)))) == []


def test_a_module_whose_import_stopped_its_cell_is_no_matter():
    assert list(work(PLAIN, "import not_there_at_all").own_modules({0})) == []


def right_texts(source):
    """Texts of references and alternatives, and of strangers, who wrote as students do."""
    folder = source.folder
    paths = [
        *folder.rglob("alternatives/*.py"),
        *folder.glob("alternatives.py"),
        *folder.rglob("strangers/*.py"),
    ]
    assert len(paths) >= 2
    return [*reference_answers(source).values(), *(path.read_text() for path in paths)]


@pytest.mark.parametrize("homework", names(ROOT))
def test_no_right_answer_is_taken_for_hidden_code(homework):
    source = find(homework, ROOT)
    found = work(*right_texts(source), exercises=source.exercises)
    everywhere = set(range(len(found.submission.cells)))
    own = list(found.own_modules(everywhere))
    assert (list(found.unseen()), own, found.unreadable) == ([], [], [])


def test_another_exercise_answers_for_itself():
    both = [exercise("top_k"), exercise("top_p", [".topk"])]
    cells = [
        ("top_k", "def top_k(x, k):\n    return x.topk(k)"),
        ("top_p", "def top_p(x, p):\n    return top_k(x, 2)"),
    ]
    assert uses(*cells, exercises=both) == []


def test_what_a_provided_cell_imports_is_known_by_its_path_and_may_be_allowed():
    answer = ("turned_twice", "def turned_twice(x):\n    return turned(turned(x))")
    provided = "from course.models.positions import rotate as turned"
    found = uses(answer, exercises=[exercise("turned_twice")], provided=provided)
    assert found == ["`turned_twice` uses `course.models.positions.rotate` in line 2."]
    allowed = [exercise("turned_twice", allows=["course.models.positions.rotate"])]
    assert uses(answer, exercises=allowed, provided=provided) == []


@pytest.mark.parametrize(
    "elsewhere",
    ["top_k = None", "def top_k(): ...", "for top_k in []: ...", "import math as top_k", "(a, top_k) = 1, 2"],
)
def test_a_name_bound_outside_its_cell_is_said_to_be_what_the_checks_saw(elsewhere):
    [remark] = work(PLAIN, elsewhere).remarks("top_k")
    assert remark == (
        "`top_k` is bound in cell 2 (line 1), not only in its own cell; the checks saw what was bound last."
    )


def test_a_name_of_a_functions_own_is_not_bound_in_the_notebook():
    own = "def f():\n    top_k = 3\n    return [top_k for top_k in range(3)]\n[top_k for top_k in []]"
    assert list(work(PLAIN, own).remarks("top_k")) == []


@pytest.mark.parametrize(
    "text",
    [
        *("exec(open(m.__file__).read())", "f = inspect.getsource(m)", "g = h.__wrapped__"),
        *("builtins.eval(text)", "getattr(builtins, 'exec')(text)"),
    ],
)
def test_code_whose_text_stands_elsewhere_is_pointed_out(text):
    answer = ("top_k", f"def top_k(x, k):\n    {text}")
    assert any("which can hide calls" in remark for remark in work(answer).remarks("top_k"))


def test_a_copy_of_the_courses_code_is_recognised_under_other_names():
    text = (Path(course.__file__).parent / "sampling" / "beam_search.py").read_text()
    [function, *_] = [
        node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef) and list(copied(node))
    ]
    name = function.name
    tree = ast.parse(ast.unparse(function).replace(f"def {name}", "def mine")).body[0]
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            node.id += "_"
        elif isinstance(node, ast.arg):
            node.arg += "_"
    renamed = ast.unparse(tree)
    assert structure(ast.parse(renamed).body[0]) == structure(function)
    [remark] = work(("top_k", renamed.replace("def mine", "def top_k"))).remarks("top_k")
    assert f"a copy of the course's `course.sampling.beam_search.{name}`" in remark


def as_pasted(node):
    """The source of a function or class with another name, and without annotations and docstring."""
    node = copy.deepcopy(node)
    node.name = "pasted"
    for entry in ast.walk(node):
        if isinstance(entry, ast.arg):
            entry.annotation = None
        elif isinstance(entry, ast.FunctionDef | ast.ClassDef):
            entry.body, entry.decorator_list = without_docstring(entry) or [ast.Pass()], []
            if isinstance(entry, ast.FunctionDef):
                entry.returns = None
    return ast.unparse(node)


def recognised(node, exercises=()):
    """What is recognised in the pasted text of a function or class."""
    [code] = codes(as_pasted(node))
    return {one.name for one in code.copies if one.is_long or one.answers(exercises)}


def outermost(module):
    """Name → the tree of each function and class of a module of the course."""
    text = files_of_the_course()[module].read_text(encoding="utf-8")
    return {entry.name: entry for entry in ast.parse(text).body if hasattr(entry, "name")}


def test_every_ready_made_part_of_some_lines_is_recognised():
    modules = [module for module in files_of_the_course() if module.startswith("course.mine.ready.")]
    parts = {f"{module}.{name}": node for module in modules for name, node in outermost(module).items()}
    missed = [name for name, node in parts.items() if name not in recognised(node)]
    lengths = {name: len(as_pasted(node).splitlines()) for name, node in parts.items()}
    assert max(lengths[name] for name in missed) <= 4
    assert len(missed) < sum(length <= 4 for length in lengths.values())  # of the short ones, some are, too


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("course.tokenizers.bpe", "split_special"),
        ("course.models.masks", "causal_mask"),
        ("course.models.multi_head_attention", "split_heads"),
        ("course.models.positions", "rotate"),
        ("course.models.layer_norm", "LayerNorm"),
        ("course.models.attention", "additive_scores"),
        ("course.models.attention", "attention_weights"),
    ],
)
def test_a_short_copy_is_recognised_where_it_answers_an_exercise(module, name):
    node = outermost(module)[name]
    assert recognised(node, {name}) == {f"{module}.{name}"}
    assert recognised(node, {"another"}) == set()


def test_what_is_a_single_line_is_not_recognised():
    [node] = ast.parse("def a(tokens, pad):\n    return (tokens != pad)[:, None, None, :]").body
    course = outermost("course.models.masks")["padding_mask"]
    assert ast.dump(node.body[0]) == ast.dump(without_docstring(course)[0])
    assert recognised(course, {"padding_mask"}) == set()


@pytest.mark.parametrize("homework", names(ROOT))
def test_no_right_answer_is_taken_for_a_copy(homework):
    source = find(homework, ROOT)
    exercises = {entry.name for entry in source.exercises}
    found = [
        (text[:80], one.name)
        for text in right_texts(source)
        for code in codes(text)
        for one in code.copies
        if one.is_long or one.answers(exercises)
    ]
    assert found == []


@pytest.mark.parametrize(
    "text",
    [
        "def top_k(x, k):\n    x = " + "-" * 900 + "1\n    return x",
        "def top_k(x, k):\n    return getattr(x, 'a')" + "-" * 9_000 + "1",
        "def top_k(x, k):\n    return " + "(" * 3_000 + ")" * 3_000,
        "x" + ".topk" * 3_000,
        "x = [" + "[" * 80 + "]" * 80 + "]",
        "def \x00",
        "(" * 100_000,
    ],
)
def test_no_text_of_an_answer_stops_the_judge(text):
    found = work(("top_k", text))
    assert list(found.uses(found.exercises[0])) in ([], ["`top_k` uses `.topk` in line 1."])


def test_an_answer_longer_than_anybody_writes_is_not_parsed_and_said_to_be_too_long():
    long = ("top_k", "x = 1  # getattr\n" * 100_000)
    assert uses(long) == ["`top_k` is too long to be searched."]


def test_long_cells_of_the_students_own_do_not_keep_an_answer_from_being_searched():
    answer = ("top_k", "def top_k(x, k):\n    return x.topk(k)")
    found = work("# " + "x" * MOST_SEARCHED, answer)
    assert found.uses(found.exercises[0]) == ["`top_k` uses `.topk` in line 2."]
    assert not found.is_searched


@pytest.mark.parametrize("homework", names(ROOT))
def test_what_the_course_calls_as_an_exercise_is_forbidden_in_it(homework):
    """Every function and class of the package that has an exercise's name."""
    places = {}
    for path in Path(course.__file__).parent.rglob("*.py"):
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                places.setdefault(node.name, []).append(f"{module}.{node.name}")
    found = [
        (entry.name, path)
        for entry in find(homework, ROOT).exercises
        for path in places.get(entry.name, [])
        if not Rule.of(entry.forbids, entry.allows).breaks(path)
    ]
    assert found == []


@pytest.mark.parametrize("homework", names(ROOT))
def test_right_solutions_keep_the_rule(homework):
    source = find(homework, ROOT)
    right = [(name, name, thing) for name, thing in references(source).items()]
    right += [(entry.of, entry.name, entry.thing) for entry in source.alternatives]
    for of, name, thing in right:
        entry = source.exercise(of)
        assert (name, forbidden_in(thing, entry.forbids, entry.allows)) == (name, [])
