"""Devices that a class gives names to, of an enumeration or not: ``class Device(str, Enum): CUDA = "cuda"``."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.semantic.cuda.cuda_features import branch_bodies
from tpulint.semantic.devices.device_flow import DeviceFlow

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex
    from tpulint.semantic.devices.placement import Placement

_GPU_NAMES = ("cuda", "gpu")
_XLA_NAMES = ("xla", "tpu")
_VALUE = "value"


class DeviceMembers:
    """Names for devices that classes hold, as one file writes or reads them."""

    def __init__(self, index: SemanticIndex, flow: DeviceFlow, placement: Placement) -> None:
        self._index = index
        self._tree = index.tree
        self._flow = flow
        self._placement = placement

    def holds(self, text: ast.expr) -> bool:
        """Whether a text is the value of a member that this file takes for a device: ``device = Device.CUDA``."""
        statement = self._tree.parents[text]
        owner = self._tree.parents[statement] if isinstance(statement, ast.Assign | ast.AnnAssign) else None
        if not isinstance(owner, ast.ClassDef) or _names_xla(owner):
            return False
        names = (name for name, value in _members(owner) if value is text)
        reads = (load for name in names for load in self._flow.variables.loads(("attribute", None, name)))
        return any(
            isinstance(load, ast.Attribute)
            and self._index.names.class_named(load.value) is owner
            and self._is_taken_for_device(load)
            for load in reads
        )

    def is_chosen_by(self, question: ast.expr) -> bool:
        """Whether a GPU gets the member of a class of another file: ``device = Device.CUDA`` under the question.

        What that member is, is decided there: answered with yes, the question would let the program ask for a GPU.
        """
        return any(map(self._is_of_other_file, self._chosen_by(question)))

    def _chosen_by(self, question: ast.expr) -> Iterator[ast.expr]:
        """What the branches under a question, or under a variable that holds its answer, give a name or return."""
        root = self._placement.root(question)
        holder = self._tree.parents[root]
        named = holder.targets[0] if isinstance(holder, ast.Assign) and len(holder.targets) == 1 else None
        loads = self._index.names.loads_of(named) if isinstance(named, ast.Name) else []
        for test in (root, *map(self._placement.root, loads)):
            choice = self._tree.parents[test]
            if isinstance(choice, ast.IfExp) and choice.test is test:
                yield from (choice.body, choice.orelse)
            elif isinstance(choice, ast.If) and choice.test is test:
                suite = self._tree.suite_of(choice) if isinstance(choice.body[-1], ast.Return) else []
                for item in (*choice.body, *branch_bodies(choice.orelse), *suite):
                    value = item.value if isinstance(item, ast.Assign | ast.AnnAssign | ast.Return) else None
                    if value is not None:
                        yield value

    def _is_of_other_file(self, value: ast.expr) -> bool:
        member = value.value if isinstance(value, ast.Attribute) and value.attr == _VALUE else value
        if not isinstance(member, ast.Attribute) or member.attr.lower() not in _GPU_NAMES:
            return False
        holder = member.value
        if not self._is_imported(holder) or not self._is_taken_for_device(member):
            return False
        definition = self._index.imported.definition(holder)
        if definition is None or not isinstance(definition.node, ast.ClassDef):
            return True  # nobody knows
        given = [value for name, value in _members(definition.node) if name == member.attr]
        return not given or any(definition.file.devices.flow.cuda_index(item) is not None for item in given)

    def _is_imported(self, holder: ast.expr) -> bool:
        root = holder
        while isinstance(root, ast.Attribute):
            root = root.value
        bindings = self._index.names.bindings(root) if isinstance(root, ast.Name) else []
        return bool(bindings) and all(binding.kind == "import" for binding in bindings)

    def _is_taken_for_device(self, member: ast.expr) -> bool:
        """Whether a member, or the ``value`` of it or of one of several, says where something lives."""
        read = self._tree.parents[member]
        while isinstance(read, ast.IfExp) and read.test is not member:
            read = self._tree.parents[read]
        whole = read if isinstance(read, ast.Attribute) and read.attr == _VALUE else member
        return self._flow.is_device_place(self._flow.places.of(whole))


def _members(owner: ast.ClassDef) -> Iterator[tuple[str, ast.expr]]:
    """The names that the body of a class gives a value, and what they are given."""
    for item in owner.body:
        if isinstance(item, ast.Assign | ast.AnnAssign) and item.value is not None:
            targets = item.targets if isinstance(item, ast.Assign) else [item.target]
            yield from ((target.id, item.value) for target in targets if isinstance(target, ast.Name))


def _names_xla(owner: ast.ClassDef) -> bool:
    """Whether a class has a name for the XLA device beside the others."""
    return any(isinstance(value, ast.Constant) and value.value in _XLA_NAMES for _, value in _members(owner))
