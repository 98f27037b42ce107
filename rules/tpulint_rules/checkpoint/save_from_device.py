"""Saving tensors that live on an XLA device fetches them one by one and ties the file to torch_xla."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Applicability, Finding
from tpulint.semantic import Kind
from tpulint.semantic.project.outside import qualified_in_file
from tpulint.semantic.syntax.variables import last_name
from tpulint.semantic.values.origins import origins
from tpulint_rules.checkpoint._kept_containers import Kept, kept

_COPIED = "`dataclasses.asdict` copies each tensor on the device first: `vars(snapshot)` does not"
_CONTAINERS = "Tuples come back as lists, and dictionaries of any class as plain ones."
_RANK = re.compile(r"(?i)(?:get_|.*_)?(?:rank|ordinal)")
_DISTRIBUTED = ("torch.distributed", "torch.multiprocessing", "torch_xla.launch", "torch_xla.distributed")


def check(ctx: FileContext) -> Iterator[Finding]:
    if not ctx.index.saved_states.may_be_of_device:
        return
    for call in ctx.index.calls_to("torch.save"):
        saved = call.args[0] if call.args else next((item.value for item in call.keywords if item.arg == "obj"), None)
        if saved is None or (isinstance(saved, ast.Starred) and not _is_given_on(ctx, call, saved)):
            continue
        if _is_module(ctx, saved):
            message = (
                "`torch.save` of a whole model ties the file to this device and to torch_xla; save its `state_dict()`"
            )
            yield ctx.finding(
                call, message, help="Save `model.state_dict()` with `xm.save` and load it with `load_state_dict`"
            )
        elif isinstance(saved, ast.Starred) or ctx.index.saved_states.holds(saved):
            fix = ctx.fix(
                "Save with `xm.save`", Applicability.SAFE, "It writes the same values, as tensors of the host."
            )
            fix.emit.save(call)
            if isinstance(call.args[0] if call.args else None, ast.Starred):
                if any(item.arg is not None for item in call.keywords) or len(call.args) > 1:
                    fix.give_up()
                fix.lower(Applicability.UNSAFE, "No call of another file may name what it gives, or give more.")
            elif len(call.args) + len(call.keywords) != 2 or any(
                item.arg not in ("obj", "f") for item in call.keywords
            ):
                fix.give_up()
            elif not ctx.portable and _is_of_each_rank(ctx, call):
                fix.set_argument(call, "master_only", "False")
            comes_back = kept(ctx.index, saved)
            if comes_back is Kept.BROKEN:
                fix.give_up()
            elif comes_back is Kept.UNKNOWN:
                fix.lower(Applicability.UNSAFE, _CONTAINERS)
            if not ctx.portable and next(ctx.index.references(*_DISTRIBUTED), None) is not None:
                fix.lower(
                    Applicability.UNSAFE,
                    "`xm.save` writes in one process of each host only, and all of them should call it.",
                )
            message = (
                "`torch.save` fetches tensors from an XLA device one by one, and the file cannot be loaded without "
                "torch_xla; `xm.save` fetches them at once and writes tensors of the host"
            )
            yield ctx.finding(call, message, fix, help=_help(ctx, saved, comes_back))


def _help(ctx: FileContext, saved: ast.expr, comes_back: Kept) -> str:
    if comes_back is Kept.BROKEN:
        return "`xm.save` makes lists of tuples, as `random.getstate()` gives: make them tuples where they are loaded"
    return _COPIED if _is_copied(ctx, saved) else ""


def _is_given_on(ctx: FileContext, call: ast.Call, starred: ast.Starred) -> bool:
    """Whether calls give a state to a function which hands all on: ``def save(*args): torch.save(*args)``.

    Not so where one of them names what it gives: `xm.save` has other names.
    """
    function, passed = ctx.index.function_of(call), starred.value
    if function is None or function.args.vararg is None or not isinstance(passed, ast.Name):
        return False
    if function.args.vararg.arg != passed.id or function.args.args or function.args.posonlyargs:
        return False
    calls = ctx.index.definitions.calls_of(function)
    if any(one.keywords for one in calls):
        return False
    name = qualified_in_file(ctx.index.tree, function)
    elsewhere = any(passed.id in one.states for one in ctx.index.outside if one.function == name)
    return elsewhere or any(ctx.index.saved_states.holds(one.args[0]) for one in calls if one.args)


def _is_of_each_rank(ctx: FileContext, call: ast.Call) -> bool:
    """Whether each process writes a file of its own, ``f"optimizer_{rank}.pt"``: `xm.save` writes one of them only."""
    path = call.args[1] if len(call.args) > 1 else next(item.value for item in call.keywords if item.arg == "f")
    made = [path, *(origin.node for origin in origins(ctx.index, path))]
    function = ctx.index.function_of(call)
    if isinstance(path, ast.Name) and function is not None:
        made += ctx.index.definitions.arguments.of(function, path.id)
    parts = (part for node in made for part in (node, *ctx.index.tree.inside(node)))
    return any(_RANK.fullmatch(last_name(part)) for part in parts) and ctx.index.ranks.condition_of(call) is None


def _is_copied(ctx: FileContext, saved: ast.expr) -> bool:
    """Whether what is saved is the copy of all that a dataclass holds: ``asdict(snapshot)``."""
    from tpulint.semantic.modules.saved_states import AS_COPIES

    made = [saved, *(binding.value for binding in ctx.index.flow.bindings_of(saved))]
    return any(isinstance(node, ast.Call) and ctx.index.qualified_name(node.func) in AS_COPIES for node in made)


def _is_module(ctx: FileContext, node: ast.expr) -> bool:
    """Whether a module is saved, alone or in a list or dictionary: ``{"model": model, "step": step}``."""
    if isinstance(node, ast.Name | ast.Attribute) and ctx.index.kind(node) is Kind.MODULE:
        return True
    is_container = isinstance(node, ast.List | ast.Tuple | ast.Dict | ast.Name)
    return is_container and any(
        isinstance(item, ast.Name | ast.Attribute) and ctx.index.kind(item) is Kind.MODULE
        for item in ctx.index.kinds.contents.of(node)
    )
