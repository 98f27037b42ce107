"""A tiny GAN in the style of 2017: Variable, torch.cuda.FloatTensor, .cuda() guarded by a flag, two optimizers."""
import argparse

import numpy as np
import torch
import torch.nn as nn
from torch.autograd import Variable
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser()
parser.add_argument("--n_epochs", type=int, default=2)
parser.add_argument("--batch_size", type=int, default=16)
parser.add_argument("--lr", type=float, default=0.002)
parser.add_argument("--b1", type=float, default=0.5)
parser.add_argument("--latent_dim", type=int, default=6)
parser.add_argument("--log_every", type=int, default=4)
parser.add_argument("--no-cuda", action="store_true", default=False)
opt = parser.parse_args()
opt.cuda = not opt.no_cuda and torch.cuda.is_available()

np.random.seed(3)
torch.manual_seed(3)
if opt.cuda:
    torch.cuda.manual_seed(3)

points = 12


class Generator(nn.Module):
    def __init__(self):
        super(Generator, self).__init__()
        self.model = nn.Sequential(
            nn.Linear(opt.latent_dim, 24),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Linear(24, 24, bias=False),
            nn.BatchNorm1d(24, 0.8),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Linear(24, points),
            nn.Tanh(),
        )

    def forward(self, z):
        return self.model(z)


class Discriminator(nn.Module):
    def __init__(self):
        super(Discriminator, self).__init__()
        self.model = nn.Sequential(
            nn.Linear(points, 24), nn.LeakyReLU(0.2, inplace=True), nn.Linear(24, 1), nn.Sigmoid()
        )

    def forward(self, curve):
        return self.model(curve)


adversarial_loss = torch.nn.BCELoss()
generator = Generator()
discriminator = Discriminator()

if opt.cuda:
    generator.cuda()
    discriminator.cuda()
    adversarial_loss.cuda()

phase = np.random.uniform(0, 6.28, (160, 1))
curves = np.sin(np.linspace(0, 6.28, points)[None, :] + phase).astype(np.float32)
dataloader = DataLoader(TensorDataset(torch.from_numpy(curves)), batch_size=opt.batch_size, shuffle=True)

optimizer_G = torch.optim.Adam(generator.parameters(), lr=opt.lr, betas=(opt.b1, 0.999))
optimizer_D = torch.optim.Adam(discriminator.parameters(), lr=opt.lr, betas=(opt.b1, 0.999))

Tensor = torch.cuda.FloatTensor if opt.cuda else torch.FloatTensor

for epoch in range(opt.n_epochs):
    for i, (curve,) in enumerate(dataloader):
        valid = Variable(Tensor(curve.size(0), 1).fill_(1.0), requires_grad=False)
        fake = Variable(Tensor(curve.size(0), 1).fill_(0.0), requires_grad=False)
        real = Variable(curve.type(Tensor))

        optimizer_G.zero_grad()
        z = Variable(Tensor(np.random.normal(0, 1, (curve.shape[0], opt.latent_dim))))
        made = generator(z)
        g_loss = adversarial_loss(discriminator(made), valid)
        g_loss.backward()
        optimizer_G.step()

        optimizer_D.zero_grad()
        real_loss = adversarial_loss(discriminator(real), valid)
        fake_loss = adversarial_loss(discriminator(made.detach()), fake)
        d_loss = (real_loss + fake_loss) / 2
        d_loss.backward()
        optimizer_D.step()

        if i % opt.log_every == 0:
            print(
                "epoch %d batch %d: discriminator %f generator %f"
                % (epoch, i, d_loss.item(), g_loss.item())
            )
