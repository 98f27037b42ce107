"""Modules of a package one of which is imported when the program runs: ``importlib.import_module("data." + name)``."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tpulint.semantic.project.other_files import Definition
from tpulint.semantic.syntax.flow import Flow
from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.nodes import FUNCTIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex
    from tpulint.semantic.project.imported import Imported

_IMPORT, _NAMED, _FORMAT = "import_module", "__import__(", "format"
_EVALUATES = r"(?<![\w.])eval\(|builtins\.eval\("
"""What Python evaluates, and not ``model.eval()``."""
_NAMING = (ast.Name, ast.Attribute, ast.Subscript)
_MOST_FILES = 24
"""From which a file imports all."""
_CHOOSING = frozenset({f"importlib.{_IMPORT}", "builtins.__import__", "builtins.eval"})


class ChosenModules:
    """Answers about one file, whose ``Imported`` asks."""

    def __init__(self, names: Names, flow: Flow, imported: Imported) -> None:
        self._names = names
        self._flow = flow
        self._imported = imported
        text = imported.text
        self._are_used = _IMPORT in text or _NAMED in text or re.search(_EVALUATES, text) is not None

    def members(self, node: ast.expr, name: str) -> list[Definition]:
        """What modules of the package define under a name, where an expression or a variable gives one of them."""
        call = self._choice(node)
        if call is None:
            return []
        if self._names.qualified(call.func) == "builtins.eval":
            return self._imported_under(name)
        package = self._package(call)
        return [] if package is None else self._imported.of_package(package, name)

    def classes(self, node: ast.expr) -> list[Definition]:
        """All classes of the package of which an expression or a variable gives a module."""
        call = self._choice(node)
        package = None if call is None else self._package(call)
        return [] if package is None else self._imported.of_package(package)

    def _choice(self, node: ast.expr) -> ast.Call | None:
        """The call that chooses a module, which an expression or a variable gives."""
        if not self._are_used:
            return None
        bindings = self._flow.bindings_of(node) if isinstance(node, ast.Name) else ()
        made = bindings[0].value if len(bindings) == 1 and not bindings[0].path else None
        call = made if isinstance(node, ast.Name) else node
        is_choice = isinstance(call, ast.Call) and self._names.qualified(call.func) in _CHOOSING
        return call if isinstance(call, ast.Call) and is_choice else None

    def _package(self, call: ast.Call) -> str | None:
        """The package whose module a call imports, ``""`` for one beside the program; None where nobody knows."""
        given = [*call.args[:1], *(item.value for item in call.keywords if item.arg == "name")]
        name = self._text_given(given[0]) if given else None
        package, dot, _ = ("" if name is None else _beginning(name)).rpartition(".")
        is_chosen = self._names.qualified(call.func) == "builtins.__import__" and bool(given)
        if is_chosen and not isinstance(given[0], ast.Constant):
            package, dot = "", "."  # a module beside the program
        return package if dot else None

    def _text_given(self, node: ast.expr) -> ast.expr:
        """``"models." + name`` of a variable that is set to it once."""
        bindings = self._names.bindings(node) if isinstance(node, ast.Name) else []
        value = bindings[0].value if len(bindings) == 1 and bindings[0].kind == "assign" else None
        return node if value is None or bindings[0].path else value

    def evaluated(self, node: ast.expr | None) -> list[Definition]:
        """What a text names that Python evaluates: ``eval("models." + name)``, ``eval("models." + name + ".Net")``.

        The one module after which a name comes that nobody knows, or what modules of the package define so.
        """
        if not self._are_used or not isinstance(node, ast.Call) or len(node.args) != 1:
            return []
        if self._names.qualified(node.func) != "builtins.eval" or isinstance(node.args[0], ast.Constant):
            return []
        package, dot, _ = _beginning(node.args[0]).rpartition(".")
        _, last_dot, name = _ending(node.args[0]).rpartition(".")
        itself = self._imported.itself() if dot else None
        if itself is None:
            return []
        if last_dot:
            return self._imported.of_package(package, name)
        module = self._imported.exported(package, itself) if "." not in package else None
        return [module] if module is not None and isinstance(module.node, ast.Module) else []

    def evaluated_alone(self, node: ast.expr | None) -> list[Definition]:
        """What ``eval(name)`` may name: what the file has of others, and names nowhere else."""
        is_choice = isinstance(node, ast.Call) and len(node.args) == 1 and self._choice(node) is node
        if not is_choice or self._names.qualified(node.func) != "builtins.eval":  # type: ignore[union-attr]
            return []
        itself = self._imported.itself() if isinstance(node.args[0], _NAMING) else None  # type: ignore[union-attr]
        found = [] if itself is None else _brought_to(itself, {itself})
        return [item for item in found if itself is not None and not itself.tree.names_called(_name_of(item))]

    def _imported_under(self, name: str) -> list[Definition]:
        """What modules that the file imports define under a name: of ``eval(args.model).Model`` one of them."""
        found = (file.imported.exported(name, file) for file in self._imported.files())
        return [item for item in found if item is not None]


def _brought_to(file: SemanticIndex, seen: set[SemanticIndex]) -> Iterator[Definition]:
    """The classes and functions that imports at the top of a file bring, be it by ``from renderer import *``."""
    for statement in file.tree.module.body:
        if not isinstance(statement, ast.ImportFrom):
            continue
        for other in file.imported.starred(statement):
            if other not in seen and len(seen) < _MOST_FILES:
                seen.add(other)
                own = (node for node in other.tree.module.body if isinstance(node, (*FUNCTIONS, ast.ClassDef)))
                yield from (Definition(other, node) for node in own)
                yield from _brought_to(other, seen)
        for alias in statement.names:
            item = file.imported.exported(alias.asname or alias.name, file) if alias.name != "*" else None
            if item is not None and not isinstance(item.node, ast.Module):
                yield item


def _name_of(item: Definition) -> str:
    return "" if isinstance(item.node, ast.Module) else item.node.name


def _beginning(node: ast.expr) -> str:
    """What a text begins with: ``models.`` of ``"models." + name``, ``f"models.{name}"``, ``"models.%s" % name``."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _beginning(node.left)
    if isinstance(node, ast.JoinedStr) and node.values:
        return _beginning(node.values[0]) if isinstance(node.values[0], ast.Constant) else ""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
        return _text(node.left).partition("%")[0]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == _FORMAT:
        return _text(node.func.value).partition("{")[0]
    return _text(node)


def _ending(node: ast.expr) -> str:
    """What a text ends with: ``.Net`` of ``"models." + name + ".Net"``, ``f"models.{name}.Net"``."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _text(node.right)
    if isinstance(node, ast.JoinedStr) and node.values:
        return _text(node.values[-1])
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
        return re.split(r"%\w", _text(node.left))[-1]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == _FORMAT:
        return _text(node.func.value).rpartition("}")[2]
    return ""


def _text(node: ast.expr) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
