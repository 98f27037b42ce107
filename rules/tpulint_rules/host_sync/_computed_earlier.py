"""What is computed behind a step boundary to be read there, computed in front of it: by the graph of the step."""

from __future__ import annotations

import ast

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Scope, Span
from tpulint.semantic import Kind, Read, Step

_SAME = "The same values, computed by the graph that the boundary runs."
_IN_FULL = "The sum has the precision of the array, not that of the tensor: it may differ in the last digits."
_LOOKING = frozenset(f"builtins.{name}" for name in ("print", "float", "int", "len", "str", "round", "max", "min"))
_READING = frozenset({"item", "tolist", "cpu", "numpy", "detach", "size", "dim", "format", "set_postfix", "add_scalar"})
"""Functions and methods that change nothing they are given, or are called on."""
_COMPUTED = (ast.Call, ast.Subscript, ast.Compare, ast.BinOp)
_COPYING = frozenset({"item", "cpu", "numpy", "tolist"})
_OF_EACH = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda, ast.IfExp, ast.BoolOp)


def computed_earlier(ctx: FileContext, read: Read, boundary: ast.Expr | None) -> FixBuilder | None:
    """``found = torch.eq(a, b).sum()`` in front of the boundary, and ``found = found.item()`` where it was read."""
    index, tensor = ctx.index, read.tensor
    statement = index.statement_of(read.node)
    if boundary is None or not isinstance(statement, ast.Assign | ast.AugAssign | ast.Expr):
        return None
    suite = index.tree.suite_of(boundary)
    if statement not in suite or suite.index(statement) < suite.index(boundary) or "\n" in ctx.text(tensor):
        return None
    if not isinstance(tensor, _COMPUTED) or _is_of_each(ctx, read.node, statement):
        return None
    if index.reads.inside(tensor) or not index.batched_reads.is_ready(tensor, boundary, statement):
        return None
    between = suite[suite.index(boundary) + 1 : suite.index(statement)]
    if not all(_leaves_tensors_alone(ctx, item) for item in between) or _changes_every_turn(ctx, tensor):
        return None
    # What a variable held before may be looked at in between, or by a function.
    target = "" if between else _target_of(ctx, statement, read.node)
    name = target or index.names.fresh("result", statement)
    fix = ctx.fix("Compute it in front of the boundary", Applicability.SAFE, _SAME, Scope.STATEMENT)
    fix.insert_before(boundary, f"{name} = {ctx.text(tensor)}")
    fix.replace(_with_parentheses(ctx, tensor), name)
    return fix


def _with_parentheses(ctx: FileContext, tensor: ast.expr) -> Span:
    """Where an expression stands that a method is called of, with the parentheses that this takes: ``(a == b).cpu()``.

    A call has none, and those of a function that is given one, ``print(x.sum())``, are not its own.
    """
    span, text = ctx.index.span(tensor), ctx.source.text
    if isinstance(tensor, ast.Compare | ast.BinOp) and text[span.start - 1] == "(" and text[span.end] == ")":
        return Span(span.start - 1, span.end + 1)
    return span


def read_as_number(ctx: FileContext, read: Read) -> FixBuilder | None:
    """``total[0] += loss.item()``: what an element of an array is increased by, the device adds in a graph apart."""
    if not isinstance(read.tensor, ast.Name):
        return None
    fix = ctx.fix("Add it as a number", Applicability.UNSAFE, _IN_FULL, Scope.STATEMENT)
    fix.append(read.tensor, ".item()")
    return fix


def is_fetched(ctx: FileContext, read: Read, loop: Step) -> bool:
    """Whether a read is one of several that are fetched together, or makes no plain copy of what was computed."""
    func = read.node.func if isinstance(read.node, ast.Call) else None
    if not isinstance(func, ast.Attribute) or func.attr not in _COPYING:
        return True
    group = ctx.index.batched_reads.of(loop)
    return group is not None and read.node in {one.node for one in group.reads}


def _target_of(ctx: FileContext, statement: ast.stmt, read: ast.expr) -> str:
    """The local variable that a statement gives what is read, and nothing else: ``found = x.cpu().numpy()``."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return ""
    value: ast.expr = statement.value
    while value is not read and isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        value = value.func.value
    target = statement.targets[0]
    if value is not read or not isinstance(target, ast.Name):
        return ""
    index = ctx.index
    uses = index.names.loads(target.id, index.names.scope_of(target))
    is_local = all(
        index.function_of(use) is index.function_of(statement) and index.tree.lambda_of(use) is None for use in uses
    )
    is_needed = any(isinstance(node, ast.Name) and node.id == target.id for node in ast.walk(read))
    return target.id if is_local and not is_needed else ""


def _leaves_tensors_alone(ctx: FileContext, statement: ast.stmt) -> bool:
    """Whether a statement changes no tensor in place, under whatever name: it reads, shows or keeps numbers."""
    index = ctx.index
    for node in ast.walk(statement):
        if isinstance(node, ast.Call) and not (
            index.qualified_name(node.func) in _LOOKING
            or (isinstance(node.func, ast.Attribute) and node.func.attr in _READING)
        ):
            return False
        if isinstance(node, ast.Subscript | ast.Attribute) and not isinstance(node.ctx, ast.Load):
            return False
        if isinstance(node, ast.AugAssign) and index.kind(node.target) is not Kind.HOST:
            return False
    return True


def _changes_every_turn(ctx: FileContext, tensor: ast.expr) -> bool:
    """Whether a number in an expression is another one in every turn: the graph of the step would be, too."""
    names = (node for node in ast.walk(tensor) if isinstance(node, ast.Name))
    return any(ctx.index.changing_numbers.cause(name) is not None for name in names)


def _is_of_each(ctx: FileContext, node: ast.expr, statement: ast.stmt) -> bool:
    """Whether a read within a statement is made ever so often, or only sometimes."""
    for ancestor in ctx.index.tree.ancestors(node):
        if ancestor is statement:
            return False
        if isinstance(ancestor, _OF_EACH):
            return True
    return True
