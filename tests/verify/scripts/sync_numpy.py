import torch
import torch_xla
from parts import batches, loss_of, model

net = model(110)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step, (x, y) in enumerate(batches(110)):
    optimizer.zero_grad()
    loss = loss_of(net, x, y)
    loss.backward()
    kept = loss.detach().numpy(force=True)  # SYNC
    optimizer.step()
    torch_xla.sync()
