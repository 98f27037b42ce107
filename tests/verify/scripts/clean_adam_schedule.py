import torch
import torch_xla
from parts import batches, loss_of, model

net = model(151)
optimizer = torch.optim.AdamW(net.parameters(), lr=0.01)
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=8)
total = torch.zeros(()).to(torch_xla.device())
for x, y in batches(151):
    optimizer.zero_grad()
    loss = loss_of(net, x, y)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    optimizer.step()
    schedule.step()
    total += loss.detach()
    torch_xla.sync()
