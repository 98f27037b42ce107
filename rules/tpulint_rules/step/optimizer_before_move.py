"""An optimizer that was built before its model moved trains parameters nobody uses."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Certainty, Finding, Scope, Severity, Span
from tpulint.semantic import FUNCTIONS, Kind
from tpulint.semantic.creations import Creation
from tpulint.semantic.moves import Move
from tpulint.semantic.torch_facts import OPTIMIZER_PREFIXES
from tpulint_rules.step._kept_parameters import keep_parameters

_GIVES_PARAMETERS = ("parameters", "named_parameters")


def check(ctx: FileContext) -> Iterator[Finding]:
    moves = ctx.index.moves
    optimizers = [(call, _parameters_of(ctx, call)) for call in ctx.index.calls if _is_optimizer_call(ctx, call)]
    # Where no optimizer is built, one may still come in from another file, to be stepped here.
    if not (optimizers or ctx.index.mentions(r"\.step\(|Optimizer\b")) or moves.keeps_parameters:
        return
    told: list[Move] = []
    for optimizer, modules in optimizers:
        for module in modules:
            creations = moves.creations.of(module)
            if _is_on_device(ctx, optimizer, creations):
                continue
            for move in moves.moves:
                shared = [
                    creation for creation in move.creations if any(creation.overlaps(other) for other in creations)
                ]
                if not shared or move in told or moves.precedes(optimizer, move.call) is not True:
                    continue
                told.append(move)
                known = move.certain and not any(isinstance(creation.node, ast.arg) for creation in shared)
                yield _finding(ctx, optimizer, move, Certainty.CERTAIN if known else Certainty.LIKELY)
    for move in moves.moves:
        if move not in told and (built := _passed_beside(ctx, move)) is not None:
            yield _finding(ctx, built, move, Certainty.LIKELY)


def _finding(ctx: FileContext, optimizer: ast.AST, move: Move, certainty: Certainty) -> Finding:
    module = ctx.text(move.module)
    if isinstance(optimizer, ast.arg):
        message = (
            f"`{optimizer.arg}` is built before `{module}` moves to the device here: on XLA a move makes new "
            "parameters, and the optimizer keeps the old ones, so that the model never trains"
        )
        severity = Severity.WARNING
        related: tuple[tuple[Span, str], ...] = ()
    else:
        message = (
            f"`{module}` moves to the device after its optimizer was built: on XLA a move makes new parameters, and "
            "the optimizer keeps the old ones, so that the model never trains"
        )
        severity = Severity.ERROR
        related = ((ctx.index.span(optimizer), "the optimizer is built here"),)
    fix = _reordered(ctx, optimizer, move) or keep_parameters(ctx)
    return ctx.finding(move.call, message, fix, severity=severity, certainty=certainty, related=related)


# -------------------------------------------------------------------- finding


def _is_optimizer_call(ctx: FileContext, call: ast.Call) -> bool:
    name = ctx.index.qualified_name(call.func)
    if name is None:
        # A function that builds one is looked into where it does.
        return ctx.index.definitions.class_called(call) is not None and ctx.index.kind(call) is Kind.OPTIMIZER
    return name.startswith(OPTIMIZER_PREFIXES) and ctx.index.kind(call) is Kind.OPTIMIZER


def _parameters_of(ctx: FileContext, optimizer: ast.Call) -> list[ast.expr]:
    """The modules whose parameters an optimizer is built from."""
    found: list[ast.expr] = []
    waiting: list[ast.expr] = [*optimizer.args, *(item.value for item in optimizer.keywords)]
    seen: set[ast.AST] = set()
    while waiting and len(seen) < 40:
        root = waiting.pop()
        if root in seen:
            continue
        seen.add(root)
        for node in (root, *ctx.index.tree.inside(root)):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr in _GIVES_PARAMETERS
            ):
                found.append(node.func.value)
                continue
            if not isinstance(node, ast.Name | ast.Attribute) or not isinstance(node.ctx, ast.Load):
                continue
            if ctx.index.kind(node) is Kind.MODULE:
                found.append(node)
            elif isinstance(node, ast.Name):
                # a list of parameters made beforehand, or handed in
                for binding in ctx.index.flow.reaching(node):
                    if binding.kind == "parameter" and isinstance(binding.statement, FUNCTIONS):
                        waiting.extend(ctx.index.definitions.arguments_for(binding.statement, binding.name))
                    elif binding.value is not None and ctx.index.kind(node) not in (Kind.LOADER, Kind.DEVICE):
                        waiting.append(binding.value)
                waiting.extend(_added_to(ctx, node))
    return found


def _added_to(ctx: FileContext, name: ast.Name) -> Iterator[ast.expr]:
    """What ``.append``, ``.extend`` and ``.add_param_group`` put into a list."""
    scope = ctx.index.names.scope_of(name)
    for call, receiver in ctx.index.method_calls("append", "extend"):
        if isinstance(receiver, ast.Name) and receiver.id == name.id and ctx.index.names.scope_of(receiver) is scope:
            yield from call.args


def _is_on_device(ctx: FileContext, optimizer: ast.Call, creations: list[Creation]) -> bool:
    """Whether the module has moved, or may have, when the optimizer is built."""
    moves = ctx.index.moves
    for creation in creations:
        if any(moves.to_device(call) is not None for call in creation.way):
            return True
        if isinstance(creation.node, ast.Call):
            arguments = [*creation.node.args, *(item.value for item in creation.node.keywords)]
            if any(item.arg in ("device", "device_map") for item in creation.node.keywords):
                return True
            if any(ctx.index.kind(item) is Kind.DEVICE for item in arguments):
                return True
        for move in moves.moves:
            if (
                any(creation.overlaps(other) for other in move.creations)
                and moves.precedes(move.call, optimizer) is not False
            ):
                return True
    return ctx.index.mentions(r"set_default_(device|tensor_type)|with torch\.device\(")


def _passed_beside(ctx: FileContext, move: Move) -> ast.arg | None:
    """The optimizer that comes in through the same parameter list as the model that is moved."""
    function = ctx.index.function_of(move.call)
    if function is None or ctx.index.definitions.calls_of(function):
        return None
    arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    if not any(creation.node in arguments and not creation.way for creation in move.creations):
        return None
    for argument in arguments:
        if _is_optimizer(ctx, argument):
            return argument
    return None


def _is_optimizer(ctx: FileContext, argument: ast.arg) -> bool:
    kinds, names = ctx.index.kinds, ctx.index.names
    for bindings in (names.scope_of(argument).bindings.get(argument.arg, ()),):
        if any(
            binding.node is argument and kinds.binding_value(binding).kind is Kind.OPTIMIZER for binding in bindings
        ):
            return True
    # `self.optimizer = optimizer`: how the attribute is used tells
    for node in ctx.index.tree.attributes:
        statement = ctx.index.parent(node)
        if isinstance(statement, ast.Assign) and node in statement.targets and isinstance(statement.value, ast.Name):
            found = names.bindings(statement.value)
            if any(binding.node is argument for binding in found):
                values = [
                    kinds.binding_value(b)
                    for owner in names.attributes.values()
                    for b in owner.get(node.attr, ())
                    if b.node is node
                ]
                if any(value.kind is Kind.OPTIMIZER for value in values):
                    return True
    return False


# -------------------------------------------------------------------- fixing


def _reordered(ctx: FileContext, optimizer: ast.AST, move: Move) -> FixBuilder | None:
    """The model moved in front of the statement that builds the optimizer; None where that is not proved."""
    tree = ctx.index.tree
    if isinstance(optimizer, ast.arg):
        return None
    above, below = tree.statement_of(optimizer), tree.statement_of(move.call)
    if (
        above is below
        or tree.suite_of(above) is not tree.suite_of(below)
        or not isinstance(above, ast.Assign | ast.AnnAssign)
    ):
        return None
    if isinstance(below, ast.Expr):
        moved: ast.expr | None = below.value
    elif (
        isinstance(below, ast.Assign)
        and len(below.targets) == 1
        and ctx.text(below.targets[0]) == ctx.text(move.module)
    ):
        moved = below.value
    else:
        return None
    if moved is not move.call:
        return None
    suite = tree.suite_of(above)
    between = suite[suite.index(above) + 1 : suite.index(below)]
    needed = {ctx.text(node) for node in tree.inside(below) if isinstance(node, ast.Name | ast.Attribute)}
    for statement in (above, *between):
        for node in tree.inside(statement):
            if (
                isinstance(node, ast.Name | ast.Attribute)
                and isinstance(node.ctx, ast.Store)
                and ctx.text(node) in needed
            ):
                return None
    fix = ctx.fix(
        f"Move `{ctx.text(move.module)}` before its optimizer is built",
        Applicability.SAFE,
        "The optimizer then gets the parameters that are trained.",
        Scope.STATEMENT,
    )
    module = ctx.text(move.module)
    if any(_mentions(ctx, statement, module) for statement in between):
        fix.lower(Applicability.UNSAFE, "Statements in between then see the model on the device.")
    end = tree.end(below)
    row = ctx.source.row(end)
    trailing = ctx.source.line(row)[end - ctx.source.line_starts[row - 1] :]
    text = ctx.text(below)
    if "\n" in text or ";" in trailing.split("#", 1)[0]:
        return None
    fix.insert_before(above, text + trailing.rstrip())
    fix.delete(below)
    return fix


def _mentions(ctx: FileContext, statement: ast.stmt, text: str) -> bool:
    return any(
        isinstance(node, ast.Name | ast.Attribute) and ctx.text(node) == text
        for node in ctx.index.tree.inside(statement)
    )
