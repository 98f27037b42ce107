import torch
import torch_xla
from parts import batches, loss_of, model

net = model(104)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step, (x, y) in enumerate(batches(104)):
    optimizer.zero_grad()
    loss = loss_of(net, x, y)
    loss.backward()
    if loss > 1e9:  # SYNC
        break
    optimizer.step()
    torch_xla.sync()
