"""Properties of objects of other files that a turn reads: ``print(net.best)``, which runs a function there."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator

from tpulint.semantic.project.other_files import methods
from tpulint.semantic.project.outside import STEP, OutgoingCall, OutsideCall, qualified_in_file
from tpulint.semantic.syntax.nodes import FUNCTIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex


def properties_read(index: SemanticIndex) -> Iterator[OutgoingCall]:
    """The functions that are run so, in every turn, as calls of which the other files are told."""
    caller = os.path.basename(index.source.path)
    for node in index.turn_code.nodes(ast.Attribute) if index.imported.knows_others else ():
        is_read = isinstance(node.ctx, ast.Load) and isinstance(node.value, ast.Name | ast.Attribute)
        parent = index.parent(node)
        if not is_read or (isinstance(parent, ast.Call) and parent.func is node):
            continue
        for one in methods(index.imported.classes_of(node.value), node.attr):
            turn = index.turn_code.turn_of(node)
            if turn is None or not isinstance(one.node, FUNCTIONS):
                continue
            if one.node in one.file.definitions.properties(node.attr):
                step = index.step_loop_of(node) if turn == STEP else None
                is_behind = step is not None and index.boundaries.is_behind(node, step)
                name = qualified_in_file(one.file.tree, one.node)
                has_boundary = step is not None and bool(step.boundaries)
                yield OutgoingCall(one.file.source.path, OutsideCall(name, turn, is_behind, has_boundary, (), caller))
