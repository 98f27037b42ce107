"""bfloat16 that is chosen by the capability of a GPU, which a machine without one is not asked for.

``torch.bfloat16 if torch.cuda.is_available() and torch.cuda.get_device_capability()[0] >= 8 else torch.float32``
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Applicability, Certainty, Finding

_ASKED = "torch.cuda.get_device_capability"
_QUESTION = "torch.cuda.is_available"
_DTYPE = "torch.bfloat16"
_AMPERE = 8
"""The first generation of GPUs that computes in bfloat16."""
_OTHERS = re.compile(r"(?i)xla|tpu(?!t)")
_REASON = "What was computed in float32 without a GPU is computed in bfloat16."


def check(ctx: FileContext) -> Iterator[Finding]:
    devices = ctx.index.devices
    for call in ctx.index.calls_to(_ASKED):
        if not (devices.is_guarded(call) or devices.is_asked_for(call)):
            continue  # it raises, which is told
        for comparison in _comparisons(ctx, call):
            choice = _choice(ctx, comparison)
            chosen = None if choice is None else _bfloat16(ctx, choice)
            if choice is None or chosen is None or _minds_others(ctx, choice):
                continue
            fix = None
            if not ctx.portable and _asks_nothing_else(ctx, choice.test, comparison):
                fix = ctx.fix("Choose bfloat16", Applicability.UNSAFE, _REASON)
                fix.fold({choice.test: True}).write()
            yield ctx.finding(
                _question(ctx, choice),
                "bfloat16 is chosen for GPUs that compute in it only: a TPU, which does, is given the other format",
                fix,
                certainty=Certainty.LIKELY,
                related=((ctx.index.span(chosen), "chosen here"),),
            )


def _question(ctx: FileContext, choice: ast.If | ast.IfExp) -> ast.expr:
    """What is asked first: whether there is a GPU."""
    tests: list[ast.expr] = [choice.test]
    child: ast.AST = choice
    for ancestor in ctx.index.tree.ancestors(choice):
        if isinstance(ancestor, ast.If) and child in ancestor.body:
            tests.append(ancestor.test)
        child = ancestor
    asked = [*ctx.index.calls_to(_QUESTION)]
    return next((test for test in tests if any(ctx.index.tree.encloses(test, call) for call in asked)), choice.test)


def _minds_others(ctx: FileContext, choice: ast.If | ast.IfExp) -> bool:
    """Whether what makes the choice speaks of TPUs itself."""
    chooser = ctx.index.function_of(choice) or ctx.index.statement_of(choice)
    return _OTHERS.search(ctx.text(chooser)) is not None


def _comparisons(ctx: FileContext, call: ast.Call) -> Iterator[ast.Compare]:
    """``get_device_capability() >= (8, 0)``, and ``major >= 8`` of ``major, minor = get_device_capability()``."""
    parent = ctx.index.parent(call)
    reads: list[ast.expr] = [call]
    if isinstance(parent, ast.Assign) and len(parent.targets) == 1:
        target = parent.targets[0]
        kept = target.elts[0] if isinstance(target, ast.Tuple) and target.elts else target
        reads = [*ctx.index.names.loads_of(kept)] if isinstance(kept, ast.Name) else []
    for read in reads:
        element = ctx.index.parent(read)
        asked = element if isinstance(element, ast.Subscript) and element.value is read else read
        comparison = ctx.index.parent(asked)
        if isinstance(comparison, ast.Compare) and comparison.left is asked and _is_ampere(comparison):
            yield comparison


def _is_ampere(comparison: ast.Compare) -> bool:
    """``>= 8``, ``>= (8, 0)`` and ``> 7``."""
    if len(comparison.ops) != 1:
        return False
    operator, least = comparison.ops[0], comparison.comparators[0]
    least = least.elts[0] if isinstance(least, ast.Tuple) and least.elts else least
    number = least.value if isinstance(least, ast.Constant) else None
    return number == (_AMPERE if isinstance(operator, ast.GtE) else _AMPERE - 1 if isinstance(operator, ast.Gt) else -1)


def _choice(ctx: FileContext, comparison: ast.expr) -> ast.If | ast.IfExp | None:
    """What a comparison decides, alone or with others that have to hold as well."""
    node = comparison
    while isinstance(parent := ctx.index.parent(node), ast.BoolOp) and isinstance(parent.op, ast.And):
        node = parent
    return parent if isinstance(parent, ast.If | ast.IfExp) and parent.test is node else None


def _bfloat16(ctx: FileContext, choice: ast.If | ast.IfExp) -> ast.expr | None:
    """Where a choice gives the dtype: its value, or what its first branch returns or gives a variable."""
    if isinstance(choice, ast.IfExp):
        given: list[ast.expr] = [choice.body]
    else:
        values = [item.value for item in choice.body if isinstance(item, ast.Return | ast.Assign | ast.AnnAssign)]
        given = [value for value in values if value is not None]
    parts = [part for value in given for part in (value.elts if isinstance(value, ast.Tuple) else [value])]
    return next((part for part in parts if ctx.index.qualified_name(part) == _DTYPE), None)


def _asks_nothing_else(ctx: FileContext, test: ast.expr, comparison: ast.Compare) -> bool:
    """``torch.cuda.is_available() and torch.cuda.get_device_capability()[0] >= 8``"""
    parts = test.values if isinstance(test, ast.BoolOp) else []
    others = [part for part in parts if part is not comparison]
    return bool(others) and all(
        isinstance(part, ast.Call) and ctx.index.qualified_name(part.func) == _QUESTION for part in others
    )
