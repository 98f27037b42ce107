import torch
import torch_xla
from parts import batches, loss_of, model

net = model(106)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step, (x, y) in enumerate(batches(106)):
    optimizer.zero_grad()
    loss = loss_of(net, x, y)
    loss.backward()
    line = f"{loss:.3f}"  # SYNC
    optimizer.step()
    torch_xla.sync()
