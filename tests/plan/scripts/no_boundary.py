import torch
import torch_xla

model = torch.nn.Linear(4, 4).to(torch_xla.device())
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(5):
    optimizer.zero_grad()
    model(torch.randn(2, 4).to(torch_xla.device())).sum().backward()
    optimizer.step()
