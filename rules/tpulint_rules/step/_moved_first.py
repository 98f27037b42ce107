"""The move of a model, put in front of what must come after it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Scope
from tpulint.semantic import FunctionNode
from tpulint.semantic.devices.device_sites import devices_given
from tpulint.semantic.modules.moves import Move
from tpulint.semantic.syntax.torch_facts import COPIES, DEVICE_FACTORIES
from tpulint.semantic.values.creations import overlap
from tpulint_rules.step._built_optimizers import adds_to_optimizer, builds_optimizer
from tpulint_rules.step._made_modules import keeps_nothing_else

_ADDING = frozenset({"append", "extend", "insert", "update", "add_module", "register_module", "register_parameter"})
"""Methods that give a module parts."""
_DEPTH = 3
_DEVICES = DEVICE_FACTORIES | {"torch.device"}
_QUESTIONS = ("torch.cuda.is_available", "torch.accelerator.is_available")


def moved_first(ctx: FileContext, optimizer: ast.AST, move: Move) -> FixBuilder | None:
    """The model moved in front of the statement that builds or extends the optimizer; None where that is not proved."""
    tree = ctx.index.tree
    if isinstance(optimizer, ast.arg | ast.Subscript):
        return None  # built elsewhere
    above, below = tree.statement_of(optimizer), tree.statement_of(move.call)
    if not _only_moves(ctx, below, move):
        return None
    branch = branch_of_moves(ctx, move)
    if branch is not None:
        below = branch
    if above is below or tree.suite_of(above) is not tree.suite_of(below):
        return None
    adds = adds_to_optimizer(optimizer)
    is_alone = isinstance(above, ast.Expr) and above.value is optimizer and (adds or _is_kept(ctx, above.value))
    if not is_alone and not isinstance(above, ast.Assign | ast.AnnAssign):
        return None
    suite = tree.suite_of(above)
    between = suite[suite.index(above) + 1 : suite.index(below)]
    device = _device_between(ctx, above, between, move.call)
    moves = [item for item in ctx.index.moves.moves if tree.encloses(below, item.call)]
    modules = [ctx.text(item.module) for item in moves]
    others = [statement for statement in between if statement is not device]
    if any(tree.may_leave(item) or _adds_parts(ctx, item, modules) for item in others):
        return None
    if any(_is_copied_for_host(ctx, item, modules) for item in others):
        return None
    asked = [argument for item in moves for argument in item.call.args]
    doing = [item for item in others if not _moves_another(ctx, item)]
    if ctx.index.deferrals.may_change(doing, asked if branch is None else [*asked, branch.test]):
        return None
    needed = {ctx.text(node) for node in tree.inside(below) if isinstance(node, ast.Name | ast.Attribute)}
    if any(_gives(ctx, statement, needed) for statement in (above, *between) if statement is not device):
        return None
    fix = ctx.fix(
        f"Move `{ctx.text(move.module)}` before " + ("the optimizer gets it" if adds else "its optimizer is built"),
        Applicability.SAFE,
        "The optimizer then gets the parameters that are trained.",
        Scope.STATEMENT,
    )
    if any(_mentions(ctx, statement, module) for statement in between for module in modules):
        fix.lower(Applicability.UNSAFE, "Statements in between then see the model on the device.")
    moved_with_it = [below] if device is None else [device, below]
    rows = [_rows_of(ctx, statement) for statement in moved_with_it]
    if None in rows:
        return None
    fix.insert_before(above, "\n".join(row for row in rows if row is not None))
    for statement in moved_with_it:
        fix.delete(statement)
    return fix


def _is_kept(ctx: FileContext, call: ast.expr) -> bool:
    """``model.set_optimizer()``, which gives the model nothing that moves."""
    found = ctx.index.imported.called(call) if isinstance(call, ast.Call) else None
    return found is not None and keeps_nothing_else(found)


def _only_moves(ctx: FileContext, statement: ast.stmt, move: Move) -> bool:
    """Whether a statement does nothing else: ``model.to(device)`` or ``model = model.to(device)``."""
    if isinstance(statement, ast.Assign):
        if len(statement.targets) != 1 or ctx.text(statement.targets[0]) != ctx.text(move.module):
            return False
    elif not isinstance(statement, ast.Expr):
        return False
    return statement.value is move.call


def _moves_another(ctx: FileContext, statement: ast.stmt) -> bool:
    """Whether a statement moves a model to a device that is there, or made for it, and does nothing else."""
    return any(
        _only_moves(ctx, statement, move)
        and not any(
            isinstance(node, ast.Call) and ctx.index.qualified_name(node.func) not in _DEVICES
            for item in devices_given(move.call)
            for node in (item, *ctx.index.tree.inside(item))
        )
        for move in ctx.index.moves.moves
    )


def branch_of_moves(ctx: FileContext, move: Move) -> ast.If | None:
    """The branch around a move, where it only moves models and its condition may be asked earlier.

    ``if train_on_gpu: net.cuda()``
    """
    branch = ctx.index.parent(ctx.index.tree.statement_of(move.call))
    if not isinstance(branch, ast.If) or branch.orelse:
        return None
    moves = ctx.index.moves.moves
    if not all(any(_only_moves(ctx, item, other) for other in moves) for item in branch.body):
        return None
    calls = [node for node in (branch.test, *ctx.index.tree.inside(branch.test)) if isinstance(node, ast.Call)]
    return branch if all(ctx.index.qualified_name(call.func) in _QUESTIONS for call in calls) else None


def _rows_of(ctx: FileContext, statement: ast.stmt) -> str | None:
    """A statement and the comment behind it; None where it does not have rows of its own."""
    end = ctx.index.tree.end(statement)
    trailing = ctx.source.text[end : ctx.source.line_end(end)]
    if ";" in trailing.split("#", 1)[0]:
        return None
    rows = (ctx.text(statement) + trailing.rstrip()).split("\n")
    if len(rows) > 1 and not isinstance(statement, ast.If):
        return None
    margin = ctx.index.tree.start(statement) - ctx.source.line_start(ctx.index.tree.start(statement))
    if any(row[:margin].strip() for row in rows[1:]):
        return None
    return "\n".join([rows[0], *(row[margin:] for row in rows[1:])])


def _device_between(ctx: FileContext, above: ast.stmt, between: list[ast.stmt], call: ast.Call) -> ast.stmt | None:
    """The statement ``device = torch_xla.device()`` that the move has to take with it."""
    for at, statement in enumerate(between):
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            continue
        name = statement.targets[0]
        if not isinstance(name, ast.Name) or not any(ctx.text(item) == name.id for item in call.args):
            continue
        takes = isinstance(statement.value, ast.Call) and ctx.index.qualified_name(statement.value.func)
        alone = not any(_mentions(ctx, other, name.id) for other in (above, *between[:at]))
        return statement if takes in DEVICE_FACTORIES and alone else None
    return None


def _gives(ctx: FileContext, statement: ast.stmt, names: set[str]) -> bool:
    """Whether a statement gives one of these variables a value."""
    return any(
        isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store) and ctx.text(node) in names
        for node in ctx.index.tree.inside(statement)
    )


def _adds_parts(ctx: FileContext, node: ast.AST, modules: list[str], depth: int = 0) -> bool:
    """Whether a statement gives one of these modules other parts, which then have to be moved, too.

    Functions of the file that it hands the module to are looked into.
    """
    for inner in ctx.index.tree.inside(node):
        if isinstance(inner, ast.Attribute | ast.Subscript):
            adds = not isinstance(inner.ctx, ast.Load) or (isinstance(inner, ast.Attribute) and inner.attr in _ADDING)
            if (
                adds
                and not _keeps_optimizer(ctx, inner)
                and any(ctx.text(inner).startswith((f"{module}.", f"{module}[")) for module in modules)
            ):
                return True
        if not isinstance(inner, ast.Call):
            continue
        given = [argument for argument in inner.args if ctx.text(argument) in modules]
        if given and ctx.index.qualified_name(inner.func) == "builtins.setattr":
            return True
        function = ctx.index.definitions.function_called(inner) if given and depth < _DEPTH else None
        if function is None:
            continue
        names = [name for argument in given for name in _parameters_given(ctx, function, inner, argument)]
        if _adds_parts(ctx, function, names, depth + 1):
            return True
    return False


def _is_copied_for_host(ctx: FileContext, statement: ast.stmt, modules: list[str]) -> bool:
    """Whether a statement makes a copy of one of these modules that nothing moves: ``kept = copy.deepcopy(net)``."""
    moves = ctx.index.moves
    for call in ctx.index.tree.inside(statement):
        if not isinstance(call, ast.Call) or ctx.index.qualified_name(call.func) not in COPIES:
            continue
        made = moves.creations.of(call)
        is_of_module = any(ctx.text(item) in modules for item in call.args)
        if is_of_module and not any(overlap(list(moves.moved_by(move)), made) for move in moves.moves):
            return True
    return False


def _keeps_optimizer(ctx: FileContext, target: ast.expr) -> bool:
    """``self.optimizer = Adam(...)``, which is no part that moves."""
    statement = ctx.index.parent(target)
    value = statement.value if isinstance(statement, ast.Assign) else None
    return isinstance(value, ast.Call) and builds_optimizer(ctx, value)


def _parameters_given(ctx: FileContext, function: FunctionNode, call: ast.Call, argument: ast.expr) -> Iterator[str]:
    """The names under which a function of the file gets an argument of a call of it."""
    own = isinstance(call.func, ast.Attribute) and ctx.index.tree.class_of(function) is not None
    parameters = [*function.args.posonlyargs, *function.args.args][own:]
    yield from (parameter.arg for parameter, item in zip(parameters, call.args, strict=False) if item is argument)


def _mentions(ctx: FileContext, statement: ast.stmt, text: str) -> bool:
    return any(
        isinstance(node, ast.Name | ast.Attribute) and ctx.text(node) == text
        for node in ctx.index.tree.inside(statement)
    )
