"""Numbers that go on with the turns until they come to a bound: ``min(4 + step, 16)``, ``max(1, 9 - step)``."""

from __future__ import annotations

import ast

from tpulint.semantic.syntax.nodes import FUNCTIONS, LOOPS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex
    from tpulint.semantic.syntax.bindings import Binding

_DEPTH = 8
_KEEPING = frozenset({"builtins.int", "builtins.round", "math.floor", "math.ceil"})


def goes_to_bound(index: SemanticIndex, call: ast.Call, causes: list[ast.AST | None]) -> ast.AST | None:
    """What changes in one of the numbers that the least, or the largest, is taken of.

    The least of a length and what is left, ``min(length, total - at)``, is the length in all turns but the last.
    """
    changing = [(item, cause) for item, cause in zip(call.args, causes, strict=True) if cause is not None]
    if len(changing) != 1:
        return None
    item, cause = changing[0]
    wanted = 1 if index.qualified_name(call.func) == "builtins.min" else -1
    return cause if _direction(index, item, cause, 0) == wanted else None


def _direction(index: SemanticIndex, node: ast.expr, cause: ast.AST, depth: int, is_whole: bool = False) -> int:
    """1 where a number is larger in every turn, -1 where it is smaller, 0 where that is not known.

    What is divided and then made ``is_whole``, ``int(step / 1000)``, is the same for many turns.
    """
    if depth > _DEPTH:
        return 0
    if isinstance(node, ast.BinOp):
        left, right = (_direction(index, side, cause, depth + 1, is_whole) for side in (node.left, node.right))
        if isinstance(node.op, ast.Div):
            return 0 if right or is_whole or not _divides(node.right) else left
        if isinstance(node.op, ast.Add):
            return left or right
        if isinstance(node.op, ast.Sub):
            return left or -right
        return left or right if isinstance(node.op, ast.Mult) and _is_positive(node) else 0
    if isinstance(node, ast.Call) and index.qualified_name(node.func) in _KEEPING and len(node.args) == 1:
        return _direction(index, node.args[0], cause, depth + 1, is_whole=True)
    if not isinstance(node, ast.Name | ast.Attribute):
        return 0
    if isinstance(node, ast.Attribute) and index.text(node) != index.text(cause):
        return 0
    if isinstance(node, ast.Name):
        bindings = index.flow.reaching(node)
        plain = bindings[0] if len(bindings) == 1 and bindings[0].kind == "assign" and not bindings[0].path else None
        if plain is not None and plain.value is not None and plain.node is not cause:
            return _direction(index, plain.value, cause, depth + 1, is_whole)
        if len(bindings) == 1 and bindings[0].kind == "parameter" and bindings[0].node is not cause:
            return _direction_given(index, bindings[0], cause, depth, is_whole)
        if not any(binding.node is cause for binding in bindings):
            return 0
    return _direction_of(index, cause)


def _direction_given(index: SemanticIndex, parameter: Binding, cause: ast.AST, depth: int, is_whole: bool) -> int:
    """Which way what calls of this file give for a parameter goes, where it is one way."""
    function = parameter.statement
    given = index.definitions.arguments.of(function, parameter.name) if isinstance(function, FUNCTIONS) else []
    ways = {_direction(index, item, cause, depth + 1, is_whole) for item in given}
    return ways.pop() if len(ways) == 1 else 0


def _is_positive(product: ast.BinOp) -> bool:
    """Whether a factor is a positive number."""
    factors = (side.value for side in (product.left, product.right) if isinstance(side, ast.Constant))
    return any(isinstance(factor, int | float) and factor > 0 for factor in factors)


def _divides(divisor: ast.expr) -> bool:
    """Whether a divisor is positive, as the length of a schedule is: ``step / self.warmup``."""
    if isinstance(divisor, ast.Constant):
        return isinstance(divisor.value, int | float) and divisor.value > 0
    return not isinstance(divisor, ast.UnaryOp)


def _direction_of(index: SemanticIndex, cause: ast.AST) -> int:
    """Which way a counter goes: ``for i in range(n)``, ``i += 1``."""
    statement = index.statement_of(cause)
    if isinstance(statement, LOOPS):
        source = statement.iter if isinstance(statement, ast.For) else None
        name = index.qualified_name(source.func) if isinstance(source, ast.Call) else None
        steps = source.args[2:] if isinstance(source, ast.Call) and name == "builtins.range" else []
        is_upward = all(isinstance(step, ast.Name | ast.Constant) for step in steps)
        return 1 if name in ("builtins.range", "builtins.enumerate", "tqdm.trange") and is_upward else 0
    if not isinstance(statement, ast.AugAssign):
        return 0
    return 1 if isinstance(statement.op, ast.Add) else -1 if isinstance(statement.op, ast.Sub) else 0
