# FAILS: optimizer
import torch
import torch_xla
from parts import batches, loss_of, model

net, other = model(144), model(144)
optimizer = torch.optim.AdamW(other.parameters())
for x, y in batches(144):
    optimizer.zero_grad()
    loss_of(net, x, y).backward()
    optimizer.step()
    torch_xla.sync()
