"""Objects that loops, elements of collections and lambdas mean: ``for net in nets: net.cuda()``."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import islice

from tpulint.semantic.functions.definitions import Definitions
from tpulint.semantic.syntax.bindings import Binding
from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.nodes import FUNCTIONS
from tpulint.semantic.syntax.torch_facts import MODULE_LISTS
from tpulint.semantic.syntax.tree import SyntaxTree
from tpulint.semantic.values.creations import ANY_ELEMENT, Creation, Creations

_DEPTH = 6
_MOST = 24
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp)
COLLECTIONS = (ast.List, ast.Tuple, ast.Set, ast.Dict, ast.DictComp, *_COMPREHENSIONS)
"""Expressions that make a collection, which is no module itself."""
_SAME_ELEMENTS = frozenset({"list", "tuple", "set", "sorted", "reversed", "iter"})
_PARTS = frozenset({"children", "modules", "named_children", "named_modules"})
_LAMBDA_CALLS = 8


class CollectedObjects:
    """Answers about one file. What cannot be told apart is any element of its collection."""

    def __init__(self, tree: SyntaxTree, names: Names, definitions: Definitions, creations: Creations) -> None:
        self._tree = tree
        self._names = names
        self._definitions = definitions
        self._creations = creations
        self._open: set[ast.AST] = set()
        """Collections of which the elements are being looked for."""
        self._kept_parts: dict[ast.AST, list[Creation]] = {}
        """By what makes an object, or by ``self`` of a method, what the object keeps."""

    def of(self, node: ast.expr) -> list[Creation]:
        """Objects that an expression may mean."""
        return self.among(self._creations.of(node))

    def among(self, creations: Iterable[Creation]) -> list[Creation]:
        """What objects are, those of collections looked up there."""
        found: dict[Creation, None] = {}
        waiting = [(one, 0) for one in creations]
        for one, depth in waiting:
            further = list(self._further(one)) if depth < _DEPTH and len(waiting) < _MOST else []
            waiting += [(other, depth + 1) for other in further]
            if not further:
                found[one] = None
        return list(found)

    def _further(self, one: Creation) -> Iterator[Creation]:
        binding = self._creations.unfollowed.get(one.node)
        if binding is not None and binding.kind == "loop" and binding.value is not None:
            for other in self._drawn(binding.value, binding.path):
                yield _part_of(other, one)
        elif binding is not None and isinstance(binding.statement, ast.Lambda):
            for other in self._given_to_lambda(binding.statement, binding):
                yield _part_of(other, one)
        elif one.path and not one.path[0].startswith("["):
            for other in self._kept(one):
                yield _part_of(other, one._replace(path=one.path[1:]))
        elif one.path:
            for other in self.elements(Creation(one.node, (), one.context), one.path[0]):
                if other.node is not one.node:
                    yield _part_of(other, one._replace(path=one.path[1:]))

    def _kept(self, one: Creation) -> Iterator[Creation]:
        """What an object of a class of this file keeps as an attribute: ``agent.policy``."""
        made = one.node if isinstance(one.node, ast.Call) else None
        owner = None if made is None else self._definitions.class_called(made)
        for binding in self._names.attribute_bindings(owner, one.path[0]) if owner is not None else ():
            if made is not None and binding.kind == "assign" and binding.value is not None and not binding.path:
                for other in self._creations.of(binding.value):
                    is_own = self._tree.class_of(other.node) is owner
                    yield other._replace(context=(made, *other.context)) if is_own else other

    def parts_kept(self, whole: ast.AST, depth: int = 0) -> list[Creation]:
        """What a module of a class of this file keeps as attributes, which move with it: ``self`` or ``Net()``."""
        if whole not in self._kept_parts:
            self._kept_parts[whole] = []  # what keeps itself adds nothing
            self._kept_parts[whole] = list(islice(self._find_parts(whole, depth), _MOST))
        return self._kept_parts[whole]

    def _find_parts(self, whole: ast.AST, depth: int) -> Iterator[Creation]:
        made = whole if isinstance(whole, ast.Call) else None
        owner = self._class_of_self(whole) if made is None else self._definitions.class_called(made)
        if owner is None or not self._definitions.is_module_class(owner):
            return
        for above in self._names.classes_above(owner):
            for binding in (one for kept in self._names.attributes.get(above, {}).values() for one in kept):
                for part in self._creations.of_binding(binding) if binding.kind == "assign" else ():
                    if part.path or not isinstance(part.node, ast.Call | ast.arg):
                        continue  # a list of modules is no part
                    is_own = made is not None and self._tree.class_of(part.node) is above
                    yield part._replace(context=(made, *part.context)) if is_own and made is not None else part
                    if isinstance(part.node, ast.Call):
                        yield from self.parts_given(part.node)
                        yield from self.parts_kept(part.node, depth + 1) if depth < _DEPTH else ()

    def _class_of_self(self, node: ast.AST) -> ast.ClassDef | None:
        """The class in a method of which a parameter is the object."""
        function = self._tree.parents[self._tree.parents[node]] if isinstance(node, ast.arg) else None
        if not isinstance(function, FUNCTIONS) or not self._tree.takes_object(function):
            return None
        is_first = [*function.args.posonlyargs, *function.args.args][0] is node
        return self._tree.class_of(function) if is_first else None

    # ---------------------------------------------------------------- elements

    def _drawn(self, node: ast.expr, path: tuple[int, ...]) -> Iterator[Creation]:
        """What a loop over an expression gives a target at a place: ``for i, net in enumerate(nets)``."""
        func = node.func if isinstance(node, ast.Call) else None
        name = func.id if isinstance(func, ast.Name) else func.attr if isinstance(func, ast.Attribute) else ""
        if isinstance(func, ast.Attribute) and name in _PARTS and len(path) == name.startswith("named_"):
            for whole in self._creations.of(func.value):
                yield whole._replace(path=(*whole.path, ANY_ELEMENT))
            return
        if isinstance(node, ast.Call) and path and name in ("enumerate", "zip", "items"):
            at = path[0]
            if name == "zip" and 0 <= at < len(node.args):
                yield from self._drawn(node.args[at], path[1:])
            elif name == "enumerate" and at == 1 and node.args:
                yield from self._drawn(node.args[0], path[1:])
            elif name == "items" and at == 1 and isinstance(func, ast.Attribute):
                yield from self._drawn(func.value, path[1:])
            return
        if isinstance(node, ast.Call) and isinstance(func, ast.Name) and name in _SAME_ELEMENTS and node.args:
            yield from self._drawn(node.args[0], path)
            return
        if isinstance(func, ast.Attribute) and name == "values":
            yield from self._drawn(func.value, path)
            return
        for collection in self._creations.of(node):
            for element in self.elements(collection):
                yield from self._unpacked(element, path)

    def _unpacked(self, one: Creation, path: tuple[int, ...]) -> Iterator[Creation]:
        for at in path:
            if one.path or not isinstance(one.node, ast.Tuple | ast.List) or not 0 <= at < len(one.node.elts):
                yield one._replace(path=(*one.path, f"[{at}]"))
                return
            parts = self._creations.of(one.node.elts[at])
            if len(parts) != 1:
                yield from parts
                return
            one = parts[0]
        yield one

    def elements(self, collection: Creation, wanted: str = ANY_ELEMENT) -> list[Creation]:
        """The elements of a collection, or the one that is wanted where the collection is written out."""
        if collection.node in self._open:
            return []  # `nets = [*nets, net]` in a loop: it adds nothing
        self._open.add(collection.node)
        try:
            return list(islice(self._find_elements(collection, wanted), _MOST))
        finally:
            self._open.discard(collection.node)

    def _find_elements(self, collection: Creation, wanted: str) -> Iterator[Creation]:
        node = collection.node
        is_filled_later = (isinstance(node, ast.Dict) and not node.keys) or (
            isinstance(node, ast.List) and not node.elts
        )
        if collection.path or (is_filled_later and node not in self._appended):
            yield collection._replace(path=(*collection.path, wanted))
        elif isinstance(node, ast.List | ast.Tuple | ast.Set):
            yield from self._listed(node.elts, wanted)
            for item in self._appended.get(node, ()):
                yield from self._creations.of(item)
        elif isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                named = isinstance(key, ast.Constant) and wanted.startswith(("['", '["'))
                if not named or (isinstance(key, ast.Constant) and wanted == f"[{key.value!r}]"):
                    yield from self._creations.of(value)
        elif isinstance(node, _COMPREHENSIONS):
            yield from self._creations.of(node.elt)
        elif isinstance(node, ast.DictComp):
            yield from self._creations.of(node.value)
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            yield from self._drawn(node.left, ())
            yield from self._drawn(node.right, ())
        elif isinstance(node, ast.Call):
            yield collection._replace(path=(wanted,))
            yield from self.parts_given(node)
        elif isinstance(node, ast.arg) and (given := self._starred_for(node)):
            for item in given:
                yield from self._drawn(item.value, ()) if isinstance(item, ast.Starred) else self._creations.of(item)
        else:
            yield collection._replace(path=(wanted,))

    def _listed(self, items: list[ast.expr], wanted: str) -> Iterator[Creation]:
        at = int(wanted[1:-1]) if wanted[1:-1].isdigit() else None
        is_plain = not any(isinstance(item, ast.Starred) for item in items)
        for item in items if at is None or not is_plain else items[at : at + 1]:
            if isinstance(item, ast.Starred):
                yield from self._drawn(item.value, ())
            else:
                yield from self._creations.of(item)

    def parts_given(self, call: ast.Call) -> Iterator[Creation]:
        """The modules that a list of modules is made of: ``nn.ModuleList([a, b])``, ``nn.Sequential(*parts)``."""
        if self._names.qualified(call.func) in MODULE_LISTS:
            for item in call.args:
                if isinstance(item, ast.Starred):
                    yield from self._drawn(item.value, ())
                elif isinstance(item, ast.List | ast.Tuple | ast.Dict | ast.Name | ast.Attribute | ast.ListComp):
                    yield from self._drawn(item, ())

    @cached_property
    def _appended(self) -> dict[ast.AST, list[ast.expr]]:
        """By the list that is written out, what is put into it."""
        found: dict[ast.AST, list[ast.expr]] = {}
        for call in self._tree.calls:
            func = call.func
            if isinstance(func, ast.Attribute) and func.attr == "append" and len(call.args) == 1:
                for made in self._creations.of(func.value):
                    if isinstance(made.node, ast.List) and not made.path:
                        found.setdefault(made.node, []).append(call.args[0])
        return found

    # ---------------------------------------------------------------- parameters

    def _starred_for(self, argument: ast.arg) -> list[ast.expr]:
        """What calls give for ``*nets``."""
        arguments = self._tree.parents[argument]
        function = self._tree.parents[arguments]
        if not isinstance(function, FUNCTIONS) or function.args.vararg is not argument:
            return []
        positional = [*function.args.posonlyargs, *function.args.args]
        skipped = len(positional) - int(self._tree.takes_object(function))
        return [item for call in self._definitions.calls_of(function) for item in call.args[skipped:]]

    def _given_to_lambda(self, function: ast.Lambda, binding: Binding) -> Iterator[Creation]:
        """What a parameter is: ``map(lambda n: ..., nets)``, ``net.apply(lambda m: ...)``, ``move = lambda n: ...``."""
        at = next((at for at, item in enumerate(function.args.args) if item is binding.node), None)
        holder = self._tree.parents[function]
        if at is None:
            return
        if isinstance(holder, ast.Call) and function in holder.args[:1]:
            if isinstance(holder.func, ast.Name) and holder.func.id == "map" and at + 1 < len(holder.args):
                yield from self._drawn(holder.args[at + 1], ())
            elif isinstance(holder.func, ast.Attribute) and holder.func.attr == "apply" and at == 0:
                yield from self._creations.of(holder.func.value)
        target = holder.targets[0] if isinstance(holder, ast.Assign) else None
        if isinstance(target, ast.Name):
            for use in self._names.loads(target.id, self._names.scope_of(target))[:_LAMBDA_CALLS]:
                call = self._tree.parents[use]
                if isinstance(call, ast.Call) and call.func is use and at < len(call.args):
                    yield from self._creations.of(call.args[at])


def _part_of(whole: Creation, part: Creation) -> Creation:
    """What is a part of an element, as a part of what the element is."""
    return whole._replace(path=(*whole.path, *part.path), way=(*whole.way, *part.way))
