"""How many parameters a layer of torch has, where its sizes are visible."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

from tpulint.planning.visible_numbers import Frame, VisibleNumbers

_CONVOLUTION = re.compile(r"torch\.nn\.Conv(Transpose)?([123])d")
_NORM = re.compile(r"torch\.nn\.(?:BatchNorm[123]d|SyncBatchNorm|LayerNorm|GroupNorm|InstanceNorm[123]d)")
_RECURRENT = {"torch.nn.LSTM": 4, "torch.nn.GRU": 3, "torch.nn.RNN": 1}
"""Gates."""


def is_convolution(name: str) -> bool:
    """Whether a class of torch is a convolution, transposed or not."""
    return _CONVOLUTION.fullmatch(name) is not None


def parameters_of(name: str, given: Given) -> int | None:
    """Numbers in all parameters of a layer, by the class's qualified name; None when they are not visible."""
    for known, count in _COUNTS.items():
        if name == f"torch.nn.{known}":
            return count(given)
    if (match := _CONVOLUTION.fullmatch(name)) is not None:
        return _convolution(given, int(match[2]))
    if _NORM.fullmatch(name):
        return _norm(given, name)
    return _recurrent(given, _RECURRENT[name]) if name in _RECURRENT else None


class Given:
    """Arguments of a call as numbers."""

    def __init__(self, numbers: VisibleNumbers, call: ast.Call, frame: Frame | None) -> None:
        self._numbers, self._call, self._frame = numbers, call, frame
        self.is_hidden = any(isinstance(item, ast.Starred) for item in call.args) or any(
            item.arg is None for item in call.keywords
        )

    def node(self, at: int, names: tuple[str, ...]) -> ast.expr | None:
        """An argument by position, or one of these names."""
        if at < len(self._call.args):
            return self._call.args[at]
        return next((item.value for item in self._call.keywords if item.arg in names), None)

    def is_absent(self, at: int, name: str) -> bool:
        """Whether an argument is left out, or None."""
        node = self.node(at, (name,))
        return node is None or (isinstance(node, ast.Constant) and node.value is None)

    def size(self, at: int, name: str, default: int | None = None) -> int | None:
        """A number; None when it is not visible."""
        node = self.node(at, (name,))
        if self.is_hidden:
            return None
        if node is None:
            return default
        found = self._numbers.of(node, self._frame)
        return found.value if found is not None else None

    def sizes(self, at: int, name: str, count: int) -> list[int] | None:
        """``3`` or ``(3, 5)``, as so many numbers."""
        node = self.node(at, (name,))
        if isinstance(node, ast.Tuple | ast.List):
            found = [self._numbers.of(item, self._frame) for item in node.elts]
            return [one.value for one in found if one is not None] if all(found) else None
        one = self.size(at, name)
        return None if one is None else [one] * count

    def flag(self, at: int, name: str, default: bool) -> bool | None:
        """A truth value; None when it is not visible."""
        node = self.node(at, (name,))
        return default if node is None else self._numbers.flag(node, self._frame)


def _product(*factors: int | None) -> int | None:
    result = 1
    for factor in factors:
        if factor is None:
            return None
        result *= factor
    return result


def _sum(*parts: int | None) -> int | None:
    return None if any(part is None for part in parts) else sum(part for part in parts if part is not None)


def _linear(given: Given) -> int | None:
    inputs, outputs = given.size(0, "in_features"), given.size(1, "out_features")
    return _sum(_product(inputs, outputs), _product(outputs, given.flag(2, "bias", True)))


def _embedding(given: Given) -> int | None:
    return _product(given.size(0, "num_embeddings"), given.size(1, "embedding_dim"))


def _convolution(given: Given, axes: int) -> int | None:
    inputs, outputs = given.size(0, "in_channels"), given.size(1, "out_channels")
    kernel, groups = given.sizes(2, "kernel_size", axes), given.size(99, "groups", 1)
    bias = given.flag(99, "bias", True)
    if None in (inputs, outputs, groups, bias) or kernel is None or not inputs or not outputs or not groups:
        return None
    return _sum(_product(inputs * outputs // groups, *kernel), _product(outputs, bias))


def _norm(given: Given, name: str) -> int | None:
    if "InstanceNorm" in name and given.flag(3, "affine", False) is not True:
        return 0 if given.flag(3, "affine", False) is False else None
    if not given.flag(99, "affine", True) or not given.flag(99, "elementwise_affine", True):
        return None
    first = "normalized_shape" if "LayerNorm" in name else "num_features"
    sizes = given.sizes(1, "num_channels", 1) if "GroupNorm" in name else given.sizes(0, first, 1)
    bias = given.flag(99, "bias", True)
    return None if sizes is None or bias is None else _product(1 + bias, *sizes)


def _rms_norm(given: Given) -> int | None:
    sizes = given.sizes(0, "normalized_shape", 1)
    return None if sizes is None else _product(*sizes)


def _attention(given: Given) -> int | None:
    size = given.size(0, "embed_dim")
    if any(given.node(99, (name,)) is not None for name in ("kdim", "vdim", "add_bias_kv")):
        return None
    return _sum(_product(4, size, size), _product(4, size, given.flag(3, "bias", True)))


def _transformer_layer(given: Given, attentions: int) -> int | None:
    """Attentions of 4 x size^2 + 4 x size, two linear layers, and one norm more than attentions."""
    size, inner = given.size(0, "d_model"), given.size(2, "dim_feedforward", 2048)
    bias = given.flag(99, "bias", True)
    if size is None or inner is None or bias is None:
        return None
    weights = attentions * 4 * size * size + 2 * size * inner + (attentions + 1) * size
    return weights + bias * (attentions * 4 * size + inner + size + (attentions + 1) * size)


def _recurrent(given: Given, gates: int) -> int | None:
    size, inner, layers = given.size(0, "input_size"), given.size(1, "hidden_size"), given.size(2, "num_layers", 1)
    bias, both = given.flag(99, "bias", True), given.flag(99, "bidirectional", False)
    if (
        size is None
        or inner is None
        or layers is None
        or bias is None
        or both is None
        or given.node(99, ("proj_size",))
    ):
        return None
    ways = 1 + both
    inputs = size + (layers - 1) * inner * ways
    return gates * ways * (inner * inputs + layers * (inner * inner + 2 * inner * bias))


def _cell(gates: int) -> Callable[[Given], int | None]:
    def count(given: Given) -> int | None:
        size, inner, bias = given.size(0, "input_size"), given.size(1, "hidden_size"), given.flag(2, "bias", True)
        if size is None or inner is None or bias is None:
            return None
        return gates * (inner * (size + inner) + 2 * inner * bias)

    return count


_COUNTS: dict[str, Callable[[Given], int | None]] = {
    "Linear": _linear, "Embedding": _embedding, "RMSNorm": _rms_norm, "MultiheadAttention": _attention,
    "TransformerEncoderLayer": lambda given: _transformer_layer(given, 1),
    "TransformerDecoderLayer": lambda given: _transformer_layer(given, 2),
    "LSTMCell": _cell(4), "GRUCell": _cell(3), "RNNCell": _cell(1),
}  # fmt: skip
