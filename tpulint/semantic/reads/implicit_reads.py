"""Where Python or torch needs the number that a device tensor holds, and nobody has asked for it.

Measured on torch_xla 2.9: each of these reads the device, most of them once for each tensor or element.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from tpulint.semantic.reads.number_arguments import numbers_asked
from tpulint.semantic.syntax.bindings import part_of
from tpulint.semantic.syntax.flow import Flow
from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.variables import last_name
from tpulint.semantic.values.kinds import Kind, Kinds, Side
from tpulint.semantic.values.mapped_elements import LISTS, MADE_OF_ELEMENTS
from tpulint.semantic.values.value import NUMPY

_SIZED = frozenset(
    f"torch.{name}" for name in ("zeros", "ones", "empty", "rand", "randn", "arange", "full", "eye", "linspace")
)
"""Functions of torch that are given numbers: sizes, ends, what to fill with."""
_COUNTED = frozenset(f"torch.{name}" for name in ("topk", "narrow", "multinomial", "chunk", "split", "tril", "triu"))
"""Functions of torch that are given numbers behind the tensor."""
_COUNTED_METHODS = frozenset({
    "repeat", "topk", "narrow", "view", "expand", "split", "chunk", "tril", "triu", "new_zeros", "new_ones",
    "new_empty", "new_full",
})  # fmt: skip
"""Methods of tensors that take nothing but numbers."""
_WHOLE = frozenset({"long", "int", "to"})
"""Methods that make of a tensor one that can be a place."""
_MAPPED = frozenset({"builtins.float", "builtins.int", "builtins.bool", "builtins.str"})
_COMPARING = frozenset({"builtins.max", "builtins.min", "builtins.any", "builtins.all", "builtins.sorted"})
"""Functions of Python that ask elements, or what they are given, which is larger, or whether they are true."""
_DISPLAYS = (ast.List, ast.Tuple, ast.ListComp, ast.GeneratorExp)


class ImplicitReads:
    """Asked by ``Reads`` at calls, products, places and conditions.

    What is a tensor of the device by the way it is used alone may be something else: it is left out, unless what makes
    it tells that it is one number.
    """

    def __init__(
        self,
        names: Names,
        flow: Flow,
        kinds: Kinds,
        dimensions_of: Callable[[ast.expr], int | None],
        is_moved: Callable[[ast.expr], bool],
    ) -> None:
        self._names = names
        self._flow = flow
        self._kinds = kinds
        self._dimensions_of = dimensions_of
        self._is_moved = is_moved

    def numbers_at(self, node: ast.AST) -> Iterator[ast.expr]:
        """Tensors that are made Python numbers: ``range(count)``, ``torch.zeros(n)``, ``[0] * n``."""
        if isinstance(node, ast.BinOp):
            sides = ((node.left, node.right), (node.right, node.left))
            is_product = isinstance(node.op, ast.Mult)
            given = [number for row, number in sides if is_product and isinstance(row, ast.List)]
        elif isinstance(node, ast.Call):
            name = self._names.qualified(node.func)
            given = self._numbers_given(node, name)
            yield from filter(self._is_number_moved, numbers_asked(node, name, self._kinds))
        elif isinstance(node, ast.Subscript):
            yield from self._places(node)
            return
        else:
            return
        yield from filter(self._is_certain, given)

    def fetched_at(self, node: ast.AST) -> ast.expr | None:
        """A tensor that is put into one of the host: ``kept[step] = loss``, ``kept.copy_(loss)``, ``sums[0] += x``."""
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target, given = node.targets[0], node.value
            if not isinstance(target, ast.Subscript) or not self._is_of_host(target.value, arrays=True):
                return None
            if self._is_key(target):
                return None
        elif isinstance(node, ast.AugAssign):  # of NumPy: torch adds no tensor of the device to one of the host
            if not isinstance(node.target, ast.Subscript) or self._kinds.value(node.target.value) != NUMPY:
                return None
            given = node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "copy_":
            if not node.args or not self._is_of_host(node.func.value):
                return None
            given = node.args[0]
        else:
            return None
        return given if self._kinds.is_on_device(given) else None

    def _is_key(self, target: ast.Subscript) -> bool:
        """``batch[key]`` of ``for key, value in batch.items()``: what was taken for a tensor is a dict of them."""
        bindings = self._flow.reaching(target.slice) if isinstance(target.slice, ast.Name) else ()
        gone_over = (one.value.func for one in bindings if one.kind == "loop" and isinstance(one.value, ast.Call))
        own = ast.unparse(target.value)
        return (isinstance(target.slice, ast.Constant) and isinstance(target.slice.value, str)) or any(
            isinstance(func, ast.Attribute) and func.attr in ("items", "keys") and ast.unparse(func.value) == own
            for func in gone_over
        )

    def _is_of_host(self, node: ast.expr, arrays: bool = False) -> bool:
        """Whether something is certainly a tensor on the host, or an array of NumPy; a parameter by all its calls."""
        value = self._kinds.value(node)
        if value.kind is Kind.NUMPY:
            return arrays and value.certain
        bindings = self._flow.reaching(node) if isinstance(node, ast.Name) else ()
        is_given = bool(bindings) and all(binding.kind == "parameter" for binding in bindings)
        return value.kind is Kind.TENSOR and value.side is Side.HOST and (value.certain or is_given)

    def _numbers_given(self, call: ast.Call, name: str | None) -> list[ast.expr]:
        """Arguments that have to be Python numbers, or are made some."""
        if name == "builtins.range" or name in _SIZED:
            return [part for item in call.args for part in self._elements(item) or [item]]
        if name in MADE_OF_ELEMENTS and len(call.args) == 1:
            rows = self._elements(self._in_list(call.args[0]))  # `torch.LongTensor([[top[i][0] for i in range(size)]])`
            return [part for row in rows for part in self._elements(row) or [row]]
        if name in _COUNTED:
            return call.args[1:]
        if name == "builtins.map" and len(call.args) == 2 and self._names.qualified(call.args[0]) in _MAPPED:
            return self._elements(call.args[1]) or call.args[1:]
        if name is not None or not isinstance(call.func, ast.Attribute) or call.func.attr not in _COUNTED_METHODS:
            return []
        is_tensor = self._kinds.value(call.func.value).kind is Kind.TENSOR  # a class may have a method of that name
        return call.args if is_tensor else []

    def _places(self, node: ast.Subscript) -> Iterator[ast.expr]:
        """Ends of slices, and the place in a list: ``x[:count]``, ``names[place]``."""
        items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        ends = [(item.lower, item.upper, item.step) for item in items if isinstance(item, ast.Slice)]
        yield from (end for three in ends for end in three if end is not None and self._is_read_end(end))
        places = [item for item in items if self._kinds.is_on_device(item)]
        if places and (self._is_of_host(node.value) or self._takes_numbers(node.value)):
            yield from filter(self._is_read, places)
        elif places and self._kinds.is_on_device(node.value):
            # A place of no dimensions is a number to torch, on the device as well.
            yield from (item for item in places if self._dimensions_of(item) == 0)

    def _is_read(self, node: ast.expr) -> bool:
        return self._is_certain(node) or self._is_element_moved(node) or self._is_gone_over(node)

    def _is_number_moved(self, node: ast.expr) -> bool:
        """Whether what torch takes for a number is of the device by what it is, or as the code shows by moving it."""
        if isinstance(node, _DISPLAYS) or not self._kinds.is_on_device(node):
            return False
        return self._is_certain(node) or (self._is_moved(node) and not self._may_be_of_list(node))

    def _may_be_of_list(self, node: ast.expr) -> bool:
        """Whether a number is an element of a parameter that may be a list of sizes: ``size[1]``, not ``x[i, 1]``."""
        if isinstance(node, ast.BinOp):
            return self._may_be_of_list(node.left) or self._may_be_of_list(node.right)
        if isinstance(node, ast.UnaryOp):
            return self._may_be_of_list(node.operand)
        is_element = isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Tuple)
        whole = node.value if isinstance(node, ast.Subscript) and is_element else None
        bindings = self._flow.reaching(whole) if isinstance(whole, ast.Name) else ()
        return any(binding.kind == "parameter" for binding in bindings)

    def _is_read_end(self, node: ast.expr) -> bool:
        """Whether the end of a slice is read: ``start[i, 1]`` of a tensor that is moved, or computed of such a one.

        What is asked for whole numbers is a tensor, whatever else it may have been: ``count.long()``.
        """
        if self._is_read(node):
            return True
        is_made_whole = isinstance(node, ast.Call) and last_name(node.func) in _WHOLE
        is_tensor = is_made_whole or (_is_element(node) and self._is_moved(node))
        return is_tensor and self._kinds.is_on_device(node)

    def _is_gone_over(self, node: ast.expr) -> bool:
        """Whether a value is one that a loop takes of a tensor: ``t.long()`` of ``for t in y.view(-1)``."""
        while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _WHOLE:
            node = node.func.value
        bindings = self._flow.reaching(node) if isinstance(node, ast.Name) else ()
        return bool(bindings) and all(binding.kind == "loop" for binding in bindings) and self._kinds.is_on_device(node)

    def _is_element_moved(self, node: ast.expr) -> bool:
        """Whether a value is an element of what was moved to the device: ``labels[i]``, ``label = labels.data[i]``."""
        if isinstance(node, ast.Name):
            values = [binding.value for binding in self._flow.reaching(node) if not binding.path]
            node = values[0] if len(values) == 1 and values[0] is not None else node
        if not isinstance(node, ast.Subscript):
            return False
        whole = node.value
        while isinstance(whole, ast.Attribute) and whole.attr == "data":  # `labels.data[i]`
            whole = whole.value
        if not isinstance(whole, ast.Name):
            return False
        made = [part_of(binding.value, binding.path) for binding in self._flow.reaching(whole)]
        is_moved = bool(made) and all(
            isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in ("to", "cuda")
            for value in made
        )
        return is_moved and self._kinds.is_on_device(node)

    def _takes_numbers(self, node: ast.expr) -> bool:
        """Whether something is an array of NumPy, or a variable that is a list wherever it gets its value."""
        if self._kinds.value(node).kind is Kind.NUMPY:
            return True
        bindings = self._flow.reaching(node) if isinstance(node, ast.Name) else ()
        return bool(bindings) and all(
            binding.kind == "assign" and not binding.path and self._makes_list(binding.value) for binding in bindings
        )

    def _makes_list(self, node: ast.expr | None) -> bool:
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            return isinstance(node.left, ast.List) or isinstance(node.right, ast.List)
        if isinstance(node, ast.Call):
            return self._names.qualified(node.func) in ("builtins.list", "builtins.tuple")
        return isinstance(node, ast.List | ast.Tuple | ast.ListComp)

    def is_list(self, node: ast.expr) -> bool:
        """Whether a variable may be a list, ``[part.cuda() for part in batch]``, whose truth is its length."""
        bindings = self._flow.reaching(node) if isinstance(node, ast.Name) else ()
        return any(isinstance(binding.value, ast.ListComp | ast.List) for binding in bindings)

    def truths_at(self, node: ast.AST) -> Iterator[ast.expr]:
        """Tensors that are asked whether they are true: all but the last of ``a or b``, and ``x in [1, 2]``."""
        if isinstance(node, ast.BoolOp):
            yield from filter(self._is_certain, node.values[:-1])
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            yield from filter(self._is_certain, (node.operand,))
        elif isinstance(node, ast.Compare) and any(isinstance(op, ast.In | ast.NotIn) for op in node.ops):
            compared = zip((node.left, *node.comparators), node.ops, node.comparators, strict=False)
            for left, op, right in compared:
                is_display = isinstance(right, ast.List | ast.Tuple | ast.Set)
                if isinstance(op, ast.In | ast.NotIn) and is_display and self._is_certain(left):
                    yield left

    def compared_at(self, call: ast.Call) -> ast.expr | None:
        """A tensor that Python compares, or asks whether it is true: ``max(best, loss)``, ``any(mask)``."""
        name = self._names.qualified(call.func)
        if name not in _COMPARING or not call.args:
            return None
        given = call.args
        if len(given) == 1:
            given = self._elements(given[0]) or given
        return next(filter(self._is_certain, given), None)

    def _elements(self, node: ast.expr) -> list[ast.expr]:
        """What a list is made of, if that is written there."""
        if isinstance(node, ast.ListComp | ast.GeneratorExp):
            return [node.elt]
        return list(node.elts) if isinstance(node, ast.List | ast.Tuple) else []

    def _in_list(self, node: ast.expr) -> ast.expr:
        """What ``tuple(...)`` or ``list(...)`` makes a list of."""
        is_list = isinstance(node, ast.Call) and self._names.qualified(node.func) in LISTS
        return node.args[0] if is_list and isinstance(node, ast.Call) and len(node.args) == 1 else node

    def is_number(self, node: ast.expr) -> bool:
        """Whether something is one number on the device, whatever holds it."""
        return self._kinds.is_on_device(node) and self._dimensions_of(node) == 0

    def _is_certain(self, node: ast.expr) -> bool:
        if isinstance(node, _DISPLAYS):
            return False
        value = self._kinds.value(node)
        if value.kind is not Kind.TENSOR or value.side is not Side.DEVICE:
            return False
        return value.certain or self._dimensions_of(node) == 0


def _is_element(node: ast.expr) -> bool:
    """Whether an expression takes an element, or calculates with one: ``start[i, 1] + size``."""
    if isinstance(node, ast.BinOp):
        return _is_element(node.left) or _is_element(node.right)
    return isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Slice)
