"""What a call gives: of torch and its relatives by name, of methods by what they are called on."""

from __future__ import annotations

import ast
import re
from functools import cached_property

from tpulint.semantic import torch_facts as facts
from tpulint.semantic.definitions import Definitions
from tpulint.semantic.device_sites import devices_given
from tpulint.semantic.flow import Flow
from tpulint.semantic.names import Names
from tpulint.semantic.roles import ASKING
from tpulint.semantic.tree import SyntaxTree
from tpulint.semantic.values import HOST, NUMPY, UNKNOWN, Kind, Path, Side, Value, combine, is_none, is_text
from tpulint.semantic.variables import last_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic.batch_parts import BatchParts
    from tpulint.semantic.kinds import Kinds


_FOR_A_TASK = r"[a-z0-9]For[A-Z][A-Za-z]+\.from_pretrained$"
"""Models of Transformers for a task, ``LlamaForCausalLM``, whose names do not speak of a model."""
_FRAMEWORK = "accelerat"
_GATHERING = frozenset({"gather", "gather_for_metrics", "reduce", "pad_across_processes"})
"""Methods of an ``Accelerator`` that give the tensors of all processes, where the own one is."""
_SCALING = frozenset({"inverse_transform", "denormalize", "unnormalize"})
"""Methods of scalers, of whatever class, that give back what they are given in other units."""


class CallValues:
    """Asked by :class:`Kinds`, which follows what is defined in the project."""

    def __init__(self, kinds: Kinds, tree: SyntaxTree, names: Names, flow: Flow, definitions: Definitions) -> None:
        self._kinds = kinds
        self._tree = tree
        self._names = names
        self._flow = flow
        self._definitions = definitions

    @cached_property
    def _batch_parts(self) -> BatchParts:
        from tpulint.semantic.batch_parts import BatchParts

        return BatchParts(self._tree, self._names, self._flow)

    def value(self, node: ast.Call, depth: int) -> Value:
        """What a call gives, whole."""
        name = self._names.qualified(node.func)
        if name is not None:
            known = self._named_call(name, node, depth)
            if known is not None:
                return known
        if isinstance(node.func, ast.IfExp):
            return self._of_either(node.func, node, depth)
        function = self._definitions.function_called(node)
        if function is not None:
            chosen = self._kinds.functions.chosen(self._kinds.functions.passing, function, node, depth)
            return self._kinds.functions.given_here(function, node, (), depth) if chosen is None else chosen
        owner = self._definitions.class_called(node)
        if owner is not None:
            return self._kinds.instance(owner)
        elsewhere = self._kinds.functions.by_import(node, (), depth)
        if elsewhere.kind is not Kind.UNKNOWN:
            return elsewhere
        if isinstance(node.func, ast.Attribute):
            result = self._method_call(node, node.func, depth)
            return self._asked_for(node, depth) if result.kind is Kind.UNKNOWN else result
        if self._names.is_taken_from(node.func, facts.OPTIMIZERS):
            return Value(Kind.OPTIMIZER)
        callee = self._kinds.value(node.func, depth)
        if callee.kind is Kind.MODULE:
            plain = self._computed_on_host(node, depth)
            return self._kinds.module_result(callee) if plain.kind is not Kind.TENSOR else plain
        return self._asked_for(node, depth)

    def _of_either(self, chosen: ast.IfExp, node: ast.Call, depth: int) -> Value:
        """What one of two functions gives, whichever it is: ``(torch.randperm if shuffled else torch.arange)(n)``."""
        names = [self._names.qualified(func) for func in (chosen.body, chosen.orelse)]
        values = [None if name is None else self._named_call(name, node, depth) for name in names]
        known = [value for value in values if value is not None]
        same = len(known) == 2 and known[0].kind is known[1].kind and known[0].side is known[1].side
        return min(known, key=lambda value: value.certain) if same else UNKNOWN

    def _computed_on_host(self, node: ast.Call, depth: int) -> Value:
        """What a module of PyTorch gives for tensors of the host, where it is not on the device itself.

        ``nn.Softmax(dim=1)(x)`` has no weights, and computes where ``x`` is. Those of ``table = nn.Embedding(n, k)``
        are where its indices are, or the script would not run; a wrapper would move them.
        """
        func = node.func
        name = self._names.qualified(func.func) if isinstance(func, ast.Call) else None
        if name not in facts.PLAIN_MODULES and not (isinstance(func, ast.Name) and self._is_module_of_torch(func)):
            return UNKNOWN
        given = combine([self._kinds.value(item, depth + 2) for item in node.args])
        return given if given.side is Side.HOST and (name is not None or given.certain) else UNKNOWN

    def _is_module_of_torch(self, name: ast.Name) -> bool:
        """Whether a variable is one module that a class of PyTorch makes, and never a wrapper of it."""
        bindings = self._names.bindings(name)
        made = bindings[0].value if len(bindings) == 1 and bindings[0].kind == "assign" else None
        kind = self._names.qualified(made.func) if isinstance(made, ast.Call) and not bindings[0].path else None
        return kind is not None and kind.startswith("torch.nn.") and "Parallel" not in kind

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
        if any(self._kinds.holds_device(item, depth) for item in given):
            return Value(Kind.TENSOR, Side.DEVICE, certain=False)
        return UNKNOWN

    def _named_call(self, name: str, node: ast.Call, depth: int) -> Value | None:
        head, _, last = name.rpartition(".")
        if head == "builtins":
            if last in ("enumerate", "zip", "map", "filter", "reversed"):
                return self._kinds.value(node.args[0], depth)._replace(certain=False) if node.args else UNKNOWN
            if last in ("iter",) and node.args:
                return self._kinds.value(node.args[0], depth)
            if last == "next" and node.args:
                return self._kinds.elements.element(node.args[0], (), depth)
            if last in ("sum", "max", "min", "abs", "pow") and node.args:
                values = [self._kinds.value(item, depth) for item in map(_summed, node.args)]
                content = self._kinds.content(node.args[0], None, depth) if len(values) == 1 else UNKNOWN
                if content.kind is Kind.TENSOR:
                    return content
                return combine([value for value in values if value.kind is Kind.TENSOR] or values)
            return HOST if last in facts.HOST_BUILTINS else None
        if name in facts.LOADER_CLASSES or last == "DataLoader":
            return Value(Kind.LOADER, self._side_of_samples(node, depth))
        if name in facts.ITERABLE_WRAPPERS and node.args:
            return self._kinds.value(node.args[0], depth)
        if name in facts.SCALER_CLASSES:
            return Value(Kind.SCALER)
        if name in facts.DEVICE_OBJECTS:
            return Value(Kind.DEVICE, Side.HOST if self._kinds.sides.is_host(node) else Side.UNKNOWN)
        if name.startswith(facts.SCHEDULER_PREFIXES) and ("lr_scheduler" in name or "schedule" in last.lower()):
            return Value(Kind.SCHEDULER)
        if name == "torch.optim.swa_utils.AveragedModel":
            return Value(Kind.MODULE)
        if name.startswith(facts.OPTIMIZER_PREFIXES) and last[:1].isupper():
            return Value(Kind.OPTIMIZER)
        if name == "torch.compile" and node.args:
            return self._kinds.value(node.args[0], depth)
        if name in facts.COPIES and node.args:
            copied = self._kinds.value(node.args[0], depth)
            return copied if copied.kind in (Kind.MODULE, Kind.TENSOR) else None
        if name in ("torch.nn.Parameter", "torch.nn.parameter.Parameter", "torch.autograd.Variable"):
            return self._kinds.value(node.args[0], depth) if node.args else Value(Kind.TENSOR)
        if name.startswith("torch.nn.functional.") or name in facts.TENSOR_FUNCTIONS:
            return self._torch_function(node, depth)
        if name == "torch.autograd.grad":
            # A tuple of tensors: what is said of it holds for its elements.
            outputs = [*node.args[:1], *(item.value for item in node.keywords if item.arg == "outputs")]
            value = self._kinds.value(outputs[0], depth) if outputs else UNKNOWN
            return Value(Kind.TENSOR, value.side if value.kind is Kind.TENSOR else Side.UNKNOWN, certain=False)
        if name.startswith("torch.nn.utils."):
            if last == "clip_grad_norm_":
                return Value(Kind.TENSOR, Side.DEVICE if self._kinds.mentions_device else Side.HOST)
            if last == "pad_sequence" and node.args:
                parts = self._kinds.content(node.args[0], None, depth)
                return parts if parts.kind is Kind.TENSOR else Value(Kind.TENSOR, certain=False)
            return UNKNOWN
        if name.startswith(facts.CLASS_PREFIXES) and last[:1].isupper():
            return Value(Kind.MODULE)
        is_loaded = name == "torch.hub.load"  # `load_state_dict_from_url` gives a state
        if (
            is_loaded
            or name.startswith(facts.MODULE_PREFIXES)
            or (
                last == "from_pretrained"
                and "Tokenizer" not in name
                and (
                    "Model" in name
                    or re.search(_FOR_A_TASK, name) is not None
                    or ("Auto" in name and "Config" not in name and "Processor" not in name and "Image" not in name)
                )
            )
        ):
            return Value(Kind.MODULE, certain=False)
        if name.startswith("numpy."):
            return NUMPY
        if name.split(".", 1)[0] in facts.HOST_MODULES:
            return HOST
        if name.startswith("torch.distributions."):
            return self._of_distributions(last, node, depth)
        if head == "torch.cuda" and last in facts.CUDA_TENSOR_TYPES:
            return Value(Kind.TENSOR, Side.DEVICE)
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
        on_device = bool(tensors) and all(self._kinds.value(item, depth + 2).side is Side.DEVICE for item in tensors)
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
        given = [self._kinds.value(item, depth) for item in (*node.args, *(keyword.value for keyword in node.keywords))]
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
                return Value(Kind.TENSOR, self._kinds.sides.of_device(keyword.value))
            if keyword.arg is None:
                return Value(Kind.TENSOR)
        if name.startswith("torch.") and last in facts.TORCH_FACTORIES:
            return Value(Kind.TENSOR, self._kinds.default_side)
        values: list[Value] = []
        for item in node.args:
            value = self._kinds.value(item, depth)
            # What is written into places of a tensor is no more of it than a number: `x[mask] = -inf`.
            parts = [] if value.kind is Kind.TENSOR else self._kinds.contents.of(item)
            values += [self._kinds.value(part, depth) for part in parts] or [value]
        sides = [value.side for value in values if value.kind is Kind.TENSOR]
        if Side.DEVICE in sides:
            return Value(Kind.TENSOR, Side.DEVICE)
        if sides and all(side is Side.HOST for side in sides):
            return Value(Kind.TENSOR, Side.HOST)
        return Value(Kind.TENSOR)

    def _method_call(self, node: ast.Call, func: ast.Attribute, depth: int) -> Value:
        receiver = self._kinds.value(func.value, depth)
        method = func.attr
        if receiver.kind is Kind.TENSOR:
            return self.tensor_method(receiver, method, node, depth)
        if receiver.kind is Kind.MODULE:
            if method in facts.MODULE_SELF_METHODS:
                return receiver
            if method in ("state_dict", "parameters", "named_parameters", "modules", "children", "buffers"):
                return UNKNOWN
            part = self._kinds.attributes.value(func, depth)
            if part.kind is Kind.MODULE:
                return self._kinds.module_result(part)
            if method in ("forward", "encode", "decode", "generate", "sample"):
                return self._kinds.module_result(receiver._replace(certain=False))
            return UNKNOWN
        if receiver.kind is Kind.DISTRIBUTION:
            if method == "expand":
                return receiver
            return receiver._replace(kind=Kind.TENSOR) if method in facts.DISTRIBUTION_METHODS else UNKNOWN
        if receiver.kind is Kind.NUMPY and method == "cuda":
            return Value(Kind.TENSOR, Side.DEVICE, certain=False)  # `np.argsort(tensor)` gives one of torch
        if receiver.kind is Kind.NUMPY:
            return HOST if method in ("item", "tolist") else NUMPY
        if receiver.kind is Kind.SCALER and method == "scale" and node.args:
            return self._kinds.value(node.args[0], depth)
        if receiver.kind is Kind.HOST:
            return (
                HOST if method in ("format", "join", "strip", "split", "lower", "upper", "replace", "copy") else UNKNOWN
            )
        if receiver.kind is Kind.UNKNOWN and method in ("item", "tolist"):
            return HOST._replace(certain=False)
        if receiver.kind is Kind.UNKNOWN and (prepared := self.prepared(node, (), depth)) is not None:
            return prepared
        if receiver.kind is Kind.UNKNOWN and method in _SCALING and node.args:
            given = self._kinds.value(node.args[0], depth)
            return given._replace(certain=False) if given.kind is Kind.TENSOR else UNKNOWN
        if receiver.kind is Kind.UNKNOWN and method in _GATHERING and _FRAMEWORK in last_name(func.value).lower():
            given = self._kinds.value(node.args[0], depth) if node.args else UNKNOWN
            return given._replace(certain=False) if given.kind is Kind.TENSOR else UNKNOWN
        if receiver.kind is Kind.UNKNOWN and method == "numpy" and not node.args:
            return NUMPY
        if receiver.kind is Kind.UNKNOWN and method in ("to", "cuda") and self._is_made_by_class(func.value):
            return Value(Kind.MODULE, certain=False)
        if receiver.kind is Kind.UNKNOWN and method in ("to", "cuda") and self._batch_parts.has(func.value):
            return self.tensor_method(Value(Kind.TENSOR, certain=False), method, node, depth)
        if receiver.kind is Kind.UNKNOWN and method in ("cuda",) and not receiver.certain:
            return UNKNOWN
        if receiver.kind is Kind.UNKNOWN and self._copies_to_host(method, node):
            return Value(Kind.TENSOR, Side.HOST, certain=False)
        if receiver.kind is Kind.UNKNOWN and method == "to" and any(k.arg == "non_blocking" for k in node.keywords):
            return self.tensor_method(Value(Kind.TENSOR, certain=False), method, node, depth)
        callee = self._kinds.attributes.value(func, depth)
        if callee.kind is Kind.MODULE:
            return self._kinds.module_result(callee)
        if receiver.kind is Kind.UNKNOWN and method in facts.TENSOR_ONLY_METHODS:
            return Value(Kind.TENSOR, certain=False)
        return UNKNOWN

    def prepared(self, node: ast.Call, path: Path, depth: int) -> Value | None:
        """A part of what ``accelerator.prepare(model, optimizer, loader)`` gives back; its batches are moved."""
        func = node.func
        if not isinstance(func, ast.Attribute) or func.attr != "prepare" or len(path) > 1:
            return None
        at, is_part = (path[0], True) if path else (0, False)
        if _FRAMEWORK not in last_name(func.value).lower() or not isinstance(at, int) or not 0 <= at < len(node.args):
            return None
        if is_part is not (len(node.args) > 1):
            return None
        given = self._kinds.value(node.args[at], depth)
        return given._replace(side=Side.DEVICE, certain=False) if given.kind in (Kind.LOADER, Kind.MODULE) else None

    def _is_made_by_class(self, node: ast.expr) -> bool:
        """``models.Net(config)``: by its name, the call of a class that nobody sees."""
        last = last_name(node.func) if isinstance(node, ast.Call) else ""
        return last[:1].isupper() and not last.isupper() and not last.endswith("Tensor")

    def _copies_to_host(self, method: str, node: ast.Call) -> bool:
        """``x.cpu()`` or ``x.to("cpu")`` with a result that is used: of a module nobody takes it."""
        if isinstance(self._tree.parents.get(node), ast.Expr):
            return False
        if method == "cpu":
            return not node.args and not node.keywords
        return method == "to" and len(node.args) == 1 and self._kinds.sides.of_device(node.args[0]) is Side.HOST

    def tensor_method(self, receiver: Value, method: str, node: ast.Call, depth: int) -> Value:
        """What a method of a tensor gives."""
        if method in ("item", "tolist") or method in facts.TENSOR_HOST_METHODS:
            return HOST
        if method in facts.TEXT_METHODS or (method == "split" and node.args and is_text(node.args[0])):
            return HOST  # `name.split(".")`: what was taken for a tensor is a text
        if not receiver.certain and (method == "pop" or method.startswith(facts.COUNTS)):
            return UNKNOWN  # `prediction.pop("name")`, `graph.num_edges()`: a dictionary, or a graph
        if method == "get" and any(isinstance(item, ast.Constant) and not is_none(item) for item in node.args[1:2]):
            return UNKNOWN  # `options.get("decay", 0)`: a number where none is given
        if method == "numpy":
            return NUMPY
        if method == "cpu":
            return receiver._replace(side=Side.HOST)
        if method in ("cuda", "xla"):
            return receiver._replace(side=Side.DEVICE)
        if method == "type_as" and node.args:  # measured with PyTorch 2.9: it goes to where the other tensor is
            other = self._kinds.value(node.args[0], depth)
            return receiver._replace(side=other.side) if other.kind is Kind.TENSOR else receiver
        if method == "type" and not node.args and not node.keywords:
            return HOST  # `x.type() == y.type()` compares names
        if method == "type" and node.args and self._kinds.sides.is_host_class(node.args[0]):
            return receiver._replace(side=Side.HOST)
        if method in ("to", "type"):
            for item in devices_given(node):
                side = self._kinds.sides.of_move(item, depth)
                if side is not Side.UNKNOWN or (isinstance(item, ast.Attribute) and item.attr == "device"):
                    return receiver._replace(side=side)
            return receiver
        return receiver


def _summed(node: ast.expr) -> ast.expr:
    """What is added up in ``sum(loss for loss in parts.values())``."""
    return node.elt if isinstance(node, ast.GeneratorExp | ast.ListComp) else node
