"""A denoiser with a frozen embedding and a schedule in buffers, whose moving average is updated in every step."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.optim.swa_utils import AveragedModel
from torch.utils.data import DataLoader, TensorDataset

WIDTH, STEPS, BATCH, EPOCHS = 12, 20, 8, 2

torch.manual_seed(5)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class MovingAverage(AveragedModel):
    def __init__(self, model, decay):
        def average(old, new, count):
            return decay * old + (1 - decay) * new

        super().__init__(model, avg_fn=average, use_buffers=True)


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        kept = torch.cumprod(1 - torch.linspace(1e-3, 0.2, STEPS), dim=0)
        self.register_buffer("kept", kept)
        self.places = nn.Embedding(STEPS, WIDTH)
        self.places.requires_grad_(False)
        self.norm = nn.LayerNorm(WIDTH)
        self.net = nn.Sequential(nn.Linear(WIDTH, 32), nn.SiLU(), nn.Linear(32, WIDTH))

    def forward(self, x, noise, at):
        share = self.kept[at][:, None]
        noisy = share.sqrt() * x + (1 - share).sqrt() * noise
        return self.net(self.norm(noisy) + self.places(at))


points, noises = torch.randn(BATCH * 10, WIDTH).tanh(), torch.randn(BATCH * 10, WIDTH)
times = torch.arange(BATCH * 10) * 7 % STEPS
loader = DataLoader(TensorDataset(points, noises, times), batch_size=BATCH)
model = Denoiser().to(device)
average = MovingAverage(model, decay=0.9)
optimizer = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.1)

for _ in range(EPOCHS):
    for x, noise, at in loader:
        x, noise, at = x.to(device), noise.to(device), at.to(device)
        optimizer.zero_grad()
        loss = F.mse_loss(model(x, noise, at), noise)
        loss.backward()
        optimizer.step()
        average.update_parameters(model)

with torch.no_grad():
    parts = [(x.to(device), noise.to(device), at.to(device)) for x, noise, at in loader]
    mean = sum(F.mse_loss(average(x, noise, at), noise) for x, noise, at in parts) / len(parts)
print(f"mean loss of the average: {mean.item():.4f}")
