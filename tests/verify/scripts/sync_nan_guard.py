import torch
import torch_xla
from parts import batches, loss_of, model

net = model(105)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step, (x, y) in enumerate(batches(105)):
    optimizer.zero_grad()
    loss = loss_of(net, x, y)
    loss.backward()
    if torch.isnan(loss):  # SYNC
        raise SystemExit("not a number")
    optimizer.step()
    torch_xla.sync()
