"""Registries: tables in which decorators note classes, of which a configuration chooses one: ``HEADS[name](...)``."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator

from tpulint.semantic.other_files import Definition
from tpulint.semantic.variables import last_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex
    from tpulint.semantic.imported import Imported

    _Table = tuple[str, str]
    """The file that makes a registry, and its name there."""

_WORD = "registry"
_GIVING = ("get", "build")
_REGISTERS = "register"


def registered_classes(imported: Imported, func: ast.expr) -> list[Definition]:
    """The classes of which ``HEADS[name]``, ``HEADS.get(name)`` and ``HEADS.build`` give one, where a file has it.

    Those count that the file imports, be it through packages: others are not registered when it runs.
    """
    asked: ast.expr | None = None
    if isinstance(func, ast.Subscript):
        asked = None if isinstance(func.slice, ast.Constant) else func.value
    elif isinstance(func, ast.Attribute) and func.attr in _GIVING:
        asked = func.value
    elif isinstance(func, ast.Call) and isinstance(func.func, ast.Attribute) and func.func.attr in _GIVING:
        asked = func.func.value
    if asked is None or not _is_constant(asked):
        return []
    # What others define is asked for first: few files make a registry, and theirs are read once more for it.
    own = None if imported.variable(asked) is None and _WORD not in imported.text.lower() else imported.itself()
    table = None if own is None else _table(own, asked)
    if own is None or table is None:
        return []
    return [Definition(file, node) for file in _files(own) for node in _registered(file, table)]


def _is_constant(node: ast.expr) -> bool:
    """``HEADS``, ``registry.HEADS``: what a module holds is written so."""
    return isinstance(node, ast.Name | ast.Attribute) and last_name(node).isupper()


def _table(file: SemanticIndex, node: ast.expr) -> _Table | None:
    """The registry that a variable of a file is, its own or an imported one."""
    found = file.imported.variable(node)
    if found is None and isinstance(node, ast.Name):
        found = file, node.id
    if found is None:
        return None
    holder, name = found
    bindings = holder.names.bindings_in(holder.names.module, name)
    made = bindings[0].value if len(bindings) == 1 and bindings[0].kind == "assign" else None
    if not isinstance(made, ast.Call) or _WORD not in last_name(made.func).lower():
        return None
    return os.path.abspath(holder.source.path), name


def _files(own: SemanticIndex) -> Iterator[SemanticIndex]:
    """A file, those that it imports, and those that packages among them import."""
    seen = {own.source.path}
    waiting = [own]
    while waiting:
        file = waiting.pop(0)
        yield file
        if file is own or file.source.path.endswith("__init__.py"):
            for other in file.imported.files():
                if other.source.path not in seen:
                    seen.add(other.source.path)
                    waiting.append(other)


def _registered(file: SemanticIndex, table: _Table) -> Iterator[ast.ClassDef]:
    """Classes of a file that a decorator notes in a registry: ``@HEADS.register("wide")``."""
    if _REGISTERS not in file.source.text or table[1] not in file.source.text:
        return
    for owner in file.tree.classes:
        for decorator in owner.decorator_list:
            noted = decorator.func if isinstance(decorator, ast.Call) else decorator
            is_noted = isinstance(noted, ast.Attribute) and noted.attr.startswith(_REGISTERS)
            if is_noted and isinstance(noted, ast.Attribute) and _table(file, noted.value) == table:
                yield owner
                break
