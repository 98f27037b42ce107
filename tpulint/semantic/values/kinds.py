"""What a value is and on which side it lives: by annotation, by origin, by call site, by use."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import cached_property

from tpulint.model import WORDS_OF_CALLERS
from tpulint.semantic.devices.host_only import HostOnly, may_set_default, speaks_of_devices
from tpulint.semantic.functions.default_flags import DefaultFlags
from tpulint.semantic.functions.definitions import Definitions
from tpulint.semantic.functions.function_values import FunctionValues
from tpulint.semantic.functions.hooks import Hooks
from tpulint.semantic.functions.parameter_values import ParameterValues
from tpulint.semantic.modules.module_tensors import ModuleTensors
from tpulint.semantic.project.imported import Imported
from tpulint.semantic.project.outside import OutsideCall
from tpulint.semantic.syntax import torch_facts as facts
from tpulint.semantic.syntax.bindings import Binding
from tpulint.semantic.syntax.circles import Circles
from tpulint.semantic.syntax.flow import Flow
from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.tree import SyntaxTree
from tpulint.semantic.values.attribute_values import AttributeValues
from tpulint.semantic.values.branch_values import BranchValues
from tpulint.semantic.values.call_values import CallValues
from tpulint.semantic.values.contents import Contents, Key, key_of
from tpulint.semantic.values.element_values import ElementValues
from tpulint.semantic.values.graph_parts import GraphParts
from tpulint.semantic.values.kept_tensors import KeptTensors
from tpulint.semantic.values.mapped_elements import LISTS
from tpulint.semantic.values.method_values import MethodValues
from tpulint.semantic.values.object_values import ObjectValues
from tpulint.semantic.values.roles import Roles
from tpulint.semantic.values.sides import Sides
from tpulint.semantic.values.unseen_results import UnseenResults
from tpulint.semantic.values.value import HOST, LARGEST_DEPTH, UNKNOWN, combine, is_key, is_none, is_text, join
from tpulint.semantic.values.value import Kind as Kind
from tpulint.semantic.values.value import Side as Side
from tpulint.semantic.values.value import Value as Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic.devices.default_device import MadeTensors
    from tpulint.semantic.modules.own_optimizers import OwnOptimizers
    from tpulint.semantic.modules.unmoved_models import UnmovedModels
    from tpulint.semantic.values.distribution_classes import DistributionClasses
    from tpulint.semantic.values.placed_elements import PlacedElements
    from tpulint.semantic.values.shape_numbers import ShapeNumbers


class Kinds:
    """Lazy, memoised inference over one file. Work is bounded; past the bound the answer is UNKNOWN."""

    def __init__(
        self,
        tree: SyntaxTree,
        names: Names,
        flow: Flow,
        definitions: Definitions,
        imported: Imported,
        flags: DefaultFlags,
        outside: Sequence[OutsideCall],
    ) -> None:
        self._tree = tree
        self._names = names
        self._flow = flow
        self._definitions = definitions
        self._imported = imported
        self._outside = outside
        self._memo: dict[ast.AST, Value] = {}
        self._bindings: dict[Binding, Value] = {}
        self._circles = Circles()
        self.hooks = Hooks(tree, names)
        self.graph_parts = GraphParts(tree, flow, definitions)
        self.module_tensors = ModuleTensors(tree, names, definitions)
        self.host = HostOnly(tree, names, flow, definitions, imported, outside)
        self._host_only = self.host.is_certain
        self.sides = Sides(self, tree, names, flags, self._host_only)
        self.attributes = AttributeValues(self, tree, names, flow, definitions, imported)
        self.calls = CallValues(self, tree, names, flow, definitions)
        self.methods = MethodValues(self, tree, names, flow)
        self.functions = FunctionValues(self, tree, names, flow, definitions, imported, self._circles)
        self.branches = BranchValues(self, tree, names)
        self.elements = ElementValues(self, tree, names, flow, definitions, imported)
        self.kept = KeptTensors(self, tree, names, definitions, imported)
        self.objects = ObjectValues(self, tree, names, flow, definitions, imported)
        self.parameters = ParameterValues(self, tree, names, flow, definitions, flags, outside)
        self.unseen = UnseenResults(self, tree, names, flow, definitions, outside)
        speaks = not self._host_only and speaks_of_devices(tree, imported, outside)
        self.mentions_device = speaks or bool(self.hooks.all)
        """Whether the file has to do with devices beside the CPU; if not, everything runs on the host.

        A training framework moves what its hooks are given."""
        self.default_side = Side.UNKNOWN if may_set_default(tree.source, outside) else Side.HOST
        """Where tensors lie that are made without a device."""
        self._puts_back = "] = " in tree.source.text
        self._runs_itself = tree.source.has_any(WORDS_OF_CALLERS)
        """Whether what the file makes may run here; modules of one with definitions alone go where others move them."""

    @cached_property
    def own_optimizers(self) -> OwnOptimizers:
        """Optimizers that are classes of the file."""
        from tpulint.semantic.modules.own_optimizers import OwnOptimizers

        return OwnOptimizers(self._tree, self._names, self._flow)

    @cached_property
    def shape_numbers(self) -> ShapeNumbers:
        """What forward passes return that is numbers of the host."""
        from tpulint.semantic.values.shape_numbers import ShapeNumbers

        return ShapeNumbers(self._tree, self._names, self._flow, self._definitions, self._imported)

    @cached_property
    def made_tensors(self) -> MadeTensors:
        """Tensors that are made without a device."""
        from tpulint.semantic.devices.default_device import MadeTensors

        return MadeTensors(self._tree, self._names, self._outside)

    @cached_property
    def unmoved_models(self) -> UnmovedModels:
        """Models that are made beside the trained one, and left on the host."""
        from tpulint.semantic.modules.unmoved_models import UnmovedModels

        return UnmovedModels(self._tree, self._names, self._definitions)

    @cached_property
    def distribution_classes(self) -> DistributionClasses:
        """Classes of distributions that are called by another name."""
        from tpulint.semantic.values.distribution_classes import DistributionClasses

        return DistributionClasses(
            self._tree, self._names, self._flow, self._definitions, self._imported, self._outside
        )

    # ---------------------------------------------------------------- expressions

    def value(self, node: ast.expr, depth: int = 0) -> Value:
        """What is known about an expression."""
        found = self._memo.get(node)
        if found is not None:
            if self._circles.are_open:
                self._circles.use(node)
            return found
        if depth > LARGEST_DEPTH:
            return UNKNOWN
        self._memo[node] = UNKNOWN  # a value that depends on itself adds nothing
        outer = self._circles.enter(node)
        result = self._infer(node, depth + 1)
        self._circles.leave(self._memo, node, result, outer)
        return result

    def is_on_device(self, node: ast.expr) -> bool:
        """Whether an expression is a tensor on the device, as far as is known."""
        value = self.value(node)
        return value.kind is Kind.TENSOR and value.side is Side.DEVICE

    def _infer(self, node: ast.expr, depth: int) -> Value:
        if isinstance(node, ast.Constant | ast.JoinedStr | ast.Dict | ast.List | ast.Set | ast.ListComp | ast.DictComp
                      | ast.SetComp | ast.GeneratorExp | ast.Lambda | ast.Tuple):  # fmt: skip
            return HOST
        if isinstance(node, ast.Name):
            held = self.branches.held(self._flow.reaching(node), depth)
            return HOST if held.kind is Kind.TENSOR and self.branches.is_no_tensor(node) else held
        if isinstance(node, ast.Call):
            return self.calls.value(node, depth)
        if isinstance(node, ast.Attribute):
            return self.attributes.value(node, depth)
        if isinstance(node, ast.BinOp):
            if isinstance(node.op, ast.Mod) and is_text(node.left):
                return HOST  # `"%.3f" % loss`
            return combine([self.value(node.left, depth), self.value(node.right, depth)])
        if isinstance(node, ast.UnaryOp):
            return HOST if isinstance(node.op, ast.Not) else self.value(node.operand, depth)
        if isinstance(node, ast.Compare):
            if any(isinstance(op, ast.Is | ast.IsNot | ast.In | ast.NotIn) for op in node.ops):
                return HOST
            if any(is_none(item) or is_text(item) for item in (node.left, *node.comparators)):
                return HOST  # `layer.kind == "a"`, `weight == None`: no tensor is compared with a text or with None
            if any(isinstance(item, ast.List) and not item.elts for item in (node.left, *node.comparators)):
                return HOST  # `parts[i] != []`
            return combine([self.value(item, depth) for item in (node.left, *node.comparators)])
        if isinstance(node, ast.BoolOp):
            return join(self.value(item, depth) for item in node.values)
        if isinstance(node, ast.IfExp):
            ways = [way for way in (node.body, node.orelse) if not is_none(way)]  # None only keeps the place
            values = self.branches.without_numbers(ways, [self.value(way, depth) for way in ways])
            return self.branches.chosen(node, values) if ways else HOST
        if isinstance(node, ast.Subscript):
            if self.attributes.is_saved(node.value):
                return self.parameter_tensor()
            placed = self.placed(node.value, key_of(node), depth)
            if placed.kind is not Kind.UNKNOWN:
                return placed
            base = self.value(node.value, depth)
            if base.kind in (Kind.TENSOR, Kind.NUMPY):
                held = self.content(node.value, key_of(node), depth) if is_key(node.slice) else UNKNOWN
                if held.kind is not Kind.UNKNOWN:
                    return held  # a dictionary, of which more is known than that a module gives it
                return UNKNOWN if self.parameters.is_option(node, depth) else base
            if base.kind is Kind.MODULE:
                return base._replace(certain=False)
            if base.kind is Kind.HOST and isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
                return HOST
            found = self.content(node.value, key_of(node), depth)
            if found.kind is Kind.UNKNOWN and self._is_list_made(node.value) and not isinstance(node.slice, ast.Slice):
                return self.elements.element(node.value, (), depth + 1)  # `list(model.parameters())[0]`
            if found.kind is Kind.UNKNOWN and self._are_comparisons(node.slice) and self.is_on_device(node.slice):
                # What a mask of the device is taken of lies there, too.
                return Value(Kind.TENSOR, Side.DEVICE, certain=False)
            return found
        if isinstance(node, ast.NamedExpr | ast.Starred | ast.Await):
            return self.value(node.value, depth)
        return UNKNOWN

    def _is_list_made(self, node: ast.expr) -> bool:
        """``list(model.parameters())``"""
        is_call = isinstance(node, ast.Call) and len(node.args) == 1 and isinstance(node.args[0], ast.Call)
        return is_call and isinstance(node, ast.Call) and self._names.qualified(node.func) in LISTS

    def _are_comparisons(self, node: ast.expr) -> bool:
        """Whether an expression is the truth of a comparison, or a variable that is nothing else."""
        if isinstance(node, ast.Name):
            bindings = self._flow.reaching(node)
            return bool(bindings) and all(isinstance(b.value, ast.Compare) and not b.path for b in bindings)
        return isinstance(node, ast.Compare)

    # ---------------------------------------------------------------- calls

    def module_result(self, module: Value) -> Value:
        """What a call of this module gives."""
        side = Side.DEVICE if self.mentions_device else Side.HOST if self._runs_itself else Side.UNKNOWN
        return Value(Kind.TENSOR, side, module.certain)

    # ---------------------------------------------------------------- bindings

    def binding_value(self, binding: Binding, depth: int = 0) -> Value:
        """What a variable holds after this binding."""
        found = self._bindings.get(binding)
        if found is not None:
            if self._circles.are_open:
                self._circles.use(binding)
            return found
        if depth > LARGEST_DEPTH:
            return UNKNOWN
        self._bindings[binding] = UNKNOWN
        outer = self._circles.enter(binding)
        result = self._bound(binding, depth)
        if result.kind is Kind.UNKNOWN:
            result = self._by_use(binding, depth)
        elif result.kind is Kind.HOST and not result.certain and binding in self.roles.asked:
            used = self._by_use(binding, depth)  # `sum = 0` in a function of which more is not known, and `sum.item()`
            result = result if used.kind is Kind.UNKNOWN else used
        elif result.kind is Kind.TENSOR and result.side is Side.UNKNOWN:
            used = self._by_use(binding, depth)  # a function of another file may return what it was given
            if used.kind is Kind.TENSOR:
                result = result._replace(side=used.side, certain=False)
        self._circles.leave(self._bindings, binding, result, outer)
        return result

    def _bound(self, binding: Binding, depth: int) -> Value:
        if binding.kind == "parameter":
            return self.parameters.value(binding, depth)
        if binding.kind == "annotate":
            return self.parameters.annotated(getattr(binding.statement, "annotation", None))
        if binding.value is None or is_none(binding.value):
            return UNKNOWN  # `self.optimizer = None` only keeps the place for what comes
        if binding.kind in ("assign", "with"):
            if isinstance(binding.statement, ast.AnnAssign):
                known = self.parameters.annotated(binding.statement.annotation)
                if known.kind is not Kind.UNKNOWN:
                    return known
            return (
                UNKNOWN if self._is_asked_for_keys(binding) else self.elements.part(binding.value, binding.path, depth)
            )
        if binding.kind == "augment":
            target = getattr(binding.statement, "target", None)
            values = [self.value(binding.value, depth)]
            if isinstance(target, ast.Name):
                others = [b for b in self._flow.reaching(target) if b is not binding]
                values.append(join(self.binding_value(b, depth) for b in others))
            return combine(values)
        if binding.kind == "loop":
            return self.elements.element(binding.value, binding.path, depth)
        return UNKNOWN

    def _is_asked_for_keys(self, binding: Binding) -> bool:
        """``meta = outputs["meta"]`` and ``"boxes" in meta``: a dictionary in what a module gives, and no tensor."""
        if not isinstance(binding.value, ast.Subscript) or not is_text(binding.value.slice) or binding.path:
            return False
        asking = (self._tree.parents[use] for use in self._names.loads(binding.name, binding.scope))
        return any(
            isinstance(one, ast.Compare) and isinstance(one.ops[0], ast.In | ast.NotIn) and is_text(one.left)
            for one in asking
        )

    def parameter_tensor(self) -> Value:
        """A parameter of a module: on the device when the file has to do with one."""
        return Value(Kind.TENSOR, Side.DEVICE if self.mentions_device else Side.UNKNOWN, certain=False)

    def instance(self, owner: ast.ClassDef) -> Value:
        """What an instance of a class is."""
        if self._definitions.is_module_class(owner):
            return Value(Kind.MODULE)
        for base in owner.bases:
            name = self._names.qualified(base) or ""
            if name.startswith("torch.optim.lr_scheduler."):
                return Value(Kind.SCHEDULER)
            if name.startswith("torch.optim."):
                return Value(Kind.OPTIMIZER)
            if name in facts.LOADER_CLASSES:
                return Value(Kind.LOADER)
            if name.startswith("torch.distributions."):
                return Value(Kind.DISTRIBUTION, Side.DEVICE if self.mentions_device else Side.UNKNOWN, certain=False)
            other = self._imported.definition(base)
            if other is not None and isinstance(other.node, ast.ClassDef):
                inherited = other.file.kinds.instance(other.node)
                if inherited.kind is not Kind.UNKNOWN:
                    return inherited
        return UNKNOWN

    # ---------------------------------------------------------------- by use

    @cached_property
    def roles(self) -> Roles:
        """What variables must be because of how they are used."""
        return Roles(self._tree, self._flow, self._definitions, Side.DEVICE if self.mentions_device else Side.UNKNOWN)

    def _by_use(self, binding: Binding, depth: int) -> Value:
        """What a variable is that nothing but its uses tells about."""
        known = self.roles.values.get(binding)
        if known is None and binding in self.roles.asked and self.unseen.is_device_tensor(binding, depth):
            known = Value(Kind.TENSOR, Side.DEVICE, certain=False)
        made = binding.value if known is not None and not binding.path else None
        return UNKNOWN if known is None or (made is not None and self.objects.is_record(made)) else known

    def holds_device(self, node: ast.expr, depth: int) -> bool:
        """Whether an expression is, or is a container of, something on the device."""
        values = [self.value(node, depth), *(self.value(item, depth) for item in self.contents.of(node))]
        return any(value.kind is Kind.TENSOR and value.side is Side.DEVICE for value in values)

    # ---------------------------------------------------------------- containers

    @cached_property
    def contents(self) -> Contents:
        """What is put into lists and dicts."""
        return Contents(self._tree, self._names, self._flow, self._definitions)

    def placed(self, container: ast.expr, key: Key, depth: int) -> Value:
        """Value of an element that was put back into a batch, where it lies then, before this use of the batch."""
        if not isinstance(container, ast.Name) or depth > LARGEST_DEPTH - 2 or not self._puts_back:
            return UNKNOWN
        last = self._placed.last(container, key)
        return UNKNOWN if last is None else self.value(last, depth + 1)._replace(certain=False)

    def placed_or_held(self, container: ast.expr, key: Key, depth: int) -> Value:
        """Value of an element that was put back into a container before this use of it, or by what is put into it."""
        placed = self.placed(container, key, depth)
        return placed if placed.kind is not Kind.UNKNOWN else self.content(container, key, depth)

    @cached_property
    def _placed(self) -> PlacedElements:
        from tpulint.semantic.values.placed_elements import PlacedElements

        return PlacedElements(self._tree, self._flow, self.contents)

    def content(self, node: ast.expr, key: Key, depth: int) -> Value:
        """Value of an element of a container, where it is known what is put into it."""
        if depth > LARGEST_DEPTH - 2:
            return UNKNOWN
        known = join(self.value(item, depth + 2) for item in self.contents.of(node, key))
        if known.kind is Kind.UNKNOWN:
            known = self._given_content(node, key, depth)
        if known.kind is Kind.UNKNOWN and isinstance(node, ast.Attribute):
            known = self.objects.element(node, key, depth)
        return known

    def _given_content(self, node: ast.expr, key: Key, depth: int) -> Value:
        """Value of an element of what calls give: ``accuracy(output, target)[0]``, ``losses = criterion(output)``."""
        if isinstance(node, ast.Call):
            return self.elements.part(node, (key,), depth + 2)
        if isinstance(node, ast.Name):
            bindings = self._flow.reaching(node)
        else:
            bindings = self._flow.reaching_attribute(node) if isinstance(node, ast.Attribute) else ()
        given = []
        for binding in bindings:
            if binding.kind == "assign" and isinstance(binding.value, ast.Call):
                given.append(self.elements.part(binding.value, (*binding.path, key), depth + 2))
            elif binding.kind == "parameter":
                given.append(self.parameters.element(binding, key, depth + 2))
            elif binding.kind == "variadic":
                given.append(self.parameters.variadic_element(binding, key, depth + 2))
        return join(given)
