"""Classes of torch.distributions that variables, attributes and parameters hold: ``self.prior = Laplace``."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from tpulint.semantic.functions.definitions import Definitions
from tpulint.semantic.functions.passed_arguments import defaults_of
from tpulint.semantic.project.outside import OutsideCall, qualified_in_file
from tpulint.semantic.syntax.flow import Flow
from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.nodes import FUNCTIONS, FunctionNode
from tpulint.semantic.syntax.tree import SyntaxTree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic.project.handed_objects import Kept
    from tpulint.semantic.project.imported import Imported
    from tpulint.semantic.project.other_files import Definition
    from tpulint.semantic.syntax.bindings import Binding

PREFIX = "torch.distributions."
_WORDS = ("distributions", ".log_prob(", ".rsample(")
"""Words of files that call a class of distributions, be it one that another file chooses."""
_NO_CLASSES = ("kl", "transforms", "constraints", "utils", "constraint_registry")
"""Modules of the package with other things in them."""
_DEPTH = 6


def class_of_torch(name: str) -> str:
    """``Normal`` of ``torch.distributions.normal.Normal``; empty for what is no distribution."""
    parts = name.removeprefix(PREFIX).split(".") if name.startswith(PREFIX) else [""]
    is_class = parts[-1][:1].isupper() and not parts[-1].endswith("Transform")
    return parts[-1] if is_class and parts[0] not in _NO_CLASSES else ""


class DistributionClasses:
    """Answers about one file, whose ``Kinds`` ask."""

    def __init__(
        self,
        tree: SyntaxTree,
        names: Names,
        flow: Flow,
        definitions: Definitions,
        imported: Imported,
        outside: Sequence[OutsideCall],
    ) -> None:
        self._tree = tree
        self._names = names
        self._flow = flow
        self._definitions = definitions
        self._imported = imported
        self._handed: dict[tuple[str, str], set[str]] = {}
        for call in outside:
            for parameter, name in call.distributions:
                self._handed.setdefault((call.function, parameter), set()).add(name)
        self._has_any = tree.source.has_any(_WORDS) or bool(self._handed)

    def held_by(self, node: ast.expr) -> tuple[str, ...]:
        """The classes of which a variable or attribute may hold any; none where it may be something else.

        ``self.prior(mean, deviation)`` of ``self.prior = Laplace``, or of ``super().__init__(Laplace)``.
        """
        return () if self._names.qualified(node) is not None else self.named(node)

    def named(self, node: ast.expr) -> tuple[str, ...]:
        """The classes of which an expression is one itself, be it by its own name: ``Laplace``."""
        is_name = self._has_any and isinstance(node, ast.Name | ast.Attribute)
        return tuple(sorted(self._of(node, 0))) if is_name else ()

    def _of(self, node: ast.expr, depth: int) -> frozenset[str]:
        name = self._names.qualified(node)
        if name is not None or depth > _DEPTH:
            named = class_of_torch(name or "")
            return frozenset({named} if named else ())
        if isinstance(node, ast.IfExp):
            return _all_of([self._of(side, depth + 1) for side in (node.body, node.orelse)])
        if not isinstance(node, ast.Name | ast.Attribute):
            return frozenset()
        bindings = self._flow.bindings_of(node)
        if bindings or isinstance(node, ast.Name):
            return _all_of([self._bound(binding, depth + 1) for binding in bindings])
        kept = self._imported.handed.kept_by_base(node)
        owners = [] if kept else self._definitions.classes.made(node.value)
        if owners:
            return _all_of([self.kept_by(owner, node.attr, depth) for owner in owners])
        others = self._imported.classes_of(node.value) if not kept else ()
        return _all_of([_kept_elsewhere(owner, node.attr) for owner in others]) or self._of_kept(kept, depth)

    def kept_by(self, owner: ast.ClassDef, attribute: str, depth: int = 0) -> frozenset[str]:
        """``model.prior``, of which a class of this file or a base of it keeps it."""
        own = self._names.attribute_bindings(owner, attribute)
        if own:
            return _all_of([self._bound(binding, depth + 1) for binding in own])
        return self._of_kept(self._imported.handed.kept_above(owner, attribute), depth)

    def _of_kept(self, kept: Sequence[Kept], depth: int) -> frozenset[str]:
        values = [value for file, value in kept if file is None and value is not None]
        return _all_of([self._of(value, depth + 1) for value in values]) if len(values) == len(kept) else frozenset()

    def _bound(self, binding: Binding, depth: int) -> frozenset[str]:
        if binding.kind == "parameter" and isinstance(binding.statement, FUNCTIONS):
            given = [self._of(item, depth) for item in self._given(binding.statement, binding.name)]
            handed = self._handed.get((qualified_in_file(self._tree, binding.statement), binding.name))
            return _all_of(given if handed is None else [*given, frozenset(handed)])
        value = binding.value if binding.kind == "assign" and not binding.path else None
        return frozenset() if value is None else self._of(value, depth)

    def _given(self, function: FunctionNode, parameter: str) -> list[ast.expr]:
        """What calls of this file give for a parameter, and what it is where they give nothing."""
        arguments = self._definitions.arguments
        given = [*arguments.of(function, parameter), *arguments.of_derived(function, parameter)]
        default = defaults_of(function).get(parameter)
        return given if default is None else [*given, default]


def _kept_elsewhere(owner: Definition, attribute: str) -> frozenset[str]:
    """The same of ``model.prior``, whose class another file defines."""
    if not isinstance(owner.node, ast.ClassDef):
        return frozenset()
    return owner.file.kinds.distribution_classes.kept_by(owner.node, attribute)


def _all_of(found: Sequence[frozenset[str]]) -> frozenset[str]:
    return frozenset().union(*found) if found and all(found) else frozenset()
