"""Reading a value of the device in a method that Lightning or Transformers calls in every step."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder, short
from tpulint.model import Applicability, Certainty, Finding, Severity
from tpulint.semantic import How, Read
from tpulint.semantic.functions.hooks import Hook
from tpulint_rules.host_sync._device_values import keep_on_device

_LOGS = ("log", "log_dict")


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    told: set[ast.expr] = set()
    for hook in index.kinds.hooks.all:
        for function in (hook.function, *index.regions.functions_in(hook.function)):
            for read in index.reads.inside(function):
                if read.node in told or not _counts(ctx, read) or index.step_loop_of(read.node) is not None:
                    continue
                finding = _finding(ctx, hook, read, function.name)
                if finding is not None:
                    told.add(read.node)
                    yield finding


def _counts(ctx: FileContext, read: Read) -> bool:
    """Whether a read is more than a tensor logged, or text made of a batch, which may hold texts itself."""
    if read.how is How.FORMAT and _logging_call(ctx, read) is not None:
        return False
    if read.how is How.TRUTH and isinstance(read.tensor, ast.Name | ast.Subscript):
        return read.certain  # `if not outputs:` may ask a dictionary
    return read.certain or read.how in (How.COPY, How.CAST) or not isinstance(read.tensor, ast.Subscript)


def _finding(ctx: FileContext, hook: Hook, read: Read, name: str) -> Finding | None:
    gated = ctx.index.regions.gate_of(read.node) is not None
    what = f"`{short(ctx.text(read.tensor))}` is {read.how.value}"
    certainty = Certainty.CERTAIN if read.certain else Certainty.LIKELY
    if hook.is_behind:
        if gated:
            return None
        message = f"{what} in every step, in `{name}` behind the step boundary of {hook.framework}: the host waits"
        return ctx.finding(read.node, message, severity=Severity.WARNING, certainty=certainty)
    often = "at each log" if gated else "in every step"
    message = (
        f"{what} {often}, in `{name}` in front of the step boundary, which {hook.framework} sets: "
        "what was recorded so far is run twice"
    )
    severity = Severity.WARNING if gated else Severity.ERROR
    return ctx.finding(read.node, message, _logged(ctx, hook, read), severity=severity, certainty=certainty)


def _logged(ctx: FileContext, hook: Hook, read: Read) -> FixBuilder | None:
    """The tensor given to ``self.log``, which keeps it until there is something to log."""
    if hook.framework != "Lightning" or not read.scalar or _logging_call(ctx, read) is None:
        return None
    reason = "Lightning makes a tensor of the number again, and reads it behind the boundary when it logs."
    fix = ctx.fix("Log the tensor", Applicability.SAFE if read.certain else Applicability.UNSAFE, reason)
    keep_on_device(fix, ctx.index, read)
    return fix


def _logging_call(ctx: FileContext, read: Read) -> ast.Call | None:
    """The call of the framework's own ``log`` that is given what is read."""
    holder = ctx.index.parent(read.node)
    if isinstance(holder, ast.keyword | ast.Dict):
        holder = ctx.index.parent(holder)
    func = holder.func if isinstance(holder, ast.Call) else None
    if not isinstance(func, ast.Attribute) or func.attr not in _LOGS:
        return None
    return holder if isinstance(holder, ast.Call) and ctx.text(func.value) in ("self", "pl_module") else None
