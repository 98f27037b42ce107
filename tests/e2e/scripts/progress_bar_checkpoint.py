"""A progress bar that shows the loss, accuracy counts, and the best checkpoint kept and loaded again."""
import os

import torch
import torch.nn as nn
import torch.optim as optim
from torch.utils.data import DataLoader, TensorDataset, random_split
from tqdm import tqdm

EPOCHS = 3
BATCH_SIZE = 16
CHECKPOINT = "best.pth"


def make_dataset():
    generator = torch.Generator().manual_seed(8)
    images = torch.rand(240, 1, 8, 8, generator=generator)
    labels = (images[:, 0, :4].mean(dim=(1, 2)) > images[:, 0, 4:].mean(dim=(1, 2))).long()
    return TensorDataset(images, labels)


def build_model():
    return nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1, bias=False),
        nn.BatchNorm2d(8),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(8 * 4 * 4, 2),
    )


def train_one_epoch(model, loader, criterion, optimizer, device, epoch):
    model.train()
    running_loss = 0.0
    correct = 0
    total = 0
    pbar = tqdm(loader, desc=f"Epoch {epoch}")
    for images, labels in pbar:
        images = images.to(device)
        labels = labels.to(device)

        optimizer.zero_grad()
        outputs = model(images)
        loss = criterion(outputs, labels)
        loss.backward()
        optimizer.step()

        running_loss += loss.item() * images.size(0)
        _, predicted = torch.max(outputs.data, 1)
        total += labels.size(0)
        correct += (predicted == labels).sum().item()
        pbar.set_postfix(loss=loss.item())
    return running_loss / total, 100.0 * correct / total


@torch.no_grad()
def evaluate(model, loader, criterion, device):
    model.eval()
    val_loss = 0.0
    correct = 0
    for images, labels in loader:
        images, labels = images.to(device), labels.to(device)
        outputs = model(images)
        val_loss += criterion(outputs, labels).item() * images.size(0)
        correct += (outputs.argmax(1) == labels).sum().item()
    return val_loss / len(loader.dataset), 100.0 * correct / len(loader.dataset)


def main():
    torch.manual_seed(0)
    device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
    print(f"Using device: {device}")
    train_set, val_set = random_split(make_dataset(), [192, 48], generator=torch.Generator().manual_seed(1))
    train_loader = DataLoader(train_set, batch_size=BATCH_SIZE, shuffle=True, num_workers=2, pin_memory=True)
    val_loader = DataLoader(val_set, batch_size=BATCH_SIZE, shuffle=False, num_workers=2, pin_memory=True)

    model = build_model().to(device)
    criterion = nn.CrossEntropyLoss()
    optimizer = optim.Adam(model.parameters(), lr=1e-2)

    best_acc = 0.0
    for epoch in range(1, EPOCHS + 1):
        train_loss, train_acc = train_one_epoch(model, train_loader, criterion, optimizer, device, epoch)
        val_loss, val_acc = evaluate(model, val_loader, criterion, device)
        print(f"epoch {epoch}: train {train_loss:.4f} {train_acc:.1f}% val {val_loss:.4f} {val_acc:.1f}%")
        if val_acc >= best_acc:
            best_acc = val_acc
            torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "acc": val_acc}, CHECKPOINT)

    checkpoint = torch.load(CHECKPOINT, map_location=device)
    model.load_state_dict(checkpoint["model"])
    val_loss, val_acc = evaluate(model, val_loader, criterion, device)
    assert abs(val_acc - checkpoint["acc"]) < 1e-3, "the checkpoint must give the accuracy it was saved with"
    print(f"best accuracy {best_acc:.1f}%")
    os.remove(CHECKPOINT)


if __name__ == "__main__":
    main()
