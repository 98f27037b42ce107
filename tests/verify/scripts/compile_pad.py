# FAILS: not-settled
import torch
import torch.nn.functional as F
import torch_xla
from parts import batches, loss_of, model

net = model(134)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step, (x, y) in enumerate(batches(134)):
    optimizer.zero_grad()
    padded = F.pad(x, (0, 0, 0, step))  # COMPILE
    loss = net(padded).sum()
    loss.backward()
    optimizer.step()
    torch_xla.sync()
