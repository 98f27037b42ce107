import torch
import torch_xla

print(torch.ones(2).to(torch_xla.device()).sum().item())
