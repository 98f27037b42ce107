"""Data loaders of a file: their arguments, the loops they feed, the size of their data where it can be read off."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex
    from tpulint.semantic.names import Binding

LOADER = "torch.utils.data.DataLoader"
_PARAMETERS = (
    "dataset",
    "batch_size",
    "shuffle",
    "sampler",
    "batch_sampler",
    "num_workers",
    "collate_fn",
    "pin_memory",
    "drop_last",
)
_DEPTH = 6
_TENSOR_FACTORIES = frozenset(f"torch.{name}" for name in ("randn", "rand", "zeros", "ones", "empty"))
_KNOWN_SIZES = {
    "torchvision.datasets.MNIST": (60_000, 10_000),
    "torchvision.datasets.FashionMNIST": (60_000, 10_000),
    "torchvision.datasets.KMNIST": (60_000, 10_000),
    "torchvision.datasets.CIFAR10": (50_000, 10_000),
    "torchvision.datasets.CIFAR100": (50_000, 10_000),
}
"""Numbers of samples for training and for testing."""


class Loader:
    """One ``DataLoader(...)``."""

    __slots__ = ("arguments", "call", "feeds", "feeds_evaluation")

    def __init__(self, call: ast.Call, arguments: dict[str, list[ast.expr]] | None) -> None:
        self.call = call
        self.arguments = arguments
        """Values each argument may have, by name, those of ``**`` dictionaries included; None when they are hidden."""
        self.feeds = False
        """Whether a step loop takes its batches from it."""
        self.feeds_evaluation = False


class Loaders:
    """All data loaders of one file."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index
        self._loaders = {call: Loader(call, self._arguments(call)) for call in index.calls_to(LOADER)}
        if not self._loaders:
            return
        for loop in index.step_loops:
            sources = [loop.node.iter] if isinstance(loop.node, ast.For | ast.AsyncFor) else []
            for place in (loop.node, *loop.functions):
                sources.extend(self._drawn_in(place))
            for loader in self._behind(sources):
                loader.feeds = True
        for node in index.regions.evaluation_loops:
            sources = [node.iter] if isinstance(node, ast.For | ast.AsyncFor) else []
            for loader in self._behind([*sources, *self._drawn_in(node)]):
                loader.feeds_evaluation = True

    @property
    def all(self) -> list[Loader]:
        """In order of position."""
        return list(self._loaders.values())

    # ---------------------------------------------------------------- what feeds a loop

    def _drawn_in(self, place: ast.AST) -> Iterator[ast.expr]:
        """Arguments of ``next(...)`` in a loop or function."""
        for call in self._index.calls_to("builtins.next"):
            if call.args and self._index.tree.encloses(place, call):
                yield call.args[0]

    def _behind(self, sources: list[ast.expr]) -> Iterator[Loader]:
        """Loaders whose batches these expressions give, through enumerate(), tqdm(), iter() and the like."""
        creations = self._index.moves.creations
        seen: set[ast.AST] = set()
        waiting = [(source, 0) for source in sources]
        while waiting:
            source, depth = waiting.pop()
            if depth > _DEPTH:
                continue
            for creation in creations.of(source):
                node = creation.node
                if node in seen or not isinstance(node, ast.Call):
                    continue
                seen.add(node)
                if node in self._loaders:
                    yield self._loaders[node]
                elif creation.path:
                    waiting.extend((item, depth + 1) for item in _handed_back(node, creation.path))
                else:
                    waiting.extend(
                        (item, depth + 1) for item in node.args if not isinstance(item, ast.Starred | ast.Constant)
                    )

    # ---------------------------------------------------------------- arguments

    def _arguments(self, call: ast.Call) -> dict[str, list[ast.expr]] | None:
        if any(isinstance(item, ast.Starred) for item in call.args):
            return None
        found: dict[str, list[ast.expr]] = {name: [value] for name, value in zip(_PARAMETERS, call.args, strict=False)}
        for keyword in call.keywords:
            if keyword.arg is not None:
                found.setdefault(keyword.arg, []).append(keyword.value)
                continue
            entries = self._entries(keyword.value, 0)
            if entries is None:
                return None
            for name, value in entries:
                found.setdefault(name, []).append(value)
        return found

    def _entries(self, node: ast.expr, depth: int) -> list[tuple[str, ast.expr]] | None:
        """Keys and values a dictionary may hold; None when that is not known."""
        if depth > _DEPTH:
            return None
        parts: list[list[tuple[str, ast.expr]] | None] = []
        if isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if key is None:
                    parts.append(self._entries(value, depth + 1))
                elif isinstance(key, ast.Constant) and isinstance(key.value, str):
                    parts.append([(key.value, value)])
                else:
                    return None
        elif isinstance(node, ast.Call) and self._index.qualified_name(node.func) == "builtins.dict":
            parts.extend(self._entries(item, depth + 1) for item in node.args)
            for keyword in node.keywords:
                parts.append([(keyword.arg, keyword.value)] if keyword.arg else self._entries(keyword.value, depth + 1))
        elif isinstance(node, ast.IfExp):
            parts.extend((self._entries(node.body, depth + 1), self._entries(node.orelse, depth + 1)))
        elif isinstance(node, ast.Name):
            bindings = self._index.flow.reaching(node)
            if not bindings:
                return None
            for binding in bindings:
                if binding.kind == "augment":
                    continue  # among the changes below
                whole = binding.kind == "assign" and not binding.path and binding.value is not None
                parts.append(self._entries(binding.value, depth + 1) if whole and binding.value is not None else None)
            parts.extend(self._changes(node, bindings, depth))
        else:
            return None
        result: list[tuple[str, ast.expr]] = []
        for part in parts:
            if part is None:
                return None
            result.extend(part)
        return result

    def _changes(
        self, name: ast.Name, bindings: tuple[Binding, ...], depth: int
    ) -> Iterator[list[tuple[str, ast.expr]] | None]:
        """What ``d.update(...)`` and ``d["key"] = ...`` add to a dictionary."""
        index = self._index
        scope = bindings[0].scope
        for other in index.tree.names_called(name.id):
            if other is name:
                continue
            found = index.names.find(other.id, index.names.scope_of(other))
            if found is None or found[0] is not scope:
                continue
            parent = index.parent(other)
            if isinstance(parent, ast.Subscript) and isinstance(parent.ctx, ast.Store):
                statement = index.parent(parent)
                is_plain = isinstance(statement, ast.Assign) and isinstance(parent.slice, ast.Constant)
                yield [(str(parent.slice.value), statement.value)] if is_plain else None  # type: ignore[attr-defined, union-attr]
            elif isinstance(parent, ast.Attribute) and parent.attr in ("update", "setdefault", "pop"):
                call = index.parent(parent)
                if not isinstance(call, ast.Call) or parent.attr != "update":
                    yield None
                    continue
                for item in call.args:
                    yield self._entries(item, depth + 1)
                for keyword in call.keywords:
                    yield [(keyword.arg, keyword.value)] if keyword.arg else None
            elif isinstance(parent, ast.AugAssign) and parent.target is other:
                yield self._entries(parent.value, depth + 1)

    # ---------------------------------------------------------------- sizes

    def divides(self, loader: Loader) -> bool:
        """Whether all batches are known to be of one size: full, or a single one that holds everything."""
        arguments = loader.arguments or {}
        sizes = [self.number(value) for value in arguments.get("batch_size", ())]
        counts = [self._sample_count(value) for value in arguments.get("dataset", ())]
        return bool(sizes and counts) and all(
            size and count and (count % size == 0 or count < size) for size in sizes for count in counts
        )

    def number(self, node: ast.expr, depth: int = 0) -> int | None:
        """The whole number an expression always has; None when it is not known."""
        if isinstance(node, ast.Constant):
            return node.value if isinstance(node.value, int) and not isinstance(node.value, bool) else None
        if isinstance(node, ast.BinOp) and depth < _DEPTH:
            left, right = self.number(node.left, depth + 1), self.number(node.right, depth + 1)
            if left is None or right is None:
                return None
            if isinstance(node.op, ast.Mult):
                return left * right
            if isinstance(node.op, ast.Pow) and 0 <= right < 64:
                return int(left**right)
            return None
        if isinstance(node, ast.Name) and depth < _DEPTH:
            bindings = self._index.names.bindings(node)
            if (
                len(bindings) == 1
                and bindings[0].kind == "assign"
                and not bindings[0].path
                and bindings[0].value is not None
            ):
                return self.number(bindings[0].value, depth + 1)
        return None

    def _sample_count(self, node: ast.expr) -> int | None:
        creations = self._index.moves.creations.of(node)
        counts = {self._made_count(creation.node) for creation in creations if not creation.path}
        return counts.pop() if len(counts) == 1 and len(creations) == 1 else None

    def _made_count(self, node: ast.AST) -> int | None:
        if not isinstance(node, ast.Call):
            return None
        name = self._index.qualified_name(node.func)
        if name == "torch.utils.data.TensorDataset" and node.args and not isinstance(node.args[0], ast.Starred):
            return self._sample_count(node.args[0])
        if name in _TENSOR_FACTORIES and node.args:
            first = node.args[0]
            if isinstance(first, ast.Tuple | ast.List):
                return self.number(first.elts[0]) if first.elts else None
            return self.number(first)
        if name in _KNOWN_SIZES:
            train = next(
                (item.value for item in node.keywords if item.arg == "train"),
                node.args[1] if len(node.args) > 1 else None,
            )
            if train is None:
                return _KNOWN_SIZES[name][0]
            return _KNOWN_SIZES[name][0 if train.value else 1] if isinstance(train, ast.Constant) else None
        return None


def _handed_back(call: ast.Call, path: tuple[str, ...]) -> list[ast.expr]:
    """The argument that comes back at a place of what ``accelerator.prepare(...)`` and its like return."""
    method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    if method not in ("prepare", "setup", "setup_dataloaders") or not path[0].isdecimal():
        return []
    return call.args[int(path[0]) : int(path[0]) + 1]
