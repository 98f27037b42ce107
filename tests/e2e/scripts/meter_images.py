"""Image classification with meters, top-k accuracy and .cuda(args.gpu, non_blocking=True)."""
import argparse
import random
import shutil
import time

import torch
import torch.backends.cudnn as cudnn
import torch.nn as nn
import torch.nn.parallel
import torch.optim
import torch.utils.data

parser = argparse.ArgumentParser(description="synthetic image training")
parser.add_argument("--epochs", default=2, type=int)
parser.add_argument("-b", "--batch-size", default=16, type=int)
parser.add_argument("--lr", default=0.05, type=float)
parser.add_argument("--momentum", default=0.9, type=float)
parser.add_argument("--wd", default=1e-4, type=float)
parser.add_argument("-p", "--print-freq", default=5, type=int)
parser.add_argument("--seed", default=7, type=int)
parser.add_argument("--gpu", default=0, type=int, help="GPU id to use")
parser.add_argument("--resume", default="", type=str)

best_top1 = 0


class SmallNet(nn.Module):
    def __init__(self, classes=6):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8), nn.ReLU(inplace=True), nn.AdaptiveAvgPool2d(2)
        )
        self.classifier = nn.Linear(32, classes)

    def forward(self, x):
        return self.classifier(torch.flatten(self.features(x), 1))


def synthetic_images(count, seed):
    generator = torch.Generator().manual_seed(seed)
    labels = torch.randint(0, 6, (count,), generator=generator)
    patterns = torch.randn(6, 3, 8, 8, generator=torch.Generator().manual_seed(99))
    images = patterns[labels] + 0.5 * torch.randn(count, 3, 8, 8, generator=generator)
    return torch.utils.data.TensorDataset(images, labels)


def main():
    args = parser.parse_args()
    if args.seed is not None:
        random.seed(args.seed)
        torch.manual_seed(args.seed)
        cudnn.deterministic = True
    main_worker(args.gpu, args)


def main_worker(gpu, args):
    global best_top1
    args.gpu = gpu
    if args.gpu is not None:
        print("training on GPU {}".format(args.gpu))
    model = SmallNet()
    if not torch.cuda.is_available():
        print("no GPU: this will take long")
    elif args.gpu is not None:
        torch.cuda.set_device(args.gpu)
        model = model.cuda(args.gpu)
    else:
        model = torch.nn.DataParallel(model).cuda()

    criterion = nn.CrossEntropyLoss().cuda(args.gpu)
    optimizer = torch.optim.SGD(model.parameters(), args.lr, momentum=args.momentum, weight_decay=args.wd)
    start_epoch = 0
    if args.resume:
        checkpoint = torch.load(args.resume, map_location="cuda:{}".format(args.gpu))
        start_epoch = checkpoint["epoch"]
        model.load_state_dict(checkpoint["state_dict"])
        optimizer.load_state_dict(checkpoint["optimizer"])
    cudnn.benchmark = True

    train_loader = torch.utils.data.DataLoader(
        synthetic_images(192, 1), batch_size=args.batch_size, shuffle=True, num_workers=0, pin_memory=True
    )
    val_loader = torch.utils.data.DataLoader(synthetic_images(64, 2), batch_size=args.batch_size, pin_memory=True)

    for epoch in range(start_epoch, args.epochs):
        adjust_learning_rate(optimizer, epoch, args)
        train(train_loader, model, criterion, optimizer, epoch, args)
        acc1 = validate(val_loader, model, criterion, args)
        is_best = acc1 > best_top1
        best_top1 = max(acc1, best_top1)
        save_checkpoint(
            {
                "epoch": epoch + 1,
                "state_dict": model.state_dict(),
                "best_top1": best_top1,
                "optimizer": optimizer.state_dict(),
            },
            is_best,
        )


def train(train_loader, model, criterion, optimizer, epoch, args):
    batch_time = AverageMeter("seconds")
    losses = AverageMeter("loss", 4)
    top1 = AverageMeter("top-1", 2)
    progress = ProgressMeter(len(train_loader), batch_time, losses, top1)
    model.train()
    end = time.time()
    for i, (images, target) in enumerate(train_loader):
        if args.gpu is not None:
            images = images.cuda(args.gpu, non_blocking=True)
        if torch.cuda.is_available():
            target = target.cuda(args.gpu, non_blocking=True)
        output = model(images)
        loss = criterion(output, target)
        (acc1,) = accuracy(output, target, topk=(1,))
        losses.update(loss.item(), images.size(0))
        top1.update(acc1, images.size(0))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        batch_time.update(time.time() - end)
        end = time.time()
        if i % args.print_freq == 0:
            progress.display(i, "epoch {}".format(epoch))


def validate(val_loader, model, criterion, args):
    losses = AverageMeter("loss", 4)
    top1 = AverageMeter("top-1", 2)
    model.eval()
    with torch.no_grad():
        for images, target in val_loader:
            if args.gpu is not None:
                images = images.cuda(args.gpu, non_blocking=True)
            if torch.cuda.is_available():
                target = target.cuda(args.gpu, non_blocking=True)
            output = model(images)
            loss = criterion(output, target)
            (acc1,) = accuracy(output, target, topk=(1,))
            losses.update(loss.item(), images.size(0))
            top1.update(acc1, images.size(0))
    print("validation: top-1 {:.3f} loss {:.4f}".format(top1.avg, losses.avg))
    return top1.avg


def save_checkpoint(state, is_best, filename="last.pth.tar"):
    torch.save(state, filename)
    if is_best:
        shutil.copyfile(filename, "best.pth.tar")


class AverageMeter(object):
    """Remembers the latest value and a weighted mean of all of them."""

    def __init__(self, label, digits=3):
        self.label = label
        self.digits = digits
        self.val = self.sum = self.count = self.avg = 0

    def update(self, val, n=1):
        self.val = val
        self.count += n
        self.sum += val * n
        self.avg = self.sum / self.count

    def __str__(self):
        return "{0} {1:.{3}f} (mean {2:.{3}f})".format(self.label, float(self.val), float(self.avg), self.digits)


class ProgressMeter(object):
    def __init__(self, steps, *meters):
        self.steps = steps
        self.meters = meters

    def display(self, step, prefix):
        print("%s step %d of %d" % (prefix, step, self.steps), *self.meters, sep="  ")


def adjust_learning_rate(optimizer, epoch, args):
    lr = args.lr * (0.5**epoch)
    for param_group in optimizer.param_groups:
        param_group["lr"] = lr


def accuracy(output, target, topk=(1,)):
    """Share of the batch, in percent, whose label is among the k highest scores."""
    with torch.no_grad():
        best = output.topk(max(topk), dim=1).indices
        hits = best.eq(target.unsqueeze(1))
        return [hits[:, :k].any(dim=1).float().mean() * 100 for k in topk]


if __name__ == "__main__":
    main()
