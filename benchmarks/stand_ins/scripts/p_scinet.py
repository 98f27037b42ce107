"""A table of series, as long as its loader wants it."""

from typing import Any

import made_up_data  # noqa: F401
import made_up_tables
import modules

made_up_tables.hourly("datasets/ETT-data/ETTh1.csv", 14600, 7)


def _change(module: Any) -> None:
    before = module.DataLoader.__init__

    def init(self: Any, dataset: Any, *given: Any, **named: Any) -> None:
        before(self, _Fewer(dataset), *given, **named)

    module.DataLoader.__init__ = init


class _Fewer:
    def __init__(self, dataset: Any) -> None:
        self._dataset = dataset

    def __len__(self) -> int:
        return min(44, len(self._dataset))

    def __getitem__(self, index: int) -> Any:
        return self._dataset[index]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._dataset, name)


modules.when_imported("torch.utils.data.dataloader", _change)
