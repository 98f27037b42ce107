"""A tensor made anew in every step where its size was changed in place: ``noise = noise.new_empty(8, 5).normal_()``."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Scope
from tpulint.semantic import Kind
from tpulint.semantic.graphs.pending import GROWING
from tpulint.semantic.syntax import torch_facts as facts
from tpulint.semantic.syntax.nodes import LoopNode

_FILLING = frozenset({
    "copy_", "fill_", "zero_", "normal_", "uniform_", "random_", "bernoulli_", "exponential_", "geometric_",
    "cauchy_", "log_normal_",
})  # fmt: skip
"""Methods that leave nothing of what a tensor held."""
_ASKED = frozenset({"size", "shape", "dim", "ndim", "numel", "dtype", "device", "type", "is_cuda", "data_ptr"})
_VARIABLES = (ast.Name, ast.Attribute)
_SAFE = "The new tensor has the size, type and values, and all that read the variable read it where it is kept."
_UNSAFE = "Other files may hold the tensor that an object keeps, which is another one in every step."


def made_anew(ctx: FileContext, calls: list[ast.Call]) -> FixBuilder | None:
    """The fix for all calls of ``resize_`` on one variable; None where anything else may hold the tensor."""
    tensor = calls[0].func.value if isinstance(calls[0].func, ast.Attribute) else None
    if tensor is None or not _is_own_variable(ctx, tensor, calls) or _is_held(ctx, tensor, calls):
        return None
    is_name = isinstance(tensor, ast.Name)
    safety = (Applicability.SAFE, _SAFE) if is_name else (Applicability.UNSAFE, _UNSAFE)
    fix = ctx.fix("Make a new tensor in every step", *safety, Scope.STATEMENT)
    name = ctx.text(tensor)
    for call in calls:
        chain = _chain(ctx, call)
        statement = ctx.index.statement_of(call)
        if chain is None:
            return None
        whole, made = ctx.index.span(chain), ctx.index.span(call.func)
        text = f"{name} = {name}.new_empty{ctx.source.text[made.end : whole.end]}"
        if isinstance(statement, ast.Expr) and statement.value is chain:
            fix.replace(statement, text)
        elif "\n" in text:
            return None
        else:
            fix.insert_before(statement, text)
            fix.replace(chain, name)
    return fix


def _chain(ctx: FileContext, call: ast.Call) -> ast.Call | None:
    """``x.resize_(size).copy_(y)``, which writes all of the tensor; or the call alone, where the next line does."""
    index = ctx.index
    if call.keywords or any(isinstance(item, ast.Starred) for item in call.args):
        return None
    whole = call
    while isinstance(method := index.parent(whole), ast.Attribute) and method.attr.endswith("_"):
        outer = index.parent(method)
        if not isinstance(outer, ast.Call) or (whole is call and method.attr not in _FILLING):
            return None
        whole = outer
    statement = index.statement_of(call)
    if whole is not call:
        used = [node for node in index.tree.nodes_in(statement, *_VARIABLES) if _is_same(ctx, node, call)]
        is_alone = all(index.tree.encloses(whole, node) for node in used)
        return whole if is_alone and isinstance(statement, ast.Expr | ast.Assign) else None
    suite = index.tree.suite_of(statement)
    behind = suite[index.tree.position_of(statement) + 1 :][:1]
    return call if isinstance(statement, ast.Expr) and behind and _fills(ctx, behind[0], call) else None


def _fills(ctx: FileContext, statement: ast.stmt, call: ast.Call) -> bool:
    """Whether a statement writes all of the tensor first."""
    node: ast.AST = statement.value if isinstance(statement, ast.Expr) else statement
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr in _FILLING and _is_same(ctx, node.func.value, call):
            return not any(_is_same(ctx, part, call) for item in node.args for part in ast.walk(item))
        node = node.func.value
    return False


def _is_same(ctx: FileContext, node: ast.AST, call: ast.Call) -> bool:
    """Whether an expression is the variable that a call resizes."""
    tensor = call.func.value if isinstance(call.func, ast.Attribute) else call
    return isinstance(node, _VARIABLES) and type(node) is type(tensor) and ctx.text(node) == ctx.text(tensor)


def _is_own_variable(ctx: FileContext, tensor: ast.expr, calls: list[ast.Call]) -> bool:
    """Whether the variable can be bound where it is resized: one of that scope, or an attribute of the object."""
    names = ctx.index.names
    if not isinstance(tensor, ast.Name):
        return True
    found = names.find_name(tensor)
    return found is not None and all(names.scope_of(call) is found[0] for call in calls)


def _mentions(ctx: FileContext, tensor: ast.expr) -> Iterator[ast.expr]:
    """Where the variable is read, in functions too."""
    index = ctx.index
    if isinstance(tensor, ast.Name):
        found = index.names.find_name(tensor)
        yield from index.names.loads(tensor.id, found[0]) if found is not None else ()
        return
    for node in index.tree.attributes:
        if isinstance(tensor, ast.Attribute) and node.attr == tensor.attr and isinstance(node.ctx, ast.Load):
            yield node


def _is_held(ctx: FileContext, tensor: ast.expr, calls: list[ast.Call]) -> bool:
    """Whether anything but the variable holds the tensor that is resized, and would see what is written into it."""
    index = ctx.index
    for use in _mentions(ctx, tensor):
        parent = index.parent(use)
        if isinstance(parent, ast.Attribute) and parent.attr in _ASKED:
            continue
        statement = index.statement_of(use)
        if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Attribute) and parent.func.attr in GROWING:
            return True
        if index.tree.lambda_of(use) is not None:
            return True
        if isinstance(statement, ast.Expr) and isinstance(parent, ast.Attribute):
            continue  # `noise.normal_(0, 1)`
        if _is_behind(ctx, statement, calls):
            continue
        if isinstance(statement, ast.Return):
            return True
        if not _is_in_turn(ctx, statement, calls):
            if not _is_bound_anew(ctx, statement, tensor):
                return True
        elif isinstance(statement, ast.Assign) and _is_alias_used_later(ctx, statement, use, calls):
            return True
    return False


def _is_in_turn(ctx: FileContext, statement: ast.stmt, calls: list[ast.Call]) -> bool:
    """Whether a statement runs in the turns that resize the tensor, in some of them at least."""
    tree = ctx.index.tree
    if ctx.index.turn_code.turn_of(statement) is not None:
        return True
    loops = (loop for loop in ctx.index.turn_code.loops if tree.encloses(loop, statement))
    return any(tree.encloses(loop, call) for loop in loops for call in calls)


def _is_bound_anew(ctx: FileContext, statement: ast.stmt, tensor: ast.expr) -> bool:
    """``x = x.cuda()``, ``x, y = x.to(device), y.to(device)``"""
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    parts = [part for item in targets for part in (item.elts if isinstance(item, ast.Tuple) else [item])]
    return any(ctx.text(part) == ctx.text(tensor) for part in parts)


def _is_behind(ctx: FileContext, statement: ast.stmt, calls: list[ast.Call]) -> bool:
    """Whether a statement runs when the loop is over, and no loop around begins again."""
    tree = ctx.index.tree
    loops: list[LoopNode] = [loop for loop in tree.loops if any(tree.encloses(loop, call) for call in calls)]
    same = tree.function_of(statement) is tree.function_of(calls[0])
    return same and bool(loops) and all((loop.end_lineno or 0) < statement.lineno for loop in loops)


def _is_alias_used_later(ctx: FileContext, statement: ast.Assign, use: ast.expr, calls: list[ast.Call]) -> bool:
    """Whether a variable that may be the same tensor, ``v = Variable(x)``, is used when that has been resized again."""
    index = ctx.index
    for name, value in _parts(statement):
        if not index.tree.encloses(value, use) or _computes_of(ctx, value, use):
            continue
        for load in index.names.loads_of(name):
            reaching = any(binding.node is name for binding in index.flow.reaching(load))
            if reaching and _is_resized_between(ctx, statement, load, calls):
                return True
    return False


def _computes_of(ctx: FileContext, value: ast.expr, use: ast.expr) -> bool:
    """Whether a value is surely computed of the tensor, and no other look at it."""
    index = ctx.index
    node: ast.AST | None = use
    while node is not None and node is not value:
        node = index.parent(node)
        if isinstance(node, ast.BinOp | ast.Compare):
            return True
        if isinstance(node, ast.Call) and not index.tree.encloses(node.func, use):
            name = index.qualified_name(node.func) or ""
            if index.kind(node.func) is Kind.MODULE or (name.startswith("torch.") and name not in facts.VARIABLES):
                return True
    return False


def _parts(statement: ast.Assign) -> Iterator[tuple[ast.Name, ast.expr]]:
    """Variables and what they are given: each its own part, where a tuple is written out for several."""
    for target in statement.targets:
        value = statement.value
        pairs = [(target, value)]
        if isinstance(target, ast.Tuple):
            parts = value.elts if isinstance(value, ast.Tuple) else []
            is_same = len(parts) == len(target.elts)
            pairs = list(zip(target.elts, parts if is_same else [value] * len(target.elts), strict=True))
        yield from ((item, given) for item, given in pairs if isinstance(item, ast.Name))


def _is_resized_between(ctx: FileContext, statement: ast.stmt, load: ast.Name, calls: list[ast.Call]) -> bool:
    begin, end = ctx.index.span(statement).end, ctx.index.span(load).start
    places = [ctx.index.span(call).start for call in calls]
    return end < begin or any(begin < place < end for place in places)
