import torch
import torch_xla
from parts import batches, loss_of, model

net = model(155)
optimizer = torch.optim.Adam(net.parameters())


@torch_xla.compile
def train(x, y):
    optimizer.zero_grad()
    loss = loss_of(net, x, y)
    loss.backward()
    optimizer.step()
    return loss


for x, y in batches(155):
    loss = train(x, y)
