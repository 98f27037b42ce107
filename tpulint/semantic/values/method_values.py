"""What a method gives, by what it is called on: a tensor, a module, an array, or nobody knows what."""

from __future__ import annotations

import ast
from functools import cached_property

from tpulint.semantic.devices.device_sites import devices_given
from tpulint.semantic.syntax import torch_facts as facts
from tpulint.semantic.syntax.flow import Flow
from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.tree import SyntaxTree
from tpulint.semantic.syntax.variables import last_name
from tpulint.semantic.values.value import HOST, NUMPY, UNKNOWN, Kind, Path, Side, Value, is_none, is_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic.batches.batch_parts import BatchParts
    from tpulint.semantic.values.kinds import Kinds

_FRAMEWORK = "accelerat"
_GATHERING = frozenset({"gather", "gather_for_metrics", "reduce", "pad_across_processes"})
"""Methods of an ``Accelerator`` that give the tensors of all processes, where the own one is."""
_SCALING = frozenset({"inverse_transform", "denormalize", "unnormalize"})
"""Methods of scalers, of whatever class, that give back what they are given in other units."""


class MethodValues:
    """Asked by :class:`Kinds`, which knows what methods are called on."""

    def __init__(self, kinds: Kinds, tree: SyntaxTree, names: Names, flow: Flow) -> None:
        self._kinds = kinds
        self._tree = tree
        self._names = names
        self._flow = flow

    @cached_property
    def _batch_parts(self) -> BatchParts:
        from tpulint.semantic.batches.batch_parts import BatchParts

        return BatchParts(self._tree, self._names, self._flow)

    def value(self, node: ast.Call, func: ast.Attribute, depth: int) -> Value:
        """What a call of a method gives, whole."""
        receiver = self._kinds.value(func.value, depth)
        method = func.attr
        if receiver.kind is Kind.TENSOR:
            return self.of_tensor(receiver, method, node, depth)
        if receiver.kind is Kind.MODULE:
            if method in facts.MODULE_SELF_METHODS:
                return receiver
            if method in ("state_dict", "parameters", "named_parameters", "modules", "children", "buffers"):
                return UNKNOWN
            part = self._kinds.attributes.value(func, depth)
            if part.kind is Kind.MODULE:
                return self._kinds.module_result(part)
            if method == "forward":
                return self._kinds.module_result(receiver)
            if method in ("encode", "decode", "generate", "sample"):
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
        known = self._of_unknown(receiver, node, func, depth) if receiver.kind is Kind.UNKNOWN else None
        if known is not None:
            return known
        callee = self._kinds.attributes.value(func, depth)
        if callee.kind is Kind.MODULE:
            return self._kinds.module_result(callee)
        if receiver.kind is Kind.UNKNOWN and method in facts.TENSOR_ONLY_METHODS:
            return Value(Kind.TENSOR, certain=False)
        return UNKNOWN

    def _of_unknown(self, receiver: Value, node: ast.Call, func: ast.Attribute, depth: int) -> Value | None:
        """What a method gives of nobody knows what, where its name or its arguments tell; None where they do not."""
        method = func.attr
        if method in ("item", "tolist"):
            return HOST._replace(certain=False)
        prepared = self.prepared(node, (), depth)
        if prepared is not None:
            return prepared
        is_of_framework = _FRAMEWORK in last_name(func.value).lower()
        if method == "clip_grad_norm_" and is_of_framework:
            return Value(Kind.TENSOR, Side.DEVICE, certain=False)
        is_gathered = method in _GATHERING and is_of_framework
        if is_gathered or (method in _SCALING and node.args):
            given = self._kinds.value(node.args[0], depth) if node.args else UNKNOWN
            return given._replace(certain=False) if given.kind is Kind.TENSOR else UNKNOWN
        if method == "numpy" and not node.args:
            return NUMPY
        if method in ("to", "cuda") and self._is_made_by_class(func.value):
            return Value(Kind.MODULE, certain=False)
        if method in ("to", "cuda") and self._batch_parts.has(func.value):
            return self.of_tensor(Value(Kind.TENSOR, certain=False), method, node, depth)
        if method == "cuda" and not receiver.certain:
            return UNKNOWN
        if self._copies_to_host(method, node):
            return Value(Kind.TENSOR, Side.HOST, certain=False)
        if method == "to" and any(keyword.arg == "non_blocking" for keyword in node.keywords):
            return self.of_tensor(Value(Kind.TENSOR, certain=False), method, node, depth)
        return None

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

    def of_tensor(self, receiver: Value, method: str, node: ast.Call, depth: int) -> Value:
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
        if method == "type" and node.args and (asked := _asked_for_class(node.args[0])) is not None:
            other = self._kinds.value(asked, depth)  # `x.type(y.type())` is `x.type_as(y)`
            return receiver._replace(side=other.side) if other.kind is Kind.TENSOR else receiver
        if method == "type" and not node.args and not node.keywords:
            return HOST  # `x.type() == y.type()` compares names
        if method == "type" and node.args and self._kinds.sides.is_host_class(node.args[0]):
            return receiver._replace(side=Side.HOST)
        if method in ("to", "type"):
            for item in devices_given(node):
                side = self._kinds.sides.of_move(item, depth)
                is_asked = isinstance(item, ast.Attribute) and item.attr == "device"
                if side is Side.UNKNOWN and is_asked and receiver.side is Side.DEVICE:
                    return receiver._replace(certain=False)  # what meets on the device is moved to where the other is
                if side is not Side.UNKNOWN or is_asked:
                    return receiver._replace(side=side)
            return receiver
        return receiver


def _asked_for_class(node: ast.expr) -> ast.expr | None:
    """The tensor of ``y.type()``, which names a class for others."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "type":
        return None if node.args or node.keywords else node.func.value
    return None
