"""A corpus on the device, cut by a loop counter; masks, a buffer of losses and teacher forcing."""
import random

import torch
import torch.nn as nn
import torch.nn.functional as F

NTOKENS, WIDTH, BATCH, BPTT, EPOCHS, UNKNOWN = 23, 16, 8, 10, 2, 0
TEACHER_FORCING = 0.5

torch.manual_seed(7)
random.seed(7)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(NTOKENS, WIDTH)
        self.cell = nn.GRUCell(WIDTH, WIDTH)
        self.out = nn.Linear(WIDTH, NTOKENS)

    def forward(self, tokens):
        token = tokens[0]
        hidden = torch.zeros(tokens.size(1), WIDTH, device=tokens.device)
        outputs = []
        for t in range(tokens.size(0)):
            hidden = self.cell(self.embed(token), hidden)
            output = self.out(hidden)
            outputs.append(output)
            forced = random.random() < TEACHER_FORCING
            token = tokens[t] if forced else output.argmax(1)
        return torch.stack(outputs)


def batchify(tokens):
    count = tokens.size(0) // BATCH
    tokens = tokens.narrow(0, 0, count * BATCH)
    return tokens.view(BATCH, -1).t().contiguous().to(device)


def get_batch(source, i):
    length = min(BPTT, len(source) - 1 - i)
    data = source[i:i+length]
    target = source[i+1:i+1+length]
    return data, target


steps = 12
corpus = batchify((torch.arange(BATCH * (steps * BPTT + 1)) * 3) % NTOKENS)
model = Tagger().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)

losses = torch.zeros(steps, device=device)

for epoch in range(EPOCHS):
    for number, i in enumerate(range(0, corpus.size(0) - 1, BPTT)):
        data, target = get_batch(corpus, i)
        optimizer.zero_grad()
        output = model(data)
        output[output.abs() > 20] = 0
        large = output[output > 4].sum()
        token_loss = F.cross_entropy(output.view(-1, NTOKENS), target.reshape(-1), reduction="none")
        loss = token_loss.masked_select(token_loss > 0.01).mean() + 1e-3 * large
        loss.backward()
        optimizer.step()
        losses[number] = loss.detach()
print(f"mean loss of the last epoch: {losses.mean().item():.4f}")
