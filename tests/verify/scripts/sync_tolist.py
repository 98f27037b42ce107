import torch
import torch_xla
from parts import batches, loss_of, model

net = model(109)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step, (x, y) in enumerate(batches(109)):
    optimizer.zero_grad()
    loss = loss_of(net, x, y)
    loss.backward()
    kept = x[0].add(1).tolist()  # SYNC
    optimizer.step()
    torch_xla.sync()
