"""What attributes hold: of objects of the file, of tensors and modules, of what a base class of another file keeps."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from tpulint.semantic.functions.definitions import Definitions
from tpulint.semantic.project.imported import Imported
from tpulint.semantic.project.other_files import Definition, methods, with_bases
from tpulint.semantic.syntax import torch_facts as facts
from tpulint.semantic.syntax.bindings import Binding
from tpulint.semantic.syntax.flow import Flow
from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.nodes import FUNCTIONS, FunctionNode, is_of_self
from tpulint.semantic.syntax.tree import SyntaxTree
from tpulint.semantic.syntax.variables import itself
from tpulint.semantic.values.value import HOST, LARGEST_DEPTH, UNKNOWN, Kind, Side, Value, join

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic.values.kinds import Kinds

_QUESTIONS = ("is_", "has_")
_COUNTS_AND_NAMES = ("_length", "_count", "_type", "_name")
"""How attributes of objects that hold more than a tensor begin, and end."""
_WEIGHTS = ("weight", "bias")
_KEPT_BY_BASES = frozenset({Kind.MODULE, Kind.OPTIMIZER, Kind.SCHEDULER, Kind.SCALER})


class AttributeValues:
    """Asked by :class:`Kinds` for attributes."""

    def __init__(
        self,
        kinds: Kinds,
        tree: SyntaxTree,
        names: Names,
        flow: Flow,
        definitions: Definitions,
        imported: Imported,
    ) -> None:
        self._kinds = kinds
        self._tree = tree
        self._names = names
        self._flow = flow
        self._definitions = definitions
        self._imported = imported

    def value(self, node: ast.Attribute, depth: int) -> Value:
        """What an attribute holds."""
        if self._kinds.module_tensors.has(node):
            return self._kinds.parameter_tensor()
        bindings = self._flow.reaching_attribute(node)
        if bindings:
            known = join(self._kinds.binding_value(binding, depth) for binding in bindings)
            is_made = any(isinstance(binding.value, ast.Call) for binding in bindings)
            return self._of_classes(node) if is_made and known.kind is Kind.UNKNOWN else known
        if self._names.qualified(node) is not None:
            return UNKNOWN
        family = [self._kinds.binding_value(one, depth) for one in self._flow.inherited_attribute(node)]
        inherited = join(family) if len({one.kind for one in family}) == 1 else UNKNOWN
        if inherited.kind is not Kind.UNKNOWN and (inherited.kind, inherited.side) != (Kind.TENSOR, Side.HOST):
            return inherited._replace(certain=False)  # what a module makes on the host moves with it
        used = self._kinds.roles.of_attribute(node)
        if used is not None:
            return used
        if self._kinds.graph_parts.has(node) and not self._kinds.host.is_certain:
            return Value(Kind.TENSOR, Side.DEVICE, certain=False)
        base = self._kinds.value(node.value, depth)
        shown = self._shown(node, base, depth) if base.kind in (Kind.MODULE, Kind.UNKNOWN) else UNKNOWN
        if shown.kind is Kind.TENSOR and shown.side is Side.DEVICE:
            return shown
        if base.kind is Kind.TENSOR:
            if node.attr == "device":
                return Value(Kind.DEVICE)
            is_counted = node.attr.startswith(facts.COUNTS) or node.attr[1:].endswith(_COUNTS_AND_NAMES)
            if not base.certain and (is_counted or node.attr.startswith(_QUESTIONS)):
                return UNKNOWN  # `cache.cache_length`: an object of several things
            # `x.nelement != 0`, which lacks the call, asks about the method.
            is_host = node.attr in facts.TENSOR_HOST_ATTRIBUTES or node.attr in facts.TENSOR_HOST_METHODS
            return HOST if is_host else base
        if base.kind is Kind.NUMPY:
            return HOST if node.attr in ("shape", "size", "ndim", "dtype") else base
        if base.kind is Kind.MODULE:
            if node.attr in _WEIGHTS:
                return self._kinds.parameter_tensor()
            if node.attr == "training":
                return HOST
            is_wrapped = node.attr == "module"
            return base._replace(certain=False) if is_wrapped else self._kinds.objects.value(node, depth)
        is_weight = node.attr in _WEIGHTS and self._kinds.objects.is_module(node.value, depth)
        if (node.attr == "grad" or is_weight) and base.kind is Kind.UNKNOWN and isinstance(node.ctx, ast.Load):
            return self._kinds.parameter_tensor()
        if node.attr == "data" and base.kind is Kind.UNKNOWN and isinstance(node.ctx, ast.Load):
            packed = self._kinds.elements.of_packed(node, depth)
            if packed.kind is not Kind.UNKNOWN:
                return packed
        if base.kind is Kind.DISTRIBUTION:
            return base._replace(kind=Kind.TENSOR) if node.attr in facts.DISTRIBUTION_ATTRIBUTES else UNKNOWN
        if base.kind is Kind.DEVICE:
            return HOST
        kept = self._kinds.kept.value(node, depth) if base.kind is Kind.UNKNOWN else UNKNOWN
        if kept.kind is Kind.UNKNOWN and base.kind is Kind.UNKNOWN:
            kept = self._kinds.objects.value(node, depth)
        if kept.kind is not Kind.UNKNOWN:
            return kept
        # `self.model`, which a base class of another file keeps
        known = self._of_classes(node) if base.kind is Kind.UNKNOWN else UNKNOWN
        if known.kind is Kind.UNKNOWN:
            known = self._of_base(node) if is_of_self(node) else self._of_object(node, depth)
        return known._replace(certain=False)

    def _of_classes(self, node: ast.Attribute) -> Value:
        """What an object is whose classes other files have, such as a part that a registry gives."""
        made = self._imported.classes_of(node)
        known = join(item.file.kinds.instance(item.node) for item in made if isinstance(item.node, ast.ClassDef))
        return known._replace(certain=False)

    def _shown(self, node: ast.Attribute, base: Value, depth: int) -> Value:
        """What a property gives, of an object of a class of this file or another: ``policy.entropy``."""
        if not isinstance(node.ctx, ast.Load) or depth > LARGEST_DEPTH - 3:
            return UNKNOWN
        here = self._definitions.method_named(node)
        if here is not None:
            is_property = here in self._definitions.properties(node.attr)
            return self._given_by(here, self._kinds, base, depth) if is_property else UNKNOWN
        found = methods(self._imported.classes_of(node.value), node.attr)
        return join(
            self._given_by(one.node, one.file.kinds, base, depth)
            for one in found
            if isinstance(one.node, FUNCTIONS) and one.node in one.file.definitions.properties(node.attr)
        )._replace(certain=False)

    def _given_by(self, shown: FunctionNode, kinds: Kinds, base: Value, depth: int) -> Value:
        """What a property returns, or is said to return; of a module, where the module is."""
        value = kinds.functions.returned(shown, (), depth + 2)
        if value.kind is Kind.UNKNOWN:
            value = kinds.parameters.annotated(shown.returns)
        is_on_device = base.kind is Kind.MODULE and self._kinds.mentions_device
        if value.kind is Kind.TENSOR and value.side is Side.UNKNOWN and is_on_device:
            return value._replace(side=Side.DEVICE, certain=False)
        return value

    def is_saved(self, node: ast.expr) -> bool:
        """``ctx.saved_tensors`` in a function with a gradient of its own: a tuple of tensors."""
        if not isinstance(node, ast.Attribute) or node.attr != "saved_tensors":
            return False
        function, owner = self._tree.function_of(node), self._tree.class_of(node)
        if function is None or owner is None or not self._definitions.has_own_gradient(owner):
            return False
        return isinstance(node.value, ast.Name) and [node.value.id] == [one.arg for one in function.args.args[:1]]

    def _of_base(self, node: ast.Attribute) -> Value:
        """What a base class of another file uses ``self.model`` as: a module, an optimizer."""
        owner = self._tree.class_of(node)
        if owner is None or not isinstance(node.value, ast.Name) or node.value.id != "self":
            return UNKNOWN
        found = (base for here in self._names.classes_above(owner) for base in self._imported.bases_of(here))
        return self._kept_by_any(found, node.attr)

    def _of_object(self, node: ast.Attribute, depth: int) -> Value:
        """What the class of an object, of this file or another, keeps in ``tester.model``: a module, an optimizer."""
        if depth > LARGEST_DEPTH - 3 or not isinstance(node.value, ast.Name | ast.Attribute):
            return UNKNOWN
        bound = self._definitions.classes.bindings_of_part(node)
        kept = join(self._kinds.binding_value(binding, depth + 1) for binding in bound)
        if kept.kind in _KEPT_BY_BASES:
            stays = kept.kind is Kind.MODULE and self._stays_on_host(node.attr, bound)
            return UNKNOWN if stays else kept
        return self._kept_by_any(self._imported.classes_of(node.value), node.attr)

    def _stays_on_host(self, attribute: str, bound: Sequence[Binding]) -> bool:
        """Whether an attribute is only given what is made in place, ``self.model = Net()``, and the file moves none."""
        made = [way for binding in bound for way in self._ways(binding.value)]
        inside = (part for binding in bound if binding.value is not None for part in ast.walk(binding.value))
        if not all(isinstance(value, ast.Call) for value in made) or any(map(_names_move, inside)):
            return False
        owners = {None, *(self._tree.class_of(binding.node) for binding in bound)}
        moved = (node.value for name in facts.MOVES for node in self._tree.attributes_called(name))
        here = (one for one in moved if isinstance(one, ast.Attribute) and one.attr == attribute)
        return not any(self._tree.class_of(one) in owners for one in here)

    def _ways(self, value: ast.expr | None) -> list[ast.expr | None]:
        """What a value may be; of ``model or Net()`` the second, where no call gives a model."""
        if isinstance(value, ast.BoolOp) and isinstance(value.op, ast.Or):
            return [way for part in value.values for way in self._ways(part)]
        if isinstance(value, ast.IfExp):
            return [*self._ways(value.body), *self._ways(value.orelse)]
        bindings = self._flow.reaching(value) if isinstance(value, ast.Name) else ()
        if bindings and all(one.kind == "parameter" and self._kinds.parameters.is_left_none(one) for one in bindings):
            return []
        return [None if value is None else itself(value)]

    def _kept_by_any(self, owners: Iterable[Definition], attribute: str) -> Value:
        """The same of what one of these classes, or one above it, keeps."""
        for owner in owners:
            for above in with_bases(owner):
                used = self._kept_by(above, attribute)
                if used.kind in _KEPT_BY_BASES:
                    return used
        return UNKNOWN

    def _kept_by(self, owner: Definition, attribute: str) -> Value:
        """What a class of another file sets an attribute of its objects to."""
        assert isinstance(owner.node, ast.ClassDef)
        bound = owner.file.names.attribute_bindings(owner.node, attribute)
        return join(owner.file.kinds.value(item.node) for item in bound if isinstance(item.node, ast.Attribute))


def _names_move(part: ast.AST) -> bool:
    return (isinstance(part, ast.Attribute) and part.attr in facts.MOVES) or (
        isinstance(part, ast.keyword) and part.arg == "device"
    )
