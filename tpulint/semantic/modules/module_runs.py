"""Calls that run a module, or have it compute something."""

from __future__ import annotations

import ast

from tpulint.semantic.functions.definitions import Definitions
from tpulint.semantic.functions.passed_arguments import values_given
from tpulint.semantic.loops.events import EventMap
from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.nodes import FunctionNode, is_of_self
from tpulint.semantic.syntax.tree import SyntaxTree
from tpulint.semantic.values.kinds import Kind, Kinds

_RUNNING_METHODS = ("generate", "forward", "encode", "decode")
_KEEPING = ("register_", "load_", "add_", "set_", "update_", "__")
"""Beginnings of methods of modules that only keep what they are given."""


class ModuleRuns:
    """Answers about one file."""

    def __init__(
        self, tree: SyntaxTree, names: Names, kinds: Kinds, definitions: Definitions, events: EventMap
    ) -> None:
        self._tree = tree
        self._names = names
        self._kinds = kinds
        self._definitions = definitions
        self._events = events
        self._acting: dict[tuple[FunctionNode, bool], bool] = {}

    def is_run(self, call: ast.Call) -> bool:
        """Whether a call runs a module: ``model(x)``, ``model.forward(x)``."""
        func: ast.expr | None = call.func
        if isinstance(func, ast.Call):
            func = self._definitions.wrapped(func)  # `unwrap(model)(x)`
        if func is None:
            return False
        if self._kinds.value(func).kind is Kind.MODULE:
            return True
        if not isinstance(func, ast.Attribute) or self._kinds.value(func.value).kind is not Kind.MODULE:
            return False
        return func.attr in _RUNNING_METHODS or self._runs_itself(call)

    def _runs_itself(self, call: ast.Call) -> bool:
        """Whether a method of a module, of which this file has the class, runs it: ``def act(self, x): self(x)``.

        So does one that runs a part of it, ``self.actor(x)``, where others than the module's own methods call it.
        """
        by_itself = is_of_self(call.func)
        for method in (*self._events.functions_of(call), *self._definitions.functions_of_several(call)):
            if (method, by_itself) not in self._acting:
                first = method.args.args[0].arg if method.args.args else ""
                self._acting[method, by_itself] = False
                runs = (node.func for node in self._tree.nodes_in(method, ast.Call, functions=False) if node.args)
                self._acting[method, by_itself] = any(
                    func.id == first
                    if isinstance(func, ast.Name)
                    else not by_itself and is_of_self(func) and self._is_part(func)
                    for func in runs
                )
            if self._acting[method, by_itself]:
                return True
        return False

    def _is_part(self, func: ast.Attribute) -> bool:
        return self._kinds.value(func).kind is Kind.MODULE

    def computes(self, call: ast.Call) -> bool:
        """Whether a call gives another method of a module tensors of the device, on which it computes."""
        func = call.func
        if not isinstance(func, ast.Attribute) or self._kinds.value(func.value).kind is not Kind.MODULE:
            return False
        return not func.attr.startswith(_KEEPING) and any(map(self._kinds.is_on_device, call.args))

    def calls_part(self, method: FunctionNode) -> bool:
        """Whether a method of a module calls what the module is made with, of which nobody may know the class.

        ``self.net(x, t)`` in a class with ``def __init__(self, net): self.net = net``.
        """
        owner = self._tree.class_of(method)
        if owner is None or not self._definitions.is_module_class(owner):
            return False
        funcs = (node.func for node in self._tree.nodes_in(method, ast.Call, functions=False) if node.args)
        return any(is_of_self(func) and self._is_given(owner, func.attr) for func in funcs)

    def _is_given(self, owner: ast.ClassDef, name: str) -> bool:
        start = self._definitions.method(owner, "__init__")
        bound = self._names.attribute_bindings(owner, name)
        given = {argument.arg for argument in (*start.args.args, *start.args.kwonlyargs)} if start is not None else {}
        return bool(bound) and all(isinstance(one.value, ast.Name) and one.value.id in given for one in bound)

    def hands_on(self, call: ast.Call) -> bool:
        """Whether a call gives what nobody may know a module and tensors: ``losses_of(model, images)``."""
        given = values_given(call)
        is_given = any(self._kinds.value(item).kind is Kind.MODULE for item in given)
        return is_given and any(self._kinds.is_on_device(item) or self._kinds.unseen.is_moved(item) for item in given)

    def is_in(self, holder: ast.AST) -> bool:
        """Whether a module is run at or below a node; what a loop goes over is run once, in front of its turns."""
        nodes = (holder, *self._tree.nodes_in(holder, ast.Call, functions=False))
        once = holder.iter if isinstance(holder, ast.For | ast.AsyncFor) else None
        return any(
            isinstance(node, ast.Call) and self.is_run(node) and (once is None or not self._tree.encloses(once, node))
            for node in nodes
        )
