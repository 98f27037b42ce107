"""Inputs that `DataParallel` moved for code of other files, and modules of torch that compute on the host."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import tpulint

MAIN = """\
import torch
from torch import nn
from {file} import {name}

model = nn.DataParallel({wrapped}).cuda()
criterion = nn.CrossEntropyLoss().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
{call}
"""
TRAINER = """\
class Trainer:
    def __init__(self, model, criterion):
        self.model = model
        self.criterion = criterion

    def train(self, loader, optimizer):
        for inputs in loader:
            inputs, targets = self.split(inputs)
            loss = self.criterion(self.model({given}), targets)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    def split(self, inputs):
        image, _, label = inputs
        return [image{moved}], label.cuda()
"""
ENGINE = """\
import torch

def collect(loader, net):
    found = []
    for images, names in loader:
        images = torch.autograd.Variable(images){moved}
        found.append(net(images))
    return found

def pass_on(loader, net):
    return collect(loader, net)

def fit(loader, net, criterion, optimizer):
    for images, labels in loader:
        loss = criterion(net(images), labels.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

class Wrapper:
    def __init__(self, net):
        self.net = net

    def __call__(self, *parts):
        return self.net(*parts)
"""
MOVES = "tpulint_runtime.move_inputs(model)"


def ported(folder: Path, main: str, **others: str) -> str:
    """The first file after all fixes; a second run changes nothing."""
    for name, text in {"main": main, **others}.items():
        (folder / f"{name}.py").write_text(text)
    tpulint("check", "--fix", "--unsafe-fixes", ".", cwd=folder)
    files = [path.read_text() for path in sorted(folder.glob("*.py"))]
    tpulint("check", "--fix", "--unsafe-fixes", ".", cwd=folder)
    assert files == [path.read_text() for path in sorted(folder.glob("*.py"))]
    return (folder / "main.py").read_text()


@pytest.mark.parametrize(("given", "moved", "is_left"), [("*inputs", "", True), ("*inputs", ".cuda()", False)])
def test_parts_of_a_batch_that_a_class_of_another_file_unpacks(
    tmp_path: Path, given: str, moved: str, is_left: bool
) -> None:
    main = MAIN.format(
        file="trainer", name="Trainer", wrapped="nn.Linear(4, 2)",
        call="Trainer(model, criterion).train(loader, optimizer)",
    )  # fmt: skip
    text = ported(tmp_path, main, trainer=TRAINER.format(given=given, moved=moved))
    assert "DataParallel" not in text
    assert (f"model = nn.Linear(4, 2).to(device)\n{MOVES}\n" in text) is is_left
    assert ("import tpulint_runtime" in text) is is_left


@pytest.mark.parametrize(
    ("name", "call", "moved", "is_left"),
    [
        ("collect", "collect(loader, model)", "", True),
        ("collect", "collect(loader, net=model)", ".cuda()", False),
        ("pass_on", "pass_on(loader, model)", "", True),
        ("collect", "collect(loader, nn.Linear(2, 2))", "", False),  # another model
        ("fit", "fit(loader, model, criterion, optimizer)", "", False),  # moved there, beside the labels
        ("Wrapper", "wrapper = Wrapper(model)", "", False),  # passes on what it is given
    ],
)
def test_functions_of_another_file(tmp_path: Path, name: str, call: str, moved: str, is_left: bool) -> None:
    main = MAIN.format(file="engine", name=name, wrapped="nn.Linear(4, 2)", call=call)
    assert (MOVES in ported(tmp_path, main, engine=ENGINE.format(moved=moved))) is is_left


def test_a_wrapper_that_stands_alone_gives_way_to_the_call(tmp_path: Path) -> None:
    main = """\
import torch
from torch import nn
from engine import collect

device = torch.device("cuda")
model = nn.Linear(4, 2).to(device)
if several:
    model = nn.DataParallel(model)
collect(loader, model)
"""
    text = ported(tmp_path, main, engine=ENGINE.format(moved=""))
    assert f"if several:\n    {MOVES}\n" in text


@pytest.mark.parametrize(
    ("table", "is_moved"),
    [
        ("table = nn.Embedding(10, 4)", True),
        ("table = nn.DataParallel(nn.Embedding(10, 4))", False),  # took what it is given along
        ("table = nn.Embedding(10, 4)\nif share:\n    table = shared", False),
    ],
)
def test_a_table_on_the_host(tmp_path: Path, table: str, is_moved: bool) -> None:
    main = f"""\
import torch
from torch import nn

model = nn.DataParallel(nn.Linear(4, 2).cuda())
{table}
optimizer = torch.optim.Adam([*model.parameters(), *table.parameters()])
for target in torch.utils.data.DataLoader(samples):
    at = torch.randint(10, (8,))
    code = table(at)
    loss = (model(code) - target.cuda()).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
    assert ("model(code.to(device))" in ported(tmp_path, main)) is is_moved


@pytest.mark.parametrize(
    ("made", "given", "is_moved"),
    [
        ("x = load(path)", "x.unsqueeze(0)", True),
        ("x = load(path)", "x.unsqueeze(0).float()", True),
        ("x = load(path)", "x", False),  # nobody knows that it is a tensor
        ("x = load(path, device)", "x.unsqueeze(0)", False),  # told where
        ("x = load_moved(path)", "x.unsqueeze(0)", False),
        ("x = encode(torch.ones(4).cuda())", "x.unsqueeze(0)", False),  # where the tensor is that it is made of
        ("x = kept[path]", "x.unsqueeze(0)", False),
    ],
)
def test_a_sample_that_a_function_gives(tmp_path: Path, made: str, given: str, is_moved: bool) -> None:
    main = f"""\
import torch
from torch import nn
from samples import encode, load


def load_moved(path):
    return torch.load(path)["image"].cuda()


device = torch.device("cuda")
net = nn.DataParallel(nn.Linear(4, 2).cuda())
{made}
print(net({given}).argmax(1).tolist())
"""
    text = ported(tmp_path, main)
    assert (f"net({given}.to(device))" if is_moved else f"net({given})") in text


@pytest.mark.parametrize(
    ("loaded", "read"),
    [
        ('kept = torch.load(path)\nnet.load_state_dict(kept["net"])', 'kept["net"]'),
        ("net.load_state_dict(torch.load(path))", "state"),
    ],
)
def test_states_of_a_wrapper_that_stood_behind_a_question_for_cuda(tmp_path: Path, loaded: str, read: str) -> None:
    main = """\
import sys
import torch
from torch import nn

path = sys.argv[1]
device = "cuda" if torch.cuda.is_available() else "cpu"
net = nn.Linear(4, 2).to(device)
BEFORE
if device == "cuda":
    net = nn.DataParallel(net)
BEHIND
print(net(torch.ones(1, 4, device=device)).tolist())
"""
    strip = f'torch.nn.modules.utils.consume_prefix_in_state_dict_if_present({read}, "module.")\nnet.load_state_dict'
    assert strip in ported(tmp_path, main.replace("BEFORE\n", "").replace("BEHIND", loaded))
    text = ported(tmp_path, main.replace("BEFORE", loaded).replace("BEHIND\n", ""))
    assert "DataParallel" not in text and "consume_prefix" not in text


@pytest.mark.parametrize(
    ("moved", "told"),
    [
        ("net = net.cuda()", True),
        ("net = net.cuda().eval()", True),
        ("net = nn.Linear(4, 2).cuda()", False),  # another one
    ],
)
def test_states_of_a_wrapper_that_moves_in_one_of_two_branches(tmp_path: Path, moved: str, told: bool) -> None:
    main = f"""\
import sys
import torch
from torch import nn

path = sys.argv[1]
net = nn.Linear(4, 2)
net = nn.DataParallel(net)
if torch.cuda.is_available():
    {moved}
    kept = torch.load(path)
else:
    kept = torch.load(path, map_location="cpu")
net.load_state_dict(kept)
x = torch.ones(1, 4)
print(net(x.cuda() if torch.cuda.is_available() else x))
"""
    text = ported(tmp_path, main)
    strip = 'torch.nn.modules.utils.consume_prefix_in_state_dict_if_present(kept, "module.")\nnet.load_state_dict(kept)'
    assert "DataParallel(" not in text and "is_available" not in text
    assert (strip in text) is told


BESIDE = """\
import importlib
import sys
import torch
from torch import nn

def build():
    library = importlib.import_module(sys.argv[1])
    net = library.Model(4, 3)
    wrapped = nn.DataParallel(net).cuda()
    return net, wrapped, library.Model(2, 2)

{made}
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for inputs, labels in torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.randn(8, 4), torch.zeros(8))):
    loss = nn.functional.mse_loss({called}(inputs), labels.cuda())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("made", "called", "is_moved"),
    [
        ("net, model, other = build()", "model", True),
        ("net, model, other = build()", "other", False),
        ("net, (model, other) = nn.Linear(4, 2), (nn.DataParallel(nn.Linear(4, 2)).cuda(), None)", "model", True),
        ("net, (other, model) = nn.Linear(4, 2), (nn.DataParallel(nn.Linear(4, 2)).cuda(), print)", "model", False),
        ("net, *models = build()", "models[0]", False),  # which one is not seen
    ],
)
def test_a_wrapped_model_that_is_unpacked(tmp_path: Path, made: str, called: str, is_moved: bool) -> None:
    text = ported(tmp_path, BESIDE.format(made=made, called=called))
    assert (f"{called}(inputs.to(device))" in text) is is_moved, text


MADE = """\
import torch
from torch import nn

def create():
    model = nn.Linear(4, 4)
    WRAPPED
    return model.cuda()
"""
LOADED = """\
import torch
from made import create

def main(path, batches):
    model = create()
    model.load_state_dict(torch.load(path)["model"])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in batches:
        model(x.cuda()).sum().backward()
        optimizer.step()
"""
WRAPPED = "model = nn.DataParallel(model)"


@pytest.mark.parametrize(
    ("wrapped", "old", "new", "told"),
    [
        (WRAPPED, "", "", True),
        (f"if torch.cuda.device_count() > 1: {WRAPPED}", "", "", False),
        ("other = nn.DataParallel(model)", "", "", False),
        ("pass", "", "", False),
        (WRAPPED, "optimizer =", "model = model.module\n    optimizer =", False),
        (WRAPPED, "model.load_state_dict(", "model.module.load_state_dict(", False),
        (WRAPPED, "torch.load(path)", "{k.replace('module.', ''): v for k, v in torch.load(path)}", False),
    ],
)
def test_states_of_a_model_that_another_file_wraps(
    tmp_path: Path, wrapped: str, old: str, new: str, told: bool
) -> None:
    """Its fix leaves the wrapper out, and with it the prefix that the keys of its checkpoints begin with."""
    (tmp_path / "made.py").write_text(MADE.replace("WRAPPED", wrapped))
    (tmp_path / "train.py").write_text(LOADED.replace(old, new) if old else LOADED)
    tpulint("check", ".", "--fix", "--unsafe-fixes", "--select", "TPU604", cwd=tmp_path)
    text = (tmp_path / "train.py").read_text()
    assert text.count("consume_prefix_in_state_dict_if_present(state") == int(told)
    assert text.count("model.load_state_dict(state)") == int(told)
    tpulint("check", ".", "--fix", "--unsafe-fixes", "--select", "TPU604", cwd=tmp_path)
    assert (tmp_path / "train.py").read_text() == text


LEFT = """\
import torch
from torch import nn

def train(model, dataset, devices):
    if not isinstance(model, nn.DataParallel):
        # its own devices
        model = nn.DataParallel(model, device_ids=devices)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = torch.utils.data.DataLoader(dataset, batch_size=4, drop_last=True)
    for images, labels in loader:
        MOVED
        loss = nn.functional.cross_entropy(model(images), labels.cuda())
        loss.backward()
        optimizer.step()
    print(ASKED.state_dict())
"""


@pytest.mark.parametrize(
    ("moved", "asked", "call", "wrappers"),
    [
        ("pass", "model.module", "model(images.to(torch_xla.device()))", 1),  # the wrapper stays
        ("images = images.cuda()", "model.module", "model(images)", 1),
        ("pass", "model", "model(images.to(torch_xla.device()))", 0),
    ],
)
def test_inputs_of_a_wrapper_that_stays(tmp_path: Path, moved: str, asked: str, call: str, wrappers: int) -> None:
    """Without GPUs it hands on what it is given, where it lies."""
    path = tmp_path / "train.py"
    path.write_text(LEFT.replace("MOVED", moved).replace("ASKED", asked))
    stays = "the wrapper stays"
    told = tpulint("check", ".", "--select", "TPU604", cwd=tmp_path).out
    assert (stays in told) is (wrappers == 1 and moved == "pass")
    left = tpulint("check", ".", "--fix", "--unsafe-fixes", "--select", "TPU0,TPU604", cwd=tmp_path).out
    assert stays not in left
    text = path.read_text()
    assert f"cross_entropy({call}, labels" in text
    assert text.count("DataParallel(model") == wrappers
    tpulint("check", ".", "--fix", "--unsafe-fixes", "--select", "TPU0,TPU604", cwd=tmp_path)
    assert path.read_text() == text


@pytest.mark.parametrize(
    ("renamed", "stays"),
    [
        ("{key[len('module.'):]: value for key, value in state.items()}", True),
        ("{key[7:]: value for key, value in state.items()}", True),
        ("{key: state['module.' + key] for key in model.state_dict()}", True),
        ("{key.replace('module.', ''): value for key, value in state.items()}", False),
        ("{key[7:] if key.startswith('module.') else key: value for key, value in state.items()}", False),
    ],
)
def test_another_file_that_waits_for_the_prefix(tmp_path: Path, renamed: str, stays: bool) -> None:
    """What it reads was saved by the wrapped model, here: without the wrapper its keys are others."""
    main = """\
import torch
from torch import nn

net = nn.DataParallel(nn.Linear(4, 2)).cuda()
torch.save(net.state_dict(), "last.pt")
"""
    test = f"""\
import torch

def resume(model):
    state = torch.load("last.pt")
    model.load_state_dict({renamed})
"""
    text = ported(tmp_path, main, test=test)
    assert ("DataParallel" in text) is stays, text


def test_a_branch_that_has_a_wrapper_for_processes(tmp_path: Path) -> None:
    """A state with the prefix is loaded by both."""
    main = """\
import sys
import torch
from torch import nn

net = nn.Linear(4, 2)
if "--distributed" in sys.argv:
    net = nn.parallel.DistributedDataParallel(net.cuda())
else:
    net = nn.DataParallel(net).cuda()
net.load_state_dict(torch.load("last.pt"))
"""
    text = ported(tmp_path, main)
    assert "nn.DataParallel(net)" in text and "consume_prefix" not in text
    alone = ported(tmp_path, main.replace("nn.parallel.DistributedDataParallel(net.cuda())", "net.cuda()"))
    assert "nn.DataParallel(net)" not in alone and "consume_prefix" in alone


COUNTED = """\
import torch
from torch import nn

count = torch.cuda.device_count()
model = nn.Linear(4, 4)
if TEST:
    model = nn.DataParallel(model)
    model = model.cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
"""


@pytest.mark.parametrize(
    ("test", "is_run"),
    [
        ("count", True),
        ("count > 0", True),
        ("count >= 1", True),
        ("0 < count", True),
        ("count != 0", True),
        ("args.cuda and count > 0", True),
        ("count > 1", False),
        ("count >= 2", False),
        ("1 < count", False),
        ("count != 1", False),
        ("args.cuda and torch.cuda.device_count() > 1", False),
    ],
)
def test_branches_that_a_single_device_runs(tmp_path: Path, test: str, is_run: bool) -> None:
    """What moves the model has to stay where one GPU was enough for it."""
    (tmp_path / "train.py").write_text(COUNTED.replace("TEST", test))
    tpulint("--fix", "--unsafe-fixes", cwd=tmp_path)
    text = (tmp_path / "train.py").read_text()
    assert "DataParallel" not in text
    assert ("    model = model.to(device)\n" in text) is is_run


KEEPS = """\
import torch
from torch import nn

class Trainer:
    def make(self, loader):
        self.loader = loader
        model = nn.DataParallel(nn.Linear(4, 3)).cuda()
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        self.model = model
"""


USES = """\
import torch
from {file} import Trainer

trainer = {made}
trainer.make(loader)
for {dealt}:
    trainer.optimizer.zero_grad()
    {call}.mean().backward()
    trainer.optimizer.step()
"""


@pytest.mark.parametrize(
    ("dealt", "call", "is_left"),
    [
        ("x, y in trainer.loader", "trainer.model(x)", True),
        ("i, (x, y) in enumerate(trainer.loader)", "trainer.model(x, {'y': y})", True),
        ("i, x in enumerate(trainer.loader)", "trainer.model(x)", True),  # the whole batch
        ("x, y in trainer.loader", "trainer.model(x.cuda())", False),
        ("x, y in trainer.loader", "trainer.model(x.cuda(), y)", False),
        ("x, y in trainer.loader", "trainer.criterion(x)", False),  # another module
        ("x, y in trainer.loader", "other.model(x)", False),  # another object
    ],
)
def test_models_that_objects_keep_for_other_files(tmp_path: Path, dealt: str, call: str, is_left: bool) -> None:
    text = ported(tmp_path, KEEPS, uses=USES.format(file="main", made="Trainer()", dealt=dealt, call=call))
    assert "DataParallel" not in text and (MOVES in text) is is_left


@pytest.mark.parametrize(
    ("file", "made", "is_left"),
    # A path that is computed hides the file, but not the name of its class.
    [("hidden.base", "Trainer()", True), ("main", "build()", False), ("main", "Trainer", False)],
)
def test_objects_are_known_by_the_name_of_their_class(tmp_path: Path, file: str, made: str, is_left: bool) -> None:
    uses = USES.format(file=file, made=made, dealt="x, y in trainer.loader", call="trainer.model(x)")
    assert (MOVES in ported(tmp_path, KEEPS, uses=uses)) is is_left


def test_objects_that_an_object_keeps(tmp_path: Path) -> None:
    uses = """\
from main import Trainer

class Run:
    def __init__(self):
        self.trainer = Trainer()

    def go(self):
        for x, y in self.trainer.loader:
            print(self.trainer.model(x))
"""
    assert MOVES in ported(tmp_path, KEEPS, uses=uses)


LISTED = """\
import torch
from torch import nn

nets = []
for size in (3, 5):
    model = nn.DataParallel(nn.Linear(4, size).cuda())
    {put}
for net, rows in zip(nets, data):
    {call}
"""


@pytest.mark.parametrize(
    ("put", "call", "is_left"),
    [
        ("nets.append(model)", "print(score(net, rows))", True),
        ("nets.append((model, size))", "print(score(net, rows))", True),
        ("nets.append(model)", "print(score(net, rows.cuda()))", False),  # who moves one tensor moves what must be
        ("names.append(model.name)", "print(score(net, rows))", False),
    ],
)
def test_models_in_lists(tmp_path: Path, put: str, call: str, is_left: bool) -> None:
    text = ported(tmp_path, LISTED.format(put=put, call=call))
    assert "DataParallel" not in text and (MOVES in text) is is_left


@pytest.mark.parametrize(
    ("filled", "read"),
    [
        ("own.update({k: v for k, v in loaded.items() if k in own})", "loaded"),
        ("kept = {k: loaded[k] for k in loaded if k in own}\nown.update(kept)", "loaded"),
        ("known = choose(loaded, own)\nown.update(known)", "loaded"),
        ("part = loaded['model']\nfor k, v in part.items():\n    if k in own:\n        own[k].copy_(v)", "part"),
        ("kept = {}\nfor k, v in loaded.items():\n    if k in own:\n        kept[k] = v\nown.update(kept)", "loaded"),
        # Whole, with the prefix, which is there still when the state is loaded.
        ("own.update(read(path))", ""),
        ("own['bias'] = torch.zeros(2)", ""),
        ("for k in own:\n    print(own[k].shape)", ""),
    ],
)
def test_states_that_are_filled_with_what_the_model_knows(tmp_path: Path, filled: str, read: str) -> None:
    """Behind the choice by name nothing with the prefix is left, and nothing would be loaded."""
    main = f"""\
import sys
import torch
from torch import nn
from files import choose, read

path = sys.argv[1]
net = nn.DataParallel(nn.Linear(4, 2)).cuda()
loaded = torch.load(path)
own = net.state_dict()
{filled}
net.load_state_dict(own)
"""
    rows = ported(tmp_path, main).splitlines()
    strips = [at for at, row in enumerate(rows) if "consume_prefix" in row]
    assert len(strips) == 1 and f'({read or "own"}, "module.")' in rows[strips[0]]
    assert rows[strips[0] - 1].startswith(f"{read} = ") if read else rows[strips[0] + 1].startswith("net.load_state")


@pytest.mark.parametrize(("given", "is_free"), [("loaded", True), ("loaded=None", False)])
def test_states_that_are_filled_with_what_a_function_is_given(tmp_path: Path, given: str, is_free: bool) -> None:
    main = f"""\
import torch
from torch import nn

net = nn.DataParallel(nn.Linear(4, 2)).cuda()


def fill({given}):
    '''Load.'''
    own = net.state_dict()
    own.update({{k: v for k, v in loaded.items() if k in own}})
    net.load_state_dict(own)
"""
    text = ported(tmp_path, main)
    strip = 'torch.nn.modules.utils.consume_prefix_in_state_dict_if_present(loaded, "module.")'
    assert (f"    '''Load.'''\n    {strip}\n    own =" in text) is is_free
    assert ("nn.DataParallel" in text) is not is_free


@pytest.mark.parametrize(
    ("program", "is_free"),
    [
        ("net = nn.DataParallel(net).cuda()\nload(net, path)", True),
        ("load(nn.DataParallel(net), path)", True),
        ("net = wrap(net)\nnet.load_state_dict(torch.load(path))", True),
        ("net = nn.DataParallel(net)\nold = net\nnet = old.cuda()\nnet.load_state_dict(torch.load(path))", True),
        ("net = nn.DataParallel(net)\nother = net\nother.load_state_dict(torch.load(path))", True),
        ("self = Trainer()\nself.load(path)", True),
        # In front of the wrapper, and another model.
        ("old = net\nold.load_state_dict(torch.load(path))\nnet = nn.DataParallel(net).cuda()", False),
        ("other = nn.Linear(4, 2)\nnet = nn.DataParallel(net)\nother.load_state_dict(torch.load(path))", False),
    ],
)
def test_states_of_a_wrapper_under_another_name(tmp_path: Path, program: str, is_free: bool) -> None:
    helpers = {
        "load": "def load(model, path):\n    model.load_state_dict(torch.load(path))\n",
        "wrap": "def wrap(given):\n    return nn.DataParallel(given).cuda()\n",
        "Trainer": (
            "class Trainer:\n    def __init__(self):\n        self.model = nn.DataParallel(nn.Linear(4, 2)).cuda()\n\n"
            "    def load(self, path):\n        net = self.model\n        net.load_state_dict(torch.load(path))\n"
        ),
    }
    used = "\n".join(text for name, text in helpers.items() if f"{name}(" in program)
    start = "import sys\nimport torch\nfrom torch import nn\n\npath = sys.argv[1]\nnet = nn.Linear(4, 2)\n"
    text = ported(tmp_path, "\n".join([start, used, program, ""]))
    assert "DataParallel" not in text
    assert text.count("consume_prefix") == int(is_free)


@pytest.mark.parametrize(
    ("program", "is_free"),
    [
        ("net.load_state_dict(torch.load(path))", True),
        ("old = net\nold.load_state_dict(torch.load(path))", True),
        ("def load(model):\n    model.load_state_dict(torch.load(path))\n\n\nload(net)", True),
        # Of a model of this run, and of one that the file unwraps itself.
        ("best = copy.deepcopy(net.state_dict())\nnet.load_state_dict(best)", False),
        ("kept = net.module if hasattr(net, 'module') else net\nnet.load_state_dict(torch.load(path))", False),
    ],
)
def test_states_of_a_wrapper_for_several_gpus(tmp_path: Path, program: str, is_free: bool) -> None:
    """On one GPU such a file did not load either; what several saved does without the wrapper."""
    start = "import copy\nimport sys\nimport torch\nfrom torch import nn\n\npath = sys.argv[1]\nnet = nn.Linear(4, 2)\n"
    wrapper = "if torch.cuda.device_count() > 1:\n    net = nn.DataParallel(net)\nnet.cuda()\n"
    text = ported(tmp_path, f"{start}{wrapper}{program}\n")
    assert "DataParallel" not in text
    assert text.count("consume_prefix") == int(is_free)


@pytest.mark.parametrize(
    ("program", "util", "stays"),
    [
        ("net = nn.DataParallel(net)\nload(net)", "", True),
        ("net = nn.DataParallel(net)\nnet = load(net.cuda())", "", True),
        ("net = nn.DataParallel(net)\nload(net)", "    print('module.' in str(state))\n", False),
        ("load(net)\nnet = nn.DataParallel(net)", "", False),
    ],
)
def test_a_wrapper_into_which_another_file_loads_stays(tmp_path: Path, program: str, util: str, stays: bool) -> None:
    """Nothing takes the prefix off there."""
    load = f"import torch\n\n\ndef load(model, path='a.pt'):\n    state = torch.load(path)\n{util}"
    load += "    model.load_state_dict(state)\n    return model\n"
    start = "import torch\nfrom torch import nn\nfrom util import load\n\nnet = nn.Linear(4, 2)\n"
    text = ported(tmp_path, f"{start}{program}\nnet.cuda()\n", util=load)
    assert ("DataParallel" in text) is stays


@pytest.mark.parametrize(
    ("own", "is_fixed"),
    [
        ("def __getattr__(self, name):\n        return getattr(self.module, name)", True),
        ("def gather(self, outputs, output_device):\n        return outputs", False),  # its results are others
        ("def forward(self, x):\n        return self.module(x.cuda())", False),
        ("def cuda(self):\n        return self", True),
    ],
)
def test_inputs_of_a_class_derived_from_the_wrapper(tmp_path: Path, own: str, is_fixed: bool) -> None:
    main = f"""\
import torch
from torch import nn
from torch.utils.data import DataLoader


class OwnParallel(nn.DataParallel):
    {own}


net = OwnParallel(nn.Linear(4, 2)).cuda()
for x, y in DataLoader(torch.utils.data.TensorDataset(torch.randn(8, 4), torch.zeros(8)), 4, drop_last=True):
    loss = nn.functional.cross_entropy(net(x), y.cuda())
    loss.backward()
"""
    text = ported(tmp_path, main)
    assert "OwnParallel(nn.Linear(4, 2))" in text
    assert ("net(x.to(" in text) is is_fixed
    left = tpulint("check", "--output-format", "concise", ".", cwd=tmp_path).out
    assert ("inputs that lie on the host" in left) is ("gather" in own)


@pytest.mark.parametrize("name", ["data", "batch", "sample", "images"])
@pytest.mark.parametrize("dealt", ["{name}, target in loader", "i, ({name}, target) in enumerate(loader)"])
def test_a_part_of_a_batch_whatever_it_is_called(tmp_path: Path, name: str, dealt: str) -> None:
    main = f"""\
import torch
from torch import nn
from samples import loader

model = nn.DataParallel(nn.Linear(8, 1)).cuda()
for {dealt.format(name=name)}:
    target = target.cuda()
    print((model({name}) - target).abs().sum())
"""
    assert f"model({name}.to(device))" in ported(tmp_path, main)


def test_a_whole_batch_that_may_be_a_dictionary(tmp_path: Path) -> None:
    main = """\
import torch
from torch import nn
from samples import loader, target

model = nn.DataParallel(nn.Linear(8, 1)).cuda()
for i, batch in enumerate(loader):
    print((model(batch) - target.cuda()).abs().sum())
"""
    assert "batch.to(" not in ported(tmp_path, main)


DROPPED = """\
import torch
from torch import nn

device = "cuda" if torch.cuda.is_available() else "cpu"
net = nn.Linear(4, 2).to(device)
if device == "cuda":
    net = nn.DataParallel(net)
state = torch.load("net.pth")
{own}
net.load_state_dict(state)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for x in batches:
    net(x.to(device)).sum().backward()
    optimizer.step()
"""
ADDING = """\
import torch
from torch import nn

net = nn.DataParallel(nn.Linear(4, 2).cuda())
net.load_state_dict({"module." + key: value for key, value in torch.load("other.pth").items()})
"""


@pytest.mark.parametrize("other", [ADDING, ""])
@pytest.mark.parametrize(
    ("own", "is_free"), [("print(len(state))", True), ('state = {"module." + k: v for k, v in state.items()}', False)]
)
def test_a_branch_that_wraps_and_falls_away(tmp_path: Path, other: str, own: str, is_free: bool) -> None:
    """What another script adds to the keys of its own states says nothing of those of this one."""
    (tmp_path / "other.py").write_text(other)
    text = ported(tmp_path, DROPPED.format(own=own))
    assert "DataParallel" not in text
    assert ('consume_prefix_in_state_dict_if_present(state, "module.")\nnet.load_state_dict(state)' in text) is is_free


UNPACKED = """\
import torch
from torch import nn
from torch.utils.data import DataLoader

device = torch.device("cuda", 0)
net = nn.parallel.DistributedDataParallel(Net().to(device), device_ids=[0])
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for batch in DataLoader([{"x": torch.ones(4), "y": torch.ones(1)}] * 64, batch_size=8, drop_last=True):
    MOVED
    loss = net(**batch).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("moved", "is_moved"),
    [("pass", False), ("batch = {key: value.to(device) for key, value in batch.items()}", True)],
)
def test_a_batch_that_is_unpacked_by_name(tmp_path: Path, moved: str, is_moved: bool) -> None:
    """The wrapper moved it where it was told its GPU."""
    path = tmp_path / "train.py"
    path.write_text(UNPACKED.replace("MOVED", moved))
    tpulint("check", ".", "--fix", "--unsafe-fixes", "--select", "TPU0,TPU603", cwd=tmp_path)
    text = path.read_text()
    assert "device_ids" not in text
    parts = "key: value.to(device) if torch.is_tensor(value) else value for key, value in batch.items()"
    assert (f"net(**{{{parts}}})" in text) is not is_moved
    assert ("net(**batch)" in text) is is_moved
