"""Numbers of GPUs that a parent hands to the processes it starts."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from tpulint.semantic.tree import FunctionNode

if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex
    from tpulint.semantic.launches import Launch

_JOIN_GROUP = "torch.distributed.init_process_group"


class Handover(NamedTuple):
    """One number of GPUs that launched functions get, as an argument or in a namespace such as ``args``."""

    item: ast.expr
    """What stands in the launch's ``args``."""
    parameters: tuple[tuple[FunctionNode, ast.arg], ...]
    """The parameter it arrives in, for each function that may be launched."""
    attribute: str = ""
    """Attribute of the item that holds the number; empty when the item is the number."""

    @property
    def is_whole(self) -> bool:
        """Whether the item is the number and nothing else."""
        return not self.attribute


def handovers(index: SemanticIndex, launch: Launch) -> list[Handover] | None:
    """All numbers of GPUs handed over by a launch; None when it cannot be told where one arrives."""
    counts = index.device_counts
    passed = launch.passed
    if passed is None:
        return None
    found: list[Handover] = []
    for at, item in enumerate(passed):
        attributes = [""] if counts.is_count(item) else _counted_attributes(index, item)
        if not attributes:
            continue
        parameters = [(function, _parameter(function, at)) for function in launch.functions]
        known = tuple((function, parameter) for function, parameter in parameters if parameter is not None)
        if not known or len(known) < len(parameters):
            return None
        found.extend(Handover(item, known, attribute) for attribute in attributes)
    return found


def _parameter(function: FunctionNode, position: int) -> ast.arg | None:
    parameters = [*function.args.posonlyargs, *function.args.args]
    return parameters[position + 1] if position + 1 < len(parameters) else None


def _counted_attributes(index: SemanticIndex, item: ast.expr) -> list[str]:
    """Attributes of a namespace that the file sets to a number of GPUs."""
    if not isinstance(item, ast.Name):
        return []
    return list(dict.fromkeys(
        node.attr for node in index.tree.attributes
        if isinstance(node.ctx, ast.Store) and isinstance(node.value, ast.Name) and node.value.id == item.id
        and index.device_counts.is_count(node)
    ))  # fmt: skip


def is_needed(index: SemanticIndex, handover: Handover, function: FunctionNode, parameter: ast.arg) -> bool:
    """Whether a launched function uses the number for more than joining the process group."""
    if handover.is_whole:
        scope = index.names.scope_of(parameter)
        loads: Sequence[ast.expr] = index.names.loads(parameter.arg, scope)
    else:
        loads = [node for node in _attribute_loads(index, handover.attribute) if index.launches.launch_of(node) is not None]
    return any(not _joins_group(index, load) for load in loads)


def _joins_group(index: SemanticIndex, load: ast.expr) -> bool:
    keyword = index.parent(load)
    call = index.parent(keyword) if isinstance(keyword, ast.keyword) else None
    if not isinstance(keyword, ast.keyword) or keyword.arg != "world_size":
        return False
    return isinstance(call, ast.Call) and index.qualified_name(call.func) == _JOIN_GROUP


def unread_counts(index: SemanticIndex, gone: Sequence[ast.AST]) -> list[ast.stmt]:
    """Assignments of a number of GPUs that nothing reads any more once these nodes are gone."""
    unread: list[ast.stmt] = []
    grown = True
    while grown:
        grown = False
        for statement in _count_assignments(index):
            if statement in unread:
                continue
            loads = _loads(index, statement)
            if loads and all(any(index.tree.encloses(outer, load) for outer in (*gone, *unread)) for load in loads):
                unread.append(statement)
                grown = True
    return unread


def _count_assignments(index: SemanticIndex) -> list[ast.Assign]:
    """Assignments ``n = torch.cuda.device_count()``, and of that number to other names, outside of launched functions."""
    nodes: list[ast.Name | ast.Attribute] = [*index.tree.names, *index.tree.attributes]
    statements = [index.parent(node) for node in nodes if isinstance(node.ctx, ast.Store)]
    return [
        statement for statement in statements
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1
        and _is_plain(index, statement.value) and index.launches.launch_of(statement) is None
    ]  # fmt: skip


def _is_plain(index: SemanticIndex, value: ast.expr) -> bool:
    """Whether a count is read off without doing anything else that matters."""
    plain = value in index.device_counts.calls or isinstance(value, ast.Name | ast.Attribute)
    return plain and index.device_counts.is_count(value)


def _loads(index: SemanticIndex, statement: ast.Assign) -> Sequence[ast.expr]:
    target = statement.targets[0]
    if isinstance(target, ast.Name):
        found = index.names.find(target.id, index.names.scope_of(target))
        if found is None or len(found[1]) != 1:
            return []
        return index.names.loads(target.id, found[0])
    assert isinstance(target, ast.Attribute)
    if len(index.device_counts.attribute_stores(target)) != 1:
        return []
    # Launched processes get their own number; only reads in the parent count.
    return [node for node in _attribute_loads(index, target.attr) if index.launches.launch_of(node) is None]


def _attribute_loads(index: SemanticIndex, attribute: str) -> list[ast.Attribute]:
    return [node for node in index.tree.attributes if node.attr == attribute and isinstance(node.ctx, ast.Load)]


def is_read_once(index: SemanticIndex, function: FunctionNode) -> bool:
    """Whether the launch is all that the function is there for."""
    return len(index.names.loads(function.name, index.names.scope_of(function))) == 1
