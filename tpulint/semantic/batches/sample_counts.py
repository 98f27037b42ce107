"""How many samples a data set has, and a batch holds, where that can be read off."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from tpulint.semantic.functions.passed_arguments import arguments_given
from tpulint.semantic.project.other_files import method, returned
from tpulint.semantic.project.outside import qualified_in_file
from tpulint.semantic.syntax.nodes import FUNCTIONS
from tpulint.semantic.values.origins import origins
from tpulint.semantic.values.value import Kind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex
    from tpulint.semantic.batches.loaders import Loader

_DEPTH = 6
_TENSOR_FACTORIES = frozenset(f"torch.{name}" for name in ("randn", "rand", "zeros", "ones", "empty"))
_OF_TENSORS = "torch.utils.data.TensorDataset"
_KNOWN_SIZES = {
    "torchvision.datasets.MNIST": (60_000, 10_000),
    "torchvision.datasets.FashionMNIST": (60_000, 10_000),
    "torchvision.datasets.KMNIST": (60_000, 10_000),
    "torchvision.datasets.CIFAR10": (50_000, 10_000),
    "torchvision.datasets.CIFAR100": (50_000, 10_000),
}
"""Numbers of samples for training and for testing."""


class SampleCounts:
    """Answers about the loaders of one file; what is not known is None, or no."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index

    def divides(self, loader: Loader, by_default: bool = False) -> bool:
        """Whether all batches are known to be of one size: full, or a single one that holds everything.

        With ``by_default`` also where the command line gives the size, and its default is such a one.
        """
        arguments = loader.arguments or {}
        given = arguments.get("batch_size", ())
        samples = arguments.get("dataset", ())
        if given and all(self._counts_samples(value, samples) or self._is_one(value) for value in given):
            return True
        if samples and all(self._sample_count(value) == 1 for value in samples):
            return True
        counted = self._counted(loader, by_default)
        are_alike = bool(counted) and all(size and (count % size == 0 or count < size) for count, size in counted)
        return are_alike or self._is_one_batch(loader, by_default)

    def fills_no_batch(self, loader: Loader) -> bool:
        """Whether all samples are fewer than a batch holds, where the command line leaves its size as it is."""
        return self._is_one_batch(loader, by_default=True)

    def fills_a_batch(self, loader: Loader) -> bool:
        """Whether there are known to be samples enough for a batch."""
        counted = self._counted(loader, by_default=True, is_likely=True)
        return bool(counted) and all(size and count >= size for count, size in counted)

    def _is_one_batch(self, loader: Loader, by_default: bool) -> bool:
        counted = self._counted(loader, by_default, is_likely=True)
        return bool(counted) and all(size and count < size for count, size in counted)

    def _counted(self, loader: Loader, by_default: bool, is_likely: bool = False) -> list[tuple[int, int | None]]:
        """How many samples there may be, with how many a batch may hold; empty where their number is not known.

        A data set of the project that is given tensors of so many rows ``is_likely`` to have a sample of each.
        """
        arguments = loader.arguments or {}
        counts = [
            self._sample_count(value) or (self._row_count(value) if is_likely else None)
            for value in arguments.get("dataset", ())
        ]
        given = arguments.get("batch_size", ())
        sizes = [self.number(value) or (self._default(value) if by_default else None) for value in given]
        return [(count, size) for count in counts for size in sizes if count] if all(counts) else []

    def _counts_samples(self, node: ast.expr, samples: Sequence[ast.expr], depth: int = 0) -> bool:
        """Whether a batch holds everything: ``batch_size=len(test_set)``, or ``x.shape[0]`` of what is loaded."""
        if isinstance(node, ast.Name | ast.Attribute) and depth < _DEPTH:
            bindings = self._index.flow.bindings_of(node)
            value = bindings[0].value if len(bindings) == 1 and not bindings[0].path else None
            return value is not None and self._counts_samples(value, samples, depth + 1)
        if isinstance(node, ast.Call) and self._index.qualified_name(node.func) == "builtins.len":
            return True
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "__len__":
            return True
        counted = _rows_of(node)
        return counted is not None and any(
            self._index.text(counted) in map(self._index.text, (sample, *self._tensors_of(sample)))
            for sample in samples
        )

    def _tensors_of(self, samples: ast.expr) -> list[ast.expr]:
        """The tensors of ``TensorDataset(x, y)``."""
        creations = self._index.moves.creations.of(samples)
        made = creations[0].node if len(creations) == 1 else None
        is_known = isinstance(made, ast.Call) and self._index.qualified_name(made.func) == _OF_TENSORS
        return made.args if isinstance(made, ast.Call) and is_known else []

    def _is_one(self, node: ast.expr) -> bool:
        """Whether a batch holds one sample: ``batch_size=1``, or a parameter for which all calls give that."""
        if self.number(node) == 1:
            return True
        bindings = self._index.flow.reaching(node) if isinstance(node, ast.Name) else ()
        function = bindings[0].statement if len(bindings) == 1 and bindings[0].kind == "parameter" else None
        if not isinstance(function, FUNCTIONS):
            return False
        index, name = self._index, bindings[0].name
        here, given = index.definitions.calls_of(function), index.definitions.arguments.of(function, name)
        called = qualified_in_file(index.tree, function)
        outside = [call for call in index.outside if call.function == called and (call.fed or call.fed_evaluation)]
        return (
            bool(here or outside)
            and len(here) == len(given)
            and all(self.number(item) == 1 for item in given)
            and all(name in call.ones for call in outside)
        )

    def _default(self, node: ast.expr) -> int | None:
        """The number that an option of the command line has unless the user gives another."""
        found = [self.number(origin.node) for origin in origins(self._index, node) if origin.by_user]
        return found[0] if len(found) == 1 else None

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

    def _row_count(self, dataset: ast.expr) -> int | None:
        """How many rows those tensors have, as far as that is known, of which a class of the project is an object."""
        creations = self._index.moves.creations.of(dataset)
        made = creations[0].node if len(creations) == 1 and not creations[0].path else None
        if not isinstance(made, ast.Call) or not self._index.imported.classes_here(made, self._index):
            return None
        given = (*made.args, *(keyword.value for keyword in made.keywords))
        counts = {self._sample_count(item) for item in given if self._index.kind(item) is Kind.TENSOR} - {None}
        return counts.pop() if len(counts) == 1 else None

    def _made_count(self, node: ast.AST) -> int | None:
        if not isinstance(node, ast.Call):
            return None
        name = self._index.qualified_name(node.func)
        if name == _OF_TENSORS and node.args and not isinstance(node.args[0], ast.Starred):
            return self._sample_count(node.args[0])
        if name == "torch.utils.data.Subset" and len(node.args) > 1 and isinstance(node.args[1], ast.Call):
            places = node.args[1]  # Subset(samples, range(64))
            is_range = self._index.qualified_name(places.func) == "builtins.range" and len(places.args) == 1
            return self.number(places.args[0]) if is_range else None
        if name in _TENSOR_FACTORIES:
            given = [*node.args[:1], *(item.value for item in node.keywords if item.arg == "size")]
            if not given:
                return None
            first = given[0]
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
        return self._stated_count(node)

    def _stated_count(self, made: ast.Call) -> int | None:
        """What ``__len__`` of a class of the project says: a number, or the count of a data set that it was given."""
        owners = self._index.imported.classes_here(made, self._index)
        length = method(owners[0], "__len__") if len(owners) == 1 else None
        values = [] if length is None else returned(length)
        if length is None or len(values) != 1:
            return None
        value, file = values[0], length.file
        if isinstance(value, ast.Constant):
            return value.value if isinstance(value.value, int) else None
        is_length = isinstance(value, ast.Call) and file.qualified_name(value.func) == "builtins.len"
        held = value.args[0] if isinstance(value, ast.Call) and is_length and len(value.args) == 1 else None
        start = method(owners[0], "__init__")
        if not isinstance(held, ast.Attribute) or start is None or not isinstance(start.node, FUNCTIONS):
            return None
        kept = [binding.value for binding in file.flow.bindings_of(held)]
        given = dict(arguments_given(made, start.node, is_method=True))
        name = kept[0].id if len(kept) == 1 and isinstance(kept[0], ast.Name) else ""
        return self._sample_count(given[name]) if name in given else None


def _rows_of(node: ast.expr) -> ast.expr | None:
    """``x`` of ``x.shape[0]``, ``x.size(0)`` and ``x.size()[0]``."""
    place, asked = None, node
    if isinstance(node, ast.Subscript):
        place, asked = node.slice, node.value
        asked = asked.func if isinstance(asked, ast.Call) and not asked.args else asked
    elif isinstance(node, ast.Call) and len(node.args) == 1:
        place, asked = node.args[0], node.func
    is_first = isinstance(place, ast.Constant) and place.value == 0
    return asked.value if is_first and isinstance(asked, ast.Attribute) and asked.attr in ("shape", "size") else None
