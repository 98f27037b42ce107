import torch
import torch_xla
from parts import batches, loss_of, model

net = model(199)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(2):
    for x, y in batches(199, steps=4):
        optimizer.zero_grad()
        loss = loss_of(net, x, y)
        loss.backward()
        optimizer.step()
        torch_xla.sync()
    weight = net[0].weight.abs().mean()  # COMPILE
