import torch
import torch_xla

device = torch_xla.device()
model = torch.nn.Sequential(
    torch.nn.Conv2d(64, 128, 3, bias=False),
    torch.nn.ReLU(),
    torch.nn.Conv2d(128, 128, 3, bias=False),
    torch.nn.Flatten(),
    torch.nn.Linear(128 * 12 * 12, 128),
).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(10):
    images = torch.randn(32, 64, 16, 16).to(device)
    labels = torch.randint(0, 128, (32,)).to(device)
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(model(images), labels).backward()
    optimizer.step()
    torch_xla.sync()
