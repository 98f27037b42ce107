"""Shapes and dtypes of the batches of all steps, and what is new in a batch."""

from __future__ import annotations

from typing import Any

from tpulint_runtime.nested import Path, leaves, show
from tpulint_runtime.report import InputChange, Layout

Layouts = tuple[tuple[Path, Layout], ...]
"""Path and layout of every input of a step."""


class Inputs:
    """What the batches of a run look like."""

    def __init__(self) -> None:
        self._previous: dict[Path, Layout] = {}
        self._layouts: dict[Path, Layout] = {}
        """Of the batches of the step before and of this one."""
        self._seen_inputs: set[tuple[Path, Layout]] = set()
        """Every input of every step before this one."""
        self._seen_layouts: set[Layouts] = set()
        """All inputs together, likewise."""

    @property
    def different(self) -> int:
        """Different sets of input shapes and dtypes."""
        return len(self._seen_layouts)

    def begin_step(self, batch: Any) -> None:
        """Look at the batch of a step."""
        self._layouts = {path: _layout(leaf) for path, leaf in leaves(batch)}

    def changes(self) -> tuple[InputChange, ...]:
        """Inputs of the open step with a layout none had at that place. If only the combination is new, those that
        differ from the step before. Empty if the combination is known."""
        if tuple(self._layouts.items()) in self._seen_layouts:
            return ()
        now, before = self._layouts, self._previous
        changed = [path for path, layout in now.items() if (path, layout) not in self._seen_inputs]
        changed = changed or [path for path, layout in now.items() if before.get(path) != layout]
        changed += [path for path in before if path not in now]
        return tuple(InputChange(show(path), before.get(path), now.get(path)) for path in changed)

    def end_step(self) -> None:
        """Remember the batch."""
        self._seen_inputs.update(self._layouts.items())
        self._seen_layouts.add(tuple(self._layouts.items()))
        self._previous = self._layouts


def _layout(leaf: Any) -> Layout:
    """Values are left out, also those of Python numbers: most of them are inputs of the graph, not part of it."""
    shape, dtype = getattr(leaf, "shape", None), getattr(leaf, "dtype", None)
    if shape is None or dtype is None:
        return Layout((), type(leaf).__name__)
    return Layout(tuple(int(size) for size in shape), str(dtype).removeprefix("torch."))
