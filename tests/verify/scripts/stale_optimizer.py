# FAILS: optimizer
import torch
import torch.nn.functional as F
import torch_xla
from parts import batches

torch.manual_seed(143)
net = torch.nn.Linear(143, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
net.to(torch_xla.device())
for x, y in batches(143):
    optimizer.zero_grad()
    F.mse_loss(net(x), y).backward()
    optimizer.step()
    torch_xla.sync()
