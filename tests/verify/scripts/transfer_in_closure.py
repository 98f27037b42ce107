import torch
import torch_xla
import torch_xla.core.xla_model as xm
from parts import batches, loss_of, model

net = model(120)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
seen = []


def keep(loss):
    seen.append(loss.item())  # TRANSFER


for x, y in batches(120):
    optimizer.zero_grad()
    loss = loss_of(net, x, y)
    loss.backward()
    optimizer.step()
    xm.add_step_closure(keep, args=(loss,))
    torch_xla.sync()
