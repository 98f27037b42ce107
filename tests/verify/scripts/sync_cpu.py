import torch
import torch_xla
from parts import batches, loss_of, model

net = model(108)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
kept = []
for step, (x, y) in enumerate(batches(108)):
    optimizer.zero_grad()
    loss = loss_of(net, x, y)
    loss.backward()
    kept.append(loss.cpu())  # SYNC
    optimizer.step()
    torch_xla.sync()
