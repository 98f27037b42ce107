"""What calls of an object give its forward pass beside the input: numbers of Python, or tensors."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_files import agree

TEXT = """\
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(8, 8)

    def forward(self, x, epoch):
        weight = min(1.0, epoch / 10){mark}
        return weight * self.lin(x).square().mean()

net = Net().cuda()
optimizer = torch.optim.Adam(net.parameters())
for epoch in range(1, 4):
    for x in loader:
        optimizer.zero_grad()
        {call}.backward()
        optimizer.step()
"""


@pytest.mark.parametrize(
    ("call", "is_told"),
    [
        ("net(x.cuda(), epoch)", False),
        ("net(x.cuda(), epoch=epoch)", False),
        ("net(x.cuda(), epoch + 1)", False),
        ("net(x.cuda(), net.lin.weight.norm())", True),
        ("(net(x.cuda(), epoch) + net(x.cuda(), x.cuda().mean()))", True),
        ("other(x.cuda(), epoch)", True),
    ],
)
def test_numbers_that_a_call_of_the_object_gives(tmp_path: Path, call: str, is_told: bool) -> None:
    agree(tmp_path, "TPU139", train=TEXT.format(call=call, mark="  # TPU139" if is_told else ""))


LENGTHS = """\
import numpy as np
import torch
from torch import nn

def mask_of(memory, lengths):
    mask = torch.zeros(memory.size(0), memory.size(1), device=memory.device)
    for row, length in enumerate(lengths):
        mask[row][:length] = 1{mark}
    return mask

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(8, 1)

    def forward(self, x, lengths=None):
        return self.lin(x).squeeze(-1) * mask_of(x, lengths)

net = Net().cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for x, lengths in loader:
    optimizer.zero_grad()
    net(x.cuda(), lengths={given}).sum().backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("given", "is_told"), [("lengths.numpy()", False), ("np.asarray(lengths)", False), ("lengths.cuda()", True)]
)
def test_arrays_of_the_host_that_a_call_of_the_object_gives(tmp_path: Path, given: str, is_told: bool) -> None:
    """Nothing waits for the device where lengths are an array of the host."""
    agree(tmp_path, "TPU101", train=LENGTHS.format(given=given, mark="  # TPU101" if is_told else ""))


CRITERION = """\
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 2)

    def forward(self, x):
        h = self.lin(x)
        return h, {second}

class Loss(nn.Module):
    def forward(self, out, extra, target):
        if extra[0] > 0:{mark}
            return out.mean()
        return (out - target).abs().mean()

model = Net().to("cuda")
criterion = Loss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in loader:
    out, extra = model(x.to("cuda"))
    optimizer.zero_grad()
    {made}(out, extra, y.to("cuda")).backward()
    optimizer.step()
"""


@pytest.mark.parametrize("made", ["criterion", "Loss()"])
@pytest.mark.parametrize(("second", "is_told"), [("h.mean(0)", True), ("[2, 3]", False), ("h.mean(0).tolist()", False)])
def test_parts_of_what_a_model_returns(tmp_path: Path, made: str, second: str, is_told: bool) -> None:
    """What is unpacked is what the forward pass returns at that place: tensors, or numbers of Python."""
    agree(tmp_path, "TPU103", main=CRITERION.format(second=second, made=made, mark="  # TPU103" if is_told else ""))


STARRED = """\
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 2)

    def forward(self, x):
        h = self.lin(x)
        return h, h.mean(0)

class Loss(nn.Module):
    def forward(self, {parameters}):
        {taken}
        largest = y.max().item(){mark}
        return (out - y).abs().mean() / largest

model = Net().to("cuda")
criterion = Loss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in loader:
    outputs = model(x.to("cuda"))
    optimizer.zero_grad()
    {call}.backward()
    optimizer.step()
"""
TAKEN = "out, extra, y = tuple(inputs)"
NAMED = "out, y = inputs['out'], inputs['y']"


@pytest.mark.parametrize(
    ("parameters", "taken", "call", "is_told"),
    [
        ("*inputs", TAKEN, "criterion(*outputs, y.to('cuda'))", True),
        ("*inputs", "out, extra, y = list(inputs)", "criterion(*outputs, y.to('cuda'))", True),
        ("out, extra, y", "pass", "criterion(*outputs, y.to('cuda'))", True),
        ("out, extra, y", "pass", "criterion(*[*outputs, y.to('cuda')])", True),
        ("out, y", "pass", "criterion(*[outputs[0], y.to('cuda')])", True),
        ("out, y", "pass", "criterion(*[outputs[0], y])", False),
        ("out, extra, y", "pass", "criterion(*outputs, y)", False),
        ("**inputs", NAMED, "criterion(out=outputs[0], y=y.to('cuda'))", True),
        ("**inputs", NAMED, "criterion(out=outputs[0], y=y)", False),
    ],
)
def test_what_modules_are_given_by_stars(tmp_path: Path, parameters: str, taken: str, call: str, is_told: bool) -> None:
    text = STARRED.format(parameters=parameters, taken=taken, call=call, mark="  # TPU101" if is_told else "")
    agree(tmp_path, "TPU101", main=text)


def test_a_place_of_what_a_forward_pass_takes_with_a_star(tmp_path: Path) -> None:
    """What it hands on to a method is what calls give at that place."""
    method = "def note(self, a, b):\n        print(a.mean().item())  # TPU101\n        print(b.max().item())\n\n    "
    text = STARRED.format(
        parameters="*inputs", taken="out, y = inputs; self.note(out, y)", call="criterion(outputs[0], y)", mark=""
    )
    text = text.replace("        largest = y.max().item()\n", "").replace(" / largest", "")
    agree(tmp_path, "TPU101", main=text.replace("def forward(self, *inputs)", method + "def forward(self, *inputs)"))


@pytest.mark.parametrize("returned", ["[x.shape[0], 2]", "[n, 2]"])
def test_numbers_beside_the_tensors_that_stars_give(tmp_path: Path, returned: str) -> None:
    """A list of sizes that a forward pass returns, and a number that it is given at a place of ``*inputs``."""
    program = f"""\
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(8, 2)

        def forward(self, *inputs):
            x, n = inputs
            print(n)
            print(x)  # TPU102
            return self.layer(x), {returned}

    class Criterion(nn.Module):
        def forward(self, out, sizes, y):
            print(sizes, int(sizes[0]))
            print(y.sum().item())  # TPU101
            return (out.sum() - y.sum()) * int(sizes[0])

    net = Net().to("cuda")
    criterion = Criterion()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in loader:
        outs = net(x.to("cuda"), 3)
        criterion(*outs, y.to("cuda")).backward()
        optimizer.step()
    """
    agree(tmp_path, "TPU101,TPU102", main=program)


DROPPED = """\
import torch
from torch import nn

class Drop(nn.Module):
    def forward(self, x, rate):
        return x * torch.distributions.Bernoulli(rate).sample(x.shape).to(x.device){mark}

class Net(nn.Module):
    def __init__(self, rate{default}):
        super().__init__()
        self.layer, self.drop, self.rate = nn.Linear(4, 2), Drop(), rate

    def forward(self, x):
        x = self.layer(x)
        rate = max(1 - self.rate, 0.5) / x.size(1)
        return self.drop(x, {given})

model = {made}.to("cuda")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x in loader:
    loss = model(x.to("cuda")).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("default", "made", "given", "is_told"),
    [
        ("=0.1", "Net()", "rate", False),
        ("=0.1", "Net(rates[0])", "rate", False),
        ("=0.1", "Net(torch.ones(4, device='cuda'))", "rate", True),
        ("=0.1", "Net()", "x.sigmoid()", True),
    ],
)
def test_numbers_that_objects_are_made_with(tmp_path: Path, default: str, made: str, given: str, is_told: bool) -> None:
    text = DROPPED.format(default=default, made=made, given=given, mark="  # TPU131" if is_told else "")
    agree(tmp_path, "TPU131", main=text)


UNPACKED = """\
import torch
from torch import nn

device = torch.device("cuda")

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, batch):
        atoms, counts = batch
        parts = []
        for i in range(4):
            parts.append(atoms[i, : counts[i].item()]){mark}
        return self.layer({made}).mean()

model = Net().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x in loader:
    loss = model(x)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("made", "is_told"),
    [
        ("torch.cat(parts).to(device)", False),
        ("torch.cat(parts)", True),
        ("torch.cat(parts).to(torch.float)", True),
        ("torch.cat(parts) + torch.ones(4).to(device)", True),
    ],
)
def test_batches_whose_parts_a_forward_pass_moves(tmp_path: Path, made: str, is_told: bool) -> None:
    text = UNPACKED.format(made=made, mark="  # TPU101" if is_told else "")
    agree(tmp_path, "TPU101", main=text)


MADE = """\
import torch
from torch import nn

class Encoder(nn.Module):
    def forward(self, x, shapes):
        self.show(shapes)
        return x

    def show(self, shapes):
        print(shapes.sum().item()){mark}

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(8, 2)
        self.encoder = Encoder()

    def forward(self, x):
        shapes = {made}
        return self.lin(self.encoder(x, shapes))

net = Net().cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for x in loader:
    optimizer.zero_grad()
    net(x.cuda()).mean().backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("made", "is_told"),
    [
        ("torch.zeros(3, device=x.device)", True),
        ("torch.as_tensor([3, 4], device='cuda')", True),
        ("torch.tensor([3, 4], device='cpu')", False),
        ("torch.tensor([3, 4])", False),
    ],
)
def test_tensors_made_on_the_device_and_handed_on(tmp_path: Path, made: str, is_told: bool) -> None:
    agree(tmp_path, "TPU101", train=MADE.format(made=made, mark="  # TPU101" if is_told else ""))


ROW = """\
import torch
from torch import nn

class Block(nn.Module):
    def forward(self, x):
        if x.sum() > 0:{mark}
            return x
        return x * 2

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stages = {row}

    def make(self, count):
        blocks = []
        for _ in range(count):
            blocks.append(Block())
        return nn.Sequential(*blocks)

    def forward(self, x):
        return self.stages(x)

class Images(torch.utils.data.Dataset):
    def __getitem__(self, at):
        return {sample}

net = Net().cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
change = {change}
for x in torch.utils.data.DataLoader(Images(), batch_size=8, shuffle=True, drop_last=True):
    loss = net(x.cuda()).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("row", "is_told"),
    [
        ("nn.Sequential(Block())", True),
        ("nn.Sequential(nn.Conv2d(3, 3, 1), nn.ReLU(), Block())", True),
        ("nn.Sequential(*[Block() for _ in range(3)])", True),
        ("nn.Sequential(nn.Sequential(nn.ReLU()), nn.Sequential(Block(), nn.ReLU()))", True),
        ("self.make(3)", True),
        ("nn.Sequential(nn.Conv2d(3, 3, 1), nn.ReLU())", False),
    ],
)
def test_what_rows_of_modules_are_given(tmp_path: Path, row: str, is_told: bool) -> None:
    mark = "  # TPU103" if is_told else ""
    agree(tmp_path, "TPU103", main=ROW.format(row=row, mark=mark, sample="self.images[at]", change="nn.Identity()"))


def test_rows_of_modules_that_change_samples_of_the_host(tmp_path: Path) -> None:
    text = ROW.format(
        row="nn.Conv2d(3, 3, 1)", mark="", sample="change(self.images[at])", change="nn.Sequential(Block(), Block())"
    )
    agree(tmp_path, "TPU103", main=text)


HEAD = """\
import torch
from torch import nn

class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 3, 1)

    def forward(self, x, labels=None):
        out = self.conv(x)
        labels = labels.cpu().data{mark}
        return out.sum() * int((labels.sum(dim=1) > 0).sum())
"""
LISTED = """\
from torch import nn
from head import Head
from parts import unknown

def conv(i, o):
    stage = nn.Sequential()
    stage.add_module("conv", nn.Conv2d(i, o, 3))
    return stage

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = nn.ModuleList([{part}, Head()])

    def forward(self, x, labels=None):
        for i, part in enumerate(self.parts):
            if i in [1]:
                x = part(x, labels)
            else:
                x = part(x)
        return x
"""
TRAINED = """\
import torch
from net import Net

net = Net().cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for x, y in torch.utils.data.DataLoader(data, batch_size=8, shuffle=True, drop_last=True):
    loss = net(x.cuda(), y.cuda())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(("part", "is_told"), [("nn.ReLU()", True), ("conv(3, 3)", True), ("unknown(3)", False)])
def test_modules_of_another_file_beside_what_a_function_makes(tmp_path: Path, part: str, is_told: bool) -> None:
    head = HEAD.format(mark="  # TPU101" if is_told else "")
    agree(tmp_path, "TPU101", head=head, net=LISTED.format(part=part), train=TRAINED)
