"""Command line options that one file parses and another uses: ``Trainer(args)``, and there ``args.device``."""

from __future__ import annotations

import ast
import os

from tpulint.semantic.outside import qualified_in_file
from tpulint.semantic.tree import FUNCTIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex
    from tpulint.semantic.bindings import Binding

_DECLARES = "add_argument"
_PARSES = ("parse_args", "parse_known_args")
_DEPTH = 4


def file_of_options(index: SemanticIndex, node: ast.expr, depth: int = 0) -> str | None:
    """The absolute path of the file that parses the options which a value holds; None for any other value."""
    if depth > _DEPTH or not isinstance(node, ast.Name | ast.Attribute | ast.Call):
        return None
    if isinstance(node, ast.Call):
        return _file_of_call(index, node)
    kept = index.imported.variable(node)  # `from options import args`
    if kept is not None:
        return _path(kept[0])
    bindings = index.flow.made(node) if isinstance(node, ast.Name) else index.flow.reaching_attribute(node)
    found = {_file_of_binding(index, binding, depth) for binding in bindings}
    return found.pop() if len(found) == 1 else None


def _file_of_binding(index: SemanticIndex, binding: Binding, depth: int) -> str | None:
    if binding.kind == "parameter":
        return _file_given(index, binding, depth)
    if binding.value is None or binding.path not in ((), (0,)):  # `args, rest = parser.parse_known_args()`
        return None
    return file_of_options(index, binding.value, depth + 1)


def _file_of_call(index: SemanticIndex, call: ast.Call) -> str | None:
    """``parser.parse_args()``, and functions that return what they parsed."""
    if isinstance(call.func, ast.Attribute) and call.func.attr in _PARSES:
        return _path(index)
    function = index.definitions.function_called(call)
    if function is not None:
        parses = any(f".{name}(" in index.tree.text(function) for name in _PARSES)
        return _path(index) if parses else None
    made = index.imported.called(call)  # `args = get_arguments()`
    return None if made is None or made.is_class else _path(made.file)


def _file_given(index: SemanticIndex, binding: Binding, depth: int) -> str | None:
    """What calls, here or in other files, give for a parameter."""
    function = binding.statement
    if not isinstance(function, FUNCTIONS):
        return None
    name = qualified_in_file(index.tree, function)
    given: set[str | None] = {
        path
        for call in index.outside
        if call.function == name
        for parameter, path, _ in call.options
        if parameter == binding.name
    }
    here = index.definitions.arguments.of(function, binding.name)
    given |= {file_of_options(index, item, depth + 1) for item in here}
    return given.pop() if len(given) == 1 else None


def _path(index: SemanticIndex) -> str | None:
    return os.path.abspath(index.source.path) if _DECLARES in index.source.text else None
