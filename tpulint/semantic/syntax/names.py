"""What a name in the source stands for: its qualified name."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from tpulint.semantic.syntax.bindings import Binding, name_imported
from tpulint.semantic.syntax.bound_names import BUILTINS, STARRED, STARRED_CLASSES, BoundNames
from tpulint.semantic.syntax.nodes import LOOPS
from tpulint.semantic.syntax.scopes import Scope
from tpulint.semantic.syntax.torch_facts import CANONICAL_NAMES
from tpulint.semantic.syntax.tree import SyntaxTree
from tpulint.semantic.syntax.tried_imports import is_tried_import, tried_first

READ_ALL = frozenset(f"builtins.{name}" for name in ("locals", "globals", "vars", "eval", "exec", "dir"))
"""Functions that may read any variable, by a name that nobody sees."""
_ASKED_OF_ONE = ("builtins.vars", "builtins.dir")
"""Those that are about the object alone that they are given."""
_GIVE_MODULES = ("sys.modules", "importlib.import_module", "builtins.__import__")


class Names(BoundNames):
    """Name resolution of one file. Built once, queried lazily, memoised."""

    def __init__(self, tree: SyntaxTree, starred: Callable[[str], str | None] = lambda _: None) -> None:
        super().__init__(tree)
        self._by_star = starred
        self._qualified: dict[ast.AST, str | None] = {}
        self._variables: dict[tuple[ast.AST, str], str | None] = {}
        self._calls: dict[str, list[tuple[int, ast.Call]]] | None = None
        self._rooting = self.nameable | BUILTINS
        """What a qualified name begins with."""

    def qualified(self, node: ast.AST) -> str | None:
        """Dotted name through imports and plain aliases: ``torch.cuda.amp.autocast``; None when it cannot be known.

        Builtins are ``builtins.print``. A name that is rebound, shadowed by a parameter or assigned anything but
        another dotted name is unknown.
        """
        root = node
        while root.__class__ is ast.Attribute:
            root = root.value
        if root.__class__ is not ast.Name or root.id not in self._rooting:
            return None  # most names of a file: nobody has to look for their scope
        memo = self._qualified
        if node in memo:
            return memo[node]
        memo[node] = None  # a cycle of aliases is unknown
        memo[node] = result = self._qualify(node)
        return result

    def is_taken_from(self, node: ast.expr, module: str) -> bool:
        """Whether an expression takes something from a module by its name: ``getattr(torch.optim, name)``."""
        if not isinstance(node, ast.Call) or len(node.args) < 2 or self.qualified(node.func) != "builtins.getattr":
            return False
        return self.qualified(node.args[0]) == module

    def _qualify(self, node: ast.AST) -> str | None:
        if isinstance(node, ast.Attribute):
            base = self.qualified(node.value)
            if base is None or base.startswith("builtins."):
                return None
            name = f"{base}.{node.attr}"
            return CANONICAL_NAMES.get(name, name)
        if not isinstance(node, ast.Name):
            return None
        found = self.find_name(node)
        if found is None:
            if node.id in BUILTINS:
                return f"builtins.{node.id}"
            if not self.has_star_import:
                return None
            return self._by_star(node.id) if node.id in STARRED_CLASSES else STARRED.get(node.id)
        variable = (found[0].node, node.id)
        if variable not in self._variables:
            self._variables[variable] = None  # a cycle of aliases is unknown
            names = {self.qualified_binding(binding) for binding in found[1]} - {""}
            self._variables[variable] = names.pop() if len(names) == 1 else self._tried_first(found[1])
        return self._variables[variable] or self._imported_before(node, found)

    def _tried_first(self, bindings: list[Binding]) -> str | None:
        """What a name of several bindings stands for, where versions of torch have it in two places."""
        if not is_tried_import(self._tree, bindings):
            return None
        return tried_first(bindings, [self.qualified_binding(binding) or "" for binding in bindings])

    def _imported_before(self, node: ast.Name, found: tuple[Scope, list[Binding]]) -> str | None:
        """What a name stands for in a script that gives it another value later on.

        ``data.DataLoader(...)`` of ``from torch.utils import data``, in front of ``for data in loader:``.
        """
        scope, bindings = found
        if (
            len(bindings) < 2  # then it has no other value
            or not scope.is_module
            or not any(item.kind == "import" for item in bindings)
            or self.scope_of(node) is not scope
        ):
            return None
        if any(isinstance(ancestor, LOOPS) for ancestor in self._tree.ancestors(node)):
            return None  # what stands behind it comes before it in the next turn
        if any(self._tree.function_of(item.node) is not None for item in bindings):
            return None  # declared global there: who calls it when is not known
        place = self._tree.span(node)
        before = [item for item in bindings if self._tree.span(item.node) < place]
        names = {self.qualified_binding(item) for item in before} - {""}
        return names.pop() if len(names) == 1 else None

    def outermost(self, root: ast.Name) -> tuple[ast.expr, str] | None:
        """The longest dotted name that begins with a name and has a qualified one, and that; None where it has none."""
        parents, memo = self._tree.parents, self._qualified
        node: ast.expr = root
        name = self.qualified(root)
        if name is None:
            return None
        while isinstance(parent := parents[node], ast.Attribute) and not name.startswith("builtins."):
            name = f"{name}.{parent.attr}"
            memo[parent] = name = CANONICAL_NAMES.get(name, name)
            node = parent
        return node, name

    def calls_to(self, *names: str) -> list[ast.Call]:
        """Calls whose callee is one of these qualified names, in order of position."""
        if self._calls is None:
            self._calls = {}
            for at, call in enumerate(self._tree.calls):
                if (name := self.qualified(call.func)) is not None:
                    self._calls.setdefault(name, []).append((at, call))
        # The places in the list of all calls keep the order where several names are asked for.
        found = [item for name in dict.fromkeys(names) for item in self._calls.get(name, ())]
        return [call for _, call in sorted(found, key=_place)]

    def reads_any_variable(self, call: ast.Call) -> bool:
        """``locals()``: whether a call may read any variable; ``vars(args)`` reads attributes of one object."""
        name = self.qualified(call.func)
        if name in _ASKED_OF_ONE and len(call.args) == 1 and not isinstance(call.args[0], ast.Starred):
            return self._may_be_module(call.args[0])
        return name in READ_ALL

    def calls_reading_any_variable(self) -> Iterator[ast.Call]:
        """The calls of the file that may read any variable."""
        return filter(self.reads_any_variable, self.calls_to(*READ_ALL))

    def _may_be_module(self, node: ast.expr) -> bool:
        """Whether an object is imported, or what ``sys.modules[__name__]`` gives, also by a variable."""
        given = [binding.value for binding in self.bindings(node)] if isinstance(node, ast.Name) else [node]
        if self.qualified(node) is not None:
            return True
        sources = (value.func if isinstance(value, ast.Call) else getattr(value, "value", None) for value in given)
        return any(source is not None and self.qualified(source) in _GIVE_MODULES for source in sources)

    def qualified_binding(self, binding: Binding) -> str | None:
        """Dotted name a binding gives; "" when it says nothing (``x = None`` beside an import in try/except)."""
        if binding.kind == "import":
            alias, statement = binding.node, binding.statement
            assert isinstance(alias, ast.alias)
            if isinstance(statement, ast.ImportFrom):
                if statement.level:
                    return None
                name = f"{statement.module}.{alias.name}"
            else:
                name = alias.name if alias.asname else name_imported(alias, statement)
            return CANONICAL_NAMES.get(name, name)
        if binding.kind == "assign" and not binding.path and binding.value is not None:
            if isinstance(binding.value, ast.Name | ast.Attribute):
                return self.qualified(binding.value)
            if isinstance(binding.value, ast.Constant) and binding.value.value is None:
                return ""
        return None


def _place(item: tuple[int, ast.Call]) -> int:
    return item[0]
