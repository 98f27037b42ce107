"""A tensor class as the default of a file: what ``torch.set_default_device`` says in its place."""

from __future__ import annotations

import ast

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability
from tpulint.semantic.devices.default_device import constructions
from tpulint.semantic.devices.tensor_types import TypeUse

FOLLOWERS_OF_DEFAULT = "Only tensors made without `device=` follow the default device, and none of `torch.Tensor`."


def set_default(ctx: FileContext, fix: FixBuilder, use: TypeUse, call: ast.Call) -> None:
    """Make the device the default where the class of a GPU was; give the fix up where a choice or variable names it."""
    statement = ctx.index.parent(call)
    is_plain = use.name == "FloatTensor" or (use.name == "DoubleTensor" and _stands_alone(ctx, call))
    if not is_plain or use.variable is not None or use.choice is not None:
        fix.give_up()
        return
    fix.lower(Applicability.UNSAFE, FOLLOWERS_OF_DEFAULT)
    if use.name == "DoubleTensor" and isinstance(statement, ast.stmt):
        torch = fix.use("torch", at=call)
        fix.insert_before(statement, f"{torch}.set_default_dtype({torch}.float64)")
    fix.replace(call, f"{fix.use('torch', at=call)}.set_default_device({fix.emit.device_name(call)})")
    for made in constructions(ctx.index, call):
        fix.append(ctx.index.tensor_types.filled(made), f".to({fix.device(made)})")


def _stands_alone(ctx: FileContext, call: ast.Call) -> bool:
    """Whether a statement sets the default, which no other one changes but in the other branch."""
    others = (other for other in ctx.index.calls_to("torch.set_default_tensor_type") if other is not call)
    return isinstance(ctx.index.parent(call), ast.Expr) and all(
        _stand_in_other_branches(ctx, call, other) for other in others
    )


def set_back(ctx: FileContext, fix: FixBuilder, settings: list[ast.Call]) -> None:
    """``torch.set_default_tensor_type(torch.FloatTensor)`` made the host the default again."""
    for call in ctx.index.calls_to("torch.set_default_tensor_type") if settings else ():
        given = call.args[0] if call.args else None
        name = given.value if isinstance(given, ast.Constant) else ctx.index.qualified_name(given) if given else None
        if call in settings or any(_stand_in_other_branches(ctx, call, setting) for setting in settings):
            continue
        if name == "torch.FloatTensor":
            if not _comes_first(ctx, call, settings):
                fix.replace(call, f'{fix.use("torch", at=call)}.set_default_device("cpu")')
        else:
            fix.give_up()  # of another dtype, or nobody knows of which


def _comes_first(ctx: FileContext, call: ast.Call, settings: list[ast.Call]) -> bool:
    """Whether a script sets the host in front of every accelerator: it is the default until then anyway."""
    tree = ctx.index.tree
    is_run_once = tree.function_of(call) is None and tree.loop_of(call) is None
    return is_run_once and all(
        tree.function_of(setting) is None and call.lineno < setting.lineno for setting in settings
    )


def _stand_in_other_branches(ctx: FileContext, node: ast.AST, other: ast.AST) -> bool:
    """Whether one condition chooses between two statements."""
    tree = ctx.index.tree
    holder = next(
        (item for item in tree.ancestors(node) if isinstance(item, ast.If) and tree.encloses(item, other)), None
    )
    children = [] if holder is None else [tree.child_towards(holder, item) for item in (node, other)]
    suites = [tree.suite_of(child) for child in children if isinstance(child, ast.stmt)]
    return len(suites) == 2 and suites[0] is not suites[1]
