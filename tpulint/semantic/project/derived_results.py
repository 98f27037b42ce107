"""Objects that classes of a file return from the methods that their base classes, of other files, only ask for.

``self.loss = self.make_loss()`` of a trainer keeps what ``make_loss`` of the trainer that is derived from it returns.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator

from tpulint.semantic.functions.definitions import is_abstract
from tpulint.semantic.project.described_calls import classes_of
from tpulint.semantic.project.other_files import Definition, bases_above
from tpulint.semantic.project.outside import NOW_AND_THEN, RESULT, OutgoingCall, OutsideCall, qualified_in_file
from tpulint.semantic.syntax.nodes import FUNCTIONS, FunctionNode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex


def derived_results(index: SemanticIndex) -> Iterator[OutgoingCall]:
    """Tell the files of the base classes of what classes the results are that methods of this file give for them."""
    if not index.imported.knows_others:
        return
    caller = os.path.basename(index.source.path)
    for owner in index.tree.classes:
        own = {item.name: item for item in owner.body if isinstance(item, FUNCTIONS)} if owner.bases else {}
        for base in bases_above(Definition(index, owner)) if own else ():
            assert isinstance(base.node, ast.ClassDef)
            for asked in base.node.body:
                if not isinstance(asked, FUNCTIONS) or asked.name not in own or not is_abstract(asked):
                    continue
                classes = tuple(dict.fromkeys(_classes_returned(index, own[asked.name])))
                if classes:
                    name = qualified_in_file(base.file.tree, asked)
                    told = OutsideCall(name, NOW_AND_THEN, False, False, (), caller, classes=classes)
                    yield OutgoingCall(base.file.source.path, told)


def _classes_returned(index: SemanticIndex, method: FunctionNode) -> Iterator[tuple[str, str, str]]:
    """The classes of what a method returns, whole or at a place, with the files of these."""
    for value in index.definitions.returned_by(method):
        parts = value.elts if isinstance(value, ast.Tuple) else [value]
        for at, part in enumerate(parts):
            path = (at,) if isinstance(value, ast.Tuple) else ()
            yield from ((RESULT.format(path), *made) for made in classes_of(index, part))
