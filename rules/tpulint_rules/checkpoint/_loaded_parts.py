"""What is done with a checkpoint once it is loaded: whether anything of it is used where it lies."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tpulint.semantic import SemanticIndex
from tpulint.semantic.devices.device_sites import devices_given
from tpulint.semantic.project.other_files import definition_called, loads_of_parameter
from tpulint_rules.checkpoint._copied_states import CONSUMING, CopiedStates

_FACTS = (
    r"(?i)(?:.*_)?(?:epochs?|n?iters?|iterations?|(?:global_?)?steps?|best.*|acc(?:uracy)?\d?|prec\d?|loss|losses|score|lr"
    r"|logs?|logger|history"
    r"|args?|opts?|options|cfg|config|hparams|hyper_?parameters|kwargs|arch|name|type|version|seed)"
)
"""Keys of what is a number or text, or a list of such: where it lies does not matter."""
_STATE = "state_dict"
"""In keys of what goes into a model, be it through a dictionary that is made of it."""
_TO_NUMBERS = frozenset({"builtins.int", "builtins.float", "builtins.bool", "builtins.range", "builtins.print"})
"""Functions to which it does not matter where a tensor lies."""
_MOVES = frozenset({"to", "cuda"})
_ALL_PARTS = frozenset({"items", "values"})
"""Methods that go over all that a dictionary holds."""
_DEPTH = 3
"""Functions and variables that hand a part on."""


def is_only_state(index: SemanticIndex, loaded: ast.expr) -> bool:
    """Whether all that is loaded, numbers and texts aside, goes into ``load_state_dict``, or is moved later on."""
    found = list(_uses(index, loaded, "", 0))
    return None not in found and True in found


def holds_state(index: SemanticIndex, loaded: ast.expr) -> bool:
    """Whether a part of what is loaded goes into ``load_state_dict``, whatever becomes of the others."""
    return True in _uses(index, loaded, "", 0)


def is_of_facts(index: SemanticIndex, loaded: ast.expr) -> bool:
    """Whether only numbers and texts are taken out of what is loaded."""
    found = list(_uses(index, loaded, "", 0))
    return bool(found) and not any(use is not False for use in found)


def is_made_into_state(index: SemanticIndex, loaded: ast.expr) -> bool:
    """Whether a function is given what is loaded, and all that it makes of that goes into ``load_state_dict``."""
    parent = index.parent(loaded)
    while isinstance(parent, ast.Subscript) and parent.value is loaded:
        loaded, parent = parent, index.parent(parent)
    if not isinstance(parent, ast.Call) or loaded not in parent.args:
        return False
    return CopiedStates(index).is_one(parent) or is_only_state(index, parent)


def _uses(index: SemanticIndex, node: ast.expr, key: str, depth: int) -> Iterator[bool | None]:
    """What becomes of a part of a checkpoint: a state that is loaded, no tensor at all, or None for another thing."""
    parent = index.parent(node)
    while (isinstance(parent, ast.Subscript) and parent.value is node) or _is_as_before(parent, node):
        if isinstance(parent, ast.Subscript) and isinstance(parent.slice, ast.Constant):
            key = str(parent.slice.value)
        assert isinstance(parent, ast.expr)
        node, parent = parent, index.parent(parent)
    if isinstance(parent, ast.Delete) or (isinstance(parent, ast.Compare) and node in parent.comparators):
        yield False  # `"optimizer" in checkpoint`
    elif (key and re.fullmatch(_FACTS, key)) or _is_number(index, parent, node):
        yield False
    elif isinstance(parent, ast.Call) and node in parent.args:
        yield from _uses_by_call(index, parent, node, key, depth)
    elif isinstance(parent, ast.Assign) and parent.value is node and depth < _DEPTH:
        target = parent.targets[0]
        is_kept = len(parent.targets) == 1 and isinstance(target, ast.Name)
        loads = _loads_of(index, target, parent) if is_kept and isinstance(target, ast.Name) else []
        if _are_moved(index, loads):
            yield True
        else:
            yield from (use for load in loads for use in _uses(index, load, key, depth + 1))
        if not loads:
            yield None
    elif isinstance(parent, ast.Attribute) and parent.attr == "keys":
        yield False
    elif isinstance(parent, ast.Attribute) and parent.attr in _ALL_PARTS:
        yield True if _are_moved_in_turn(index, parent) else None
    else:
        yield True if _STATE in key and _is_used_here(index, node) else None


def _is_number(index: SemanticIndex, user: ast.AST | None, node: ast.expr) -> bool:
    """Whether a part is only asked for a number, or shown: ``range(checkpoint["i"])``."""
    return isinstance(user, ast.Call) and node in user.args and index.qualified_name(user.func) in _TO_NUMBERS


def _loads_of(index: SemanticIndex, target: ast.Name, statement: ast.Assign) -> list[ast.Name]:
    """Uses of what a statement gives a variable: no functions that are made when its block has given it another."""
    suite = index.tree.suite_of(statement)
    others = [
        binding.statement
        for binding in index.names.bindings(target)
        if binding.kind == "assign" and binding.statement in suite[suite.index(statement) + 1 :]
    ]
    end = min((index.span(other).end for other in others if other is not None), default=None)
    here = index.function_of(target)

    def is_made_later(load: ast.Name) -> bool:
        function = index.function_of(load)
        return function is not here and function is not None and end is not None and index.span(function).start > end

    return [load for load in index.flow.loads_of(target, statement.value) if not is_made_later(load)]


def _is_as_before(parent: ast.AST | None, node: ast.expr) -> bool:
    """``torch.load(path) if args.gpu is None else torch.load(path, map_location="cpu")``, ``checkpoint["i"] + 1``"""
    if isinstance(parent, ast.BinOp):
        return isinstance(parent.right if parent.left is node else parent.left, ast.Constant)
    return isinstance(parent, ast.IfExp) and node is not parent.test


def _are_moved_in_turn(index: SemanticIndex, method: ast.Attribute) -> bool:
    """``{name: part.cuda() for name, part in loaded.items()}``: a comprehension moves every part of a file."""
    holder = index.parent(call) if (call := index.parent(method)) is not None else None
    if not isinstance(holder, ast.comprehension) or holder.iter is not call:
        return False
    target: ast.expr = holder.target
    if method.attr == "items":
        if not isinstance(target, ast.Tuple) or len(target.elts) != 2:
            return False
        target = target.elts[1]
    if not isinstance(target, ast.Name):
        return False
    uses = [index.parent(use) for use in index.names.loads_of(target)]
    return bool(uses) and all(isinstance(use, ast.Attribute) and _is_move(index, use) for use in uses)


def _is_used_here(index: SemanticIndex, node: ast.expr) -> bool:
    """Whether a state is not handed back, or put into something else: nobody knows what becomes of that."""
    is_kept = isinstance(index.parent(node), ast.Tuple | ast.List | ast.Dict | ast.keyword)
    return not is_kept and not isinstance(index.statement_of(node), ast.Return)


def _are_moved(index: SemanticIndex, loads: list[ast.Name]) -> bool:
    """``encoder = loaded["encoder"]``, and ``encoder.cuda()``: whole modules are moved from where they come."""
    methods = [index.parent(load) for load in loads]
    asked = [item for item in methods if isinstance(item, ast.Attribute)]
    return methods[:1] == asked[:1] and any(_is_move(index, method) for method in asked)


def _is_move(index: SemanticIndex, method: ast.Attribute) -> bool:
    """``x.cuda()``, ``x.to(device)``; ``x.to(weight.dtype)`` leaves it where it is."""
    call = index.parent(method)
    if not isinstance(call, ast.Call) or call.func is not method or method.attr not in _MOVES:
        return False
    return method.attr == "cuda" or any(not index.moves.is_dtype(item) for item in devices_given(call))


def _uses_by_call(index: SemanticIndex, call: ast.Call, node: ast.expr, key: str, depth: int) -> Iterator[bool | None]:
    if index.qualified_name(call.func) in CONSUMING:
        yield False
    elif isinstance(call.func, ast.Attribute) and call.func.attr == "copy_":
        yield True
    elif isinstance(call.func, ast.Attribute) and call.func.attr == "load_state_dict" and node is call.args[0]:
        yield None if any(item.arg == "assign" for item in call.keywords) else True
    else:
        called = definition_called(index, call) if depth < _DEPTH else None
        loads = [] if called is None else loads_of_parameter(called, call, node)
        for load in loads:
            assert called is not None
            yield from _uses(called.file, load, key, depth + 1)
        if not loads:
            yield True if _STATE in key and _is_used_here(index, node) else None
