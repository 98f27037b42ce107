import torch
import torch_xla


def features(x, n):
    return x[:, :n].sum()


device = torch_xla.device()
net = torch.nn.Linear(8, 4).to(device)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
total = 0.0
for step in range(5):
    x = torch.rand(4, 8).to(device)
    optimizer.zero_grad()
    loss = net(x).pow(2).mean() + features(x, step + 2)
    loss.backward()
    optimizer.step()
    total += loss.item()
    torch_xla.sync()
print(total)
kept = x[x > 0.5]
print(f"{kept.sum()}")


@torch_xla.compile
def evaluate(x):
    return net(x).sum()


for step in range(3):
    evaluate(x)
from torch_xla.distributed.parallel_loader import MpDeviceLoader

for x in MpDeviceLoader([torch.rand(2, 8) for _ in range(3)], device):
    y = net(x)
f = torch.compile(lambda x: net(x) * 2, backend="openxla")
with torch.no_grad():
    for _ in range(2):
        f(torch.rand(4, 8).to(device))
