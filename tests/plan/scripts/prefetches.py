"""A loader that puts batches on the device ahead of the step that reads them."""

import argparse

import torch
import torch_xla
import torch_xla.distributed.parallel_loader as parallel_loader

parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int, default=8)
options = parser.parse_args()
device = torch_xla.device()
model = torch.nn.Linear(4, 3).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
dataset = torch.utils.data.TensorDataset(torch.randn(1024, 4), torch.randint(0, 3, (1024,)))
loader = torch.utils.data.DataLoader(dataset, options.batch_size, drop_last=True)
for inputs, labels in parallel_loader.MpDeviceLoader(loader, device):
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(inputs), labels)
    loss.backward()
    optimizer.step()
