"""Parameters of functions that no call names: of wrappers by decorators, of what is applied to parts of modules."""

from __future__ import annotations

import ast
from functools import cached_property

from tpulint.semantic.functions.definitions import Definitions
from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.nodes import FunctionNode
from tpulint.semantic.syntax.tree import SyntaxTree
from tpulint.semantic.values.value import UNKNOWN, Kind, Value, join

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic.values.kinds import Kinds


class RelayedParameters:
    """Asked by :class:`ParameterValues` for what it knows no call of."""

    def __init__(self, kinds: Kinds, tree: SyntaxTree, names: Names, definitions: Definitions) -> None:
        self._kinds = kinds
        self._tree = tree
        self._names = names
        self._definitions = definitions

    def value(self, function: FunctionNode, parameter: ast.arg, depth: int) -> Value:
        """What a parameter is where another runs the function; unknown of most."""
        own = function.args.args[int(self._tree.takes_object(function)) :]
        if parameter not in own:
            return UNKNOWN
        if own[0] is parameter and self._are_parts(function, depth):
            return Value(Kind.MODULE, certain=False)
        return self.at(function, own.index(parameter), depth)

    def at(self, wrapper: FunctionNode, place: int, depth: int) -> Value:
        """What calls give at a place for the functions in front of which a decorator puts a wrapper."""
        wrapped = [one.args.args[place : place + 1] for one in self._definitions.decorations.wrapped_by(wrapper)]
        bindings = [self._names.binding_at(argument) for arguments in wrapped for argument in arguments]
        return join(self._kinds.binding_value(one, depth + 2) for one in bindings if one is not None)

    def _are_parts(self, function: FunctionNode, depth: int) -> bool:
        """Whether a function is given the parts of modules, one at a time, and nothing else: ``net.apply(clip)``."""
        wholes = self._applied.get(function, ())
        return bool(wholes) and all(self._kinds.value(whole, depth + 2).kind is Kind.MODULE for whole in wholes)

    @cached_property
    def _applied(self) -> dict[FunctionNode, list[ast.expr]]:
        """Functions that run with each part of a module, with what they are applied to."""
        found = dict[FunctionNode, list[ast.expr]]()
        for node in self._tree.attributes_called("apply"):
            call = self._tree.parents[node]
            run = self._definitions.applied_to_parts(call) if isinstance(call, ast.Call) and call.func is node else None
            if run is not None:
                found.setdefault(run, []).append(node.value)
        return found
