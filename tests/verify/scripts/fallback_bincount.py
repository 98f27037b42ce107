import torch
import torch_xla
from parts import batches, loss_of, model

net = model(117)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step, (x, y) in enumerate(batches(117)):
    optimizer.zero_grad()
    loss = loss_of(net, x, y)
    loss.backward()
    counts = torch.bincount((y[:, 0] * 3).int(), minlength=4)  # FALLBACK
    optimizer.step()
    torch_xla.sync()
