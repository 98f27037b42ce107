"""The findings of the linter, by the lines that they speak about."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tpulint.file_findings import FilesFindings
from tpulint.verification.costs import Cost

if TYPE_CHECKING:
    from tpulint.catalog import Catalogue
    from tpulint.config import Settings

_ABOUT_CUDA = frozenset({"device", "precision"})
"""Categories of rules whose findings predict no work of XLA."""


ELSEWHERE = {
    "input": (
        "partial-last-batch",
        "partial-evaluation-batch",
        "padded-to-longest",
        "padded-by-hand",
        "sliced-partial-batch",
        "split-partial-batch",
        "data-dependent-shape",
        "growing-tensor",
        "tensor-of-own-length",
    ),
    "inputs": ("zero-grad-to-zeros", "special-number", "replayed-device-tensors"),
    "added": ("zero-grad-to-zeros", "special-number", "replayed-device-tensors"),
    "operations": (
        "missing-step-boundary",
        "evaluation-loop-without-boundary",
        "random-branch",
        "resized-in-place",
    ),
}
"""Kinds of causes of a compilation, and names of rules that speak about another statement than the one that pays: a
data loader is told to make batches of two sizes where it is built, and the batch is what changes."""


class Prediction(NamedTuple):
    """A finding that predicted a cost."""

    code: str
    name: str
    message: str
    row: int


class Predictions:
    """Lints the files that costs were seen in, each once."""

    def __init__(self, settings: Settings, catalogue: Catalogue) -> None:
        self._files = FilesFindings(settings, catalogue)

    def of(self, cost: Cost) -> tuple[Prediction, ...]:
        """Findings in the statement that paid it; else those in the file that are about what changed."""
        file = self._files.of(cost.line.path)
        found = [
            entry
            for entry in file.at(cost.line.row)
            if cost.kind == "cuda" or self._files.categories.get(entry.code) not in _ABOUT_CUDA
        ]
        if not found:
            names = {name for cause in cost.causes for name in ELSEWHERE.get(cause, ())}
            found = [entry for entry in file.entries if entry.name in names]
        # Of several findings of a rule the first is enough.
        first = {entry.code: entry for entry in reversed(found)}
        return tuple(
            Prediction(entry.code, entry.name, entry.message, entry.place.row) for entry in reversed(first.values())
        )

    def source(self, path: str, row: int) -> str:
        """A line of a file, for display."""
        return self._files.of(path).source(row)
