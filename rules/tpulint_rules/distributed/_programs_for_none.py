"""Programs that are started for each GPU by a loop: none, on a TPU machine."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Finding, Severity

_STARTERS = (
    "subprocess.Popen", "subprocess.run", "subprocess.call", "subprocess.check_call", "os.system", "os.popen",
)  # fmt: skip
_PYTHON = r"\bsys\.executable\b|\bpython3?\b|\btorchrun\b"
_OF_GPUS = r"nvidia|\bnvcc\b"
_INSTEAD = "Start the program itself, whose `torch_xla.launch` starts a process for each chip"


def programs_for_none(ctx: FileContext) -> Iterator[Finding]:
    """``for i in range(torch.cuda.device_count()): subprocess.Popen([sys.executable, ...])``"""
    index = ctx.index
    starters = [call for call in index.calls_to(*_STARTERS) if _starts_python(ctx, call)]
    if not starters:
        return
    for counted in index.calls_to("builtins.range"):
        is_from_0 = len(counted.args) == 1 or (len(counted.args) == 2 and _is_0(counted.args[0]))
        count = counted.args[-1] if is_from_0 else None
        if count is None or not index.device_counts.is_zero(count) or _is_asked_before(ctx, counted):
            continue
        holder = index.parent(counted)
        loop = index.parent(holder) if isinstance(holder, ast.comprehension) else holder
        started = [call for call in starters if loop is not None and index.tree.encloses(loop, call)]
        if isinstance(loop, ast.For | ast.ListComp) and started:
            message = f"`{ctx.text(count)}` is 0 on a TPU machine: no process is started, and the script ends quietly"
            related = ((index.span(started[0]), "they are started here"),)
            yield ctx.finding(count, message, severity=Severity.ERROR, help=_INSTEAD, related=related)


def _starts_python(ctx: FileContext, call: ast.Call) -> bool:
    """Whether the command is one of Python, by its text or by that of the code around it."""
    function = ctx.index.function_of(call)
    text = ctx.source.text if function is None else ctx.text(function)
    rows = (row for row in text.splitlines() if not row.lstrip().startswith("#"))
    return not re.search(_OF_GPUS, ctx.text(call)) and any(re.search(_PYTHON, row) for row in rows)


def _is_asked_before(ctx: FileContext, counted: ast.Call) -> bool:
    """Whether the same code asks for the number: ``if not count: sys.exit("no GPU")`` ends it with a word."""
    index = ctx.index
    function = index.function_of(counted)
    tests = (node.test for node in index.tree.parents if isinstance(node, ast.If | ast.IfExp | ast.Assert))
    asked = (part for test in tests if index.function_of(test) is function for part in (test, *index.tree.inside(test)))
    return any(isinstance(part, ast.expr) and index.device_counts.is_count(part) for part in asked)


def _is_0(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == 0
