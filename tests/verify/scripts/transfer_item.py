import torch
import torch_xla
from parts import batches, loss_of, model

net = model(102)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
total = 0.0
for step, (x, y) in enumerate(batches(102)):
    optimizer.zero_grad()
    loss = loss_of(net, x, y)
    loss.backward()
    optimizer.step()
    torch_xla.sync()
    total += loss.item()  # TRANSFER
