"""Bindings: the places that give names their values, and where these values come from."""

from __future__ import annotations

import ast

from tpulint.semantic.syntax.scopes import Scope, Scopes
from tpulint.semantic.syntax.tree import SyntaxTree

NAME_FIELDS = {ast.arg: "arg", ast.MatchMapping: "rest"}
"""What the name is called in nodes that do not call it ``name``."""
_DEFINED_KINDS = {
    ast.alias: "import", ast.FunctionDef: "function", ast.AsyncFunctionDef: "function", ast.ClassDef: "class",
    ast.ExceptHandler: "handler",
}  # fmt: skip


class Binding:
    """One place that gives a name a value."""

    __slots__ = ("kind", "name", "node", "path", "scope", "statement", "value")

    def __init__(
        self,
        name: str,
        kind: str,
        node: ast.AST,
        statement: ast.AST,
        value: ast.expr | None,
        path: tuple[int, ...],
        scope: Scope,
    ) -> None:
        self.name = name
        self.kind = kind
        """assign, augment, annotate, loop, with, import, parameter, function, class, delete, handler, match."""
        self.node = node
        """The node that carries the name: a Name, an alias, an arg, a definition."""
        self.statement = statement
        self.value = value
        """Expression the value is taken from; of a loop the iterable, of a parameter its default."""
        self.path = path
        """How the value is unpacked: ``a, (b, c) = v`` binds c with path (1, 1); -1 stands for a starred part."""
        self.scope = scope


def name_imported(alias: ast.alias, statement: ast.AST) -> str:
    """The name that one part of an import binds; ``import a.b`` binds ``a``."""
    return alias.asname or (alias.name if isinstance(statement, ast.ImportFrom) else alias.name.split(".", 1)[0])


def part_of(value: ast.expr | None, path: tuple[int, ...]) -> ast.expr | None:
    """The part of a tuple that is written out; None for a starred one, and where there is no such tuple."""
    for at in path:
        value = value.elts[at] if isinstance(value, ast.Tuple) and 0 <= at < len(value.elts) else None
    return value


def element_of(binding: Binding) -> ast.expr | None:
    """The part of the assigned expression that a binding takes."""
    return element_at(binding.value, binding.path)


def element_at(value: ast.expr | None, path: tuple[int, ...]) -> ast.expr | None:
    """The part of a tuple or list that is written out; None where there is no such thing."""
    for at in path:
        if not isinstance(value, ast.Tuple | ast.List) or not 0 <= at < len(value.elts):
            return None
        value = value.elts[at]
    return value


def binding_of(node: ast.AST, tree: SyntaxTree, scopes: Scopes) -> Binding:
    """What a node that carries a name binds, as the place where it stands says."""
    if isinstance(node, ast.Name):
        return _stored(node, tree, scopes)
    if isinstance(node, ast.arg):
        return _parameter(node, tree, scopes)
    scope = scopes.around(node)
    kind = _DEFINED_KINDS.get(node.__class__, "match")
    if isinstance(node, ast.alias):
        statement = tree.parents[node]
        return Binding(name_imported(node, statement), kind, node, statement, None, (), scope)
    name = getattr(node, NAME_FIELDS.get(node.__class__, "name"))
    return Binding(name, kind, node, tree.statement_of(node) if kind == "match" else node, None, (), scope)


def attribute_binding(node: ast.Attribute, tree: SyntaxTree, scopes: Scopes) -> tuple[ast.ClassDef, Binding] | None:
    """The value that a method gives to ``self.x``, and the class it is a method of; None of another object."""
    if not isinstance(node.value, ast.Name):
        return None
    owner = tree.class_of(node)
    function = tree.function_of(node)
    if owner is None or function is None or not function.args.args or function.args.args[0].arg != node.value.id:
        return None
    kind, statement, value, path = origin_of(node, tree)
    return owner, Binding(node.attr, kind, node, statement, value, path, scopes.within(function))


def _stored(node: ast.Name, tree: SyntaxTree, scopes: Scopes) -> Binding:
    kind, statement, value, path = origin_of(node, tree)
    scope = scopes.around(node)
    if isinstance(tree.parents[node], ast.NamedExpr):
        while isinstance(scope.node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) and scope.parent:
            scope = scope.parent
    return Binding(node.id, kind, node, statement, value, path, scope)


def _parameter(node: ast.arg, tree: SyntaxTree, scopes: Scopes) -> Binding:
    arguments = tree.parents[node]
    owner = tree.parents[arguments]
    assert isinstance(arguments, ast.arguments)
    default: ast.expr | None = None
    positional = [*arguments.posonlyargs, *arguments.args]
    if node in positional:
        at = positional.index(node) - len(positional) + len(arguments.defaults)
        default = arguments.defaults[at] if at >= 0 else None
    elif node in arguments.kwonlyargs:
        default = arguments.kw_defaults[arguments.kwonlyargs.index(node)]
    kind = "parameter" if node in positional or node in arguments.kwonlyargs else "variadic"
    return Binding(node.arg, kind, node, owner, default, (), scopes.within(owner))


def origin_of(node: ast.AST, tree: SyntaxTree) -> tuple[str, ast.AST, ast.expr | None, tuple[int, ...]]:
    """Kind, statement, value and unpacking path of a stored name or attribute."""
    path: list[int] = []
    child: ast.AST = node
    parent = tree.parents[child]
    while isinstance(parent, ast.Tuple | ast.List | ast.Starred):
        if isinstance(parent, ast.Starred):
            path.append(-1)
        else:
            starred = [i for i, item in enumerate(parent.elts) if isinstance(item, ast.Starred)]
            index = next(i for i, item in enumerate(parent.elts) if item is child)
            path.append(index if not starred or index <= starred[0] else index - len(parent.elts))
        child, parent = parent, tree.parents[parent]
    path.reverse()
    if isinstance(parent, ast.Assign):
        return "assign", parent, parent.value, tuple(path)
    if isinstance(parent, ast.AnnAssign):
        return ("assign" if parent.value is not None else "annotate"), parent, parent.value, ()
    if isinstance(parent, ast.AugAssign):
        return "augment", parent, parent.value, ()
    if isinstance(parent, ast.For | ast.AsyncFor | ast.comprehension):
        return "loop", parent, parent.iter, tuple(path)
    if isinstance(parent, ast.withitem):
        return "with", tree.parents[parent], parent.context_expr, tuple(path)
    if isinstance(parent, ast.NamedExpr):
        return "assign", tree.statement_of(parent), parent.value, ()
    if isinstance(parent, ast.Delete):
        return "delete", parent, None, ()
    return "match", tree.statement_of(node), None, ()
