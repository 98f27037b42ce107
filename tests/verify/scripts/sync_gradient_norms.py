import torch
import torch_xla
from parts import batches, loss_of, model

net = model(111)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step, (x, y) in enumerate(batches(111)):
    optimizer.zero_grad()
    loss = loss_of(net, x, y)
    loss.backward()
    norm = sum(
        p.grad.norm().item()  # SYNC
        for p in net.parameters()
    )
    optimizer.step()
    torch_xla.sync()
