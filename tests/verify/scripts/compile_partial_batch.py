import torch
import torch_xla
from parts import device, loss_of, model
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(138)
data = TensorDataset(torch.rand(60, 138), torch.rand(60, 1))
net = model(138)
optimizer = torch.optim.Adam(net.parameters())
for x, y in DataLoader(data, batch_size=8):
    x = x.to(device())  # COMPILE
    y = y.to(device())
    optimizer.zero_grad()
    loss_of(net, x, y).backward()
    optimizer.step()
    torch_xla.sync()
