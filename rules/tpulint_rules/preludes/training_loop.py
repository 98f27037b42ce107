import torch
import torch_xla
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

device = torch_xla.device()
dataset = TensorDataset(torch.randn(64, 8), torch.randint(0, 4, (64,)))
loader = DataLoader(dataset, batch_size=16, drop_last=True)
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 4)).to(device)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
total = 0.0

for epoch in range(2):
    for step, (x, y) in enumerate(loader):
        x, y = x.to(device), y.to(device)
        optimizer.zero_grad()
        output = model(x)
        loss = criterion(output, y)
        loss.backward()
        optimizer.step()
        # example
        torch_xla.sync()
        if step % 100 == 0:
            print(f"epoch {epoch}, step {step}")
