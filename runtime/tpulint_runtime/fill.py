"""Which tensors of a batch are filled up, and with what."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import torch

from tpulint_runtime.nested import Path, leaves, show
from tpulint_runtime.settings import check_mapping, check_names, check_number


class Filling:
    """The tensors a padding is for, and their values. A name is a key of the batch, a position in it, or a path: a
    tuple of these.

    Raises TypeError for names that are a text, and for values that are no numbers; with ``has_texts``, texts are."""

    def __init__(
        self, only: Collection[Any] | None, values: Mapping[Any, Any] | None, *, has_texts: bool = False
    ) -> None:
        if only is not None:
            check_names("only", only)
        if values is not None:
            check_mapping("values", values)
            for name, value in values.items():
                if not (has_texts and isinstance(value, str | bytes)):
                    check_number(f"values[{name!r}]", value)
        self.only = None if only is None else {_path(name) for name in only}
        self.values = {_path(name): value for name, value in (values or {}).items()}

    def includes(self, path: Path) -> bool:
        """Whether the tensor there is to be padded."""
        return self.only is None or path in self.only

    def check_names(self, batch: Any) -> None:
        """Raises ValueError for a name nothing in the batch has: a misspelt one would leave its tensor unpadded."""
        known = {path for path, _ in leaves(batch)}
        for path in {*self.values, *(self.only or ())} - known:
            raise ValueError(f"the batch has no {show(path)}; it has {', '.join(sorted(map(show, known)))}")

    def extend(
        self, tensor: torch.Tensor, dim: int, count: int, path: Path, value: float | None = None
    ) -> torch.Tensor:
        """``tensor`` with ``count`` more entries along ``dim``: the value named for ``path``, else ``value``, else
        copies of the last entry. Raises ValueError for a value the dtype cannot hold."""
        value = self.values.get(path, value)
        shape = list(tensor.shape)
        shape[dim] = count
        if value is None:
            return torch.cat([tensor, tensor.narrow(dim, int(tensor.size(dim)) - 1, 1).expand(shape)], dim)
        if not _holds(tensor.dtype, value):
            raise ValueError(f"{show(path)} is {tensor.dtype} and cannot hold {value}: name another in values")
        return torch.cat([tensor, tensor.new_full(shape, value)], dim)

    def repeat(self, entries: list[Any] | tuple[Any, ...], count: int, path: Path) -> list[Any] | tuple[Any, ...]:
        """``entries`` with ``count`` more: what is named for ``path``, else the last one again."""
        if not self.includes(path):
            return entries
        more = [self.values.get(path, entries[-1])] * count
        return [*entries, *more] if isinstance(entries, list) else (*entries, *more)


def _path(name: Any) -> Path:
    return name if isinstance(name, tuple) else (name,)


def _holds(dtype: torch.dtype, value: Any) -> bool:
    """Whether ``value`` is itself in ``dtype``, but for rounding."""
    if isinstance(value, str | bytes):
        return False
    if dtype.is_floating_point:
        limit = float(torch.finfo(dtype).max)
        return bool(value != value or abs(value) == float("inf") or abs(value) <= limit)
    if dtype.is_complex:
        return True
    if value != value or abs(value) == float("inf") or int(value) != value:
        return False
    if dtype == torch.bool:
        return value in (0, 1)
    limits = torch.iinfo(dtype)
    return bool(limits.min <= value <= limits.max)
