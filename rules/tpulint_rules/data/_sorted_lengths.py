"""Longest lengths that are taken off a sorted list: ``sorted(((len(x), x) for x in batch), reverse=True)[0][0]``."""

from __future__ import annotations

import ast
from collections.abc import Callable

from tpulint.semantic import SemanticIndex
from tpulint.semantic.values.value import is_true
from tpulint_rules.data._filled_lengths import HOLDING

_SORTED, _MAP, _LEN = "builtins.sorted", "builtins.map", "builtins.len"
_GETTER, _ZIP = "operator.itemgetter", "builtins.zip"
_FIRST, _LAST = 0, -1


def is_longest_of_sorted(index: SemanticIndex, node: ast.expr, is_length: Callable[[ast.expr], bool]) -> bool:
    """Whether an expression is the length at the long end of a list that is sorted by lengths."""
    part = None
    at = _place(node)
    if at is not None and isinstance(node, ast.Subscript) and _place(node.value) in (_FIRST, _LAST):
        part, node = at, node.value
    end = _place(node)
    if end not in (_FIRST, _LAST) or not isinstance(node, ast.Subscript):
        return False
    taken = _taken_apart(index, node.value) if part is None else None
    order = _order(index, node.value) if taken is None else _order(index, taken[0])
    if taken is not None:
        part = taken[1]
    if order is None:
        return False
    items, key, is_falling = order
    if (end == _FIRST) != is_falling:
        return False
    return _sorts_by(index, key, part) and _holds_lengths(index, items, part, is_length)


def _place(node: ast.expr) -> int | None:
    """``0`` of ``stat[0]``, ``-1`` of ``stat[-1]``."""
    at = node.slice if isinstance(node, ast.Subscript) else None
    if isinstance(at, ast.UnaryOp) and isinstance(at.op, ast.USub) and isinstance(at.operand, ast.Constant):
        return _LAST if at.operand.value == 1 else None
    return at.value if isinstance(at, ast.Constant) and type(at.value) is int else None


def _order(index: SemanticIndex, node: ast.expr) -> tuple[ast.expr, ast.expr | None, bool] | None:
    """What is sorted, by which key, and whether it falls; None for what is not known to be sorted."""
    if isinstance(node, ast.Name):
        bindings = index.flow.reaching(node)
        made = bindings[0].value if len(bindings) == 1 and bindings[0].kind == "assign" else None
        if made is None or bindings[0].path or isinstance(made, ast.Name):
            return None
        sorts = [call for call, holder in index.method_calls("sort") if _is_same(index, holder, node)]
        if not sorts:
            return _order(index, made)
        return (made, *_asked(sorts[0])) if len(sorts) == 1 and not sorts[0].args else None
    if isinstance(node, ast.Call) and index.qualified_name(node.func) == _SORTED and len(node.args) == 1:
        return (node.args[0], *_asked(node))
    return None


def _taken_apart(index: SemanticIndex, node: ast.expr) -> tuple[ast.expr, int] | None:
    """The list whose elements a variable holds one part of, and which: ``lengths, rows = zip(*order)``."""
    bindings = index.flow.reaching(node) if isinstance(node, ast.Name) else ()
    value = bindings[0].value if len(bindings) == 1 and bindings[0].kind == "assign" else None
    if not isinstance(value, ast.Call) or len(value.args) != 1:
        return None
    name, given, path = index.qualified_name(value.func), value.args[0], bindings[0].path
    if name in HOLDING and not path:
        return _taken_apart(index, given)
    is_zip = name == _ZIP and isinstance(given, ast.Starred) and len(path) == 1
    return (given.value, path[0]) if is_zip and isinstance(given, ast.Starred) else None


def _is_same(index: SemanticIndex, holder: ast.expr, name: ast.Name) -> bool:
    """Whether a list that is sorted in place is the one that a name stands for behind that."""
    if not isinstance(holder, ast.Name) or holder.id != name.id:
        return False
    is_above = index.span(holder).start < index.span(name).start
    return is_above and index.flow.reaching(holder) == index.flow.reaching(name)


def _asked(call: ast.Call) -> tuple[ast.expr | None, bool]:
    given = {item.arg: item.value for item in call.keywords}
    return given.get("key"), "reverse" in given and is_true(given["reverse"])


def _sorts_by(index: SemanticIndex, key: ast.expr | None, part: int | None) -> bool:
    """Whether a list is sorted by a part of its elements, or by these themselves: tuples by their first parts."""
    if key is None:
        return part in (None, _FIRST)
    if isinstance(key, ast.Lambda) and len(key.args.args) == 1 and isinstance(key.body, ast.Subscript):
        of_element = isinstance(key.body.value, ast.Name) and key.body.value.id == key.args.args[0].arg
        return of_element and part is not None and _place(key.body) == part
    if isinstance(key, ast.Call) and index.qualified_name(key.func) == _GETTER and len(key.args) == 1:
        at = key.args[0]
        return isinstance(at, ast.Constant) and part is not None and at.value == part
    return False


def _holds_lengths(
    index: SemanticIndex, items: ast.expr, part: int | None, is_length: Callable[[ast.expr], bool]
) -> bool:
    """Whether elements, or a part of each, are lengths of samples."""
    if isinstance(items, ast.Name):
        bindings = index.flow.reaching(items)
        made = bindings[0].value if len(bindings) == 1 and not bindings[0].path else None
        return made is not None and not isinstance(made, ast.Name) and _holds_lengths(index, made, part, is_length)
    if isinstance(items, ast.Call) and index.qualified_name(items.func) == _MAP and len(items.args) == 2:
        return part is None and index.qualified_name(items.args[0]) == _LEN
    if not isinstance(items, ast.ListComp | ast.GeneratorExp):
        return False
    element = items.elt
    if part is not None:
        parts = element.elts if isinstance(element, ast.Tuple | ast.List) else []
        return 0 <= part < len(parts) and is_length(parts[part])
    return is_length(element)
