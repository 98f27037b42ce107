"""Trains a small CNN on synthetic images, the way scripts for one GPU are usually written.

    python examples/train_gpu.py --epochs 3

Nothing is downloaded. Without a GPU it runs on the CPU, in float32.
"""
import argparse
import time

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class SmallCNN(nn.Module):
    def __init__(self, num_classes=10):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 16, 3, padding=1),
            nn.BatchNorm2d(16),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1),
            nn.BatchNorm2d(32),
            nn.ReLU(),
            nn.AdaptiveAvgPool2d(2),
        )
        self.classifier = nn.Linear(32 * 2 * 2, num_classes)

    def forward(self, x):
        return self.classifier(torch.flatten(self.features(x), 1))


def make_images(count, seed, num_classes=10, size=16):
    """Noisy copies of one random pattern per class."""
    patterns = torch.randn(num_classes, 3, size, size, generator=torch.Generator().manual_seed(0))
    generator = torch.Generator().manual_seed(seed)
    labels = torch.randint(0, num_classes, (count,), generator=generator)
    images = patterns[labels] + 2.0 * torch.randn(count, 3, size, size, generator=generator)
    return TensorDataset(images, labels)


def train_one_epoch(model, loader, optimizer, scaler, device, epoch, log_interval):
    model.train()
    running_loss = 0.0
    correct = 0
    start = time.time()
    for step, (images, labels) in enumerate(loader):
        images = images.to(device, non_blocking=True)
        labels = labels.to(device, non_blocking=True)

        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.float16):
            outputs = model(images)
            loss = F.cross_entropy(outputs, labels)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()

        running_loss += loss.item()
        correct += (outputs.argmax(dim=1) == labels).sum().item()
        if step % log_interval == 0:
            print(f"epoch {epoch} step {step}/{len(loader)} loss {loss.item():.4f}")

    if device.type == "cuda":
        torch.cuda.synchronize()
    seen = len(loader) * loader.batch_size
    print(
        f"epoch {epoch}: loss {running_loss / len(loader):.4f}, "
        f"accuracy {100.0 * correct / seen:.1f}%, {seen / (time.time() - start):.0f} images/s"
    )


@torch.no_grad()
def evaluate(model, loader, device):
    model.eval()
    total_loss = 0.0
    correct = 0
    for images, labels in loader:
        images, labels = images.to(device), labels.to(device)
        outputs = model(images)
        total_loss += F.cross_entropy(outputs, labels, reduction="sum").item()
        correct += (outputs.argmax(dim=1) == labels).sum().item()
    return total_loss / len(loader.dataset), 100.0 * correct / len(loader.dataset)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--samples", type=int, default=2048)
    parser.add_argument("--lr", type=float, default=0.05)
    parser.add_argument("--log-interval", type=int, default=8)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", default="model.pt")
    args = parser.parse_args()

    torch.manual_seed(args.seed)
    torch.cuda.manual_seed_all(args.seed)
    torch.backends.cudnn.benchmark = True
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

    train_loader = DataLoader(
        make_images(args.samples, seed=1), batch_size=args.batch_size, shuffle=True, num_workers=2, pin_memory=True
    )
    test_loader = DataLoader(make_images(256, seed=2), batch_size=args.batch_size, num_workers=2, pin_memory=True)

    model = SmallCNN().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=args.epochs)
    scaler = torch.amp.GradScaler("cuda")

    for epoch in range(args.epochs):
        train_one_epoch(model, train_loader, optimizer, scaler, device, epoch, args.log_interval)
        test_loss, accuracy = evaluate(model, test_loader, device)
        scheduler.step()
        print(f"epoch {epoch}: test loss {test_loss:.4f}, test accuracy {accuracy:.1f}%")

    torch.save(model.state_dict(), args.output)


if __name__ == "__main__":
    main()
