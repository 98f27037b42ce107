"""Models that a function of another file moves after their optimizers were built."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import tpulint
from marked_files import agree

BUILT = """\
import torch
from torch import nn
{imported}

device = torch.device("cuda")
model = nn.Linear(8, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
{moved}
for x in loader:
    model(x.to(device)).sum().backward()
    optimizer.step()
"""
HELPERS = """\
import torch

def to_device(model, device):
    model.to(device)

def place(device, model=None):
    if device:
        model = model.to(device)
    return model

def for_evaluation(model, device="cpu"):
    return model.to(device)

def start(model, loader):
    to_device(model, "cuda")
    return loader

def trained(model, optimizer):
    model.cuda()  # TPU303
    return optimizer
"""


@pytest.mark.parametrize(
    ("imported", "moved"),
    [
        ("from helpers import to_device", "to_device(model, device)  # TPU303"),
        ("import helpers", "helpers.place(device, model=model)  # TPU303"),
        ("from helpers import start", "loader = start(model, loader)  # TPU303"),
        ("from helpers import for_evaluation", "model = for_evaluation(model, device)  # TPU303"),
        ("from helpers import for_evaluation", "copy = for_evaluation(model)"),
        ("from helpers import to_device", 'to_device(model, "cpu")'),
        ("from helpers import trained", "trained(model, optimizer)"),  # told there
        ("from helpers import to_device", "to_device(nn.Linear(2, 2), device)"),
        ("from helpers import to_device", "model.to(device)  # TPU303\nto_device(model, device)"),
        ("from elsewhere import to_device", "to_device(model, device)"),
    ],
)
def test_functions_that_move_what_they_are_given(tmp_path: Path, imported: str, moved: str) -> None:
    agree(tmp_path, "TPU303", train=BUILT.format(imported=imported, moved=moved), helpers=HELPERS)


def test_a_model_that_has_moved_before(tmp_path: Path) -> None:
    train = """\
    import torch
    from torch import nn
    from helpers import make, to_device

    device = torch.device("cuda")
    first = nn.Linear(8, 2)
    to_device(first, device)
    optimizer = torch.optim.SGD(first.parameters(), lr=0.1)
    to_device(first, device)
    second = make(device)
    other = torch.optim.SGD(second.parameters(), lr=0.1)
    to_device(second, device)
    """
    made = "\nfrom torch import nn\n\ndef make(device):\n    return nn.Linear(2, 2).to(device)\n"
    agree(tmp_path, "TPU303", train=train, helpers=HELPERS + made)


def test_an_engine_that_makes_the_step(tmp_path: Path) -> None:
    engine = """\
    from helpers import to_device

    def make_step(model, optimizer, device=None):
        if device:
            to_device(model, device)

        def step(x):
            model(x.to(device)).sum().backward()
            optimizer.step()

        return step

    def do_train(settings, model, loader, optimizer):
        step = make_step(model, optimizer, device=settings["device"])
        for x in loader:
            step(x)
    """
    solver = """\
    import torch

    def make_optimizer(settings, model):
        return getattr(torch.optim, settings["optimizer"])(model.parameters(), lr=0.1)
    """
    network = """\
    from torch import nn

    class Baseline(nn.Module):
        def __init__(self):
            super().__init__()
            self.base = nn.Linear(8, 2)
    """
    train = """\
    from engine import do_train
    from network import Baseline
    from solver import make_optimizer

    def main(loader, with_center):
        settings = {"device": "cuda", "optimizer": "SGD"}
        model = Baseline()
        if not with_center:
            optimizer = make_optimizer(settings, model)
            do_train(settings, model, loader, optimizer)  # TPU303
        else:
            optimizer, of_center = make_optimizers(settings, model)
            do_train(settings, model, loader, optimizer)
    """
    agree(tmp_path, "TPU303", train=train, engine=engine, solver=solver, network=network, helpers=HELPERS)
    tpulint("--fix", "--unsafe-fixes", ".", cwd=tmp_path)
    assert "set_swap_module_params_on_conversion(True)\n" in (tmp_path / "train.py").read_text()


TRAINER = """\
import torch
from torch import nn

class WithLoss(nn.Module):
    def __init__(self, model, loss):
        super().__init__()
        self.model = model
        self.loss = loss

class Trainer:
    def __init__(self, settings, model, optimizer=None):
        self.optimizer = optimizer
        self.model_with_loss = WithLoss(model, nn.MSELoss())

    def set_device(self, gpus, device):
        if len(gpus) > 1:
            self.model_with_loss = nn.DataParallel(self.model_with_loss, device_ids=gpus).to(device)
        else:
            self.model_with_loss = self.model_with_loss.to(device)

    def look(self):
        return self.optimizer
"""


@pytest.mark.parametrize(
    "told", ["trainer.set_device([0], device)  # TPU303", 'trainer.set_device([0], "cpu")', "trainer.look()"]
)
def test_what_an_object_was_made_with(tmp_path: Path, told: str) -> None:
    moved = f"trainer = Trainer(settings, model, optimizer)\n{told}"
    train = BUILT.format(imported="from trainer import Trainer", moved=moved)
    agree(tmp_path, "TPU303", train=train, trainer=TRAINER)


@pytest.mark.parametrize(
    ("handed", "told"),
    [
        ("super().__init__(settings, model, optimizer=optimizer)", "  # TPU303"),
        ("super(Derived, self).__init__(settings, optimizer=optimizer, model=model)", "  # TPU303"),
        ("super().__init__(settings, make(), optimizer)", ""),  # another model
    ],
)
def test_what_an_object_of_a_derived_class_was_made_with(tmp_path: Path, handed: str, told: str) -> None:
    moved = f"trainer = Derived(settings, model, optimizer)\ntrainer.set_device([0], device){told}"
    train = BUILT.format(imported="from derived import Derived", moved=moved)
    derived = f"""\
    from trainer import Trainer

    class Derived(Trainer):
        def __init__(self, settings, model, optimizer=None):
            {handed}
    """
    agree(tmp_path, "TPU303", train=train, trainer=TRAINER, derived=derived)


def test_a_module_around_the_trained_one(tmp_path: Path) -> None:
    program = (
        TRAINER.replace("gpus).to(device)", "gpus).to(device)  # TPU303")
        .replace("loss.to(device)", "loss.to(device)  # TPU303")
        .replace("\nclass", "\n\nclass")
    )
    made = BUILT.format(imported="", moved="trainer = Trainer(settings, model, optimizer)")
    agree(tmp_path, "TPU303", train=program + made + "trainer.set_device([0], device)\n")


def test_no_flag_where_recurrent_layers_are_loaded(tmp_path: Path) -> None:
    network = """\
    from torch import nn

    class Tagger(nn.Module):
        def __init__(self):
            super().__init__()
            self.run = nn.LSTM(4, 2)
    """
    train = """\
    import torch
    from helpers import to_device
    from network import Tagger

    model = Tagger()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model.load_state_dict(torch.load("last.pt", map_location="cpu"))
    to_device(model, "cuda")  # TPU303
    """
    agree(tmp_path, "TPU303", train=train, network=network, helpers=HELPERS)
    tpulint("--fix", "--unsafe-fixes", "--select", "TPU303", ".", cwd=tmp_path)
    assert "set_swap" not in (tmp_path / "train.py").read_text()


def test_parts_that_moved_with_another_module(tmp_path: Path) -> None:
    program = TRAINER.split("class Trainer")[0] + (
        """
import copy

device = torch.device("cuda")
backbone = nn.Linear(8, 2)
student = WithLoss(backbone, nn.MSELoss()).to(device)
optimizer = torch.optim.SGD(backbone.parameters(), lr=0.1)
other = WithLoss(backbone, nn.MSELoss()).to(device)
teacher = copy.deepcopy(student)
of_teacher = torch.optim.SGD(teacher.parameters(), lr=0.1)
teacher.to(device)
features = nn.Sequential(teacher.model, nn.ReLU()).to(device)
"""
    )
    agree(tmp_path, "TPU303", train=program)


PAIR = """\
import torch
from torch import nn

class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(4, 4), nn.Linear(4, 4)
        other = nn.Linear(4, 4)
        {taken}
        self.optimizer = torch.optim.Adam({given}, lr=0.1)

    def train_step(self, x):
        self.optimizer.zero_grad()
        self.look(x).pow(2).mean().backward()
        self.advance()

    def advance(self):
        self.optimizer.step()

    def look(self, x):
        return self.second(self.first(x))
"""


@pytest.mark.parametrize(
    ("taken", "given", "used", "is_told"),
    [
        ("", "self.first.parameters()", "pair.train_step", True),
        ("both = list(self.first.parameters()) + list(self.second.parameters())",
         "[p for p in both if p.requires_grad]", "pair.train_step", True),
        ("params = list(self.first.parameters())\n        params += list(other.parameters())", "params",
         "pair.train_step", True),
        ("params = list(other.parameters())", "params", "pair.train_step", False),  # no part of it
        ("", "self.first.parameters()", "pair.look", False),  # nothing is trained here
    ],
)  # fmt: skip
def test_a_module_that_steps_an_optimizer_of_its_own(
    tmp_path: Path, taken: str, given: str, used: str, is_told: bool
) -> None:
    text = f"""\
    import torch
    from pair import Pair

    pair = Pair()
    pair.cuda(){"  # TPU303" if is_told else ""}
    for x in torch.randn(4, 8, 4):
        {used}(x.cuda())
    """
    agree(tmp_path, "TPU303", train=text, pair=PAIR.format(taken=taken, given=given))


@pytest.mark.parametrize(
    "moved",
    [
        "pair.place(device)  # TPU303",
        'pair.place("cpu")',
        "pair.place_other(device)",
        "Pair().place(device)",
        "pair.show(device)",
    ],
)
def test_parts_of_an_object_that_its_method_moves(tmp_path: Path, moved: str) -> None:
    """The optimizer has the parameters of some of its parts."""
    pair = """\
from torch import nn

class Pair:
    def __init__(self):
        self.first, self.second = nn.Linear(4, 4), nn.Linear(4, 4)
        self.other = nn.Linear(4, 4)

    def place(self, device):
        self.first.to(device)
        self.second.to(device)

    def place_other(self, device):
        self.other.to(device)

    def show(self, device):
        print(self.first, device)
"""
    main = f"""\
import itertools
import torch
from pair import Pair

device = torch.device("cuda")
pair = Pair()
optimizer = torch.optim.SGD(itertools.chain(pair.first.parameters(), pair.second.parameters()), lr=0.1)
{moved}
for x in loader:
    pair.second(pair.first(x.to(device))).sum().backward()
    optimizer.step()
"""
    agree(tmp_path, "TPU303", main=main, pair=pair)
    early = main.replace(f"{moved}\n", "").replace("pair = Pair()\n", f"pair = Pair()\n{moved.partition('  #')[0]}\n")
    agree(tmp_path, "TPU303", main=early, pair=pair)


@pytest.mark.parametrize(
    ("given", "is_told"),
    [
        ("", True),
        ("rate=0.1", True),
        ("frozen=True", False),
        ("**{**options, 'frozen': True}", False),
        ("**config", False),
    ],
)
def test_a_class_that_is_told_to_build_no_optimizer(tmp_path: Path, given: str, is_told: bool) -> None:
    net = """\
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self, rate=0.1, frozen=False):
            super().__init__()
            self.layer = nn.Linear(4, 4)
            if frozen:
                return
            self.optimizer = torch.optim.SGD(self.parameters(), lr=rate)
    """
    train = f"""\
    import torch
    from net import Net

    config = vars(parse())
    config["frozen"] = True
    model = Net({given}).to("cuda"){"  # TPU303" * is_told}
    for x in batches:
        model.layer(x.to("cuda")).mean().backward()
        model.optimizer.step()
    """
    agree(tmp_path, "TPU303", net=net, train=train)


@pytest.mark.parametrize(("name", "is_told"), [("EMA", True), ("ModelWrapper", True), ("Metric", False)])
def test_classes_without_source_that_may_hold_a_model(tmp_path: Path, name: str, is_told: bool) -> None:
    train = f"""\
    import torch
    from library import {name}

    net = torch.nn.Linear(4, 4)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    held = {name}(net)
    held.to("cuda"){"  # TPU303" * is_told}
    for x in batches:
        net(x).mean().backward()
        optimizer.step()
    """
    agree(tmp_path, "TPU303", train=train)


@pytest.mark.parametrize(
    ("base", "part", "then", "is_told"),
    [
        ("nn.Module", "World()", "", True),
        ("nn.Module", "World(0.1)", "self.grid = torch.zeros(2).to('cuda')", True),
        ("nn.Module", "World().to('cuda')  # TPU303", "", False),
        ("nn.Module", "World()", "self.world.to('cuda')  # TPU303", False),
        ("nn.Module", "World()", "self.to('cuda')", False),
        ("Holder", "World()", "", False),  # its `to` may move anything
        ("nn.Module", "Still()", "", False),
    ],
)
def test_parts_that_build_their_optimizer_in_another_file(
    tmp_path: Path, base: str, part: str, then: str, is_told: bool
) -> None:
    worlds = """\
    import torch
    from torch import nn
    from tools import Optimizer

    class World(nn.Module):
        def __init__(self, rate=0.01):
            super().__init__()
            self.net = nn.Linear(4, 4)
            self.opt = Optimizer("world", self.parameters(), rate)

        def learn(self, x):
            self.opt(self.net(x).mean())

    class Still(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = nn.Linear(4, 4)

        def learn(self, x):
            return self.net(x)
    """
    main = f"""\
    import torch
    from torch import nn
    from library import Holder
    from worlds import Still, World

    class Agent({base}):
        def __init__(self):
            super().__init__()
            self.world = {part}
            {then}

        def fit(self, x):
            self.world.learn(x)

    agent = Agent().to("cuda"){"  # TPU303" * is_told}
    for x in batches:
        agent.fit(x.to("cuda"))
    """
    agree(tmp_path, "TPU303", main=main, worlds=worlds)


@pytest.mark.parametrize(
    ("kept", "made", "is_told"),
    [
        ("self.part = part", "Part()", True),
        ("self.part = part", "Part().to('cuda')  # TPU303", False),
        ("self.part = part", "Plain()", False),
        ("self.width = len(part)", "Part()", False),
        # In a list of modules, and by name.
        ("self.parts = nn.ModuleList([nn.Linear(8, 2), part])", "Part()", True),
        ("self.add_module('part', part)", "Part()", True),
        ("self.add_module('part', part)", "Part().to('cuda')  # TPU303", False),
        ("self.parts = [part]", "Part()", False),
    ],
)
def test_given_parts_that_built_their_optimizer_in_another_file(
    tmp_path: Path, kept: str, made: str, is_told: bool
) -> None:
    nets = f"""\
    import torch
    from torch import nn

    class Plain(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(8, 2)

    class Part(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(8, 2)
            self.opt = torch.optim.SGD(self.parameters(), lr=0.1)

    class Whole(nn.Module):
        def __init__(self, part):
            super().__init__()
            {kept}
    """
    main = f"""\
    from nets import Part, Plain, Whole

    part = {made}
    net = Whole(part)
    net.to("cuda"){"  # TPU303" * is_told}
    for x in batches:
        part.opt.zero_grad()
        net(x.to("cuda")).mean().backward()
        part.opt.step()
    """
    agree(tmp_path, "TPU303", main=main, nets=nets)


@pytest.mark.parametrize(("other", "is_told"), [("Part()", True), ("Part().cuda()  # TPU303", False)])
def test_listed_parts_that_built_their_optimizer_in_another_file(tmp_path: Path, other: str, is_told: bool) -> None:
    nets = """\
    import torch
    from torch import nn

    class Part(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(8, 2)
            self.opt = torch.optim.SGD(self.parameters(), lr=0.1)

    class Whole(nn.Module):
        def __init__(self, parts):
            super().__init__()
            self.parts = nn.ModuleList(parts)
    """
    main = f"""\
    from torch import nn
    from nets import Part, Whole

    part = {other}
    net = Whole([nn.Linear(8, 2), part])
    net.to("cuda"){"  # TPU303" * is_told}
    for x in batches:
        net(x.to("cuda")).mean().backward()
        part.opt.step()
    """
    agree(tmp_path, "TPU303", main=main, nets=nets)
