"""Sequences of several lengths, packed for an LSTM in both directions and for a GRU that reads what that one gives."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
from torch.utils.data import DataLoader, TensorDataset

NTOKENS, WIDTH, LENGTH, BATCH, EPOCHS, PADDING = 19, 12, 9, 8, 2, 0

torch.manual_seed(5)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(NTOKENS, WIDTH, padding_idx=PADDING)
        self.lstm = nn.LSTM(WIDTH, WIDTH, num_layers=2, batch_first=True, bidirectional=True)
        self.gru = nn.GRU(2 * WIDTH, WIDTH, batch_first=True)
        self.out = nn.Linear(WIDTH, NTOKENS)
        self.whole = nn.Linear(WIDTH, 2)

    def forward(self, tokens, lengths):
        packed = pack_padded_sequence(self.embed(tokens), lengths.cpu(), batch_first=True, enforce_sorted=False)
        packed, _ = self.lstm(packed)
        output, _ = pad_packed_sequence(packed, batch_first=True)
        # What the second layer ends with is about the whole sequence.
        output = pack_padded_sequence(output, lengths.cpu(), batch_first=True, enforce_sorted=False)
        output, hidden = self.gru(output)
        output = pad_packed_sequence(output, batch_first=True)[0]
        return self.out(output), self.whole(hidden[-1])


samples = BATCH * 8
lengths = torch.arange(samples) * 5 % LENGTH + 1
lengths[::BATCH] = LENGTH  # in each batch one is as long as the batch
tokens = torch.arange(samples * LENGTH).view(samples, LENGTH) * 7 % (NTOKENS - 1) + 1
tokens[torch.arange(LENGTH) >= lengths.unsqueeze(1)] = PADDING
targets = tokens * 3 % NTOKENS
loader = DataLoader(TensorDataset(tokens, lengths, targets), batch_size=BATCH)

model = Tagger().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.3)
for epoch in range(EPOCHS):
    total = 0.0
    for tokens, lengths, targets in loader:
        tokens, targets = tokens.to(device), targets.to(device)
        optimizer.zero_grad()
        scores, kinds = model(tokens, lengths)
        loss = F.cross_entropy(scores.transpose(1, 2), targets, ignore_index=PADDING)
        loss = loss + 0.1 * F.cross_entropy(kinds, targets[:, 0] % 2)
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(f"epoch {epoch}: mean loss {total / len(loader):.4f}")
