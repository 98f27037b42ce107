"""Classes that a function of the file looks up in a module of a package, by their names and their base class.

``for name, cls in module.__dict__.items(): if name.lower() == wanted and issubclass(cls, BaseModel): model = cls``
"""

from __future__ import annotations

import ast

from tpulint.semantic.project.other_files import Definition, bases_above
from tpulint.semantic.syntax.bindings import Binding
from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.nodes import FUNCTIONS
from tpulint.semantic.syntax.tree import SyntaxTree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic.project.imported import Imported

_ALL = "__dict__.items"
_DEPTH = 4


class LookedUpClasses:
    """Answers about one file, whose ``ChosenClasses`` asks."""

    def __init__(self, tree: SyntaxTree, names: Names, imported: Imported) -> None:
        self._tree = tree
        self._names = names
        self._imported = imported
        self._found: dict[str, list[Definition]] = {}

    def of(self, func: ast.expr, depth: int = 0) -> list[Definition]:
        """All classes one of which an expression may be: ``find(name)``, or a variable with what that returns."""
        if depth > _DEPTH:
            return []
        if isinstance(func, ast.Call):
            bindings = self._names.bindings(func.func) if isinstance(func.func, ast.Name) else []
            function = bindings[0].node if len(bindings) == 1 else None
            returns = self._tree.nodes_in(function, ast.Return) if isinstance(function, FUNCTIONS) else []
            last = returns[-1].value if returns else None
            return self.of(last, depth + 1) if isinstance(last, ast.Name) else []
        bindings = self._names.bindings(func) if isinstance(func, ast.Name) else []
        if len(bindings) == 1 and bindings[0].kind == "loop":
            return self._in_module(bindings[0])
        values: list[ast.expr | None] = [one.value for one in bindings if one.kind == "assign" and not one.path]
        chosen: list[ast.expr] = [value for value in values if value and not isinstance(value, ast.Constant)]
        is_one = len(values) == len(bindings) and len(chosen) == 1
        return self.of(chosen[0], depth + 1) if is_one else []

    def _in_module(self, found: Binding) -> list[Definition]:
        """The classes of a package that are derived from the one which a loop over a module of it asks for."""
        module = found.value.func if isinstance(found.value, ast.Call) else None
        text = "" if module is None or found.path != (1,) else self._tree.text(module)
        base = self._base_asked(found)
        if not text.endswith(_ALL) or base is None or not isinstance(module, ast.Attribute):
            return []
        if found.name not in self._found:
            assert isinstance(module.value, ast.Attribute)
            every = self._imported.chosen_modules.classes(module.value.value)
            derived = [one for one in every if any(above.node is base.node for above in bases_above(one))]
            self._found[found.name] = derived
        return self._found[found.name]

    def _base_asked(self, found: Binding) -> Definition | None:
        """``BaseModel`` of ``issubclass(cls, BaseModel)``"""
        for call in self._tree.nodes_in(found.statement, ast.Call):
            if self._names.qualified(call.func) == "builtins.issubclass" and len(call.args) == 2:
                asked, base = call.args
                if isinstance(asked, ast.Name) and asked.id == found.name:
                    definition = self._imported.definition(base)
                    return definition if definition is not None and definition.is_class else None
        return None
