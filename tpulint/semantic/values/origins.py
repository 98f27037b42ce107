"""Where a value comes from: the expressions it may have been, through variables, namespaces and command lines."""

from __future__ import annotations

import ast

from tpulint.records import NamedTuple
from tpulint.semantic.syntax.bindings import element_at
from tpulint.semantic.syntax.nodes import FUNCTIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex
    from tpulint.semantic.syntax.bindings import Binding

_DEPTH = 8


class Origin(NamedTuple):
    """One expression that a value may come from."""

    node: ast.expr
    by_user: bool = False
    """Whether the command line can put something else in its place."""


def origins(index: SemanticIndex, node: ast.expr) -> list[Origin]:
    """What an expression may come from, nearest first. Parts that cannot be followed are in it as they stand."""
    return list(dict.fromkeys(_Trail(index).follow(node, False, 0)))


def written_at(index: SemanticIndex, node: ast.expr) -> ast.expr:
    """The place where a value is written down: behind variables and options that have only this one value.

    The expression itself when there is no such place.
    """
    trail, current = _Trail(index), node
    for _ in range(_DEPTH):
        values = trail.values_of(current)
        if len(values) != 1 or not trail.is_sole(current):
            return current
        current = values[0].node
    return current


class _Trail:
    def __init__(self, index: SemanticIndex) -> None:
        self._index = index
        self._seen: set[ast.AST] = set()

    def follow(self, node: ast.expr, by_user: bool, depth: int) -> list[Origin]:
        if depth > _DEPTH or node in self._seen:
            return []
        self._seen.add(node)
        if isinstance(node, ast.IfExp):
            parts = [Origin(node.body), Origin(node.orelse)]
        elif isinstance(node, ast.BoolOp):
            parts = [Origin(value) for value in node.values]
        else:
            parts = self.values_of(node)
        if not parts:
            return [Origin(node, by_user)]
        return [origin for part in parts for origin in self.follow(part.node, by_user or part.by_user, depth + 1)]

    def values_of(self, node: ast.expr) -> list[Origin]:
        """What a variable or an attribute may have been given; empty when it is not known."""
        if isinstance(node, ast.Name):
            return [Origin(value) for value in self._name_values(node)]
        if isinstance(node, ast.Attribute):
            defaults = [Origin(default, True) for default in self._command_line_defaults(node)]
            return [*(Origin(value, bool(defaults)) for value in self._attribute_values(node)), *defaults]
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            return [Origin(value) for value in self._item_values(node, node.slice.value)]
        return []

    def is_sole(self, node: ast.expr) -> bool:
        """Whether a variable has no other value anywhere in the file."""
        return not isinstance(node, ast.Name) or len(self._index.names.bindings(node)) == 1

    def _name_values(self, node: ast.Name) -> list[ast.expr]:
        values: list[ast.expr] = []
        for binding in self._index.flow.reaching(node):
            parts = [] if binding.value is None else self._parts(binding.value, binding.path)
            if binding.kind == "assign" and parts:
                values.extend(parts)
            elif binding.kind == "parameter":
                values.extend(self._parameter_values(binding))
            else:
                return []
        return values

    def _item_values(self, node: ast.Subscript, key: object) -> list[ast.expr]:
        """``settings["backend"]`` of a dictionary that is written out, of which nothing sets this item."""
        bindings = self._index.flow.reaching(node.value) if isinstance(node.value, ast.Name) else ()
        made = bindings[0].value if len(bindings) == 1 and not bindings[0].path else None
        if not isinstance(made, ast.Dict) or None in made.keys or not isinstance(node.value, ast.Name):
            return []
        users = [self._index.parent(load) for load in self._index.names.loads_of(node.value)]
        for user in users:
            if isinstance(user, ast.Subscript) and not isinstance(user.ctx, ast.Load):
                return []
        items = zip(made.keys, made.values, strict=True)
        found = [value for name, value in items if isinstance(name, ast.Constant) and name.value == key]
        return found[-1:]

    def _parts(self, value: ast.expr, path: tuple[int, ...]) -> list[ast.expr]:
        """What a place of a pair may be, whichever is chosen or returned; empty when one of them is not known."""
        if not path:
            return [value]
        chosen = [value.body, value.orelse] if isinstance(value, ast.IfExp) else []
        if isinstance(value, ast.Call):
            function = self._index.definitions.function_called(value)
            chosen = [] if function is None else self._index.definitions.returned_by(function)
        if chosen:
            parts = [self._parts(one, path) for one in chosen]
            return [part for one in parts for part in one] if all(parts) else []
        part = element_at(value, path)
        return [] if part is None else [part]

    def _parameter_values(self, binding: Binding) -> list[ast.expr]:
        function = binding.statement
        if not isinstance(function, FUNCTIONS):
            return []
        definitions = self._index.definitions
        passed = definitions.arguments.of(function, binding.name)
        launches = [launch for launch in self._index.launches.launches if function in launch.functions]
        started = (launch.passed_for(function, binding.name) for launch in launches)
        passed = [*passed, *(value for value in started if value is not None)]
        if binding.value is not None and len(passed) < max(1, len(definitions.calls_of(function))):
            return [*passed, binding.value]
        return passed

    def _attribute_values(self, node: ast.Attribute) -> list[ast.expr]:
        bindings = self._index.flow.reaching_attribute(node)
        if bindings:
            values = [binding.value for binding in bindings if binding.kind == "assign" and not binding.path]
            return [value for value in values if value is not None]
        return [store.value for store in self._index.device_counts.attribute_stores(node)]

    def _command_line_defaults(self, node: ast.Attribute) -> list[ast.expr]:
        """Defaults of ``add_argument("--dist-backend", default="nccl")`` for ``args.dist_backend``."""
        if not isinstance(node.value, ast.Name):
            return []
        found = []
        for call in self._index.calls:
            if not isinstance(call.func, ast.Attribute) or call.func.attr != "add_argument":
                continue
            given = {keyword.arg: keyword.value for keyword in call.keywords}
            names = [item.value for item in (*call.args, given.get("dest")) if isinstance(item, ast.Constant)]
            default = given.get("default")
            if default is not None and any(_option(name) == node.attr for name in names):
                found.append(default)
        return found


def _option(name: object) -> str:
    """Attribute that argparse makes of an option's name."""
    return name.lstrip("-").replace("-", "_") if isinstance(name, str) else ""
