"""Sizes depend on values: without running the step it cannot be traced."""

import torch
import torch_xla

device = torch_xla.device()
model = torch.nn.Linear(4, 4).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(5):
    optimizer.zero_grad()
    out = model(torch.ones(6, 4).to(device))
    torch_xla.sync()
    chosen = out[torch.tensor([True, True, False, False, True, True]).to(device)]
    chosen.sum().backward()
    optimizer.step()
    torch_xla.sync()
