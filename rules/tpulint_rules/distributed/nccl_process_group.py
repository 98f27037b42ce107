"""Process groups that ask for NCCL, which needs GPUs."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Certainty, Finding, Scope
from tpulint.semantic.origins import origins, written_at
from tpulint.semantic.process_groups import Join

_FROM_THE_RUNTIME = ("world_size", "rank", "device_id")
_FOR_GPUS = r"torch\.cuda|\.cuda\(|[\"']cuda|device_ids"


def check(ctx: FileContext) -> Iterator[Finding]:
    index, groups = ctx.index, ctx.index.process_groups
    for join in groups.joins:
        if join.backend is None:
            if "store" not in join.given and index.mentions(_FOR_GPUS) and not index.mentions(r"gloo|xla_backend"):
                message = "a process group without a backend serves GPUs with NCCL and CPUs with gloo, no XLA device"
                yield ctx.finding(join.call, message, _fix(ctx, join), certainty=Certainty.LIKELY)
        elif any(groups.is_nccl(origin.node) for origin in join.backends):
            certainty = Certainty.LIKELY if any(origin.by_user for origin in join.backends) else Certainty.CERTAIN
            message = "the NCCL backend needs GPUs: `init_process_group` raises on a TPU machine; use the backend `xla`"
            yield ctx.finding(join.call, message, _fix(ctx, join), certainty=certainty)
    for call in index.calls_to("torch.distributed.new_group"):
        for keyword in call.keywords:
            if keyword.arg == "backend" and any(groups.is_nccl(o.node) for o in origins(index, keyword.value)):
                reason = "Without it, the group has the backend of the process group it is part of."
                fix = ctx.fix("Leave the backend to the process group", Applicability.UNSAFE, reason)
                fix.delete_argument(call, keyword)
                yield ctx.finding(keyword, "the NCCL backend needs GPUs: `new_group` raises on a TPU machine", fix)


def _fix(ctx: FileContext, join: Join) -> FixBuilder:
    call, given = join.call, join.given
    reason = "The backend takes rank and number of processes from the XLA runtime, under launch and torchrun alike."
    fix = ctx.fix("Use the backend `xla`", Applicability.SAFE, reason, Scope.STATEMENT)
    if "store" in given or "pg_options" in given:
        fix.give_up()
        return fix
    fix.use("torch_xla.distributed.xla_backend", at=call)
    items: dict[str, ast.expr | ast.keyword] = dict(given)
    items.update({item.arg: item for item in call.keywords if item.arg is not None})
    gone = [items[name] for name in _FROM_THE_RUNTIME if name in items]
    added = []
    if (backend := join.backend) is not None:
        _write_backend(ctx, fix, backend)
    else:
        added.append('backend="xla"')
    if (method := given.get("init_method")) is not None:
        fix.replace(method, '"xla://"')
    elif gone and isinstance(gone[0], ast.keyword):
        fix.replace(gone.pop(0), 'init_method="xla://"')
    else:
        added.append('init_method="xla://"')
    if added:
        keyword, _, value = ", ".join(added).partition("=")
        fix.set_argument(call, keyword, value)
    fix.delete_arguments(call, gone)
    return fix


def _write_backend(ctx: FileContext, fix: FixBuilder, backend: ast.expr) -> None:
    """Name the backend in the one place that says it, be it a variable, a setting or the default of an option."""
    place = written_at(ctx.index, backend)
    if isinstance(place, ast.Name | ast.Attribute):
        place = backend
    quote = ctx.text(place)[-1] if isinstance(place, ast.Constant) and isinstance(place.value, str) else '"'
    fix.replace(place, f"{quote}xla{quote}")
