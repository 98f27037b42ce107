"""Layers that stand at a place in each of the lists of a list, and who runs them."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_files import agree

LAYERS = """
    from torch import nn

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(4, 4)

        def forward(self, x):
            x = self.linear(x)
            print(x.sum().item()){}
            return x

    class Other(nn.Module):
        def forward(self, x):
            print(x.mean().item()){}
            return x
    """
MODEL = """
    from torch import nn
    from torch.nn import ModuleList
    from layers import Layer, Other

    class Model(nn.Module):
        def __init__(self, own=True):
            super().__init__()
            self.layers = ModuleList([])
            for _ in range(2):
                {}

        def forward(self, x):
            {}
            return x
    """
PROGRAM = """
    import torch
    import torch_xla
    from model import Model

    def main(loader):
        device = torch_xla.device()
        model = Model().to(device)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for x in loader:
            loss = model(x.to(device)).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            torch_xla.sync()

    main([])
    """
MARK = "  # TPU101"
IN_TURN = "for norm, layer in self.layers:\n                x = layer(norm(x))"
NESTED = "self.layers.append(ModuleList([nn.LayerNorm(4), Layer()]))"


@pytest.mark.parametrize(
    ("made", "run", "runs"),
    [
        (NESTED, IN_TURN, (True, False)),
        (NESTED, IN_TURN.replace("norm, layer in self", "_, (norm, layer) in enumerate(self").replace("rs:", "rs):"),
         (True, False)),
        (NESTED.replace("[nn.LayerNorm(4), Layer()]", "(Other(), Layer())"), IN_TURN, (True, True)),
        (NESTED.replace("nn.LayerNorm(4)", "Other()"), IN_TURN.replace("norm(x)", "x"), (True, False)),
        (NESTED, IN_TURN.replace("layer(norm(x))", "norm(x)"), (False, False)),
        # a flat list, of a class that is chosen
        ("kind = Layer if own else nn.Linear\n                self.layers.append(kind())",
         "for layer in self.layers:\n                x = layer(x)", (True, False)),
        ("kind = Layer if own else Other\n                self.layers.append(kind())",
         "for layer in self.layers:\n                x = layer(x)", (True, True)),
        ("kind = nn.Linear if own else nn.Bilinear\n                self.layers.append(kind(4, 4))",
         "for layer in self.layers:\n                x = layer(x)", (False, False)),
        # parts that nobody can tell
        (NESTED.replace("[nn.LayerNorm(4), Layer()]", "[*self.parts(), Layer()]"), IN_TURN, (False, False)),
        (NESTED.replace("ModuleList([nn.LayerNorm(4), Layer()])", "self.pair(Layer())"), IN_TURN, (False, False)),
    ],
)  # fmt: skip
def test_what_stands_at_a_place_in_each_list_is_run(
    tmp_path: Path, made: str, run: str, runs: tuple[bool, bool]
) -> None:
    layers = LAYERS.format(*(MARK if is_run else "" for is_run in runs))
    agree(tmp_path, "TPU101", layers=layers, model=MODEL.format(made, run), main=PROGRAM)
