"""Variables that count the turns of a loop."""

from __future__ import annotations

import ast

from tpulint.semantic.syntax import torch_facts as facts
from tpulint.semantic.syntax.bindings import Binding
from tpulint.semantic.syntax.flow import Flow
from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.nodes import LoopNode
from tpulint.semantic.syntax.variables import last_name

_DEPTH = 4
_RANGES = ("builtins.range", "tqdm.trange")


class Counters:
    """Finds them for any loop."""

    def __init__(self, names: Names, flow: Flow) -> None:
        self._names = names
        self._flow = flow

    def of(self, loop: LoopNode) -> str | None:
        """The variable that grows by one in every turn of a loop; None when there is none."""
        if isinstance(loop, ast.For | ast.AsyncFor):
            if isinstance(loop.target, ast.Name) and self._made_by(loop.iter, *_RANGES):
                return loop.target.id
            if (
                isinstance(loop.target, ast.Tuple)
                and loop.target.elts
                and self._made_by(loop.iter, "builtins.enumerate")
            ):
                first = loop.target.elts[0]
                if isinstance(first, ast.Name):
                    return first.id
            beside = self._counter_beside(loop)
            if beside is not None:
                return beside
        for statement in loop.body:
            if isinstance(statement, ast.AugAssign) and isinstance(statement.op, ast.Add):
                one = isinstance(statement.value, ast.Constant) and statement.value.value == 1
                if one and isinstance(statement.target, ast.Name):
                    return statement.target.id
        return None

    def _counter_beside(self, loop: ast.For | ast.AsyncFor) -> str | None:
        """The counter of ``for i, batch in zip(range(n), loader)``."""
        made = loop.iter
        while isinstance(made, ast.Call) and self._hands_on(made):
            made = made.args[0]
        if not isinstance(made, ast.Call) or self._names.qualified(made.func) != "builtins.zip":
            return None
        targets = loop.target.elts if isinstance(loop.target, ast.Tuple) else []
        for target, source in zip(targets, made.args, strict=False):
            if isinstance(target, ast.Starred) or isinstance(source, ast.Starred):
                return None
            if isinstance(target, ast.Name) and self._made_by(source, *_RANGES):
                return target.id
        return None

    def _hands_on(self, call: ast.Call) -> bool:
        """Whether a call is a wrapper around the iterable that it is given first, ``tqdm(loader)``."""
        name = self._names.qualified(call.func)
        is_plain = name in facts.ITERABLE_WRAPPERS and name not in ("builtins.enumerate", "builtins.zip")
        # A bar that a file of the project keeps for others, `from utils.general import TQDM`, is called so.
        return bool(call.args) and (is_plain or last_name(call.func).lower() == "tqdm")

    def is_numbered(self, iterable: ast.expr) -> bool:
        """Whether an iterable gives the number of each turn in front of its elements: ``enumerate(loader)``."""
        return self._made_by(iterable, "builtins.enumerate")

    def _made_by(self, node: ast.expr, *makers: str, depth: int = 0) -> bool:
        """Whether an iterable comes from one of these, through wrappers that hand on its elements.

        Whichever way it goes: ``bar = enumerate(loader)`` and ``if shown: bar = tqdm(bar)``.
        """
        if depth > _DEPTH:
            return False
        if isinstance(node, ast.Call):
            name = self._names.qualified(node.func)
            if name in makers:
                return True
            return self._hands_on(node) and self._made_by(node.args[0], *makers, depth=depth + 1)
        reaching: tuple[Binding, ...] = ()
        if isinstance(node, ast.Name):
            reaching = self._flow.reaching(node)
        elif isinstance(node, ast.Attribute):
            reaching = self._flow.reaching_attribute(node)
        others = [b for b in reaching if not self._wraps_itself(b, node)]
        return bool(others) and all(
            b.kind in ("assign", "with")
            and not b.path
            and b.value is not None
            and self._made_by(b.value, *makers, depth=depth + 1)
            for b in others
        )

    def _wraps_itself(self, binding: Binding, node: ast.expr) -> bool:
        """``self.bar = tqdm(self.bar)`` of ``self.bar``: what stands in front of it says what it gives."""
        made = binding.value
        if binding.path or not isinstance(made, ast.Call) or not self._hands_on(made):
            return False
        return isinstance(node, ast.Attribute) and ast.unparse(made.args[0]) == ast.unparse(node)
