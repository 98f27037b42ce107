import argparse

import torch
import torch_xla

parser = argparse.ArgumentParser()
parser.add_argument("--layers", type=int, default=2)
parser.add_argument("--f32", action="store_true")
options = parser.parse_args()
HIDDEN, HEADS, WORDS, SEQUENCE, BATCH = 256, 4, 1024, 128, 8


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = torch.nn.LayerNorm(HIDDEN), torch.nn.LayerNorm(HIDDEN)
        self.project = torch.nn.Linear(HIDDEN, 3 * HIDDEN)
        self.out = torch.nn.Linear(HIDDEN, HIDDEN)
        self.wide = torch.nn.Sequential(
            torch.nn.Linear(HIDDEN, 4 * HIDDEN), torch.nn.ReLU(), torch.nn.Linear(4 * HIDDEN, HIDDEN)
        )

    def forward(self, x):
        batch, length, _ = x.shape
        query, key, value = (
            self.project(self.first(x)).view(batch, length, 3, HEADS, HIDDEN // HEADS).permute(2, 0, 3, 1, 4)
        )
        scores = (query @ key.transpose(-1, -2)) / (HIDDEN // HEADS) ** 0.5
        mixed = (scores.softmax(-1) @ value).transpose(1, 2).reshape(batch, length, HIDDEN)
        x = x + self.out(mixed)
        return x + self.wide(self.second(x))


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.words = torch.nn.Embedding(WORDS, HIDDEN)
        self.blocks = torch.nn.Sequential(*(Block() for _ in range(options.layers)))
        self.head = torch.nn.Linear(HIDDEN, WORDS, bias=False)

    def forward(self, x):
        return self.head(self.blocks(self.words(x)))


device = torch_xla.device()
model = Model().to(device)
optimizer = torch.optim.AdamW(model.parameters())
for step in range(10):
    words = torch.randint(0, WORDS, (BATCH, SEQUENCE)).to(device)
    optimizer.zero_grad()
    with torch.autocast("xla", dtype=torch.bfloat16, enabled=not options.f32):
        loss = torch.nn.functional.cross_entropy(model(words).view(-1, WORDS), words.view(-1))
    loss.backward()
    optimizer.step()
    torch_xla.sync()
