"""What the matrix unit computes: products of matrices, and convolutions as such."""

from __future__ import annotations

import functools
import math
import re
from typing import NamedTuple

from tpulint.planning.graph_text import Operation
from tpulint.planning.tensors import Tensor

PRODUCTS = ("dot_general", "dot", "convolution")
_PAIR = r" = \[([\d, ]*)\] x \[([\d, ]*)\]"
_CONTRACTED = re.compile("contracting_dims" + _PAIR)
_BATCHED = re.compile("batching_dims" + _PAIR)
_NUMBERS = re.compile(r"dim_numbers = \[([^]]*)\]x\[([^]]*)\]->\[([^]]*)\]")
_GROUPS = re.compile(r"(batch|feature)_group_count = (\d+)")


class Product(NamedTuple):
    """So many products of a rows x contracted matrix with a contracted x columns matrix."""

    operation: Operation
    batch: int
    rows: int
    contracted: int
    columns: int
    flops: int
    """A multiplication and an addition are two. Of convolutions, those with numbers that are there: neither padding
    nor the zeros between dilated numbers count."""


def product_of(operation: Operation) -> Product | None:
    """What an operation multiplies; None for what is no product, and where its text is not as expected."""
    if len(operation.operands) < 2 or not operation.results:
        return None
    if operation.name == "convolution":
        return _convolution(operation)
    return _dot(operation) if operation.name in ("dot_general", "dot") else None


def _dot(operation: Operation) -> Product | None:
    left, right = (one.shape for one in operation.operands[:2])
    contracted, batched = (_pair(pattern, operation.attributes) for pattern in (_CONTRACTED, _BATCHED))
    if operation.name == "dot":
        contracted = ([len(left) - 1], [0])
    used_left, used_right = [*contracted[0], *batched[0]], [*contracted[1], *batched[1]]
    if any(at >= len(left) for at in used_left) or any(at >= len(right) for at in used_right):
        return None
    batch = _product(left, batched[0])
    rows = math.prod(abs(size) for at, size in enumerate(left) if at not in used_left)
    columns = math.prod(abs(size) for at, size in enumerate(right) if at not in used_right)
    inner = _product(left, contracted[0])
    return Product(operation, batch, rows, inner, columns, 2 * batch * rows * inner * columns)


def _convolution(operation: Operation) -> Product | None:
    match = _NUMBERS.search(operation.attributes)
    if match is None:
        return None
    image, kernel, output = (one.shape for one in (*operation.operands[:2], operation.results[0]))
    of_image, of_kernel, of_output = ([name.strip() for name in part.split(",")] for part in match.groups())
    if (len(image), len(kernel), len(output)) != (len(of_image), len(of_kernel), len(of_output)):
        return None
    groups = {name: int(number) for name, number in _GROUPS.findall(operation.attributes)}
    group = groups.get("feature", 1) * groups.get("batch", 1)
    axes = sorted(name for name in of_kernel if name.isdigit())
    window, taps = math.prod(kernel[of_kernel.index(axis)] for axis in axes), 1
    for axis in axes:
        taps *= _taps(
            image[of_image.index(axis)], kernel[of_kernel.index(axis)], output[of_output.index(axis)],
            _window("stride", operation.attributes, axis), _padding(operation.attributes, axis),
            _window("lhs_dilate", operation.attributes, axis), _window("rhs_dilate", operation.attributes, axis),
        )  # fmt: skip
    inputs, features = kernel[of_kernel.index("i")], output[of_output.index("f")]
    images = output[of_output.index("b")]
    positions = math.prod(output[of_output.index(axis)] for axis in axes)
    return Product(
        operation, group, images * positions, inputs * window, max(1, features // group),
        2 * images * features * inputs * taps,
    )  # fmt: skip


@functools.cache
def _taps(image: int, kernel: int, output: int, stride: int, padding: int, spread: int, dilation: int) -> int:
    """Along one axis: pairs of an output and a place of the kernel that meet a number of the image."""
    last = (image - 1) * spread
    found = 0
    for at in range(kernel):
        shift = at * dilation - padding
        if spread == 1:
            first = max(0, -(shift // stride))
            found += max(0, min(output - 1, (last - shift) // stride) - first + 1)
        else:
            places = (step * stride + shift for step in range(output))
            found += sum(0 <= place <= last and place % spread == 0 for place in places)
    return found


def _window(name: str, text: str, axis: str) -> int:
    match = re.search(rf"\b{name} = \[([\d, ]*)\]", text)
    values = _list(match[1]) if match else []
    return values[int(axis)] if int(axis) < len(values) else 1


def _padding(text: str, axis: str) -> int:
    """In front; what is behind shows in the size of the output."""
    match = re.search(r"\bpad = \[(\[.*?\])\]", text)
    pairs = re.findall(r"\[(-?\d+), -?\d+\]", match[1]) if match else []
    return int(pairs[int(axis)]) if int(axis) < len(pairs) else 0


def _pair(pattern: re.Pattern[str], text: str) -> tuple[list[int], list[int]]:
    match = pattern.search(text)
    return (_list(match[1]), _list(match[2])) if match else ([], [])


def _list(text: str) -> list[int]:
    return [int(part) for part in text.split(",") if part.strip()]


def _product(shape: tuple[int, ...], places: list[int]) -> int:
    return math.prod(abs(shape[at]) for at in places)


def tensors_of(product: Product) -> tuple[Tensor, ...]:
    """Both factors and the result."""
    return (*product.operation.operands[:2], product.operation.results[0])
