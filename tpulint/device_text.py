"""The XLA device as text: the variable that holds it, or a new one, or the call that gives it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tpulint.fixes import FixBuilder
    from tpulint.semantic import SemanticIndex

_DEFINITION = "device = {}.device()"


def write_device(fix: FixBuilder, index: SemanticIndex, at: ast.AST) -> str:
    """Text for the XLA device at a node; a script without a variable for it gets one below its imports."""
    variable = index.xla_devices.variable_at(at)
    if variable is not None:
        return variable
    if index.parent_process.runs(at):
        # Naming the device is free; taking it starts the runtime, after which no process can be started.
        return f'{fix.use("torch", at=at)}.device("xla")'
    module = fix.use("torch_xla", at=at)
    if index.parent_process or index.xla_devices.is_taken("device", at) or not _is_script(index):
        return f"{module}.device()"
    place = _last_import(index)
    if place is None:
        return f"{module}.device()"
    # The import that is needed may stand at the same place; it comes first.
    source = index.source
    row = source.row(index.tree.end(place))
    end = source.line_starts[row - 1] + len(source.line(row))
    fix.insert(end, "\n\n" + _DEFINITION.format(fix.use("torch_xla")))
    return "device"


def _is_script(index: SemanticIndex) -> bool:
    """Whether the file is run, not imported: a module must not start the runtime when it is imported."""
    if index.mentions(r"__main__"):
        return True
    return any(isinstance(statement, ast.For | ast.While | ast.With) for statement in index.tree.module.body)


def _last_import(index: SemanticIndex) -> ast.stmt | None:
    """The last import in front of all definitions and loops."""
    found: ast.stmt | None = None
    for statement in index.tree.module.body:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            found = statement
        elif not isinstance(statement, ast.Expr | ast.Assign | ast.AnnAssign | ast.Try | ast.If):
            break
    return found
