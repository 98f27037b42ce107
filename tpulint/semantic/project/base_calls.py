"""What base classes of other files call of the methods that a file gives their derived classes.

``for batch in self.loader: self.loss(batch)`` of a trainer runs the ``loss`` of every class that is derived from it.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator

from tpulint.semantic.project.derived_steps import leaves_update
from tpulint.semantic.project.described_calls import described_call
from tpulint.semantic.project.other_files import Definition, bases_above
from tpulint.semantic.project.outgoing import turn_of
from tpulint.semantic.project.outside import STEP
from tpulint.semantic.syntax.nodes import FUNCTIONS, LOOPS, FunctionNode
from tpulint.semantic.values.value import Kind, Side

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex
    from tpulint.semantic.project.outside import OutsideCall

_ON_DEVICE = ("", Kind.DEVICE.name, Side.DEVICE.name)
"""What says that the base class puts on a device what the object keeps."""
_PUTS_ON_DEVICE = ("cuda", "device", "accelerat", "fabric", ".to(")
"""Words of such a class; a step boundary alone, which a fix may have brought, is none of them."""


def calls_of_bases(index: SemanticIndex) -> tuple[OutsideCall, ...]:
    """The calls that turns of loops make, each once."""
    found: dict[OutsideCall, None] = {}
    for owner in index.tree.classes if index.imported.knows_others else ():
        own = {
            item.name: Definition(index, item)
            for item in owner.body
            if isinstance(item, FUNCTIONS) and not _has_step(index, item)
        }
        for base in bases_above(Definition(index, owner)) if own else ():
            found.update(dict.fromkeys(_calls(base, own)))
    return tuple(found)


def _has_step(index: SemanticIndex, method: FunctionNode) -> bool:
    return "backward" in index.tree.text(method) and not leaves_update(index.regions.events, method)


def _calls(base: Definition, own: dict[str, Definition]) -> Iterator[OutsideCall]:
    """The calls that the methods of a base class make of these methods."""
    file = base.file
    if not isinstance(base.node, ast.ClassDef) or not (file.has_turn_loops or "step(" in file.source.text):
        return
    for call in file.tree.nodes_in(base.node, ast.Call):
        func = call.func if isinstance(call, ast.Call) else None
        if not isinstance(func, ast.Attribute) or func.attr not in own or not isinstance(func.value, ast.Name):
            continue
        within = file.tree.function_of(func)
        if within is None or not within.args.args or within.args.args[0].arg != func.value.id:
            continue
        assert isinstance(call, ast.Call)
        turn = turn_of(file, call) if file.has_turn_loops else None
        is_half = turn is None and _is_updated(file, call)
        if is_half:
            turn = STEP if leaves_update(own[func.attr].file.regions.events, own[func.attr].node) else None  # type: ignore[arg-type]
        if turn is not None:
            made = described_call(file, call, own[func.attr], turn).call
            made = made._replace(caller=os.path.basename(file.source.path)) if is_half else made  # it has no step alone
            is_there = file.kinds.mentions_device and file.source.has_any(_PUTS_ON_DEVICE)
            yield made._replace(arguments=(*made.arguments, _ON_DEVICE)) if is_there else made


def _is_updated(file: SemanticIndex, call: ast.Call) -> bool:
    """Whether the loop around a call updates what somebody else has run the backward pass of."""
    holder = file.own_events.holder_of(call)
    events = file.own_events.of(holder) if isinstance(holder, LOOPS) else None
    return events is not None and bool(events.updates or events.candidates) and not events.backwards
