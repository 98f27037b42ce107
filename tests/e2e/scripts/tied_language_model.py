"""A language model whose output layer shares the embedding's weight; the last batch of an epoch is smaller."""
import argparse
import math
import time

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

parser = argparse.ArgumentParser(description="tied language model")
parser.add_argument("--emsize", type=int, default=24)
parser.add_argument("--lr", type=float, default=0.02)
parser.add_argument("--clip", type=float, default=0.25)
parser.add_argument("--epochs", type=int, default=3)
parser.add_argument("--batch_size", type=int, default=16)
parser.add_argument("--bptt", type=int, default=12)
parser.add_argument("--tied", action="store_true", default=True)
parser.add_argument("--seed", type=int, default=1111)
parser.add_argument("--cuda", action="store_true", default=True)
parser.add_argument("--log-interval", type=int, default=3)
args = parser.parse_args()

torch.manual_seed(args.seed)
device = torch.device("cuda" if args.cuda else "cpu")
NTOKENS = 29


class Windows(Dataset):
    def __init__(self, count, seed):
        generator = torch.Generator().manual_seed(seed)
        start = torch.randint(0, NTOKENS, (count, 1), generator=generator)
        stride = torch.randint(1, 4, (count, 1), generator=generator)
        self.tokens = (start + stride * torch.arange(args.bptt + 1)) % NTOKENS

    def __len__(self):
        return len(self.tokens)

    def __getitem__(self, i):
        return self.tokens[i, :-1], self.tokens[i, 1:]


class TiedModel(nn.Module):
    def __init__(self, ntoken, ninp, tie_weights=False):
        super().__init__()
        self.drop = nn.Dropout(0.2)
        self.encoder = nn.Embedding(ntoken, ninp)
        self.mix = nn.TransformerEncoderLayer(
            ninp, 2, 2 * ninp, dropout=0.2, batch_first=True, norm_first=True, bias=False
        )
        self.decoder = nn.Linear(ninp, ntoken, bias=False)
        if tie_weights:
            self.decoder.weight = self.encoder.weight
        nn.init.uniform_(self.encoder.weight, -0.1, 0.1)

    def forward(self, tokens):
        length = tokens.size(1)
        mask = torch.full((length, length), float("-inf"), device=tokens.device).triu(1)
        hidden = self.mix(self.drop(self.encoder(tokens)), src_mask=mask)
        return self.decoder(hidden)


train_loader = DataLoader(Windows(86, 5), batch_size=args.batch_size, shuffle=True)
val_loader = DataLoader(Windows(32, 6), batch_size=args.batch_size)

model = TiedModel(NTOKENS, args.emsize, args.tied).to(device)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=args.epochs * len(train_loader))


def evaluate(loader):
    model.eval()
    total_loss = 0.0
    with torch.no_grad():
        for data, targets in loader:
            data, targets = data.to(device), targets.to(device)
            output = model(data)
            total_loss += len(data) * criterion(output.view(-1, NTOKENS), targets.reshape(-1)).item()
    return total_loss / len(loader.dataset)


def train(epoch):
    model.train()
    total_loss = 0.0
    start_time = time.time()
    for batch, (data, targets) in enumerate(train_loader, 1):
        data, targets = data.to(device), targets.to(device)
        optimizer.zero_grad()
        output = model(data)
        loss = criterion(output.view(-1, NTOKENS), targets.reshape(-1))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), args.clip)
        optimizer.step()
        scheduler.step()
        total_loss += loss.item()

        if batch % args.log_interval == 0:
            cur_loss = total_loss / args.log_interval
            elapsed = time.time() - start_time
            print(
                "epoch {} batch {} of {}: lr {:.4f}, {:.2f} ms per batch, loss {:.2f}, perplexity {:.2f}".format(
                    epoch,
                    batch,
                    len(train_loader),
                    scheduler.get_last_lr()[0],
                    elapsed * 1000 / args.log_interval,
                    cur_loss,
                    math.exp(cur_loss),
                )
            )
            total_loss = 0.0
            start_time = time.time()


for epoch in range(1, args.epochs + 1):
    train(epoch)
    val_loss = evaluate(val_loader)
    print("epoch {} done: validation loss {:.2f}, perplexity {:.2f}".format(epoch, val_loss, math.exp(val_loss)))
