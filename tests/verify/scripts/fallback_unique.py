import torch
import torch_xla
from parts import batches, loss_of, model

net = model(116)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step, (x, y) in enumerate(batches(116)):
    optimizer.zero_grad()
    loss = loss_of(net, x, y)
    loss.backward()
    kinds = torch.unique((x[:, 0] * 0).int())  # FALLBACK
    optimizer.step()
    torch_xla.sync()
