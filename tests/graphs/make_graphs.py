"""Writes the graphs of this folder: steps of small models as torch_xla prints them. Needs the extra `xla`.

    XLA_IR_DEBUG=1 XLA_HLO_DEBUG=1 PJRT_DEVICE=CPU python tests/graphs/make_graphs.py FOLDER

With these two variables operations know their lines of Python: only `doubles.mlir` was made so.
"""

import sys
from pathlib import Path

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch_xla
import torch_xla.core.xla_model as xm

device = torch_xla.device()


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(1000, 96)
        self.layer = nn.TransformerEncoderLayer(96, 4, 200, batch_first=True, dropout=0.0)
        self.head = nn.Linear(96, 1000)

    def forward(self, tokens):
        return self.head(self.layer(self.embed(tokens)))


def write(name, model, make_optimizer, loss_of, autocast=False):
    """The second step: the first one makes the state of the optimizer."""
    model = model.to(device).train()
    optimizer = make_optimizer(model.parameters())

    def step():
        optimizer.zero_grad()
        with torch.autocast("xla", dtype=torch.bfloat16, enabled=autocast):
            loss = loss_of(model)
        loss.backward()
        optimizer.step()
        return loss.detach()

    step()
    torch_xla.sync()
    state = [value for one in optimizer.state.values() for value in one.values() if torch.is_tensor(value)]
    kept = [step(), *model.parameters(), *(one for one in state if one.device.type == "xla")]
    Path(sys.argv[1], f"{name}.mlir").write_text(xm.get_stablehlo(kept))
    torch_xla.sync()


def adamw(parameters):
    return torch.optim.AdamW(parameters)


def sgd(parameters):
    return torch.optim.SGD(parameters, lr=0.1)


x, y = torch.randn(64, 100).to(device), torch.randint(0, 10, (64,)).to(device)
mlp = nn.Sequential(nn.Linear(100, 256), nn.ReLU(), nn.Linear(256, 10))
write("mlp", mlp, adamw, lambda model: F.cross_entropy(model(x), y))

images, labels = torch.randn(16, 3, 32, 32).to(device), torch.randint(0, 10, (16,)).to(device)
cnn = nn.Sequential(
    nn.Conv2d(3, 24, 3, stride=2), nn.ReLU(), nn.Conv2d(24, 24, 3, groups=24), nn.Conv2d(24, 48, 3), nn.ReLU(),
    nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(48, 10),
)  # fmt: skip
write("cnn", cnn, sgd, lambda model: F.cross_entropy(model(images), labels))

tokens = torch.randint(0, 1000, (8, 50)).to(device)
write(
    "transformer", Decoder(), sgd,
    lambda model: F.cross_entropy(model(tokens).flatten(0, 1).float(), tokens.flatten()), autocast=True,
)  # fmt: skip

wide = torch.randn(8, 16, dtype=torch.float64).to(device)
write("doubles", nn.Linear(16, 4).double(), sgd, lambda model: model(wide).sum())
