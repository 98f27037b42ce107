import torch
import torch_xla

device = torch_xla.device()
model = torch.nn.Linear(64, 64).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(5):
    words = torch.randint(0, 100, (64, 64)).to(device)
    optimizer.zero_grad()
    counts = words @ words
    (model(counts.float())).sum().backward()
    optimizer.step()
    torch_xla.sync()
