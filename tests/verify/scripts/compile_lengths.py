# FAILS: not-settled
import torch
import torch_xla
from parts import STEPS, device, loss_of, model

torch.manual_seed(139)
net = model(139)
optimizer = torch.optim.AdamW(net.parameters())
for step in range(STEPS):
    x = torch.rand(8 + step, 139).to(device())  # COMPILE
    y = torch.rand(8 + step, 1).to(device())
    optimizer.zero_grad()
    loss_of(net, x, y).backward()
    optimizer.step()
    torch_xla.sync()
