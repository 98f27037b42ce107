"""Values that are fetched behind a step boundary already: ``loss_value, norm_value = values.tolist()``."""

from __future__ import annotations

import ast

from tpulint.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex


class Fetch(NamedTuple):
    """One transfer of several numbers, stacked in front of the boundary."""

    statement: ast.Assign
    """``a_value, b_value = values.tolist()``"""
    stack: ast.Tuple | ast.List
    """The tensors, as given to ``torch.stack``."""
    values: dict[str, str]
    """The variable that holds the number, by the key of the tensor."""
    optional: frozenset[str]
    """Keys of those that may be None, for which another tensor stands in: ``loss if aux is None else aux``."""
    is_in_block: bool = False
    """Whether it is made in some turns only, in a block behind the boundary, and could be made in each."""


class Fetches:
    """Recognises them."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index

    def behind(self, boundary: ast.stmt) -> Fetch | None:
        """The fetch right behind a boundary of what is stacked in front of it."""
        suite = self._index.tree.suite_of(boundary)
        at = suite.index(boundary)
        return self._fetch(suite[at + 1], suite[:at]) if at + 1 < len(suite) else None

    def in_block(self, boundary: ast.stmt) -> Fetch | None:
        """The first such fetch of some turns, ``if step % 10 == 0:``, whose numbers nothing needs but its block."""
        suite = self._index.tree.suite_of(boundary)
        at = suite.index(boundary)
        for block in (statement.body for statement in suite[at + 1 :] if isinstance(statement, ast.If)):
            for statement in block:
                fetch = self._fetch(statement, suite[:at]) if len(block) > 1 else None
                if fetch is not None and self._is_of_block(fetch, block):
                    return fetch._replace(is_in_block=True)
        return None

    def _is_of_block(self, fetch: Fetch, block: list[ast.stmt]) -> bool:
        """Whether the variables for the numbers are nothing but that, and read in a block alone."""
        index, targets = self._index, fetch.statement.targets[0]
        assert isinstance(targets, ast.Tuple)
        names = [name for name in targets.elts if isinstance(name, ast.Name)]
        uses = [use for name in names for use in index.names.loads_of(name)]
        return all(len(index.names.bindings(name)) == 1 for name in names) and all(
            any(index.tree.encloses(statement, use) for statement in block) for use in uses
        )

    def _fetch(self, statement: ast.stmt, front: list[ast.stmt]) -> Fetch | None:
        """The fetch that a statement makes of what is stacked by one of those in front of a boundary."""
        if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Call):
            return None
        targets, func = statement.targets[0], statement.value.func
        if not isinstance(targets, ast.Tuple) or not isinstance(func, ast.Attribute) or func.attr != "tolist":
            return None
        stack = self._stacked(func.value, front)
        names = [item.id for item in targets.elts if isinstance(item, ast.Name)]
        if stack is None or not len(names) == len(stack.elts) == len(targets.elts):
            return None
        optional = frozenset(value_key(tensor) for tensor in map(_optional, stack.elts) if tensor is not None)
        return Fetch(statement, stack, dict(zip(map(_key, stack.elts), names, strict=True)), optional)

    def _stacked(self, node: ast.expr, front: list[ast.stmt]) -> ast.Tuple | ast.List | None:
        """The tensors that a variable holds, as stacked in front of the boundary."""
        reaching = self._index.flow.reaching(node) if isinstance(node, ast.Name) else ()
        if len(reaching) != 1 or reaching[0].statement not in front or reaching[0].path or reaching[0].value is None:
            return None
        return self._stack(reaching[0].value)

    def _stack(self, node: ast.expr) -> ast.Tuple | ast.List | None:
        """The tensors in ``torch.stack((a, b)).detach()``."""
        while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if self._index.qualified_name(node.func) == "torch.stack":
                items = node.args[0] if len(node.args) == 1 and not node.keywords else None
                return items if isinstance(items, ast.Tuple | ast.List) else None
            if node.func.attr != "detach":
                return None
            node = node.func.value
        return None


def value_key(tensor: ast.expr) -> str:
    """The dump of a tensor; the same for ``loss.data`` and ``loss.detach()``, which hold the value of ``loss``."""
    while True:
        if isinstance(tensor, ast.Attribute) and tensor.attr == "data":
            tensor = tensor.value
        elif isinstance(tensor, ast.Call) and isinstance(tensor.func, ast.Attribute) and tensor.func.attr == "detach":
            tensor = tensor.func.value
        else:
            return ast.dump(tensor)


def _key(node: ast.expr) -> str:
    """The key of a tensor, without the ``reshape(())`` that makes a number of it, or what stands in for it."""
    return value_key(_optional(node) or _plain(node))


def _optional(node: ast.expr) -> ast.expr | None:
    """``aux`` of ``loss if aux is None else aux``."""
    if not isinstance(node, ast.IfExp) or not isinstance(node.test, ast.Compare):
        return None
    asked, given, tensor = node.test.left, node.test.comparators[0], _plain(node.orelse)
    is_nothing = isinstance(given, ast.Constant) and given.value is None
    same = isinstance(node.test.ops[0], ast.Is) and ast.dump(asked) == ast.dump(tensor)
    return tensor if is_nothing and same else None


def _plain(node: ast.expr) -> ast.expr:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "reshape":
        return node.func.value
    return node
