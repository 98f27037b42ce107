"""Results of functions that nobody sees into, and the tensors that they hold: by what the functions are given."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from tpulint.semantic.functions.definitions import Definitions
from tpulint.semantic.functions.passed_arguments import values_given
from tpulint.semantic.project.outside import OutsideCall, qualified_in_file
from tpulint.semantic.syntax.bindings import Binding
from tpulint.semantic.syntax.flow import Flow
from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.nodes import FUNCTIONS
from tpulint.semantic.syntax.tree import SyntaxTree
from tpulint.semantic.values.value import Kind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic.values.kinds import Kinds

_PARTIAL = "functools.partial"
_HOPS = frozenset({"assign", "loop", "parameter"})
"""Ways of a value into a variable. Each is gone back once, not to take what is far away for near."""

_ORDERS = frozenset({"sorted", "list", "reversed"})
"""What gives the elements of another, in some order."""


class UnseenResults:
    """Asked by :class:`Kinds` for variables of which a number is wanted."""

    def __init__(
        self,
        kinds: Kinds,
        tree: SyntaxTree,
        names: Names,
        flow: Flow,
        definitions: Definitions,
        outside: Sequence[OutsideCall],
    ) -> None:
        self._kinds = kinds
        self._tree = tree
        self._names = names
        self._flow = flow
        self._definitions = definitions
        self._given_outside = {(call.function, name) for call in outside for name in call.results}

    def is_device_tensor(self, binding: Binding, depth: int) -> bool:
        """Whether a variable, asked for a number, is of the result of a function that is given the device's tensors."""
        if binding.kind == "parameter":
            return self._comes_so(binding)
        if binding.kind not in ("assign", "loop") or binding.value is None:
            return False
        made = _dict_of(binding.value) if binding.kind == "loop" else binding.value
        return made is not None and self.is_made_of_device(made, depth)

    def is_made_of_device(self, node: ast.expr, depth: int = 0) -> bool:
        """Whether a value, or what a dict holds, is the result of a function that is given the device's tensors."""
        for source in self._sources(node, _HOPS):
            if isinstance(source, Binding):
                if self._comes_so(source):
                    return True
            elif self._is_run_by_module(source, depth) or any(
                self._kinds.holds_device(item, depth) or self.is_moved(item) for item in self._given(source)
            ):
                return True
        return False

    def _comes_so(self, parameter: Binding) -> bool:
        """Whether calls in other files give such a result for a parameter."""
        function = parameter.statement
        if not self._given_outside or not isinstance(function, FUNCTIONS):
            return False
        return (qualified_in_file(self._tree, function), parameter.name) in self._given_outside

    def is_moved(self, node: ast.expr) -> bool:
        """Whether a variable is what a function has moved, of what nobody knows: ``data = unpack(batch, device)``."""
        bindings = self._flow.reaching(node) if isinstance(node, ast.Name) and self._kinds.mentions_device else ()
        made = [binding.value for binding in bindings if binding.kind == "assign"]
        return 0 < len(made) == len(bindings) and all(
            value is not None and self._kinds.functions.gives_moved(value) for value in made
        )

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

    def _sources(self, node: ast.expr, hops: frozenset[str]) -> Iterator[ast.Call | Binding]:
        """The calls of which a value is the result, or the parameters that it is given for.

        ``made[0] if type(made) is tuple else made`` of ``made = f(x)``, and a dictionary of what is made of the values
        of another one, ``{k: v * 2 for k, v in f(x).items()}``.
        """
        if isinstance(node, ast.Call):
            yield node
        elif isinstance(node, ast.IfExp):
            yield from self._sources(node.body, hops)
            yield from self._sources(node.orelse, hops)
        elif isinstance(node, ast.Subscript | ast.UnaryOp):
            yield from self._sources(node.value if isinstance(node, ast.Subscript) else node.operand, hops)
        elif isinstance(node, ast.BinOp):
            yield from self._sources(node.left, hops)
            yield from self._sources(node.right, hops)
        elif isinstance(node, ast.DictComp):
            yield from self._sources(node.value, hops)
        elif isinstance(node, ast.Name):
            for binding in self._flow.reaching(node):
                if binding.kind == "parameter":
                    yield binding
                for made in self._made_of(binding) if binding.kind in hops else ():
                    yield from self._sources(made, hops - {binding.kind})

    def _made_of(self, binding: Binding) -> list[ast.expr]:
        """What a variable is, or is a value of, by this binding."""
        if binding.kind == "parameter":
            function = binding.statement
            return self._definitions.arguments.of(function, binding.name) if isinstance(function, FUNCTIONS) else []
        made = binding.value if binding.kind == "assign" or binding.value is None else _dict_of(binding.value)
        return [] if made is None else [made]


def _dict_of(node: ast.expr) -> ast.expr | None:
    """The dict that ``losses.items()`` goes over, ``sorted(losses.items())`` too; None for anything else."""
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _ORDERS and node.args:
        node = node.args[0]
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.args:
        return None
    return node.func.value if node.func.attr in ("items", "values") else None
