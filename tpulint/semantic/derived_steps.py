"""Training steps that classes of a file put in the place of methods without a body, of base classes in other files.

``while not done: ...; self.learn()`` of an agent trains, where every agent that is derived from it has a ``learn``.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator

from tpulint.semantic.definitions import is_abstract
from tpulint.semantic.other_files import Definition, bases_above
from tpulint.semantic.outside import NOW_AND_THEN, OutgoingCall, OutsideCall, qualified_in_file
from tpulint.semantic.tree import FUNCTIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex


def derived_steps(index: SemanticIndex) -> Iterator[OutgoingCall]:
    """Tell the files of the base classes which of their methods are steps in classes of this file."""
    if not index.imported.knows_others or not index.regions.events.have_step:
        return
    caller = os.path.basename(index.source.path)
    for owner in index.tree.classes:
        steps = [item for item in owner.body if isinstance(item, FUNCTIONS) and index.regions.trains_once(item)]
        for base in bases_above(Definition(index, owner)) if steps else ():
            assert isinstance(base.node, ast.ClassDef)
            empty = {item.name: item for item in base.node.body if isinstance(item, FUNCTIONS) and is_abstract(item)}
            for step in steps:
                if step.name in empty:
                    name = qualified_in_file(base.file.tree, empty[step.name])
                    has_boundary = bool(index.regions.boundaries_in(step))
                    told = OutsideCall(name, NOW_AND_THEN, False, has_boundary, (), caller, replaces=True)
                    yield OutgoingCall(base.file.source.path, told)
