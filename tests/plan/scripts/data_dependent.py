"""Asks for a value in a way that only a device can answer: without running the step it cannot be traced."""

import torch
import torch_xla

device = torch_xla.device()
model = torch.nn.Linear(4, 4).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(5):
    optimizer.zero_grad()
    model(torch.ones(6, 4).to(device)).sum().backward()
    optimizer.step()
    torch_xla.sync()
    if not torch.equal(model.weight, model.weight):
        raise SystemExit("not a number")
