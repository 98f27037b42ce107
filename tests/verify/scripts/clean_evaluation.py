import torch
import torch_xla
from parts import batches, loss_of, model

net = model(154)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(2):
    net.train()
    for x, y in batches(154):
        optimizer.zero_grad()
        loss_of(net, x, y).backward()
        optimizer.step()
        torch_xla.sync()
    net.eval()
    wrong = torch.zeros(()).to(torch_xla.device())
    with torch.no_grad():
        for x, y in batches(154, steps=4):
            wrong += ((net(x) > 0.5) != (y > 0.5)).sum()
            torch_xla.sync()
    print(epoch, wrong.item())  # TRANSFER
