"""The XLA device as text: the variable that holds it, or a new one, or the call that gives it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tpulint.semantic.torch_facts import DEVICE_FACTORIES
from tpulint.semantic.tree import FUNCTIONS

if TYPE_CHECKING:
    from tpulint.fixes import FixBuilder
    from tpulint.semantic import SemanticIndex

_SETTINGS = (
    "builtins.", "collections.", "dataclasses.", "enum.", "functools.", "logging.", "os.", "pathlib.", "re.", "sys.",
    "typing.", "warnings.", "torch.device", "torch.cuda.", "torch.accelerator.", "torch.backends.", "torch_xla.",
    "tpulint_runtime.",
)  # fmt: skip
"""Beginnings of the names a module may well call when it is imported."""


def write_device(fix: FixBuilder, index: SemanticIndex, at: ast.AST, number: str = "") -> str:
    """Text for the device at a node; a script without a variable for it gets one below its imports."""
    if fix.emit.heeds_numbers and number:
        return write_device_object(fix, index, at, number)
    variable = index.xla_devices.variable_at(at)
    if variable is not None:
        return variable
    if _is_taken_in_place(index, at):
        return write_device_object(fix, index, at)
    if not index.parent_process and _is_script(index) and not index.xla_devices.is_taken("device", at):
        place = _last_import(index)
        if place is not None:
            # The import that is needed may stand at the same place; it comes first.
            source = index.source
            row = source.row(index.tree.end(place))
            end = source.line_starts[row - 1] + len(source.line(row))
            fix.insert(end, f"\n\ndevice = {fix.emit.device(index.tree.module)}")
            return "device"
    return write_device_object(fix, index, at)


def _is_taken_in_place(index: SemanticIndex, at: ast.AST) -> bool:
    """Whether the function moves things with ``.to(torch_xla.device())`` already: one way of writing it is enough."""
    function = index.function_of(at)
    if function is None:
        return False
    return any(
        call.args and isinstance(call.args[0], ast.Call) and index.qualified_name(call.args[0].func) in DEVICE_FACTORIES
        for call, _ in index.method_calls("to")
        if index.function_of(call) is function
    )


def write_device_object(fix: FixBuilder, index: SemanticIndex, at: ast.AST, number: str = "") -> str:
    """Text that takes the device; that only names it where taking it would start the runtime too early."""
    function = index.parent_process.function_running(at)
    imported = function is None and not _is_script(index)
    if index.parent_process.runs(at) or imported:
        # After the runtime has started, no process can be started; importing a module should do neither.
        if fix.emit.heeds_numbers and number:
            fix.give_up()  # only a device that is taken has a number of the right kind
        return fix.emit.named_device(at)
    return fix.emit.device(at, number)


def _is_script(index: SemanticIndex) -> bool:
    """Whether the file is run, not imported: a module must not start the runtime when it is imported."""
    if index.mentions(r"__main__"):
        return True
    return any(_does_work(index, statement) for statement in index.tree.module.body)


def _does_work(index: SemanticIndex, statement: ast.stmt) -> bool:
    """Whether a statement of the module computes something, beyond names, settings and the choice of a device."""
    if isinstance(statement, (*FUNCTIONS, ast.ClassDef, ast.Import, ast.ImportFrom)):
        return False
    if isinstance(statement, ast.For | ast.While | ast.With):
        return True
    calls = (node for node in index.tree.inside(statement, functions=False) if isinstance(node, ast.Call))
    return any(not (index.qualified_name(call.func) or "").startswith(_SETTINGS) for call in calls)


def _last_import(index: SemanticIndex) -> ast.stmt | None:
    """The last import in front of all definitions and loops, and of what may want the device already."""
    found: ast.stmt | None = None
    for statement in index.tree.module.body:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            found = statement
        elif not isinstance(statement, ast.Expr | ast.Assign | ast.AnnAssign | ast.Try | ast.If):
            break
        elif found is not None and _does_work(index, statement):
            break
    return found
