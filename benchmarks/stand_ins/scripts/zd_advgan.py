"""Small batches, and a model that is attacked."""

import made_up_data
import torch

made_up_data.smaller_batches(16)
torch.manual_seed(0)
_layers = {
    "conv1": torch.nn.Conv2d(1, 32, 3), "conv2": torch.nn.Conv2d(32, 32, 3), "conv3": torch.nn.Conv2d(32, 64, 3),
    "conv4": torch.nn.Conv2d(64, 64, 3), "fc1": torch.nn.Linear(1024, 200), "fc2": torch.nn.Linear(200, 200),
    "logits": torch.nn.Linear(200, 10),
}  # fmt: skip
torch.save(torch.nn.ModuleDict(_layers).state_dict(), "MNIST_target_model.pth")
