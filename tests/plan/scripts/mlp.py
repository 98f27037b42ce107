import argparse

import torch
import torch_xla

parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int, default=512)
parser.add_argument("--width", type=int, default=1024)
parser.add_argument("--inputs", type=int, default=256)
options = parser.parse_args()
device = torch_xla.device()
model = torch.nn.Sequential(
    torch.nn.Linear(options.inputs, options.width),
    torch.nn.ReLU(),
    torch.nn.Linear(options.width, options.width),
    torch.nn.ReLU(),
    torch.nn.Linear(options.width, 128),
).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for step in range(10):
    inputs = torch.randn(options.batch_size, options.inputs).to(device)
    labels = torch.randint(0, 128, (options.batch_size,)).to(device)
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(inputs), labels)
    loss.backward()
    optimizer.step()
    torch_xla.sync()
    if not loss.item() > 0:
        raise SystemExit("diverged")
