"""Parameters and buffers of modules that are read through their module: ``net.scale.item()``."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_files import agree

NET = """
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 4)
            self.scale = nn.Parameter(torch.ones([]))
            self.register_buffer("count", torch.zeros([]))
            self.top = torch.ones([])
            self.rate = Rate()

        def forward(self, x):
            return self.layer(x) * self.scale

    class Rate:
        def __init__(self):
            self.weight = 0.5
"""
TRAINING = """
    import torch
    IMPORT

    class Trainer:
        def __init__(self):
            self.net = MADE.cuda()
            self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)

        def train(self, loader):
            for x in loader:
                loss = self.net(x.cuda()).mean()
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                READS

    Trainer().train(loader)
"""
OWN = """\
print(self.net.scale.item(), float(self.net.count))  # TPU101
print(self.net.layer.weight.norm().item())  # TPU101
print(self.net.top.item(), float(self.net.rate.weight))"""
OF_LIBRARY = """\
print(self.net.get_input_embeddings().weight[[0, 2]].norm().item())  # TPU101
print(self.net.text_model.embeddings.token_embedding.weight.norm().item())  # TPU101
print(float(self.net.config.weight), self.net.text_model.rate.item())"""


def program(reads: str, made: str, imported: str) -> str:
    """A training that reads these of its model."""
    reads = reads.replace("\n", "\n" + " " * 16)
    return TRAINING.replace("READS", reads).replace("MADE", made).replace("IMPORT", imported)


@pytest.mark.parametrize("together", [True, False])
def test_of_a_class_of_the_project(tmp_path: Path, together: bool) -> None:
    if together:
        agree(tmp_path, "TPU101", train=NET + program(OWN, "Net()", ""))
    else:
        agree(tmp_path, "TPU101", nets=NET, train=program(OWN, "Net()", "from nets import Net"))


def test_of_a_model_of_transformers(tmp_path: Path) -> None:
    made = 'CLIPTextModel.from_pretrained("clip")'
    agree(tmp_path, "TPU101", train=program(OF_LIBRARY, made, "from transformers import CLIPTextModel"))
