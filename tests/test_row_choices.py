"""Rows that one of the two results of an operation chooses: torch_xla ends the process, and the rule tells it."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_files import agree
from xla_facts import facts_of

ENDING = (
    "x.index_select(0, n.argsort())",
    "x.index_select(0, n.sort()[1].detach().clone())",
    "F.embedding(x.max(1)[1], x)",
    "F.embedding(torch.topk(n, 3).indices.long(), x)",
    "x.index_fill(0, torch.min(x, dim=1)[1], 0.0)",
    "x.index_add(0, n.sort().indices, x)",
    "x.index_copy(0, n.cummax(0).indices, x)",
    "x.index_select(0, x.kthvalue(1, 1)[1])",
)
GOING_ON = (
    "x.index_select(0, n.argsort() + 0)",
    "x[n.argsort()]",
    "n.gather(0, n.argsort())",
    "F.embedding(x.argmax(1), x)",
    "F.embedding(x.max(1, keepdim=True)[1].squeeze(1), x)",
    "x.index_fill(0, x.max(1, keepdim=True)[1].squeeze_(1), 0.0)",
    "x.index_select(0, n.sort()[1].view(-1))",
)
PROGRAM = """
import json, os
import torch, torch_xla
import torch.nn.functional as F

def status(text):
    child = os.fork()
    if not child:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        device = torch_xla.device()
        x, n = torch.arange(12.0).reshape(6, 2).to(device), torch.tensor([3.0, 1, 2, 5, 4, 0]).to(device)
        eval(text, {"torch": torch, "F": F, "x": x, "n": n}).cpu()
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

print("FACTS" + json.dumps({text: status(text) for text in TEXTS}))
"""


@pytest.mark.xla
def test_what_ends_the_process() -> None:
    found = facts_of(PROGRAM.replace("TEXTS", repr((*ENDING, *GOING_ON))))
    assert {text for text in ENDING if found[text] >= 0} == set()
    assert {text: found[text] for text in GOING_ON} == dict.fromkeys(GOING_ON, 0)


MODEL = """\
import torch
import torch.nn.functional as F
from torch import nn
from torch.autograd import Variable


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(10, 4)
        self.out = nn.Linear(4, 10)

    def sample(self, x):
        for _ in range(5):
            _, word = self.out(x).max(1)
            x = self.embed(word)  # TPU029
        return x

    def forward(self, x, given):
        best = Variable(x.data.max(1)[1]).cuda()
        word = given if given is not None else best
        x = F.embedding(word, self.embed.weight)  # TPU029
        return x.index_add(0, torch.topk(x[:, 0], 2).indices.long(), x)  # TPU029

    def apart(self, x):
        _, word = self.out(x).topk(1)
        place, best = x.max(1)[1], x.argmax(1)
        _, rows = x.max(1, keepdim=True)
        rows.squeeze_(1)
        y = x.index_select(0, rows) + x[place] + torch.max(x, x)
        return self.embed(word.squeeze(1)) + self.embed(best) + y
"""
TRAIN = """\
import torch
from torch import optim
import torch_xla
from model import Decoder

net = Decoder().cuda()
optimizer = optim.SGD(net.parameters(), lr=0.1)
for x, y in loader:
    x = x.cuda()
    order = x[:, 0].argsort()
    chosen = torch.index_select(x, 0, order)  # TPU029
    _, kept = x[:, 0].sort()
    print(kept.tolist())
    loss = net(chosen, None).sum() + x.index_select(0, kept).sum()
    loss.backward()
    optimizer.step()
    lengths, at = torch.tensor([3, 1, 2]).sort()
    print(lengths.index_select(0, at))
    places = x.sort()[1]
    torch_xla.sync()
    shown = x.index_select(0, places[0])
    late = x[:, 0].argsort()
    torch_xla.sync()
    shown = x.index_select(0, late)
"""


def test_rows_that_come_right_from_a_pair(tmp_path: Path) -> None:
    agree(tmp_path, "TPU029", model=MODEL, train=TRAIN)
