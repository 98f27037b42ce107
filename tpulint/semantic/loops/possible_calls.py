"""Calls that may run a method, on objects of which nobody knows the class: ``agent.update(batch)``."""

from __future__ import annotations

import ast

from tpulint.semantic.functions.definitions import Definitions
from tpulint.semantic.functions.passed_arguments import fits
from tpulint.semantic.loops.events import EventMap
from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.nodes import FUNCTIONS, LOOPS, FunctionNode, is_of_self, is_super
from tpulint.semantic.syntax.tree import SyntaxTree

_COLLECTIONS = frozenset({
    "builtins.dict", "builtins.set", "collections.OrderedDict", "collections.defaultdict", "collections.Counter",
})  # fmt: skip
_BARS = "tqdm."
_DEPTH = 3
"""Functions between a call and the loop that runs it."""


class PossibleCalls:
    """Answers about one file."""

    def __init__(self, tree: SyntaxTree, names: Names, definitions: Definitions, events: EventMap) -> None:
        self._tree = tree
        self._names = names
        self._definitions = definitions
        self._events = events

    def means(self, mention: ast.expr, function: FunctionNode) -> bool:
        """Whether what is written like a function may be it: not so a counter ``self.step``, or a variable ``step``."""
        if not isinstance(getattr(mention, "ctx", None), ast.Load):
            return False
        if isinstance(mention, ast.Name):
            bindings = self._names.bindings(mention)
            return not bindings or any(binding.node is function for binding in bindings)
        assert isinstance(mention, ast.Attribute)
        if self._tree.class_of(function) is None:
            return False  # `state.step`, where the step is a function that is called so
        known = self._definitions.method_named(mention)
        if known is not None:
            return known is function or function in self._definitions.overriding(known)
        owner = self._tree.class_of(mention)
        is_kept = owner is not None and is_of_self(mention) and self._names.attribute_bindings(owner, mention.attr)
        return not is_kept and not self._is_of_another(mention.value)

    def may_run(self, call: ast.Call, function: FunctionNode) -> bool:
        """Whether a call of that name may run a function, as far as its arguments tell and where it stands."""
        return (
            fits(call, function, self._tree.class_of(function) is not None)
            and not self.is_of_base(call)
            and not self._tree.encloses(function, call)  # no step runs itself
        )

    def is_of_base(self, call: ast.Call) -> bool:
        """``super().step(losses)``, in the method of that name."""
        within = self._tree.function_of(call)
        return (
            isinstance(call.func, ast.Attribute)
            and is_super(call.func.value)
            and within is not None
            and within.name == call.func.attr
        )

    def are_ended(self, node: ast.AST, depth: int = 0) -> bool:
        """Whether code around a node, or around the calls of its function, sets a boundary or runs a step itself."""
        for ancestor in self._tree.ancestors(node):
            if isinstance(ancestor, (*LOOPS, *FUNCTIONS)):
                events = self._events.of(ancestor)
                if events.boundaries or (events.backwards and (events.updates or events.manual_updates)):
                    return True
            if isinstance(ancestor, FUNCTIONS):
                calls = self._definitions.calls_of(ancestor) if depth < _DEPTH else []
                return any(self.are_ended(call, depth + 1) for call in calls)
        return False

    def _is_of_another(self, receiver: ast.expr) -> bool:
        """Whether an object is none of a class of this file: ``wandb.config``, a dictionary, ``Meter()`` imported."""
        if self._names.qualified(receiver) is not None:
            return True
        made: list[ast.expr | None] = []
        owner = self._tree.class_of(receiver)
        if isinstance(receiver, ast.Name):
            made = [one.value for one in self._names.bindings(receiver)]
        elif isinstance(receiver, ast.Attribute) and is_of_self(receiver) and owner is not None:
            made = [one.value for one in self._names.attribute_bindings(owner, receiver.attr)]
        return bool(made) and all(map(self._makes_another, made))

    def _makes_another(self, value: ast.expr | None) -> bool:
        if isinstance(value, ast.Dict | ast.DictComp | ast.Set):
            return True
        name = self._names.qualified(value.func) if isinstance(value, ast.Call) else None
        if name is None or not isinstance(value, ast.Call):
            return False
        return name in _COLLECTIONS or name.startswith(_BARS) or name.rpartition(".")[2][:1].isupper()
