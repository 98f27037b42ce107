"""Calls of nvidia-smi, which a TPU machine does not have."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Certainty, Finding, Scope, Severity
from tpulint.semantic.cuda.started_programs import PROGRAMS, is_kept_back
from tpulint.semantic.project.outside import qualified_in_file
from tpulint.text_files import invoked
from tpulint.text_files.context import TextContext
from tpulint_rules.environment._empty_answers import failing_answers

_STARTING = (
    "subprocess.run",
    "subprocess.call",
    "subprocess.check_call",
    "subprocess.check_output",
    "subprocess.Popen",
)
_FAILING = ("subprocess.check_call", "subprocess.check_output")
"""What raises where the shell does not find a program, too."""
_DEPTH = 4
"""Functions that a call is looked for through."""
_LEFT_OUT = "What it shows of the GPUs is left out."


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    if not index.imports_torch and not index.outside:
        return
    for call in index.calls_to(*_STARTING):
        program = _program(ctx, call)
        if program and _is_run(ctx, call):
            message = f"`{program}` is not there on a TPU machine: `{ctx.text(call.func)}` raises"
            yield ctx.finding(call, message, _without(ctx, call), severity=Severity.ERROR)
    for call, program, failing in failing_answers(ctx):
        if _is_run(ctx, call) and not is_kept_back(index, failing):
            yield ctx.finding(
                call,
                f"`{program}` is not there on a TPU machine: what `{ctx.text(call.func)}` gives of it is empty, and "
                "taking it apart raises",
                severity=Severity.ERROR,
                certainty=Certainty.LIKELY,
                related=((index.span(failing), "raises"),),
            )


def _without(ctx: FileContext, call: ast.Call) -> FixBuilder | None:
    """Without a call that does nothing but show: a statement of its own."""
    statement = ctx.index.parent(call)
    if not isinstance(statement, ast.Expr):
        return None
    fix = ctx.fix("Remove the call", Applicability.UNSAFE, _LEFT_OUT, Scope.STATEMENT)
    fix.delete(statement)
    return fix


def _program(ctx: FileContext, call: ast.Call) -> str:
    """The program of CUDA's that a call starts, and raises without."""
    given = call.args[0] if call.args else None
    if isinstance(given, ast.Name):
        bindings = ctx.index.flow.reaching(given)
        given = bindings[0].value if len(bindings) == 1 and not bindings[0].path else None
    if isinstance(given, ast.List | ast.Tuple):
        given = given.elts[0] if given.elts else None
    if not isinstance(given, ast.Constant) or not isinstance(given.value, str):
        return ""
    options = {item.arg for item in call.keywords}
    first = given.value.split(" ", 1)[0] if "shell" in options else given.value
    if "shell" in options and not ("check" in options or ctx.index.qualified_name(call.func) in _FAILING):
        return ""
    name = first.rpartition("/")[2]
    return name if name in PROGRAMS else ""


def _is_run(ctx: FileContext, call: ast.Call, depth: int = 0) -> bool:
    """Whether nothing keeps a call from running, or catches what it raises."""
    index = ctx.index
    if is_kept_back(index, call):
        return False
    function = index.function_of(call)
    if function is None:
        return index.is_program and index.imports_torch
    callers = index.definitions.calls_of(function) if depth < _DEPTH else []
    if any(_is_run(ctx, caller, depth + 1) for caller in callers):
        return True
    name = qualified_in_file(index.tree, function)
    return any(outside.function == name for outside in index.outside)


def check_text(ctx: TextContext) -> Iterator[Finding]:
    index = ctx.index
    if index.knows_tpus or not index.may_train_with_torch:
        return
    for command in index.commands:
        place = invoked(command, *PROGRAMS)
        if place is None or command.tested:
            continue
        word = command.words[place]
        name = word.text.rpartition("/")[2]
        instead = "`tpu-info` shows a TPU's load" if name == "nvidia-smi" else "there are no CUDA kernels to compile"
        yield ctx.finding(word.span, f"`{name}` is not there on a TPU machine; {instead}")
        return
