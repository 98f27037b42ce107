"""Steps where no gradient is infinite: a value that was made up says that one is."""

import torch
import torch_xla

device = torch_xla.device()
model = torch.nn.Linear(4, 4).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cpu")
for step in range(5):
    optimizer.zero_grad()
    scaler.scale(model(torch.ones(6, 4).to(device)).sum()).backward()
    scaler.step(optimizer)
    scaler.update()
    torch_xla.sync()
