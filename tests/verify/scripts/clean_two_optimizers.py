import torch
import torch_xla
from parts import batches, loss_of, model

first, second = model(156), model(156)
optimizers = [torch.optim.Adam(net.parameters()) for net in (first, second)]
for x, y in batches(156):
    for net, optimizer in zip((first, second), optimizers, strict=True):
        optimizer.zero_grad()
        loss_of(net, x, y).backward()
        optimizer.step()
    torch_xla.sync()
