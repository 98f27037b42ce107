"""Results of functions that nobody sees into, and the tensors that they hold: by what the functions are given."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.semantic.bindings import Binding
from tpulint.semantic.definitions import Definitions
from tpulint.semantic.flow import Flow
from tpulint.semantic.names import Names
from tpulint.semantic.passed_arguments import values_given
from tpulint.semantic.tree import FUNCTIONS
from tpulint.semantic.values import Kind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic.kinds import Kinds

_PARTIAL = "functools.partial"
_HOPS = frozenset({"assign", "loop", "parameter"})
"""Ways of a value into a variable. Each is gone back once, not to take what is far away for near."""


class UnseenResults:
    """Asked by :class:`Kinds` for variables of which a number is wanted."""

    def __init__(self, kinds: Kinds, names: Names, flow: Flow, definitions: Definitions) -> None:
        self._kinds = kinds
        self._names = names
        self._flow = flow
        self._definitions = definitions

    def is_device_tensor(self, binding: Binding, depth: int) -> bool:
        """Whether a variable, asked for a number, is of the result of a function that is given the device's tensors."""
        if binding.kind not in ("assign", "loop") or binding.value is None:
            return False
        made = _dict_of(binding.value) if binding.kind == "loop" else binding.value
        for call in [] if made is None else self._calls_behind(made, _HOPS):
            if self._is_run_by_module(call, depth) or any(
                self._kinds.holds_device(item, depth) for item in self._given(call)
            ):
                return True
        return False

    def _given(self, call: ast.Call) -> list[ast.expr]:
        """What a call gives, and what ``compute = partial(losses, model, x)`` has given before ``compute()``."""
        given = values_given(call)
        bindings = self._flow.reaching(call.func) if isinstance(call.func, ast.Name) else ()
        for made in (binding.value for binding in bindings if binding.kind == "assign" and not binding.path):
            if isinstance(made, ast.Call) and self._names.qualified(made.func) == _PARTIAL:
                given += [*made.args[1:], *(keyword.value for keyword in made.keywords)]
        return given

    def _is_run_by_module(self, call: ast.Call, depth: int) -> bool:
        """Whether a call is of a method of a module that is on the device: ``model.loss(batch)``."""
        owner = call.func.value if isinstance(call.func, ast.Attribute) else None
        kinds = self._kinds
        return owner is not None and kinds.mentions_device and kinds.value(owner, depth).kind is Kind.MODULE

    def _calls_behind(self, node: ast.expr, hops: frozenset[str]) -> Iterator[ast.Call]:
        """The calls of which a value is the result: ``made[0] if type(made) is tuple else made``, ``made = f(x)``.

        So is a dictionary of what is made of the values of another one, ``{k: v * 2 for k, v in f(x).items()}``.
        """
        if isinstance(node, ast.Call):
            yield node
        elif isinstance(node, ast.IfExp):
            yield from self._calls_behind(node.body, hops)
            yield from self._calls_behind(node.orelse, hops)
        elif isinstance(node, ast.Subscript | ast.UnaryOp):
            yield from self._calls_behind(node.value if isinstance(node, ast.Subscript) else node.operand, hops)
        elif isinstance(node, ast.BinOp):
            yield from self._calls_behind(node.left, hops)
            yield from self._calls_behind(node.right, hops)
        elif isinstance(node, ast.DictComp):
            yield from self._calls_behind(node.value, hops)
        elif isinstance(node, ast.Name):
            for binding in self._flow.reaching(node):
                for made in self._made_of(binding) if binding.kind in hops else ():
                    yield from self._calls_behind(made, hops - {binding.kind})

    def _made_of(self, binding: Binding) -> list[ast.expr]:
        """What a variable is, or is a value of, by this binding."""
        if binding.kind == "parameter":
            function = binding.statement
            return self._definitions.arguments.of(function, binding.name) if isinstance(function, FUNCTIONS) else []
        made = binding.value if binding.kind == "assign" or binding.value is None else _dict_of(binding.value)
        return [] if made is None else [made]


def _dict_of(node: ast.expr) -> ast.expr | None:
    """The dict that ``losses.items()`` goes over; None for anything else."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.args:
        return None
    return node.func.value if node.func.attr in ("items", "values") else None
