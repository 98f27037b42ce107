"""nn.DataParallel, which finds no GPUs to share a batch out to."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Certainty, Finding, Scope, Severity, Span
from tpulint.semantic import FUNCTIONS, SemanticIndex
from tpulint.semantic.modules.wrapper_reads import asks_first, is_unwrapped_elsewhere, unwrapped
from tpulint.semantic.syntax.variables import last_name
from tpulint_rules.distributed._moves_of_several import is_moved_by_wrapper, keep_move, only_move
from tpulint_rules.distributed._parallel_calls import parallel_calls
from tpulint_rules.distributed._state_prefixes import WRAPPER, same, strip_of_guarded, strip_prefixes
from tpulint_rules.distributed._wrapped_calls import Wrapped
from tpulint_rules.distributed._wrapped_elsewhere import states_of_wrapped
from tpulint_rules.distributed._wrapper_inputs import move_inputs, moves_for_others, moves_tensors

_MESSAGE = "`DataParallel` uses one chip of a TPU machine and says nothing; `torch_xla.launch` uses all"
_NEVER_SCATTERS = (
    "`DataParallel` finds no GPUs on a TPU machine and hands the model what it is given: the `scatter` of this class, "
    "which puts a batch together and on the device, is never called"
)
_LEAVES_INPUTS = "the wrapper stays, and hands on what it is given where there are no GPUs: inputs that lie on the host"
_MOVED = "Inputs on the host, which it moved to the GPUs, are moved."
_QUESTIONS = frozenset({
    "builtins.len", "builtins.isinstance", "torch.cuda.is_available", "torch.cuda.device_count",
    "torch.accelerator.device_count", "torch.accelerator.is_available",
})  # fmt: skip
_COUNTS = ("builtins.len", "builtins.range")


def check(ctx: FileContext) -> Iterator[Finding]:
    calls = list(ctx.index.calls_to(WRAPPER))
    wrappers = Wrapped(ctx.index, calls)
    for call in calls:
        if ctx.portable and _guard(ctx, call) is not None:
            continue  # it shares a batch out where there are GPUs, and is left out elsewhere
        fix = _fix(ctx, call, wrappers)
        yield ctx.finding(call.func, _MESSAGE, fix)
        if fix is None:
            yield from _left_on_host(ctx, call, wrappers)
    yield from states_of_wrapped(ctx)
    yield from parallel_calls(ctx)
    for call in ctx.index.calls:
        own = _own_ways(ctx.index, call) if "Parallel" in last_name(call.func) else None
        if own is None or own & {"forward", "__call__"}:
            continue
        if "scatter" not in own and not _is_for_gpus(ctx, call, "gpu|device_count|parallel"):
            yield from _left_on_host(ctx, call, Wrapped(ctx.index, [call]), has_fix="gather" not in own)
        elif "scatter" in own and not _is_for_gpus(ctx, call):
            yield ctx.finding(call.func, _NEVER_SCATTERS, severity=Severity.ERROR)


def _own_ways(index: SemanticIndex, call: ast.Call) -> set[str] | None:
    """The methods by which a class of the project that is made differs from the wrapper; None for another class."""
    owner, file = index.definitions.class_called(call), index
    if owner is None and (found := index.imported.called(call)) is not None and isinstance(found.node, ast.ClassDef):
        owner, file = found.node, found.file
    if owner is None or all(file.qualified_name(base) != WRAPPER for base in owner.bases):
        return None
    return {item.name for item in owner.body if isinstance(item, FUNCTIONS)}


def _is_for_gpus(ctx: FileContext, call: ast.Call, words: str = "gpu|cuda|parallel") -> bool:
    """Whether the call stands under a condition that several GPUs may be meant by, ``if args.num_gpus > 1``."""
    tests = [item.test for item in ctx.index.tree.ancestors(call) if isinstance(item, ast.If | ast.IfExp)]
    return ctx.portable or any(re.search(words, ctx.text(test).lower()) for test in tests)


def _fix(ctx: FileContext, call: ast.Call, wrappers: Wrapped) -> FixBuilder | None:
    wrapped = next((keyword.value for keyword in call.keywords if keyword.arg == "module"), None)
    wrapped = call.args[0] if call.args else wrapped
    if wrapped is None or isinstance(wrapped, ast.Starred):
        return None
    guard = _guard(ctx, call)
    if guard is not None:
        reason = "The condition asks for several GPUs; it does not hold on a TPU machine."
        # Together with the choice of the device: a file that names XLA may keep branches for CUDA.
        fix = ctx.fix("Remove what never runs", Applicability.SAFE, reason, Scope.MODULE)
        has_moved = move_inputs(ctx, fix, call, wrappers.calls_of(call))
        if has_moved:
            fix.lower(Applicability.UNSAFE, _MOVED)
        move = only_move(ctx, call, wrapped) if has_moved or moves_tensors(ctx.index, call) else None
        folding = fix.fold({guard: False})
        strip_of_guarded(ctx, fix, folding)
        if move is None:
            folding.write()
        elif not keep_move(ctx, fix, move):
            return None
        return fix
    reason = "Keys of the state_dict lose the prefix `module.`, which others may wait for."
    fix = ctx.fix("Use the model itself", Applicability.UNSAFE, reason, Scope.STATEMENT)
    statement = ctx.index.statement_of(call)
    target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
    if not _unwrap_uses(ctx, fix, call, target) or is_unwrapped_elsewhere(ctx.index):
        return None
    if not strip_prefixes(ctx, fix, call, target):
        return None
    has_moved = move_inputs(ctx, fix, call, wrappers.calls_of(call))
    moves = moves_for_others(ctx, fix, call, wrappers)
    is_moved = has_moved or bool(moves) or moves_tensors(ctx.index, call)
    place = f".to({fix.device(call)})" if is_moved and is_moved_by_wrapper(ctx, wrapped) else ""
    whole = _choice_without(ctx, call, wrapped) or call
    is_given = isinstance(statement, ast.Assign) and statement.value is whole
    if is_given and target is not None and same(target, wrapped) and not place:
        if moves:
            fix.replace(statement, moves)
        else:
            fix.delete(_emptied(ctx, statement))
        return fix
    if moves:
        fix.insert_after(statement, moves)
    outer, inner = ctx.index.span(whole), ctx.index.span(wrapped)
    atom = isinstance(wrapped, ast.Name | ast.Attribute | ast.Call | ast.Subscript)
    fix.replace(Span(outer.start, inner.start), "" if atom else "(")
    fix.replace(Span(inner.end, outer.end), place if atom else f"){place}")
    return fix


def _left_on_host(ctx: FileContext, call: ast.Call, wrappers: Wrapped, *, has_fix: bool = True) -> Iterator[Finding]:
    """What a wrapper is given that stays, since somebody asks for its ``.module``, or it is of a class of its own.

    What such a class makes of the results, by a ``gather`` of its own, is another thing: no fix.
    """
    fix = ctx.fix("Move the inputs, which it leaves on the host", Applicability.UNSAFE, _MOVED, Scope.STATEMENT)
    calls = list(wrappers.calls_of(call))
    if move_inputs(ctx, fix, call, calls):
        told = fix if has_fix else None
        yield ctx.finding(calls[0], _LEAVES_INPUTS, told, severity=Severity.ERROR, certainty=Certainty.LIKELY)


def _choice_without(ctx: FileContext, call: ast.Call, wrapped: ast.expr) -> ast.IfExp | None:
    """``nn.DataParallel(model) if len(x) > 10 else model``, which is the model in either case."""
    choice = ctx.index.parent(call)
    if not isinstance(choice, ast.IfExp) or not isinstance(wrapped, ast.Name | ast.Attribute):
        return None
    other = choice.orelse if choice.body is call else choice.body
    calls = [node for node in ast.walk(choice.test) if isinstance(node, ast.Call)]
    is_alike = other is not call and same(other, wrapped) and all(_only_measures(ctx, node) for node in calls)
    return choice if is_alike and "#" not in ctx.text(choice) else None


def _only_measures(ctx: FileContext, call: ast.Call) -> bool:
    name = ctx.index.qualified_name(call.func)
    is_size = isinstance(call.func, ast.Attribute) and call.func.attr in ("size", "dim", "numel")
    return name in (*_QUESTIONS, "builtins.len") or (name is None and is_size)


def _emptied(ctx: FileContext, statement: ast.stmt) -> ast.stmt:
    """The statement, or the ``if`` or loop over numbers that is there for nothing else."""
    holder = ctx.index.parent(statement)
    if not isinstance(holder, ast.If | ast.For) or holder.body != [statement] or holder.orelse:
        return statement
    if isinstance(holder, ast.For):
        return _emptied(ctx, holder) if _only_counts(ctx, holder) else statement
    calls = [node for node in ast.walk(holder.test) if isinstance(node, ast.Call)]
    asks_only = all(ctx.index.qualified_name(node.func) in _QUESTIONS for node in calls)
    is_elif = ctx.source.text.startswith("elif", ctx.index.span(holder).start)
    return _emptied(ctx, holder) if asks_only and not is_elif else statement


def _only_counts(ctx: FileContext, loop: ast.For) -> bool:
    """Whether a loop without its body does nothing: ``for i in range(len(nets))``, and nobody reads the last ``i``."""
    index, target = ctx.index, loop.target
    calls = [node for node in ast.walk(loop.iter) if isinstance(node, ast.Call)]
    if not isinstance(target, ast.Name) or any(index.qualified_name(call.func) not in _COUNTS for call in calls):
        return False
    later = (load for load in index.names.loads_of(target) if not index.tree.encloses(loop, load))
    return not any(binding.statement is loop for load in later for binding in index.flow.reaching(load))


def _guard(ctx: FileContext, call: ast.Call) -> ast.expr | None:
    """The condition around the call that never holds without GPUs, when the call is what it is there for."""
    counts = ctx.index.device_counts
    child: ast.AST = call
    for ancestor in ctx.index.tree.ancestors(call):
        if isinstance(ancestor, ast.If) and child in ancestor.body:
            parts = ancestor.test.values if isinstance(ancestor.test, ast.BoolOp) else [ancestor.test]
            if isinstance(ancestor.test, ast.BoolOp) and isinstance(ancestor.test.op, ast.Or):
                return None
            for part in parts:
                sides = [part.left, *part.comparators] if isinstance(part, ast.Compare) else [part]
                if counts.answer(part) is True and any(counts.is_zero(side) for side in sides):
                    is_run = counts.holds_for_one(part) and not ctx.portable  # the port has one device
                    return part if _is_small(ancestor) and not is_run else None
        if isinstance(ancestor, ast.FunctionDef | ast.AsyncFunctionDef):
            return None
        child = ancestor
    return None


def _is_small(condition: ast.If) -> bool:
    """Whether the branch holds assignments and calls only: nothing that a port should start instead."""
    return all(isinstance(statement, ast.Assign | ast.Expr) for statement in condition.body)


def _unwrap_uses(ctx: FileContext, fix: FixBuilder, call: ast.Call, target: ast.expr | None) -> bool:
    """Write ``model`` for ``model.module``; false when some ``.module`` may mean another object."""
    uses = unwrapped(ctx.index)
    if not uses:
        return True
    conditional = any(isinstance(ancestor, ast.If | ast.Try | ast.IfExp) for ancestor in ctx.index.tree.ancestors(call))
    for use in uses:
        if asks_first(ctx.index, use):
            continue
        if conditional or target is None or not same(target, use.value):
            return False
        statement = ctx.index.parent(use)
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1 and same(statement.targets[0], use.value):
            fix.delete(statement)  # `model = model.module`
        else:
            fix.replace(use, ctx.text(use.value))
    return True
