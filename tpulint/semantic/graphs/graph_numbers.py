"""Which Python numbers given to torch's operations are constants of the graph.

Measured on torch_xla 2.9: the operation was traced six times with six different numbers. With those named here each
number was compiled (6 compilations), with all others the number was uploaded as an input (1 compilation): factors and
summands, limits of `clamp`, probabilities of dropout, slopes of `leaky_relu`, margins, temperatures, label smoothing,
weights of `lerp`, values of `full`, `masked_fill` and `where`, and most more.
"""

from __future__ import annotations

import ast

from tpulint.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_FUNCTIONAL = "torch.nn.functional."


class Places(NamedTuple):
    """Where in a call the numbers stand."""

    positions: tuple[int, ...]
    keywords: tuple[str, ...] = ()


_DIMENSIONS = tuple(range(6))

_SIZES = {
    **dict.fromkeys(
        (f"torch.{name}" for name in ("zeros", "ones", "empty", "rand", "randn")), Places(_DIMENSIONS, ("size",))
    ),
    "torch.arange": Places((0, 1, 2), ("start", "end", "step")),
    "torch.eye": Places((0, 1), ("n", "m")),
    "torch.full": Places((0,), ("size",)),
    "torch.linspace": Places((2,), ("steps",)),
    "torch.randint": Places((), ("size",)),  # and a tuple, behind one or two limits
    "torch.normal": Places((2,), ("size",)),
    "torch.randperm": Places((0,), ("n",)),
    "torch.roll": Places((1,), ("shifts",)),
    "torch.narrow": Places((2, 3), ("start", "length")),
    "torch.tril": Places((1,), ("diagonal",)),
    "torch.triu": Places((1,), ("diagonal",)),
    "torch.diagonal": Places((1,), ("offset",)),
    "torch.topk": Places((1,), ("k",)),
    "torch.kthvalue": Places((1,), ("k",)),
    "torch.split": Places((1,), ("split_size_or_sections",)),
    "torch.chunk": Places((1,), ("chunks",)),
    "torch.tensor_split": Places((1,), ("indices_or_sections",)),
    "torch.reshape": Places((1,), ("shape",)),
    "torch.tile": Places((1,), ("dims",)),
    "torch.repeat_interleave": Places((1,), ("repeats",)),
    "torch.rot90": Places((1,), ("k",)),
    f"{_FUNCTIONAL}interpolate": Places((1, 2), ("size", "scale_factor")),
    f"{_FUNCTIONAL}upsample": Places((1, 2), ("size", "scale_factor")),
    f"{_FUNCTIONAL}pad": Places((1,), ("pad",)),
    f"{_FUNCTIONAL}one_hot": Places((1,), ("num_classes",)),
    **{
        f"{_FUNCTIONAL}adaptive_{kind}_pool{dims}d": Places((1,), ("output_size",))
        for kind in ("avg", "max")
        for dims in (1, 2, 3)
    },
    **{
        f"{_FUNCTIONAL}{kind}_pool{dims}d": Places((1, 2, 3), ("kernel_size", "stride", "padding"))
        for kind in ("avg", "max")
        for dims in (1, 2, 3)
    },
    **{f"{_FUNCTIONAL}conv{dims}d": Places((3, 4, 5), ("stride", "padding", "dilation")) for dims in (1, 2, 3)},
}
_SIZE_METHODS = {
    "roll": Places((0,), ("shifts",)), "narrow": Places((1, 2), ("start", "length")),
    "tril": Places((0,), ("diagonal",)), "triu": Places((0,), ("diagonal",)), "diagonal": Places((0,), ("offset",)),
    "topk": Places((0,), ("k",)), "kthvalue": Places((0,), ("k",)), "select": Places((1,), ("index",)),
    "repeat": Places(_DIMENSIONS), "expand": Places(_DIMENSIONS), "view": Places(_DIMENSIONS),
    "reshape": Places(_DIMENSIONS), "tile": Places(_DIMENSIONS), "repeat_interleave": Places((0,), ("repeats",)),
    "split": Places((0,), ("split_size",)), "chunk": Places((0,), ("chunks",)), "unfold": Places((1, 2)),
    "new_zeros": Places(_DIMENSIONS, ("size",)), "new_ones": Places(_DIMENSIONS, ("size",)),
    "new_empty": Places(_DIMENSIONS, ("size",)), "new_full": Places((0,), ("size",)), "rot90": Places((0,), ("k",)),
}  # fmt: skip

_EXPONENTS = {"torch.pow": Places((0, 1), ("exponent",)), "torch.float_power": Places((0, 1), ("exponent",))}
_EXPONENT_METHODS = {"pow": Places((0,), ("exponent",)), "pow_": Places((0,), ("exponent",))}

_CONSTANTS = {
    f"{_FUNCTIONAL}threshold": Places((1, 2), ("threshold", "value")),
    f"{_FUNCTIONAL}pad": Places((3,), ("value",)),
    f"{_FUNCTIONAL}hardtanh": Places((1, 2), ("min_val", "max_val")),
    f"{_FUNCTIONAL}normalize": Places((1,), ("p",)),
    f"{_FUNCTIONAL}pairwise_distance": Places((2,), ("p",)),
    f"{_FUNCTIONAL}layer_norm": Places((4,), ("eps",)),
    f"{_FUNCTIONAL}group_norm": Places((4,), ("eps",)),
    f"{_FUNCTIONAL}batch_norm": Places((6, 7), ("momentum", "eps")),
    f"{_FUNCTIONAL}instance_norm": Places((6, 7), ("momentum", "eps")),
    "torch.norm": Places((1,), ("p",)),
    "torch.linalg.norm": Places((1,), ("ord",)),
    "torch.linalg.vector_norm": Places((1,), ("ord",)),
    "torch.logit": Places((1,), ("eps",)),
    "torch.std": Places((), ("correction",)),
    "torch.var": Places((), ("correction",)),
}
"""For `hardtanh` it is the backward pass that has them as constants."""
_CONSTANT_METHODS = {
    "norm": Places((0,), ("p",)), "logit": Places((0,), ("eps",)),
    "std": Places((), ("correction",)), "var": Places((), ("correction",)),
}  # fmt: skip


class GraphNumbers:
    """Picks them out of calls."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index

    def sizes(self, call: ast.Call) -> list[ast.expr]:
        """Sizes, shifts, places and counts."""
        return [
            part
            for item in self._numbers(call, _SIZES, _SIZE_METHODS)
            for part in (item.elts if isinstance(item, ast.List | ast.Tuple) else [item])
        ]

    def exponents(self, node: ast.Call | ast.BinOp) -> list[ast.expr]:
        """Base and exponent of a power."""
        if isinstance(node, ast.BinOp):
            return [node.left, node.right] if isinstance(node.op, ast.Pow) else []
        return self._numbers(node, _EXPONENTS, _EXPONENT_METHODS)

    def constants(self, call: ast.Call) -> list[ast.expr]:
        """Numbers that are no sizes, and still constants."""
        return self._numbers(call, _CONSTANTS, _CONSTANT_METHODS)

    def _numbers(self, call: ast.Call, functions: dict[str, Places], methods: dict[str, Places]) -> list[ast.expr]:
        name = self._index.qualified_name(call.func)
        places = None
        if name is not None:
            places = functions.get(name)
        elif isinstance(call.func, ast.Attribute):
            places = methods.get(call.func.attr)
            if places is not None and not self._index.is_device_tensor(call.func.value):
                return []
        if places is None or any(isinstance(item, ast.Starred) for item in call.args):
            return []
        found = [call.args[at] for at in places.positions if at < len(call.args)]
        if name == "torch.randint":
            found += [item for item in call.args[1:3] if isinstance(item, ast.Tuple | ast.List)]
        found.extend(keyword.value for keyword in call.keywords if keyword.arg in places.keywords)
        return found
