"""Batches that a step moves for one GPU only, as the wrapper moves them to several: the wrapper has no GPU any more."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_wrappers_that_move import ported

MAIN = """\
import torch
from loaders import TABLE
from torch import nn

torch.distributed.init_process_group("nccl")


def train(net, loader, device, n_gpu, rank, optimizer):
    net = nn.parallel.DistributedDataParallel(net.to(device), device_ids=[rank])
    for step, batch in enumerate(loader):
        if {test}:
            batch = tuple(part.{moved} for part in batch)
        x, y = batch
        optimizer.zero_grad()
        net(x, y).mean().backward()
        optimizer.step()


def main(net, device, rank, args, optimizer):
    train(net, TABLE["a"]["train"](args), device, args.n_gpu, rank, optimizer)


if __name__ == "__main__":
    main(nn.Bilinear(4, 4, 1), torch.device("cuda"), 0, None, None)
"""
LOADERS = """\
from torch.utils.data import DataLoader


def load(args):
    return DataLoader(args.data, batch_size=8)


TABLE = {"a": {"train": load}}
"""


@pytest.mark.parametrize(
    ("test", "moved", "is_left"),
    [
        ("n_gpu == 1", "to(device)", True),
        ("n_gpu <= 1", "to(device=device, non_blocking=True)", True),
        ("n_gpu >= 1", "to(device)", False),
        ("n_gpu == 1", "float()", False),
    ],
)
def test_the_model_moves_what_it_is_given(tmp_path: Path, test: str, moved: str, is_left: bool) -> None:
    text = ported(tmp_path, main=MAIN.format(test=test, moved=moved), loaders=LOADERS)
    assert ("tpulint_runtime.move_inputs(net)" in text) is is_left
    assert "device_ids" not in text
