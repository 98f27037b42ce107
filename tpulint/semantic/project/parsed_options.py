"""Command line options that one file parses and another uses: ``Trainer(args)``, and there ``args.device``."""

from __future__ import annotations

import ast
import os

from tpulint.semantic.project.other_files import definition_called, returned
from tpulint.semantic.project.outside import qualified_in_file
from tpulint.semantic.syntax.nodes import FUNCTIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex
    from tpulint.semantic.syntax.bindings import Binding

_DECLARES = "add_argument"
_PARSES = ("parse_args", "parse_known_args")
_DEPTH = 8
_ATTRIBUTES = ("__dict__", "vars(")
"""Words of what takes the attributes of an object."""


def file_of_options(index: SemanticIndex, node: ast.expr, depth: int = 0) -> str | None:
    """The absolute path of the file that parses the options which a value holds; None for any other value."""
    known = index.imported.option_files
    if depth > _DEPTH or not isinstance(node, ast.Name | ast.Attribute | ast.Call):
        return None
    if node not in known:
        known[node] = None  # options that come from themselves add nothing
        known[node] = _find(index, node, depth)
    return known[node]


def files_of_options(index: SemanticIndex, node: ast.expr) -> set[str]:
    """The files whose options a value may hold: several, where those that call a function each parse their own."""
    found, seen, rest = set(), set(), [node]
    while rest:
        item = rest.pop()
        one = file_of_options(index, item)
        if one is not None:
            found.add(one)
            continue
        bindings = index.flow.made(item) if isinstance(item, ast.Name) else ()
        if len(bindings) == 1 and bindings[0].kind == "parameter" and bindings[0].node not in seen:
            seen.add(bindings[0].node)
            found |= _told(index, bindings[0])
            rest += _given_here(index, bindings[0])
    return found


def _find(index: SemanticIndex, node: ast.Name | ast.Attribute | ast.Call, depth: int) -> str | None:
    if isinstance(node, ast.Call):
        return _file_of_call(index, node, depth)
    kept = index.imported.variable(node)  # `from options import args`
    if kept is not None:
        return _path(kept[0])
    taken_in = _taken_in(index, node) if isinstance(node, ast.Name) else None
    if taken_in is not None:
        return file_of_options(index, taken_in, depth + 1)
    bindings = index.flow.made(node) if isinstance(node, ast.Name) else index.flow.reaching_attribute(node)
    found = {_file_of_binding(index, binding, depth) for binding in bindings}
    return found.pop() if len(found) == 1 else None


def _taken_in(index: SemanticIndex, name: ast.Name) -> ast.expr | None:
    """What an object has the attributes of: ``args`` of ``self.__dict__.update(vars(args))``, for ``self``."""
    function = index.function_of(name) if index.source.has_any(_ATTRIBUTES) else None
    first = function.args.args[:1] if function is not None and index.tree.class_of(function) else []
    if [argument.arg for argument in first] != [name.id]:
        return None
    owner = index.tree.class_of(name)
    for method in index.tree.attributes_called("update"):
        call = index.parent(method)
        if not isinstance(call, ast.Call) or len(call.args) != 1 or index.tree.class_of(method) is not owner:
            continue
        holder = attributes_in(index, method.value)
        if isinstance(holder, ast.Name) and holder.id == name.id:
            return attributes_in(index, call.args[0])
    return None


def attributes_in(index: SemanticIndex, node: ast.expr) -> ast.expr | None:
    """The object whose attributes a dictionary has: of ``vars(args)`` and ``args.__dict__``."""
    if isinstance(node, ast.Attribute) and node.attr == "__dict__":
        return node.value
    is_call = isinstance(node, ast.Call) and len(node.args) == 1 and index.qualified_name(node.func) == "builtins.vars"
    return node.args[0] if is_call and isinstance(node, ast.Call) else None


def _file_of_binding(index: SemanticIndex, binding: Binding, depth: int) -> str | None:
    if binding.kind == "parameter":
        return _file_given(index, binding, depth)
    value = binding.value
    if value is None or binding.path not in ((), (0,)):  # `args, rest = parser.parse_known_args()`
        return None
    adjusted = value.args if isinstance(value, ast.Call) else []  # `args = backend.adjust(args)`
    same = (item for item in adjusted if isinstance(item, ast.Name) and item.id == binding.name)
    found = (file_of_options(index, item, depth + 1) for item in (value, *same))
    return next((path for path in found if path is not None), None)


def _file_of_call(index: SemanticIndex, call: ast.Call, depth: int) -> str | None:
    """``parser.parse_args()``, and functions that return what they parsed, or what another one did."""
    made = definition_called(index, call)
    if made is None or made.is_class:
        parses = isinstance(call.func, ast.Attribute) and call.func.attr in _PARSES
        return _path(index) or _file_of_parser(index, call.func) if parses else None
    if not any(f".{name}(" in made.file.tree.text(made.node) for name in _PARSES):
        return None if made.file is index else _path(made.file)
    given = (value.elts[0] if isinstance(value, ast.Tuple) and value.elts else value for value in returned(made))
    found = {file_of_options(made.file, value, depth + 1) for value in given}.difference({None})
    return found.pop() if len(found) == 1 else None if found else _path(made.file)


def _file_of_parser(index: SemanticIndex, method: ast.expr) -> str | None:
    """``build_parser().parse_args()``, also with a variable for the parser, that a function of another file builds."""
    parser = method.value if isinstance(method, ast.Attribute) else None
    if isinstance(parser, ast.Name):
        values = [binding.value for binding in index.flow.made(parser) if not binding.path]
        parser = values[0] if len(values) == 1 else None
    made = definition_called(index, parser) if isinstance(parser, ast.Call) else None
    return None if made is None or made.is_class else _path(made.file)


def _file_given(index: SemanticIndex, binding: Binding, depth: int) -> str | None:
    """What calls, here or in other files, give for a parameter."""
    here = _given_here(index, binding)
    given = {*_told(index, binding), *(file_of_options(index, one, depth + 1) for one in here)}
    return given.pop() if len(given) == 1 else None


def _given_here(index: SemanticIndex, binding: Binding) -> list[ast.expr]:
    """What calls of this file give for a parameter."""
    function = binding.statement
    return index.definitions.arguments.of(function, binding.name) if isinstance(function, FUNCTIONS) else []


def _told(index: SemanticIndex, binding: Binding) -> set[str]:
    """The files whose options calls of other files give for a parameter."""
    function = binding.statement
    name = qualified_in_file(index.tree, function) if isinstance(function, FUNCTIONS) else None
    return {
        path
        for call in index.outside
        if call.function == name
        for parameter, path, _ in call.options
        if parameter == binding.name
    }


def _path(index: SemanticIndex) -> str | None:
    return os.path.abspath(index.source.path) if _DECLARES in index.source.text else None
