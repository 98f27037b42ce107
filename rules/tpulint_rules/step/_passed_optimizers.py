"""Optimizers that come in beside the model that moves, built by whoever calls."""

from __future__ import annotations

import ast

from tpulint.semantic import Kind, SemanticIndex
from tpulint.semantic.functions.passed_arguments import arguments_given
from tpulint.semantic.modules.moves import Move
from tpulint.semantic.project.other_files import definition_called, function_run, loads_of_parameter
from tpulint.semantic.syntax.nodes import FunctionNode
from tpulint.semantic.syntax.torch_facts import TENSOR_ONLY_METHODS, TEXT_METHODS
from tpulint.semantic.values.value import is_none

_OF_OPTIMIZERS = frozenset({"step", "zero_grad", "load_state_dict", "param_groups", "add_param_group"})
_MODELS = ("model", "net")
_DEPTH = 3
"""Functions that what moves is handed on through."""
_OF_TENSORS = frozenset({"shape", "ndim", "size", "numel", "view", "reshape"})
_OF_MODULES = frozenset({"parameters", "named_parameters", "train", "eval", "state_dict", "load_state_dict", "modules"})


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
        if _is_optimizer(index, argument) and not _names_optimizer(index, function, argument.arg):
            return argument
    return None


def _is_input(index: SemanticIndex, move: Move) -> bool:
    """Whether what moves is given to a model, ``model(batch.cuda())`` of ``def step(model, batch, optimizer)``.

    What is used as a tensor, or only handed on to functions of which none is seen to use it as a model, is no model
    either: ``return learn(model, optimizer, batch)``.
    """
    uses = _uses_of_moved(index, move)
    calls = [(use, _given_to(index, use)) for use in uses]
    if any(call is not None and _is_fed(index, call) for _, call in calls):
        return True
    if isinstance(index.parent(move.call), ast.Expr) or any(index.kind(use) is Kind.MODULE for use in uses):
        return False  # a tensor stays where it is if nobody takes what its move gives
    if any(_is_of_tensor(index, use) for use in uses):
        return True
    return all(call is not None and not _takes_model(index, call, use) for use, call in calls)


def _uses_of_moved(index: SemanticIndex, move: Move) -> list[ast.expr]:
    """Where what moves is used, under its name and those that what its move gives gets; not where it moves."""
    names = [move.module, *_names_given(index, move.call)]
    loads = [
        load
        for name in {name.id: name for name in names if isinstance(name, ast.Name)}.values()
        for load in index.names.loads(name.id, index.names.scope_of(name))
    ]
    moved = {one.module for one in index.moves.moves}
    uses: list[ast.expr] = [load for load in loads if load not in moved]
    return uses if len(names) > 1 or isinstance(index.parent(move.call), ast.Expr) else [move.call, *uses]


def _names_given(index: SemanticIndex, value: ast.expr) -> list[ast.expr]:
    """The variables that an assignment gives a value alone: ``x`` and ``y`` of ``x, y = x.cuda(), y.cuda()``."""
    statement = index.statement_of(value)
    if not isinstance(statement, ast.Assign):
        return []
    given = statement.value.elts if isinstance(statement.value, ast.Tuple) else []
    targets: list[ast.expr] = list(statement.targets) if statement.value is value else []
    for target in statement.targets if value in given else ():
        if isinstance(target, ast.Tuple) and len(target.elts) == len(given):
            targets.append(target.elts[given.index(value)])
    return targets if all(isinstance(target, ast.Name) for target in targets) else []


def _given_to(index: SemanticIndex, use: ast.expr) -> ast.Call | None:
    """The call that gives something, be it by name."""
    holder = index.parent(use)
    if isinstance(holder, ast.keyword):
        holder = index.parent(holder)
    return holder if isinstance(holder, ast.Call) and holder.func is not use else None


def _is_fed(index: SemanticIndex, call: ast.Call) -> bool:
    """Whether a call is one of a model: of a parameter, or of what is known to be one."""
    is_parameter = isinstance(call.func, ast.Name) and any(
        binding.kind == "parameter" for binding in index.names.bindings(call.func)
    )
    return is_parameter or index.kind(call.func) is Kind.MODULE


def _is_of_tensor(index: SemanticIndex, use: ast.expr) -> bool:
    """``batch[0]``, ``batch.shape``, ``batch - mean``"""
    holder = index.parent(use)
    if isinstance(holder, ast.Attribute):
        return holder.attr in TENSOR_ONLY_METHODS or holder.attr in _OF_TENSORS
    return isinstance(holder, ast.BinOp | ast.Subscript)


def _takes_model(index: SemanticIndex, call: ast.Call, given: ast.expr, depth: int = 0) -> bool:
    """Whether a function that a call runs uses what it is given as a model, or keeps it."""
    called = definition_called(index, call)
    run = None if called is None else function_run(called)
    if called is None and isinstance(given, ast.Name):
        return any(word in given.id.lower() for word in _MODELS)  # nobody sees what the function does
    if run is None or depth > _DEPTH:
        return False
    for load in loads_of_parameter(run, call, given):
        further = _given_to(run.file, load)
        holder = run.file.parent(load)
        if run.file.kind(load) is Kind.MODULE or (isinstance(holder, ast.Call) and holder.func is load):
            return True
        if isinstance(holder, ast.Attribute) and holder.attr in _OF_MODULES:
            return True
        if isinstance(holder, ast.Assign):
            return True  # `self.model = model`
        if further is not None and _takes_model(run.file, further, load, depth + 1):
            return True
    return False


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


def _names_optimizer(index: SemanticIndex, function: FunctionNode, name: str, depth: int = 0) -> bool:
    """Whether a parameter only says which optimizer is to be built, behind the move: ``optimizer="adam"``.

    It is a text, or a class, that is called, looked up or compared: ``getattr(torch.optim, optimizer)(parameters)``,
    here or in a function of the file that it is handed on to.
    """
    scope = index.names.scope_of(function.body[0])
    loads = index.names.loads(name, scope)
    holders = [index.parent(load) for load in loads]
    if any(isinstance(holder, ast.Attribute) and holder.attr in _OF_OPTIMIZERS for holder in holders):
        return False
    defaults = (one.value for one in index.names.bindings_in(scope, name) if one.kind == "parameter")
    if any(isinstance(default, ast.Constant) and not is_none(default) for default in defaults):
        return True
    return any(_names(index, load, depth) for load in loads)


def _names(index: SemanticIndex, load: ast.Name, depth: int) -> bool:
    holder = index.parent(load)
    if isinstance(holder, ast.Subscript):
        return True  # `CLASSES[optimizer]`, `optimizer["name"]`
    if isinstance(holder, ast.Compare):
        return any(isinstance(item, ast.Constant) and isinstance(item.value, str) for item in ast.walk(holder))
    if isinstance(holder, ast.Attribute):
        return holder.attr in TEXT_METHODS
    if not isinstance(holder, ast.Call | ast.keyword):
        return False
    if isinstance(holder, ast.Call) and holder.func is load:
        return True
    call = _given_to(index, load)
    if call is None or index.qualified_name(call.func) == "builtins.getattr":
        return call is not None and load in call.args[1:2]
    called = index.definitions.function_called(call)
    if called is None or depth > _DEPTH:
        return False
    given = [name for name, item in arguments_given(call, called, index.tree.takes_object(called)) if item is load]
    return any(_names_optimizer(index, called, name, depth + 1) for name in given)
