"""What objects hold where code outside their class reads it: ``runner.loss``, ``out.logits`` of ``Output(loss, y)``."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from tpulint.semantic.functions.definitions import Definitions
from tpulint.semantic.project.imported import Imported
from tpulint.semantic.project.other_files import returned, with_bases
from tpulint.semantic.syntax.bindings import Binding, part_of
from tpulint.semantic.syntax.flow import Flow
from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.nodes import FUNCTIONS, is_of_self
from tpulint.semantic.syntax.tree import SyntaxTree
from tpulint.semantic.syntax.variables import is_configuration
from tpulint.semantic.values.contents import Key
from tpulint.semantic.values.record_fields import RecordFields
from tpulint.semantic.values.value import LARGEST_DEPTH, UNKNOWN, Kind, Side, Value, join

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic.values.kinds import Kinds

_GIVING_PARTS = ("get_input_embeddings", "get_output_embeddings", "get_encoder", "get_decoder")
"""Methods by which models of Transformers give modules that they are made of."""
_DEPTH = 3
"""Functions that hand a record on to each other."""


class ObjectValues:
    """Asked by :class:`Kinds` for attributes of objects of which nothing else is known; tells of tensors alone."""

    def __init__(
        self, kinds: Kinds, tree: SyntaxTree, names: Names, flow: Flow, definitions: Definitions, imported: Imported
    ) -> None:
        self._kinds = kinds
        self._tree = tree
        self._names = names
        self._flow = flow
        self._definitions = definitions
        self._imported = imported
        self.records = RecordFields(tree, names, imported)

    def value(self, node: ast.Attribute, depth: int) -> Value:
        """A tensor of the device that an object keeps in this attribute, whoever has put it there."""
        if depth > LARGEST_DEPTH - 6 or not isinstance(node.ctx, ast.Load):
            return UNKNOWN
        if not isinstance(node.value, ast.Name | ast.Attribute | ast.Call) or is_of_self(node):
            return UNKNOWN
        stored = [one for one in self._tree.attributes_called(node.attr) if self._is_store_outside(one)]
        if stored:
            found = self._stored_last(node, stored, depth)
        elif self._is_of_module(node):
            found = self._kinds.parameter_tensor()
        else:
            kept = self._kept_by_class(node, depth)
            found = self._given_as_field(node, depth) if kept.kind is Kind.UNKNOWN else kept
        return found if found.kind is Kind.TENSOR and found.side is Side.DEVICE else UNKNOWN

    def _is_of_module(self, node: ast.Attribute) -> bool:
        """Whether the attribute is a parameter or buffer of the module class of the project of which the object is."""
        here = self._definitions.classes.made(node.value)
        if here:
            return all(self._kinds.module_tensors.are_of(owner, node.attr) for owner in here)
        made = self._imported.classes_of(node.value)
        return bool(made) and all(
            any(owner.file.kinds.module_tensors.are_of(owner.node, node.attr) for owner in with_bases(one))  # type: ignore[arg-type]
            for one in made
        )

    def is_module(self, node: ast.expr, depth: int) -> bool:
        """Whether an expression is a module, or a part of one: ``net.layer``, ``bert.get_input_embeddings()``.

        Parts of a model whose class nobody sees are modules, as far as their names go.
        """
        if depth > LARGEST_DEPTH - 6:
            return False
        if self._kinds.value(node, depth + 2).kind is Kind.MODULE:
            return True
        if isinstance(node, ast.Call):
            is_asked = isinstance(node.func, ast.Attribute) and node.func.attr in _GIVING_PARTS and not node.args
            owner = node.func.value if is_asked else None  # type: ignore[attr-defined]
            return owner is not None and self._is_unseen(owner) and self.is_module(owner, depth + 2)
        if not isinstance(node, ast.Attribute) or is_configuration(node.attr):
            return False
        given = self._flow.reaching_attribute(node) if is_of_self(node) else ()
        if any(isinstance(part_of(one.value, one.path), ast.Name) for one in given) and not self._is_run(node):
            return False  # `self.p = params`: options, maybe
        kept = [kinds.binding_value(one, depth + 2) for kinds, bound in self._kept(node) for one in bound]
        is_part = join(kept).kind is Kind.MODULE if kept else self._is_unseen(node.value)
        return is_part and self.is_module(node.value, depth + 2)

    def _is_run(self, node: ast.Attribute) -> bool:
        """Whether a class calls what it keeps in an attribute: ``self.part(x)``."""
        owner, tree = self._tree.class_of(node), self._tree
        same = (one for one in tree.attributes_called(node.attr) if is_of_self(one) and tree.class_of(one) is owner)
        return any(isinstance(call := tree.parents[one], ast.Call) and call.func is one for one in same)

    def _is_unseen(self, node: ast.expr) -> bool:
        """Whether an object is of no class of the project, as far as is known."""
        return not self._definitions.classes.made(node) and not self._imported.classes_of(node)

    def _is_store_outside(self, node: ast.Attribute) -> bool:
        """Whether an attribute is given a value by other code than a method of the object's class."""
        return not isinstance(node.ctx, ast.Load) and not is_of_self(node)

    def _stored_last(self, node: ast.Attribute, stored: list[ast.Attribute], depth: int) -> Value:
        """What ``state.loss = loss`` has put there whenever this is read; unknown where another may have since."""
        if not isinstance(node.value, ast.Name):
            return UNKNOWN
        function, here, last = self._tree.function_of(node), self._tree.start(node), None
        for store in stored:
            if self._tree.function_of(store) is not function or not self._is_of_same(store.value, node.value):
                return UNKNOWN
            statement = self._tree.parents[store]
            if self._tree.start(store) > here:
                continue
            if not isinstance(statement, ast.Assign) or not self._has_run(statement, node):
                return UNKNOWN
            last = statement
        return UNKNOWN if last is None else self._kinds.value(last.value, depth + 2)

    def _is_of_same(self, other: ast.expr, name: ast.Name) -> bool:
        """Whether two names are one variable, which holds the same object in both places."""
        is_one = isinstance(other, ast.Name) and other.id == name.id
        return is_one and set(self._flow.reaching(other)) == set(self._flow.reaching(name))  # type: ignore[arg-type]

    def _has_run(self, statement: ast.stmt, use: ast.AST) -> bool:
        """Whether a statement stands in a block around a use, in front of it."""
        child = self._tree.child_towards(self._tree.parents[statement], use)
        return isinstance(child, ast.stmt) and self._tree.suite_of(child) is self._tree.suite_of(statement)

    def element(self, node: ast.Attribute, key: Key, depth: int) -> Value:
        """A tensor of the device that stands under a key of what an object keeps: ``runner.losses["total"]``."""
        if depth > LARGEST_DEPTH - 6 or is_of_self(node):
            return UNKNOWN
        found = []
        for kinds, bindings in self._kept(node):
            items = kinds.contents.of_variable(bindings, key)
            found.append(join(kinds.value(item, depth + 2) for item in items)._replace(certain=False))
        known = join(found)
        return known if known.kind is Kind.TENSOR and known.side is Side.DEVICE else UNKNOWN

    def _kept_by_class(self, node: ast.Attribute, depth: int) -> Value:
        """What methods of the object's class give the attribute: ``self.loss = criterion(output, y)``."""
        found = []
        for kinds, bindings in self._kept(node):
            value = join(kinds.binding_value(binding, depth + 2) for binding in bindings)
            found.append(value if kinds is self._kinds else value._replace(certain=False))
        return join(found)

    def _kept(self, node: ast.Attribute) -> Iterator[tuple[Kinds, Sequence[Binding]]]:
        """Where the classes that an object may be of give an attribute its values, each with what its file knows."""
        if not isinstance(node.value, ast.Name | ast.Attribute):
            return
        here = self._definitions.classes.bindings_of_part(node)
        if here:
            yield self._kinds, here
            return
        for made in self._imported.classes_of(node.value):
            for owner in with_bases(made):
                assert isinstance(owner.node, ast.ClassDef)
                bound = owner.file.names.attribute_bindings(owner.node, node.attr)
                if bound:
                    yield owner.file.kinds, bound
                    break

    # ---------------------------------------------------------------- records

    def is_record(self, made: ast.expr, depth: int = 0) -> bool:
        """Whether an expression gives a record, which has places as a tensor has: ``out[0].item()``, ``out.name``."""
        if not isinstance(made, ast.Call) or depth > _DEPTH:
            return False
        function = self._definitions.function_called(made)
        if function is None:
            return self.records.are_made_by(made)
        given = [one for value in self._definitions.returned_by(function) for one in self._made(value) or [value]]
        return any(self.is_record(one, depth + 1) for one in given)

    def _given_as_field(self, node: ast.Attribute, depth: int) -> Value:
        """What the call that has made a record gives for one of its fields."""
        return join(self._field_of(made, node.attr, depth) for made in self._made(node.value))

    def _made(self, node: ast.expr) -> list[ast.expr]:
        """Calls that give an object; none where it may be something else."""
        if isinstance(node, ast.Call):
            return [node]
        bindings = self._flow.bindings_of(node)
        made = [one.value for one in bindings if one.kind == "assign" and not one.path and one.value is not None]
        are_calls = len(made) == len(bindings) and all(isinstance(one, ast.Call) for one in made)
        return made if are_calls else []

    def _field_of(self, made: ast.expr, name: str, depth: int) -> Value:
        if not isinstance(made, ast.Call) or depth > LARGEST_DEPTH - 6:
            return UNKNOWN
        given = self.records.given(made, name)
        if given is not None:
            return self._kinds.value(given, depth + 2)
        function = self._definitions.function_called(made)
        if function is not None:
            return self._field_returned(self._definitions.returned_by(function), name, depth)
        called = self._imported.called(made)
        if called is None or not isinstance(called.node, FUNCTIONS):
            return UNKNOWN
        found = called.file.kinds.objects._field_returned(returned(called), name, depth)
        return self._kinds.functions.beside(found, made, called, depth)._replace(certain=False)

    def _field_returned(self, values: list[ast.expr], name: str, depth: int) -> Value:
        """The same of one of the values that a function of this file returns."""
        return join(self._field_of(one, name, depth + 2) for value in values for one in self._made(value) or [value])
