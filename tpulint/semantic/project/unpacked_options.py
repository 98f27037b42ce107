"""Options that a call unpacks for a function of another file: ``Agent(**vars(args))``."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator

from tpulint.semantic.devices.devices_given import is_taken_for_device
from tpulint.semantic.project.parsed_options import attributes_in, file_of_options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_DEPTH = 3
"""Variables that a dictionary is followed through."""


def is_unpacked_for_device(index: SemanticIndex, name: str) -> bool:
    """Whether a function of another file is given the options of this one, and takes that of a name for a device."""
    own = os.path.abspath(index.source.path)
    return any(path == own and is_taken_for_device(index, call, name) for call, path in _calls(index))


def device_options_unpacked(index: SemanticIndex) -> Iterator[tuple[str, str]]:
    """Options that other files parse, by the path, which calls of this one unpack for what takes them for devices."""
    own = os.path.abspath(index.source.path)
    for call, path in _calls(index):
        other = None if path == own else index.imported.file(path)
        for name in other.devices.flow.variables.options if other is not None else ():
            if is_taken_for_device(index, call, name):
                yield path, name


def _calls(index: SemanticIndex) -> Iterator[tuple[ast.Call, str]]:
    """Calls of what other files define that unpack options, and the file that parses these."""
    for call in index.imported.calls:
        for unpacked in (item.value for item in call.keywords if item.arg is None):
            options = _options_in(index, unpacked)
            path = None if options is None else file_of_options(index, options)
            if path is not None:
                yield call, path


def _options_in(index: SemanticIndex, node: ast.expr, depth: int = 0) -> ast.expr | None:
    """The options whose values a dictionary has, be it by a name."""
    bindings = index.flow.reaching(node) if isinstance(node, ast.Name) and depth < _DEPTH else ()
    value = bindings[0].value if len(bindings) == 1 and not bindings[0].path else None
    return attributes_in(index, node) if value is None else _options_in(index, value, depth + 1)
