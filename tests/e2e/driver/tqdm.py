"""A stand-in for tqdm, so that the measured scripts need no package of their own.

It formats what it is given, as tqdm does even between two refreshes: a tensor in ``set_postfix`` is read.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any


class tqdm:
    def __init__(self, iterable: Iterable[Any], desc: str = "", **kwargs: Any) -> None:
        self.iterable = iterable
        self.desc = desc

    def __iter__(self) -> Iterator[Any]:
        return iter(self.iterable)

    def __len__(self) -> int:
        return len(self.iterable)

    def set_postfix(self, ordered_dict: Mapping[str, Any] | None = None, refresh: bool = True, **values: Any) -> None:
        values = {**(ordered_dict or {}), **values}
        print(self.desc, ", ".join(f"{name}={value}" for name, value in values.items()), file=sys.stderr)

    def set_description(self, desc: str) -> None:
        self.desc = f"{desc}"

    def update(self, n: int = 1) -> None:
        pass

    def close(self) -> None:
        pass
