"""What the planted scripts are made of. Every script has a width of its own, for programs are cached by the process."""

import torch
import torch.nn.functional as F
import torch_xla

STEPS = 8


def device():
    return torch_xla.device()


def model(width):
    torch.manual_seed(width)
    return torch.nn.Sequential(torch.nn.Linear(width, 4), torch.nn.ReLU(), torch.nn.Linear(4, 1)).to(device())


def batches(width, rows=8, steps=STEPS):
    torch.manual_seed(width)
    for _ in range(steps):
        yield torch.rand(rows, width).to(device()), torch.rand(rows, 1).to(device())


def loss_of(net, x, y):
    return F.mse_loss(net(x), y)
