import torch
import torch_xla
from parts import batches, loss_of, model

net = model(107)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step, (x, y) in enumerate(batches(107)):
    optimizer.zero_grad()
    loss = loss_of(net, x, y)
    loss.backward()
    print(step, loss)  # SYNC
    optimizer.step()
    torch_xla.sync()
