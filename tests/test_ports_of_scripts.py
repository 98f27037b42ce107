"""Ports of whole scripts: what is fixed in one place, and what another place takes for granted."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import tpulint


def ported(folder: Path, codes: str, **files: str) -> str:
    """The text of ``train.py`` once a project is fixed, which a second run leaves as it is."""
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    tpulint("--fix", "--unsafe-fixes", "--select", codes, ".", cwd=folder)
    texts = {path: path.read_text() for path in folder.glob("*.py")}
    for text in texts.values():
        compile(text, "", "exec")
    tpulint("--fix", "--unsafe-fixes", "--select", codes, ".", cwd=folder)
    assert texts == {path: path.read_text() for path in folder.glob("*.py")}
    return texts[folder / "train.py"]


LAST_BATCH = """\
import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

data = TensorDataset(torch.ones(12, 4), torch.zeros(12, 1))
model = nn.Linear(4, 1).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = DataLoader(data, batch_size=8, shuffle=True)
sizes = {name: len(each.dataset) for name, each in {"train": loader}.items()}


def train(loader, total_number):
    total, count = 0.0, 0
    for x, y in loader:
        x, y = x.cuda(), y.cuda()
        loss = F.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        ADDED
        count += len(x)
    return total / DIVISOR


print(train(loader, len(data)))
"""


@pytest.mark.parametrize(
    ("divisor", "leaves_out"),
    [
        ("len(loader.dataset)", True),
        ("count", True),
        ("float(count)", True),
        ("12", True),  # nobody knows what it is
        ("total_number", False),
        ("sizes['train']", False),
        ("len(loader.sampler)", False),
        ("len(loader)", True),
    ],
)
@pytest.mark.parametrize(
    "added",
    ["total += loss.item() * x.size(0)", "total = total + loss.item() * len(x)", "total += (y == 1).sum().item()"],
)
def test_means_over_samples_that_would_be_left_out(tmp_path: Path, divisor: str, leaves_out: bool, added: str) -> None:
    fixed = ported(tmp_path, "TPU501", train=LAST_BATCH.replace("DIVISOR", divisor).replace("ADDED", added))
    assert ("drop_last=True" in fixed) is leaves_out
    assert ("len(loader) * loader.batch_size" in fixed) is (divisor == "len(loader.dataset)")


@pytest.mark.parametrize(
    ("last", "leaves_out"),
    [
        ("count += len(x)\n        break", False),
        ("if count == 0:\n            break", True),
        ("if count == 0:\n            continue\n        break", True),
        ("while True:\n            break", True),
    ],
)
def test_loops_that_end_with_their_first_batch(tmp_path: Path, last: str, leaves_out: bool) -> None:
    program = LAST_BATCH.replace("ADDED", "").replace("DIVISOR", "1").replace("count += len(x)", last)
    assert ("drop_last=True" in ported(tmp_path, "TPU501", train=program)) is leaves_out


@pytest.mark.parametrize(("divisor", "leaves_out"), [("len(loader.dataset)", False), ("count", True)])
def test_means_over_samples_in_another_file(tmp_path: Path, divisor: str, leaves_out: bool) -> None:
    head, loop = (
        LAST_BATCH.replace("DIVISOR", divisor)
        .replace("ADDED", "total += loss.item() * x.size(0)")
        .split("\n\ndef train(loader, ")
    )
    loop, end = loop.split("\n\nprint(train(")
    loop = f"import torch.nn.functional as F\n\ndef train(model, optimizer, loader, {loop}\n"
    program = f"{head}\nfrom loop import train\n\nprint(train(model, optimizer, {end}"
    assert ("drop_last=True" in ported(tmp_path, "TPU501", train=program, loop=loop)) is leaves_out


@pytest.mark.parametrize(
    ("number", "divisor"),
    [
        ("math.ceil(len(loader.dataset) / float(batch_size))", "len(loader)"),
        ("len(loader.dataset) // batch_size", "len(loader)"),
        ("len(loader.dataset) // loader.batch_size + 1", "len(loader)"),
        ("float(len(loader.dataset))", "(len(loader) * loader.batch_size)"),
    ],
)
@pytest.mark.parametrize("is_kept", [True, False])
def test_means_over_batches_that_are_counted_by_samples(
    tmp_path: Path, number: str, divisor: str, is_kept: bool
) -> None:
    """``math.ceil(len(loader.dataset) / batch_size)`` is no number of samples: the mean was wrong by their number."""
    text = (
        LAST_BATCH.replace("import torch\n", "import math\nimport torch\n", 1)
        .replace("batch_size=8", "batch_size=batch_size")
        .replace("data =", "batch_size = 8\ndata =")
        .replace("ADDED", "total += loss.item()")
    )
    if is_kept:
        text = text.replace("    total, count =", f"    number = {number}\n    total, count =").replace(
            "DIVISOR", "number"
        )
    else:
        text = text.replace("DIVISOR", number if number.startswith(("math", "float")) else f"({number})")
    fixed = ported(tmp_path, "TPU501", train=text)
    assert "drop_last=True" in fixed
    assert f"return total / {divisor}" in fixed.replace("float((len(loader) * loader.batch_size))", divisor).replace(
        "float(len(loader) * loader.batch_size)", divisor
    ).replace("(len(loader))", "len(loader)")


@pytest.mark.parametrize(
    "number", ["math.ceil(len(loader.dataset) / parts)", "len(loader.dataset) * 2", "len(loader.dataset) + 1"]
)
def test_means_over_what_nobody_knows(tmp_path: Path, number: str) -> None:
    text = (
        LAST_BATCH.replace("import torch\n", "import math\nimport torch\n", 1)
        .replace("data =", "parts = 3\ndata =")
        .replace("ADDED", "total += loss.item()")
        .replace("    total, count =", f"    number = {number}\n    total, count =")
        .replace("DIVISOR", "number")
    )
    fixed = ported(tmp_path, "TPU501", train=text)
    assert "drop_last=True" not in fixed and "total / number" in fixed


def test_loaders_of_one_function_leave_out_what_is_shuffled(tmp_path: Path) -> None:
    text = (
        LAST_BATCH.replace("DIVISOR", "count")
        .replace("ADDED", "total += loss.item()")
        .replace(
            "loader = DataLoader(data, batch_size=8, shuffle=True)\n",
            "def load(data, shuffle=False):\n    return DataLoader(data, batch_size=8, shuffle=shuffle)\n\n\n"
            "loader, held_out = load(data, True), load(data)\n",
        )
    )
    assert "shuffle=shuffle, drop_last=shuffle)" in ported(tmp_path, "TPU501", train=text)


@pytest.mark.parametrize(
    ("maker", "more", "is_left_out"),
    [
        ("def load(data):\n    return DataLoader(data, batch_size=8, shuffle=True)", "", True),
        (
            "def load(data):\n    return DataLoader(data, batch_size=8, shuffle=True)",
            "for x, y in load(held):\n    right += (model(x.to('cuda')).argmax(1) == y.to('cuda')).sum()\n",
            False,
        ),
        (
            "def load(data, drop_last=False):\n    return DataLoader(data, batch_size=8, shuffle=True)",
            "",
            False,
        ),
    ],
)
def test_loaders_of_one_function_that_serve_more_than_training(
    tmp_path: Path, maker: str, more: str, is_left_out: bool
) -> None:
    """What a test counts by would be left out as well, and a parameter for it would say something else."""
    text = LAST_BATCH.replace("DIVISOR", "count").replace("ADDED", "total += loss.item()")
    text = text.replace(
        "loader = DataLoader(data, batch_size=8, shuffle=True)\n", f"{maker}\n\n\nloader = load(data)\n"
    )
    fixed = ported(tmp_path, "TPU501", train=text + more)
    assert ("drop_last=True" in fixed) is is_left_out


WRAPPED = """\
import torch
from torch import nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 4)

    def forward(self, batch):
        return self.layer(PART)


def build():
    net = nn.DataParallel(Net(), device_ids=[0])
    return net.to("cuda")


net = build()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for BATCH in torch.utils.data.DataLoader(data, batch_size=8, drop_last=True):
    loss = F.cross_entropy(net(GIVEN), LABEL.to("cuda"))
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("part", "batch", "given", "label", "moved"),
    [
        ("batch", "x, y", "x", "y", "net(x.to(device))"),
        (
            'batch["x"]', "batch", "batch", 'batch["y"]',
            "net({key: value.to(device) if torch.is_tensor(value) else value for key, value in batch.items()})",
        ),
        ("batch[0]", "batch", "batch", "batch[1]", "net(batch)"),  # a tuple, or what else?
    ],
)  # fmt: skip
def test_inputs_of_a_wrapped_model_that_a_function_makes(
    tmp_path: Path, part: str, batch: str, given: str, label: str, moved: str
) -> None:
    text = WRAPPED.replace("PART", part).replace("BATCH", batch).replace("GIVEN", given).replace("LABEL", label)
    fixed = ported(tmp_path, "TPU604,TPU001", train=text)
    assert "DataParallel" not in fixed
    assert moved in fixed


OF_TWO_PARTS = """\
import torch
from torch.nn.parallel import DistributedDataParallel
from parts import Net, Samples, Mover, build

net = Net().to("cuda")
net = DistributedDataParallel(net, device_ids=[0])
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for x, target in LOADER:
    loss = net(x, target)
    loss.backward()
    optimizer.step()
"""
PARTS = """\
import torch
from torch import nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 4)

    def forward(self, x, labels):
        return F.cross_entropy(self.layer(x), LABELS)


class Samples(torch.utils.data.Dataset):
    def __getitem__(self, i):
        target = TARGET
        return torch.ones(8), target


class Mover:
    def __init__(self, loader):
        self.loader = loader

    def __iter__(self):
        for x, target in self.loader:
            yield x.to("cuda"), {k: v.to("cuda") for k, v in target.items()}


def build(is_moved):
    loader = torch.utils.data.DataLoader(read(), batch_size=8, drop_last=True)
    if is_moved:
        loader = Mover(loader)
    return loader
"""
_OF_SAMPLES = "torch.utils.data.DataLoader(Samples(), batch_size=8, drop_last=True)"
_COLLATED = "torch.utils.data.DataLoader(Samples(), batch_size=8, drop_last=True, collate_fn=join)"


@pytest.mark.parametrize(
    ("labels", "target", "loader", "is_dict"),
    [
        ('labels["class"]', "load(i)", _OF_SAMPLES, True),
        ("pick(labels)", '{"class": i}', _OF_SAMPLES, True),
        ("pick(labels)", "dict(number=i)", _OF_SAMPLES, True),
        ("pick(labels)", "load(i)", "build(True)", True),
        ("pick(labels)", "load(i)", f"enumerate({_OF_SAMPLES})", False),
        ("labels", "i", _OF_SAMPLES, False),
        ("pick(labels)", '{"class": i}', _COLLATED, False),
    ],
)
def test_dictionaries_that_a_loader_deals_out(
    tmp_path: Path, labels: str, target: str, loader: str, is_dict: bool
) -> None:
    """``target.to(device)`` of a dictionary ended the first step."""
    parts = PARTS.replace("LABELS", labels).replace("TARGET", target)
    text = OF_TWO_PARTS.replace("LOADER", loader)
    fixed = ported(tmp_path, "TPU603,TPU001", train=text, parts=parts)
    assert "device_ids" not in fixed
    assert ("for key, value in target.items()" in fixed) is is_dict
    assert "target.to(" not in fixed or not is_dict


_FLAT = "{key: value.to(device) if torch.is_tensor(value) else value for key, value in target.items()}"
_NEST = "xm.send_cpu_data_to_device(target, device)"


@pytest.mark.parametrize(
    ("target", "moved"),
    [
        ('{"class": torch.stack([one["class"] for one in others])}', _FLAT),
        ('{"class": [torch.stack([one["class"] for one in others])]}', _NEST),
        ("{name: [[], []] for name in others[0]}", _NEST),
        ("{}\n    target['a'] = [torch.ones(3)]", _NEST),
        ("{}\n    target['a'] = torch.ones(3)", _FLAT),
        ("collections.defaultdict(list)", _NEST),
        ("dict(number=torch.ones(3))", _FLAT),
        ("[torch.ones(len(samples))]", _NEST),
        ("torch.ones(len(samples))", "target.to(device)"),
        ("pad(others)", "target.to(device)"),
    ],
)
def test_parts_that_a_collate_function_makes_beside_one_that_is_moved(tmp_path: Path, target: str, moved: str) -> None:
    """A list or a dictionary has no `to`, and what lies in a list within it moves as well."""
    collated = f"""
import collections


def join(samples):
    others = [other for x, other in samples]
    target = {target}
    return torch.stack([x for x, other in samples]), target
"""
    parts = PARTS.replace("LABELS", "pick(labels)").replace("TARGET", "load(i)") + collated
    text = OF_TWO_PARTS.replace("Net, ", "join, Net, ").replace("LOADER", f"enumerate({_COLLATED})")
    text = text.replace("for x, target", "for step, (x, target)").replace("net(x, target)", 'net(x.to("cuda"), target)')
    fixed = ported(tmp_path, "TPU603,TPU001", train=text, parts=parts)
    assert "device_ids" not in fixed
    assert f'net(x.to("xla"), {moved})' in fixed


BESIDE = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 4)

    def forward(self, *parts):
        return self.layer(parts[0])


net = nn.DataParallel(Net()).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for BATCH:
    BEFORE
    loss = net(GIVEN).mean()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("batch", "before", "given", "moved"),
    [
        ("b in loader", "", 'b["x"].cuda(), b["y"]', 'b["x"].to(device), b["y"].to(device)'),
        ("b in loader", "", '[b["x"].cuda().float(), b["y"]]', '[b["x"].to(device).float(), b["y"].to(device)]'),
        ("i, b in enumerate(loader)", "", "b[0].cuda(), y=b[1]", "b[0].to(device), y=b[1].to(device)"),
        ("b in loader", 'x = b["x"].cuda()', 'x, b["y"]', 'x, b["y"].to(device)'),
        ("x, y in loader", "", "x.cuda(), y", "x.to(device), y.to(device)"),
        # texts, numbers of batches, what is moved, other batches, and what nobody moves a part of
        ("b in loader", "", 'b["x"].cuda(), b["captions"]', 'b["x"].to(device), b["captions"]'),
        ("x, file_names in loader", "", "x.cuda(), file_names", "x.to(device), file_names"),
        ("i, x in enumerate(loader)", "", "x.cuda(), i", "x.to(device), i"),
        ("x, i in zip(xs, names)", "", "x.cuda(), i", "x.to(device), i"),
        ("b in loader", 'b["y"] = b["y"].cuda()', 'b["x"].cuda(), b["y"]', 'b["x"].to(device), b["y"]'),
        ("b in loader", "y = other[0]", 'b["x"].cuda(), y', 'b["x"].to(device), y'),
        ("b in loader", "", 'b["x"], b["y"]', 'b["x"], b["y"]'),
        ("b in loader", "", 'b["x"].to(torch.float32), b["y"]', 'b["x"].to(torch.float32), b["y"]'),
    ],
)
def test_parts_of_a_batch_that_a_wrapper_moved_beside_others(
    tmp_path: Path, batch: str, before: str, given: str, moved: str
) -> None:
    """A scatter takes all tensors to the GPUs: in torch_xla a loss of logits there and labels on the host raises."""
    text = BESIDE.replace("BATCH", batch).replace("BEFORE", before or "pass").replace("GIVEN", given)
    fixed = ported(tmp_path, "TPU002,TPU604", train=text)
    assert "DataParallel" not in fixed
    assert f"net({moved})" in fixed


@pytest.mark.parametrize(
    ("taken", "left"),
    [("net = net.module", ""), ("inner = net.module", "inner = net"), ("net.head = net.module", "net.head = net")],
)
def test_a_model_that_is_taken_out_of_its_wrapper(tmp_path: Path, taken: str, left: str) -> None:
    """Nothing is left of `net = net.module`, where `net = net` would do nothing."""
    made = "import torch\nfrom torch import nn\n\n\nnet = nn.DataParallel(nn.Linear(8, 4))\n"
    text = f"{made}net.to('cuda')\n{taken}\nprint(net)\n"
    assert f"net.to('xla')\n{left}\nprint(net)".replace("\n\n", "\n") in ported(tmp_path, "TPU0,TPU604", train=text)


@pytest.mark.parametrize(("moves", "is_moved"), [("", True), ("x = x.to(next(self.parameters()).device)", False)])
def test_inputs_that_a_wrapper_in_another_file_moved(tmp_path: Path, moves: str, is_moved: bool) -> None:
    loop = """\
def train_epoch(loader, model, criterion, optimizer, device):
    model.train()
    for inputs, targets in loader:
        targets = targets.to(device)
        loss = criterion(model(inputs), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
    nets = f"""\
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 4)

    def forward(self, x):
        {moves or "x = x * 1"}
        return self.layer(x)
"""
    program = """\
import torch
from torch import nn

from loop import train_epoch
from nets import Net

device = torch.device("cuda")
model = nn.DataParallel(Net()).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = torch.utils.data.DataLoader(data, batch_size=16, drop_last=True)
train_epoch(loader, model, nn.CrossEntropyLoss(), optimizer, device)
"""
    ported(tmp_path, "TPU021,TPU604", train=program, loop=loop, nets=nets)
    assert ("model(inputs.to(device))" in (tmp_path / "loop.py").read_text()) is is_moved


@pytest.mark.parametrize(
    ("loaded", "at"),
    [
        ("checkpoint = torch.load(path)\nnet.load_state_dict(checkpoint['model'])", "path"),
        ("other = torch.load('whole.pt')['model']\nother.eval()\nother.to(device)", "'whole.pt'"),
    ],
)
def test_what_was_saved_on_a_gpu_is_loaded_to_the_host(tmp_path: Path, loaded: str, at: str) -> None:
    text = f"""\
import torch
from torch import nn

device = torch.device("cuda")
net = nn.DataParallel(nn.Linear(8, 4)).to(device)
{loaded}
torch.save(net.state_dict(), "last.pt")
"""
    assert f'torch.load({at}, map_location="cpu")' in ported(tmp_path, "TPU001,TPU604,TPU701,TPU703", train=text)


@pytest.mark.parametrize(
    "asked",
    [
        "if torch.cuda.device_count() == 0:",
        "n = torch.cuda.device_count()\nif n == 0:",
        "n = torch.cuda.device_count()\nif len(ids) > 0 and n < 1:",
        "if gpu >= torch.cuda.device_count():",
        "if not torch.cuda.device_count():",
        "n = torch.cuda.device_count()\nif not n:",
    ],
)
def test_ways_to_the_host_without_a_gpu(tmp_path: Path, asked: str) -> None:
    text = f"""\
import torch

name = "cuda:0"
{asked}
    name = "cpu"
model = torch.nn.Linear(8, 4).to(torch.device(name))
"""
    fixed = ported(tmp_path, "TPU001,TPU605", train=text)
    scope: dict[str, object] = {"gpu": 0, "ids": [0]}
    exec(fixed.split("model =")[0].replace("import torch_xla", "pass"), scope)
    assert scope["name"] == "xla"


CONVERTS = """\
def sequence_input(sequence, dtype):
    return [Variable(x.type(dtype)) for x in sequence]


def normalize(options, dtype, sequence):
    sequence.transpose_(0, 1)
    return sequence_input(sequence, dtype)


def one(x, dtype):
    return x.type(dtype)


def other(x, dtype):
    print(dtype)
    return x.type(dtype)
"""
HANDS = """\
import torch
import convert

dtype = torch.cuda.FloatTensor
model = torch.nn.Linear(4, 4).to("cuda")
for sequence in batches:
    batch = convert.{}
    model(batch[0]).mean().backward()
"""


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (
            "normalize(options, dtype, sequence)",
            "[part.to(device) for part in convert.normalize(options, dtype, sequence)]",
        ),
        ("one(sequence, dtype)", "convert.one(sequence, dtype).to(device)"),
    ],
)
def test_a_tensor_class_that_a_function_of_another_file_converts_with(tmp_path: Path, call: str, expected: str) -> None:
    convert = "from torch.autograd import Variable\n\n\n" + CONVERTS
    text = ported(tmp_path, "TPU001,TPU002,TPU003", train=HANDS.format(call), convert=convert)
    assert f"batch = {expected}\n" in text and "dtype = torch.FloatTensor\n" in text


@pytest.mark.parametrize("call", ["other(sequence, dtype)", "one(model(sequence), dtype)"])
def test_a_tensor_class_with_which_more_is_done_stays(tmp_path: Path, call: str) -> None:
    convert = "from torch.autograd import Variable\n\n\n" + CONVERTS
    text = ported(tmp_path, "TPU001,TPU002,TPU003", train=HANDS.format(call), convert=convert)
    assert "dtype = torch.cuda.FloatTensor\n" in text


PRODUCTS = """\
import torch

def gathered(edges, values, x, n):
    a = torch.sparse_coo_tensor(edges, values, (n, n)).to(edges.device)
    return REST

x = torch.randn(4, 3).to("cuda")
edges, weight = torch.tensor([[0, 1], [1, 2]]).cuda(), torch.nn.Parameter(torch.ones(2, device="cuda"))
optimizer = torch.optim.SGD([weight], lr=0.1)
for _ in range(30):
    loss = gathered(edges, weight, x, 4).mean()
    loss.backward()
    optimizer.step()
    torch_xla.sync()
"""


@pytest.mark.parametrize(
    ("rest", "new"),
    [
        ("torch.sparse.mm(a, x)", "torch.mm(a, x)"),
        ("torch.sparse.mm(a, a).coalesce().values()", "torch.sparse.mm(a, a).coalesce().values()"),
        ("torch.sparse.sum(torch.sparse.mm(a, a), 1).values()", "torch.sparse.sum(torch.sparse.mm(a, a), 1).values()"),
    ],
)
def test_products_of_sparse_tensors_that_stay(tmp_path: Path, rest: str, new: str) -> None:
    """Where the factors have to stay sparse, which is told, so does their product."""
    fixed = ported(tmp_path, "TPU007,TPU135", train="import torch_xla\n" + PRODUCTS.replace("REST", rest))
    assert f"return {new}\n" in fixed
    assert fixed.count(".index_put(") == int(rest != new)


@pytest.mark.parametrize(
    ("made", "new"),
    [
        ("torch.ones(4) \\\n        .to(device)", "torch.ones(4, device=device)\n"),
        ("(torch.ones(4)\n        .to(device))", "(torch.ones(4, device=device))\n"),
        ("((torch.ones(4))\n        .to(device))", "((torch.ones(4, device=device)))\n"),
        ("(torch.ones(4)  # all\n        .to(device))", "(torch.ones(4, device=device)  # all\n        )\n"),
        ("torch.ones(4).to(device)", "torch.ones(4, device=device)\n"),
    ],
)
def test_call_in_a_row_of_its_own(tmp_path: Path, made: str, new: str) -> None:
    """What is taken off leaves no row behind, unless a comment ends the one above."""
    text = f"""\
import torch
import torch_xla

device = torch_xla.device()
model = torch.nn.Linear(4, 4).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x in batches:
    mask = {made}
    (model(x.to(device)) * mask).sum().backward()
    optimizer.step()
    torch_xla.sync()
"""
    assert f"    mask = {new}    (model(" in ported(tmp_path, "TPU017", train=text)
