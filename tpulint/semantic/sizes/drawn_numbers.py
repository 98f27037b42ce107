"""Numbers of the host that are drawn: one by one, or as random tensors that are made into numbers."""

from __future__ import annotations

import ast

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex
    from tpulint.semantic.syntax.bindings import Binding

_DRAWS = frozenset({
    "random.random", "random.randint", "random.randrange", "random.uniform", "random.choice", "random.gauss",
    "numpy.random.randint", "numpy.random.rand", "numpy.random.random", "numpy.random.uniform", "numpy.random.choice",
    "numpy.random.random_sample", "numpy.random.beta", "random.betavariate", "random.normalvariate",
    "random.triangular", "numpy.random.normal", "numpy.random.geometric", "numpy.random.poisson",
    "numpy.random.binomial",
})  # fmt: skip
"""Calls that draw one number each, when they are given no size."""
_ONE_NUMBER = {
    "numpy.random.randint": 2, "numpy.random.rand": 0, "numpy.random.random": 0, "numpy.random.uniform": 2,
    "numpy.random.choice": 1, "numpy.random.random_sample": 0, "numpy.random.beta": 2, "numpy.random.normal": 2,
    "numpy.random.geometric": 1, "numpy.random.poisson": 1, "numpy.random.binomial": 2,
}  # fmt: skip
"""Most arguments with which a draw of NumPy is a single number."""
_SEVERAL = frozenset({"random.sample", "random.choices", "numpy.random.permutation", "numpy.random.choice"})
"""Calls that draw several of what they are given, or put it into another order."""
_NUMBERED = frozenset({"builtins.range", "numpy.arange", "builtins.len"})
_CASTS = frozenset({"long", "int", "float", "squeeze"})
"""Methods of a tensor of one number that give the same number."""


def draws_one(index: SemanticIndex, call: ast.Call) -> bool:
    """Whether a call draws a single number."""
    name = index.qualified_name(call.func)
    few = len(call.args) <= _ONE_NUMBER.get(name or "", 9) and not any(k.arg == "size" for k in call.keywords)
    return name in _DRAWS and few


def is_draw(index: SemanticIndex, cause: ast.AST | None) -> bool:
    """Whether what changes is drawn anew: ``max(5, round(random.gauss(70, 5)))``."""
    return isinstance(cause, ast.Call) and index.qualified_name(cause.func) in _DRAWS


def drawn_tensor(index: SemanticIndex, node: ast.expr) -> ast.Call | None:
    """A random tensor of the host of which a number is made: ``torch.randint(9, (1,)).long()``."""
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _CASTS:
        node = node.func.value
    name = index.qualified_name(node.func) if isinstance(node, ast.Call) else None
    return node if isinstance(node, ast.Call) and name in ("torch.randint", "torch.rand") else None


def drawn_places(index: SemanticIndex, binding: Binding) -> ast.Call | None:
    """The draw whose numbers a loop goes through: ``for c in random.sample(range(9), 3)``."""
    node = None if binding.path else _made(index, binding.value)
    while isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):  # `permutation(9)[:3]`
        node = _made(index, node.value)
    if not isinstance(node, ast.Call) or not node.args or index.qualified_name(node.func) not in _SEVERAL:
        return None
    return node if _are_numbers(index, node.args[0]) else None


def _are_numbers(index: SemanticIndex, node: ast.expr) -> bool:
    """Whether elements of ``range(n)``, or as many numbers as ``n`` or ``len(rows)`` says, are drawn."""
    made = _made(index, node)
    if not isinstance(made, ast.Call):
        return isinstance(made, ast.Constant) and isinstance(made.value, int)
    name = index.qualified_name(made.func)
    if name == "builtins.list":
        return len(made.args) == 1 and _are_numbers(index, made.args[0])
    return name in _NUMBERED


def _made(index: SemanticIndex, node: ast.expr | None) -> ast.expr | None:
    """What a variable is set to, once."""
    bindings = index.flow.reaching(node) if isinstance(node, ast.Name) else ()
    is_one = len(bindings) == 1 and bindings[0].kind == "assign" and not bindings[0].path
    return bindings[0].value if is_one else node
