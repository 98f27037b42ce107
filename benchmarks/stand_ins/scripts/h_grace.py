"""A graph of papers."""

from typing import Any

import modules


def _change(module: Any) -> None:
    import torch
    from torch_geometric.data import Data

    class Papers:
        """The data set, by its shapes."""

        num_features = 24

        def __init__(self, *_: Any) -> None:
            pass

        def __getitem__(self, _: int) -> Any:
            chance = torch.Generator().manual_seed(0)
            return Data(
                x=torch.rand(120, 24, generator=chance), y=torch.randint(0, 3, (120,), generator=chance),
                edge_index=torch.randint(0, 120, (2, 400), generator=chance),
            )  # fmt: skip

    module.Planetoid = module.CitationFull = Papers


modules.when_imported("torch_geometric.datasets", _change)
