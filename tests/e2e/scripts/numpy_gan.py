"""A GAN that prints losses and the accuracy NumPy computes of copied predictions, in every step."""
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

CLASSES = 4

cuda = torch.cuda.is_available()
torch.manual_seed(3)
np.random.seed(3)


def make_dataset(size):
    generator = torch.Generator().manual_seed(1)
    labels = torch.randint(0, CLASSES, (size,), generator=generator)
    centres = torch.randn(CLASSES, 12, generator=generator)
    return TensorDataset(centres[labels] + 0.3 * torch.randn(size, 12, generator=generator), labels)


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(12, 16), nn.LeakyReLU(0.2))
        self.adversarial = nn.Sequential(nn.Linear(16, 1), nn.Sigmoid())
        self.auxiliary = nn.Linear(16, CLASSES + 1)

    def forward(self, points):
        features = self.body(points)
        return self.adversarial(features), self.auxiliary(features)


generator = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 12))
discriminator = Discriminator()
adversarial_loss = nn.BCELoss()
auxiliary_loss = nn.CrossEntropyLoss()
if cuda:
    generator.cuda()
    discriminator.cuda()
    adversarial_loss.cuda()
    auxiliary_loss.cuda()

optimizer_G = torch.optim.Adam(generator.parameters(), lr=2e-3, betas=(0.5, 0.999))
optimizer_D = torch.optim.Adam(discriminator.parameters(), lr=2e-3, betas=(0.5, 0.999))
FloatTensor = torch.cuda.FloatTensor if cuda else torch.FloatTensor
LongTensor = torch.cuda.LongTensor if cuda else torch.LongTensor
dataloader = DataLoader(make_dataset(128), batch_size=16, shuffle=True, drop_last=True)

for epoch in range(2):
    for i, (points, labels) in enumerate(dataloader):
        batch_size = points.shape[0]
        valid = FloatTensor(batch_size, 1).fill_(1.0)
        fake = FloatTensor(batch_size, 1).fill_(0.0)
        fake_labels = LongTensor(batch_size).fill_(CLASSES)
        real_points = points.type(FloatTensor)
        labels = labels.type(LongTensor)

        optimizer_G.zero_grad()
        z = FloatTensor(np.random.normal(0, 1, (batch_size, 8)))
        made_points = generator(z)
        validity, _ = discriminator(made_points)
        g_loss = adversarial_loss(validity, valid)
        g_loss.backward()
        optimizer_G.step()

        optimizer_D.zero_grad()
        real_pred, real_aux = discriminator(real_points)
        d_real_loss = (adversarial_loss(real_pred, valid) + auxiliary_loss(real_aux, labels)) / 2
        fake_pred, fake_aux = discriminator(made_points.detach())
        d_fake_loss = (adversarial_loss(fake_pred, fake) + auxiliary_loss(fake_aux, fake_labels)) / 2
        d_loss = (d_real_loss + d_fake_loss) / 2

        # Accuracy of the discriminator
        pred = np.concatenate([real_aux.data.cpu().numpy(), fake_aux.data.cpu().numpy()], axis=0)
        truth = np.concatenate([labels.data.cpu().numpy(), fake_labels.data.cpu().numpy()], axis=0)
        d_acc = np.mean(np.argmax(pred, axis=1) == truth)

        d_loss.backward()
        optimizer_D.step()

        print(
            "[Epoch %d] [Batch %d/%d] [D loss: %.4f, acc: %.2f%%] [G loss: %.4f]"
            % (epoch, i, len(dataloader), d_loss.item(), 100 * d_acc, g_loss.item())
        )
