"""Kinds of nodes of a syntax tree, by name, and what lies below one."""

from __future__ import annotations

import ast
from collections.abc import Iterator

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeGuard

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
LoopNode = ast.For | ast.AsyncFor | ast.While
Comprehension = ast.ListComp | ast.GeneratorExp
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
LOOPS = (ast.For, ast.AsyncFor, ast.While)
EXITS = (ast.Return, ast.Raise, ast.Continue, ast.Break)
"""Statements behind which nothing of their block runs."""
SCOPES = (ast.Module, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.ListComp, ast.SetComp,
          ast.DictComp, ast.GeneratorExp)  # fmt: skip

# Operators and contexts carry nothing; they are shared singletons, so they have no parent to record either.
_LEAVES = (ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.type_ignore)
_NO_CHILDREN = {"ctx", "op", "ops", "type_comment", "kind", "conversion", "simple", "is_async", "level", "id", "attr",
                "arg", "rest"}  # fmt: skip


def _child_fields() -> dict[type, tuple[str, ...]]:
    """Class to the fields that hold nodes, the last first: what is pushed last is visited first."""
    fields: dict[type, tuple[str, ...]] = {}
    for name in dir(ast):
        cls = getattr(ast, name)
        if isinstance(cls, type) and issubclass(cls, ast.AST) and not issubclass(cls, _LEAVES):
            fields[cls] = tuple(field for field in cls._fields if field not in _NO_CHILDREN)
    fields[ast.Constant] = ()
    fields[ast.alias] = ()
    fields[ast.Global] = ()
    fields[ast.Nonlocal] = ()
    # Iteration order of a loop or comprehension is not its field order; position decides.
    for cls in (ast.ListComp, ast.SetComp, ast.GeneratorExp):
        fields[cls] = ("generators", "elt")
    fields[ast.DictComp] = ("generators", "key", "value")
    return {cls: names[::-1] for cls, names in fields.items()}


CHILD_FIELDS: dict[Any, tuple[str, ...]] = _child_fields()
_OWN_BODIES = frozenset((*FUNCTIONS, ast.Lambda, ast.ClassDef))
COLLECTED = {
    ast.FunctionDef: "functions", ast.AsyncFunctionDef: "functions", ast.ClassDef: "classes",
    ast.For: "loops", ast.AsyncFor: "loops", ast.While: "loops", ast.JoinedStr: "fstrings",
    ast.If: "conditions", ast.IfExp: "conditions", ast.BoolOp: "conditions", ast.ListComp: "list_comprehensions",
    ast.GeneratorExp: "generator_expressions",
}  # fmt: skip
BINDERS = {
    ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom, ast.arg, ast.ExceptHandler,
    ast.Global, ast.Nonlocal, ast.MatchAs, ast.MatchStar, ast.MatchMapping,
}  # fmt: skip


def below(node: ast.AST, functions: bool) -> Iterator[ast.AST]:
    """All nodes below one, or without those of nested functions and classes."""
    fields = CHILD_FIELDS
    stack: list[Any] = [node]
    while stack:
        current = stack.pop()
        for field in fields[current.__class__]:
            value = getattr(current, field, None)
            children: Any = value if value.__class__ is list else (value,)
            for child in children:
                inner = fields.get(child.__class__)
                if inner is not None and (functions or child.__class__ not in _OWN_BODIES):
                    yield child
                    if inner:  # most nodes have nothing below them
                        stack.append(child)


def is_of_self(node: ast.AST) -> TypeGuard[ast.Attribute]:
    """``self.part``, which is what the class of the object makes it."""
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"


def is_super(node: ast.expr) -> bool:
    """``super()``, in its older form ``super(Net, self)`` as well."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super"


def starts_base(call: ast.Call) -> bool:
    """Whether a call is ``super().__init__(...)``."""
    return isinstance(call.func, ast.Attribute) and call.func.attr == "__init__" and is_super(call.func.value)
