"""Registries: tables in which decorators note classes, of which a configuration chooses one: ``HEADS[name](...)``.

timm has one of functions that make models, ``@register_model``, of which ``create_model(name)`` calls one.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator

from tpulint.semantic.project.other_files import Definition
from tpulint.semantic.syntax.nodes import FUNCTIONS, FunctionNode
from tpulint.semantic.syntax.variables import last_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex
    from tpulint.semantic.project.imported import Imported
    from tpulint.semantic.syntax.names import Names

    _Table = tuple[str, str]
    """The file that makes a registry, and its name there."""

_WORD = "registry"
_GIVING = ("get", "build")
_REGISTERS = "regist"
"""`register`, `registe_with_name`: how decorators of registries begin."""
_TIMM, _CREATES, _NOTES_MODEL = "timm.", "create_model", "register_model"


def noted(imported: Imported, names: Names, func: ast.expr) -> list[Definition]:
    """The classes and functions of which ``models[name]`` gives one, where a decorator of the project notes them.

    ``def register(name): ...`` of the file that has the dictionary puts in it what it decorates: ``@register("net")``.
    """
    if not isinstance(func, ast.Subscript) or isinstance(func.slice, ast.Constant):
        return []
    if not isinstance(func.value, ast.Name | ast.Attribute):
        return []
    elsewhere = imported.variable(func.value)
    is_own = elsewhere is None and isinstance(func.value, ast.Name) and _is_empty(names, func.value.id)
    own = imported.itself() if is_own else None
    holder, name = elsewhere or (own, last_name(func.value))
    if holder is None or not _is_empty(holder.names, name):
        return []
    makers = [item for item in holder.tree.module.body if isinstance(item, FUNCTIONS) and _notes_in(item, name)]
    return [
        Definition(file, item)
        for maker in makers
        for file in (holder, *holder.imported.others_mentioning(maker.name))
        for item in file.tree.module.body
        if isinstance(item, (*FUNCTIONS, ast.ClassDef))
        and any(_is(file, holder, one, maker) for one in item.decorator_list)
    ]


def _is_empty(names: Names, name: str) -> bool:
    """Whether a variable of a module is a dictionary that begins empty."""
    bindings = names.bindings_in(names.module, name)
    made = bindings[0].value if len(bindings) == 1 and bindings[0].kind == "assign" else None
    if isinstance(made, ast.Call):
        return last_name(made.func) in ("dict", "OrderedDict") and not made.args and not made.keywords
    return isinstance(made, ast.Dict) and not made.keys


def _notes_in(function: ast.AST, name: str) -> bool:
    """Whether a function puts things into a dictionary: ``models[key] = made``."""
    stores = (
        node for node in ast.walk(function) if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store)
    )
    return any(isinstance(node.value, ast.Name) and node.value.id == name for node in stores)


def _is(file: SemanticIndex, holder: SemanticIndex, decorator: ast.expr, maker: ast.AST) -> bool:
    """Whether a decorator of a file is a function of another, or of the same."""
    func = decorator.func if isinstance(decorator, ast.Call) else decorator
    found = file.imported.definition_in(func, holder if file is holder else None)
    return found is not None and found.node is maker


def registered(imported: Imported, func: ast.expr) -> list[Definition]:
    """The classes of which ``HEADS[name]``, ``HEADS.get(name)`` and ``HEADS.build`` give one, where a file has it.

    Or the functions that make one. Those count that the file imports, be it through packages: others are not
    registered when it runs.
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
    elsewhere = imported.variable(asked)
    own = None if elsewhere is None and _WORD not in imported.text.lower() else imported.itself()
    table = None if own is None else _table(own, asked, elsewhere)
    if own is None or table is None:
        return []
    holder = own.imported.file(table[0])
    return [Definition(file, node) for file in _files(own, holder) for node in _registered(file, table)]


def registered_by_name(imported: Imported, node: ast.expr) -> list[Definition]:
    """The functions of which ``MODELS.get(name)`` or ``MODELS[name]`` is one, where nothing else is registered."""
    is_get = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get"
    found = registered(imported, node) if is_get or isinstance(node, ast.Subscript) else []
    return [] if any(item.is_class for item in found) else found


def registered_functions(imported: Imported, names: Names, call: ast.Call) -> list[Definition]:
    """The functions of which ``timm.create_model(name)`` calls one, of those that imported files register.

    A name that is written out chooses one. timm's own are not among them.
    """
    if last_name(call.func) != _CREATES or not (names.qualified(call.func) or "").startswith(_TIMM):
        return []
    given = [*call.args[:1], *(item.value for item in call.keywords if item.arg == "model_name")]
    own = imported.itself()
    if own is None or not given:
        return []
    wanted = given[0].value if isinstance(given[0], ast.Constant) else None
    return [
        Definition(file, statement)
        for file in _files(own)
        if _NOTES_MODEL in file.source.text
        for statement in file.tree.module.body
        if isinstance(statement, FUNCTIONS) and wanted in (None, statement.name)
        if any(last_name(item) == _NOTES_MODEL for item in statement.decorator_list)
    ]


def _is_constant(node: ast.expr) -> bool:
    """``HEADS``, ``registry.HEADS``: what a module holds is written so."""
    return isinstance(node, ast.Name | ast.Attribute) and last_name(node).isupper()


def _table(file: SemanticIndex, node: ast.expr, elsewhere: tuple[SemanticIndex, str] | None = None) -> _Table | None:
    """The registry that a variable of a file is, its own or an imported one, of which may be known which."""
    found = elsewhere or file.imported.variable(node)
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


def _files(own: SemanticIndex, holder: SemanticIndex | None = None) -> Iterator[SemanticIndex]:
    """A file, those that it imports, and those that packages among them import.

    So for the file that has the registry, which may be imported late, and whose package runs first.
    """
    first = [file for file in (own, holder) if file is not None]
    waiting = [*first, *(package for file in first for package in file.imported.package())]
    seen = {file.source.path for file in waiting}
    while waiting:
        file = waiting.pop(0)
        yield file
        if file in first or file.source.path.endswith("__init__.py"):
            for other in file.imported.files():
                if other.source.path not in seen:
                    seen.add(other.source.path)
                    waiting.append(other)


def _registered(file: SemanticIndex, table: _Table) -> Iterator[ast.ClassDef | FunctionNode]:
    """Classes and functions of a file that a decorator notes in a registry: ``@HEADS.register("wide")``."""
    if _REGISTERS not in file.source.text or table[1] not in file.source.text:
        return
    functions = [item for item in file.tree.module.body if isinstance(item, FUNCTIONS)]
    for owner in (*file.tree.classes, *functions):
        for decorator in owner.decorator_list:
            noted = decorator.func if isinstance(decorator, ast.Call) else decorator
            is_noted = isinstance(noted, ast.Attribute) and noted.attr.startswith(_REGISTERS)
            if is_noted and isinstance(noted, ast.Attribute) and _table(file, noted.value) == table:
                yield owner
                break
