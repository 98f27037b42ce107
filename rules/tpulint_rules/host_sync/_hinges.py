"""Hinges: what is added only where it is above zero, ``if penalty > 0: loss += penalty``."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Scope
from tpulint.semantic import Kind, Read
from tpulint.semantic.syntax.variables import last_name

_NOT_A_NUMBER = "What is not a number was left out, and is now added."

_STEEP = frozenset({
    "sqrt", "rsqrt", "reciprocal", "log", "log2", "log10", "log1p", "std", "std_mean", "pow", "float_power", "div",
    "divide", "true_divide", "acos", "asin", "arccos", "arcsin", "acosh", "arccosh", "atanh", "arctanh", "logit",
    "erfinv", "lgamma", "xlogy", "cdist",
})  # fmt: skip
"""Functions whose slope has no end somewhere."""
_DEPTH = 4
"""Variables and functions of the file that a term is made of."""


def add_above_zero(ctx: FileContext, read: Read) -> FixBuilder | None:
    """The sum with ``penalty.clamp(min=0)``, which adds the same and passes the same gradients."""
    test = next((item for item in ctx.index.tree.ancestors(read.node) if not _looks_within(item)), None)
    test = read.node if isinstance(read.node, ast.Compare) else test
    statement = ctx.index.parent(test) if isinstance(test, ast.Compare) else None
    if not isinstance(test, ast.Compare) or not isinstance(statement, ast.If) or statement.test is not test:
        return None
    if statement.orelse or len(statement.body) != 1 or ctx.index.tree.is_elif(statement):
        return None
    added = _added(statement.body[0])
    term = _term_above_zero(test, added) if added is not None else None
    if added is None or term is None or ctx.index.kind(term) is not Kind.TENSOR:
        return None
    if not is_computed(ctx, term) or _may_be_steep(ctx, term, 0) or _is_asked_for_type(ctx, statement.body[0]):
        return None
    fix = ctx.fix("Add what is above zero", Applicability.UNSAFE, _NOT_A_NUMBER, Scope.STATEMENT)
    folding = fix.fold({test: True})
    sides = [added] if term is added else [added.left, added.right] if isinstance(added, ast.BinOp) else []
    texts = [fix.text(side) + (".clamp(min=0)" if side is term else "") for side in sides]
    folding.replace(added, " * ".join(texts))
    folding.write()
    return fix


def is_computed(ctx: FileContext, term: ast.expr, depth: int = 0) -> bool:
    """Whether a call that gives a tensor is what a term comes from, whichever way: a number of Python has no ``clamp``.

    That a forward pass is given tensors is only assumed, and ``penalty = 0`` may be all that a variable was assigned.
    """
    if isinstance(term, ast.Call):
        return ctx.index.kind(term) is Kind.TENSOR and last_name(term.func) != "get"
    if isinstance(term, ast.BinOp):
        return is_computed(ctx, term.left, depth) or is_computed(ctx, term.right, depth)
    if isinstance(term, ast.UnaryOp):
        return is_computed(ctx, term.operand, depth)
    if isinstance(term, ast.Subscript) or (isinstance(term, ast.Attribute) and term.attr == "data"):
        return is_computed(ctx, term.value, depth)
    if isinstance(term, ast.Attribute):
        return ctx.index.value(term).certain
    bindings = ctx.index.flow.reaching(term) if isinstance(term, ast.Name) and depth < _DEPTH else ()
    return bool(bindings) and all(
        item.kind in ("assign", "augment") and item.value is not None and is_computed(ctx, item.value, depth + 1)
        for item in bindings
    )


def _may_be_steep(ctx: FileContext, term: ast.expr, depth: int) -> bool:
    """Whether a slope has no end where the term is not added: times the zero of ``clamp`` it is not a number."""
    for node in (term, *ctx.index.tree.inside(term)):
        if isinstance(node, ast.Call) and last_name(node.func) in _STEEP:
            return True
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow | ast.Div):
            other = node.right
            is_whole = isinstance(other, ast.Constant) and isinstance(other.value, int)
            if not is_whole and (isinstance(node.op, ast.Pow) or ctx.index.kind(other) is not Kind.HOST):
                return True
        if depth < _DEPTH and any(_may_be_steep(ctx, made, depth + 1) for made in _made_of(ctx, node)):
            return True
    return False


def _made_of(ctx: FileContext, node: ast.AST) -> Iterator[ast.expr]:
    """What a variable was assigned, or a function of the file returns."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        bindings = ctx.index.flow.reaching(node)
        yield from (item.value for item in bindings if item.kind == "assign" and item.value is not None)
    function = ctx.index.definitions.function_called(node) if isinstance(node, ast.Call) else None
    if function is not None:
        yield from ctx.index.definitions.returned_by(function)


def _is_asked_for_type(ctx: FileContext, statement: ast.stmt) -> bool:
    """Whether a program asks if the sum is a tensor yet: it is one now, where nothing was added."""
    target = statement.target if isinstance(statement, ast.AugAssign) else statement.targets[0]  # type: ignore[attr-defined]
    calls = ctx.index.calls_to("builtins.isinstance", "builtins.type", "builtins.hasattr", "torch.is_tensor")
    return any(call.args and ast.unparse(call.args[0]) == ast.unparse(target) for call in calls)


def _looks_within(node: ast.AST) -> bool:
    """Whether a node is part of one side of a comparison."""
    return isinstance(node, ast.expr) and not isinstance(node, ast.Compare)


def _added(statement: ast.stmt) -> ast.expr | None:
    """What a statement adds to a variable."""
    if isinstance(statement, ast.AugAssign) and isinstance(statement.op, ast.Add):
        return statement.value
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        total = statement.value
        if isinstance(total, ast.BinOp) and isinstance(total.op, ast.Add):
            return total.right if ast.unparse(total.left) == ast.unparse(statement.targets[0]) else None
    return None


def _term_above_zero(test: ast.Compare, added: ast.expr) -> ast.expr | None:
    """What is added, or the factor of it, that a test asks to be above zero."""
    if len(test.ops) != 1 or not isinstance(test.ops[0], ast.Gt | ast.GtE):
        return None
    left, right = test.left, test.comparators[0]
    terms = [added]
    if isinstance(added, ast.BinOp) and isinstance(added.op, ast.Mult):
        terms += [added.left, added.right]
    for term in terms:
        if isinstance(right, ast.Constant) and right.value == 0 and _value(left) == _value(term):
            return term
        sides = (term.left, term.right) if isinstance(term, ast.BinOp) and isinstance(term.op, ast.Sub) else ()
        if sides and [_value(left), _value(right)] == [_value(side) for side in sides]:
            return term
    return None


def _value(node: ast.expr) -> str:
    """What an expression computes, whether it is a tensor, one without gradients, or the number in it."""
    if isinstance(node, ast.BinOp):
        return f"({_value(node.left)} {type(node.op).__name__} {_value(node.right)})"
    if isinstance(node, ast.Attribute) and node.attr == "data":
        return _value(node.value)
    if isinstance(node, ast.Call) and not node.keywords:
        func = node.func
        if isinstance(func, ast.Attribute) and func.attr in ("detach", "item", "cpu") and not node.args:
            return _value(func.value)
        if isinstance(func, ast.Name) and func.id == "float" and len(node.args) == 1:
            return _value(node.args[0])
    return ast.unparse(node)
