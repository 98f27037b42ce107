"""Hinges: what is added only where it is above zero, ``if penalty > 0: loss += penalty``."""

from __future__ import annotations

import ast

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Scope
from tpulint.semantic import Kind, Read

_NOT_A_NUMBER = "What is not a number was left out, and is now added."


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
    fix = ctx.fix("Add what is above zero", Applicability.UNSAFE, _NOT_A_NUMBER, Scope.STATEMENT)
    folding = fix.fold({test: True})
    sides = [added] if term is added else [added.left, added.right] if isinstance(added, ast.BinOp) else []
    texts = [fix.text(side) + (".clamp(min=0)" if side is term else "") for side in sides]
    folding.replace(added, " * ".join(texts))
    folding.write()
    return fix


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
