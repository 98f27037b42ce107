"""A Trainer whose steps return numbers, with gradient accumulation and histories that are looked at now and then."""
import math
import sys

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


def make_dataset(size):
    generator = torch.Generator().manual_seed(2)
    inputs = torch.randn(size, 12, generator=generator)
    slopes = torch.randn(12, 4, generator=generator)
    return TensorDataset(inputs, (inputs @ slopes).argmax(1))


class Trainer:
    def __init__(self, model, loader, accumulation=2):
        self.device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
        self.model = model.to(self.device)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1, momentum=0.9)
        self.loader = loader
        self.accumulation = accumulation
        self.history = {"loss": [], "norm": []}
        self.best_loss = float("inf")

    def compute_losses(self, inputs, targets):
        output = self.model(inputs)
        losses = {"class": F.cross_entropy(output, targets)}
        losses["size"] = 0.01 * output.pow(2).mean()
        return losses, output

    def score(self, output, targets):
        with torch.no_grad():
            accuracy = (output.argmax(1) == targets).float().mean()
        return accuracy.item(), len(targets)

    def train_epoch(self, epoch):
        self.model.train()
        recent = []
        for step, (inputs, targets) in enumerate(self.loader):
            inputs, targets = inputs.to(self.device), targets.to(self.device)
            losses, output = self.compute_losses(inputs, targets)
            loss = sum(losses.values())
            loss_value = loss.item()
            self.history["loss"].append(loss_value)
            recent.append(loss.item())
            if loss_value < self.best_loss:
                self.best_loss = loss_value
            loss /= self.accumulation
            loss.backward()
            norm = nn.utils.clip_grad_norm_(self.model.parameters(), 5.0)
            self.history["norm"].append(norm.item())
            if (step + 1) % self.accumulation == 0:
                self.optimizer.step()
                self.optimizer.zero_grad()
            accuracy, count = self.score(output, targets)
            if (step + 1) % 4 == 0:
                print("epoch %d step %d accuracy %.3f of %d" % (epoch, step + 1, accuracy, count))
                print("mean of the last 4: %.4f" % np.mean(recent[-4:]))
                print(" ".join(f"{name} {value.item():.4f}" for name, value in losses.items()))
        print("largest norm %.4f, mean loss %.4f" % (max(self.history["norm"]), np.mean(self.history["loss"])))

    def fit(self, epochs):
        for epoch in range(epochs):
            self.train_epoch(epoch)
        if not math.isfinite(self.best_loss):
            sys.exit("the loss is not finite")
        print("best loss %.4f" % self.best_loss)


if __name__ == "__main__":
    torch.manual_seed(4)
    loader = DataLoader(make_dataset(192), batch_size=16, shuffle=True, drop_last=True)
    Trainer(nn.Sequential(nn.Linear(12, 16), nn.ReLU(), nn.Linear(16, 4)), loader).fit(2)
