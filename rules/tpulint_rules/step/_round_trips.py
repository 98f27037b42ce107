"""Modules that a function sends to the host and back, by statements that do nothing else."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tpulint.semantic import FUNCTIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex
    from tpulint.semantic.syntax.nodes import FunctionNode

_MOVES = ("cpu", "cuda", "to")
_HOST = ("cpu",)
_DEVICE = r"(?i)gpu|cuda|cpu|device"


def round_trips(index: SemanticIndex, holder: ast.AST) -> Iterator[tuple[ast.Call, ast.expr, ast.Call]]:
    """Departure, module and way back: ``model.cpu()`` and ``model.to(device)`` in one function below ``holder``."""
    for call, module, back in _departures(index, holder):
        if back is not None:
            yield call, module, back


def left_on_host(index: SemanticIndex, holder: ast.AST) -> Iterator[ast.expr]:
    """Modules that functions below ``holder`` send to the host, where they stay when the function ends."""
    for call, module, back in _departures(index, holder):
        if back is None and not is_asked_for(index, call):
            yield module


def is_asked_for(index: SemanticIndex, call: ast.Call) -> bool:
    """Whether a move stands under a question for the device, ``if not use_cuda: model.cpu()``, and may never run."""
    branches = (above for above in index.tree.ancestors(call) if isinstance(above, ast.If | ast.IfExp))
    return any(re.search(_DEVICE, index.text(branch.test)) is not None for branch in branches)


def _departures(index: SemanticIndex, holder: ast.AST) -> Iterator[tuple[ast.Call, ast.expr, ast.Call | None]]:
    """Departure, module and way back; None for no way back in the same function.

    What a statement moves without keeping the result is a module. ``to_device(torch.device("cpu"), model)``, with a
    function of the project that moves what it is given, is such a statement too.
    """
    if not index.source.has_any(_HOST):
        return
    gone: dict[tuple[FunctionNode | None, str], tuple[ast.Call, ast.expr]] = {}
    for node in sorted(index.tree.nodes_in(holder, ast.Expr), key=index.tree.start):
        if not isinstance(node.value, ast.Call):
            continue
        call, function = node.value, index.function_of(node)
        for module, to_host in _moved(index, call):
            key = function, index.text(module)
            if to_host:
                gone[key] = call, module
            elif key in gone and not index.moves.exclude_each_other(gone[key][0], call):
                yield *gone.pop(key), call
    yield from ((call, module, None) for call, module in gone.values())


def _moved(index: SemanticIndex, call: ast.Call) -> Iterator[tuple[ast.expr, bool]]:
    """What a call moves, and whether to the host."""
    func = call.func
    if isinstance(func, ast.Attribute) and func.attr in _MOVES and not call.keywords and len(call.args) <= 1:
        if func.attr != "to" or call.args:
            yield func.value, func.attr == "cpu" or (func.attr == "to" and is_host(index, call.args[0]))
        return
    if len(call.args) < 2 or call.keywords or any(isinstance(item, ast.Starred) for item in call.args):
        return
    function = index.definitions.function_called(call)
    others = [] if function is not None else [item.node for item in index.imported.all_called(call)]
    for moving in [function, *others]:
        if isinstance(moving, FUNCTIONS) and _moves_what_it_is_given(moving):
            for module in call.args[1:]:
                yield module, is_host(index, call.args[0])
            return


def _moves_what_it_is_given(function: FunctionNode) -> bool:
    """``def to_device(device, *modules)``, which calls ``module.to(device)``."""
    first = function.args.args[0].arg if function.args.args else ""
    return any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "to"
        and len(node.args) == 1
        and isinstance(node.args[0], ast.Name)
        and node.args[0].id == first
        for node in ast.walk(function)
    )


def is_host(index: SemanticIndex, place: ast.expr) -> bool:
    """``"cpu"`` or ``torch.device("cpu")``."""
    if isinstance(place, ast.Call) and index.qualified_name(place.func) == "torch.device" and place.args:
        place = place.args[0]
    return isinstance(place, ast.Constant) and place.value == "cpu"
