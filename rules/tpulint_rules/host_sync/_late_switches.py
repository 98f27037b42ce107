"""Tests of tensors that are made in front of a switch which is off: ``if torch.isnan(x).any() and DEBUG:``."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext, short
from tpulint.model import Applicability, Certainty, Finding, Scope
from tpulint.semantic import Pace

_TESTS = ("torch.isnan", "torch.isinf", "torch.isfinite")
_SAME = "The switch is asked first; a test of numbers has no effect but its answer."


def late_switches(ctx: FileContext) -> Iterator[Finding]:
    """Conditions of every step whose switch stands behind the test."""
    index, seen = ctx.index, set[ast.AST]()
    for call in index.calls_to(*_TESTS):
        condition = next((n for n in index.tree.ancestors(call) if _is_and(n) or isinstance(n, ast.stmt)), None)
        if not isinstance(condition, ast.BoolOp) or condition in seen:
            continue
        seen.add(condition)
        *tests, switch = condition.values
        if not _is_off(ctx, switch) or index.pace_of(condition) is not Pace.STEP or "#" in ctx.text(condition):
            continue
        if not all(_only_tests(ctx, test) for test in tests):
            continue
        fix = ctx.fix("Ask the switch first", Applicability.UNSAFE, _SAME, Scope.EXPRESSION)
        parts = [f"({ctx.text(test)})" if isinstance(test, ast.BoolOp) else ctx.text(test) for test in tests]
        fix.replace(condition, " and ".join((ctx.text(switch), *parts)))
        message = f"`{short(ctx.text(call))}` is tested in every step, in front of `{ctx.text(switch)}`, which is off"
        yield ctx.finding(call, message, fix, certainty=Certainty.LIKELY)


def is_switched_off(ctx: FileContext, node: ast.expr) -> bool:
    """Whether a switch that is off stands beside a test, or around it."""
    child: ast.AST = node
    for ancestor in ctx.index.tree.ancestors(node):
        if isinstance(ancestor, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            return False
        tests = ancestor.values if isinstance(ancestor, ast.BoolOp) and isinstance(ancestor.op, ast.And) else []
        if isinstance(ancestor, ast.If) and ctx.index.tree.in_body(ancestor, child):
            tests = [ancestor.test]
        child = ancestor
        if any(_is_off(ctx, test) for test in tests):
            return True
    return False


def _is_off(ctx: FileContext, node: ast.expr) -> bool:
    """Whether an expression is a variable of the module that is set once, to false."""
    if not isinstance(node, ast.Name):
        return False
    bindings = ctx.index.names.bindings(node)
    value = bindings[0].value if len(bindings) == 1 else None
    return (
        isinstance(value, ast.Constant)
        and not value.value
        and bindings[0].statement in ctx.index.tree.module.body
        and bindings[0].kind == "assign"
    )


def _is_and(node: ast.AST) -> bool:
    return isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And)


def _only_tests(ctx: FileContext, node: ast.expr) -> bool:
    """Whether an expression asks numbers of variables for what is no number, and does nothing else."""
    if isinstance(node, ast.BoolOp):
        return all(_only_tests(ctx, value) for value in node.values)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("any", "all", "item"):
        return not node.args and not node.keywords and _only_tests(ctx, node.func.value)
    if not isinstance(node, ast.Call) or ctx.index.qualified_name(node.func) not in _TESTS or len(node.args) != 1:
        return False
    given = (node.args[0], *ast.walk(node.args[0]))
    return not any(isinstance(part, ast.Call | ast.NamedExpr | ast.Await) for part in given)
