"""Devices that other files choose, which this one asks about.

What their functions return, ``device_type = choose_device()``, and what their variables hold, ``config.DEVICE``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from tpulint.semantic.syntax.bindings import Binding, part_of
from tpulint.semantic.syntax.nodes import FUNCTIONS, FunctionNode
from tpulint.semantic.syntax.tree import SyntaxTree
from tpulint.semantic.syntax.variables import says_device

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_DEVICES = ("cuda", "xla")


def returned_values(tree: SyntaxTree, function: FunctionNode) -> Iterator[ast.expr]:
    """What a function returns, on any of its ways."""
    for node in tree.inside(function, functions=False):
        if isinstance(node, ast.Return) and node.value is not None:
            yield node.value


def gives_device(index: SemanticIndex, call: ast.Call, path: tuple[int, ...]) -> bool:
    """Whether a function of another file returns a device, at a place of a tuple, that it calls by CUDA's name.

    That of XLA counts as well: the other file may be ported by now. Where it may be either, what is compared with it
    stays what it is.
    """
    if not index.imported.knows_others:
        return False
    known = index.imported.devices_returned
    if (call, path) not in known:
        known[call, path] = False  # files that ask each other
        known[call, path] = _finds(index, call, path)
    return known[call, path]


def holds_device(index: SemanticIndex, node: ast.Name | ast.Attribute) -> bool:
    """Whether a variable of another file holds a device that it calls by CUDA's name, or by that of XLA by now.

    ``config.DEVICE``, ``DEVICE`` of ``from config import DEVICE``, ``cfg.device`` of an object of that file's class.
    """
    if not index.imported.knows_others or not says_device(node.attr if isinstance(node, ast.Attribute) else node.id):
        return False
    known = index.imported.devices_held
    if node not in known:
        known[node] = False  # files that ask each other
        known[node] = any(_binds_device(file, bindings) for file, bindings in _variables(index, node))
    return known[node]


def _variables(index: SemanticIndex, node: ast.Name | ast.Attribute) -> Iterator[tuple[SemanticIndex, list[Binding]]]:
    """The bindings, each with its file, of the variable that a name, or an attribute, of another file is."""
    found = index.imported.variable(node)
    if found is not None:
        file, name = found
        yield file, file.names.bindings_in(file.names.module, name)
    elif isinstance(node, ast.Attribute):
        named = index.imported.definition(node.value)
        owners = index.imported.classes_of(node.value) if named is None else (named,)
        kept = None if owners else index.imported.variable(node.value)  # `from config import cfg`
        if kept is not None:
            file, name = kept
            values = [binding.value for binding in file.names.bindings_in(file.names.module, name)]
            owners = file.imported.classes_here(values[0], file) if len(values) == 1 and values[0] is not None else ()
        for owner in owners:
            if isinstance(owner.node, ast.ClassDef):
                names = owner.file.names
                fields = names.bindings_in(names.scope_of(owner.node.body[0]), node.attr)
                yield owner.file, [*fields, *names.attribute_bindings(owner.node, node.attr)]


def _binds_device(file: SemanticIndex, bindings: Sequence[Binding]) -> bool:
    values = [binding.value for binding in bindings if binding.kind == "assign" and not binding.path]
    return _names_device(file, [value for value in values if value is not None], values)


def _finds(index: SemanticIndex, call: ast.Call, path: tuple[int, ...]) -> bool:
    made = index.imported.called(call)
    if made is None or not isinstance(made.node, FUNCTIONS):
        return False
    values = [part_of(value, path) for value in returned_values(made.file.tree, made.node)]
    return _names_device(made.file, [value for value in values if value is not None], [made.node])


def _names_device(file: SemanticIndex, given: list[ast.expr], within: Sequence[ast.AST | None]) -> bool:
    """Whether one of these values of a file names a device of CUDA, or of XLA without a word of CUDA's where it is."""
    if not given or not file.source.has_any(_DEVICES):
        return False
    named = [value for value in given if file.devices.flow.derives(value)]
    if named:
        return not file.guards.knows_xla() and all(_is_device_there(file, value) for value in named)
    inside = (item for node in within if node is not None for item in (node, *file.tree.inside(node)))
    names_cuda = any(isinstance(item, ast.Constant) and str(item.value) == "cuda" for item in inside)
    return any(map(file.xla_devices.is_device, given)) and not names_cuda


def _is_device_there(file: SemanticIndex, value: ast.expr) -> bool:
    """Whether the file of a function takes what it returns for a device itself: only then is it named anew there."""
    if isinstance(value, ast.Call) and gives_device(file, value, ()):
        return True  # it hands on what a third file chooses
    if isinstance(value, ast.Name | ast.Attribute) and holds_device(file, value):
        return True
    if not file.devices.sites:
        return False
    flow = file.devices.flow
    if isinstance(value, ast.Call) and file.qualified_name(value.func) == "torch.device":
        return True
    if any(flow.is_device_variable(key) for key in flow.variables.keys_of(value)):
        return True
    return flow.is_device_place(flow.places.of(value))
