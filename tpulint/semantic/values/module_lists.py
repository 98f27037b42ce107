"""What lists, sequences and dictionaries of modules are made of, where that is written out in one file."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable

from tpulint.semantic.syntax.bindings import Binding, part_of
from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.nodes import FUNCTIONS, FunctionNode
from tpulint.semantic.syntax.tree import SyntaxTree
from tpulint.semantic.syntax.variables import itself
from tpulint.semantic.values.value import beside_none

_DEPTH = 6
_FILLED = ("assign", "augment")
"""How a list is made, ``layers = []``, and what is added to it, ``layers += [Layer()]``."""
SEQUENTIAL = "torch.nn.Sequential"
_ADDING = {"append": 1, "add_module": 2}
"""Methods that put a module last, and how many values they are given."""
DEFAULT_DICT = "collections.defaultdict"
_VIEWS = {"values": (False, False), "items": (True, False), "children": (False, True), "named_children": (True, True)}
"""Methods that deal out what a collection holds: whether under its name each time, and whether a module does it."""
_DICTS = frozenset({"builtins.dict", "collections.OrderedDict", "torch.nn.ModuleDict"})


class ModuleLists:
    """Follows ``nn.ModuleList([...])``, ``nn.Sequential(...)``, lists, dictionaries, and what is put into them."""

    def __init__(
        self,
        tree: SyntaxTree,
        names: Names,
        bindings_of: Callable[[ast.expr], Iterable[Binding]],
        returned_by: Callable[[FunctionNode], list[ast.expr]],
    ) -> None:
        self._tree = tree
        self._names = names
        self._bindings_of = bindings_of
        self._returned_by = returned_by

    def parts_of(self, node: ast.expr, depth: int = 0) -> list[ast.expr]:
        """What may be an element: of ``self.layers``, ``Layer()``."""
        if depth > _DEPTH:
            return []
        if isinstance(node, ast.List | ast.Tuple):
            return self._written(node.elts, depth)
        if isinstance(node, ast.ListComp | ast.GeneratorExp):
            return [beside_none(node.elt)]
        node = itself(node)
        if isinstance(node, ast.Call):
            name = self._names.qualified(node.func)
            if name == SEQUENTIAL:
                return self._written(node.args, depth)
            if name == "torch.nn.ModuleList":
                return self.parts_of(node.args[0], depth + 1) if node.args else []
            return [part for value in self._made_by(node.func) for part in self.parts_of(value, depth + 1)]
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
            return self.parts_of(node.value, depth + 1)
        bindings = list(self._bindings_of(node))
        if isinstance(node, ast.Name) and bindings and all(b.kind == "parameter" for b in bindings):
            return [node]  # a list that the function is given: asked for its class, one tells that of its elements
        values = [part for b in bindings if b.kind in _FILLED for part in self._given_by(b)]
        parts = [part for value in values for part in self.parts_of(value, depth + 1)]
        for binding in bindings:
            if binding.kind == "loop" and binding.value is not None:  # `for block in self.blocks: for layer in block:`
                inner = self.gone_through(binding.value, binding.path, depth + 1)
                parts += [part for whole in inner for part in self.parts_of(whole, depth + 1)]
        return parts + self._appended_to(node) if values else parts

    def _given_by(self, binding: Binding) -> list[ast.expr]:
        """What a variable is, also one of several: ``settings, self.layers = make_layers(config)``."""
        value, path = binding.value, binding.path
        if value is None or not path:
            return [] if value is None else [value]
        part = part_of(value, path)
        if part is not None:
            return [part]
        made = self._made_by(value.func) if isinstance(value, ast.Call) and len(path) == 1 else []
        return [one.elts[path[0]] for one in made if isinstance(one, ast.Tuple) and 0 <= path[0] < len(one.elts)]

    def _made_by(self, func: ast.expr) -> list[ast.expr]:
        """What a function of this file returns: a list that it fills, ``self.layers = make_layers(config)``."""
        bindings = self._names.bindings(func) if isinstance(func, ast.Name) else []
        function = bindings[0].node if len(bindings) == 1 else None
        return self._returned_by(function) if isinstance(function, FUNCTIONS) else []

    def gone_through(self, node: ast.expr, path: tuple[int, ...], depth: int = 0) -> list[ast.expr]:
        """What a loop gives a variable: ``for layer in self.layers``, ``for i, layer in enumerate(self.layers)``.

        Of a list of lists, ``for norm, layer in self.layers``, what stands at that place in each.
        """
        container, places = source_of(self._names, node, path)
        parts, places = self._dealt_out(container, places, depth)
        for place in places:
            inner = [self.parts_of(part, depth + 1) for part in parts if _is_written(self._names, part)]
            if len(inner) < len(parts):
                return []  # one of them may be anything
            parts = [one[place] for one in inner if 0 <= place < len(one)]
        return parts

    def _dealt_out(self, node: ast.expr, places: tuple[int, ...], depth: int) -> tuple[list[ast.expr], tuple[int, ...]]:
        """What a loop takes of its source, in turn: ``blocks``, ``net.children()``, ``meters.items()`` at place 1."""
        func = node.func if isinstance(node, ast.Call) and not node.args and not node.keywords else None
        if not isinstance(func, ast.Attribute) or func.attr not in _VIEWS:
            return self.parts_of(node, depth), places
        in_pairs, of_modules = _VIEWS[func.attr]
        if in_pairs and places[:1] != (1,):
            return [], ()
        entries = [] if of_modules and isinstance(func.value, ast.Dict) else self.entries_of(func.value, depth=depth)
        return entries or (self.parts_of(func.value, depth) if of_modules else []), places[in_pairs:]

    def entries_of(self, node: ast.expr, key: object = None, depth: int = 0) -> list[ast.expr]:
        """What may stand under a key of a dictionary, under any where none is given: ``Meter()`` of ``meters["a"]``.

        ``defaultdict(Meter)`` stands for what it makes.
        """
        if depth > _DEPTH:
            return []
        if isinstance(node, ast.Dict):
            found = list[ast.expr]()
            for name, value in zip(node.keys, node.values, strict=True):
                if name is None:
                    found += self.entries_of(value, key, depth + 1)
                elif key is None or not isinstance(name, ast.Constant) or name.value == key:
                    found.append(value)
            return found
        if isinstance(node, ast.DictComp):
            return [node.value]
        node = itself(node)
        if isinstance(node, ast.Call):
            called = self._names.qualified(node.func)
            if called == DEFAULT_DICT:
                made = node.args[0] if node.args else None
                return [made.body if isinstance(made, ast.Lambda) else node] if made is not None else []
            named = [item.value for item in node.keywords if key is None or item.arg in (None, key)]
            inner = [part for item in node.args[:1] for part in self.entries_of(item, key, depth + 1)]
            return [*inner, *named] if called in _DICTS else []
        if not isinstance(node, ast.Name | ast.Attribute):
            return []
        bindings = list(self._bindings_of(node))
        if isinstance(node, ast.Name) and bindings and all(b.kind == "parameter" for b in bindings):
            return [node]
        values = [part for b in bindings if b.kind == "assign" for part in self._given_by(b)]
        found = [part for value in values for part in self.entries_of(value, key, depth + 1)]
        return found + self._put_into(node, key) if values else []

    def _put_into(self, node: ast.Name | ast.Attribute, key: object) -> list[ast.expr]:
        """``meters["loss"] = Meter()``, of the same variable, or of the attribute in the same class."""
        text, found = ast.dump(node), list[ast.expr]()
        around: ast.AST | None = self._tree.module
        same: list[ast.Name] | list[ast.Attribute]
        if isinstance(node, ast.Name):
            same = self._tree.names_called(node.id)
        else:
            around, same = self._tree.class_of(node), self._tree.attributes_called(node.attr)
        for item in same if around is not None else ():
            place = self._tree.parents[item]
            if not isinstance(place, ast.Subscript) or place.value is not item or not isinstance(place.ctx, ast.Store):
                continue
            given, at = self._tree.parents[place], place.slice
            is_other = key is not None and isinstance(at, ast.Constant) and at.value != key
            if isinstance(given, ast.Assign) and not is_other and self._tree.encloses(around, item):  # type: ignore[arg-type]
                is_same = _is_like(item, text) and self._is_variable(item, node)
                found += [given.value] if is_same else []
        return found

    def _written(self, items: list[ast.expr], depth: int) -> list[ast.expr]:
        found: list[ast.expr] = []
        for item in items:
            found += self.parts_of(item.value, depth + 1) if isinstance(item, ast.Starred) else [item]
        return found

    def _appended_to(self, node: ast.expr) -> list[ast.expr]:
        """``self.layers.append(Layer())`` in the same class, ``layers.append(Layer())`` of the same variable.

        So with ``layers.add_module("first", Layer())``.
        """
        around = self._tree.class_of(node) if isinstance(node, ast.Attribute) else self._tree.module
        text, found = ast.dump(node), list[ast.expr]()
        if around is None:
            return []
        for method, count in _ADDING.items():
            for attribute in self._tree.attributes_called(method):
                call = self._tree.parents[attribute]
                if isinstance(call, ast.Call) and len(call.args) == count and self._tree.encloses(around, attribute):
                    is_same = _is_like(attribute.value, text) and self._is_variable(attribute.value, node)
                    found += call.args[-1:] if is_same else []
        return found

    def _is_variable(self, one: ast.expr, other: ast.expr) -> bool:
        """Whether names that are written alike mean the same variable; attributes of one class do."""
        if not isinstance(one, ast.Name) or not isinstance(other, ast.Name):
            return True
        here, there = self._names.find_name(one), self._names.find_name(other)
        return here is not None and there is not None and here[0] is there[0]


def container_of(names: Names, node: ast.expr, path: tuple[int, ...]) -> ast.expr | None:
    """What the elements come from that a loop over an expression gives a variable; None where that cannot be told."""
    container, places = source_of(names, node, path)
    return None if places else container


def source_of(names: Names, node: ast.expr, path: tuple[int, ...]) -> tuple[ast.expr, tuple[int, ...]]:
    """What a loop takes its elements from, and which places of an element it gives a variable, from outside in."""
    if isinstance(node, ast.Call) and node.args:
        name = names.qualified(node.func)
        if name == "builtins.enumerate" and path[:1] == (1,):
            return source_of(names, node.args[0], path[1:])
        if name == "builtins.zip" and path and 0 <= path[0] < len(node.args):
            return source_of(names, node.args[path[0]], path[1:])
        if name == "builtins.reversed":
            return source_of(names, node.args[0], path)
    return node, path


def _is_written(names: Names, node: ast.expr) -> bool:
    """Whether the places of a list are known: ``ModuleList([norm, layer])``, ``(norm, layer)``."""
    if isinstance(node, ast.Call):
        named = names.qualified(node.func) == "torch.nn.ModuleList" and len(node.args) == 1
        return named and _is_written(names, node.args[0])
    return isinstance(node, ast.List | ast.Tuple) and not any(isinstance(item, ast.Starred) for item in node.elts)


def _is_like(node: ast.expr, text: str) -> bool:
    return ast.dump(node) == text.replace("ctx=Store()", "ctx=Load()")
