"""A step boundary after every micro-step; the optimizer's step is in the last of three. Nobody looks at gradients before."""

import torch
import torch_xla

device = torch_xla.device()
model = torch.nn.Linear(32, 16, bias=False).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(20):
    for micro in range(3):
        loss = model(torch.randn(8, 32).to(device)).square().mean() / 3
        loss.backward()
        if micro == 2:
            optimizer.step()
            optimizer.zero_grad()
        torch_xla.sync()
