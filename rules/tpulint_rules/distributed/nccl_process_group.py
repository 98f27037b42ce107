"""Process groups that ask for NCCL, which needs GPUs, and what is made dependent on it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Certainty, Finding, Scope, Severity, Span
from tpulint.semantic.processes.process_groups import FOR_GPUS, KNOWS_XLA, Join
from tpulint.semantic.values.origins import origins, written_at

_ASKS = ("torch.distributed.get_backend", "torch.distributed.distributed_c10d.get_backend")
_COMPARED = "the backend is compared with NCCL, which it is not on a TPU machine"
_METHOD = 'init_method="xla://"'
_FROM_THE_RUNTIME = ("world_size", "rank", "device_id")
_RUNTIME_NUMBERS = tuple(f"torch_xla.runtime.{name}" for name in ("world_size", "global_ordinal", "local_device_count"))
_COMPARES_XLA = r"(?:==|!=)\s*[\"']xla[\"']|\bin\s*[(\[{][^)\]}\n]*[\"']xla[\"']|\b(?:use|is_torch)_(?:xla|tpu)"
"""Where whoever wrote it thought of XLA."""


def check(ctx: FileContext) -> Iterator[Finding]:
    index, groups = ctx.index, ctx.index.process_groups
    for join in groups.joins:
        if join.is_portable or index.devices.is_for_cuda(join.call):
            continue
        if join.backend is None:
            closed = not join.hides_arguments and "store" not in join.given
            if closed and index.mentions(FOR_GPUS) and not index.mentions(r"gloo|xla_backend"):
                message = "a process group without a backend serves GPUs with NCCL and CPUs with gloo, no XLA device"
                yield ctx.finding(join.call, message, _fix(ctx, join), certainty=Certainty.LIKELY)
        elif any(groups.is_nccl(origin.node) for origin in join.backends):
            certain = all(groups.is_nccl(origin.node) and not origin.by_user for origin in join.backends)
            if not certain and index.mentions(KNOWS_XLA, "xla"):
                continue  # one of several backends, and that of XLA is known
            certainty = Certainty.CERTAIN if certain else Certainty.LIKELY
            message = "the NCCL backend needs GPUs: `init_process_group` raises on a TPU machine; use the backend `xla`"
            yield ctx.finding(join.call, message, _fix(ctx, join), certainty=certainty)
        elif groups.is_gloo_for_device(join):
            message = "gloo has no XLA devices: what wraps a model there raises; use the backend `xla`"
            yield ctx.finding(join.call, message, _fix(ctx, join), certainty=Certainty.LIKELY)
        elif groups.is_configured_for_gpus(join):
            message = f"`{ctx.text(join.backend)}` must name the backend `xla` on a TPU machine, where NCCL raises"
            yield ctx.finding(
                join.call, message, _fix(ctx, join), severity=Severity.WARNING, certainty=Certainty.LIKELY
            )
    for call in index.calls_to("torch.distributed.new_group"):
        for keyword in call.keywords:
            if keyword.arg == "backend" and any(groups.is_nccl(o.node) for o in origins(index, keyword.value)):
                reason = "Without it, the group has the backend of the process group it is part of."
                fix = ctx.fix("Leave the backend to the process group", Applicability.UNSAFE, reason)
                fix.delete_argument(call, keyword)
                yield ctx.finding(keyword, "the NCCL backend needs GPUs: `new_group` raises on a TPU machine", fix)
    if not index.mentions(_COMPARES_XLA, "xla", "tpu"):
        yield from _comparisons(ctx)
    if not index.mentions(KNOWS_XLA, "xla"):
        yield from _options_of_others(ctx)


def _comparisons(ctx: FileContext) -> Iterator[Finding]:
    """``if dist.get_backend() == "nccl"``, which the group of XLA is not."""
    index = ctx.index
    for call in index.calls_to(*_ASKS):
        asked: list[ast.Call] | list[ast.Name] = [call]
        parent = index.parent(call)
        if isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Name):
            asked = index.names.loads(parent.targets[0].id, index.names.scope_of(call))
        for node in asked:
            comparison = index.parent(node)
            if not isinstance(comparison, ast.Compare) or comparison.left is not node or len(comparison.ops) != 1:
                continue
            branch = index.statement_of(comparison)
            if isinstance(branch, ast.If) and any("device_ids" in ctx.text(item) for item in branch.body):
                continue  # what only NCCL wants to be told: `barrier(device_ids=[rank])`
            other = comparison.comparators[0]
            for name in other.elts if isinstance(other, ast.Tuple | ast.List | ast.Set) else [other]:
                if index.process_groups.is_nccl(name) and not index.devices.is_for_cuda(comparison):
                    yield ctx.finding(name, _COMPARED, _name_xla(ctx, name), severity=Severity.WARNING)


def _options_of_others(ctx: FileContext) -> Iterator[Finding]:
    """``add_argument("--dist-backend", default="nccl")`` in a program whose group another file joins."""
    if ctx.index.process_groups.joins or not ctx.index.is_program:
        return
    for call in ctx.index.calls:
        if not isinstance(call.func, ast.Attribute) or call.func.attr != "add_argument":
            continue
        named = any(isinstance(item, ast.Constant) and "backend" in str(item.value) for item in call.args)
        default = next((item.value for item in call.keywords if item.arg == "default"), None)
        if named and isinstance(default, ast.Constant) and ctx.index.process_groups.is_nccl(default):
            message = "the NCCL backend needs GPUs: a process group cannot be joined with it on a TPU machine"
            yield ctx.finding(default, message, _name_xla(ctx, default), certainty=Certainty.LIKELY)


def _name_xla(ctx: FileContext, name: ast.expr) -> FixBuilder | None:
    """The backend of XLA in place of NCCL."""
    if ctx.portable:
        return None
    fix = ctx.fix("Name the backend `xla`", Applicability.UNSAFE, "Another file may join the process group.")
    quote = ctx.text(name)[-1] if isinstance(name, ast.Constant) else '"'
    fix.replace(name, f"{quote}xla{quote}")
    _offer_xla(ctx, fix, name)
    return fix


def _fix(ctx: FileContext, join: Join) -> FixBuilder:
    return _portable(ctx, join) if ctx.portable else _of_xla(ctx, join)


def _has_own_members(ctx: FileContext, join: Join) -> bool:
    """Whether a group is made of other processes than all of them, by rank."""
    stored = "store" in join.given or "pg_options" in join.given
    return join.hides_arguments or stored or ctx.index.mentions(r"distributed\.rpc\b")


def _portable(ctx: FileContext, join: Join) -> FixBuilder:
    """The same arguments, given to the runtime: they hold on CUDA."""
    fix = ctx.fix("Join with the backend of the device", Applicability.SAFE, "On CUDA nothing changes.")
    if _has_own_members(ctx, join):
        fix.give_up()
    fix.rename_callee(join.call, fix.emit.runtime("init_process_group", join.call))
    return fix


def _of_xla(ctx: FileContext, join: Join) -> FixBuilder:
    call, given = join.call, join.given
    reason = "The backend takes rank and number of processes from the XLA runtime, under launch and torchrun alike."
    fix = ctx.fix("Use the backend `xla`", Applicability.SAFE, reason, Scope.STATEMENT)
    if _has_own_members(ctx, join):
        fix.give_up()
        return fix
    if any(not ctx.index.process_groups.is_nccl(origin.node) for origin in join.backends):
        fix.lower(Applicability.UNSAFE, "A condition or the command line chose the backend.")
    fix.use("torch_xla.distributed.xla_backend", at=call)
    items: dict[str, ast.expr | ast.keyword] = dict(given)
    items.update({item.arg: item for item in call.keywords if item.arg is not None})
    gone = [items[name] for name in _FROM_THE_RUNTIME if name in items]
    backend, method = given.get("backend"), given.get("init_method")
    written = None if backend is None else _write_backend(ctx, backend)
    added = ['backend="xla"'] if backend is None else []
    if method is None:
        added.append(_METHOD)
    new = ", ".join(added)
    if gone and new and isinstance(gone[0], ast.keyword):
        fix.replace(gone.pop(0), new)
        new = ""
    if method is not None:
        fix.replace(method, '"xla://"' + (f", {new}" if new else ""))
        new = ""
    if written is not None:
        here = new and written[0] is backend
        fix.replace(written[0], written[1] + (f", {new}" if here else ""))
        _offer_xla(ctx, fix, written[0])
        new = "" if here else new
    if new:
        keyword, _, value = new.partition("=")
        fix.set_argument(call, keyword, value)
    fix.delete_arguments(call, gone)
    for item in (item for name, item in items.items() if name in _FROM_THE_RUNTIME):
        if (unread := _unread(ctx, item)) is not None:
            fix.delete(unread)
    return fix


def _unread(ctx: FileContext, item: ast.expr | ast.keyword) -> ast.Assign | None:
    """``world_size = xr.world_size()`` when this argument is all that it is there for."""
    value = item.value if isinstance(item, ast.keyword) else item
    bindings = ctx.index.names.bindings(value) if isinstance(value, ast.Name) else []
    if not isinstance(value, ast.Name) or len(bindings) != 1 or not isinstance(bindings[0].statement, ast.Assign):
        return None
    statement = bindings[0].statement
    asked = ctx.index.qualified_name(statement.value.func) if isinstance(statement.value, ast.Call) else None
    alone = len(ctx.index.names.loads(value.id, ctx.index.names.scope_of(bindings[0].node))) == 1
    return statement if alone and asked in _RUNTIME_NUMBERS and len(statement.targets) == 1 else None


def _offer_xla(ctx: FileContext, fix: FixBuilder, default: ast.expr) -> None:
    """Name XLA in place of NCCL where the option whose default it is lists what it may be, and tells its default."""
    keyword = ctx.index.parent(default)
    option = ctx.index.parent(keyword) if isinstance(keyword, ast.keyword) and keyword.arg == "default" else None
    for item in option.keywords if isinstance(option, ast.Call) else ():
        if item.arg == "choices" and isinstance(item.value, ast.List | ast.Tuple | ast.Set):
            for name in item.value.elts:
                if isinstance(name, ast.Constant) and ctx.index.process_groups.is_nccl(name):
                    fix.replace(name, "{0}xla{0}".format(ctx.text(name)[-1]))
        if item.arg == "help" and isinstance(item.value, ast.Constant):
            start = ctx.index.span(item.value).start
            for told in re.finditer(r"\(default:? nccl\)", ctx.text(item.value)):
                fix.replace(Span(start + told.end() - len("nccl)"), start + told.end() - 1), "xla")


def _write_backend(ctx: FileContext, backend: ast.expr) -> tuple[ast.expr, str]:
    """The one place that names the backend, a variable or the default of an option as well, and its new text.

    Where that is compared with NCCL, ``def join(backend="nccl"): if backend == "nccl":``, the branch for GPUs is mended
    and has to be taken still, by those as well that call with NCCL: it is named where the group is joined.
    """
    place = written_at(ctx.index, backend)
    if isinstance(place, ast.Name | ast.Attribute) or (place is not backend and _is_compared(ctx, place)):
        place = backend
    quote = ctx.text(place)[-1] if isinstance(place, ast.Constant) and isinstance(place.value, str) else '"'
    return place, f"{quote}xla{quote}"


def _is_compared(ctx: FileContext, place: ast.expr) -> bool:
    """Whether what is written in a place is compared with NCCL by the variable or option that holds it."""
    index = ctx.index
    for comparison in index.tree.nodes_in(index.tree.module, ast.Compare):
        assert isinstance(comparison, ast.Compare)
        sides = [comparison.left, *comparison.comparators]
        names = [item for side in sides for item in (side, *getattr(side, "elts", ()))]
        if any(index.process_groups.is_nccl(name) for name in names) and any(
            origin.node is place for side in sides if side is not place for origin in origins(index, side)
        ):
            return True
    return False
