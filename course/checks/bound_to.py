"""What the names in a source are bound to, by whatever form of Python's binds them; nothing is run."""

import ast
from collections.abc import Iterator

FORMS = (  # the nodes that bind something to what stands beside it
    *(ast.Assign, ast.AnnAssign, ast.NamedExpr, ast.For, ast.comprehension, ast.withitem),
    *(ast.arguments, ast.Match, ast.ClassDef),
)


def bindings(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Name, or `.name` of an attribute → the expression to which this node binds it, where it shows one.

    A loop over a display such as `[a, b]` binds its variable to each entry.
    """
    match node:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                yield from _unpacked(target, value)
        case (
            ast.AnnAssign(target=target, value=ast.expr() as value)
            | ast.NamedExpr(target=target, value=value)
        ):
            yield from _unpacked(target, value)
        case ast.For(target=target, iter=display) | ast.comprehension(target=target, iter=display):
            if isinstance(display, ast.Tuple | ast.List | ast.Set):
                for entry in display.elts:
                    yield from _unpacked(target, entry)
        case ast.withitem(
            context_expr=ast.Call(
                func=ast.Name("nullcontext") | ast.Attribute(attr="nullcontext"), args=[value]
            ),
            optional_vars=ast.expr() as target,
        ):
            yield from _unpacked(target, value)
        case ast.arguments(
            posonlyargs=first, args=rest, defaults=defaults, kwonlyargs=named, kw_defaults=given
        ):
            positional = [*first, *rest][len(first) + len(rest) - len(defaults) :]
            for argument, default in zip([*positional, *named], [*defaults, *given], strict=True):
                if default is not None:
                    yield argument.arg, default
        case ast.Match(subject=subject, cases=cases):
            for case in cases:
                yield from _captured(case.pattern, subject)
        case ast.ClassDef(body=body):
            yield from ((f".{name}", value) for entry in body for name, value in _simple(entry))


def _simple(statement: ast.stmt) -> Iterator[tuple[str, ast.expr]]:
    """The bindings of a statement that is no block."""
    if isinstance(statement, ast.Assign | ast.AnnAssign):
        yield from bindings(statement)


def _unpacked(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    match target, value:
        case ast.Name(name), _:
            yield name, value
        case ast.Attribute(attr=name), _:
            yield f".{name}", value
        case (
            (ast.Tuple(elts=targets) | ast.List(elts=targets)),
            (ast.Tuple(elts=values) | ast.List(elts=values)),
        ):
            if not any(isinstance(entry, ast.Starred) for entry in (*targets, *values)):
                for each, entry in zip(targets, values, strict=False):
                    yield from _unpacked(each, entry)


def _captured(pattern: ast.pattern, subject: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """What a pattern binds: a name to the subject, or to its attribute as in `case object(softmax=f)`."""
    match pattern:
        case ast.MatchAs(pattern=inner, name=name):
            if name:
                yield name, subject
            if inner:
                yield from _captured(inner, subject)
        case ast.MatchOr(patterns=patterns):
            for each in patterns:
                yield from _captured(each, subject)
        case ast.MatchClass(kwd_attrs=names, kwd_patterns=patterns):
            for name, each in zip(names, patterns, strict=True):
                attribute = ast.Attribute(subject, name, ast.Load())
                yield from _captured(each, ast.copy_location(attribute, each))
