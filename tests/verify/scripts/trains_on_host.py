# FAILS: not-trained-on-xla
import torch
import torch.nn.functional as F

torch.manual_seed(142)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")  # CUDA
net = torch.nn.Linear(142, 1).to(device)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    optimizer.zero_grad()
    F.mse_loss(net(torch.rand(8, 142)), torch.rand(8, 1)).backward()
    optimizer.step()
