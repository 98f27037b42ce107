import torch
import torch_xla.core.xla_model as xm
from parts import device, loss_of, model
from torch.utils.data import DataLoader, TensorDataset
from torch_xla.distributed.parallel_loader import MpDeviceLoader

torch.manual_seed(152)
data = TensorDataset(torch.rand(64, 152), torch.rand(64, 1))
net = model(152)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
for _ in range(2):
    for x, y in MpDeviceLoader(DataLoader(data, batch_size=8, drop_last=True), device()):
        optimizer.zero_grad()
        loss_of(net, x, y).backward()
        xm.optimizer_step(optimizer)
