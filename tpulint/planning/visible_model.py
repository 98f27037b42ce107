"""How many parameters the model of a script has, where every layer of it is written down with visible sizes.

The construction is followed from the model that is trained: classes and functions of the file, with what each call
gives them. One layer that cannot be seen leaves the number unknown.
"""

from __future__ import annotations

import ast
import math
import re
from typing import NamedTuple

from tpulint.planning.layer_parameters import Given, is_convolution, parameters_of
from tpulint.planning.visible_numbers import Closure, Frame, VisibleNumbers
from tpulint.semantic import FUNCTIONS, FunctionNode, SemanticIndex

_DEPTH = 12
"""Calls within calls that are followed."""
_WITHOUT_PARAMETERS = re.compile(
    r"torch\.nn\.(?:Sequential|ModuleList|ModuleDict|ParameterList|Identity|Flatten|Unflatten|(?:Leaky|R)?ReLU6?|[CS]?ELU|GELU|SiLU"
    r"|GLU|Mish|Tanh|(?:Log)?Sigmoid|Soft(?:max|max2d|plus|min)|LogSoftmax|Hard\w+|(?:Alpha|Feature)?\w*Dropout\w*|\w*Pool\dd|(?!Adaptive)\w+Loss"
    r"|\w*Pad\dd|Upsample\w*|Pixel\w+|ChannelShuffle|Fold|Unfold|CosineSimilarity|TransformerEncoder|TransformerDecoder|Module|DataParallel)"
)
_BASES = frozenset(
    ("torch.nn.Module", "torch.nn.modules.Module", "torch.nn.modules.module.Module", "torch.nn.Sequential",
     "torch.nn.ModuleList", "builtins.object", "pytorch_lightning.LightningModule", "lightning.LightningModule",
     "lightning.pytorch.LightningModule")
)  # fmt: skip
"""Classes that bring no parameters."""
_LIBRARIES = ("torchvision", "timm", "transformers")
_FILLED = frozenset(f"torch.{name}" for name in ("zeros", "ones", "empty", "randn", "rand"))


class Obstacle(NamedTuple):
    """Why the number of parameters is not known."""

    row: int
    message: str


class VisibleModel(NamedTuple):
    """The trained model, as far as it can be seen."""

    params: int | None
    row: int
    """Where it is made; 0 when that was not found."""
    layers: int
    """Calls that make parameters, each as often as it runs."""
    has_convolutions: bool
    obstacles: tuple[Obstacle, ...]


class _Unseen(Exception):
    def __init__(self, node: ast.AST, message: str) -> None:
        super().__init__(message)
        self.obstacle = Obstacle(getattr(node, "lineno", 0), message)


def read_model(index: SemanticIndex, numbers: VisibleNumbers) -> VisibleModel:
    """Follow the model whose parameters the optimizers are given."""
    return _Reader(index, numbers).read()


class _Reader:
    def __init__(self, index: SemanticIndex, numbers: VisibleNumbers) -> None:
        self._index, self._numbers = index, numbers
        self._layers = 0
        self._has_convolutions = False

    def read(self) -> VisibleModel:
        made = self._models()
        if not made:
            return VisibleModel(None, 0, 0, False, (Obstacle(0, "no optimizer says which model is trained"),))
        total, obstacles = 0, []
        for node in made:
            try:
                if not isinstance(node, ast.Call):
                    raise _Unseen(node, "the model that is trained is not made in this file")
                total += self._made(node, None, 0)
            except _Unseen as error:
                obstacles.append(error.obstacle)
        try:
            self._expect_nothing_shared()
        except _Unseen as error:
            obstacles.append(error.obstacle)
        row = getattr(made[0], "lineno", 0)
        if not total and not obstacles:
            obstacles.append(Obstacle(row, "no layer with parameters was found"))
        known = None if obstacles else total
        return VisibleModel(known, row, self._layers, self._has_convolutions, tuple(dict.fromkeys(obstacles)))

    def _models(self) -> list[ast.AST]:
        """Where the models are made whose ``parameters()`` optimizers are given."""
        index, found = self._index, {}
        for call in index.calls:
            name = index.qualified_name(call.func) or ""
            if not name.startswith("torch.optim.") or name.startswith("torch.optim.lr_scheduler.") or not call.args:
                continue
            for node in ast.walk(call.args[0]):
                if isinstance(node, ast.Attribute) and node.attr in ("parameters", "named_parameters"):
                    made = [one.node for one in index.moves.creations.of(node.value)]
                    found.update(dict.fromkeys(made or [node]))
        return list(found)

    def _expect_nothing_shared(self) -> None:
        for call in self._index.calls_to("copy.deepcopy"):
            raise _Unseen(call, "a deep copy may be part of the model")
        for node in ast.walk(self._index.tree.module):
            target = node.targets[0] if isinstance(node, ast.Assign) and isinstance(node.value, ast.Attribute) else None
            if isinstance(target, ast.Attribute) and target.attr == "weight":
                raise _Unseen(node, "weights are tied")

    # ---------------------------------------------------------------- construction

    def _made(self, call: ast.Call, frame: Frame | None, depth: int) -> int:
        """Parameters of what a call makes, its arguments aside."""
        if depth > _DEPTH:
            raise _Unseen(call, "too many calls within calls")
        index = self._index
        name = index.qualified_name(call.func) or ""
        if name.startswith("torch.nn.") and name[9:10].isupper():
            return self._of_torch(name, call, frame, depth) + self._in_arguments(call, frame, depth)
        owner = index.definitions.class_called(call)
        if owner is not None:
            if not index.definitions.is_module_class(owner):
                return 0
            self._expect_known_bases(owner)
            function = index.definitions.method(owner, "__init__")
            inside = self._within(function, call, frame, depth) if function is not None else 0
            return inside + self._in_arguments(call, frame, depth)
        if isinstance(call.func, ast.Attribute) and call.func.attr in (
            "to",
            "cuda",
            "train",
            "double",
            "float",
            "half",
        ):
            return self._in_expression(call.func.value, frame, depth)
        function = index.definitions.function_called(call)
        if function is not None:
            return self._within(function, call, frame, depth)
        raise _Unseen(call, f"what {index.text(call.func)} makes is not in this file")

    def _within(self, function: FunctionNode, call: ast.Call, frame: Frame | None, depth: int) -> int:
        inner = self._numbers.bind(function, call, frame)
        if inner is None:
            raise _Unseen(call, "arguments are hidden by * or **")
        return sum(self._in_expression(item, inner, depth + 1) for item in function.body)

    def _in_arguments(self, call: ast.Call, frame: Frame | None, depth: int) -> int:
        parts = [*call.args, *(item.value for item in call.keywords)]
        found = sum(self._in_expression(item, frame, depth) for item in parts)
        if frame is None:  # what the code around it makes is not walked through, as a function's body is
            found += sum(self._elsewhere(item, depth) for item in parts)
        return found

    def _elsewhere(self, node: ast.expr, depth: int) -> int:
        """A module that a variable holds."""
        node = node.value if isinstance(node, ast.Starred) else node
        if not isinstance(node, ast.Name | ast.Attribute):
            return 0
        settled = self._numbers.settle(Closure(node, None))
        if settled is not None and isinstance(settled.node, ast.Constant | ast.BinOp):
            return 0
        if settled is not None and isinstance(settled.node, ast.Call):
            return self._in_expression(settled.node, None, depth + 1)
        is_list = settled is not None and isinstance(settled.node, ast.List | ast.ListComp)  # that may be appended to
        if is_list or (self._index.kind(node).value in ("module", "unknown") and self._numbers.of(node) is None):
            raise _Unseen(node, f"what {self._index.text(node)} holds is not visible")
        return 0

    def _expect_known_bases(self, owner: ast.ClassDef) -> None:
        for base in owner.bases:
            name = self._index.qualified_name(base)
            if name in _BASES or self._base(base) is not None:
                continue
            raise _Unseen(owner, f"{owner.name} is built on {self._index.text(base)}, which is not in this file")

    def _base(self, node: ast.expr) -> ast.ClassDef | None:
        return self._index.names.class_named(node)

    def _of_bases(self, call: ast.Call, frame: Frame | None, depth: int) -> int:
        """``super().__init__(...)``."""
        owner = self._index.tree.class_of(call)
        total = 0
        for base in (self._base(one) for one in owner.bases) if owner is not None else ():
            function = self._index.definitions.method(base, "__init__") if base is not None else None
            if base is not None:
                self._expect_known_bases(base)
            total += self._within(function, call, frame, depth) if function is not None else 0
        return total + self._in_arguments(call, frame, depth)

    def _in_expression(self, node: ast.AST, frame: Frame | None, depth: int) -> int:
        """Parameters of everything that is made in some code: each call as often as its loops run."""
        if isinstance(node, (*FUNCTIONS, ast.Lambda, ast.ClassDef)):
            return 0
        if isinstance(node, ast.Call):
            return self._in_call(node, frame, depth)
        if isinstance(node, ast.ListComp | ast.GeneratorExp):
            inside = self._in_expression(node.elt, frame, depth)
            return inside * self._turns(node, [one.iter for one in node.generators], frame) if inside else 0
        if isinstance(node, ast.For):
            inside = sum(self._in_expression(item, frame, depth) for item in node.body)
            return inside * self._turns(node, [node.iter], frame) if inside else 0
        if isinstance(node, ast.If | ast.IfExp | ast.While | ast.Try):
            inside = sum(self._in_expression(item, frame, depth) for item in ast.iter_child_nodes(node))
            if inside:
                raise _Unseen(node, "layers are made under a condition")
            return 0
        return sum(self._in_expression(item, frame, depth) for item in ast.iter_child_nodes(node))

    def _in_call(self, call: ast.Call, frame: Frame | None, depth: int) -> int:
        index = self._index
        name = index.qualified_name(call.func) or ""
        is_layer = name.startswith("torch.nn.") and name[9:10].isupper()
        if isinstance(call.func, ast.Attribute) and call.func.attr == "__init__":
            return self._of_bases(call, frame, depth)
        owner = index.definitions.class_called(call)
        function = index.definitions.function_called(call)
        if is_layer or owner is not None:
            return self._made(call, frame, depth)
        if function is not None and self._makes_layers(function, 0):
            return self._within(function, call, frame, depth)
        if not name.startswith(("torch.", "math.", "builtins.")) and index.kind(call).value == "module":
            raise _Unseen(call, f"what {index.text(call.func)} makes is not in this file")
        if name.partition(".")[0] in _LIBRARIES:
            raise _Unseen(call, f"what {index.text(call.func)} makes is not in this file")
        return sum(self._in_expression(item, frame, depth) for item in ast.iter_child_nodes(call))

    def _makes_layers(self, function: FunctionNode, depth: int) -> bool:
        for node in ast.walk(function):
            if not isinstance(node, ast.Call):
                continue
            if (self._index.qualified_name(node.func) or "").startswith("torch.nn."):
                return True
            owner, inner = self._index.definitions.class_called(node), self._index.definitions.function_called(node)
            if owner is not None and self._index.definitions.is_module_class(owner):
                return True
            if inner is not None and inner is not function and depth < _DEPTH and self._makes_layers(inner, depth + 1):
                return True
        return False

    def _turns(self, node: ast.AST, sources: list[ast.expr], frame: Frame | None) -> int:
        turns = 1
        for source in sources:
            count = None
            if isinstance(source, ast.Call) and self._index.qualified_name(source.func) == "builtins.range":
                ends = [self._numbers.of(item, frame) for item in source.args]
                values = [end.value for end in ends if end is not None]
                count = len(range(*values)) if values and len(values) == len(ends) else None
            elif isinstance(source, ast.List | ast.Tuple):
                count = len(source.elts)
            if count is None:
                raise _Unseen(node, "how often layers are made is not visible")
            turns *= count
        return turns

    # ---------------------------------------------------------------- layers of torch

    def _of_torch(self, name: str, call: ast.Call, frame: Frame | None, depth: int) -> int:
        if name in ("torch.nn.TransformerEncoder", "torch.nn.TransformerDecoder"):
            return self._copies(call, frame)
        if name == "torch.nn.Parameter":
            return self._parameter(call, frame)
        if _WITHOUT_PARAMETERS.fullmatch(name):
            return 0
        params = parameters_of(name, Given(self._numbers, call, frame))
        if params is None:
            raise _Unseen(call, f"the parameters of {name.removeprefix('torch.')} are not visible")
        self._layers += 1
        self._has_convolutions |= is_convolution(name)
        return params

    def _copies(self, call: ast.Call, frame: Frame | None) -> int:
        """An encoder copies the layer that it is given; where that stands in the call it is counted once there."""
        given = Given(self._numbers, call, frame)
        copies = given.size(1, "num_layers")
        layer = given.node(0, ("encoder_layer", "decoder_layer"))
        settled = self._numbers.settle(Closure(layer, frame)) if layer is not None else None
        if copies is None or settled is None or not isinstance(settled.node, ast.Call):
            raise _Unseen(call, "the layer that is copied, or how often, is not visible")
        if not given.is_absent(2, "norm"):
            raise _Unseen(call, "an encoder with a norm of its own is not followed")
        name = self._index.qualified_name(settled.node.func) or ""
        each = parameters_of(name, Given(self._numbers, settled.node, settled.frame))
        if each is None:
            raise _Unseen(settled.node, "the layer that is copied is not visible")
        self._layers += copies
        # The layer itself is counted where it is made, if that is walked through.
        is_walked = settled.node is layer or (
            frame is not None and self._index.function_of(settled.node) is frame.function
        )
        return each * (copies - is_walked)

    def _parameter(self, call: ast.Call, frame: Frame | None) -> int:
        made = call.args[0] if call.args else None
        if isinstance(made, ast.Call) and (self._index.qualified_name(made.func) or "") in _FILLED and made.args:
            first = made.args[0]
            parts = first.elts if isinstance(first, ast.Tuple | ast.List) else made.args
            sizes = [self._numbers.of(item, frame) for item in parts]
            if all(sizes):
                self._layers += 1
                return math.prod(one.value for one in sizes if one is not None)
        raise _Unseen(call, "the size of a parameter is not visible")
