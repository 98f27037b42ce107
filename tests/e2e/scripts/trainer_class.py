"""A Trainer class that is handed a model and an optimizer and moves the model only then."""
import argparse

import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset


class Plane(Dataset):
    """Points of a noisy plane."""

    def __init__(self, size):
        generator = torch.Generator().manual_seed(11)
        self.inputs = torch.randn(size, 20, generator=generator)
        slope = torch.randn(20, 1, generator=generator)
        self.targets = self.inputs @ slope + 0.1 * torch.randn(size, 1, generator=generator)

    def __len__(self):
        return len(self.inputs)

    def __getitem__(self, index):
        return self.inputs[index], self.targets[index]


class Trainer:
    def __init__(self, model, train_data, optimizer, gpu_id, save_every):
        self.gpu_id = gpu_id
        self.model = model.to(gpu_id)
        self.train_data = train_data
        self.optimizer = optimizer
        self.save_every = save_every

    def _run_batch(self, source, targets):
        self.optimizer.zero_grad()
        output = self.model(source)
        loss = F.mse_loss(output, targets)
        loss.backward()
        self.optimizer.step()

    def _run_epoch(self, epoch):
        first = len(next(iter(self.train_data))[0])
        print(f"GPU {self.gpu_id}: epoch {epoch}, {len(self.train_data)} steps of {first} samples")
        for source, targets in self.train_data:
            source = source.to(self.gpu_id)
            targets = targets.to(self.gpu_id)
            self._run_batch(source, targets)

    def _save_checkpoint(self, epoch):
        torch.save(self.model.state_dict(), "checkpoint.pt")
        print(f"epoch {epoch}: saved checkpoint.pt")

    def train(self, max_epochs):
        for epoch in range(max_epochs):
            self._run_epoch(epoch)
            if epoch % self.save_every == 0:
                self._save_checkpoint(epoch)


def load_train_objs():
    torch.manual_seed(5)
    train_set = Plane(96)
    model = torch.nn.Sequential(torch.nn.Linear(20, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    return train_set, model, optimizer


def prepare_dataloader(dataset, batch_size):
    return DataLoader(dataset, batch_size=batch_size, pin_memory=True, shuffle=True)


def main(device, total_epochs, save_every, batch_size):
    dataset, model, optimizer = load_train_objs()
    train_data = prepare_dataloader(dataset, batch_size)
    trainer = Trainer(model, train_data, optimizer, device, save_every)
    trainer.train(total_epochs)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="one GPU, one Trainer")
    parser.add_argument("--total_epochs", default=3, type=int)
    parser.add_argument("--save_every", default=2, type=int)
    parser.add_argument("--batch_size", default=16, type=int)
    args = parser.parse_args()

    device = 0  # shorthand for cuda:0
    main(device, args.total_epochs, args.save_every, args.batch_size)
