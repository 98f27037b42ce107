"""Parameters and buffers of the module classes of a file, which go to the device with their module."""

from __future__ import annotations

import ast
from functools import cached_property

from tpulint.semantic.functions.definitions import Definitions
from tpulint.semantic.syntax.bindings import part_of
from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.tree import SyntaxTree
from tpulint.semantic.values.value import is_none

_MAKING = ("torch.nn.Parameter", "torch.nn.parameter.Parameter", "torch.nn.Buffer", "torch.nn.parameter.Buffer")
_REGISTERING = ("register_buffer", "register_parameter")


class ModuleTensors:
    """Of one file."""

    def __init__(self, tree: SyntaxTree, names: Names, definitions: Definitions) -> None:
        self._tree = tree
        self._names = names
        self._definitions = definitions
        self._exist = tree.source.has_any(("Parameter(", "Buffer(", *_REGISTERING))

    def has(self, node: ast.Attribute) -> bool:
        """Whether ``self.weight`` is one of its class, in a method that is not the one in which the class makes it."""
        owner, function = (self._tree.class_of(node), self._tree.function_of(node)) if self._exist else (None, None)
        if owner is None or function is None or function.name == "__init__" or not isinstance(node.value, ast.Name):
            return False
        if not function.args.args or function.args.args[0].arg != node.value.id:
            return False
        if not self._definitions.is_module_class(owner):
            return False
        bindings = self._names.attribute_bindings(owner, node.attr)
        is_made_here = any(self._tree.function_of(binding.node) is function for binding in bindings)
        return (owner, node.attr) in self._registered or (not is_made_here and self._are_made(owner, node.attr))

    def are_of(self, owner: ast.ClassDef, name: str) -> bool:
        """Whether modules of a class of this file have a parameter or buffer of a name: ``net.scale``."""
        is_one = self._exist and ((owner, name) in self._registered or self._are_made(owner, name))
        return is_one and self._definitions.is_module_class(owner)

    def _are_made(self, owner: ast.ClassDef, name: str) -> bool:
        """Whether all that an attribute of a class is given are parameters or buffers: ``nn.Parameter(...)``."""
        bindings = self._names.attribute_bindings(owner, name)
        parts = [part_of(binding.value, binding.path) for binding in bindings]
        makers = [self._names.qualified(part.func) if isinstance(part, ast.Call) else None for part in parts]
        return bool(makers) and all(maker in _MAKING for maker in makers)

    def made_of(self, node: ast.Attribute) -> ast.expr | None:
        """The tensor that a buffer is made of: ``register_buffer("count", torch.tensor(0))``."""
        owner = self._tree.class_of(node) if self.has(node) else None
        return None if owner is None else self._registered.get((owner, node.attr))

    @cached_property
    def _registered(self) -> dict[tuple[ast.ClassDef, str], ast.expr]:
        """What ``self.register_buffer("mask", ...)`` makes, by class and name."""
        found = {}
        for call in self._tree.calls:
            if isinstance(call.func, ast.Attribute) and call.func.attr in _REGISTERING and len(call.args) > 1:
                owner, name = self._tree.class_of(call), call.args[0]
                if owner is not None and isinstance(name, ast.Constant) and not is_none(call.args[1]):
                    found[owner, str(name.value)] = call.args[1]
        return found
