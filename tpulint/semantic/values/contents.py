"""What is put into lists and dicts: by a display, by ``append``, by ``x[key] = value`` and ``x[key] += value``."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from tpulint.semantic.functions.definitions import Definitions
from tpulint.semantic.syntax.bindings import Binding, element_of
from tpulint.semantic.syntax.flow import Flow
from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.nodes import FUNCTIONS
from tpulint.semantic.syntax.tree import SyntaxTree
from tpulint.semantic.values.module_lists import source_of

_DEPTH = 5
_COPIES = frozenset({
    "builtins.list", "builtins.tuple", "builtins.sorted", "builtins.set", "builtins.dict", "builtins.reversed",
    "collections.OrderedDict",
})  # fmt: skip
Key = str | int | None
"""A constant index; None for any element."""
Store = tuple[Key, ast.expr, ast.expr]
"""What is put into a container, with the key, and the container as written there."""


def key_of(node: ast.Subscript) -> Key:
    """The constant that an element is asked for with; None for anything else."""
    index = node.slice.value if isinstance(node.slice, ast.Constant) else None
    return index if isinstance(index, str | int) else None


class Contents:
    """Elements of containers of one file, as expressions."""

    def __init__(self, tree: SyntaxTree, names: Names, flow: Flow, definitions: Definitions) -> None:
        self._tree = tree
        self._names = names
        self._flow = flow
        self._definitions = definitions
        self._stored: dict[tuple[ast.AST, str], list[Store]] | None = None
        self._inner: dict[tuple[ast.AST, str], list[Store]] = {}

    def of(self, node: ast.expr, key: Key = None, depth: int = 0) -> list[ast.expr]:
        """Expressions that may be an element of a container (the one with this key); empty when none is known."""
        if depth > _DEPTH:
            return []
        if isinstance(node, ast.List | ast.Tuple | ast.Set):
            if isinstance(key, int) and -len(node.elts) <= key < len(node.elts):
                return [node.elts[key]]
            return list(node.elts)
        if isinstance(node, ast.Dict):
            return self._of_display(node, key, depth)
        if isinstance(node, ast.ListComp | ast.GeneratorExp | ast.SetComp):
            return [node.elt]
        if isinstance(node, ast.DictComp):
            return [node.value]
        if isinstance(node, ast.Call):
            return self._of_call(node, key, depth)
        if isinstance(node, ast.Name):
            return self.of_variable(self._flow.reaching(node), key, depth)
        if isinstance(node, ast.Attribute):
            return self.of_variable(self._flow.reaching_attribute(node), key, depth)
        if isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Slice):
            return self._of_element(node, key, depth)
        return []

    def _of_display(self, node: ast.Dict, key: Key, depth: int) -> list[ast.expr]:
        """What is in ``{"loss": loss, **other}``; of any element nothing where nothing is known of the other."""
        found: list[ast.expr] = []
        for at, value in zip(node.keys, node.values, strict=True):
            spread = self.of(value, key, depth + 1) if at is None else []
            if at is None and key is None and not spread:
                return []
            found += spread
            if at is not None and (key is None or not isinstance(at, ast.Constant) or at.value == key):
                found.append(value)
        return found

    def keys(self, node: ast.expr, depth: int = 0) -> set[str]:
        """Texts by which something is put into a dictionary: a display, and a variable that holds one."""
        if isinstance(node, ast.Dict) and depth <= _DEPTH:
            written = {at.value for at in node.keys if isinstance(at, ast.Constant) and isinstance(at.value, str)}
            others = (value for at, value in zip(node.keys, node.values, strict=True) if at is None)
            return written.union(*(self.keys(value, depth + 1) for value in others))
        found: set[str] = set()
        for binding in self._flow.reaching(node) if isinstance(node, ast.Name) and depth <= _DEPTH else ():
            if binding.kind == "assign" and not binding.path and binding.value is not None:
                found |= self.keys(binding.value, depth + 1)
                found.update(store[0] for store in self.stored_into(binding) if isinstance(store[0], str))
        return found

    def _within(self, containers: list[ast.expr], path: Sequence[Key], depth: int) -> list[ast.expr]:
        """What may be at a place in these containers: of tuples and dicts in a list."""
        for key in path:
            containers = [item for container in containers for item in self.of(container, key, depth)]
        return list(dict.fromkeys(containers))

    def _gone_through(self, node: ast.expr, path: tuple[int, ...], depth: int) -> list[ast.expr]:
        """What a loop gives a variable: in ``for i, (a, b) in enumerate(pairs)``, ``for t, o in zip(rows, lines)``."""
        container, places = source_of(self._names, node, path)
        return self._within(self.of(container, None, depth + 1), places, depth + 1)

    def members_of(self, node: ast.expr, depth: int = 0) -> list[ast.expr]:
        """What an expression may be: an element of a list by what is put into it, else the expression itself."""
        if isinstance(node, ast.Subscript):
            return self._elements_of(node.value, depth) or [node]
        if isinstance(node, ast.Name) and depth < _DEPTH:
            bindings = self._flow.reaching(node)
            value = bindings[0].value if len(bindings) == 1 and not bindings[0].path else None
            if value is not None and bindings[0].kind == "loop":
                return self._elements_of(value, depth) or [node]
            if value is not None and bindings[0].kind == "assign" and isinstance(value, ast.Subscript):
                return self.members_of(value, depth + 1)
        return [node]

    def _elements_of(self, container: ast.expr, depth: int) -> list[ast.expr]:
        """What is put into a container, be it one that calls in this file give for a parameter."""
        found = self.of(container)
        if found or not isinstance(container, ast.Name) or depth > _DEPTH:
            return found
        for binding in self._flow.reaching(container):
            if binding.kind == "parameter" and isinstance(binding.statement, FUNCTIONS):
                for given in self._definitions.arguments.of(binding.statement, binding.name):
                    found += self._elements_of(given, depth + 1)
        return found

    def _of_call(self, node: ast.Call, key: Key, depth: int) -> list[ast.expr]:
        name = self._names.qualified(node.func)
        if name == "builtins.dict" and not node.args:
            return [item.value for item in node.keywords if key is None or item.arg in (None, key)]
        if name in _COPIES:
            return self.of(node.args[0], None, depth + 1) if len(node.args) == 1 else []
        if name == "builtins.map" and node.args and isinstance(node.args[0], ast.Lambda):
            return [node.args[0].body]  # `map(lambda part: part.to(device), batch)`
        if isinstance(node.func, ast.Attribute) and node.func.attr == "values" and not node.args:
            return self.of(node.func.value, None, depth + 1)
        function = self._definitions.function_called(node)
        if function is None:
            return []
        return [item for value in self._definitions.returned_by(function) for item in self.of(value, key, depth + 1)]

    def of_variable(self, bindings: Sequence[Binding], key: Key, depth: int = 0) -> list[ast.expr]:
        """The same of a container that these bindings give a variable, or an attribute of objects of a class."""
        result: list[ast.expr] = []
        for binding in bindings:
            made = _made(binding) if binding.kind == "assign" else None
            if made is not None:
                stored = [item[:2] for item in self.stored_into(binding)]
                exact = not stored and isinstance(key, int)
                found = self.of(made, key if exact or isinstance(key, str) else None, depth + 1)
                by_name = [value for at, value in stored if at == key] if isinstance(key, str) else []
                found += by_name or [value for at, value in stored if None in (at, key) or at == key]
                result += [item for item in found if item not in result]
            elif binding.kind == "assign" and len(binding.path) == 1 and isinstance(binding.value, ast.Call):
                for value in self._parts(binding.value, binding.path[0]):
                    result += [item for item in self.of(value, key, depth + 1) if item not in result]
            elif binding.kind == "loop" and binding.value is not None:
                for value in self._gone_through(binding.value, binding.path, depth + 1):
                    result += [item for item in self.of(value, key, depth + 1) if item not in result]
        return result

    def _of_element(self, node: ast.Subscript, key: Key, depth: int) -> list[ast.expr]:
        """What is in a list, tuple or dict that another holds: ``meters["loss"]``, by what is put there."""
        wanted = key_of(node)
        found: list[ast.expr] = []
        for binding in self._flow.bindings_of(node.value):
            lists = self._stores(inner=True).get(self._variable(binding), ()) if binding.kind == "assign" else ()
            found += [item[1] for item in lists if item[0] in (None, wanted) and self._is_of(item, binding)]
        return found + self._within(self.of(node.value, wanted, depth + 1), (key,), depth + 1)

    def stored_into(self, binding: Binding) -> list[Store]:
        """What is put into what a binding gives a variable."""
        return [item for item in self._stores().get(self._variable(binding), ()) if self._is_of(item, binding)]

    def _parts(self, call: ast.Call, at: int) -> list[ast.expr]:
        """One of the values that a function of this file returns together."""
        function = self._definitions.function_called(call)
        made = [] if function is None else self._definitions.returned_by(function)
        return [value.elts[at] for value in made if isinstance(value, ast.Tuple) and 0 <= at < len(value.elts)]

    def _is_of(self, store: Store, binding: Binding) -> bool:
        """Whether something is put into what a binding gives a variable: the name may be that of another dict there."""
        container = store[2]
        return not isinstance(container, ast.Name) or binding in self._flow.reaching(container)

    def _stores(self, inner: bool = False) -> dict[tuple[ast.AST, str], list[Store]]:
        """What is put into containers, by the variable; ``inner`` for what is put into the lists in a dictionary."""
        if self._stored is None:
            self._stored = {}
            for node in self._tree.parents:
                kind = node.__class__
                if kind is not ast.Call and kind is not ast.Assign and kind is not ast.AugAssign:
                    continue
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                    if node.func.attr == "append" and len(node.args) == 1:
                        container = node.func.value
                        if isinstance(container, ast.Subscript):  # `meters["loss"].append(loss)`
                            self._store(self._inner, container.value, key_of(container), node.args[0])
                        else:
                            self._store(self._stored, container, None, node.args[0])
                elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
                    self._store(self._stored, node.targets[0].value, key_of(node.targets[0]), node.value)
                elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Subscript):
                    self._store(self._stored, node.target.value, key_of(node.target), node.value)
        return self._inner if inner else self._stored

    def _store(
        self, stored: dict[tuple[ast.AST, str], list[Store]], container: ast.expr, key: Key, value: ast.expr
    ) -> None:
        if isinstance(container, ast.Name):
            found = self._names.find_name(container)
            if found is not None:
                stored.setdefault((found[0].node, container.id), []).append((key, value, container))
        elif isinstance(container, ast.Attribute):
            owner = self._tree.class_of(container)
            if owner is not None and self._flow.reaching_attribute(container):
                stored.setdefault((owner, container.attr), []).append((key, value, container))

    def _variable(self, binding: Binding) -> tuple[ast.AST, str]:
        """What a binding gives a value to: a variable of a scope, or an attribute of a class."""
        owner = self._tree.class_of(binding.node) if isinstance(binding.node, ast.Attribute) else None
        return owner or binding.scope.node, binding.name


def _made(binding: Binding) -> ast.expr | None:
    """What a variable is given, alone or as one of several: ``a, b = [], []``, ``a, b = [[] for _ in range(2)]``."""
    if len(binding.path) == 1 and isinstance(binding.value, ast.ListComp):
        return binding.value.elt
    return element_of(binding)
