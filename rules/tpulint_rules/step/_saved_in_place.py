"""Saving the values of a model without moving it: its state goes to the host instead."""

from __future__ import annotations

import ast
import re

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Scope
from tpulint.semantic.modules.moves import Move

_XM = "torch_xla.core.xla_model"
_DISTRIBUTED = ("torch.distributed", "torch.multiprocessing", "torch_xla.launch", "torch_xla.distributed")
_QUESTIONS = ("builtins.len", "torch.cuda.is_available", "torch.accelerator.is_available")
_GPU = r"(?i)gpu|cuda|device"
_COPIED = "The file holds the same module; its copy takes memory on the device until it is saved."
_FILE_HOLDS = "The file holds the same values, and the model stays where it is, as it did on a GPU."


def saved_in_place(ctx: FileContext, call: ast.Call, back: Move) -> FixBuilder | None:
    """The save without the moves; None unless the model is on the host for nothing but its ``state_dict()``."""
    tree = ctx.index.tree
    module = ctx.text(module_moved(call))
    away, move = tree.statement_of(call), tree.statement_of(back.call)
    suite = tree.suite_of(away)
    returned = ctx.text(module_moved(back.call))
    if move is away or module not in (returned, f"{returned}.module") or not _is_move(ctx, move, back.call, returned):
        return None
    home = move if tree.suite_of(move) is suite else _branch_of(ctx, move, back.call)
    if home is None or tree.suite_of(home) is not suite:
        return None
    between = suite[suite.index(away) : suite.index(home)]
    if _is_saved_whole(ctx, away, call):
        return None if any(_mentions(ctx, one, module) for one in between[1:]) else _save_copy(ctx, call, back, home)
    fix = ctx.fix("Save the state without moving the model", Applicability.SAFE, _FILE_HOLDS, Scope.STATEMENT)
    if _is_move(ctx, away, call, module):
        between = between[1:]
        _stay(fix, away, call)
    states: list[ast.Call] = []
    for statement in between:
        for node in tree.inside(statement):
            if isinstance(node, ast.Name | ast.Attribute) and ctx.text(node) == module:
                state = _state_of(ctx, node, call)
                if state is None:
                    return None  # something else is done with the model while it is on the host
                states.append(state)
    if not states:
        return None
    for state in states:
        _take_state(ctx, fix, state, module)
    _stay(fix, home, back.call)
    return fix


def is_saved_between(ctx: FileContext, call: ast.Call, back: Move) -> bool:
    """``state["model"].cpu()``, a save of that, and its way back, which may stand under a condition."""
    tree = ctx.index.tree
    module = ctx.text(module_moved(call))
    away, home = tree.statement_of(call), tree.statement_of(back.call)
    suite = tree.suite_of(away)
    under = tree.parent(home)
    if home not in suite and isinstance(under, ast.If) and not under.orelse:
        home = under
    is_statement = isinstance(away, ast.Expr) and away.value is call
    if not is_statement or home not in suite or ctx.text(module_moved(back.call)) != module:
        return False
    return any(
        isinstance(node, ast.Call)
        and ctx.index.qualified_name(node.func) == "torch.save"
        and any(ctx.text(part).startswith(module) for part in node.args[:1])
        for one in suite[suite.index(away) + 1 : suite.index(home)]
        for node in tree.inside(one)
    )


def _branch_of(ctx: FileContext, move: ast.stmt, call: ast.Call) -> ast.If | None:
    """The branch that a move alone stands in: ``if len(gpu_ids) and torch.cuda.is_available(): net.cuda()``."""
    branch = ctx.index.parent(move)
    if not isinstance(branch, ast.If) or branch.orelse or len(branch.body) > 1 or not _is_all_of(move, call):
        return None
    asked = [node for node in (branch.test, *ctx.index.tree.inside(branch.test)) if isinstance(node, ast.Call)]
    asks_only = all(ctx.index.qualified_name(node.func) in _QUESTIONS for node in asked)
    # Where another condition does not hold, the model is meant to stay on the host.
    is_for_gpus = re.search(_GPU, ctx.text(branch.test)) is not None
    is_elif = ctx.source.text.startswith("elif", ctx.index.tree.start(branch))
    return branch if asks_only and is_for_gpus and not is_elif else None


def _is_saved_whole(ctx: FileContext, statement: ast.stmt, call: ast.Call) -> bool:
    """``torch.save(model.cpu(), path)``"""
    save = statement.value if isinstance(statement, ast.Expr) else None
    assert isinstance(call.func, ast.Attribute)
    plain = isinstance(call.func.value, ast.Name | ast.Attribute) and not call.args and not call.keywords
    is_save = isinstance(save, ast.Call) and ctx.index.qualified_name(save.func) == "torch.save"
    return plain and is_save and isinstance(save, ast.Call) and save.args[:1] == [call]


def _mentions(ctx: FileContext, statement: ast.stmt, module: str) -> bool:
    nodes = (node for node in ctx.index.tree.inside(statement) if isinstance(node, ast.Name | ast.Attribute))
    return any(ctx.text(node) == module for node in nodes)


def _save_copy(ctx: FileContext, call: ast.Call, back: Move, home: ast.stmt) -> FixBuilder:
    """The save of a copy, which alone goes to the host."""
    assert isinstance(call.func, ast.Attribute)
    fix = ctx.fix("Save a copy on the host", Applicability.UNSAFE, _COPIED, Scope.STATEMENT)
    copy = fix.use("copy", at=call)
    fix.replace(call.func.value, f"{copy}.deepcopy({ctx.text(call.func.value)})")
    _stay(fix, home, back.call)
    return fix


def module_moved(call: ast.Call) -> ast.expr:
    """The module itself: ``model`` of ``model.eval().cpu()``."""
    node: ast.expr = call
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        node = node.func.value
    return node


def _is_move(ctx: FileContext, statement: ast.stmt, call: ast.Call, module: str) -> bool:
    """``model.cuda()``, ``model = model.cuda()`` and ``model.to(device).train()``"""
    value = statement.value if isinstance(statement, ast.Assign | ast.Expr) else None
    if isinstance(statement, ast.Assign) and [ctx.text(target) for target in statement.targets] != [module]:
        return False
    calls = 0
    node = value
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node is call:
            calls += 1
        elif node.func.attr not in ("eval", "train"):
            return False
        node = node.func.value
    return calls == 1


def _stay(fix: FixBuilder, statement: ast.stmt, call: ast.Call) -> None:
    """Take the move out of its statement, or the statement with it when it does nothing else."""
    assert isinstance(call.func, ast.Attribute)
    if isinstance(statement, ast.If) or _is_all_of(statement, call):
        fix.delete(statement)
    else:
        fix.replace_tail(call, call.func.value, "")


def _is_all_of(statement: ast.stmt, call: ast.Call) -> bool:
    """Whether a statement does nothing but move a module."""
    assert isinstance(call.func, ast.Attribute)
    alone = isinstance(statement, ast.Expr | ast.Assign) and statement.value is call
    return alone and not isinstance(call.func.value, ast.Call)


def _state_of(ctx: FileContext, module: ast.expr, call: ast.Call) -> ast.Call | None:
    """The call ``model.state_dict()`` or ``model.cpu().state_dict()`` around the model."""
    value = call if call.func is ctx.index.parent(module) else module
    attribute = ctx.index.parent(value)
    if not isinstance(attribute, ast.Attribute) or attribute.attr != "state_dict":
        return None
    state = ctx.index.parent(attribute)
    return state if isinstance(state, ast.Call) and state.func is attribute and not state.args else None


def _take_state(ctx: FileContext, fix: FixBuilder, state: ast.Call, module: str) -> None:
    save = ctx.index.parent(state)
    one_process = next(ctx.index.references(*_DISTRIBUTED), None) is None
    if (
        one_process
        and isinstance(save, ast.Call)
        and ctx.index.qualified_name(save.func) == "torch.save"
        and save.args[:1] == [state]
        and len(save.args) == 2
        and not save.keywords
    ):
        fix.rename_callee(save, f"{fix.use(_XM, alias='xm', at=save)}.save")
        fix.replace(state, f"{module}.state_dict()")
        return
    fix.replace(state, f"{{name: value.cpu() for name, value in {module}.state_dict().items()}}")
    fix.lower(Applicability.UNSAFE, "The state is fetched tensor by tensor, into a plain dictionary.")
