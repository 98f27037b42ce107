# FAILS: no-step-boundary
import torch
from parts import batches, loss_of, model

net = model(141)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for x, y in batches(141, steps=4):
    optimizer.zero_grad()
    loss_of(net, x, y).backward()
    optimizer.step()
