"""Parameters that a module hands to another one, which keeps them as its own."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.semantic import FUNCTIONS, FunctionNode
from tpulint.semantic.functions.passed_arguments import arguments_given
from tpulint.semantic.project.other_files import Definition, definition_called, function_run
from tpulint.semantic.syntax.variables import root_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

PARAMETERS = frozenset({"weight", "bias"})
_DEPTH = 3


def parameters_handed_over(ctx: FileContext) -> Iterator[tuple[ast.Call, ast.Attribute]]:
    """``self.head = Head(self.words.weight)``, with the parameter, where ``Head`` gives it to a layer of its own."""
    index = ctx.index
    for given in index.tree.attributes:
        if given.attr not in PARAMETERS or not isinstance(given.ctx, ast.Load):
            continue
        holder = index.parent(given)
        call = index.parent(holder) if isinstance(holder, ast.keyword) else holder
        if not isinstance(call, ast.Call) or call.func is given or not is_layer_of(given, module_made_at(ctx, call)):
            continue
        statement = index.statement_of(call)
        is_part = isinstance(statement, ast.Assign) and any(isinstance(one, ast.Attribute) for one in statement.targets)
        made = _called(index, call) if is_part else None
        if made is None or not isinstance(made.node, ast.ClassDef):
            continue
        if made.file.definitions.is_module_class(made.node) and _keeps(made, call, given):
            yield call, given


def _called(index: SemanticIndex, call: ast.Call) -> Definition | None:
    """What a call runs: a function, or a class, of this file or of another."""
    own = index.definitions.class_called(call)
    return definition_called(index, call) if own is None else Definition(index, own)


def module_made_at(ctx: FileContext, node: ast.AST) -> str:
    """What a module is called in its ``__init__``, or in what that calls; empty for any other code."""
    owner, function = ctx.index.tree.class_of(node), ctx.index.function_of(node)
    if owner is None or function is None or not ctx.index.definitions.is_module_class(owner) or not function.args.args:
        return ""
    is_made = function.name == "__init__" or any(
        isinstance(caller := ctx.index.function_of(call), FUNCTIONS) and caller.name == "__init__"
        for call in ctx.index.definitions.calls_of(function)
    )
    return function.args.args[0].arg if is_made else ""


def is_layer_of(parameter: ast.Attribute, own: str) -> bool:
    """Whether a parameter is that of a layer of the module: ``self.words.weight``, and not ``self.weight``."""
    root = root_of(parameter.value)
    return isinstance(parameter.value, ast.Attribute | ast.Subscript) and root is not None and root.id == own


def _keeps(called: Definition, call: ast.Call, given: ast.expr, depth: int = 0) -> bool:
    """Whether what a call runs makes a parameter that it is given one of a module."""
    run = function_run(called)
    if run is None or depth > _DEPTH or not isinstance(run.node, FUNCTIONS):
        return False
    file, function = run
    is_method = file.tree.class_of(function) is not None
    names = [name for name, value in arguments_given(call, run.node, is_method) if value is given]
    return any(_is_kept(file, run.node, load, depth) for name in names for load in _loads(run, run.node, name))


def _loads(run: Definition, function: FunctionNode, name: str) -> list[ast.Name]:
    """Where a parameter is read, as long as it is what the call gave."""
    mentions = run.file.names.mentions(name, run.file.names.scope_of(function.body[0]))
    loads = [one for one in mentions if isinstance(one.ctx, ast.Load)]
    return loads if len(loads) == len(mentions) else []


def _is_kept(file: SemanticIndex, function: FunctionNode, load: ast.Name, depth: int) -> bool:
    """``self.decoder.weight = weights``, or another call that does so."""
    holder = file.parent(load)
    if isinstance(holder, ast.Assign) and holder.value is load:
        own = function.args.args[0].arg if function.args.args else ""
        # `layer.weight.data = weights` only copies its values.
        kept = (one for one in holder.targets if isinstance(one, ast.Attribute) and one.attr != "data")
        roots = map(root_of, kept)
        return any(root is not None and root.id == own for root in roots)
    call = file.parent(holder) if isinstance(holder, ast.keyword) else holder
    if not isinstance(call, ast.Call) or call.func is load:
        return False
    called = _called(file, call)
    return called is not None and _keeps(called, call, load, depth + 1)
