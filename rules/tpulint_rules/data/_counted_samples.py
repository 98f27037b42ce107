"""Averages over all samples of a loader, which take those for granted that its last batch would have held."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FixBuilder
from tpulint.model import Applicability
from tpulint.semantic import Kind, LoopNode, SemanticIndex
from tpulint.semantic.batches.loaders import Loader
from tpulint.semantic.syntax.variables import last_name
from tpulint.semantic.totals.totals import added_to
from tpulint_rules.data._partial_batches import is_given

_ROUNDED = (
    "builtins.int", "builtins.float", "builtins.round", "math.ceil", "math.floor", "numpy.ceil", "numpy.floor",
)  # fmt: skip
_REASON = "Sums over the batches are divided by the number of all samples, those that are left out among them."


def count_what_is_left(fix: FixBuilder, index: SemanticIndex, loader: Loader, may_keep: bool = False) -> None:
    """Divide by the samples in the full batches of a loader, where a file divides by ``len(loader.dataset)``.

    A loader that ``may_keep`` a batch that is not full says at run time whether it does.
    """
    for count in _divisors(index, loader):
        named = _loader_named(index, loader, count)
        # Of a sampler each process may get a share only, and what is divided may be the sum over all of them.
        if named is None or is_given((loader.arguments or {}).get("sampler")):
            fix.lower(Applicability.DISPLAY, _REASON)
            continue
        name = index.text(named)
        text = f"len({name}) * {name}.batch_size"
        made = index.moves.creations.of(named)
        if may_keep or len(made) != 1 or made[0].path or made[0].node is not loader.call:
            text = f"{text} if {name}.drop_last else {index.text(count)}"
        is_whole = isinstance(index.parent(count), ast.AugAssign | ast.Call)
        fix.replace(count, text if is_whole else f"({text})")
    batches = list(_numbers_of_batches(index, loader))
    for count in batches:
        named = _loader_named(index, loader, count)
        if named is None or is_given((loader.arguments or {}).get("sampler")):
            fix.lower(Applicability.DISPLAY, _REASON)
        else:
            fix.replace(count, f"len({index.text(named)})")
    written = {*_divisors(index, loader), *batches}
    loops = [*((index, loop) for loop in loader.loops), *_loops_elsewhere(index, loader)]
    left = (
        divisor
        for file, loop in loops
        for divisor in _of_all_samples(file, loop)
        if written.isdisjoint((divisor, *file.tree.inside(divisor)))
    )
    if next(left, None) is not None:
        fix.lower(Applicability.DISPLAY, _REASON)


def _loops_elsewhere(index: SemanticIndex, loader: Loader) -> Iterator[tuple[SemanticIndex, LoopNode]]:
    """Step loops of functions and classes of other files that are given a loader."""
    creations = index.moves.creations
    for call in index.imported.calls:
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        if any(made.node is loader.call for item in given for made in creations.of(item)):
            for run in index.imported.all_called(call):
                steps = [step.node for step in run.file.step_loops]
                yield from ((run.file, loop) for loop in steps if run.file.tree.encloses(run.node, loop))


def _of_all_samples(index: SemanticIndex, loop: LoopNode) -> Iterator[ast.expr]:
    """What totals of a loop are divided by, unless the loop counts it, or its batches do: ``right / size``."""
    nodes = index.tree.nodes_in(loop, ast.AugAssign, ast.Assign, functions=False)
    totals = {index.text(target) for node in nodes if (target := added_to(node)) is not None}
    dealt = _variables(index, loop.target) if isinstance(loop, ast.For | ast.AsyncFor) else set[str]()
    counted = totals | dealt
    holder = index.function_of(loop) or index.tree.module
    for division in index.tree.nodes_in(holder, ast.BinOp, functions=False) if totals else ():
        if not isinstance(division.op, ast.Div) or not totals & _variables(index, division.left):
            continue
        by = division.right
        if not (isinstance(by, ast.Constant) or counted & _variables(index, by) or _counts_batches(index, by)):
            yield by


def _counts_batches(index: SemanticIndex, node: ast.expr, depth: int = 0) -> bool:
    """``len(loader)``, times the size of a batch, by a variable too; ``len(loader.dataset)`` counts samples."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return _counts_batches(index, node.left, depth) or _counts_batches(index, node.right, depth)
    if isinstance(node, ast.Name) and depth < 2:
        bindings = index.flow.reaching(node)
        return bool(bindings) and all(
            binding.kind == "assign" and binding.value is not None and _counts_batches(index, binding.value, depth + 1)
            for binding in bindings
        )
    if not isinstance(node, ast.Call) or index.qualified_name(node.func) != "builtins.len" or len(node.args) != 1:
        return False
    return "loader" in last_name(node.args[0]).lower() or index.kind(node.args[0]) is Kind.LOADER


def _variables(index: SemanticIndex, node: ast.expr) -> set[str]:
    """Variables and attributes in an expression, as text."""
    parts = (node, *index.tree.inside(node))
    return {index.text(part) for part in parts if isinstance(part, ast.Name | ast.Attribute)}


def _divisors(index: SemanticIndex, loader: Loader) -> Iterator[ast.expr]:
    """Expressions for the number of samples of a loader, by which something is divided."""
    for call in index.calls_to("builtins.len"):
        if len(call.args) != 1 or not _is_dataset(index, loader, call.args[0]):
            continue
        if _divides(index, call):
            yield call
            continue
        statement = index.statement_of(call)
        if not isinstance(statement, ast.Assign) or _is_calculated_with(index, call):
            continue
        for name in _loads(index, statement):
            parent = index.parent(name)
            is_entry = isinstance(statement.value, ast.Dict | ast.DictComp)
            count = parent if is_entry and isinstance(parent, ast.Subscript) and parent.value is name else name
            if isinstance(count, ast.expr) and _divides(index, count):
                yield count


def _numbers_of_batches(index: SemanticIndex, loader: Loader) -> Iterator[ast.expr]:
    """Divisors that are the number of batches of a loader: ``math.ceil(len(loader.dataset) / batch_size)``."""
    sizes = {last_name(size) for size in (loader.arguments or {}).get("batch_size", ())}
    for call in index.calls_to("builtins.len"):
        if len(call.args) != 1 or not _is_dataset(index, loader, call.args[0]):
            continue
        share = index.parent(_rounded(index, call))
        if not isinstance(share, ast.BinOp) or not isinstance(share.op, ast.Div | ast.FloorDiv):
            continue
        size = share.right
        while isinstance(size, ast.Call) and index.qualified_name(size.func) in _ROUNDED and len(size.args) == 1:
            size = size.args[0]
        if size is call or last_name(size) not in sizes | {"batch_size"}:
            continue
        number = _rounded(index, share)
        added = index.parent(number)
        if isinstance(added, ast.BinOp) and isinstance(added.op, ast.Add) and isinstance(added.right, ast.Constant):
            number = _rounded(index, added)  # n // size + 1
        statement = index.parent(number)
        counts = _loads(index, statement) if isinstance(statement, ast.Assign) else [number]
        yield from (count for count in counts if _divides(index, count))


def _loads(index: SemanticIndex, statement: ast.Assign) -> list[ast.Name]:
    """Where the variable is read that a statement gives a value."""
    target = statement.targets[0]
    return index.names.loads_of(target) if len(statement.targets) == 1 and isinstance(target, ast.Name) else []


def _rounded(index: SemanticIndex, node: ast.expr) -> ast.expr:
    """The same number, made whole or a float: ``int(math.ceil(node))``."""
    parent = index.parent(node)
    if isinstance(parent, ast.Call) and parent.args == [node] and index.qualified_name(parent.func) in _ROUNDED:
        return _rounded(index, parent)
    return node


def _is_calculated_with(index: SemanticIndex, count: ast.expr) -> bool:
    """Whether a number is a part of a sum, a product or a share, which is another number."""
    return isinstance(index.parent(_rounded(index, count)), ast.BinOp)


def _is_dataset(index: SemanticIndex, loader: Loader, node: ast.expr) -> bool:
    """Whether an expression is what a loader takes its samples from: ``loader.dataset``, or what it was given."""
    creations = index.moves.creations
    if isinstance(node, ast.Attribute) and node.attr == "dataset":
        return any(made.node is loader.call and not made.path for made in creations.of(node.value))
    given = (loader.arguments or {}).get("dataset", [])
    if isinstance(node, ast.Subscript):
        return any(index.text(node) == index.text(value) for value in given)
    made = {(one.node, one.path) for one in creations.of(node)}
    return any(made == {(one.node, one.path) for one in creations.of(value)} for value in given) if made else False


def _divides(index: SemanticIndex, node: ast.expr) -> bool:
    """Whether an expression, or a float made of it, is a divisor."""
    parent = index.parent(node)
    if isinstance(parent, ast.Call) and index.qualified_name(parent.func) == "builtins.float":
        return _divides(index, parent)
    if isinstance(parent, ast.AugAssign):
        return isinstance(parent.op, ast.Div) and parent.value is node
    return isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Div) and parent.right is node


def _loader_named(index: SemanticIndex, loader: Loader, count: ast.expr) -> ast.expr | None:
    """How the loader is called where its samples are counted."""
    if isinstance(count, ast.Call) and isinstance(count.args[0], ast.Attribute) and count.args[0].attr == "dataset":
        return count.args[0].value
    for loop in loader.loops:
        if isinstance(loop, ast.For) and index.function_of(loop) is index.function_of(count):
            source = loop.iter
            while isinstance(source, ast.Call) and source.args:
                source = source.args[0]
            return source if isinstance(source, ast.Name | ast.Attribute | ast.Subscript) else None
    return None
