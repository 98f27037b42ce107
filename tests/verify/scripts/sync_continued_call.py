import torch
import torch_xla
from parts import batches, loss_of, model

net = model(113)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step, (x, y) in enumerate(batches(113)):
    optimizer.zero_grad()
    loss = loss_of(net, x, y)
    loss.backward()
    print(
        "loss",
        loss.item(),  # SYNC
    )
    optimizer.step()
    torch_xla.sync()
