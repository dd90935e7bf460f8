"""Find calls that an exercise forbids, in the source alone; nothing is run.

In a list of forbidden names `torch.softmax` is a function, `torch.nn` a module with everything in it,
`.softmax` a method of any object, `sorted` a builtin. Imports, renamings and getattr with a fixed name
are followed; a loaded module is known by whatever path leads to it: `torch.hub.torch` is `torch`. Where an
exercise forbids something of torch, it forbids the modules in which torch keeps its functions for itself, and
the functions whose names begin with `_`, which do the same as others.
The course's own package is forbidden in every exercise, except for the parts that solve none; a text that is
the name of one of its modules counts as a use, whatever it is given to; the word "course" counts if imported.
This is a reminder, not a security boundary: anyone who wants to hide a call can.
"""

import ast
import re
import sys
import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from types import BuiltinFunctionType as BUILTIN
from types import ModuleType
from typing import cast

from course.checks.bound_to import FORMS, bindings
from course.checks.magics import as_python

ALWAYS = ("course",)
NEVER = (
    "course.checks",
    "course.data",
    "course.explore",
    "course.plots",
    "course.shapes",
    "course.training.best_device",
)
INNER = frozenset(  # where torch keeps its functions for itself, under the same or other names
    {
        *("torch._C", "torch._VF", "torch._decomp", "torch._functorch", "torch._higher_order_ops"),
        *("torch._inductor", "torch._meta_registrations", "torch._numpy", "torch._ops", "torch._prims"),
        *("torch._prims_common", "torch._refs", "torch.ops"),
    }
)
NAMES_THE_COURSE = re.compile(rf"(?:{'|'.join(ALWAYS)})(?:[.:]\w+)*[.:]?")  # as text; an entry of an import
IMPORTING = frozenset({"import_module", "__import__", "resolve_name"})
FINDING = IMPORTING | {
    "find_spec",
    "find_loader",
    "get_loader",
    "run_module",
    "walk_packages",
    "iter_modules",
}
LONGEST_SOURCE = 256 << 10  # characters; a syntax tree takes a thousand times as much memory


@dataclass(frozen=True, order=True)
class Use:
    """A use of a forbidden name: the line, and the full name."""

    line: int
    name: str


@dataclass(frozen=True)
class Rule:
    """What an exercise forbids, and the exceptions it allows; of two names that match, the longer decides."""

    forbids: frozenset[str]
    allows: frozenset[str]

    @classmethod
    def of(cls, forbids: Iterable[str], allows: Iterable[str] = ()) -> "Rule":
        """The rule of an exercise: its own names and those that hold for every exercise."""
        names = frozenset(forbids)
        inner = INNER | private() if any(name.startswith("torch.") for name in names) else ()
        return cls(names.union(ALWAYS, inner), frozenset([*allows, *NEVER]))

    def breaks(self, path: str) -> bool:
        """Whether a full name, or a `.method`, is forbidden."""
        beginning = ".".join(path.split(".", self.most_parts)[: self.most_parts])
        allowed = _longest(beginning, self.allows)
        return _longest(beginning, self.forbids) > allowed or (
            not allowed and id(loaded(path)) in self.things
        )

    @cached_property
    def things(self) -> Mapping[int, object]:
        """The forbidden functions and classes that are loaded, by identity: they have several names."""
        things = [loaded(name) for name in self.forbids]
        return {id(thing): thing for thing in things if callable(thing) and not isinstance(thing, ModuleType)}

    @cached_property
    def most_parts(self) -> int:
        """How many parts the longest name has: more of a path need not be looked at."""
        return 1 + max(name.count(".") for name in self.forbids | self.allows)


def private() -> frozenset[str]:
    """The full names of torch's own private functions, once torch is loaded: `torch._log_softmax`."""
    return _private() if "torch" in sys.modules else frozenset()


@cache
def _private() -> frozenset[str]:
    entries = vars(sys.modules["torch"]).items()
    names = [name for name, thing in entries if name.startswith("_") and isinstance(thing, BUILTIN)]
    return frozenset(f"torch.{name}" for name in names)


def _longest(path: str, names: frozenset[str]) -> int:
    """The length of the longest of these names that a path is, or lies in."""
    while path and path not in names:
        path = path.rpartition(".")[0]
    return len(path)


def loaded(path: str) -> object:
    """The object with this full name, if its module is already imported, otherwise None; nothing is run."""
    module, _, name = path.rpartition(".")
    found = sys.modules.get(module) if module else None
    return vars(found).get(name) if isinstance(found, ModuleType) else None


def member(module: str, name: str) -> str:
    """The full name of a module's entry; of one that is itself a module, the name it gives itself."""
    thing = loaded(f"{module}.{name}") if module in sys.modules else None
    own = vars(thing).get("__name__") if isinstance(thing, ModuleType) else None
    return own if isinstance(own, str) else f"{module}.{name}"


def forbidden_uses(
    source: str,
    forbids: Iterable[str],
    *,
    allows: Iterable[str] = (),
    aliases: Mapping[str, str] | None = None,
) -> list[Use]:
    """The forbidden names used in the source of a cell, function or class, by line; [] if it does not parse.

    `aliases`: what names defined elsewhere mean, {"F": "torch.nn.functional"}.
    """
    rule = Rule.of(forbids, allows)
    if not aliases and not any(_may_hold(source, name.rpartition(".")[2]) for name in rule.forbids):
        return []  # most answers need no search
    tree = parsed(source)
    return [] if tree is None else uses_in(tree, rule, aliases or {})


def uses_in(tree: ast.Module, rule: Rule, aliases: Mapping[str, str]) -> list[Use]:
    """The forbidden names used in a syntax tree; [] if it is too deep to walk, or for Python to compile."""
    try:
        search = _Search(Names.of(tree, aliases), rule)
        search.visit(tree)
    except RecursionError:
        return []
    return sorted(search.found)


def _may_hold(source: str, word: str) -> bool:
    """Whether a text may use a word: if not as it stands, then by getattr or another Unicode spelling."""
    return word in source or "getattr" in source or not source.isascii()


def parsed(source: str) -> ast.Module | None:
    """The syntax tree of a notebook's source, its magics and shell lines as calls.

    None if it is not Python, or is longer or more deeply nested than anybody writes.
    """
    if len(source) > LONGEST_SOURCE:
        return None
    text = textwrap.dedent(source)
    return _tree(text) or _tree(as_python(text))


def _tree(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


@dataclass
class Names:
    """What the names in a source mean."""

    aliases: dict[str, str] = field(default_factory=dict)  # F → torch.nn.functional; .F, an attribute
    roots: set[str] = field(default_factory=set)  # first parts of what aliases mean
    starred: list[str] = field(default_factory=list)  # modules imported with *
    own: set[str] = field(default_factory=set)  # functions, classes, parameters, variables of the source
    methods: set[str] = field(default_factory=set)  # methods that the source's classes define

    @classmethod
    def of(cls, tree: ast.Module, aliases: Mapping[str, str]) -> "Names":
        """The names bound anywhere in the tree, in addition to those defined elsewhere."""
        names = cls()
        nodes = list(ast.walk(tree))
        for node in nodes:
            names._bind(node)
        names.aliases = {k: v for k, v in aliases.items() if k not in names.own} | names.aliases
        names.roots = {path.partition(".")[0] for path in names.aliases.values()}
        for node in nodes:
            if isinstance(node, FORMS):
                for name, value in bindings(node):
                    names._rename(name, value)
        return names

    def path(self, node: ast.AST) -> str:
        """The full name of an expression: F.softmax → torch.nn.functional.softmax; "" if unknown."""
        if isinstance(node, ast.Attribute):
            base = self.path(node.value)
            return member(base, node.attr) if base else self.aliases.get(f".{node.attr}", "")
        if isinstance(node, ast.Call):
            return self._found(node) if node.args or node.keywords else ""
        if isinstance(node, ast.Subscript):
            return self._found(node) if isinstance(node.slice, ast.Constant) else ""
        if not isinstance(node, ast.Name):
            return ""
        if node.id in self.aliases:
            return self.aliases[node.id]
        return "" if node.id in self.own else node.id

    def last(self, node: ast.AST) -> str:
        """The last part of an expression's full name, also where the rest is unknown."""
        return node.attr if isinstance(node, ast.Attribute) else self.path(node).rpartition(".")[2]

    def _found(self, node: ast.Call | ast.Subscript) -> str:
        """What a call or key finds: `import_module("torch")`, `sys.modules["torch"]`, `vars(nn)["RNN"]`."""
        match node:
            case (
                ast.Call(func=function, args=[ast.Constant(str(module)), *_])
                | ast.Call(func=function, keywords=[ast.keyword(value=ast.Constant(str(module))), *_])
            ) if self.last(function) in IMPORTING and not module.startswith("."):
                return module.replace(":", ".")
            case (
                ast.Subscript(value=modules, slice=ast.Constant(str(module)))
                | ast.Call(
                    func=ast.Attribute(value=modules, attr="get"), args=[ast.Constant(str(module)), *_]
                )
            ) if self.path(modules) == "sys.modules":
                return module
            case (
                ast.Subscript(
                    value=ast.Call(func=ast.Name("vars"), args=[base]) | ast.Attribute(base, "__dict__"),
                    slice=ast.Constant(str(name)),
                )
                | ast.Call(func=ast.Attribute(base, "__getattribute__"), args=[ast.Constant(str(name))])
                | ast.Call(func=ast.Name("getattr"), args=[base, ast.Constant(str(name)), *_])
            ) if path := self.path(base):
                return member(path, name)
        return ""

    def _bind(self, node: ast.AST) -> None:
        if isinstance(node, ast.Import):
            for name in node.names:
                root = name.name.partition(".")[0]
                self.aliases[name.asname or root] = name.name if name.asname else root
        elif isinstance(node, ast.ImportFrom):
            self._bind_from(node)
        elif isinstance(node, ast.ClassDef):
            self.own.add(node.name)
            self.methods |= {entry.name for entry in node.body if isinstance(entry, ast.FunctionDef)}
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            self.own.add(node.name)
        elif isinstance(node, ast.arg):
            self.own.add(node.arg)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            self.own.add(node.id)
        elif isinstance(node, ast.MatchAs | ast.MatchStar | ast.ExceptHandler) and node.name:
            self.own.add(node.name)

    def _bind_from(self, node: ast.ImportFrom) -> None:
        for name in node.names:
            if name.name == "*":
                self.starred.append(node.module or "")
            else:
                self.aliases[name.asname or name.name] = member(node.module or "", name.name)

    def _rename(self, name: str, value: ast.AST) -> None:
        path = self.path(value)
        if not path or (name.startswith(".") and path not in sys.modules):
            return  # objects of other classes have an attribute of the same name, but hardly another module
        if isinstance(value, ast.Call | ast.Subscript) or path.partition(".")[0] in self.roots:
            self.aliases[name] = path
            self.roots.add(path.partition(".")[0])


class _Search(ast.NodeVisitor):
    def __init__(self, names: Names, rule: Rule) -> None:
        self.names, self.rule = names, rule
        self.found: set[Use] = set()

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            path = self.names.path(node)
            starred = [f"{module}.{path}" for module in self.names.starred if path == node.id]
            self._note(node.lineno, [path, *starred])

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if not self._note(cast("int", node.end_lineno), self._readings(node.value, node.attr)):
            self.visit(node.value)

    def visit_Call(self, node: ast.Call) -> None:
        match node:
            case ast.Call(func=ast.Name(id="getattr"), args=[base, ast.Constant(value=str(name)), *_]):
                self._note(node.lineno, self._readings(base, name))
        self._note(node.lineno, [self.names.path(node)])
        if self.names.last(node.func) in FINDING:
            texts = {entry.value for entry in ast.walk(node) if isinstance(entry, ast.Constant)}
            self._note(node.lineno, [name for name in ALWAYS if name in texts])
        self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        self._note(node.lineno, [self.names.path(node)])
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if (
            isinstance(node.value, str)
            and NAMES_THE_COURSE.fullmatch(node.value)
            and node.value not in ALWAYS
        ):
            self._note(node.lineno, [node.value.replace(":", ".").rstrip(".")])

    def visit_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):  # a docstring
            self.visit(node.value)

    def _readings(self, base: ast.AST, name: str) -> list[str]:
        """What `base.name` may mean: a module's function, or a method that the class does not define."""
        path = self.names.path(base)
        is_module = isinstance(base, ast.Call | ast.Subscript) or path.partition(".")[0] in self.names.roots
        if path and not path.endswith("Tensor") and is_module:
            return [member(path, name)]
        own = isinstance(base, ast.Name) and base.id in ("self", "cls") and name in self.names.methods
        return [] if own else [f".{name}"]

    def _note(self, line: int, readings: list[str]) -> bool:
        for reading in readings:
            if self.rule.breaks(reading):
                self.found.add(Use(line, reading))
                return True
        return False
