"""Objects that read what they are given to check it, unless they are made with ``validate_args=False``."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from tpulint.context import FileContext
from tpulint.model import Applicability, Certainty, Finding
from tpulint.semantic import SemanticIndex

_ASKED = "the value is read and checked here too"


def is_open(call: ast.Call) -> bool:
    """Whether a call leaves it open that arguments are checked: ``Normal(*parameters)`` says nothing of it."""
    return not any(item.arg in ("validate_args", None) for item in call.keywords)


def checking(
    ctx: FileContext,
    call: ast.Call,
    message: str,
    asked: Iterable[ast.Call],
    certainty: Certainty = Certainty.CERTAIN,
) -> Finding:
    """The finding at the call that makes such an object."""
    fix = None
    if not any(isinstance(item, ast.Starred) for item in call.args):  # which might end with the answer itself
        fix = ctx.fix("Do not check the arguments", Applicability.UNSAFE, "Wrong arguments are no longer reported.")
        fix.set_argument(call, "validate_args", "False")
    related = tuple((ctx.index.span(one), _ASKED) for one in asked)
    return ctx.finding(call, message, fix, certainty=certainty, related=related)


def uses(index: SemanticIndex, made: ast.expr) -> Iterator[ast.Name | ast.Attribute]:
    """Where the variable or attribute is read that an object is given to."""
    statement = index.parent(made)
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    if isinstance(target, ast.Attribute):
        for part in index.tree.attributes_called(target.attr):
            if any(binding.value is made for binding in index.flow.reaching_attribute(part)):
                yield part
        return
    if isinstance(target, ast.Name):
        yield from index.flow.loads_of(target, made)
