"""Statements that run code, or bind names, that their own text does not show."""

from __future__ import annotations

import ast
import re
from collections import deque
from collections.abc import Iterator

from autograder.submissions.inlined import TIMING
from course.checks.forbidden import IMPORTING, Rule, parsed, uses_in

RUNNING = frozenset({"exec", "eval"})  # as names; a module has a method `eval`
READING = frozenset({"getsource", "getsourcelines", "__file__", "__wrapped__", "run_path"})
RUNNING_FILES = frozenset({"run_path", "run_module", "safe_execfile", "safe_run_module"})
OF_THE_SHELL = frozenset(
    {
        *("f_globals", "f_locals", "__globals__"),
        *("user_ns", "user_global_ns", "run_cell", "run_code", "register_magic_function"),
        *("input_transformers_cleanup", "input_transformers_post", "ast_transformers"),
    }
)
REGISTERING = frozenset({"register_cell_magic", "register_line_magic", "register_line_cell_magic"})
ASKED_OF_THE_SHELL = frozenset({"ex", "push"})  # everyday words elsewhere
MAGIC = re.compile(
    r"%{0,2}(run|load|loadpy|macro|store|cpaste|paste|rerun|recall|edit|time|timeit|prun|debug|load_ext)\b"
)
MAGICS = frozenset({"run_line_magic", "run_cell_magic", "magic"})
NAMESPACES = frozenset({"globals", "locals", "vars"})
LOOKING = frozenset(
    {"get", "keys", "values", "items", "copy", "pop"}
)  # methods of a namespace that bind nothing
BUILTINS = frozenset({"builtins", "__builtins__"})
ASKING = frozenset(  # functions that give away nothing of the module they get
    {
        "print",
        "display",
        "len",
        "type",
        "id",
        "bool",
        "str",
        "repr",
        "isinstance",
        "hasattr",
        "dir",
        "ismodule",
    }
)
LISTING = frozenset({"list", "sorted", "tuple", "enumerate", "reversed", "set"})
LEADING_ON = frozenset({"__dict__", "__getattribute__", "__getattr__"})  # from a module to all that it holds
DEFINED = (  # a name's values that are seen to be functions, or text
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.alias),
    *(ast.Constant, ast.JoinedStr),
)
FILLED_IN = "filled_in_"  # stands for a value in an f-string
SHOWING = frozenset(
    {
        *("print", "display", "sorted", "list", "len", "set", "dict", "type", "id", "bool", "str", "repr"),
        *("filter", "map", "any", "all", "tuple", "frozenset", "enumerate", "isinstance", "hasattr", "dir"),
    }
)
SHOWING_METHODS = frozenset({"pprint", "pp", "pformat", "getmembers", "getsizeof", "format", "format_map"})
ONLY_LOOKING = SHOWING | SHOWING_METHODS | TIMING
# one of them is in whatever statement `out_of_sight` points out
WORDS = frozenset({"get_ipython", "__main__", "modules"}).union(
    RUNNING, RUNNING_FILES, OF_THE_SHELL, REGISTERING, NAMESPACES, IMPORTING
)

# cells that another program reads: they bind nothing but text
OF_ANOTHER_LANGUAGE = re.compile(
    r"\A\s*%%(?:bash|sh|script|html|HTML|javascript|js|latex|markdown|svg|SVG|perl|ruby|python3?|writefile|file)\b"
)


def _of_builtins(node: ast.AST) -> str:
    """The name in RUNNING that is taken from the module `builtins`, or ""."""
    match node:
        case (
            ast.Attribute(value=ast.Name(module), attr=name)
            | ast.Call(func=ast.Name("getattr"), args=[ast.Name(module), ast.Constant(str(name)), *_])
            | ast.Subscript(value=ast.Name(module), slice=ast.Constant(str(name)))
            | ast.Subscript(value=ast.Attribute(ast.Name(module), "__dict__"), slice=ast.Constant(str(name)))
            | ast.Subscript(
                value=ast.Call(func=ast.Name("vars"), args=[ast.Name(module)]), slice=ast.Constant(str(name))
            )
        ) if module in BUILTINS and name in RUNNING:
            return name
        case ast.ImportFrom(module="builtins", names=names):
            return next((entry.name for entry in names if entry.name in RUNNING), "")
    return ""


def hiding(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """The uses of Python's ways to run or find code that is written elsewhere, by line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and (node.id in READING or node.id in RUNNING):
            yield node.lineno, node.id
        elif isinstance(node, ast.expr | ast.stmt) and (name := _of_builtins(node)):
            yield node.lineno, name
        elif isinstance(node, ast.Attribute) and node.attr in READING:
            yield node.lineno, node.attr


def out_of_sight(
    tree: ast.stmt, shadowed: frozenset[str] = frozenset(), plain: frozenset[str] = frozenset()
) -> Iterator[tuple[int, str]]:
    """The places that run text as code, or bind names of the notebook by another way than a binding.

    shadowed: the names in ONLY_LOOKING that the notebook has bound to something else.
    plain: names that the notebook gives to nothing but definitions, and to text that binds nothing.
    """
    looks = {id(entry) for look in _looks(tree, shadowed, plain) for entry in _same(look)}
    looks.update(map(id, _modules_looked_at(tree)))
    for node in ast.walk(tree):
        match node:
            case ast.expr() | ast.stmt() if name := _of_builtins(node):
                yield node.lineno, name
            case ast.Name(id=name, ctx=ast.Load()) if name in RUNNING | RUNNING_FILES:
                yield node.lineno, name
            case ast.Attribute(attr=name) if name in RUNNING_FILES | OF_THE_SHELL:
                yield node.lineno, name
            case ast.Attribute(value=ast.Call(func=ast.Name("get_ipython")), attr=name) if (
                name in ASKED_OF_THE_SHELL
            ):
                yield node.lineno, name
            case ast.Call(func=ast.Attribute(attr=name), args=[ast.Constant(str(text)), *_]) if (
                name in MAGICS and (magic := MAGIC.match(text.strip()))
            ):
                yield node.lineno, f"%{magic[1]}"
            case ast.Import(names=names) if any(entry.name == "__main__" for entry in names):
                yield node.lineno, "__main__"
            case ast.ImportFrom(names=names):
                found = {entry.name for entry in names} & (RUNNING_FILES | REGISTERING)
                yield from ((node.lineno, name) for name in sorted(found))
            case ast.Attribute(value=ast.Attribute(ast.Name("sys"), "modules"), attr="values" | "items") if (
                id(node) not in looks
            ):
                yield node.lineno, "sys.modules"
            case ast.expr() if id(node) not in looks and (name := _namespace(node)):
                yield node.lineno, name


def _namespace(node: ast.expr) -> str:
    """How the notebook's names are reached: "globals()", or "__main__" for the module; "" for all else."""
    match node:
        case ast.Call(func=ast.Name(name), args=[]) if name in NAMESPACES:
            return f"{name}()"
        case (
            ast.Subscript(value=ast.Attribute(attr="modules") | ast.Name("modules"), slice=key)
            | ast.Call(func=ast.Attribute(value=ast.Attribute(attr="modules"), attr="get"), args=[key, *_])
        ) if _is_the_notebook(key):
            return "__main__"
        case ast.Call(func=ast.Name(name) | ast.Attribute(attr=name), args=arguments, keywords=keywords) if (
            name in IMPORTING
            and any(map(_is_the_notebook, (*arguments, *(entry.value for entry in keywords))))
        ):
            return "__main__"
    return ""


def _is_the_notebook(name: ast.expr) -> bool:
    match name:
        case ast.Constant("__main__") | ast.Name("__name__"):
            return True
    return False


def _same(node: ast.AST) -> Iterator[ast.AST]:
    """An expression, and the module whose dictionary it is."""
    yield node
    match node:
        case ast.Attribute(value=module, attr="__dict__") | ast.Call(func=ast.Name("vars"), args=[module]):
            yield module


def _looks(tree: ast.AST, shadowed: frozenset[str], plain: frozenset[str]) -> Iterator[ast.AST]:
    """The expressions at which a statement only looks: whatever dictionary they are, it is not changed."""
    showing, timing = (SHOWING | SHOWING_METHODS) - shadowed, TIMING - shadowed
    yield from _of_functions(tree)
    for node in ast.walk(tree):
        match node:
            case ast.Compare(left=left, comparators=looked):
                yield from (left, *looked)
            case (
                ast.Subscript(value=looked, ctx=ast.Load())
                | ast.For(iter=looked)
                | ast.comprehension(iter=looked)
                | ast.Expr(value=looked)
                | ast.keyword(arg=None, value=looked)
                | ast.Starred(value=looked)
                | ast.FormattedValue(value=looked)
                | ast.UnaryOp(op=ast.Not(), operand=looked)
                | ast.BinOp(op=ast.Mod(), right=looked)
                | ast.If(test=looked)
                | ast.While(test=looked)
                | ast.Assert(test=looked)
            ):
                yield looked
            case ast.Attribute(value=looked, attr=name, ctx=ast.Load()) if _only_reads(looked, name):
                yield looked
            case ast.Call(func=ast.Name("getattr"), args=[looked, ast.Constant(str(name)), *_]) if (
                _only_reads(looked, name)
            ):
                yield looked
            case ast.Call(func=ast.Name(name) | ast.Attribute(attr=name), keywords=keywords) if (
                name in timing
                and all(
                    entry.id in plain if isinstance(entry, ast.Name) else binds_nothing(entry)
                    for entry in _code_of(node)
                )
            ):
                yield from (entry.value for entry in keywords if entry.arg == "globals")
            case ast.Call(func=ast.Name(name), args=looked) if name in showing:
                yield from looked
            case ast.Call(func=ast.Attribute(attr=name), args=looked) if name in showing & SHOWING_METHODS:
                yield from looked
            case ast.Dict(keys=keys, values=values):
                yield from (value for key, value in zip(keys, values, strict=True) if key is None)


def _of_functions(tree: ast.AST) -> Iterator[ast.AST]:
    """The dictionaries of the functions' own variables: `locals()`, but not in a class that one defines."""
    todo: deque[tuple[ast.AST, bool]] = deque([(tree, False)])
    while todo:
        node, is_in_function = todo.popleft()
        if is_in_function and isinstance(node, ast.Call) and _namespace(node) in ("locals()", "vars()"):
            yield node
        inside: set[int] = set()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            inside = set(map(id, node.body if isinstance(node.body, list) else [node.body]))
        is_in_function = is_in_function and not isinstance(node, ast.ClassDef)
        todo.extend((entry, is_in_function or id(entry) in inside) for entry in ast.iter_child_nodes(node))


def _only_reads(looked: ast.expr, name: str) -> bool:
    """Whether an attribute of a namespace changes nothing: a method that looks, or the module's entry."""
    return name in LOOKING or (_namespace(looked) == "__main__" and not name.startswith("__"))


def _code_of(call: ast.Call) -> list[ast.expr]:
    """What a call that times code is given as code."""
    return [*call.args, *(entry.value for entry in call.keywords if entry.arg in ("stmt", "setup"))]


def timed(tree: ast.AST) -> Iterator[str]:
    """The names that stand where code is timed: `timeit(f)` → "f"."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(name) | ast.Attribute(attr=name)) if name in TIMING:
                yield from (entry.id for entry in _code_of(node) if isinstance(entry, ast.Name))


def binds_nothing(code: ast.AST | None) -> bool:
    """Whether what is timed cannot bind a name of the notebook: a function, or text that stands there."""
    match code:
        case None | ast.Name() | ast.Starred():
            return False
        case ast.Constant(str(text)):
            return _text_binds_nothing(text)
        case ast.JoinedStr(values=pieces):
            texts = [str(piece.value) if isinstance(piece, ast.Constant) else FILLED_IN for piece in pieces]
            return _text_binds_nothing("".join(texts))
    return True


def is_plain(value: ast.AST | None) -> bool:
    """Whether a name's value is a definition, or text that binds nothing."""
    return isinstance(value, DEFINED) and binds_nothing(value)


def _text_binds_nothing(text: str) -> bool:
    tree = parsed(text)
    return (
        tree is not None
        and not any(isinstance(node, ast.Global) for node in ast.walk(tree))
        and not any(isinstance(entry, ast.Expr) and _is_filled_in(entry.value) for entry in tree.body)
        and not any(any(out_of_sight(entry)) for entry in tree.body)
        and not uses_in(tree, Rule.of(()), {})
    )


def _is_filled_in(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id.startswith(FILLED_IN)


def _modules_looked_at(tree: ast.AST) -> Iterator[ast.AST]:
    """The uses of `sys.modules.items()` and `.values()` that learn no more than names, versions and such."""
    nodes = list(ast.walk(tree))
    asked = {id(name) for node in nodes for name in _asked(node)}
    taken = {
        node.id
        for node in nodes
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and id(node) not in asked
    }
    for node in nodes:
        match node:
            case ast.Call(func=ast.Name("len" | "print"), args=[ast.Call(func=modules)]):
                yield modules
            case ast.For(target=target, iter=entries) | ast.comprehension(target=target, iter=entries):
                while isinstance(target, ast.Tuple) and target.elts:
                    target = target.elts[-1]  # name, module
                while (
                    isinstance(entries, ast.Call)
                    and isinstance(entries.func, ast.Name)
                    and entries.func.id in LISTING
                    and entries.args
                ):
                    entries = entries.args[0]
                if isinstance(entries, ast.Call) and isinstance(target, ast.Name) and target.id not in taken:
                    yield entries.func


def _asked(node: ast.AST) -> Iterator[ast.expr]:
    """The expressions of which a node learns something, without passing them on."""
    match node:
        case ast.Attribute(value=thing, attr=name, ctx=ast.Load()) if _is_dunder(name):
            yield thing
        case ast.Call(func=ast.Name("getattr"), args=[thing, ast.Constant(str(name)), *_]) if _is_dunder(
            name
        ):
            yield thing
        case ast.Call(func=ast.Name(name) | ast.Attribute(attr=name), args=things) if name in ASKING:
            yield from things
        case ast.Compare(left=thing, comparators=things):
            yield from (thing, *things)
        case ast.FormattedValue(value=thing) | ast.UnaryOp(op=ast.Not(), operand=thing) | ast.If(test=thing):
            yield thing
        case ast.BoolOp(op=ast.And(), values=[*things, _]) | ast.comprehension(ifs=things):
            yield from things


def _is_dunder(name: str) -> bool:
    return name.startswith("__") and name.endswith("__") and name not in LEADING_ON
