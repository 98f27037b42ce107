"""Fields of records, and what a call gives for one: ``Output(loss, logits=y)`` of a namedtuple or dataclass."""

from __future__ import annotations

import ast

from tpulint.semantic.project.imported import Imported
from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.nodes import FUNCTIONS
from tpulint.semantic.syntax.tree import SyntaxTree
from tpulint.semantic.syntax.variables import last_name

_TUPLES = ("collections.namedtuple", "typing.NamedTuple")


class RecordFields:
    """Answers about one file and the records that it imports."""

    def __init__(self, tree: SyntaxTree, names: Names, imported: Imported) -> None:
        self._tree = tree
        self._names = names
        self._imported = imported

    def given(self, call: ast.Call, name: str) -> ast.expr | None:
        """What a call that makes a record gives for a field; None where it makes none, or what is not seen."""
        fields = self._fields_of(call.func)
        if name not in fields or any(isinstance(item, ast.Starred) for item in call.args):
            return None
        at = fields.index(name)
        if at < len(call.args):
            return call.args[at]
        return next((item.value for item in call.keywords if item.arg == name), None)

    def are_made_by(self, call: ast.Call) -> bool:
        """Whether a call makes a record."""
        return bool(self._fields_of(call.func))

    def _fields_of(self, func: ast.expr) -> list[str]:
        """Names of the fields of what a call makes, in order; none where it makes no record."""
        here = self._names.class_named(func)
        if here is not None:
            return _fields(self._names, here)
        if isinstance(func, ast.Name):
            bindings = self._names.bindings(func)
            made = bindings[0].value if len(bindings) == 1 else None
            if isinstance(made, ast.Call):
                return _fields_listed(made) if self._names.qualified(made.func) in _TUPLES else []
        other = self._imported.definition(func)
        if other is not None and isinstance(other.node, ast.ClassDef):
            return _fields(other.file.names, other.node)
        return []


def _fields(names: Names, owner: ast.ClassDef) -> list[str]:
    """Of ``class Output(NamedTuple)``, or of a dataclass that makes its objects itself."""
    is_record = any(names.qualified(base) == "typing.NamedTuple" for base in owner.bases)
    for item in owner.decorator_list:
        is_record = is_record or last_name(item.func if isinstance(item, ast.Call) else item) == "dataclass"
    own = {item.name for item in owner.body if isinstance(item, FUNCTIONS)}
    above = names.classes_above(owner)[1:]
    if not is_record or own & {"__init__", "__new__", "__post_init__"} or above:
        return []
    stated = (item.target for item in owner.body if isinstance(item, ast.AnnAssign))
    return [target.id for target in stated if isinstance(target, ast.Name)]


def _fields_listed(made: ast.Call) -> list[str]:
    """Of ``namedtuple("Output", ["loss", "logits"])``, or ``"loss logits"``, or ``[("loss", Tensor), ...]``."""
    listed = made.args[1] if len(made.args) > 1 else None
    if isinstance(listed, ast.Constant) and isinstance(listed.value, str):
        return listed.value.replace(",", " ").split()
    if not isinstance(listed, ast.List | ast.Tuple):
        return []
    names = [item.elts[0] if isinstance(item, ast.Tuple) and item.elts else item for item in listed.elts]
    texts = [item.value for item in names if isinstance(item, ast.Constant) and isinstance(item.value, str)]
    return texts if len(texts) == len(names) else []
