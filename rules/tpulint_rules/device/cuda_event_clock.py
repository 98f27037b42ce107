"""Events of CUDA as clocks: on an XLA device the host's clock is read when the device has finished."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Finding, Scope

_EVENTS = ("torch.cuda.Event", "torch.cuda.streams.Event")
_WAIT = "torch.cuda.synchronize"
_BINDS_TIGHTER = (ast.BinOp, ast.UnaryOp, ast.Attribute, ast.Subscript)


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    calls = [call for call in index.calls_to(*_EVENTS) if not _is_for_cuda(ctx, call)]
    fixes: dict[ast.AST | None, FixBuilder | None] = {}
    for call in calls:
        function = index.function_of(call)
        if function not in fixes:
            fixes[function] = _fix(ctx, [other for other in calls if index.function_of(other) is function])
        message = "`torch.cuda.Event` cannot be recorded without a CUDA driver"
        help = "Read `time.perf_counter()` after `torch_xla.sync(wait=True)`"
        yield ctx.finding(call, message, fixes[function], help=help)


def _is_for_cuda(ctx: FileContext, call: ast.Call) -> bool:
    return ctx.index.devices.is_guarded(call.func) or ctx.index.callers.use_for_gpus(call.func)


class _Marks:
    """What the events of one function are used for."""

    def __init__(self) -> None:
        self.made: list[tuple[ast.stmt, ast.Call, str]] = []
        self.recorded: list[tuple[ast.Expr, str]] = []
        self.waited: list[ast.Expr] = []
        self.measured: list[tuple[ast.Call, str, str]] = []


def _fix(ctx: FileContext, calls: list[ast.Call]) -> FixBuilder | None:
    """One rewrite of all events of a function; None where one of them is used in another way."""
    index, marks = ctx.index, _Marks()
    if not all(_follow(ctx, call, marks) for call in calls) or not marks.measured:
        return None
    reason = "The clock is that of the host, which waits for the device at each mark."
    # Behind the fixes of statements: a step boundary that one of them writes may wait as well.
    fix = ctx.fix("Read the host's clock when the device has finished", Applicability.UNSAFE, reason, Scope.EXPRESSION)
    outer = index.function_of(calls[0])
    inner = {(index.function_of(recorded), name) for recorded, name in marks.recorded}
    shared = {name for function, name in inner if function is not outer}
    kept = {statement for statement, _, name in marks.made if name in shared}
    for statement, call, _ in marks.made:
        if statement in kept:
            fix.replace(call, "0.0")  # the functions that read the clock give the variable its value
    for statement in dict.fromkeys(statement for statement, _, _ in marks.made if statement not in kept):
        fix.delete(statement)
    for function in dict.fromkeys(function for function, _ in inner if function is not outer):
        names = ", ".join(sorted(name for where, name in inner if where is function))
        assert function is not None
        first = function.body[1 if ast.get_docstring(function) is not None else 0]
        fix.insert_before(first, f"{'global' if outer is None else 'nonlocal'} {names}")
    for recorded, name in marks.recorded:
        clock = f"{fix.use('time', at=recorded)}.perf_counter()"
        wait = fix.emit.boundary(recorded).removesuffix(")") + "wait=True)"
        if fix.has_neighbours(recorded):
            return None
        if _is_behind_mark(ctx, recorded, marks):
            fix.replace(recorded, f"{name} = {clock}")
        elif (above := _wait_above(ctx, recorded, wait)) is not None:
            if ctx.text(above) != wait:
                fix.replace(above, wait)
            fix.replace(recorded, f"{name} = {clock}")
        else:
            fix.replace(recorded, f"{wait}\n{fix.indent_of(recorded)}{name} = {clock}")
    for waiting in marks.waited:
        fix.delete(waiting)
    for call, start, end in marks.measured:
        text = f"({end} - {start}) * 1000"
        fix.replace(call, f"({text})" if isinstance(ctx.index.parent(call), _BINDS_TIGHTER) else text)
    return fix


def _follow(ctx: FileContext, call: ast.Call, marks: _Marks) -> bool:
    """Note what becomes of an event; false when that is more than being recorded and measured."""
    index = ctx.index
    statement = index.statement_of(call)
    target = _target(statement, call)
    if target is None or len(index.names.bindings(target)) != 1:
        return False
    found = index.names.find_name(target)
    if found is None:
        return False
    marks.made.append((statement, call, target.id))
    loads = [load for load in index.names.loads(target.id, found[0]) if isinstance(load, ast.Name)]
    return all(_use(ctx, load, marks) for load in loads)


def _target(statement: ast.stmt, call: ast.Call) -> ast.Name | None:
    """The variable that a statement gives the event to, where all it does is to give events to variables."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    target, value = statement.targets[0], statement.value
    if value is call:
        return target if isinstance(target, ast.Name) else None
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        names = [name for name, item in zip(target.elts, value.elts, strict=True) if item is call]
        all_events = all(
            isinstance(item, ast.Call) and ast.dump(item.func) == ast.dump(call.func) for item in value.elts
        )
        return names[0] if names and all_events and isinstance(names[0], ast.Name) else None
    return None


def _use(ctx: FileContext, load: ast.Name, marks: _Marks) -> bool:
    index = ctx.index
    attribute = index.parent(load)
    call = index.parent(attribute) if isinstance(attribute, ast.Attribute) else None
    if not isinstance(attribute, ast.Attribute) or not isinstance(call, ast.Call):
        # the second event of a measurement, noted with the first
        return isinstance(attribute, ast.Call) and _measures(attribute)
    if call.func is not attribute or index.function_of(call) is not index.function_of(load):
        return False
    statement = index.parent(call)
    if attribute.attr == "elapsed_time" and _measures(call):
        marks.measured.append((call, load.id, ctx.text(call.args[0])))
        return True
    if not isinstance(statement, ast.Expr) or call.args or call.keywords:
        return False
    if attribute.attr == "synchronize":
        marks.waited.append(statement)
        return True
    if attribute.attr != "record":
        return False
    marks.recorded.append((statement, load.id))
    marks.waited.extend(_waits_behind(ctx, statement))
    return True


def _measures(call: ast.Call) -> bool:
    """Whether a call is ``start.elapsed_time(end)`` of two variables."""
    func = call.func
    return (
        isinstance(func, ast.Attribute)
        and func.attr == "elapsed_time"
        and isinstance(func.value, ast.Name)
        and len(call.args) == 1
        and isinstance(call.args[0], ast.Name)
        and not call.keywords
    )


def _is_behind_mark(ctx: FileContext, statement: ast.Expr, marks: _Marks) -> bool:
    """Whether another mark stands right above, which has waited already."""
    suite = ctx.index.tree.suite_of(statement)
    above = [item for item in suite[: suite.index(statement)] if item not in marks.waited]
    return bool(above) and any(recorded is above[-1] for recorded, _ in marks.recorded)


def _wait_above(ctx: FileContext, statement: ast.Expr, wait: str) -> ast.stmt | None:
    """What waits right above a mark, or can: ``torch.cuda.synchronize()``, a plain step boundary."""
    suite = ctx.index.tree.suite_of(statement)
    above = suite[suite.index(statement) - 1] if suite[0] is not statement else None
    value = above.value if isinstance(above, ast.Expr) else None
    if above is None or not isinstance(value, ast.Call):
        return None
    is_plain = ctx.index.qualified_name(value.func) in (_WAIT, "torch_xla.sync") and ctx.text(above).endswith("()")
    return above if is_plain or ctx.text(above) == wait else None


def _waits_behind(ctx: FileContext, statement: ast.Expr) -> Iterator[ast.Expr]:
    """The ``torch.cuda.synchronize()`` right behind a mark, which has waited already."""
    suite = ctx.index.tree.suite_of(statement)
    for following in suite[suite.index(statement) + 1 :][:1]:
        value = following.value if isinstance(following, ast.Expr) else None
        if isinstance(value, ast.Call) and ctx.index.qualified_name(value.func) == _WAIT:
            assert isinstance(following, ast.Expr)
            yield following
