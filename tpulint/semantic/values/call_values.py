"""What a call gives: of torch and its relatives by name, of functions and classes of the project by what they are."""

from __future__ import annotations

import ast
import re

from tpulint.semantic.functions.definitions import Definitions
from tpulint.semantic.functions.passed_arguments import values_given
from tpulint.semantic.syntax import torch_facts as facts
from tpulint.semantic.syntax.flow import Flow
from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.tree import SyntaxTree
from tpulint.semantic.values.laid_out import given_to_lambda
from tpulint.semantic.values.roles import ASKING
from tpulint.semantic.values.value import HOST, NUMPY, UNKNOWN, Kind, Side, Value, combine, join

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic.values.kinds import Kinds

_OF_TENSORS = ("torch.tensor", "torch.as_tensor")
_FOR_A_TASK = r"[a-z0-9]For[A-Z][A-Za-z]+\.from_pretrained$"
"""Models of Transformers for a task, ``LlamaForCausalLM``, whose names do not speak of a model."""


class CallValues:
    """Asked by :class:`Kinds`, which follows what is defined in the project."""

    def __init__(self, kinds: Kinds, tree: SyntaxTree, names: Names, flow: Flow, definitions: Definitions) -> None:
        self._kinds = kinds
        self._tree = tree
        self._names = names
        self._flow = flow
        self._definitions = definitions

    def value(self, node: ast.Call, depth: int) -> Value:
        """What a call gives, whole."""
        name = self._names.qualified(node.func)
        if name is not None:
            known = self._named_call(name, node, depth)
            if known is not None:
                return known
        elif held := self._kinds.distribution_classes.held_by(node.func):
            return self._of_distributions(held[0], node, depth)
        if isinstance(node.func, ast.IfExp):
            return self._of_either(node.func, node, depth)
        drawn = self._kinds.elements.drawn_from(node, depth)
        if drawn is not None:
            return self._kinds.elements.element(drawn, (), depth)
        wrapped = self._definitions.wrapped(node)
        if wrapped is not None:
            return self._kinds.value(wrapped, depth)._replace(certain=False)
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
        several = self._kinds.functions.given_by_any(node, (), depth)
        if several.kind is not Kind.UNKNOWN:
            return several
        if isinstance(node.func, ast.Attribute):
            result = self._kinds.methods.value(node, node.func, depth)
            return self._asked_for(node, depth) if result.kind is Kind.UNKNOWN else result
        if self._names.is_taken_from(node.func, facts.OPTIMIZERS):
            return Value(Kind.OPTIMIZER)
        callee = self._kinds.value(node.func, depth)
        if callee.kind is Kind.MODULE:
            if self._kinds.default_side is Side.HOST and self._kinds.unmoved_models.has(node.func):
                return Value(Kind.TENSOR, Side.HOST, callee.certain)
            plain = self._computed_on_host(node, depth)
            return self._kinds.module_result(callee) if plain.kind is not Kind.TENSOR else plain
        laid_out = given_to_lambda(self._flow, node)
        chosen_one = self._of_chosen(node, depth) if laid_out is None else self._kinds.value(laid_out, depth + 2)
        return self._asked_for(node, depth) if chosen_one.kind is Kind.UNKNOWN else chosen_one

    def _of_chosen(self, node: ast.Call, depth: int) -> Value:
        """A tensor, where each of the functions of this file gives one that a variable or a parameter may stand for."""
        meant = self._definitions.functions_meant(node.func) if isinstance(node.func, ast.Name) else []
        given = [self._kinds.functions.given_here(function, node, (), depth + 2) for function in meant]
        is_tensor = bool(given) and all(value.kind is Kind.TENSOR for value in given)
        return join(given)._replace(certain=False) if is_tensor else UNKNOWN

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
        given = values_given(node)
        if any(self._kinds.holds_device(item, depth) or self._kinds.unseen.is_moved(item) for item in given):
            return Value(Kind.TENSOR, Side.DEVICE, certain=False)
        return UNKNOWN

    def _named_call(self, name: str, node: ast.Call, depth: int) -> Value | None:
        head, _, last = name.rpartition(".")
        if head == "builtins":
            if last == "getattr" and len(node.args) == 3:
                held = self._kinds.value(node.args[2], depth)  # `getattr(args, "criterion", nn.MSELoss())`
                return held._replace(certain=False) if held.kind is Kind.MODULE else None
            if last in ("enumerate", "zip", "map", "filter", "reversed"):
                return self._kinds.value(node.args[0], depth)._replace(certain=False) if node.args else UNKNOWN
            if last in ("iter",) and node.args:
                return self._kinds.value(node.args[0], depth)
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
        if name.startswith("torch.distributions.") or name == "tpulint_runtime.kl_divergence":
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
        given = [
            self._kinds.content(item.value, None, depth)
            if isinstance(item, ast.Starred)  # `Normal(*parameters)`
            else self._kinds.value(item, depth)
            for item in values_given(node)
        ]
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
            copied = self._copied(node.args[0], depth) if name in _OF_TENSORS and node.args else None
            if copied is not None or self._kinds.default_side is Side.HOST:
                return copied or Value(Kind.TENSOR, Side.HOST)
            side = self._kinds.made_tensors.side(node, last)
            return Value(Kind.TENSOR, side, certain=side is not Side.DEVICE)
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

    def _copied(self, item: ast.expr, depth: int) -> Value | None:
        """Where what ``torch.tensor(right == y)`` makes of a tensor is: beside that. None of lists and numbers.

        Measured on torch_xla 2.9: nothing is read. A parameter is a list more often.
        """
        value = self._kinds.value(item, depth)
        if value.kind is not Kind.TENSOR:
            return None
        bindings = self._flow.reaching(item) if isinstance(item, ast.Name) else ()
        is_computed = all(binding.kind in ("assign", "augment") and not binding.path for binding in bindings)
        return value if value.certain or is_computed else None


def _summed(node: ast.expr) -> ast.expr:
    """What is added up in ``sum(loss for loss in parts.values())``."""
    return node.elt if isinstance(node, ast.GeneratorExp | ast.ListComp) else node
