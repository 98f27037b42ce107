"""Optimizers that come in beside the model that moves, built by whoever calls."""

from __future__ import annotations

import ast

from tpulint.semantic import Kind, SemanticIndex
from tpulint.semantic.moves import Move


def passed_beside(index: SemanticIndex, move: Move) -> ast.arg | ast.Subscript | None:
    """The optimizer that comes in through the same parameter list as the model that is moved."""
    function = index.function_of(move.call)
    if function is None or index.definitions.calls_of(function):
        return None
    if isinstance(move.module, ast.Subscript):
        return _packed_beside(index, move.module)
    arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    if not any(creation.node in arguments and not creation.way for creation in move.creations):
        return None
    if _is_input(index, move):
        return None
    for argument in arguments:
        if _is_optimizer(index, argument):
            return argument
    return None


def _is_input(index: SemanticIndex, move: Move) -> bool:
    """Whether what moves is given to a model: ``model(batch.cuda())`` of ``def step(model, batch, optimizer)``."""
    uses: list[ast.expr] = [move.call]
    if isinstance(move.module, ast.Name):
        uses += index.names.loads(move.module.id, index.names.scope_of(move.module))
    calls = [call for use in uses if isinstance(call := index.parent(use), ast.Call) and use in call.args]
    given = (call.func for call in calls if isinstance(call.func, ast.Name))
    is_called = any(binding.kind == "parameter" for func in given for binding in index.names.bindings(func))
    return is_called or any(index.kind(call.func) is Kind.MODULE for call in calls)


def _packed_beside(index: SemanticIndex, module: ast.Subscript) -> ast.Subscript | None:
    """``kwargs["optimizer"]`` beside ``kwargs["model"]``, of one parameter."""
    if not isinstance(module.value, ast.Name):
        return None
    packed = index.names.bindings(module.value)
    if len(packed) != 1 or packed[0].kind not in ("parameter", "variadic"):
        return None
    for node in index.tree.parents:
        if (
            isinstance(node, ast.Subscript)
            and isinstance(node.value, ast.Name)
            and isinstance(node.slice, ast.Constant)
            and "optim" in str(node.slice.value).lower()
            and isinstance(node.ctx, ast.Load)
            and index.names.bindings(node.value) == packed
        ):
            return node
    return None


def _is_optimizer(index: SemanticIndex, argument: ast.arg) -> bool:
    if argument.arg == "optimizer":
        return True  # a derived class of another file may be the one that steps it
    kinds, names = index.kinds, index.names
    bindings = names.bindings_in(names.scope_of(argument), argument.arg)
    if any(binding.node is argument and kinds.binding_value(binding).kind is Kind.OPTIMIZER for binding in bindings):
        return True
    # `self.optimizer = optimizer`: how the attribute is used tells
    for node in index.tree.attributes:
        statement = index.parent(node)
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
