"""Parameters of forward passes that are numbers of Python, by what is done with them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.semantic.functions.definitions import Definitions
from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.nodes import FunctionNode, is_of_self
from tpulint.semantic.syntax.scopes import Scope
from tpulint.semantic.syntax.tree import SyntaxTree

_ABOUT_ATTRIBUTES = frozenset({"builtins.getattr", "builtins.setattr", "builtins.hasattr"})
_LIST = "torch.nn.ModuleList"
_RESHAPING = frozenset({"reshape", "view", "unflatten", "expand"})
_LOGGING = frozenset({"add_scalar", "add_scalars", "add_histogram", "add_image", "add_images"})
_DEPTH = 4
"""Functions that hand a number on to each other."""


class NumberParameters:
    """Of the functions of one file."""

    def __init__(self, tree: SyntaxTree, names: Names, definitions: Definitions) -> None:
        self._tree = tree
        self._names = names
        self._definitions = definitions

    def has(self, function: FunctionNode, name: str) -> bool:
        """Whether a parameter is more likely a number than a tensor."""
        return (
            self._is_calculated_with(function, name)
            or self._names_attribute(function, name, 0)
            or self._holds_sizes(function, name, 0)
            or any(
                self._chooses_module(load) or self._counts_parts(load) or self._is_step_logged(load)
                for load in self._loads_of(name, function)
            )
        )

    def is_compared_in_training(self, function: FunctionNode, name: str) -> bool:
        """``if self.training and prob > 0.0:``: what a pass asks so, given beside its input, is how much it drops.

        Not what it is given first: that is a tensor. Those who know what calls give know better.
        """
        given = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]
        return name not in given[:2] and any(
            isinstance(compared := self._tree.parents[load], ast.Compare)
            and isinstance(choice := self._tree.parents[compared], ast.BoolOp)
            and isinstance(choice.op, ast.And)
            and any(isinstance(part, ast.Attribute) and part.attr == "training" for part in choice.values)
            and self._chooses(load)
            for load in self._names.loads(name, self._names.scope_of(function.body[0]))
        )

    def decides(self, function: FunctionNode, element: ast.Subscript) -> bool:
        """Whether what Python does is chosen by an element of a parameter, beside a number: ``args["decay"] > 0``.

        In a dictionary of options it is one; of a batch, a tensor with several elements has no truth.
        """
        assert isinstance(element.value, ast.Name)
        written = ast.unparse(element)
        loads = self._names.loads(element.value.id, self._names.scope_of(function.body[0]))
        return any(
            ast.unparse(user) == written and self._chooses(user) for user in map(self._tree.parents.get, loads) if user
        )

    def _chooses(self, node: ast.AST) -> bool:
        """Whether a number is asked by a condition, alone or compared with what is written down."""
        parent = self._tree.parents[node]
        if isinstance(parent, ast.Compare):
            if not all(
                isinstance(item, ast.Constant) for item in (parent.left, *parent.comparators) if item is not node
            ):
                return False
            node, parent = parent, self._tree.parents[parent]
        while isinstance(parent, ast.BoolOp) or (isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not)):
            node, parent = parent, self._tree.parents[parent]
        return isinstance(parent, ast.If | ast.While | ast.IfExp | ast.Assert) and parent.test is node

    def _counts_parts(self, load: ast.Name) -> bool:
        """``x.chunk(count)``"""
        call = self._tree.parents[load]
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
            return False
        return call.func.attr == "chunk" and call.args[:1] == [load]

    def _is_step_logged(self, load: ast.Name) -> bool:
        """``writer.add_scalar("loss", loss, step)``"""
        user = self._tree.parents[load]
        if isinstance(user, ast.keyword):
            return user.arg == "global_step"
        is_logged = isinstance(user, ast.Call) and isinstance(user.func, ast.Attribute) and user.func.attr in _LOGGING
        return is_logged and user.args[2:3] == [load]  # type: ignore[attr-defined]

    def _chooses_module(self, load: ast.Name) -> bool:
        """``self.heads[task - 1]`` of a ``ModuleList``."""
        index: ast.AST = load
        while isinstance(parent := self._tree.parents[index], ast.BinOp):
            index = parent
        owner = self._tree.class_of(load)
        if owner is None or not isinstance(parent, ast.Subscript) or parent.slice is not index:
            return False
        bound = self._names.attribute_bindings(owner, parent.value.attr) if is_of_self(parent.value) else []
        made = (node for binding in bound if binding.value is not None for node in ast.walk(binding.value))
        return any(isinstance(node, ast.Call) and self._names.qualified(node.func) == _LIST for node in made)

    def _is_calculated_with(self, function: FunctionNode, name: str) -> bool:
        """Whether nothing is done with a parameter but to calculate whole numbers of it: more likely it is one."""
        scope = self._names.scope_of(function.body[0])
        uses: list[ast.Name] = []
        for load in self._names.loads(name, scope):
            parent = self._tree.parents[load]
            target = parent.targets[0] if isinstance(parent, ast.Assign) and parent.value is load else None
            uses.extend(self._names.loads(target.id, scope) if isinstance(target, ast.Name) else [load])
        return bool(uses) and all(map(self._is_made_whole, uses))

    def _is_made_whole(self, name: ast.Name) -> bool:
        node, parent = name, self._tree.parents[name]
        while isinstance(parent, ast.BinOp | ast.UnaryOp):
            node, parent = parent, self._tree.parents[parent]  # type: ignore[assignment]
        is_whole = isinstance(parent, ast.Call) and self._names.qualified(parent.func) == "builtins.int"
        return is_whole and all(isinstance(part, ast.Constant) or part is name for part in _operands(node))

    def _names_attribute(self, function: FunctionNode, name: str, depth: int) -> bool:
        """Whether a part of an attribute's name is made of it, ``getattr(self, f"block{n - 1}")``, by a callee as well.

        Nobody takes a tensor for that: each formatting would wait for the device.
        """
        return any(self._leads_to_attribute(load, depth) for load in self._loads_of(name, function))

    def _loads_of(self, name: str, function: FunctionNode) -> Iterator[ast.Name]:
        """Uses of a variable, and of those that are calculated of it: ``index = number - 1``."""
        scope = self._names.scope_of(function.body[0])
        for load in self._names.loads(name, scope):
            yield load
            yield from self._loads_of_calculated(load, scope)

    def _loads_of_calculated(self, load: ast.Name, scope: Scope) -> list[ast.Name]:
        node: ast.expr = load
        parent = self._tree.parents[load]
        while isinstance(parent, ast.BinOp):
            node, parent = parent, self._tree.parents[parent]
        target = parent.targets[0] if isinstance(parent, ast.Assign) and parent.value is node else None
        is_other = isinstance(target, ast.Name) and target.id != load.id
        return self._names.loads(target.id, scope) if isinstance(target, ast.Name) and is_other else []

    def _leads_to_attribute(self, load: ast.Name, depth: int) -> bool:
        child: ast.AST = load
        for ancestor in self._tree.ancestors(load):
            if isinstance(ancestor, ast.stmt):
                return False
            if isinstance(ancestor, ast.Call):
                if self._names.qualified(ancestor.func) in _ABOUT_ATTRIBUTES:
                    return child in ancestor.args[1:2]
                if child is load or isinstance(child, ast.keyword):
                    return self._hands_on(ancestor, load, depth)
            child = ancestor
        return False

    def _hands_on(self, call: ast.Call, load: ast.Name, depth: int) -> bool:
        """Whether a function of this file that is given a variable makes the name of an attribute of it."""
        return any(self._names_attribute(called, name, depth + 1) for called, name in self._taking(call, load, depth))

    def _taking(self, call: ast.Call, load: ast.Name, depth: int) -> Iterator[tuple[FunctionNode, str]]:
        """The function of this file that a call gives a variable, and its parameter."""
        called = self._definitions.function_called(call) if depth < _DEPTH else None
        parameters = [] if called is None else [*called.args.posonlyargs, *called.args.args, *called.args.kwonlyargs]
        for item in parameters:
            if called is not None and load in self._definitions.arguments.of_call(call, called, item.arg):
                yield called, item.arg

    def _holds_sizes(self, function: FunctionNode, name: str, depth: int) -> bool:
        """``T, H, W = shape`` and ``x.reshape(B, T, H, W)``, here or in a function that is handed the shape.

        Nobody unpacks a tensor of the device for that: each size would be read.
        """
        scope = self._names.scope_of(function.body[0])
        for load in self._names.loads(name, scope):
            user = self._tree.parents[load]
            target = user.targets[0] if isinstance(user, ast.Assign) and user.value is load else None
            parts = target.elts if isinstance(target, ast.Tuple) else ()
            if any(
                self._is_size(use)
                for one in parts
                if isinstance(one, ast.Name)
                for use in self._names.loads(one.id, scope)
            ):
                return True
            call = self._tree.parents[user] if isinstance(user, ast.keyword) else user
            taking = self._taking(call, load, depth) if isinstance(call, ast.Call) and call.func is not load else ()
            if any(self._holds_sizes(called, parameter, depth + 1) for called, parameter in taking):
                return True
        return False

    def _is_size(self, use: ast.Name) -> bool:
        call = self._tree.parents[use]
        is_given = isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and use in call.args
        return is_given and call.func.attr in _RESHAPING  # type: ignore[attr-defined]


def _operands(node: ast.expr) -> Iterator[ast.expr]:
    """What a calculation is made of."""
    if isinstance(node, ast.BinOp):
        yield from _operands(node.left)
        yield from _operands(node.right)
    elif isinstance(node, ast.UnaryOp):
        yield from _operands(node.operand)
    else:
        yield node
