import torch
import torch_xla
from torch import nn

device = torch_xla.device()
model = nn.Linear(8, 4).to(device)
batch = torch.randn(16, 8).to(device)
# example
