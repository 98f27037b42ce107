"""Samples of a batch that a turn chooses, or puts into groups, by a value of each: as many as there happen to be."""

from __future__ import annotations

import ast

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_MEMBERS = (ast.Is, ast.IsNot, ast.In, ast.NotIn)
_SAMPLERS = ("ampler",)
"""In files that name one, which may see to it that there are as many samples of each class."""


def asks_of_sample(index: SemanticIndex, test: ast.expr, made: ast.comprehension) -> bool:
    """Whether a condition asks for the value of one sample of a batch: ``labels[i] > 0``, ``label == 1``.

    The samples are gone through by ``enumerate(labels)`` or ``zip(rows, labels)``, or by their places.
    """
    if not isinstance(test, ast.Compare) or isinstance(test.ops[0], _MEMBERS) or index.source.has_any(_SAMPLERS):
        return False
    asked = test.left.args[0] if isinstance(test.left, ast.Call) and len(test.left.args) == 1 else test.left
    while isinstance(asked, ast.Call) and isinstance(asked.func, ast.Attribute) and asked.func.attr == "item":
        asked = asked.func.value
    source: ast.expr | None = None
    if isinstance(asked, ast.Subscript) and isinstance(asked.slice, ast.Name):
        counted = [part.id for part in ast.walk(made.target) if isinstance(part, ast.Name)]
        source = asked.value if asked.slice.id in counted else None
    elif isinstance(asked, ast.Name):
        source = _gone_through_as(asked.id, made.target, made.iter)
    return isinstance(source, ast.Name) and _is_given_by_turn(index, source)


def _is_given_by_turn(index: SemanticIndex, node: ast.Name) -> bool:
    """Whether the loop of the turns itself deals out a variable, a part of the batch, or a turn draws the batch."""
    from tpulint.semantic.batches.batch_measures import gives_batch

    bindings, turns = index.flow.reaching(node), index.turn_code
    return bool(bindings) and all(
        bool(one.path)
        and (
            one.statement in turns.loops
            if one.kind == "loop"
            else isinstance(one.value, ast.Call) and gives_batch(one.value) and turns.turn_of(one.value) is not None
        )
        for one in bindings
    )


def key_of_samples(index: SemanticIndex, groups: ast.Name) -> ast.expr | None:
    """By what a turn puts the samples of its batch into lists: ``groups[label].append(x)``."""
    bindings = index.flow.reaching(groups)
    made = bindings[0].value if len(bindings) == 1 and bindings[0].kind == "assign" else None
    is_dict = isinstance(made, ast.Dict) or (
        isinstance(made, ast.Call) and index.qualified_name(made.func) in ("collections.defaultdict", "builtins.dict")
    )
    if not is_dict or index.turn_code.turn_of(bindings[0].statement) is None or index.source.has_any(_SAMPLERS):
        return None
    for use in index.names.loads(groups.id, bindings[0].scope):
        held = index.parent(use)
        key = held.slice if isinstance(held, ast.Subscript) else None
        method = None if held is None else index.parent(held)
        if key is None or not isinstance(method, ast.Attribute) or method.attr != "append":
            continue
        if any(_is_value_of_sample(index, part) for part in (key, *index.tree.inside(key))):
            return key
    return None


def _is_value_of_sample(index: SemanticIndex, node: ast.AST) -> bool:
    """Whether an inner loop takes a value of each sample: ``label`` of ``for label in labels``, ``labels[i]``."""
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and isinstance(node.slice, ast.Name):
        counted = index.flow.reaching(node.slice)
        in_loop = bool(counted) and all(
            one.kind == "loop" and one.statement not in index.turn_code.loops for one in counted
        )
        return in_loop and _is_given_by_turn(index, node.value)
    bindings = index.flow.reaching(node) if isinstance(node, ast.Name) else ()
    loop = bindings[0].statement if len(bindings) == 1 else None
    if not isinstance(node, ast.Name) or not isinstance(loop, ast.For) or loop in index.turn_code.loops:
        return False
    source = _gone_through_as(node.id, loop.target, loop.iter)
    return isinstance(source, ast.Name) and _is_given_by_turn(index, source)


def _gone_through_as(name: str, target: ast.expr, source: ast.expr) -> ast.expr | None:
    """What a loop goes through under a name: ``labels`` for ``y`` in ``for i, y in enumerate(labels)``."""
    if isinstance(target, ast.Name):
        return source if target.id == name else None
    if not isinstance(target, ast.Tuple) or not isinstance(source, ast.Call) or not isinstance(source.func, ast.Name):
        return None
    parts = list(zip(target.elts, source.args, strict=False)) if source.func.id == "zip" else []
    if source.func.id == "enumerate" and len(target.elts) == 2 and len(source.args) == 1:
        parts = [(target.elts[1], source.args[0])]
    return next((found for part, given in parts if (found := _gone_through_as(name, part, given)) is not None), None)
