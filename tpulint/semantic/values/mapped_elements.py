"""Elements of a tensor that Python goes through to make another one: ``torch.ByteTensor(list(map(lambda s: ..., x)))``.

Measured on torch_xla 2.9: whatever torch makes of a list of tensors, it reads each of them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.semantic.syntax.torch_facts import CUDA_TENSOR_TYPES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

MADE_OF_ELEMENTS = frozenset(
    f"torch.{name}" for name in ("tensor", "as_tensor", "asarray", "Tensor", *CUDA_TENSOR_TYPES)
)
"""Functions of torch that make one tensor of a list of numbers."""
LISTS = frozenset({"builtins.list", "builtins.tuple"})
_COMPUTED = (ast.Name, ast.Constant, ast.Compare, ast.BinOp, ast.UnaryOp, ast.cmpop, ast.operator, ast.unaryop)
_OF_PYTHON = (ast.Not, ast.In, ast.NotIn, ast.Is, ast.IsNot)
"""What gives no tensor."""
_OF_ONE = 2
"""Arguments of ``map`` that goes through one list."""


def mapped_elements(index: SemanticIndex) -> Iterator[tuple[ast.Call, ast.expr]]:
    """Calls that make a tensor of what a lambda computes of each element of another, with that other one."""
    for call in index.calls_to(*sorted(MADE_OF_ELEMENTS)) if "lambda" in index.source.text else ():
        listed = call.args[0] if call.args else None
        if not isinstance(listed, ast.Call) or index.qualified_name(listed.func) not in LISTS or not listed.args:
            continue
        mapped = listed.args[0]
        if not isinstance(mapped, ast.Call) or index.qualified_name(mapped.func) != "builtins.map":
            continue
        if len(mapped.args) == _OF_ONE and _keeps_tensor(mapped.args[0]):
            yield call, mapped.args[1]


def _keeps_tensor(function: ast.expr) -> bool:
    """``lambda s: s == 0``: whether a function gives a tensor of what it is given."""
    if not isinstance(function, ast.Lambda) or len(function.args.args) != 1:
        return False
    parts = [part for part in ast.walk(function.body) if not isinstance(part, ast.expr_context)]
    names = {part.id for part in parts if isinstance(part, ast.Name)}
    is_computed = all(isinstance(part, _COMPUTED) and not isinstance(part, _OF_PYTHON) for part in parts)
    return is_computed and names == {function.args.args[0].arg}
