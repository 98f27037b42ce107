import torch
import torch_xla
from parts import batches, loss_of, model

net = model(112)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step, (x, y) in enumerate(batches(112)):
    optimizer.zero_grad()
    loss = loss_of(net, x, y)
    loss.backward()
    norm = torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    if norm > 5:  # SYNC
        print("large")
    optimizer.step()
    torch_xla.sync()
