"""Moves to the device behind which the same move follows since the fixes: ``x.to(device).to(device)``."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

from tpulint.emptied import only_looks, words
from tpulint.records import NamedTuple
from tpulint.semantic.syntax.torch_facts import DEVICE_FACTORIES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.fixes import FixBuilder
    from tpulint.semantic import SemanticIndex

_WAITING = "non_blocking"


class TwinMove(NamedTuple):
    """Two calls of ``to``, one upon the other, that move to the same device."""

    first: ast.Call
    second: ast.Call

    @property
    def moved(self) -> ast.expr:
        """What is moved."""
        assert isinstance(self.first.func, ast.Attribute)
        return self.first.func.value


def twin_moves(before: SemanticIndex, after: SemanticIndex) -> list[TwinMove]:
    """The twins that their author had not written so, of several in a row the first."""
    found = list(_twins(after))
    known = Counter(words(twin.moved) for twin in _twins(before)) if found else Counter[str]()
    twins: list[TwinMove] = []
    for twin in found:
        text = words(twin.moved)
        if known[text]:
            known[text] -= 1
        elif not any(twin.second is one.first or twin.first is one.second for one in twins):
            twins.append(twin)
    return twins


def move_once(fix: FixBuilder, twin: TwinMove) -> None:
    """Leave one of the two calls, with what both are given beside the device."""
    first, second = twin
    if not second.keywords and len(second.args) == 1:
        fix.replace_tail(second, first, "")
    elif len(first.args) == 1:
        fix.replace_tail(first, twin.moved, "")
    else:
        if not first.keywords:
            fix.set_argument(first, _WAITING, fix.text(second.keywords[0].value))
        fix.replace_tail(second, first, "")


def _twins(index: SemanticIndex) -> Iterator[TwinMove]:
    for second, first in index.method_calls("to"):
        if not isinstance(first, ast.Call) or not (_is_move(first) and _is_move(second)):
            continue
        is_one_dtype = len(first.args) == 1 or len(second.args) == 1
        text = index.source.text[index.span(first).start : index.span(second).end]
        if is_one_dtype and _is_same_device(index, first.args[0], second.args[0]) and "#" not in text:
            yield TwinMove(first, second)


def _is_move(call: ast.Call) -> bool:
    """``x.to(device)``, ``x.to(device, dtype, non_blocking=True)``"""
    is_plain = isinstance(call.func, ast.Attribute) and call.func.attr == "to" and 1 <= len(call.args) <= 2
    is_whole = not any(isinstance(item, ast.Starred) for item in call.args)
    return is_plain and is_whole and all(item.arg == _WAITING for item in call.keywords)


def _is_same_device(index: SemanticIndex, one: ast.expr, other: ast.expr) -> bool:
    is_written_so = ast.dump(one) == ast.dump(other) and only_looks(index, one)
    return is_written_so or (_is_xla(index, one) and _is_xla(index, other))


def _is_xla(index: SemanticIndex, node: ast.expr) -> bool:
    """Whether an expression gives the XLA device on all of its ways."""
    if isinstance(node, ast.Name):
        values = [None if one.path or one.kind != "assign" else one.value for one in index.flow.reaching(node)]
        return bool(values) and all(value is not None and _gives_xla(index, value) for value in values)
    return _gives_xla(index, node)


def _gives_xla(index: SemanticIndex, node: ast.expr) -> bool:
    if isinstance(node, ast.Constant):
        return node.value == "xla"
    return isinstance(node, ast.Call) and not node.args and index.qualified_name(node.func) in DEVICE_FACTORIES
