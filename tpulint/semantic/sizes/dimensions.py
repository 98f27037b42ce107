"""How many dimensions a tensor has, where what makes it tells."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from tpulint.semantic.sizes.made_dimensions import MadeDimensions, is_made_number, is_number, is_of_elements, of_sizes
from tpulint.semantic.syntax import torch_facts as facts
from tpulint.semantic.syntax.bindings import Binding
from tpulint.semantic.syntax.nodes import FUNCTIONS, FunctionNode
from tpulint.semantic.values.kinds import Kind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_DEPTH = 16
_OF_ONE = frozenset({"arange", "linspace", "logspace", "randperm", "bincount", "range", "unique", "unique_consecutive"})
"""Functions and methods whose result has one dimension; of ``unique`` where none is asked for."""
_KEEPING = frozenset({
    "to", "cuda", "cpu", "xpu", "long", "int", "float", "double", "half", "bool", "bfloat16", "type", "type_as",
    "detach", "clone", "contiguous", "requires_grad_", "abs", "neg", "exp", "log", "sqrt", "square", "sigmoid", "tanh",
    "relu", "softmax", "log_softmax", "cumsum", "cumprod", "argsort", "sort", "topk", "flip", "roll", "clamp", "clamp_",
    "round", "floor", "ceil", "sign", "gather", "index_select", "fill_", "zero_", "normal_", "uniform_", "random_",
    "masked_fill", "masked_fill_", "logical_not", "chunk", "split", "narrow", "zeros_like", "ones_like", "empty_like",
    "rand_like", "randn_like", "full_like", "bernoulli", "isnan", "isfinite", "add_", "sub_", "mul_", "div_",
    "nan_to_num", "transpose", "permute", "swapaxes", "conj", "fft", "ifft", "rfft", "irfft", "rfft2", "irfft2",
    "rfftn", "irfftn", "fft2", "ifft2", "fftn", "ifftn", "movedim", "t", "multinomial", "Parameter", "Variable",
})  # fmt: skip
"""Methods, and functions by the same names, that give as many dimensions as their first tensor has.

``sort`` and ``topk`` give two such tensors, ``chunk`` and ``split`` several."""
_WITH_ANOTHER = frozenset({
    "add", "sub", "mul", "div", "eq", "ne", "lt", "le", "gt", "ge", "maximum", "minimum", "logical_and", "logical_or",
    "fmod", "remainder", "floor_divide",
})  # fmt: skip
"""The same, of two tensors: as many as the one with more of them has."""
_REDUCING = frozenset({
    "sum", "mean", "prod", "std", "var", "norm", "argmax", "argmin", "amax", "amin", "any", "all", "logsumexp",
    "max", "min", "median", "mode", "kthvalue", "count_nonzero",
})  # fmt: skip
_PAIRS = frozenset({"sort", "topk", "max", "min", "median", "mode", "kthvalue"})
"""Those that give values and places, where they are told a dimension."""
_SEVERAL = frozenset({"chunk", "split"})


class Dimensions:
    """Questions about expressions of one file; what is not known is None. Numbers of Python have no dimensions."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index
        self._memo: dict[ast.expr, int | None] = {}
        self._made = MadeDimensions(index)

    def of(self, node: ast.expr, depth: int = 0) -> int | None:
        """Number of dimensions of a tensor."""
        if node in self._memo or depth > _DEPTH:
            return self._memo.get(node)
        self._memo[node] = None  # what depends on itself
        found = self._memo[node] = self._of(node, depth + 1)
        return found

    def _of(self, node: ast.expr, depth: int) -> int | None:
        if is_number(self._index, node):
            return 0
        if isinstance(node, ast.Name):
            bindings = self._index.kinds.parameters.without_none(self._index.flow.reaching(node))
            return _same(self._bound(binding, depth) for binding in bindings)
        if isinstance(node, ast.Call):
            return self._of_call(node, depth)
        if isinstance(node, ast.Subscript):
            return self._of_subscript(node, depth)
        if isinstance(node, ast.Attribute):
            return self._of_attribute(node, depth)
        if isinstance(node, ast.BinOp):
            return None if isinstance(node.op, ast.MatMult) else self._largest([node.left, node.right], depth)
        if isinstance(node, ast.Compare):
            return self._largest([node.left, *node.comparators], depth)
        if isinstance(node, ast.UnaryOp):
            return self.of(node.operand, depth)
        if isinstance(node, ast.IfExp):
            return _same(self.of(item, depth) for item in (node.body, node.orelse))
        return None

    def _largest(self, items: list[ast.expr], depth: int) -> int | None:
        """Of what is calculated with each other."""
        found = [self.of(item, depth) for item in items]
        known = [number for number in found if number is not None]
        return max(known) if len(known) == len(found) else None

    # ---------------------------------------------------------------- variables

    def _bound(self, binding: Binding, depth: int) -> int | None:
        value = binding.value
        if binding.kind == "parameter":
            return self._given(binding, depth)
        if value is None:
            return None
        if binding.kind == "assign":
            return self._part(value, binding.path, depth)
        if binding.kind == "loop":
            return self._element(value, binding.path, depth)
        if binding.kind == "augment" and isinstance(binding.node, ast.Name):
            return self.of(binding.node, depth) or None  # in place a tensor keeps its shape, a number does not
        return None

    def _given(self, binding: Binding, depth: int) -> int | None:
        """What calls of this file give for a parameter, where no other file calls the function with a tensor."""
        function = binding.statement
        if not isinstance(function, FUNCTIONS) or binding.value is not None:
            return None
        if self._index.kinds.parameters.is_given_device_tensor(function, binding.name):
            return None
        return _same(self.of(item, depth) for item in self._index.definitions.arguments.of(function, binding.name))

    def _part(self, value: ast.expr, path: tuple[int, ...], depth: int) -> int | None:
        """Of what is unpacked, one part."""
        if not path:
            return None if self._gives_several(value) else self.of(value, depth)
        if isinstance(value, ast.Tuple | ast.List):
            is_plain = 0 <= path[0] < len(value.elts) and not any(isinstance(e, ast.Starred) for e in value.elts)
            return self._part(value.elts[path[0]], path[1:], depth) if is_plain else None
        if isinstance(value, ast.Call):
            function = self._index.definitions.function_called(value)
            if function is not None:
                made = self._index.definitions.returned_by(function) if depth <= _DEPTH else ()
                own = [item for item in made if not self._calls(item, function)]
                return _same(self._part(item, path, depth + 1) for item in own)
            if self._gives_several(value):
                return self.of(value, depth) if len(path) == 1 else None
        return self._within(value, len(path), depth)

    def _calls(self, value: ast.expr, function: FunctionNode) -> bool:
        """Whether a function gives what another call of itself does."""
        return isinstance(value, ast.Call) and self._index.definitions.function_called(value) is function

    def _element(self, value: ast.expr, path: tuple[int, ...], depth: int) -> int | None:
        """Of one element of what is gone through, or of a part of it."""
        name = self._index.qualified_name(value.func) if isinstance(value, ast.Call) else None
        if isinstance(value, ast.Call) and value.args:
            if name == "builtins.range":
                return None if path else 0
            if name == "builtins.enumerate":
                return (
                    self._element(value.args[0], path[1:], depth) if path[:1] == (1,) else 0 if path == (0,) else None
                )
            if name == "builtins.zip":
                has = path and 0 <= path[0] < len(value.args)
                return self._element(value.args[path[0]], path[1:], depth) if has else None
            if name in facts.ITERABLE_WRAPPERS:
                return self._element(value.args[0], path, depth)
        if self._gives_several(value):
            return self.of(value, depth) if not path and self._last_name(value) in _SEVERAL else None
        if isinstance(value, ast.List | ast.Tuple):
            return _same(self._part(item, path, depth) for item in value.elts)
        return self._within(value, 1 + len(path), depth)

    def _within(self, value: ast.expr, levels: int, depth: int) -> int | None:
        """Of what a tensor gives that is taken apart so many times."""
        whole = self._of_tensor(value, depth)
        return None if whole is None or whole < levels else whole - levels

    def _last_name(self, call: ast.expr) -> str:
        func = call.func if isinstance(call, ast.Call) else None
        name = self._index.qualified_name(func) if func is not None else None
        if name is not None:
            return name.rpartition(".")[2] if name.startswith("torch.") else ""
        return func.attr if isinstance(func, ast.Attribute) else ""

    def _gives_several(self, value: ast.expr) -> bool:
        """Whether a call gives several tensors, all of as many dimensions: ``scores.max(1)``, ``x.split(4)``."""
        if not isinstance(value, ast.Call):
            return False
        last, arguments = self._last_name(value), self._own_arguments(value)
        if last in ("max", "min", "median"):
            return self._over(arguments, value) is not None
        return last in _PAIRS or last in _SEVERAL

    # ---------------------------------------------------------------- attributes and places

    def _of_attribute(self, node: ast.Attribute, depth: int) -> int | None:
        if node.attr in ("data", "T", "mT", "grad", "real"):
            return self.of(node.value, depth)
        if node.attr in ("values", "indices") and self._gives_several(node.value):
            return self.of(node.value, depth)
        buffer = self._index.kinds.module_tensors.made_of(node)
        if buffer is not None:
            return self.of(buffer, depth)
        return _same(self._bound(binding, depth) for binding in self._index.flow.reaching_attribute(node))

    def _of_subscript(self, node: ast.Subscript, depth: int) -> int | None:
        if self._gives_several(node.value):  # `scores.max(1)[1]`, `x.split(4)[0]`
            return self.of(node.value, depth) if isinstance(node.slice, ast.Constant) else None
        whole = self._of_tensor(node.value, depth)
        if whole is None:
            return 0 if is_made_number(self._index, node) else None
        items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        chosen: list[int] = []
        for item in items:
            if isinstance(item, ast.Slice) or _is_constant(item, ...):
                continue
            if _is_constant(item, None):
                whole += 1
                continue
            places = 1 if isinstance(item, ast.List) or self._is_range(item) else self.of(item, depth)
            if places is None or places > 1:  # of several, a mask takes away more
                return None
            whole -= 1
            chosen.append(places)
        whole += max(chosen, default=0)
        return whole if whole >= 0 else None

    def _is_range(self, item: ast.expr) -> bool:
        """``range(n)``, or a slice of it."""
        item = item.value if isinstance(item, ast.Subscript) and isinstance(item.slice, ast.Slice) else item
        return isinstance(item, ast.Call) and self._index.qualified_name(item.func) == "builtins.range"

    # ---------------------------------------------------------------- calls

    def _of_call(self, call: ast.Call, depth: int) -> int | None:
        index = self._index
        function = index.definitions.function_called(call)
        if function is not None:
            own = (item for item in index.definitions.returned_by(function) if not self._calls(item, function))
            return _same(self._part(item, (), depth) for item in own)
        name, last = index.qualified_name(call.func), self._last_name(call)
        if last == "clip_grad_norm_":
            return 0
        if name is not None and name.startswith("torch.") and name.count(".") <= 2:
            made = self._made.by(call, last)
            if made is not None:
                return made
            if is_of_elements(last) and len(call.args) == 1:
                return self._of_tensor(call.args[0], depth)
        return self._of_operation(call, last, depth) if last else None

    def _of_tensor(self, item: ast.expr, depth: int) -> int | None:
        """The same, of what may be no tensor."""
        return self.of(item, depth) if self._index.kind(item) is Kind.TENSOR else None

    def _own_arguments(self, call: ast.Call) -> list[ast.expr]:
        """What a method is given, or a function of torch behind its tensor."""
        is_function = self._index.qualified_name(call.func) is not None
        return call.args[1:] if is_function else call.args

    def _over(self, arguments: list[ast.expr], call: ast.Call) -> ast.expr | None:
        """The dimensions that a call goes over; None where it says none, or is given another tensor."""
        named = [keyword.value for keyword in call.keywords if keyword.arg in ("dim", "axis")]
        given = named or arguments[:1]
        if not given or self._index.kind(given[0]) is Kind.TENSOR:
            return None
        return None if any(_is_constant(given[0], value) for value in (None, False, True)) else given[0]

    def _of_operation(self, call: ast.Call, last: str, depth: int) -> int | None:
        func, given = call.func, self._own_arguments(call)
        is_function = self._index.qualified_name(func) is not None
        if is_function:
            tensor = call.args[0] if call.args else None
        else:
            tensor = func.value if isinstance(func, ast.Attribute) else None
        if tensor is None or any(isinstance(item, ast.Starred) for item in call.args):
            return None
        if any(keyword.arg is None for keyword in call.keywords):
            return None
        if last in _OF_ONE:
            return 1 if last[0] != "u" or not (given or call.keywords) else None
        if last in ("nonzero", "argwhere"):
            return None if call.keywords else 2
        if last in ("flatten", "ravel"):
            return None if given or call.keywords else 1
        if last in ("view", "reshape"):
            return self._of_new_shape(given)
        if last in ("cat", "concat", "stack"):
            return self._joined(tensor, last, depth)
        if last in _REDUCING:
            return self._reduced(tensor, call, given, depth)
        if last in _WITH_ANOTHER:
            return self._largest([tensor, *given[:1]], depth)
        if last == "where" and len(given) == 2 and is_function:
            return self._largest(call.args, depth)
        if last == "unsqueeze":
            whole = self.of(tensor, depth)
            return None if whole is None else whole + 1
        known = self.of(tensor, depth) if last in _KEEPING else None
        return _ordered(given) if known is None and last == "permute" else known

    def _of_new_shape(self, given: list[ast.expr]) -> int | None:
        if len(given) == 1 and not isinstance(given[0], ast.Tuple | ast.List):
            return 1 if is_number(self._index, given[0]) else None
        return of_sizes(self._index, given) if given else None

    def _joined(self, tensors: ast.expr, last: str, depth: int) -> int | None:
        """Of ``torch.cat``, ``torch.stack``: all are alike, so one that is known tells."""
        items = tensors.elts if isinstance(tensors, ast.List | ast.Tuple) else self._index.kinds.contents.of(tensors)
        known = [found for item in items if (found := self.of(item, depth)) is not None]
        whole = _same(known)
        return whole + 1 if whole is not None and last == "stack" else whole

    def _reduced(self, tensor: ast.expr, call: ast.Call, given: list[ast.expr], depth: int) -> int | None:
        last, over = self._last_name(call), self._over(given, call)
        if over is None:
            other = given[:1] if last in ("max", "min") else []
            if given and not other:
                return None  # `x.std(unbiased)`, `x.norm(p)`, or a tensor that tells the dimension
            return self._largest([tensor, *other], depth) if other else 0
        if last == "norm" and not any(keyword.arg in ("dim", "axis") for keyword in call.keywords):
            return 0 if len(given) == 1 else None
        keeps = [k.value for k in call.keywords if k.arg == "keepdim"] or given[1:2]
        if keeps and not _is_constant(keeps[0], False):
            return self.of(tensor, depth) if _is_constant(keeps[0], True) else None
        whole = self.of(tensor, depth)
        less = len(over.elts) if isinstance(over, ast.Tuple | ast.List) else 1 if is_number(self._index, over) else None
        return None if whole is None or less is None or whole < less else whole - less


def _same(found: Iterable[int | None]) -> int | None:
    """What all of these are; None where they differ, or one is not known."""
    numbers = set(found)
    return numbers.pop() if len(numbers) == 1 else None


def _ordered(given: list[ast.expr]) -> int | None:
    """As many as ``x.permute(0, 2, 1)`` names; of ``x.permute(order)`` nobody knows."""
    dims = given[0].elts if len(given) == 1 and isinstance(given[0], ast.Tuple | ast.List) else given
    return len(dims) if len(dims) > 1 or dims is not given else None


def _is_constant(node: ast.expr, value: object) -> bool:
    return isinstance(node, ast.Constant) and node.value is value
