# FAILS: not-settled
import torch
import torch_xla
from parts import batches, loss_of, model

net = model(132)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step, (x, y) in enumerate(batches(132)):
    optimizer.zero_grad()
    loss = net(x)[step, 0]  # COMPILE
    loss.backward()
    optimizer.step()
    torch_xla.sync()
