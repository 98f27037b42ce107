"""Training steps that classes of a file put in the place of methods without a body, of base classes in other files.

``while not done: ...; self.learn()`` of an agent trains, where every agent that is derived from it has a ``learn``.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator

from tpulint.semantic.functions.definitions import is_abstract
from tpulint.semantic.project.other_files import Definition, bases_above
from tpulint.semantic.project.outside import NOW_AND_THEN, OutgoingCall, OutsideCall, qualified_in_file
from tpulint.semantic.syntax.nodes import FUNCTIONS, FunctionNode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex
    from tpulint.semantic.loops.events import EventMap


def derived_steps(index: SemanticIndex) -> Iterator[OutgoingCall]:
    """Tell the files of the base classes which of their methods are steps in classes of this file."""
    if not index.imported.knows_others or "backward" not in index.source.text:
        return
    events = index.regions.events
    caller = os.path.basename(index.source.path)
    for owner in index.tree.classes:
        own = [item for item in owner.body if isinstance(item, FUNCTIONS)] if owner.bases else []
        steps = {item: False for item in own if events.have_step and index.regions.trains_once(item)}
        steps.update((item, True) for item in own if leaves_update(events, item))
        for base in bases_above(Definition(index, owner)) if steps else ():
            for step, is_half in steps.items():
                name = _name_replaced(base, step.name, is_half)
                if name is not None:
                    ends = bool(index.regions.boundaries_in(step))
                    told = OutsideCall(name, NOW_AND_THEN, False, ends, (), caller, replaces=True)
                    if is_half:
                        told = told._replace(leaves_update=True, trains_on_device=index.kinds.mentions_device)
                    yield OutgoingCall(base.file.source.path, told)


def leaves_update(events: EventMap, method: FunctionNode) -> bool:
    """Whether a method runs a backward pass, and no update: ``self.optimizer.step()`` stands where it is called."""
    found = events.of(method)
    return bool(found.backwards) and not (found.updates or found.manual_updates or found.candidates)


def _name_replaced(base: Definition, name: str, is_half: bool) -> str | None:
    """By what name the file of a base class knows a method that does nothing there, or that it only calls."""
    assert isinstance(base.node, ast.ClassDef)
    for item in base.node.body:
        if isinstance(item, FUNCTIONS) and item.name == name:
            return qualified_in_file(base.file.tree, item) if is_abstract(item) else None
    calls = base.file.tree.attributes_called(name) if is_half else ()
    return f"{base.node.name}.{name}" if any(base.file.tree.class_of(one) is base.node for one in calls) else None
