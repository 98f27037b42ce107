"""Comparisons with CUDA's name: those that decide a move ask for a device, others for one way to compute of several."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import cached_property

from tpulint.semantic.cuda.cuda_branches import names_other_backend
from tpulint.semantic.syntax.nodes import EXITS
from tpulint.semantic.syntax.variables import last_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_DEVICES = (
    "cuda", "gpu", "cpu", "tpu", "xla", "mps", "xpu", "npu", "hpu", "ipu", "mlu", "musa", "meta", "device", "neuron",
    "rocm", "hip", "dml", "vulkan", "auto", "none", "all",
)  # fmt: skip
"""Words in texts that name a device, or stand for the choice of one."""


class ComparedNames:
    """Answers about the comparisons of one file."""

    def __init__(self, index: SemanticIndex) -> None:
        self._tree = index.tree

    def is_way(self, compared: ast.expr) -> bool:
        """Whether something is compared with words that are no devices: ``self.backend in ["cuda", "naive"]``."""
        return last_name(compared) in self._ways

    @cached_property
    def _ways(self) -> frozenset[str]:
        found = set[str]()
        for text in self._tree.strings:
            holder = self._tree.parents[text]
            comparison = self._tree.parents[holder] if isinstance(holder, ast.List | ast.Tuple | ast.Set) else holder
            if not isinstance(comparison, ast.Compare) or len(comparison.ops) != 1:
                continue
            if not _may_name_device(str(text.value)):
                sides = (comparison.left, comparison.comparators[0])
                found.update(last_name(side) for side in sides if isinstance(side, ast.Name | ast.Attribute))
        return frozenset(found)

    def asks_for_place(self, compared: ast.expr) -> bool:
        """Whether a value is compared with the name of an accelerator, to move something there if it is that."""
        comparison, names = self._comparison(compared)
        if comparison is None or not any(map(_names_accelerator, names)) or self.is_way(compared):
            return False
        return self.decides_move(comparison)

    def _comparison(self, compared: ast.expr) -> tuple[ast.Compare | ast.Call | None, list[ast.expr]]:
        """What compares a value, and the names with which it does."""
        parent = self._tree.parents[compared]
        if isinstance(parent, ast.Compare) and len(parent.ops) == 1:
            other = parent.comparators[0] if parent.left is compared else parent.left
            return parent, other.elts if isinstance(other, ast.List | ast.Tuple | ast.Set) else [other]
        call = self._tree.parents[parent] if isinstance(parent, ast.Attribute) and parent.attr == "startswith" else None
        if isinstance(call, ast.Call) and call.func is parent:
            return call, call.args
        return None, []

    def decides_move(self, comparison: ast.Compare | ast.Call) -> bool:
        """``if device == "cuda": y = y.cuda()``: on another device y has to be moved as well.

        ``device.startswith("cuda")`` compares, too.
        """
        if any(names_other_backend(self._tree.text(item)) for item in self._conditions(comparison)):
            return False
        return any(map(self._is_move, (node for code in self._taken(comparison) for node in self._nodes(code))))

    def _conditions(self, comparison: ast.expr) -> Iterator[ast.AST]:
        """The statement or expression whose condition a comparison is part of."""
        node: ast.AST = comparison
        parent = self._tree.parents[node]
        while isinstance(parent, ast.BoolOp) or (isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not)):
            node, parent = parent, self._tree.parents[parent]
        if isinstance(parent, ast.If | ast.IfExp) and parent.test is node:
            yield parent

    def _taken(self, comparison: ast.Compare | ast.Call) -> Sequence[ast.AST]:
        """What is run where something is the device that it is compared with."""
        holds = isinstance(comparison, ast.Call) or isinstance(comparison.ops[0], ast.Eq | ast.In)
        for holder in self._conditions(comparison):
            assert isinstance(holder, ast.If | ast.IfExp)
            node: ast.AST = comparison
            while node is not holder.test:
                node = self._tree.parents[node]
                holds ^= isinstance(node, ast.UnaryOp)
            if isinstance(holder, ast.IfExp):
                return [holder.body if holds else holder.orelse]
            if holds or holder.orelse or not isinstance(holder.body[-1], EXITS):
                return holder.body if holds else holder.orelse
            suite = self._tree.suite_of(holder)
            return suite[suite.index(holder) + 1 :]
        return []

    def _nodes(self, code: ast.AST) -> Iterator[ast.AST]:
        yield code
        yield from self._tree.inside(code)

    def _is_move(self, node: ast.AST) -> bool:
        """``x.cuda()``, ``x.to("cuda")``, and what a port makes of them."""
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            return False
        if node.func.attr == "cuda":
            return True
        place = node.args[0] if node.func.attr == "to" and node.args else None
        if isinstance(place, ast.Call):
            return last_name(place.func) == "device" and "xla" in self._tree.text(place.func)
        return place is not None and _names_accelerator(place)


def _names_accelerator(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and str(node.value).startswith(("cuda", "xla"))


def _may_name_device(text: str) -> bool:
    lowered = text.lower()
    return not text or text.startswith(":") or text.isdecimal() or any(word in lowered for word in _DEVICES)
