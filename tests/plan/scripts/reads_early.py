import torch
import torch_xla

device = torch_xla.device()
model = torch.nn.Linear(4, 4).to(device)
frozen = torch.nn.Linear(4, 4).to(device).requires_grad_(False)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
total = 0.0
for step in range(5):
    optimizer.zero_grad()
    loss = frozen(model(torch.randn(2, 4).to(device))).sum()
    loss.backward()
    total += loss.item()
    optimizer.step()
    torch_xla.sync()
