"""Models by what they are given: ``model(images)`` under ``no_grad``, of images that were moved to the device."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.semantic.syntax.bindings import Binding
from tpulint.semantic.syntax.flow import Flow
from tpulint.semantic.syntax.nodes import FUNCTIONS, LOOPS
from tpulint.semantic.syntax.tree import SyntaxTree
from tpulint.semantic.syntax.variables import last_name

MOVES = frozenset({"to", "cuda"})
WORDS = ("no_grad", "inference_mode")
"""What has to stand in a file that calls one so."""


def models_called(tree: SyntaxTree, flow: Flow) -> Iterator[Binding]:
    """Parameters, and what objects keep of them, that loops call with what they have moved, without gradients."""
    for call in tree.calls if tree.source.has_any(WORDS) else ():
        given = call.args[0] if len(call.args) == 1 else None
        if given is None or not isinstance(call.func, ast.Name | ast.Attribute):
            continue
        callees = [one for one in flow.bindings_of(call.func) if is_given(one, flow)]
        if callees and _is_moved(given, flow) and _is_quiet_turn(tree, call):
            yield from callees


def is_given(callee: Binding, flow: Flow) -> bool:
    """Whether a variable holds a parameter of its function, or is one: ``self.model = model.cuda()``."""
    kept = callee.value if callee.kind == "assign" and not callee.path else None
    if isinstance(kept, ast.Call) and isinstance(kept.func, ast.Attribute) and kept.func.attr in MOVES:
        kept = kept.func.value
    bound = flow.reaching(kept) if isinstance(kept, ast.Name) else (callee,)
    return any(one.kind == "parameter" for one in bound)


def _is_moved(given: ast.expr, flow: Flow) -> bool:
    """``x.cuda()``, or a variable that holds it and nothing else."""
    if isinstance(given, ast.Name):
        bound = flow.reaching(given)
        values = [one.value for one in bound if one.kind == "assign" and one.value is not None and not one.path]
        return len(values) == len(bound) > 0 and all(_is_move(value) for value in values)
    return _is_move(given)


def _is_move(node: ast.expr) -> bool:
    func = node.func if isinstance(node, ast.Call) else None
    if not isinstance(node, ast.Call) or not isinstance(func, ast.Attribute) or func.attr not in MOVES:
        return False
    to = node.args[0] if node.args else None
    return not (isinstance(to, ast.Attribute) and isinstance(to.value, ast.Name) and to.value.id == "torch")  # a dtype


def _is_quiet_turn(tree: SyntaxTree, call: ast.Call) -> bool:
    """Whether a call stands in a loop, and no gradient is recorded there."""
    is_in_loop = is_quiet = False
    for ancestor in tree.ancestors(call):
        is_in_loop |= isinstance(ancestor, LOOPS)
        if isinstance(ancestor, ast.With):
            is_quiet |= any(_records_nothing(item.context_expr) for item in ancestor.items)
        if isinstance(ancestor, FUNCTIONS):
            return is_in_loop and (is_quiet or any(map(_records_nothing, ancestor.decorator_list)))
    return False


def _records_nothing(node: ast.expr) -> bool:
    return last_name(node.func if isinstance(node, ast.Call) else node) in WORDS
