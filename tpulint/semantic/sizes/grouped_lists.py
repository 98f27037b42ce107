"""Lists that rows were put into by one of their values before the turns began, and of which a turn looks one up.

`known[head, relation].append(tail)`, and in a turn `scores[known[row[0], row[1]]] = 0`: each of another length.
"""

from __future__ import annotations

import ast

from tpulint.semantic.syntax.nodes import FUNCTIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex
    from tpulint.semantic.syntax.bindings import Binding

_DEPTH = 6
_DICTS = ("collections.defaultdict", "builtins.dict")
_CLASSES = ("label", "class", "cls", "target", "categor", "y")
"""What samples are often put into groups by of which each has as many."""


def looked_up_list(index: SemanticIndex, node: ast.Subscript) -> ast.expr | None:
    """The key by which a turn looks up a list that holds as many rows as there happened to be of that key."""
    if not index.source.has_any(("append",)) or not isinstance(node.value, ast.Name | ast.Attribute):
        return None
    return node.slice if _is_of_turn(index, node.slice) and _holds_groups(index, node.value, 0) else None


def _is_of_turn(index: SemanticIndex, node: ast.AST, depth: int = 0) -> bool:
    """Whether a key is made of what a loop of turns deals out."""
    turns = index.turn_code
    for part in (node, *index.tree.inside(node)):
        for one in index.flow.reaching(part) if isinstance(part, ast.Name) else ():
            if one.kind == "loop" and one.statement in turns.loops:
                return True
            made = one.value if one.kind == "assign" and turns.turn_of(one.statement) is not None else None
            if made is not None and depth < _DEPTH and _is_of_turn(index, made, depth + 1):
                return True
    return False


def _holds_groups(index: SemanticIndex, table: ast.expr, depth: int) -> bool:
    """Whether all that a variable is set to, or what makes it, are dictionaries into whose lists rows are put."""
    if depth > _DEPTH:
        return False
    if isinstance(table, ast.Call):
        function = index.definitions.function_called(table)
        returned = [] if function is None else index.definitions.returned_by(function)
        return bool(returned) and all(_holds_groups(index, value, depth + 1) for value in returned)
    if not isinstance(table, ast.Name | ast.Attribute):
        return False
    bindings = index.flow.bindings_of(table)
    return bool(bindings) and all(_is_grouped(index, one, depth) for one in bindings)


def _is_grouped(index: SemanticIndex, binding: Binding, depth: int) -> bool:
    value = binding.value
    if binding.kind == "parameter" and isinstance(binding.statement, FUNCTIONS):
        given = index.definitions.arguments.of(binding.statement, binding.name)
        return bool(given) and all(_holds_groups(index, item, depth + 1) for item in given)
    if binding.kind != "assign" or binding.path or value is None:
        return False
    is_dict = isinstance(value, ast.Dict) and not value.keys
    if not is_dict and not (isinstance(value, ast.Call) and index.qualified_name(value.func) in _DICTS):
        return _holds_groups(index, value, depth + 1)
    if index.turn_code.turn_of(binding.statement) is not None:
        return False
    return any(_is_added_by_part(index, use) for use in index.names.loads(binding.name, binding.scope))


def _is_added_by_part(index: SemanticIndex, table: ast.Name) -> bool:
    """Whether each turn of a loop adds to one list only, that of one of several values of a row.

    `for head, relation, tail in rows: known[head].append(tail)`; of whole rows there may be one of each.
    """
    held, key = index.parent(table), None
    if isinstance(held, ast.Subscript):
        key = held.slice
    elif isinstance(held, ast.Attribute) and held.attr == "setdefault":  # `known.setdefault(head, []).append(tail)`
        held = index.parent(held)
        key = held.args[0] if isinstance(held, ast.Call) and len(held.args) == 2 else None
    method = None if held is None else index.parent(held)
    if key is None or not isinstance(method, ast.Attribute) or method.attr != "append":
        return False
    loop = index.tree.loop_of(method)
    words = index.text(key).lower()
    if not isinstance(loop, ast.For) or any(word in words for word in _CLASSES[:-1]) or words == _CLASSES[-1]:
        return False
    parts = (key, *index.tree.inside(key))
    return any(_is_part_of_row(index, part, loop) for part in parts if isinstance(part, ast.Name))


def _is_part_of_row(index: SemanticIndex, name: ast.Name, loop: ast.For) -> bool:
    """Whether a name is one of the values of a row, `head`, or a row of which one is taken, `row[0]`."""
    bindings = index.flow.reaching(name)
    if len(bindings) != 1:
        return False
    one, holder = bindings[0], index.parent(name)
    if one.kind == "assign" and index.tree.encloses(loop, one.statement):  # `head, relation, tail = row`
        made = one.value
        if isinstance(made, ast.Subscript) and isinstance(made.value, ast.Name) and not one.path:
            return _is_row(index, made.value, loop)  # `head = row[0]`
        return bool(one.path) and isinstance(made, ast.Name) and _is_row(index, made, loop)
    if one.kind != "loop" or one.statement is not loop:
        return False
    if isinstance(holder, ast.Subscript) and holder.value is name:
        return _is_row(index, name, loop)
    return len(one.path) == (2 if _is_numbered(index, loop) else 1) and not _pairs_up(index, loop)


def _is_row(index: SemanticIndex, name: ast.Name, loop: ast.For) -> bool:
    bindings = index.flow.reaching(name)
    one = bindings[0] if len(bindings) == 1 and bindings[0].statement is loop else None
    return one is not None and len(one.path) == (1 if _is_numbered(index, loop) else 0)


def _is_numbered(index: SemanticIndex, loop: ast.For) -> bool:
    return isinstance(loop.iter, ast.Call) and index.qualified_name(loop.iter.func) == "builtins.enumerate"


def _pairs_up(index: SemanticIndex, loop: ast.For) -> bool:
    """Whether a loop goes through what a dictionary holds, or through several lists: `for key, value in d.items()`."""
    source = loop.iter
    if isinstance(source, ast.Call) and index.qualified_name(source.func) == "builtins.enumerate" and source.args:
        source = source.args[0]
    method = source.func if isinstance(source, ast.Call) else None
    return isinstance(method, ast.Attribute) and method.attr in ("items", "named_parameters")
