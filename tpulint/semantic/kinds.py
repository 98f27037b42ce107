"""What a value is and on which side it lives: by annotation, by origin, by call site, by use."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence

from tpulint.model import WORDS_OF_CALLERS, WORDS_OF_LOOPS
from tpulint.semantic import torch_facts as facts
from tpulint.semantic.circles import Circles
from tpulint.semantic.contents import Contents, Key, key_of
from tpulint.semantic.definitions import Definitions
from tpulint.semantic.fed_parameters import arguments_given
from tpulint.semantic.flow import Flow
from tpulint.semantic.hooks import Hooks
from tpulint.semantic.host_only import HostOnly
from tpulint.semantic.imported import Definition, Imported, method
from tpulint.semantic.names import Binding, Names
from tpulint.semantic.outside import OutsideCall
from tpulint.semantic.passing import Passing
from tpulint.semantic.roles import ASKING, Roles
from tpulint.semantic.tree import FUNCTIONS, FunctionNode, SyntaxTree
from tpulint.semantic.values import Kind as Kind
from tpulint.semantic.values import Side as Side
from tpulint.semantic.values import Value as Value

_DEPTH = 48
_OF_MODULES = frozenset({
    "parameters", "named_parameters", "state_dict", "load_state_dict", "train", "eval", "zero_grad", "forward", "step",
})  # fmt: skip
"""Methods that no tensor has."""
_PARTS = 4
"""Names that a part of a batch is followed through."""
_DEVICE_WORDS = ("cuda", "device", "torch_xla", "accelerat", "fabric", "lightning", ".to(")
_COUNT_OR_NAME = re.compile(r"(num|n)_|\w+_(length|count|type|name)\Z")
"""Attributes of objects that hold more than a tensor."""
_XLA = r"\bxla(?:\b|_)"
_MOVES = r"\.cuda\(|cuda\.is_available|torch\.device\(|xla_device|torch_xla\.device"


UNKNOWN = Value(Kind.UNKNOWN, certain=False)
HOST = Value(Kind.HOST, Side.HOST)
NUMPY = Value(Kind.NUMPY, Side.HOST)
BATCH = Value(Kind.TENSOR, Side.HOST, certain=False)

_ANNOTATIONS = {
    "torch.Tensor": Value(Kind.TENSOR), "torch.FloatTensor": Value(Kind.TENSOR), "torch.LongTensor": Value(Kind.TENSOR),
    "torch.nn.Module": Value(Kind.MODULE), "torch.optim.Optimizer": Value(Kind.OPTIMIZER),
    "torch.optim.optimizer.Optimizer": Value(Kind.OPTIMIZER), "torch.utils.data.DataLoader": Value(Kind.LOADER),
    "torch.device": Value(Kind.DEVICE), "numpy.ndarray": NUMPY, "builtins.int": HOST, "builtins.float": HOST,
    "builtins.str": HOST, "builtins.bool": HOST, "builtins.dict": HOST, "torch.cuda.amp.GradScaler": Value(Kind.SCALER),
    "torch.amp.GradScaler": Value(Kind.SCALER),
}  # fmt: skip


class Kinds:
    """Lazy, memoised inference over one file. Work is bounded; past the bound the answer is UNKNOWN."""

    def __init__(
        self,
        tree: SyntaxTree,
        names: Names,
        flow: Flow,
        definitions: Definitions,
        imported: Imported,
        outside: Sequence[OutsideCall],
    ) -> None:
        self._tree = tree
        self._names = names
        self._flow = flow
        self._definitions = definitions
        self._imported = imported
        self._asked: dict[tuple[FunctionNode, str], bool] = {}
        self._outside = outside
        self._memo: dict[ast.AST, Value] = {}
        self._bindings: dict[Binding, Value] = {}
        self._returns: dict[tuple[FunctionNode, tuple[int, ...]], Value] = {}
        self._circles = Circles()
        self._roles: Roles | None = None
        self._contents: Contents | None = None
        self._passing: Passing | None = None
        self.hooks = Hooks(tree, names)
        self._host_only = HostOnly(tree, names, flow, definitions).is_certain
        given = any(side == Side.DEVICE.name for call in outside for _, _, side in call.arguments)
        speaks = not self._host_only and (given or self._speaks_of_device() or self._imports_device())
        self.mentions_device = speaks or bool(self.hooks.all)
        """Whether the file has to do with devices beside the CPU; if not, everything runs on the host.

        A training framework moves what its hooks are given."""
        self._runs_itself = any(word in tree.source.text for word in WORDS_OF_CALLERS)
        """Whether what the file makes may run here; modules of one with definitions alone go where others move them."""

    def _speaks_of_device(self) -> bool:
        text = self._tree.source.text
        # Looking for one word after the other is several times as fast as a search for any of them.
        return any(word in text for word in _DEVICE_WORDS) or ("xla" in text and re.search(_XLA, text) is not None)

    def _imports_device(self) -> bool:
        """Whether a file that trains, or evaluates, has its models from files that put them on a device."""
        text = self._tree.source.text
        if not any(word in text for word in WORDS_OF_LOOPS):
            return False
        return any(re.search(_MOVES, other.source.text) is not None for other in self._imported.files())

    # ---------------------------------------------------------------- expressions

    def value(self, node: ast.expr, depth: int = 0) -> Value:
        """What is known about an expression."""
        found = self._memo.get(node)
        if found is not None:
            if self._circles.are_open:
                self._circles.use(node)
            return found
        if depth > _DEPTH:
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
            return self._held(self._flow.reaching(node), depth)
        if isinstance(node, ast.Call):
            return self._infer_call(node, depth)
        if isinstance(node, ast.Attribute):
            return self._infer_attribute(node, depth)
        if isinstance(node, ast.BinOp):
            if isinstance(node.op, ast.Mod) and _is_text(node.left):
                return HOST  # `"%.3f" % loss`
            return self._combine([self.value(node.left, depth), self.value(node.right, depth)])
        if isinstance(node, ast.UnaryOp):
            return HOST if isinstance(node.op, ast.Not) else self.value(node.operand, depth)
        if isinstance(node, ast.Compare):
            if any(isinstance(op, ast.Is | ast.IsNot | ast.In | ast.NotIn) for op in node.ops):
                return HOST
            if any(isinstance(item, ast.Constant) and isinstance(item.value, str) for item in node.comparators):
                return HOST  # `layer.kind == "a"`: no tensor is compared with a text
            return self._combine([self.value(item, depth) for item in (node.left, *node.comparators)])
        if isinstance(node, ast.BoolOp):
            return self._join(self.value(item, depth) for item in node.values)
        if isinstance(node, ast.IfExp):
            return self._join((self.value(node.body, depth), self.value(node.orelse, depth)))
        if isinstance(node, ast.Subscript):
            base = self.value(node.value, depth)
            if base.kind in (Kind.TENSOR, Kind.NUMPY):
                return base
            if base.kind is Kind.MODULE:
                return base._replace(certain=False)
            return self._content(node.value, key_of(node), depth)
        if isinstance(node, ast.NamedExpr | ast.Starred | ast.Await):
            return self.value(node.value, depth)
        return UNKNOWN

    def _held(self, bindings: tuple[Binding, ...], depth: int) -> Value:
        """What a variable holds; one that an ``if args.cuda`` moves is where it is moved to."""
        values = [self.binding_value(binding, depth) for binding in bindings]
        sides = {value.side for value in values if value.kind is Kind.TENSOR}
        if (
            Side.DEVICE in sides
            and len(sides) > 1
            and any(
                value.side is Side.DEVICE and self._is_moved_on_condition(binding)
                for binding, value in zip(bindings, values, strict=True)
            )
        ):
            values = [value for value in values if value.kind is not Kind.TENSOR or value.side is Side.DEVICE]
            return self._join(values)._replace(certain=False)
        return self._join(values)

    def _is_moved_on_condition(self, binding: Binding) -> bool:
        """``if args.cuda: x = x.cuda()``"""
        value = binding.value
        if isinstance(value, ast.Tuple) and binding.path and 0 <= binding.path[0] < len(value.elts):
            value = value.elts[binding.path[0]]
        moves = (
            isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in ("to", "cuda")
        )
        return moves and isinstance(self._tree.parents.get(binding.statement), ast.If)

    def _combine(self, values: list[Value]) -> Value:
        """Result of an operator on these operands."""
        tensors = [value for value in values if value.kind is Kind.TENSOR]
        if tensors:
            sides = {value.side for value in tensors}
            side = Side.DEVICE if Side.DEVICE in sides else sides.pop() if len(sides) == 1 else Side.UNKNOWN
            return Value(Kind.TENSOR, side, all(value.certain for value in tensors))
        if any(value.kind is Kind.NUMPY for value in values):
            return NUMPY
        if values and all(value.kind is Kind.HOST for value in values):
            return HOST
        return UNKNOWN

    def _join(self, values: Iterable[Value]) -> Value:
        """What is known when any of these may be the value."""
        known: list[Value] = []
        doubt = False
        for value in values:
            if value.kind is Kind.UNKNOWN:
                doubt = True
            elif value not in known:
                known.append(value)
        if not known:
            return UNKNOWN
        kinds = {value.kind for value in known}
        if len(kinds) > 1:
            # `loss = 0` before `loss = criterion(...)`, `model = None` before the real one
            kinds.discard(Kind.HOST)
            known = [value for value in known if value.kind is not Kind.HOST]
            doubt = True
            if len(kinds) > 1:
                return UNKNOWN
        sides = {value.side for value in known}
        side = sides.pop() if len(sides) == 1 else Side.UNKNOWN
        return Value(known[0].kind, side, not doubt and all(value.certain for value in known))

    # ---------------------------------------------------------------- calls

    def _infer_call(self, node: ast.Call, depth: int) -> Value:
        name = self._names.qualified(node.func)
        if name is not None:
            known = self._named_call(name, node, depth)
            if known is not None:
                return known
        function = self._definitions.function_called(node)
        if function is not None:
            chosen = self._chosen(self.passing, function, node, depth)
            return self.returned(function, (), depth) if chosen is None else chosen
        owner = self._definitions.class_called(node)
        if owner is not None:
            return self.instance(owner)
        elsewhere = self._by_import(node, (), depth)
        if elsewhere.kind is not Kind.UNKNOWN:
            return elsewhere
        if isinstance(node.func, ast.Attribute):
            result = self._method_call(node, node.func, depth)
            return self._asked_for(node, depth) if result.kind is Kind.UNKNOWN else result
        callee = self.value(node.func, depth)
        if callee.kind is Kind.MODULE:
            return self._module_result(callee)
        return self._asked_for(node, depth)

    def _asked_for(self, node: ast.Call, depth: int) -> Value:
        """A tensor, where a call of what is not seen is given tensors of the device, and its result asked as one."""
        current: ast.AST = node
        while True:
            parent = self._tree.parents.get(current)
            outer = None if parent is None else self._tree.parents.get(parent)
            if isinstance(parent, ast.Attribute) and isinstance(outer, ast.Call) and outer.func is parent:
                if parent.attr in ASKING:
                    break
                if parent.attr not in facts.TENSOR_METHODS:
                    return UNKNOWN
                current = outer
            elif isinstance(parent, ast.Subscript) and parent.value is current:
                current = parent
            else:
                return UNKNOWN
        given = (*node.args, *(keyword.value for keyword in node.keywords))
        if any(self._holds_device(item, depth) for item in given):
            return Value(Kind.TENSOR, Side.DEVICE, certain=False)
        return UNKNOWN

    def _by_import(self, node: ast.Call, path: tuple[int, ...], depth: int) -> Value:
        """What a call of a definition in another file gives, or the part of it that a path says."""
        found = self._imported.all_called(node)
        if not found or depth > _DEPTH - 3:
            return UNKNOWN
        return self._join(self._given_by(called, node, path, depth) for called in found)

    def _given_by(self, called: Definition, node: ast.Call, path: tuple[int, ...], depth: int) -> Value:
        other = called.file.kinds
        if isinstance(called.node, ast.ClassDef):
            return UNKNOWN if path else other.instance(called.node)
        if not isinstance(called.node, FUNCTIONS):
            return UNKNOWN
        chosen = None if path else self._chosen(other.passing, called.node, node, depth + 2)
        if chosen is not None:
            return chosen._replace(certain=False)
        value = other.returned(called.node, path, depth + 2)._replace(certain=False)
        if value.kind in (Kind.UNKNOWN, Kind.TENSOR) and not path:
            passed = self._passed(called, called.node, node, depth)
            # What `move(x)` gives in its own file, where it is given tensors, says nothing of a model.
            if passed is not None and (value.kind is Kind.UNKNOWN or passed.kind is Kind.MODULE):
                return passed._replace(certain=False)
        return self._beside(value, node, called, depth)

    def _chosen(self, passing: Passing, function: FunctionNode, node: ast.Call, depth: int) -> Value | None:
        """What ``default(mask, other)`` gives, which hands back one of its arguments, whatever other calls give it.

        What stands in for a missing value is of its kind: where kinds differ, neither is known.
        """
        names = passing.choice(function)
        if not names:
            return None
        values = [self.value(item, depth) for name, item in arguments_given(node, function, False) if name in names]
        known = [value for value in values if value.kind is not Kind.UNKNOWN]
        alike = len({value.kind for value in known}) == 1
        # A guess beside what nobody knows says nothing: `default(query_len, seqlen)`
        return self._join(values) if alike and (known == values or known[0].certain) else UNKNOWN

    def _passed(self, called: Definition, function: FunctionNode, node: ast.Call, depth: int) -> Value | None:
        """What a call gives to a function of another file that hands it back."""
        parameter = called.file.kinds.passing.parameter(function)
        is_method = called.file.tree.class_of(function) is not None
        for name, item in arguments_given(node, function, is_method) if parameter is not None else ():
            if name == parameter:
                return self.value(item, depth + 2)
        return None

    def _beside(self, value: Value, node: ast.Call, called: Definition, depth: int) -> Value:
        """What a function of another file gives, on the device where it is given something of that."""
        if value.kind in (Kind.TENSOR, Kind.DISTRIBUTION) and value.side is not Side.DEVICE:
            # The other file alone does not tell where its parameters live.
            assert isinstance(called.node, FUNCTIONS)
            given = (*node.args, *(keyword.value for keyword in node.keywords))
            stays = value.side is Side.UNKNOWN or called.file.kinds.passing.stays(called.node)
            if stays and (self._is_of_module(node.func, depth) or any(self._holds_device(i, depth) for i in given)):
                return value._replace(side=Side.DEVICE)
        return value

    def _is_of_module(self, func: ast.expr, depth: int) -> bool:
        """Whether a method belongs to a module, in a file that puts modules on a device."""
        owner = func.value if isinstance(func, ast.Attribute) else None
        return owner is not None and self.mentions_device and self.value(owner, depth).kind is Kind.MODULE

    @property
    def passing(self) -> Passing:
        """Functions of the file that give back what they are given."""
        if self._passing is None:
            self._passing = Passing(self._tree, self._names, self._flow, self._definitions)
        return self._passing

    def _module_result(self, module: Value) -> Value:
        side = Side.DEVICE if self.mentions_device else Side.HOST if self._runs_itself else Side.UNKNOWN
        return Value(Kind.TENSOR, side, module.certain)

    def _named_call(self, name: str, node: ast.Call, depth: int) -> Value | None:
        head, _, last = name.rpartition(".")
        if head == "builtins":
            if last in ("enumerate", "zip", "map", "filter", "reversed"):
                return self.value(node.args[0], depth)._replace(certain=False) if node.args else UNKNOWN
            if last in ("iter",) and node.args:
                return self.value(node.args[0], depth)
            if last == "next" and node.args:
                return self._element(node.args[0], (), depth)
            if last in ("sum", "max", "min", "abs", "pow") and node.args:
                values = [self.value(item, depth) for item in node.args]
                content = self._content(node.args[0], None, depth) if len(values) == 1 else UNKNOWN
                if content.kind is Kind.TENSOR:
                    return content
                return self._combine([value for value in values if value.kind is Kind.TENSOR] or values)
            return HOST if last in facts.HOST_BUILTINS else None
        if name in facts.LOADER_CLASSES or last == "DataLoader":
            return Value(Kind.LOADER, self._side_of_samples(node, depth))
        if name in facts.ITERABLE_WRAPPERS and node.args:
            return self.value(node.args[0], depth)
        if name in facts.SCALER_CLASSES:
            return Value(Kind.SCALER)
        if name in facts.DEVICE_OBJECTS:
            return Value(Kind.DEVICE)
        if name.startswith(facts.SCHEDULER_PREFIXES) and ("lr_scheduler" in name or "schedule" in last.lower()):
            return Value(Kind.SCHEDULER)
        if name == "torch.optim.swa_utils.AveragedModel":
            return Value(Kind.MODULE)
        if name.startswith(facts.OPTIMIZER_PREFIXES) and last[:1].isupper():
            return Value(Kind.OPTIMIZER)
        if name == "torch.compile" and node.args:
            return self.value(node.args[0], depth)
        if name in ("torch.nn.Parameter", "torch.nn.parameter.Parameter", "torch.autograd.Variable"):
            return self.value(node.args[0], depth) if node.args else Value(Kind.TENSOR)
        if name.startswith("torch.nn.functional.") or name in facts.TENSOR_FUNCTIONS:
            return self._torch_function(node, depth)
        if name == "torch.autograd.grad":
            # A tuple of tensors: what is said of it holds for its elements.
            outputs = [*node.args[:1], *(item.value for item in node.keywords if item.arg == "outputs")]
            value = self.value(outputs[0], depth) if outputs else UNKNOWN
            return Value(Kind.TENSOR, value.side if value.kind is Kind.TENSOR else Side.UNKNOWN, certain=False)
        if name.startswith("torch.nn.utils."):
            if last == "clip_grad_norm_":
                return Value(Kind.TENSOR, Side.DEVICE if self.mentions_device else Side.HOST)
            return UNKNOWN
        if name.startswith("torch.nn.") and last[:1].isupper():
            return Value(Kind.MODULE)
        if name.startswith(facts.MODULE_PREFIXES) or (
            last == "from_pretrained"
            and "Tokenizer" not in name
            and (
                "Model" in name
                or ("Auto" in name and "Config" not in name and "Processor" not in name and "Image" not in name)
            )
        ):
            return Value(Kind.MODULE, certain=False)
        if name.startswith("numpy."):
            return NUMPY
        if name.split(".", 1)[0] in facts.HOST_MODULES:
            return HOST
        if name.startswith("torch.distributions."):
            return self._of_distributions(last, node, depth)
        if name.startswith("torch."):
            if name in facts.TORCH_HOST_CALLS:
                return HOST
            if name in facts.TORCH_NON_TENSOR or name.startswith(facts.TORCH_NON_TENSOR_PREFIXES):
                return UNKNOWN
            if name.count(".") == 1 or name.startswith(
                ("torch.linalg.", "torch.fft.", "torch.special.", "torch.Tensor.")
            ):
                return self._torch_function(node, depth)
        return None

    def _side_of_samples(self, loader: ast.Call, depth: int) -> Side:
        """Where the batches of a loader are that draws from a ``TensorDataset``; UNKNOWN if not on the device."""
        if any(keyword.arg in (None, "collate_fn") for keyword in loader.keywords):
            return Side.UNKNOWN
        given = [*loader.args[:1], *(keyword.value for keyword in loader.keywords if keyword.arg == "dataset")]
        tensors = [item for dataset in given for item in self._tensors_of(dataset)]
        on_device = bool(tensors) and all(self.value(item, depth + 2).side is Side.DEVICE for item in tensors)
        return Side.DEVICE if on_device else Side.UNKNOWN

    def _tensors_of(self, dataset: ast.expr) -> list[ast.expr]:
        """What a ``TensorDataset`` is made of."""
        bindings = self._flow.reaching(dataset) if isinstance(dataset, ast.Name) else ()
        made = bindings[0].value if len(bindings) == 1 and bindings[0].kind == "assign" else dataset
        is_known = isinstance(made, ast.Call) and self._names.qualified(made.func) == "torch.utils.data.TensorDataset"
        return made.args if is_known and isinstance(made, ast.Call) else []

    def _of_distributions(self, last: str, node: ast.Call, depth: int) -> Value:
        """A distribution, which lives where its parameters do, or a divergence of two."""
        if last != "kl_divergence" and (not last[:1].isupper() or last.endswith("Transform")):
            return UNKNOWN
        given = [self.value(item, depth) for item in (*node.args, *(keyword.value for keyword in node.keywords))]
        sides = [value.side for value in given if value.kind in (Kind.TENSOR, Kind.DISTRIBUTION)]
        side = Side.DEVICE if Side.DEVICE in sides else Side.UNKNOWN if Side.UNKNOWN in sides else Side.HOST
        if not sides and any(value.kind is Kind.UNKNOWN for value in given):
            side = Side.UNKNOWN
        return Value(Kind.TENSOR if last == "kl_divergence" else Kind.DISTRIBUTION, side, certain=False)

    def _torch_function(self, node: ast.Call, depth: int) -> Value:
        name = self._names.qualified(node.func) or ""
        last = name.rpartition(".")[2]
        for keyword in node.keywords:
            if keyword.arg == "device":
                return Value(Kind.TENSOR, self._side_of_device(keyword.value))
            if keyword.arg is None:
                return Value(Kind.TENSOR)
        if name.startswith("torch.") and last in facts.TORCH_FACTORIES:
            return Value(Kind.TENSOR, Side.HOST)
        items: list[ast.expr] = []
        for item in node.args:
            items.extend(self.contents.of(item) or [item])
        values = [self.value(item, depth) for item in items]
        sides = [value.side for value in values if value.kind is Kind.TENSOR]
        if Side.DEVICE in sides:
            return Value(Kind.TENSOR, Side.DEVICE)
        if sides and all(side is Side.HOST for side in sides):
            return Value(Kind.TENSOR, Side.HOST)
        return Value(Kind.TENSOR)

    def _side_of_device(self, device: ast.expr) -> Side:
        if self._host_only:
            return Side.HOST
        if isinstance(device, ast.Constant):
            if device.value is None:
                return Side.UNKNOWN
            return Side.HOST if device.value == "cpu" else Side.DEVICE
        if isinstance(device, ast.Call) and self._names.qualified(device.func) == "torch.device" and device.args:
            return self._side_of_device(device.args[0])
        if isinstance(device, ast.Attribute) and device.attr == "device":
            owner = self.value(device.value)
            if owner.kind is Kind.TENSOR or (owner.kind is Kind.UNKNOWN and self._may_be_tensor(device.value)):
                return owner.side
            # of a trainer, or an option: `args.device`
        return Side.DEVICE

    def _may_be_tensor(self, owner: ast.expr) -> bool:
        """Whether the owner of a ``device`` may be a tensor of either side: no ``self``, and no option read before."""
        while isinstance(owner, ast.Attribute):
            if isinstance(owner.value, ast.Name) and self._is_self(owner.value):
                return False
            owner = owner.value
        return not (isinstance(owner, ast.Name) and self._is_self(owner))

    def _is_self(self, name: ast.Name) -> bool:
        """Whether a name is the object whose method it stands in."""
        function = self._tree.function_of(name)
        within = function is not None and self._tree.class_of(name) is not None
        return bool(within and function is not None and function.args.args and function.args.args[0].arg == name.id)

    def _method_call(self, node: ast.Call, func: ast.Attribute, depth: int) -> Value:
        receiver = self.value(func.value, depth)
        method = func.attr
        if receiver.kind is Kind.TENSOR:
            return self._tensor_method(receiver, method, node, depth)
        if receiver.kind is Kind.MODULE:
            if method in facts.MODULE_SELF_METHODS:
                return receiver
            if method in ("state_dict", "parameters", "named_parameters", "modules", "children", "buffers"):
                return UNKNOWN
            part = self._infer_attribute(func, depth)
            if part.kind is Kind.MODULE:
                return self._module_result(part)
            if method in ("forward", "encode", "decode", "generate", "sample"):
                return self._module_result(receiver._replace(certain=False))
            return UNKNOWN
        if receiver.kind is Kind.DISTRIBUTION:
            if method == "expand":
                return receiver
            return receiver._replace(kind=Kind.TENSOR) if method in facts.DISTRIBUTION_METHODS else UNKNOWN
        if receiver.kind is Kind.NUMPY:
            return HOST if method in ("item", "tolist") else NUMPY
        if receiver.kind is Kind.SCALER and method == "scale" and node.args:
            return self.value(node.args[0], depth)
        if receiver.kind is Kind.HOST:
            return (
                HOST if method in ("format", "join", "strip", "split", "lower", "upper", "replace", "copy") else UNKNOWN
            )
        if receiver.kind is Kind.UNKNOWN and method in ("item", "tolist"):
            return HOST._replace(certain=False)
        if receiver.kind is Kind.UNKNOWN and method == "numpy" and not node.args:
            return NUMPY
        if receiver.kind is Kind.UNKNOWN and method in ("to", "cuda") and self._is_made_by_class(func.value):
            return Value(Kind.MODULE, certain=False)
        if receiver.kind is Kind.UNKNOWN and method in ("to", "cuda") and self._is_of_batch(func.value):
            return self._tensor_method(Value(Kind.TENSOR, certain=False), method, node, depth)
        if receiver.kind is Kind.UNKNOWN and method in ("cuda",) and not receiver.certain:
            return UNKNOWN
        if receiver.kind is Kind.UNKNOWN and self._copies_to_host(method, node):
            return Value(Kind.TENSOR, Side.HOST, certain=False)
        if receiver.kind is Kind.UNKNOWN and method == "to" and any(k.arg == "non_blocking" for k in node.keywords):
            return self._tensor_method(Value(Kind.TENSOR, certain=False), method, node, depth)
        callee = self._infer_attribute(func, depth)
        if callee.kind is Kind.MODULE:
            return self._module_result(callee)
        if receiver.kind is Kind.UNKNOWN and method in facts.TENSOR_ONLY_METHODS:
            return Value(Kind.TENSOR, certain=False)
        return UNKNOWN

    def _is_of_batch(self, node: ast.expr, depth: int = 0) -> bool:
        """Whether a variable is a part of what a loop deals out: ``for x, y in ...``, ``x = batch["x"]``."""
        bindings = self._flow.reaching(node) if isinstance(node, ast.Name) and depth < _PARTS else ()
        return bool(bindings) and all(self._is_batch_part(binding, depth) for binding in bindings)

    def _is_batch_part(self, binding: Binding, depth: int) -> bool:
        if binding.kind == "loop":
            return len(binding.path) > self._counts(binding.value)
        if binding.kind == "parameter":
            return isinstance(binding.statement, FUNCTIONS) and self._is_trained_on(binding.statement, binding.name)
        value, path = binding.value, binding.path
        if binding.kind != "assign" or value is None:
            return False
        if path and isinstance(value, ast.Tuple):  # x, y = batch["x"], batch["y"]
            value, path = (value.elts[path[0]] if path[0] < len(value.elts) else value), path[1:]
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in ("to", "cuda"):
            return self._is_of_batch(value.func.value, depth + 1)
        if isinstance(value, ast.Subscript):
            value, path = value.value, (0,)
        dealt = self._flow.reaching(value) if path and isinstance(value, ast.Name) else ()
        return bool(dealt) and all(item.kind == "loop" for item in dealt)

    def _is_trained_on(self, function: FunctionNode, parameter: str) -> bool:
        """Whether a function computes gradients, and nothing in it takes the parameter for a module or an optimizer."""
        trains = False
        for node in self._tree.inside(function):
            if not isinstance(node, ast.Call):
                continue
            if isinstance(node.func, ast.Name) and node.func.id == parameter:
                return False
            if isinstance(node.func, ast.Attribute):
                trains = trains or node.func.attr == "backward"
                owner = node.func.value
                if node.func.attr in _OF_MODULES and isinstance(owner, ast.Name) and owner.id == parameter:
                    return False
        return trains

    def _counts(self, source: ast.expr | None) -> int:
        """How deep an element lies in what a loop is given: ``enumerate`` puts a number beside it."""
        name = self._names.qualified(source.func) if isinstance(source, ast.Call) else None
        return 1 if name in ("builtins.enumerate", "builtins.zip") else 0

    def _is_made_by_class(self, node: ast.expr) -> bool:
        """``models.Net(config)``: by its name, the call of a class that nobody sees."""
        func = node.func if isinstance(node, ast.Call) else None
        last = func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""
        return last[:1].isupper() and not last.isupper() and not last.endswith("Tensor")

    def _copies_to_host(self, method: str, node: ast.Call) -> bool:
        """``x.cpu()`` or ``x.to("cpu")`` with a result that is used: of a module nobody takes it."""
        if isinstance(self._tree.parents.get(node), ast.Expr):
            return False
        if method == "cpu":
            return not node.args and not node.keywords
        return method == "to" and len(node.args) == 1 and self._side_of_device(node.args[0]) is Side.HOST

    def _tensor_method(self, receiver: Value, method: str, node: ast.Call, depth: int) -> Value:
        if method in ("item", "tolist") or method in facts.TENSOR_HOST_METHODS:
            return HOST
        if method == "numpy":
            return NUMPY
        if method == "cpu":
            return receiver._replace(side=Side.HOST)
        if method in ("cuda", "xla"):
            return receiver._replace(side=Side.DEVICE)
        if method in ("to", "type"):
            for item in (*node.args[:1], *(k.value for k in node.keywords if k.arg == "device")):
                side = self._side_of_move(item, depth)
                if side is not Side.UNKNOWN or (isinstance(item, ast.Attribute) and item.attr == "device"):
                    return receiver._replace(side=side)
            return receiver
        return receiver

    def _side_of_move(self, item: ast.expr, depth: int) -> Side:
        """Where ``x.to(item)`` puts x; UNKNOWN for a dtype."""
        if isinstance(item, ast.Constant):
            return Side.UNKNOWN if not isinstance(item.value, str | int) else self._side_of_device(item)
        name = self._names.qualified(item)
        if name is not None and name.startswith("torch.") and not name.startswith("torch.cuda"):
            return Side.UNKNOWN
        value = self.value(item, depth)
        if value.kind is Kind.TENSOR:
            return value.side
        return self._side_of_device(item)

    # ---------------------------------------------------------------- attributes

    def _infer_attribute(self, node: ast.Attribute, depth: int) -> Value:
        bindings = self._flow.reaching_attribute(node)
        if bindings:
            return self._join(self.binding_value(binding, depth) for binding in bindings)
        if self._names.qualified(node) is not None:
            return UNKNOWN
        used = self.roles.of_attribute(node)
        if used is not None:
            return used
        base = self.value(node.value, depth)
        if base.kind is Kind.TENSOR:
            if node.attr == "device":
                return Value(Kind.DEVICE)
            if not base.certain and _COUNT_OR_NAME.match(node.attr):
                return UNKNOWN  # `cache.cache_length`: an object of several things
            return HOST if node.attr in facts.TENSOR_HOST_ATTRIBUTES else base
        if base.kind is Kind.NUMPY:
            return HOST if node.attr in ("shape", "size", "ndim", "dtype") else base
        if base.kind is Kind.MODULE:
            if node.attr in ("weight", "bias"):
                return self._parameter_tensor()
            if node.attr == "training":
                return HOST
            return base._replace(certain=False) if node.attr == "module" else UNKNOWN
        if node.attr == "grad" and base.kind is Kind.UNKNOWN and isinstance(node.ctx, ast.Load):
            return self._parameter_tensor()
        if base.kind is Kind.DISTRIBUTION:
            return base._replace(kind=Kind.TENSOR) if node.attr in facts.DISTRIBUTION_ATTRIBUTES else UNKNOWN
        if base.kind is Kind.DEVICE:
            return HOST
        # `self.model`, which a base class of another file keeps
        made = self._imported.classes_of(node) if base.kind is Kind.UNKNOWN else ()
        return self._join(
            item.file.kinds.instance(item.node) for item in made if isinstance(item.node, ast.ClassDef)
        )._replace(certain=False)  # fmt: skip

    # ---------------------------------------------------------------- bindings

    def binding_value(self, binding: Binding, depth: int = 0) -> Value:
        """What a variable holds after this binding."""
        found = self._bindings.get(binding)
        if found is not None:
            if self._circles.are_open:
                self._circles.use(binding)
            return found
        if depth > _DEPTH:
            return UNKNOWN
        self._bindings[binding] = UNKNOWN
        outer = self._circles.enter(binding)
        result = self._bound(binding, depth)
        if result.kind is Kind.UNKNOWN:
            result = self._by_use(binding, depth)
        elif result.kind is Kind.TENSOR and result.side is Side.UNKNOWN:
            used = self._by_use(binding, depth)  # a function of another file may return what it was given
            if used.kind is Kind.TENSOR:
                result = result._replace(side=used.side, certain=False)
        self._circles.leave(self._bindings, binding, result, outer)
        return result

    def _bound(self, binding: Binding, depth: int) -> Value:
        if binding.kind == "parameter":
            return self._parameter(binding, depth)
        if binding.kind == "annotate":
            return self._annotated(getattr(binding.statement, "annotation", None))
        if binding.value is None or _is_none(binding.value):
            return UNKNOWN  # `self.optimizer = None` only keeps the place for what comes
        if binding.kind in ("assign", "with"):
            if isinstance(binding.statement, ast.AnnAssign):
                known = self._annotated(binding.statement.annotation)
                if known.kind is not Kind.UNKNOWN:
                    return known
            return self.part(binding.value, binding.path, depth)
        if binding.kind == "augment":
            target = getattr(binding.statement, "target", None)
            values = [self.value(binding.value, depth)]
            if isinstance(target, ast.Name):
                others = [b for b in self._flow.reaching(target) if b is not binding]
                values.append(self._join(self.binding_value(b, depth) for b in others))
            return self._combine(values)
        if binding.kind == "loop":
            return self._element(binding.value, binding.path, depth)
        return UNKNOWN

    def part(self, node: ast.expr, path: tuple[int, ...], depth: int = 0) -> Value:
        """Value of one part of an unpacked expression."""
        if not path:
            return self.value(node, depth)
        if isinstance(node, ast.Tuple | ast.List):
            if -len(node.elts) <= path[0] < len(node.elts) and not any(isinstance(e, ast.Starred) for e in node.elts):
                return self.part(node.elts[path[0]], path[1:], depth)
            return UNKNOWN
        if isinstance(node, ast.Call):
            function = self._definitions.function_called(node)
            if function is not None:
                return self.returned(function, path, depth)
            elsewhere = self._by_import(node, path, depth)
            if elsewhere.kind is not Kind.UNKNOWN:
                return elsewhere
            moved = self._mapped(node, depth)
            if moved is not None:
                return moved
            value = self.value(node, depth)
            if value.kind is Kind.TENSOR:
                owner = self._module_class(node.func, depth)
                forward = self._definitions.method(owner, "forward") if owner is not None else None
                if forward is not None:
                    part = self.returned(forward, path, depth)
                    if part.kind is Kind.TENSOR and part.side is Side.UNKNOWN:
                        return part._replace(side=value.side)
                    if part.kind is not Kind.UNKNOWN:
                        return part
                imported = self._imported.class_of(node.func)
                run = None if imported is None else method(imported, "forward")
                if run is not None:
                    part = self._given_by(run, node, path, depth)
                    if part.kind is not Kind.UNKNOWN:
                        return part._replace(side=value.side) if part.kind is Kind.TENSOR else part
                return value._replace(certain=False)
            return UNKNOWN
        value = self.value(node, depth)
        if value.kind in (Kind.TENSOR, Kind.NUMPY):
            return value._replace(certain=False)
        return self._content(node, path[0], depth) if len(path) == 1 else UNKNOWN

    def _mapped(self, node: ast.Call, depth: int) -> Value | None:
        """One of the tensors that ``map(lambda x: x.to(device), batch)`` moves."""
        mapper = node.args[0] if node.args and self._names.qualified(node.func) == "builtins.map" else None
        moved = mapper.body if isinstance(mapper, ast.Lambda) else None
        if not isinstance(moved, ast.Call) or not isinstance(moved.func, ast.Attribute):
            return None
        if moved.func.attr not in ("to", "cuda"):
            return None
        return self._tensor_method(Value(Kind.TENSOR, certain=False), moved.func.attr, moved, depth)

    def _element(self, node: ast.expr, path: tuple[int, ...], depth: int) -> Value:
        """Value of (part of) one element of an iterable."""
        if isinstance(node, ast.Call):
            name = self._names.qualified(node.func)
            if name == "builtins.enumerate" and node.args:
                if not path:
                    return UNKNOWN
                return HOST if path[0] == 0 else self._element(node.args[0], path[1:], depth)
            if name == "builtins.zip" and path:
                return self._element(node.args[path[0]], path[1:], depth) if 0 <= path[0] < len(node.args) else UNKNOWN
            if name in ("builtins.range",):
                return HOST
            if name in facts.ITERABLE_WRAPPERS and node.args:
                return self._element(node.args[0], path, depth)
            parts = {"parameters": (), "named_parameters": (1,)}
            if (
                isinstance(node.func, ast.Attribute)
                and node.func.attr in parts
                and self.value(node.func.value, depth).kind is Kind.MODULE
            ):
                return self._parameter_tensor() if path == parts[node.func.attr] else UNKNOWN
            if isinstance(node.func, ast.Attribute) and node.func.attr == "log_every" and node.args:
                return self._element(node.args[0], path, depth)  # the MetricLogger of torchvision's references
            generator = self._generator_called(node)
            if generator is not None:
                owner, function = generator
                return owner.yielded(function, path, depth + 2)
        if isinstance(node, ast.Name):
            for binding in self._flow.reaching(node):
                if binding.kind in ("assign", "with") and not binding.path and isinstance(binding.value, ast.Call):
                    name = self._names.qualified(binding.value.func)
                    if name in facts.ITERABLE_WRAPPERS or self._generator_called(binding.value) is not None:
                        return self._element(binding.value, path, depth + 1) if depth < _DEPTH else UNKNOWN
        if isinstance(node, ast.List | ast.Tuple):
            return self._join(self.part(item, path, depth) for item in node.elts)
        value = self.value(node, depth)
        if value.kind in (Kind.UNKNOWN, Kind.HOST) and not path:
            given = self._given_element(node, depth)
            value = value if given.kind is Kind.UNKNOWN else given
        if value.kind is Kind.LOADER:
            return BATCH if value.side is Side.UNKNOWN else BATCH._replace(side=value.side)
        call = node if isinstance(node, ast.Call) else None
        is_items = call is not None and isinstance(call.func, ast.Attribute) and call.func.attr == "items"
        if is_items and path[:1] == (0,):
            return UNKNOWN  # a key
        if value.kind in (Kind.TENSOR, Kind.NUMPY):
            return value
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "items":
            return self._content(node.func.value, None, depth) if path == (1,) else UNKNOWN
        return self._content(node, None, depth) if not path else UNKNOWN

    def _given_element(self, node: ast.expr, depth: int) -> Value:
        """Value of an element of the list that a function of another file makes of what it is given."""
        calls = [node] if isinstance(node, ast.Call) else []
        if isinstance(node, ast.Name):
            bound = (b.value for b in self._flow.reaching(node) if b.kind == "assign" and not b.path)
            calls = [value for value in bound if isinstance(value, ast.Call)]
        called = self._imported.called(calls[0]) if len(calls) == 1 and depth < _DEPTH - 3 else None
        if called is None or not isinstance(called.node, FUNCTIONS):
            return UNKNOWN
        other = called.file.kinds
        made = called.file.definitions.returned_by(called.node)
        items = [item for value in made for item in other.contents.of(value)]
        element = other._join(other.value(item, depth + 2) for item in items)
        return self._beside(element, calls[0], called, depth) if element.kind is Kind.TENSOR else UNKNOWN

    def _parameter_tensor(self) -> Value:
        """A parameter of a module: on the device when the file has to do with one."""
        return Value(Kind.TENSOR, Side.DEVICE if self.mentions_device else Side.UNKNOWN, certain=False)

    def _annotated(self, annotation: ast.expr | None) -> Value:
        if annotation is None:
            return UNKNOWN
        if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
            return UNKNOWN
        if isinstance(annotation, ast.Subscript) and isinstance(annotation.value, ast.Name | ast.Attribute):
            if (self._names.qualified(annotation.value) or "").endswith("Optional"):
                return self._annotated(annotation.slice)
            return UNKNOWN
        if isinstance(annotation, ast.BinOp):
            return self._annotated(annotation.left)
        return _ANNOTATIONS.get(self._names.qualified(annotation) or "", UNKNOWN)

    def _parameter(self, binding: Binding, depth: int) -> Value:
        assert isinstance(binding.node, ast.arg)
        known = self._annotated(binding.node.annotation)
        if known.kind is not Kind.UNKNOWN:
            return known
        function = binding.statement
        if isinstance(function, FUNCTIONS):
            if binding.name in self.hooks.batch_parameters(function):
                return Value(Kind.TENSOR, Side.DEVICE, certain=False)
            if binding.name in self.hooks.model_parameters(function):
                return Value(Kind.MODULE, certain=False)
            owner = self._tree.class_of(function)
            of_module = owner is not None and self._definitions.is_module_class(owner)
            if of_module and self._is_first(binding.node, function):
                return Value(Kind.MODULE)
            if of_module and function.name == "forward":
                default = binding.value
                if isinstance(default, ast.UnaryOp) and isinstance(default.op, ast.USub):
                    default = default.operand
                if isinstance(default, ast.Constant) and isinstance(default.value, int | float | str):
                    return HOST._replace(certain=False)  # `ratio=0.5`, `return_attention=False`, `layer=-1`
                if self._is_given_numbers(function, binding.name):
                    return HOST._replace(certain=False)  # `self.forward(x, drop=0.)`
                if self._is_asked(function, binding.name):
                    return UNKNOWN  # `forward(self, x, states=None)`, `if states:`
                annotation = binding.node.annotation
                if annotation is not None and "Tensor" not in self._tree.text(annotation):
                    return UNKNOWN  # `question: List[str]`, `size: Size`
                if function.args.args and function.args.args[0].arg != binding.name:
                    return Value(Kind.TENSOR, Side.DEVICE if self.mentions_device else Side.UNKNOWN, certain=False)
                return UNKNOWN
            given = [
                *self._definitions.arguments_for(function, binding.name),
                *self._definitions.unpacked_for(function, binding.name),
            ]
            outside = self._given_outside(function, binding.name, owner)
            if outside:  # What a file tries out when it is run itself is not what the project gives it.
                given = [argument for argument in given if not self._definitions.is_of_main(argument)]
            values = [self.value(argument, depth + 2) for argument in given if not _is_none(argument)]
            values.extend(outside)
            joined = self._join(values)
            if joined.kind is Kind.TENSOR and not joined.certain and self._is_asked(function, binding.name):
                return UNKNOWN
            if joined.kind is not Kind.UNKNOWN:
                return joined._replace(certain=False)
        return UNKNOWN

    def _is_asked(self, function: FunctionNode, name: str) -> bool:
        """Whether a function asks if a parameter is true, which a tensor of several elements does not tell."""
        key = (function, name)
        if key not in self._asked:
            loads = self._names.loads(name, self._names.scope_of(function.body[0]))
            self._asked[key] = any(map(self._is_condition, loads))
        return self._asked[key]

    def _is_condition(self, name: ast.Name) -> bool:
        parent = self._tree.parents[name]
        if isinstance(parent, ast.If | ast.While | ast.IfExp | ast.Assert):
            return parent.test is name
        return isinstance(parent, ast.BoolOp) or (isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not))

    def _is_given_numbers(self, function: FunctionNode, name: str) -> bool:
        """Whether calls in this file give nothing but constants for a parameter."""
        given = [item for item in self._definitions.arguments_for(function, name) if not _is_none(item)]
        return bool(given) and all(isinstance(item, ast.Constant) for item in given)

    def _is_first(self, parameter: ast.arg, function: FunctionNode) -> bool:
        """Whether a parameter is the object whose method a function is."""
        first = [*function.args.posonlyargs, *function.args.args][:1]
        return first == [parameter] and not any(isinstance(item, ast.Name) for item in function.decorator_list)

    def is_given_device_tensor(self, function: FunctionNode, name: str) -> bool:
        """Whether calls in other files give a tensor of the device for a parameter."""
        given = self._given_outside(function, name, self._tree.class_of(function))
        return any(value.kind is Kind.TENSOR and value.side is Side.DEVICE for value in given)

    def _given_outside(self, function: FunctionNode, name: str, owner: ast.ClassDef | None) -> list[Value]:
        """What calls in other files give for a parameter."""
        called = function.name if owner is None else f"{owner.name}.{function.name}"
        return [
            Value(Kind[kind], Side[side], certain=False)
            for call in self._outside
            if call.function == called
            for parameter, kind, side in call.arguments
            if parameter == name
        ]

    def _module_class(self, callee: ast.expr, depth: int) -> ast.ClassDef | None:
        if isinstance(callee, ast.Name):
            direct = self._definitions.class_of_variable(callee)
            if direct is not None:
                return direct
            for binding in self._flow.reaching(callee):
                if binding.kind == "parameter" and isinstance(binding.statement, FUNCTIONS) and depth < _DEPTH:
                    for argument in self._definitions.arguments_for(binding.statement, binding.name):
                        if isinstance(argument, ast.Name):
                            return self._module_class(argument, depth + 3)
        return None

    def instance(self, owner: ast.ClassDef) -> Value:
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
            other = self._imported.definition(base)
            if other is not None and isinstance(other.node, ast.ClassDef):
                inherited = other.file.kinds.instance(other.node)
                if inherited.kind is not Kind.UNKNOWN:
                    return inherited
        return UNKNOWN

    def returned(self, function: FunctionNode, path: tuple[int, ...], depth: int) -> Value:
        """Value (or unpacked part) that a function of this file returns."""
        if depth > _DEPTH - 3:
            return UNKNOWN
        key = (function, path)
        found = self._returns.get(key)
        if found is not None:
            if self._circles.are_open:
                self._circles.use(key)
            return found
        self._returns[key] = UNKNOWN  # a function that returns what it returns itself adds nothing
        outer = self._circles.enter(key)
        result = self._find_returned(function, path, depth)
        self._circles.leave(self._returns, key, result, outer)
        return result

    def _find_returned(self, function: FunctionNode, path: tuple[int, ...], depth: int) -> Value:
        values = [
            self.part(node.value, path, depth + 2)
            for node in self._tree.inside(function, functions=False)
            if isinstance(node, ast.Return) and node.value is not None
        ]
        if self.yields(function):
            return UNKNOWN
        joined = self._join(values)
        if (
            joined.kind is Kind.TENSOR
            and joined.side is Side.UNKNOWN
            and function.name == "forward"
            and self.mentions_device
        ):
            return joined._replace(side=Side.DEVICE)
        return joined

    def _generator_called(self, call: ast.Call) -> tuple[Kinds, FunctionNode] | None:
        """The generator function that a call starts, with what is known of its file."""
        function = self._definitions.function_called(call)
        if function is not None:
            return (self, function) if self.yields(function) else None
        called = self._imported.called(call)
        if called is None or not isinstance(called.node, FUNCTIONS) or not called.file.kinds.yields(called.node):
            return None
        return called.file.kinds, called.node

    def yields(self, function: FunctionNode) -> bool:
        """Whether a function is a generator."""
        return any(isinstance(node, ast.Yield | ast.YieldFrom) for node in self._tree.inside(function, functions=False))

    def yielded(self, function: FunctionNode, path: tuple[int, ...], depth: int) -> Value:
        """Value (or unpacked part) of what a generator function of this file yields."""
        if depth > _DEPTH - 3:
            return UNKNOWN
        values = []
        for node in self._tree.inside(function, functions=False):
            if isinstance(node, ast.Yield) and node.value is not None:
                values.append(self.part(node.value, path, depth + 2))
            elif isinstance(node, ast.YieldFrom):
                values.append(self._element(node.value, path, depth + 2))
        return self._join(values)._replace(certain=False)

    # ---------------------------------------------------------------- by use

    @property
    def roles(self) -> Roles:
        """What variables must be because of how they are used."""
        if self._roles is None:
            self._roles = Roles(self._tree, self._flow, Side.DEVICE if self.mentions_device else Side.UNKNOWN)
        return self._roles

    def _by_use(self, binding: Binding, depth: int) -> Value:
        """What a variable is that nothing but its uses tells about."""
        known = self.roles.values.get(binding)
        if known is not None:
            return known
        # The result of a function that is not seen, given tensors of the device and asked for a number.
        if binding in self.roles.asked and binding.kind == "assign" and binding.value is not None:
            for call in self._made_by(binding.value):
                arguments = [*call.args, *(keyword.value for keyword in call.keywords)]
                if any(self._holds_device(item, depth) for item in arguments):
                    return Value(Kind.TENSOR, Side.DEVICE, certain=False)
        return UNKNOWN

    def _made_by(self, node: ast.expr, through: bool = True) -> Iterator[ast.Call]:
        """The calls of which a value is the result: ``made[0] if type(made) is tuple else made``, ``made = f(x)``."""
        if isinstance(node, ast.Call):
            yield node
        elif isinstance(node, ast.IfExp):
            yield from self._made_by(node.body, through)
            yield from self._made_by(node.orelse, through)
        elif isinstance(node, ast.Subscript | ast.UnaryOp):
            yield from self._made_by(node.value if isinstance(node, ast.Subscript) else node.operand, through)
        elif isinstance(node, ast.BinOp):
            yield from self._made_by(node.left, through)
            yield from self._made_by(node.right, through)
        elif isinstance(node, ast.Name) and through:
            for binding in self._flow.reaching(node):
                if binding.kind == "assign" and binding.value is not None:
                    yield from self._made_by(binding.value, through=False)

    def _holds_device(self, node: ast.expr, depth: int) -> bool:
        values = [self.value(node, depth), *(self.value(item, depth) for item in self.contents.of(node))]
        return any(value.kind is Kind.TENSOR and value.side is Side.DEVICE for value in values)

    # ---------------------------------------------------------------- containers

    @property
    def contents(self) -> Contents:
        """What is put into lists and dicts."""
        if self._contents is None:
            self._contents = Contents(self._tree, self._names, self._flow, self._definitions)
        return self._contents

    def _content(self, node: ast.expr, key: Key, depth: int) -> Value:
        """Value of an element of a container, where it is known what is put into it."""
        if depth > _DEPTH - 2:
            return UNKNOWN
        return self._join(self.value(item, depth + 2) for item in self.contents.of(node, key))


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
