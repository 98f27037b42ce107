"""What is done with a checkpoint once it is loaded: whether anything of it is used where it lies."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tpulint.semantic import FUNCTIONS, SemanticIndex
from tpulint.semantic.other_files import Definition, definition_called
from tpulint_rules.checkpoint._copied_states import CONSUMING

_FACTS = (
    r"(?i)(?:.*_)?(?:epochs?|n?iters?|iterations?|(?:global_?)?steps?|best.*|acc(?:uracy)?\d?|prec\d?|loss|losses|score|lr"
    r"|args?|opts?|options|cfg|config|hparams|hyper_?parameters|kwargs|arch|name|type|version|seed)"
)
"""Keys of what is a number or text, or a list of such: where it lies does not matter."""
_STATE = "state_dict"
"""In keys of what goes into a model, be it through a dictionary that is made of it."""
_MOVES = frozenset({"to", "cuda"})
_DEPTH = 3
"""Functions and variables that hand a part on."""


def is_only_state(index: SemanticIndex, loaded: ast.expr) -> bool:
    """Whether all that is loaded, numbers and texts aside, goes into ``load_state_dict``, or is moved later on."""
    found = list(_uses(index, loaded, "", 0))
    return None not in found and True in found


def _uses(index: SemanticIndex, node: ast.expr, key: str, depth: int) -> Iterator[bool | None]:
    """What becomes of a part of a checkpoint: a state that is loaded, no tensor at all, or None for another thing."""
    parent = index.parent(node)
    while (isinstance(parent, ast.Subscript) and parent.value is node) or (
        isinstance(parent, ast.IfExp)
        and parent.test is not node  # `torch.load(p) if gpu is None else torch.load(p, gpu)`
    ):
        if isinstance(parent, ast.Subscript) and isinstance(parent.slice, ast.Constant):
            key = str(parent.slice.value)
        node, parent = parent, index.parent(parent)
    if isinstance(parent, ast.Delete) or (isinstance(parent, ast.Compare) and node in parent.comparators):
        yield False  # `"optimizer" in checkpoint`
    elif key and re.fullmatch(_FACTS, key):
        yield False
    elif isinstance(parent, ast.Call) and node in parent.args:
        yield from _uses_by_call(index, parent, node, key, depth)
    elif isinstance(parent, ast.Attribute) and _are_values_moved(index, parent):
        yield True
    elif isinstance(parent, ast.Assign) and parent.value is node and depth < _DEPTH:
        target = parent.targets[0]
        is_kept = len(parent.targets) == 1 and isinstance(target, ast.Name)
        loads = index.flow.loads_of(target, node) if is_kept and isinstance(target, ast.Name) else []
        if _are_moved(index, loads):
            yield True
        else:
            yield from (use for load in loads for use in _uses(index, load, key, depth + 1))
        if not loads:
            yield None
    else:
        yield True if _STATE in key and _is_used_here(index, node) else None


def _is_used_here(index: SemanticIndex, node: ast.expr) -> bool:
    """Whether a state is not handed back, or put into something else: nobody knows what becomes of that."""
    is_kept = isinstance(index.parent(node), ast.Tuple | ast.List | ast.Dict | ast.keyword)
    return not is_kept and not isinstance(index.statement_of(node), ast.Return)


def _are_moved(index: SemanticIndex, loads: list[ast.Name]) -> bool:
    """``encoder = loaded["encoder"]``, and ``encoder.cuda()``: whole modules are moved from where they come."""
    methods = [item.attr if isinstance(item := index.parent(load), ast.Attribute) else "" for load in loads]
    return "" not in methods[:1] and any(method in _MOVES for method in methods)


def _are_values_moved(index: SemanticIndex, method: ast.Attribute) -> bool:
    """``{key: value.cuda() for key, value in loaded.items()}``"""
    call = index.parent(method)
    part = index.parent(call) if isinstance(call, ast.Call) and call.func is method else None
    if not isinstance(part, ast.comprehension) or part.iter is not call or method.attr not in ("items", "values"):
        return False
    value = part.target.elts[-1] if isinstance(part.target, ast.Tuple) and method.attr == "items" else part.target
    loads = index.names.loads_of(value) if isinstance(value, ast.Name) else []
    moves = [load for load in loads if isinstance(use := index.parent(load), ast.Attribute) and use.attr in _MOVES]
    return bool(loads) and len(moves) == len(loads)


def _uses_by_call(index: SemanticIndex, call: ast.Call, node: ast.expr, key: str, depth: int) -> Iterator[bool | None]:
    if index.qualified_name(call.func) in CONSUMING:
        yield False
    elif isinstance(call.func, ast.Attribute) and call.func.attr == "load_state_dict" and node is call.args[0]:
        yield None if any(item.arg == "assign" for item in call.keywords) else True
    else:
        called = definition_called(index, call) if depth < _DEPTH else None
        loads = [] if called is None else _loads_of_parameter(called, call, node)
        for load in loads:
            assert called is not None
            yield from _uses(called.file, load, key, depth + 1)
        if not loads:
            yield True if _STATE in key and _is_used_here(index, node) else None


def _loads_of_parameter(called: Definition, call: ast.Call, node: ast.expr) -> list[ast.Name]:
    """What a function does with what a call gives it; nothing where it makes something else of the parameter."""
    file, function = called
    if not isinstance(function, FUNCTIONS):
        return []
    parameters = [*function.args.posonlyargs, *function.args.args]
    given = [one for one in parameters if node in file.definitions.arguments.of_call(call, function, one.arg)]
    if len(given) != 1:
        return []
    mentions = file.names.mentions(given[0].arg, file.names.scope_of(function.body[0]))
    loads = [name for name in mentions if isinstance(name.ctx, ast.Load)]
    return loads if len(loads) == len(mentions) else []
