"""Models that a function makes for itself and leaves on the host: ``model = make_model(); model.eval(); model(x)``."""

from __future__ import annotations

import ast
import re
from functools import cached_property

from tpulint.semantic.functions.definitions import Definitions
from tpulint.semantic.functions.passed_arguments import arguments_given
from tpulint.semantic.syntax.bindings import Binding
from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.nodes import FUNCTIONS, FunctionNode
from tpulint.semantic.syntax.torch_facts import MOVES
from tpulint.semantic.syntax.tree import SyntaxTree
from tpulint.semantic.values.module_lists import SEQUENTIAL

_WITH_WEIGHTS = r"torch\.nn\.(?:Linear|Bilinear|Conv\w*\dd|Embedding|EmbeddingBag|LSTM|GRU|RNN|LSTMCell|GRUCell)"
_FROM_ANYWHERE = ("builtins.eval", "torch.load", "torch.jit.load", "copy.deepcopy")
"""What they give may lie anywhere."""
_TRAINING = frozenset({"parameters", "named_parameters", "train"})
_DEPTH = 3
"""Functions that a model is followed through."""


class UnmovedModels:
    """Answers about the variables of one file."""

    def __init__(self, tree: SyntaxTree, names: Names, definitions: Definitions) -> None:
        self._tree = tree
        self._names = names
        self._definitions = definitions

    def has(self, model: ast.expr) -> bool:
        """Whether a variable holds what its function, or the module, makes, of this file, and neither moves nor trains.

        So does a parameter that all calls in this file give such a variable. A method or part of such a model is meant
        with it: ``model.decode``.
        """
        while isinstance(model, ast.Attribute):
            model = model.value
        return isinstance(model, ast.Name) and self._is_left(model, 0)

    def _is_left(self, model: ast.Name, depth: int) -> bool:
        bindings, function = self._names.bindings(model), self._tree.function_of(model)
        if not bindings or depth > _DEPTH or not self._all_stay(model, depth):
            return False
        if len(bindings) == 1 and bindings[0].kind == "parameter":
            return self._is_given_left(bindings[0], depth)
        return (function is not None or (self._moves_others and not self._is_trained(model))) and all(
            one.kind == "assign"
            and not one.path
            and self._tree.function_of(one.node) is self._tree.function_of(bindings[0].node)
            and self._is_made_on_host(one.value)
            for one in bindings
        )

    @cached_property
    def _moves_others(self) -> bool:
        """Whether a file moves anything: else its models may be for any device."""
        return any(isinstance(call.func, ast.Attribute) and call.func.attr in MOVES for call in self._tree.calls)

    def _is_given_left(self, parameter: Binding, depth: int) -> bool:
        """Whether all calls of a function, no method, give models that stay on the host."""
        function = parameter.statement
        if not isinstance(function, FUNCTIONS) or self._tree.class_of(function) is not None:
            return False
        given = self._definitions.arguments.of(function, parameter.name)
        # What a file tries out is not what others give.
        return bool(given) and all(
            isinstance(item, ast.Name) and not self._definitions.is_of_main(item) and self._is_left(item, depth + 1)
            for item in given
        )

    def _is_trained(self, model: ast.Name) -> bool:
        loads = self._names.loads(model.id, self._names.scope_of(model))
        return any(isinstance(p := self._tree.parents[load], ast.Attribute) and p.attr in _TRAINING for load in loads)

    def _all_stay(self, model: ast.Name, depth: int) -> bool:
        loads = self._names.loads(model.id, self._names.scope_of(model))
        return all(self._stays(load, depth) for load in loads)

    def _is_made_on_host(self, value: ast.expr | None) -> bool:
        """Whether a call makes something by a class or function of this file, in which nothing moves.

        Or a layer with weights by one of torch: ``nn.Linear(8, 4)``, or several in a row. One without computes where
        its input is.
        """
        if not isinstance(value, ast.Call):
            return False
        name = self._names.qualified(value.func) or ""
        if re.fullmatch(_WITH_WEIGHTS, name):
            return not any(item.arg in (None, "device") for item in value.keywords)
        if name == SEQUENTIAL:
            return any(map(self._is_made_on_host, value.args)) and all(map(self._is_layer_on_host, value.args))
        owner = self._definitions.class_called(value)
        made_by = self._definitions.function_called(value) if owner is None else owner
        if made_by is None:
            return False
        if isinstance(made_by, FUNCTIONS) and (made_by.decorator_list or not self._returns_made(made_by)):
            return False
        return not self._moves(made_by) and not any(map(self._may_be_moved, (*value.args, *value.keywords)))

    def _returns_made(self, function: FunctionNode) -> bool:
        """Whether a function hands back what calls by name make, and not ``eval("models." + text)``, say."""
        for value in self._definitions.returned_by(function):
            bindings = self._names.bindings(value) if isinstance(value, ast.Name) else []
            made = [value, *(one.value for one in bindings if one.value is not None)]
            names = [self._names.qualified(item.func) for item in made if isinstance(item, ast.Call)]
            if any(name in _FROM_ANYWHERE for name in names):
                return False
        return True

    def _moves(self, node: ast.AST) -> bool:
        inside = (node, *self._tree.nodes_in(node, ast.Attribute))
        return any(isinstance(item, ast.Attribute) and item.attr in MOVES for item in inside)

    def _may_be_moved(self, given: ast.AST) -> bool:
        """Whether what a class is given moves, or is a variable that is moved: ``Tester(nn.Linear(4, 2).cuda())``."""
        if self._moves(given):
            return True
        for name in (given, *self._tree.nodes_in(given, ast.Name)):
            if not isinstance(name, ast.Name) or not isinstance(name.ctx, ast.Load):
                continue
            values = [one.value for one in self._names.bindings(name) if one.value is not None]
            loads = self._names.loads(name.id, self._names.scope_of(name))
            users = [self._tree.parents[load] for load in loads]
            if any(map(self._moves, values)) or any(isinstance(u, ast.Attribute) and u.attr in MOVES for u in users):
                return True
        return False

    def _is_layer_on_host(self, layer: ast.expr) -> bool:
        name = (self._names.qualified(layer.func) or "") if isinstance(layer, ast.Call) else ""
        is_plain = isinstance(layer, ast.Call) and not any(item.arg in (None, "device") for item in layer.keywords)
        return (is_plain and name.startswith("torch.nn.")) or self._is_made_on_host(layer)

    def _stays(self, load: ast.Name, depth: int) -> bool:
        """Whether a use asks the model for something, or runs it, and nothing else; so do functions it is given to."""
        user = self._tree.parents[load]
        if isinstance(user, ast.Call):
            return user.func is load or self._stays_in_function(load, user, depth)
        while isinstance(user, ast.Attribute):
            if user.attr in MOVES or not isinstance(user.ctx, ast.Load):
                return False
            if not isinstance(outer := self._tree.parents[user], ast.Attribute):
                return True
            user = outer
        return False

    def _stays_in_function(self, load: ast.Name, call: ast.Call, depth: int) -> bool:
        """Whether a function of this file that a model is given asks or runs it, and nothing else."""
        function = self._definitions.function_called(call)
        if function is None or depth > _DEPTH or self._tree.class_of(function) is not None:
            return False
        names = [name for name, item in arguments_given(call, function, is_method=False) if item is load]
        uses = [
            node
            for node in self._tree.nodes_in(function, ast.Name)
            if isinstance(node, ast.Name) and node.id in names and isinstance(node.ctx, ast.Load)
        ]
        return bool(names) and all(self._stays(use, depth + 1) for use in uses)
