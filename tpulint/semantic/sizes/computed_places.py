"""Places that are one number on the device, computed in the turn: each value is read, and a graph of its own."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tpulint.semantic.loops.numbered_turns import numbers_turns
from tpulint.semantic.syntax.bindings import Binding
from tpulint.semantic.syntax.variables import last_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_LABELS = r"(?i)(?:.*_)?(?:labels?|targets?|classes|cls)(?:_.*)?"
"""What holds one number for each sample, if nothing else is known of it."""
_OF_SAMPLES = r"(?i)len\(.*\)|.*\.size\(0\)|.*\.shape\[0\]|.*batch.*|bs|b"
"""How many samples a batch has, as it is written."""
_WITH_DIMENSIONS = frozenset({"unsqueeze", "view", "reshape", "expand", "repeat"})


def indices_of(node: ast.Subscript) -> list[ast.expr]:
    """What stands in the brackets, one for each dimension."""
    return node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]


def computed_places(index: SemanticIndex) -> Iterator[ast.expr]:
    """All of them in code that runs in turns."""
    for node in index.turn_code.nodes(ast.Subscript) if index.turn_code.exists else ():
        items = indices_of(node)
        found = [item for item in items if is_computed_place(index, item) or is_written_by_label(index, node, item)]
        yield from found if found and index.is_device_tensor(node.value) else ()


def is_computed_place(index: SemanticIndex, item: ast.expr) -> bool:
    """``scores.argmax()``, an element of a row: of no dimensions, and the same in no two turns."""
    if isinstance(item, ast.Attribute | ast.Slice) or not index.is_device_tensor(item):
        return False
    if index.dimensions.of(item) != 0:
        return False
    bindings = index.flow.reaching(item) if isinstance(item, ast.Name) else ()
    return all(_is_of_turn(index, binding.statement) for binding in bindings)


def is_written_by_label(index: SemanticIndex, node: ast.Subscript, item: ast.expr) -> bool:
    """Whether a place is by its name the label of a sample, each of which changes what is kept of its class.

    ``for feature, label in zip(features, labels): centers[label] = 0.9 * centers[label] + 0.1 * feature``, or
    ``for i in range(len(labels)): centers[labels[i]] += features[i]``.
    """
    if not isinstance(item, ast.Name | ast.Subscript) or not index.is_device_tensor(item):
        return False
    loop, text = _loop_over_labels(index, item), index.text(node)
    if loop is None or index.dimensions.of(item) is not None:
        return False
    written = (part for part in index.tree.nodes_in(loop, ast.Subscript) if isinstance(part.ctx, ast.Store))
    return any(index.text(part) == text for part in written)


def computed_shift(index: SemanticIndex, call: ast.Call) -> ast.expr | None:
    """The read of what the turn has computed, in a shift: ``torch.roll(x, -int(places[i]), -1)``."""
    name = index.qualified_name(call.func)
    is_method = name is None and isinstance(call.func, ast.Attribute) and call.func.attr == "roll"
    if name != "torch.roll" and not is_method:
        return None
    for size in index.graph_numbers.sizes(call):
        for read in index.reads.inside(size):
            whole = read.tensor
            while isinstance(whole, ast.Subscript):
                whole = whole.value
            bindings = index.flow.reaching(whole) if isinstance(whole, ast.Name) else ()
            if bindings and all(b.kind == "assign" and _is_of_turn(index, b.statement) for b in bindings):
                return read.node
    return None


def _loop_over_labels(index: SemanticIndex, item: ast.Name | ast.Subscript) -> ast.AST | None:
    """The loop whose turns take one label each, of which an index is that of the turn."""
    bindings = index.flow.reaching(item) if isinstance(item, ast.Name) else ()
    if bindings and all(_is_label_drawn(index, binding) for binding in bindings):
        return bindings[0].statement
    taken: ast.expr | None = item
    if isinstance(item, ast.Name):
        taken = bindings[0].value if len(bindings) == 1 and bindings[0].kind == "assign" else None
    name = bindings[0].name if bindings else ""
    if not isinstance(taken, ast.Subscript) or (bindings and bindings[0].path):
        return None
    return index.tree.loop_of(taken) if _is_label_taken(index, taken, name) else None


def _is_label_taken(index: SemanticIndex, taken: ast.Subscript, name: str) -> bool:
    """Whether a turn takes the label of a sample by its number: ``label = labels[i]``."""
    whole = taken.value
    if not isinstance(whole, ast.Name | ast.Attribute) or not index.is_device_tensor(whole):
        return False
    counted = index.flow.reaching(taken.slice) if isinstance(taken.slice, ast.Name) else ()
    if not counted or not all(_numbers_samples(index, binding) for binding in counted):
        return False
    if any(one.kind == "loop" for one in index.flow.bindings_of(whole)):
        return False  # what one sample has
    return any(re.fullmatch(_LABELS, one) for one in (name, last_name(whole)))


def _numbers_samples(index: SemanticIndex, binding: Binding) -> bool:
    """Whether a loop numbers the samples of a batch: to the length of something, or what is called the batch's."""
    counted = binding.value
    if not isinstance(counted, ast.Call) or not counted.args or not numbers_turns(index, binding):
        return False
    is_range = index.qualified_name(counted.func) == "builtins.range"
    return not is_range or re.fullmatch(_OF_SAMPLES, index.text(counted.args[-1])) is not None


def _is_label_drawn(index: SemanticIndex, binding: Binding) -> bool:
    pairs = binding.value if binding.kind == "loop" else None
    if not isinstance(pairs, ast.Call) or index.qualified_name(pairs.func) != "builtins.zip" or len(binding.path) != 1:
        return False
    at = binding.path[0]
    if not 0 <= at < len(pairs.args) or not all(map(index.is_device_tensor, pairs.args)):
        return False
    whole = pairs.args[at]
    if isinstance(whole, ast.Subscript) and isinstance(whole.slice, ast.Name | ast.Slice):
        whole = whole.value  # some of the samples
    if any(one.kind == "loop" for one in index.flow.bindings_of(whole)):
        return False  # what one sample has, of which another may have more: a list
    is_call = isinstance(whole, ast.Call) and last_name(whole.func) not in _WITH_DIMENSIONS
    if not is_call and not isinstance(whole, ast.Name | ast.Attribute):
        return False
    return any(re.fullmatch(_LABELS, name) for name in (binding.name, last_name(whole)))


def _is_of_turn(index: SemanticIndex, statement: ast.AST) -> bool:
    """Whether every turn gives a variable its value: in its code, or as the loop goes on."""
    return statement in index.turn_code.loops or index.turn_code.turn_of(statement) is not None
