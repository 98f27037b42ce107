"""Models that a function makes for itself and leaves on the host: ``model = make_model(); model.eval(); model(x)``."""

from __future__ import annotations

import ast
import re

from tpulint.semantic.definitions import Definitions
from tpulint.semantic.names import Names
from tpulint.semantic.torch_facts import MOVES
from tpulint.semantic.tree import FUNCTIONS, SyntaxTree

_WITH_WEIGHTS = r"torch\.nn\.(?:Linear|Bilinear|Conv\w*\dd|Embedding|EmbeddingBag|LSTM|GRU|RNN|LSTMCell|GRUCell)"


class UnmovedModels:
    """Answers about the variables of one file."""

    def __init__(self, tree: SyntaxTree, names: Names, definitions: Definitions) -> None:
        self._tree = tree
        self._names = names
        self._definitions = definitions

    def has(self, model: ast.expr) -> bool:
        """Whether a variable of a function holds what that makes, of this file, and neither moves nor hands on.

        A method or part of such a model is meant with it: ``model.decode``.
        """
        while isinstance(model, ast.Attribute):
            model = model.value
        if not isinstance(model, ast.Name):
            return False
        bindings = self._names.bindings(model)
        function = self._tree.function_of(model)
        return (
            bool(bindings)
            and function is not None
            and all(
                one.kind == "assign"
                and not one.path
                and self._tree.function_of(one.node) is function
                and self._is_made_on_host(one.value)
                for one in bindings
            )
            and all(map(self._stays, self._names.loads(model.id, self._names.scope_of(model))))
        )

    def _is_made_on_host(self, value: ast.expr | None) -> bool:
        """Whether a call makes something by a class or function of this file, in which nothing moves.

        Or a layer with weights by one of torch: ``nn.Linear(8, 4)``. One without computes where its input is.
        """
        if not isinstance(value, ast.Call):
            return False
        if re.fullmatch(_WITH_WEIGHTS, self._names.qualified(value.func) or ""):
            return not any(item.arg in (None, "device") for item in value.keywords)
        owner = self._definitions.class_called(value)
        made_by = self._definitions.function_called(value) if owner is None else owner
        if made_by is None:
            return False
        if isinstance(made_by, FUNCTIONS) and made_by.decorator_list:
            return False
        inside = self._tree.nodes_in(made_by, ast.Attribute)
        return not any(isinstance(node, ast.Attribute) and node.attr in MOVES for node in inside)

    def _stays(self, load: ast.Name) -> bool:
        """Whether a use asks the model for something, or runs it, and nothing else."""
        user = self._tree.parents[load]
        if isinstance(user, ast.Call):
            return user.func is load
        return isinstance(user, ast.Attribute) and isinstance(user.ctx, ast.Load) and user.attr not in MOVES
