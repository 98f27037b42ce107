"""Reads of ``model.module``, which is there as long as a wrapper of the model is."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator

from tpulint.semantic.project.other_files import Definition, bases_above
from tpulint.semantic.project.outside import NOW_AND_THEN, OutgoingCall, OutsideCall
from tpulint.semantic.syntax.variables import is_configuration, last_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_WRAPPER = "DataParallel"
_TOLD = "torch.nn.DataParallel"
"""What is called in a file that another one, which reads ``.module``, may have its model from."""
_MOST_FILES = 60
"""Files of a project that are looked through."""


def unwrapped(index: SemanticIndex) -> list[ast.Attribute]:
    """Reads of ``.module`` of whatever it may be."""
    uses = [node for node in index.tree.attributes_called("module") if isinstance(node.ctx, ast.Load)]
    return [node for node in uses if index.qualified_name(node) is None]


def asks_first(index: SemanticIndex, use: ast.Attribute) -> bool:
    """Whether a condition looks at the wrapper before: ``m.module if isinstance(m, nn.DataParallel) else m``."""
    for ancestor in index.tree.ancestors(use):
        if isinstance(ancestor, ast.If | ast.IfExp):
            test = index.tree.text(ancestor.test)
            if _WRAPPER in test or "hasattr" in test or index.device_counts.answer(ancestor.test) is True:
                return True
    return False


def is_unwrapped_elsewhere(index: SemanticIndex) -> bool:
    """Whether another file reads ``model.module``: one that imports this file, or one that this file imports."""
    if any(call.function == _TOLD for call in index.outside):
        return True
    return any(_comes_from_elsewhere(file, use) for file in _files_below(index) for use in unwrapped(file))


def files_unwrapped(index: SemanticIndex) -> Iterator[OutgoingCall]:
    """Files that may have wrapped a model of which this one, that imports them, reads ``.module``.

    A base class may read it for this file, ``getattr(self, "net" + name).module`` of what the class here makes.
    """
    if not index.imported.knows_others:
        return
    if not any(_comes_from_elsewhere(index, use) for use in unwrapped(index)) and not _is_unwrapped_by_bases(index):
        return
    caller = os.path.basename(index.source.path)
    for file in _files_below(index):
        if f"{_WRAPPER}(" in file.source.text:
            yield OutgoingCall(file.source.path, OutsideCall(_TOLD, NOW_AND_THEN, False, False, (), caller))


def _is_unwrapped_by_bases(index: SemanticIndex) -> bool:
    """Whether a class of another file, that one of this file is derived from, reads ``.module`` of a model."""
    if not any(f"{_WRAPPER}(" in file.source.text for file in _files_below(index)):
        return False
    bases = dict.fromkeys(base for owner in index.tree.classes for base in bases_above(Definition(index, owner)))
    return any(
        base.file.tree.encloses(base.node, use) and _comes_from_elsewhere(base.file, use)
        for base in bases
        for use in unwrapped(base.file)
    )


def _files_below(index: SemanticIndex) -> list[SemanticIndex]:
    """Files that a file imports, itself or through others."""
    files = [index]
    for file in files:  # grows while it is walked
        found = dict.fromkeys(file.imported.files(anywhere=True))
        files += [other for other in found if other not in files][: _MOST_FILES - len(files)]
    return files[1:]


def _comes_from_elsewhere(index: SemanticIndex, use: ast.Attribute) -> bool:
    """Whether a model may be one that another file has wrapped, and is not by this one."""
    if asks_first(index, use) or _is_own(index, use) or is_configuration(last_name(use.value)):
        return False
    values = [binding.value for binding in index.flow.bindings_of(use.value)]
    return not values or not all(isinstance(value, ast.Call) and _wraps(index, value) for value in values)


def _wraps(index: SemanticIndex, call: ast.Call) -> bool:
    return any(_WRAPPER in last_name(one.func) for one in (call, *index.tree.nodes_in(call, ast.Call)))


def _is_own(index: SemanticIndex, use: ast.Attribute) -> bool:
    """``self.module`` of a class that sets it, or is a wrapper itself."""
    owner = index.tree.class_of(use)
    if owner is None or not isinstance(use.value, ast.Name) or use.value.id != "self":
        return False
    is_wrapper = any("Parallel" in index.tree.text(base) for base in owner.bases)
    return is_wrapper or bool(index.names.attribute_bindings(owner, use.attr))
