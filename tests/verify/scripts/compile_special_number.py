import torch
import torch_xla
from parts import batches, loss_of, model

net = model(137)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step, (x, y) in enumerate(batches(137)):
    optimizer.zero_grad()
    loss = loss_of(net, x, y) * (0.0 if step < 4 else 0.5)  # COMPILE
    loss.backward()
    optimizer.step()
    torch_xla.sync()
