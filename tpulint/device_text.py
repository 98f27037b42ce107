"""The XLA device as text: the variable that holds it, or a new one, or the call that gives it."""

from __future__ import annotations

import ast

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.fixes import FixBuilder
    from tpulint.semantic import SemanticIndex


def write_device(fix: FixBuilder, index: SemanticIndex, at: ast.AST, number: str = "") -> str:
    """Text for the device at a node; a script without a variable for it gets one below its imports."""
    if fix.emit.heeds_numbers and number:
        return write_device_object(fix, index, at, number)
    variable = index.xla_devices.variable_at(at)
    if variable is not None:
        return variable
    if _is_taken_in_place(index, at):
        return write_device_object(fix, index, at)
    if not index.parent_process and index.module_body.is_script and not index.xla_devices.is_taken("device", at):
        place = index.module_body.last_import
        if place is not None:
            # The import that is needed may stand at the same place; it comes first.
            source = index.source
            text, end = f"device = {fix.emit.device(index.tree.module)}", index.tree.end(place)
            row_end = source.line_end(end)
            if source.text[end:row_end].lstrip().startswith(";"):  # what stands behind it may use the device
                fix.insert(end, f"; {text}")
            else:
                fix.insert(row_end, f"\n\n{text}")
            return "device"
    return write_device_object(fix, index, at)


def _is_taken_in_place(index: SemanticIndex, at: ast.AST) -> bool:
    """Whether the function moves things with ``.to(torch_xla.device())`` already: one way of writing it is enough."""
    function = index.function_of(at)
    return function is not None and function in index.xla_devices.taken_in_place


def write_device_object(fix: FixBuilder, index: SemanticIndex, at: ast.AST, number: str = "") -> str:
    """Text that takes the device; that only names it where taking it would start the runtime too early."""
    function = index.parent_process.function_running(at)
    imported = function is None and not index.module_body.is_script
    # A default is worked out when the function is defined, whether it is ever called or not.
    is_default = index.tree.function_of(at) is not function
    if index.parent_process.runs(at) or imported or is_default:
        # After the runtime has started, no process can be started; importing a module should do neither.
        if fix.emit.heeds_numbers and number:
            fix.give_up()  # only a device that is taken has a number of the right kind
        return fix.emit.named_device(at)
    return fix.emit.device(at, number)
