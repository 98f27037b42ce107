import torch
import torch_xla
from parts import batches, loss_of, model

net = model(157)
for x, y in batches(157):
    loss = loss_of(net, x, y)
    loss.backward()
    with torch.no_grad():
        for parameter in net.parameters():
            parameter -= 0.1 * parameter.grad
            parameter.grad = None
    torch_xla.sync()
