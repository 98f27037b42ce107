"""Models in evaluation mode that are handed to code of other files, which takes gradients through them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from tpulint.semantic.project.other_files import Definition

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_GRADIENTS = re.compile(r"\.backward\(|\bautograd\.grad\(")
_ATTACKS = re.compile(r"(?i)attack|advers|perturb|fgsm|pgd")
"""What is called so changes its inputs by the gradient of a model."""


def attacked_models(index: SemanticIndex, switches: Iterable[ast.Call]) -> Iterator[tuple[ast.Call, ast.Call]]:
    """Calls that are given a model right behind its ``eval()`` and in front of its ``train()``, each with the first."""
    for switch in switches:
        model = index.text(switch.func.value) if isinstance(switch.func, ast.Attribute) else ""
        suite = index.tree.suite_of(index.statement_of(switch))
        for statement in suite[suite.index(index.statement_of(switch)) + 1 :]:
            if any(index.text(call.func) in (f"{model}.train", f"{model}.eval") for call in _calls(index, statement)):
                break
            for call in _calls(index, statement):
                given = (*call.args, *(keyword.value for keyword in call.keywords))
                if any(index.text(item) == model for item in given) and _takes_gradients(index, call):
                    yield call, switch


def _calls(index: SemanticIndex, statement: ast.stmt) -> list[ast.Call]:
    return [node for node in index.tree.inside(statement, functions=False) if isinstance(node, ast.Call)]


def _takes_gradients(index: SemanticIndex, call: ast.Call) -> bool:
    """Whether what runs in a call goes back through what it is given; by its name, where that is not seen."""
    if not index.regions.records_gradient(call):
        return False
    found = index.imported.all_called(call)
    if not found:
        return index.definitions.function_called(call) is None and bool(_ATTACKS.search(index.text(call.func)))
    return any(_GRADIENTS.search(_around(function)) for function in found)


def _around(function: Definition) -> str:
    """The text of a function, and of the class whose method it is: it may leave the work to others."""
    owner = function.file.tree.class_of(function.node)
    return function.file.text(function.node if owner is None else owner)
