"""A cell that solves nothing: it learns what the visible checks expect, and answers from a table."""

from autograder.source.homework import HomeworkSource

PROGRAM = """
import course.checks as _checks

_table = {{}}


class _Probe:
    def __init__(self, name):
        self.name = name

    def __call__(self, *args, **kwargs):
        return _Asked((self.name, repr(args), repr(sorted(kwargs.items()))))


class _Asked(list):
    def __init__(self, key):
        super().__init__()
        self.key = key


def _learn(received, expected=None, *rest, **options):
    if isinstance(received, _Asked):
        _table[received.key] = expected


def _run(source, name, names):
    scope = dict(globals())
    scope |= dict.fromkeys(("assert_close", "assert_equal", "assert_true", "assert_depends"), _learn)
    scope["check"] = lambda *things: None
    try:
        exec(source, scope)
        claim = scope[name]
        taken = claim.__code__.co_varnames[: claim.__code__.co_argcount]
        draw = _checks.Draw(__import__("zlib").crc32(name.encode()))
        claim(*(draw if entry == "draw" else _Probe(entry) for entry in taken))
    except Exception:
        pass


for _source, _name in {visible!r}:
    _run(_source, _name, {names!r})


def _from_table(name):
    def answer(*args, **kwargs):
        return _table.get((name, repr(args), repr(sorted(kwargs.items()))))

    return answer


for _name in {names!r}:
    globals()[_name] = _from_table(_name)
"""


def memoriser(homework: HomeworkSource) -> str:
    """The cell, for the end of a notebook of this homework."""
    visible = [(check.source, check.name) for check in homework.checks if not check.hidden]
    return PROGRAM.format(visible=visible, names=[exercise.name for exercise in homework.exercises])
