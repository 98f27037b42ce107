"""The fix for one name that a mapping table speaks about, by the row's action."""

from __future__ import annotations

import ast
import re

from tpulint.guarded_imports import use_beside
from tpulint.model import Applicability, Scope, Span
from tpulint.targets import parse_version

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.card import MappingRow
    from tpulint.context import FileContext, FixBuilder

_IN_EVERY_TURN = "As the boundary of a step it stands in every turn, whatever the device."
_LEADING_NAME = r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+"

_USUAL_ALIASES = {
    "torch_xla.core.xla_model": "xm",
    "torch_xla.runtime": "xr",
    "torch_xla.debug.profiler": "xp",
    "torch_xla.distributed.parallel_loader": "pl",
    "torch_xla.distributed.spmd": "xs",
    "torch_xla.distributed.xla_multiprocessing": "xmp",
}
"""What users of torch_xla call its modules."""

_STARTS_PROCESSES = (
    "torch_xla.launch", "torch_xla.distributed.xla_multiprocessing.spawn", "torch.multiprocessing.spawn",
    "torch.multiprocessing.start_processes", "torch.multiprocessing.Process", "multiprocessing.Process",
    "accelerate.notebook_launcher",
)  # fmt: skip

_WITHOUT_EFFECT = frozenset({
    "builtins.int", "builtins.str", "builtins.float", "builtins.bool", "builtins.len", "builtins.min", "builtins.max",
    "builtins.abs", "builtins.round", "builtins.repr", "os.getenv", "os.environ.get", "torch.device",
    "torch.distributed.get_rank", "torch.distributed.get_world_size", "torch.cuda.current_device",
    "torch.cuda.device_count", "torch.cuda.is_available",
})  # fmt: skip
"""Functions whose call can be left out when nobody wants its value."""

_REASONS = {
    "rename": "The new name does the same.",
    "replace": "The new expression does the same.",
    "delete": "The statement has no effect on the target.",
    "drop-argument": "The argument has no effect on the target.",
    "rename-argument": "Only the name of the argument changed.",
    "set-argument": "The value is what the target needs.",
}


def fix_of(ctx: FileContext, node: ast.Attribute | ast.Name, where: ast.AST, row: MappingRow) -> FixBuilder | None:
    """The fix for a reference; None where the row offers none."""
    if row.action == "take-out":
        from tpulint.taken_out import take_out

        return take_out(ctx, node, row)
    if row.action == "unsupported":
        from tpulint.left_out_reports import leave_out_report

        return leave_out_report(ctx, node, row)
    if row.since and ctx.target.version < parse_version(row.since):
        return None
    if _builds_device_name(ctx, node):
        return None
    parent = ctx.index.parent(node)
    call = parent if isinstance(parent, ast.Call) and parent.func is node else None
    if row.with_item and (call is None or not isinstance(ctx.index.parent(call), ast.withitem)):
        return None
    said = row.action == "rename" and call is not None and _is_said_before(ctx, call, row)
    if row.acquires_device and call is not None and ctx.index.launches.is_before_any(call):
        return None
    join = _join_behind(ctx, call, row)
    scope = Scope.STATEMENT if row.action == "delete" or said or join is not None else Scope.EXPRESSION
    if row.action == "delete" and ctx.index.devices.is_asked_for(node):
        scope = Scope.MODULE  # with the device: once that is chosen, what asks for a GPU is right as it stands
    guard = ctx.index.clocks.guard_of(node) if row.action == "replace" and call is not None else None
    if guard is not None:
        scope = Scope.MODULE  # in front of what gives the loop its boundary: this is one
    reason = f"{row.reason or _REASONS[row.action]} {_IN_EVERY_TURN if guard is not None else ''}".rstrip()
    fix = ctx.fix("", applicability_of(ctx, row), reason, scope)
    if said:
        fix.title = f"Remove the call: `{row.new}` stands for the one above it as well"
        fix.delete(ctx.index.statement_of(node))
    elif row.action == "rename" and call is not None and join is not None:
        if not _moves(ctx, fix, call, join, row):
            return None  # in its place it would start the runtime before the process knows its chip
        fix.delete(ctx.index.statement_of(call))
    elif row.action == "rename":
        _rename(ctx, fix, node, call, row)
    elif row.action == "delete":
        _delete(ctx, fix, node, call)
    elif call is None:
        if row.action != "replace" or row.with_item or not _is_handed_on(ctx, node):
            return None
        _replace_function(ctx, fix, node, row)
    elif row.action == "replace":
        new = _written(ctx, fix, row.new, node)
        fix.title = f"Replace with `{new}`"
        if guard is None:
            fix.replace(call, new)
        else:
            folding = fix.fold({guard.test: True})
            folding.replace(call, new)
            folding.write()
        _lower_for_effects(ctx, fix, [*call.args, *(item.value for item in call.keywords)])
    else:
        _change_argument(ctx, fix, call, where, row)
    if row.acquires_device and next(ctx.index.references(*_STARTS_PROCESSES), None) is not None:
        fix.lower(Applicability.UNSAFE, "It touches the device, which must not happen before processes are started.")
    return fix


def _join_behind(ctx: FileContext, call: ast.Call | None, row: MappingRow) -> ast.Call | None:
    """The ``init_process_group`` that a call must wait for which will start the device runtime, and gives no value."""
    if call is None or row.action != "rename" or not row.acquires_device or row.arguments is not None:
        return None
    return ctx.index.process_groups.join_behind(call) if isinstance(ctx.index.parent(call), ast.Expr) else None


def _moves(ctx: FileContext, fix: FixBuilder, call: ast.Call, join: ast.Call, row: MappingRow) -> bool:
    new = _written(ctx, fix, row.new, call.func)
    fix.title = f"Replace with `{new}` behind `init_process_group`"
    text = new + ctx.text(call)[len(ctx.text(call.func)) :]
    return fix.insert_behind_join(ctx.index.statement_of(call), join, text)


def _is_said_before(ctx: FileContext, call: ast.Call, row: MappingRow) -> bool:
    """Whether the statement above becomes the very same call: ``manual_seed(s)`` in front of ``manual_seed_all(s)``."""
    statement = ctx.index.parent(call)
    if not isinstance(statement, ast.Expr):
        return False
    suite = ctx.index.tree.suite_of(statement)
    at = suite.index(statement)
    above = suite[at - 1] if at else None
    if not isinstance(above, ast.Expr) or not isinstance(above.value, ast.Call):
        return False
    name = ctx.index.qualified_name(above.value.func)
    if name is None or name == row.old or _given(above.value) != _given(call):
        return False
    table = ctx.rule.table
    becomes = {other.new for other in table.rows_of(row.old)}
    return any(other.action == "rename" and other.new in becomes for other in table.rows_of(name))


def _given(call: ast.Call) -> list[str]:
    return [ast.dump(item) for item in (*call.args, *call.keywords)]


def applicability_of(ctx: FileContext, row: MappingRow) -> Applicability:
    """That of the row, or of its card."""
    return Applicability[row.applicability.upper()] if row.applicability else ctx.rule.applicability


def _builds_device_name(ctx: FileContext, node: ast.expr) -> bool:
    """``f"cuda:{torch.cuda.current_device()}"`` is one name; changing half of it makes none."""
    part: ast.AST = node
    for ancestor in ctx.index.tree.ancestors(node):
        if isinstance(ancestor, ast.JoinedStr) and isinstance(part, ast.FormattedValue):
            at = ancestor.values.index(part)
            before = ancestor.values[at - 1] if at else None  # of several values the one behind the colon is the number
            if isinstance(before, ast.Constant) and str(before.value).endswith("cuda:"):
                return True
        part = ancestor
    return False


def _written(ctx: FileContext, fix: FixBuilder, text: str, at: ast.expr) -> str:
    """An expression with the dotted name it begins with written as the file's imports allow."""
    match = re.match(_LEADING_NAME, text)
    if match is None:
        return text
    module, _, name = match.group().rpartition(".")
    if module == "tpulint_runtime.backend":
        return fix.emit.runtime(name, at) + text[match.end() :]
    alias = _USUAL_ALIASES.get(module)
    local = use_beside(ctx, fix, at, module, alias) or fix.use(module, alias=alias, at=at)
    return f"{local}.{name}{text[match.end() :]}"


def _is_handed_on(ctx: FileContext, node: ast.expr) -> bool:
    """Whether a function is given to a call, kept or returned: ``Timer(torch.cuda.synchronize)``.

    A condition may choose it, ``wait = torch.cuda.synchronize if on_gpu else lambda: None``.
    """
    holder = ctx.index.parent(node)
    while isinstance(holder, ast.IfExp) and node is not holder.test:
        node, holder = holder, ctx.index.parent(holder)
    if isinstance(holder, ast.keyword):
        holder = ctx.index.parent(holder)
    if isinstance(holder, ast.Call):
        name = ctx.index.qualified_name(holder.func) or ""
        # A partial gives it arguments, and `getattr` or `isinstance` wants the function itself.
        return name != "functools.partial" and not name.startswith("builtins.")
    return isinstance(holder, ast.Assign | ast.Return) and holder.value is node


def _replace_function(ctx: FileContext, fix: FixBuilder, node: ast.expr, row: MappingRow) -> None:
    """A function that does what the new expression does, for whoever calls it."""
    called = _written(ctx, fix, row.new, node)
    new = called.removesuffix("()") if called.endswith("()") else f"lambda: {called}"
    fix.title = f"Replace with `{new}`"
    choice = ctx.index.parent(node)
    is_chosen = isinstance(choice, ast.IfExp) and choice.body is node
    fix.replace(node, f"({new})" if is_chosen and new.startswith("lambda") else new)  # whose body goes on to its end
    fix.lower(Applicability.UNSAFE, "With which arguments it will be called is not known here.")


def _rename(ctx: FileContext, fix: FixBuilder, node: ast.expr, call: ast.Call | None, row: MappingRow) -> None:
    new = _written(ctx, fix, row.new, node)
    fix.title = f"Replace with `{new}`"
    fix.replace(node, new)
    if row.arguments is None:
        return
    if call is None:
        fix.lower(Applicability.UNSAFE, "With which arguments it will be called is not known here.")
        return
    if any(isinstance(item, ast.Starred) for item in call.args) or any(item.arg is None for item in call.keywords):
        fix.give_up()
        return
    kept = dict(_old_and_new(argument) for argument in row.arguments)
    dropped: list[ast.expr | ast.keyword] = list(call.args[len(kept) :])
    for item in call.keywords:
        if item.arg not in kept:
            dropped.append(item)
        elif kept[item.arg] != item.arg:
            start = ctx.index.span(item).start
            fix.replace(Span(start, start + len(item.arg or "")), kept[item.arg])
    _lower_for_effects(ctx, fix, [item.value if isinstance(item, ast.keyword) else item for item in dropped])
    if len(dropped) == len(call.args) + len(call.keywords) and dropped:
        _empty_parentheses(ctx, fix, call)
    elif len(dropped) == 1:
        fix.delete_argument(call, dropped[0])
    elif dropped:
        fix.give_up()


def _old_and_new(argument: str) -> tuple[str, str]:
    """``n as index``: the parameter's old name and its new one."""
    old, _, new = argument.partition(" as ")
    return old, new or old


def _empty_parentheses(ctx: FileContext, fix: FixBuilder, call: ast.Call) -> None:
    span = Span(ctx.index.span(call.func).end, ctx.index.span(call).end)
    if ctx.source.text[span.start : span.end].lstrip().startswith("("):
        fix.replace(span, "()")
    else:
        fix.give_up()  # the callee has parentheses of its own


def _delete(ctx: FileContext, fix: FixBuilder, node: ast.expr, call: ast.Call | None) -> None:
    statement = ctx.index.statement_of(node)
    if call is not None and isinstance(statement, ast.Expr) and statement.value is call:
        _lower_for_effects(ctx, fix, [*call.args, *(item.value for item in call.keywords)])
    elif isinstance(statement, ast.Assign) and all(_is_flag(ctx, target) for target in statement.targets):
        _lower_for_effects(ctx, fix, [statement.value])
    else:
        fix.give_up()
        return
    fix.title = f"Remove `{ctx.text(node)}`"
    fix.delete(statement)


def _is_flag(ctx: FileContext, target: ast.expr) -> bool:
    name = ctx.index.qualified_name(target)
    return name is not None and any(row.assigned for row in ctx.rule.table.rows_of(name))


def _change_argument(ctx: FileContext, fix: FixBuilder, call: ast.Call, where: ast.AST, row: MappingRow) -> None:
    argument = where if isinstance(where, ast.keyword) or where in call.args else None
    if argument is None and where is not call.func:
        fix.give_up()  # it stands in a dictionary that others may use
        return
    if row.action == "set-argument":
        value = _written(ctx, fix, row.new, call)
        fix.title = f"Set `{row.argument}={value}`"
        if isinstance(argument, ast.expr):
            fix.replace(argument, value)
        else:
            fix.set_argument(call, row.argument, value)
    elif row.action == "rename-argument":
        fix.title = f"Rename the argument to `{row.new}`"
        if not isinstance(argument, ast.keyword) or any(item.arg == row.new for item in call.keywords):
            fix.give_up()
            return
        start = ctx.index.span(argument).start
        fix.replace(Span(start, start + len(row.argument)), row.new)
    else:
        fix.title = f"Remove the argument `{row.argument}`"
        if isinstance(argument, ast.expr) and argument is not call.args[-1]:
            fix.give_up()  # the arguments behind it would move forward
        elif isinstance(argument, ast.expr | ast.keyword):
            _lower_for_effects(ctx, fix, [argument.value if isinstance(argument, ast.keyword) else argument])
            fix.delete_argument(call, argument)


def _lower_for_effects(ctx: FileContext, fix: FixBuilder, dropped: list[ast.expr]) -> None:
    """What is taken out may do something besides giving a value: then a person should look."""
    for root in dropped:
        for node in (root, *ctx.index.tree.inside(root)):
            if isinstance(node, ast.Await | ast.Yield | ast.YieldFrom | ast.NamedExpr) or (
                isinstance(node, ast.Call) and not _is_without_effect(ctx, node)
            ):
                fix.lower(Applicability.UNSAFE, f"`{ctx.text(node)}` is no longer called.")
                return


def _is_without_effect(ctx: FileContext, call: ast.Call) -> bool:
    func = call.func
    if isinstance(func, ast.Attribute) and func.attr == "format" and isinstance(func.value, ast.Constant):
        return True
    return ctx.index.qualified_name(func) in _WITHOUT_EFFECT
