"""Lists with one element for each GPU, of which that of the current device is taken: on a TPU machine there is none."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Finding, Scope, Severity
from tpulint.semantic.syntax.variables import last_name
from tpulint_rules.distributed._own_device import is_shut_out

_NUMBERS = frozenset({
    "torch.cuda.current_device", "torch.accelerator.current_device_index", "torch_xla.runtime.local_ordinal",
})  # fmt: skip
_REASON = "Every process has its own device, and fills the list for all processes of its host."


def lists_for_none(ctx: FileContext) -> Iterator[Finding]:
    """``for i in range(torch.cuda.device_count()): parts.append(...)``, and ``parts[torch.cuda.current_device()]``."""
    index = ctx.index
    for call in index.device_counts.calls:
        counted = index.parent(call)
        if not isinstance(counted, ast.Call) or index.qualified_name(counted.func) != "builtins.range":
            continue
        filled = _filled_for(ctx, counted)
        taken = [item for target in filled for item in _taken_of(ctx, target)]
        if taken and not is_shut_out(ctx, call):
            item = taken[0]
            message = (
                f"`{ctx.text(call)}` is 0 on a TPU machine: `{ctx.text(item.value)}` stays empty, and the element of "
                "the current device is taken from it"
            )
            related = ((index.span(item), "taken here"),)
            yield ctx.finding(call, message, _count_processes(ctx, call), severity=Severity.ERROR, related=related)


def _count_processes(ctx: FileContext, call: ast.Call) -> FixBuilder | None:
    """As many elements as the host has processes, of which the number of its own chooses one."""
    if ctx.portable:
        return None
    fix = ctx.fix("Count the processes of this machine", Applicability.UNSAFE, _REASON, Scope.MODULE)
    fix.replace(call, f"{fix.use('torch_xla.runtime', alias='xr', at=call)}.local_process_count()")
    return fix


def _filled_for(ctx: FileContext, counted: ast.Call) -> list[ast.expr]:
    """Lists that get an element for each of the numbers."""
    holder = ctx.index.parent(counted)
    if isinstance(holder, ast.For):
        calls = ctx.index.tree.nodes_in(holder, ast.Call, functions=False)
        funcs = (call.func for call in calls if isinstance(call, ast.Call))
        return [func.value for func in funcs if isinstance(func, ast.Attribute) and func.attr == "append"]
    made = ctx.index.parent(holder) if isinstance(holder, ast.comprehension) else None
    statement = ctx.index.parent(made) if isinstance(made, ast.ListComp) else None
    return statement.targets if isinstance(statement, ast.Assign) else []


def _taken_of(ctx: FileContext, target: ast.expr) -> Iterator[ast.Subscript]:
    """Elements of a list, as it is called, that the number of the current device chooses."""
    for item in ctx.index.tree.nodes_in(ctx.index.tree.module, ast.Subscript):
        is_same = type(item.value) is type(target) and last_name(item.value) == last_name(target)
        if is_same and isinstance(item.ctx, ast.Load) and _is_current(ctx, item.slice):
            yield item


def _is_current(ctx: FileContext, node: ast.expr) -> bool:
    """Whether an expression is the number of the current device, or a variable that holds it."""
    bindings = ctx.index.flow.reaching(node) if isinstance(node, ast.Name) else ()
    values = [binding.value for binding in bindings if binding.kind == "assign" and not binding.path] or [node]
    return all(isinstance(one, ast.Call) and ctx.index.qualified_name(one.func) in _NUMBERS for one in values)
