"""``torch.manual_seed`` does not reach the random numbers of an XLA device."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Applicability, Finding, Scope, Severity
from tpulint.semantic.devices.compared_devices import is_never_seeded
from tpulint.semantic.functions.passed_arguments import values_given
from tpulint.semantic.project.other_files import with_bases
from tpulint.semantic.project.outside import STEP
from tpulint.semantic.syntax.variables import last_name
from tpulint.semantic.values.kinds import Side
from tpulint.semantic.values.value import is_text

_SEEDS_DEVICE = (
    "torch_xla.manual_seed",
    "tpulint_runtime.backend.manual_seed",
    "torch_xla.core.xla_model.set_rng_state",
    "torch.cuda.manual_seed",
    "torch.cuda.manual_seed_all",
    "accelerate.utils.set_seed",
    "accelerate.utils.random.set_seed",
)
"""What seeds the device, or is rewritten to what does."""

_DRAWN_ON_DEVICE = (
    r"[Dd]ropout|rand\w*_like\(|\.(normal|uniform|bernoulli|exponential)_\(|multinomial\(|bernoulli\(|"
    r"\brand(n|int|perm)?\([^()\n]*device="
)
"""What a model or loss draws from the device. Elsewhere the seed may matter to a model of another file."""

_LAUNCHING = ("spawn(", "launch(", "init_process_group(")
"""What runs processes, in front of which the device must not be touched."""

_SIMPLE = (
    ast.Constant, ast.Name, ast.Attribute, ast.Subscript, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.IfExp, ast.Compare,
    ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.expr_context,
)  # fmt: skip
"""Parts of a seed that are read or calculated, ``config["seed"] + rank``."""

_OF_DATA = frozenset({"__getitem__", "__getitems__", "__iter__", "__next__", "collate_fn", "collate"})
"""Functions of data sets and loaders, called for every sample or batch."""
_RANK_QUESTION = r"(get_)?((global|local|process|world|node)_)?(rank|ordinal)"
"""Functions that tell which process this is, whoever wrote them."""


def check(ctx: FileContext) -> Iterator[Finding]:
    calls = list(ctx.index.calls_to("torch.manual_seed"))
    if not calls or not _has_device(ctx) or _seeds_device(ctx):
        return
    severity = Severity.WARNING if ctx.index.mentions(_DRAWN_ON_DEVICE) else Severity.INFO
    for call in calls:
        statement = ctx.index.statement_of(call)
        values = values_given(call)
        if not isinstance(statement, ast.Expr) or statement.value is not call or len(values) != 1:
            continue
        if _seeds_worker(ctx, call) or _is_for_host_only(ctx, call):
            continue
        message = (
            "`torch.manual_seed` does not seed an XLA device: random numbers drawn there, dropout among them, ignore it"
        )
        launches = ctx.index.launches
        if launches and (launches.launch_of(call) is None or launches.is_before_any(call)):
            advice = (
                "Call `torch_xla.manual_seed` in the launched function: "
                "it starts the runtime, which must not happen before the launch"
            )
            yield ctx.finding(call, message, severity=severity, help=advice)
            continue
        fix = ctx.fix(
            "Seed the device too", Applicability.SAFE, "Random numbers of the host stay as they are.", Scope.STATEMENT
        )
        advice = ""
        if not all(_is_repeatable(ctx, node) for node in (values[0], *ctx.index.tree.inside(values[0]))):
            fix.give_up()  # written twice, the seed may come out different
            advice = "Give the same seed to `torch_xla.manual_seed`, which seeds the device"
        seeding = fix.emit.seed(call, ctx.text(values[0]))
        if (join := ctx.index.process_groups.join_behind(call)) is None:
            fix.insert_after(statement, seeding)
        else:
            advice = (
                "Call `torch_xla.manual_seed` behind `init_process_group`: "
                "it starts the runtime, which must not happen before"
            )
            if not fix.insert_behind_join(statement, join, seeding):
                fix.give_up()
        yield ctx.finding(call, message, fix, severity=severity, help=advice)


def _is_repeatable(ctx: FileContext, node: ast.AST) -> bool:
    """Whether a part of a seed gives the same when it is asked again, and does nothing else: ``seed + get_rank()``."""
    if isinstance(node, ast.keyword):
        return node.arg is not None
    if not isinstance(node, ast.Call):
        return isinstance(node, _SIMPLE)
    name = ctx.index.qualified_name(node.func)
    if name == "builtins.int" or (last_name(node.func) == "get" and any(map(is_text, node.args[:1]))):
        return True  # `config.get("seed", 0)`
    from tpulint.semantic.processes.ranks import RANK_CALLS

    return name in RANK_CALLS or re.fullmatch(_RANK_QUESTION, last_name(node.func)) is not None


def _has_device(ctx: FileContext) -> bool:
    """Whether the file puts anything on a device, or steps of other files give it what lies there.

    Or whether it runs what another file does with one: ``torch.manual_seed(3); Trainer(args).train()``.
    """
    return (
        ctx.index.moves.has_device
        or any(
            call.turn == STEP and any(side == Side.DEVICE.name for _, _, side in call.arguments)
            for call in ctx.index.outside
        )
        or _runs_device(ctx)
    )


def _runs_device(ctx: FileContext) -> bool:
    """Whether a program makes objects or calls functions of files that have a device, and launch no processes."""
    if not ctx.index.is_program or not ctx.index.imported.knows_others:
        return False
    called = (found for call in ctx.index.imported.calls for found in ctx.index.imported.all_called(call))
    files = {one.file.source.path: one.file for found in called for one in with_bases(found)}
    if any(file.source.has_any(_LAUNCHING) for file in files.values()):
        return False
    return any(file.moves.has_device for file in files.values())


def _seeds_device(ctx: FileContext) -> bool:
    """Whether the file seeds the device, now or once it is ported; in portable code what is for CUDA stays so."""
    return any(
        not (ctx.portable and ctx.index.guards.is_for_cuda(node))
        if name.startswith("torch.cuda.")
        else not is_never_seeded(ctx.index, node)
        for node, name in ctx.index.references(*_SEEDS_DEVICE)
    )


def _is_for_host_only(ctx: FileContext, call: ast.Call) -> bool:
    """Whether the seed is for what a data set draws, or for a stretch behind which the generator is put back.

    To seed the device there would make it draw the same numbers again and again, as passes shall that ask gradients
    of one function twice, for their difference.
    """
    index = ctx.index
    function = index.function_of(call)
    if function is None:
        return _is_forked(ctx, call)
    if function.name in _OF_DATA or (
        index.turn_code.turn_of(call) is not None and not _asks_gradients_behind(ctx, call)
    ):
        return True
    restores = any(
        index.function_of(other) is function
        for other in index.calls_to("torch.set_rng_state", "torch.random.set_rng_state")
    )
    return restores or _is_forked(ctx, call)


def _asks_gradients_behind(ctx: FileContext, seeding: ast.Call) -> bool:
    """Whether the function goes on to a pass whose gradients it asks for itself: ``torch.autograd.grad(loss, z)``."""
    index = ctx.index
    return any(
        index.function_of(call) is index.function_of(seeding) and index.tree.start(call) > index.tree.start(seeding)
        for call in index.calls_to("torch.autograd.grad")
    )


def _is_forked(ctx: FileContext, call: ast.Call) -> bool:
    """``with torch.random.fork_rng():``"""
    return any(
        isinstance(ancestor, ast.With)
        and any(
            isinstance(item.context_expr, ast.Call)
            and (ctx.index.qualified_name(item.context_expr.func) or "").endswith(".fork_rng")
            for item in ancestor.items
        )
        for ancestor in ctx.index.tree.ancestors(call)
    )


def _seeds_worker(ctx: FileContext, call: ast.Call) -> bool:
    """Whether a call runs in a worker process of a data loader, which must not touch the device."""
    function = ctx.index.function_of(call)
    if function is None:
        return False
    if any(argument.arg in ("worker_id", "worker_seed") for argument in function.args.args):
        return True
    if next(ctx.index.references("torch.utils.data.get_worker_info"), None) is not None:
        return True
    passed = (item.value for other in ctx.index.calls for item in other.keywords if item.arg == "worker_init_fn")
    return any(
        isinstance(node, ast.Name) and node.id == function.name
        for value in passed
        for node in (value, *ctx.index.tree.inside(value))
    )
