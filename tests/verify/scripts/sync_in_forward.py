import torch
import torch.nn.functional as F
import torch_xla
from parts import batches


class Gate(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(119, 1)

    def forward(self, x):
        y = self.inner(x)
        if y.mean() > 100:  # SYNC
            y = y / 2
        return y


net = Gate().to(torch_xla.device())
optimizer = torch.optim.SGD(net.parameters(), lr=1e-4)
for x, y in batches(119):
    optimizer.zero_grad()
    F.mse_loss(net(x), y).backward()
    optimizer.step()
    torch_xla.sync()
