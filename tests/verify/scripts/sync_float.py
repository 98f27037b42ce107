import torch
import torch_xla
from parts import batches, loss_of, model

net = model(103)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
total = 0.0
for step, (x, y) in enumerate(batches(103)):
    optimizer.zero_grad()
    loss = loss_of(net, x, y)
    loss.backward()
    total += float(loss)  # SYNC
    optimizer.step()
    torch_xla.sync()
