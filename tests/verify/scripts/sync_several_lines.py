import torch
import torch_xla
from parts import batches, loss_of, model

net = model(114)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step, (x, y) in enumerate(batches(114)):
    optimizer.zero_grad()
    loss = loss_of(net, x, y)
    loss.backward()
    first = loss.item()  # SYNC
    second = (loss * 2).item()  # SYNC
    optimizer.step()
    torch_xla.sync()
    third = loss.item()  # TRANSFER
