"""Parameters that optimizers are given, and modules that move behind that: loops, lists, helpers, lambdas."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import tpulint

from tpulint.catalog import load
from tpulint.config import Settings
from tpulint.linter import lint
from tpulint.source import SourceFile

CATALOGUE = load()
FLAG = "set_swap_module_params_on_conversion(True)"
START = """\
import itertools
import torch
from torch import nn, optim

class Agent:
    def __init__(self):
        self.net = nn.Linear(4, 4)

def place(*nets):
    for net in nets:
        net.cuda()

def decayed(net):
    kept = []
    for name, value in net.named_parameters():
        kept.append(value)
    return [{"params": kept}]

def drawn(net):
    return filter(lambda p: p.requires_grad, net.parameters())

G, D = nn.Linear(4, 4), nn.Linear(4, 4)
agent, agents = Agent(), [Agent() for _ in range(2)]
nets = [G, D]
named = {"g": G, "d": D}
made = [nn.Linear(4, 4) for _ in range(2)]
grown = []
for _ in range(2):
    grown.append(nn.Linear(4, 4))
"""
TRAINED = """
for step in range(9):
    loss = D(torch.rand(8, 4).cuda()).sum()
    loss.backward()
    opt.step()
"""
OF_D = "opt = optim.Adam(D.parameters())"
ALL = "opts = [optim.Adam(net.parameters()) for net in {}]"
LATE = [
    (
        "opts = {k: optim.Adam(net.parameters()) for k, net in named.items()}",
        "for net in named.values():\n    net.cuda()",
    ),
    (OF_D, "[net.cuda() for net in nets]"),
    (OF_D, "for at, net in enumerate(nets):\n    nets[at] = net.cuda()"),
    (OF_D, "for at in range(2):\n    nets[at] = nets[at].cuda()"),
    (OF_D, "for net, rate in zip(nets, [1, 2]):\n    net.cuda()"),
    (OF_D, "place(G, D)"),
    (OF_D, "named['d'].cuda()"),
    (ALL.format("nets"), "for net in nets:\n    net.cuda()"),
    (ALL.format("made"), "for net in made:\n    net.cuda()"),
    (ALL.format("grown"), "for at in range(2):\n    grown[at].cuda()"),
    (ALL.format("nets"), "D.cuda()"),
    (OF_D, "for child in D.children():\n    child.cuda()"),
    ("opt = optim.Adam(agent.net.parameters())", "agent.net.cuda()"),
    ("opts = [optim.Adam(one.net.parameters()) for one in agents]", "for one in agents:\n    one.net.cuda()"),
    (OF_D, "D.apply(lambda m: m.cuda())"),
    (OF_D, "G, D = map(lambda n: n.cuda(), (G, D))"),
    (OF_D, "move = lambda n: n.cuda()\nD = move(D)"),
    ("opt = optim.Adam([{'params': G.parameters()}, {'params': D.parameters()}])", "nn.ModuleList([G, D]).cuda()"),
    (OF_D, "whole = nn.Sequential(*nets)\nwhole.cuda()"),
]


def fixed(text: str) -> str:
    """The text as the fixes leave it; the same where nothing is told."""
    settings = Settings(select=("TPU303",), fix=True, unsafe_fixes=True)
    result = lint(SourceFile.from_text(text), settings, CATALOGUE)
    assert result.error == "" and not result.findings
    return result.text


@pytest.mark.parametrize(("built", "moved"), LATE)
def test_modules_that_move_behind_their_optimizers(built: str, moved: str) -> None:
    late, early = f"{START}{built}\n{moved}\n{TRAINED}", f"{START}{moved}\n{built}\n{TRAINED}"
    assert fixed(late).count(FLAG) == 1 or fixed(late) == early
    assert fixed(early) == early


@pytest.mark.parametrize(
    ("moved", "built"),
    [
        ("for net in nets:\n    net.cuda()", ALL.format("made")),
        ("named['g'].cuda()", OF_D),
        ("place(G)", OF_D),
        ("nets[0].cuda()", OF_D),
        ("Agent().net.cuda()", "opt = optim.Adam(agent.net.parameters())"),
        ("nn.ModuleList([G]).cuda()", OF_D),
    ],
)
def test_other_modules_that_move_behind_an_optimizer(moved: str, built: str) -> None:
    text = f"{START}{built}\n{moved}\n{TRAINED}"
    assert fixed(text) == text


@pytest.mark.parametrize(
    ("made", "told"),
    [
        ("Averaged(D, rate=0.9)", True),
        ("Averaged(network=D)", True),
        ("averages.Averaged(D)", True),
        ("Averaged(G)", False),  # of another
        ("averaged(D)", False),  # a function
        ("timm.utils.ModelEmaV2(D)", False),  # it copies
        ("optim.swa_utils.AveragedModel(D)", False),
        ("Recorder(D)", False),  # of the file
        ("Trainer(D)", False),  # seen, and no module
    ],
)
def test_what_classes_nobody_sees_are_given_moves_with_them(tmp_path: Path, made: str, told: bool) -> None:
    imports = "import averages, timm\nfrom averages import Averaged, averaged\nfrom trainers import Trainer\n"
    own = "class Recorder:\n    def __init__(self, net): ...\n    def to(self, device): ...\n"
    (tmp_path / "trainers.py").write_text(own.replace("Recorder", "Trainer"))
    (tmp_path / "main.py").write_text(f"{imports}{START}{own}{OF_D}\nkept = {made}\nkept.to('cuda')\n{TRAINED}")
    assert tpulint("main.py", "--select", "TPU303", "--fix", "--unsafe-fixes", cwd=tmp_path).status == 0
    assert (FLAG in (tmp_path / "main.py").read_text()) == told


@pytest.mark.parametrize(
    ("taken", "is_list"),
    [
        ("list(D.parameters())", True),
        ("[p for p in D.parameters() if p.requires_grad]", True),
        ("[*D.parameters()]", True),
        ("decayed(D)", True),
        ("drawn(D)", False),
        ("D.parameters()", False),
        ("filter(lambda p: p.requires_grad, D.parameters())", False),
        ("[{'params': D.parameters()}, {'params': G.parameters()}]", False),
        ("itertools.chain(D.parameters(), G.parameters())", False),
        ("(p for p in D.parameters())", False),
    ],
)
def test_lists_of_parameters_that_are_made_before_the_move(taken: str, is_list: bool) -> None:
    """A generator gives nothing before the optimizer asks it, behind the move."""
    text = f"{START}params = {taken}\nD.cuda()\nopt = optim.Adam(params)\n{TRAINED}"
    first = f"{START}D.cuda()\nparams = {taken}\nopt = optim.Adam(params)\n{TRAINED}"
    assert fixed(text) == (first if is_list else text)
    assert fixed(first) == first


@pytest.mark.parametrize("groups", ["params += [{'params': [p]}]", "params.append({'params': p})"])
@pytest.mark.parametrize("behind", ["D.cuda()\nopt = optim.Adam(params)", "opt = optim.Adam(params)\nD.cuda()"])
def test_groups_that_a_loop_over_parameters_fills(groups: str, behind: str) -> None:
    text = f"{START}params = []\nfor n, p in dict(D.named_parameters()).items():\n    {groups}\n{behind}\n{TRAINED}"
    assert fixed(text).count(FLAG) == 1
    first = text.replace("D.cuda()\n", "").replace("params = []", "D.cuda()\nparams = []")
    assert fixed(first) == first


def test_modules_move_in_front_of_the_list_of_their_parameters() -> None:
    text = f"{START}params = list(G.parameters()) + list(D.parameters())\nopt = optim.Adam(params)\nD.cuda()\n{TRAINED}"
    assert fixed(text).index("D.cuda()\n") < fixed(text).index("params = ")


PARTS = """\
from torch import nn, optim

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)

    def groups(self):
        return [{"params": list(part.parameters())} for part in self.modules()]

class Work:
    def __init__(self, build):
        self.net = build(4)

def adam_for(net):
    kept = [value for name, value in net.named_parameters()]
    return optim.Adam(kept)

def chosen_for(net, name):
    build = getattr(optim, name)
    optimizer = build(net.parameters(), lr=0.1)
    return optimizer
"""


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (
            "model = Net()\ngroups = model.groups()\nmodel = nn.DataParallel(model).cuda()\nopt = optim.SGD(groups)",
            True,
        ),
        ("model = Net().cuda()\ngroups = model.groups()\nopt = optim.SGD(groups)", False),
        ("work = Work(Net)\nopt = adam_for(work.net)\nwork.net = work.net.cuda()", True),
        ("work = Work(Net)\nwork.net = work.net.cuda()\nopt = adam_for(work.net)", False),
        ("work = Work(Net)\nopt = chosen_for(work.net, 'SGD')\nwork.net = work.net.cuda()", True),
    ],
)
def test_parameters_that_other_files_take(tmp_path: Path, body: str, told: bool) -> None:
    (tmp_path / "parts.py").write_text(PARTS)
    start = "from torch import nn, optim\nfrom parts import Net, Work, adam_for, chosen_for\n"
    end = "\nfor x in loader:\n    loss = run(x)\n    loss.backward()\n    opt.step()\n"
    (tmp_path / "train.py").write_text(f"{start}{body}{end}")
    result = tpulint("check", ".", "--select", "TPU303", "--output-format", "concise", cwd=tmp_path)
    assert ("train.py" in result.out) is told, result.out


def test_lists_that_are_made_of_themselves() -> None:
    grows = "for _ in range(3):\n    nets = nn.ModuleList([*nets, D])\n    for net in nets:\n        net.cuda()"
    assert FLAG in fixed(f"{START}{OF_D}\n{grows}\n{TRAINED}")


FILLED = """\
import torch
from torch import nn, optim

class Agent:
    def __init__(self):
        self.net = nn.Linear(4, 4)
        self.opt = optim.Adam(self.net.parameters())

class Team:
    def __init__(self):
        self.nets, self.params = {}, []
        self.agents = [Agent() for _ in range(3)]
        self.nets["encoder"] = nn.Linear(4, 4)
        FIRST
        self.params += list(self.nets["encoder"].parameters())
        self.params.extend(self.nets["encoder"].parameters())
        self.opt = optim.Adam(self.params)
        LAST
"""


@pytest.mark.parametrize(
    ("first", "last", "told"),
    [
        ("", "for net in self.nets.values(): net.cuda()", True),
        ('self.nets["encoder"].cuda()', "", False),
        ('self.nets["encoder"].cuda()', "for net in self.nets.values(): net.cuda()", False),
        ("", "for agent in self.agents: agent.net.cuda()", True),
        ("", "self.other = nn.Linear(4, 4).cuda()", False),
    ],
)
def test_collections_that_are_filled_later(first: str, last: str, told: bool) -> None:
    text = FILLED.replace("FIRST", first).replace("LAST", last)
    assert (FLAG in fixed(text)) is told


@pytest.mark.parametrize("moved", ["place(G, D)", "G, D = both([G, D])", "nets = [place(net) for net in nets]"])
@pytest.mark.parametrize("told", [True, False])
def test_helpers_of_other_files_that_move_several(tmp_path: Path, moved: str, told: bool) -> None:
    helper = "def place(*nets):\n    for net in nets:\n        net.cuda()\n    return nets[0]\n"
    helper += "def both(nets):\n    return [net.cuda() for net in nets]\n"
    (tmp_path / "helper.py").write_text(helper)
    parts = ["opts = [optim.Adam(net.parameters()) for net in nets]", moved]
    start = "from torch import nn, optim\nfrom helper import both, place\nG, D = nn.Linear(4, 4), nn.Linear(4, 4)\n"
    body = "\n".join(["nets = [G, D]", *(parts if told else reversed(parts)), "opts[0].step()"])
    (tmp_path / "train.py").write_text(f"{start}{body}\n")
    result = tpulint("check", ".", "--select", "TPU303", "--output-format", "concise", cwd=tmp_path)
    assert ("train.py" in result.out) is told, result.out


POLICY = """\
from torch import nn, optim

class Policy(nn.Module):
    def __init__(self, rate, optimizer_class=optim.Adam):
        super().__init__()
        self.optimizer_class = optimizer_class
        self.build(rate)

    @property
    def device(self):
        return next(self.parameters()).device

    def build(self, rate):
        self.net = nn.Linear(4, 2)
        PLACED
        self.optimizer = self.optimizer_class(self.parameters(), lr=rate)
"""
WORK = """\
from policy import Policy

class Work:
    def __init__(self, policy_class, device):
        self.policy_class, self.device = policy_class, device
        self.kind = policy_class
        self.begin()

    def begin(self):
        self.policy = self.kind(0.1)
        self.policy = self.policy.to(self.device)

    def train(self, batches):
        for x in batches:
            self.policy(x.to(self.device)).sum().backward()
            self.policy.optimizer.step()

Work(Policy, "cuda").train(loader)
"""
LOADED = """
def load(path):
    policy = Policy(0.1)
    policy.to("cuda")
    return policy
"""


@pytest.mark.parametrize("placed", ["", "self.to('cuda')", "self.net.cuda()"])
def test_modules_that_build_their_optimizers_by_a_method(tmp_path: Path, placed: str) -> None:
    """An optimizer of a class that is given, in a method that `__init__` calls; another file moves the module."""
    (tmp_path / "policy.py").write_text(POLICY.replace("PLACED", placed))
    (tmp_path / "work.py").write_text(WORK)
    result = tpulint("check", ".", "--select", "TPU303", "--output-format", "concise", cwd=tmp_path)
    assert ("work.py:11" in result.out) is not placed, result.out


@pytest.mark.parametrize(
    ("placed", "told"), [("", True), ("self.net.to(self.device)", True), ("self.net.to('cuda')", False)]
)
def test_modules_that_build_their_optimizers_on_the_host(placed: str, told: bool) -> None:
    """The device that a module asks its parameters for is the host while it is made."""
    text = POLICY.replace("PLACED", placed) + LOADED
    assert fixed(text).count(FLAG) == told


@pytest.mark.parametrize(
    "body",
    [
        "def begin():\n    net = nn.Linear(4, 4)\n    net.to('cuda')\n    return net\n\nnew = [begin() for _ in nets]\n"
        "opts = [optim.Adam(net.parameters()) for net in new]\nfor x, y in loader:\n    x, y = x.cuda(), y.cuda()",
        "for seed in range(3):\n    new = [nn.Linear(4, 4), nn.Linear(4, 4)]\n    for net in new:\n        net.cuda()\n"
        "    opt = optim.Adam([{'params': net.parameters()} for net in new])",
        "new = [nn.Linear(4, 4).cuda() for _ in nets]\nopts = [optim.Adam(n.parameters()) for n in new]\nplace(*new)",
        "place(G, D)\nparams = list(D.parameters())\nopt = optim.Adam(params)\nfor x, y in loader:\n    place(x, y)",
        "place(*nets)\nopt = optim.Adam(D.parameters())\nother = copy.deepcopy(D)\nother.apply(lambda m: m.cuda())",
        "params = list(D.parameters())\nopt = optim.Adam(params)\nother = copy.deepcopy(D)\nother.cuda()",
        "D = nn.DataParallel(D).cuda()\nparams = [{'params': [p for p in D.parameters()]}]\nopt = optim.SGD(params)\n"
        "teacher = nn.DataParallel(nn.Linear(4, 4)).cuda()",
    ],
)
def test_modules_that_move_before_their_parameters_are_taken(body: str) -> None:
    text = f"import copy\n{START}{body}\n{TRAINED}"
    assert fixed(text) == text


PART_OF_PART = """\
import torch
from torch import nn


class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 4)


class Trainer(nn.Module):
    def __init__(self, options):
        super().__init__()
        self.net, self.options = Pair(), options
        params = list(PARTS.parameters())
        self.opt = torch.optim.SGD([p for p in params if p.requires_grad], lr=0.1)

    def update(self, x):
        self.net.body(x).mean().backward()
        self.opt.step()
"""


@pytest.mark.parametrize(("parts", "told"), [("self.net.body", True), ("self.net", True), ("self.options.net", False)])
def test_optimizers_of_the_part_of_a_part(tmp_path: Path, parts: str, told: bool) -> None:
    """What an object of options holds does not move with the module that keeps it."""
    (tmp_path / "trainer.py").write_text(PART_OF_PART.replace("PARTS", parts))
    (tmp_path / "train.py").write_text(
        "import torch\nfrom trainer import Trainer\n\ntrainer = Trainer(options)\ntrainer.cuda()\n"
        "for x in loader:\n    trainer.update(x.cuda())\n"
    )
    result = tpulint("check", ".", "--select", "TPU303", "--output-format", "concise", cwd=tmp_path)
    assert ("train.py:5" in result.out) is told, result.out


LISTED = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(4, 4), nn.Linear(4, 2)
        LISTED

    def forward(self, x):
        return self.second(self.first(x))
"""
LISTING = """\
import torch
from net import Net

model = Net().to("cuda")
optimizer = torch.optim.Adam([{"params": model.weights, "lr": 0.1}])
for x in loader:
    optimizer.zero_grad()
    model(x.to("cuda")).sum().backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("listed", "told"),
    [
        ("self.weights = list(self.first.parameters())", True),
        ("self.weights = [p for _, p in self.named_parameters()]", True),
        ("self.weights = list(self.first.parameters()) + list(self.second.parameters())", True),
        ("self.weights = self.parameters()", False),  # runs when the optimizer asks it
        ("self.others = list(self.parameters())\n        self.weights = self.second.parameters()", False),
        ("self.to('cuda')\n        self.weights = list(self.parameters())", False),
    ],
)
def test_parameters_that_a_module_lists_as_it_is_made(tmp_path: Path, listed: str, told: bool) -> None:
    _check_list(tmp_path, LISTED.replace("LISTED", listed), LISTING, told)


KEPT = "self.kept = []\n        for n, p in self.named_parameters():\n            self.kept.append((n, p))"
SPLIT = KEPT.replace("self.kept = []", "self.kept, self.slow = [], []").replace(
    "self.kept.append((n, p))", "(self.slow if n.startswith('a') else self.kept).append(p)"
)
OWN = "self.scale = nn.Parameter(torch.ones(2))\n        self.kept = [self.scale]"


@pytest.mark.parametrize(
    ("listed", "given", "told"),
    [
        (KEPT, "for _, p in self.kept:\n            yield p", True),
        (KEPT.replace("(n, p)", "p"), "return self.kept", True),
        (SPLIT, "return [{'params': self.slow, 'lr': 0.1}, {'params': self.kept}]", True),
        (SPLIT, "return self.slow + self.kept", True),
        (
            SPLIT.replace(".append(p)", ".append(n)"),
            "return [{'params': self.parameters(), 'names': self.kept}]",
            False,
        ),
        (KEPT.replace("(n, p)", "n"), "return [p for n, p in self.named_parameters() if n in self.kept]", False),
        (OWN, "return self.kept", True),
        (OWN.replace("nn.Parameter(torch.ones(2))", "torch.ones(2)"), "return self.kept", False),
        (OWN, "self.kept = [self.scale]\n        return self.kept", False),  # the list is made anew, behind the move
        (OWN, "return self.parameters()", False),
    ],
)
def test_methods_that_give_a_list_of_parameters(tmp_path: Path, listed: str, given: str, told: bool) -> None:
    net = LISTED.replace("LISTED", listed).replace(
        "    def forward", f"    def chosen(self):\n        {given}\n\n    def forward"
    )
    training = LISTING.replace('[{"params": model.weights, "lr": 0.1}]', "model.chosen(), lr=0.1")
    _check_list(tmp_path, net, training.replace("Net().to", "Net()\nmodel = model.to"), told)


def _check_list(tmp_path: Path, net: str, training: str, told: bool) -> None:
    (tmp_path / "net.py").write_text(net)
    (tmp_path / "train.py").write_text(training)
    tpulint("--fix", "--unsafe-fixes", "--select", "TPU0,TPU3", ".", cwd=tmp_path)
    assert (FLAG in (tmp_path / "train.py").read_text()) is told
    left = tpulint("check", ".", "--select", "TPU303", "--output-format", "concise", cwd=tmp_path)
    assert "TPU303" not in left.out


OPTIMIZERS = """\
from torch import optim
from torch.optim import SGD

class Looking(optim.Adam):
    pass

class Average:
    def __init__(self, values):
        self.values = list(values)

def scheduled(optimizer, lr):
    return optim.lr_scheduler.StepLR(optimizer, lr)

ALL = {"looking": Looking, "sgd": SGD}
"""


@pytest.mark.parametrize(
    ("built", "told"),
    [
        ("getattr(ours, name)(params=model.parameters(), lr=0.1)", True),
        ("getattr(ours, name)(filter(bool, model.parameters()), lr=0.1)", True),
        ("ours.__dict__[name](model.parameters(), lr=0.1)", True),
        ("vars(torch.optim)[name](model.parameters(), lr=0.1)", True),
        ("ours.ALL[name](model.parameters(), lr=0.1)", True),
        ("ours.Looking(model.parameters())", True),
        ("nobodys.Looking(model.parameters(), lr=0.1)", True),
        ("eval(name)(model.parameters(), lr=0.1)", True),
        # What nothing says of that it trains them, and what is made of no parameters.
        ("nobodys.Looking(model.parameters(), decay=0.1)", False),
        ("ours.Average(model.parameters())", False),
        ("ours.Average(optim.SGD(other.parameters(), 0.1), lr=0.1)", False),
        ("getattr(ours, name)(params=other.parameters(), lr=0.1)", False),
        ("ours.scheduled(optim.SGD(other.parameters(), 0.1), lr=0.1)", False),
    ],
)
def test_optimizers_that_are_chosen_when_the_program_runs(tmp_path: Path, built: str, told: bool) -> None:
    (tmp_path / "ours.py").write_text(OPTIMIZERS)
    start = "import nobodys\nimport ours\nimport torch\nfrom torch import nn, optim\n\nname = input()\n"
    made = "other = nn.Linear(4, 4)\nmodel = nn.Linear(4, 4)\n"
    end = "for x in loader:\n    loss = model(x).sum()\n    loss.backward()\n    opt.step()\n"
    for late in (True, False):
        steps = [f"opt = {built}\n", "model = model.cuda()\n"]
        body = "".join(steps if late else reversed(steps))
        (tmp_path / "train.py").write_text(f"{start}{made}{body}{end}")
        result = tpulint("check", ".", "--select", "TPU303", "--output-format", "concise", cwd=tmp_path)
        assert ("train.py" in result.out) is (told and late), result.out


def test_functions_that_train_leave_no_optimizer() -> None:
    text = f"{START}from nobodys import optimize\noptimize(D.parameters(), lr=0.1)\nD.cuda()\n{TRAINED}"
    assert fixed(text) == text
    kept = text.replace("optimize(D", "opt = optimize(D")
    assert FLAG in fixed(kept) or fixed(kept) != kept


KEPT = """\
import torch
from torch import nn, optim

class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Linear(4, 4)

class Pair(Base):
    def __init__(self, head=None):
        super().__init__()
        self.first, self.second = nn.Linear(4, 4), nn.Linear(4, 4)
        self.head = head
        self.inner = Base()
        self.others = [nn.Linear(4, 4)]
        self.rate = 0.1
        BUILT

class Plain:
    def __init__(self):
        self.first = nn.Linear(4, 4)

    def cuda(self):
        return self
"""
PLACE = """
    def place(self):
        self.cuda()
"""
OWN = "self.optimizer = optim.Adam(self.first.parameters())"


@pytest.mark.parametrize(
    ("built", "behind", "told"),
    [
        (f"{OWN}; self.cuda()", "", True),
        (f"{OWN}; self.to('cuda')", "", True),
        (f"{OWN}; self.to('cpu')", "", False),
        (f"{OWN}; self.double()", "", False),
        (f"self.cuda(); {OWN}", "pair = Pair()\npair.cuda()", False),
        (f"self.cuda(); {OWN}; self.cuda()", "", False),
        ("self.optimizer = optim.Adam(self.second.parameters()); self.cuda()", "", True),
        ("self.optimizer = optim.Adam(self.encoder.parameters()); self.cuda()", "", True),
        ("self.optimizer = optim.Adam(self.inner.encoder.parameters()); self.cuda()", "", True),
        ("self.optimizer = optim.Adam(head.parameters()); self.cuda()", "pair = Pair(nn.Linear(2, 2))", True),
        ("self.optimizer = optim.Adam(self.others[0].parameters()); self.cuda()", "", False),
        ("other = nn.Linear(2, 2); self.optimizer = optim.Adam(other.parameters()); self.cuda()", "", False),
        (OWN + PLACE, "pair = Pair()\npair.place()", True),
        ("", "pair = Pair()\nopt = optim.Adam(pair.first.parameters())\npair.cuda()", True),
        ("", "pair = Pair()\nopt = optim.Adam(pair.inner.encoder.parameters())\npair.cuda()", True),
        ("", "pair = Pair()\nopt = optim.Adam(pair.first.parameters())\nPair().cuda()", False),
        ("", "pair = Pair()\npair.cuda()\nopt = optim.Adam(pair.first.parameters())\npair.cuda()", False),
        ("", "plain = Plain()\nopt = optim.Adam(plain.first.parameters())\nplain.cuda()", False),
    ],
)
def test_parts_move_with_the_module_that_keeps_them(built: str, behind: str, told: bool) -> None:
    text = KEPT.replace("BUILT", built.replace("; ", "\n        ")) + f"\n{behind}\n"
    assert (fixed(text) != text) is told


def test_a_module_moves_in_front_of_the_first_of_its_optimizers() -> None:
    rows = [f"        {OWN}\n", "        self.other = optim.Adam(self.second.parameters())\n", "        self.cuda()\n"]
    start = KEPT.partition("        BUILT\n")[0]
    assert fixed("".join([start, *rows])) == "".join([start, rows[2], *rows[:2]])
    added = "        self.late = nn.Linear(4, 4)\n"  # moves, too
    assert fixed("".join([start, *rows[:2], added, rows[2]])).count(FLAG) == 1


DETECTOR = """\
from torch import nn, optim

class Detector(nn.Module):
    def __init__(self, head):
        super().__init__()
        self.head = head

    def get_optimizer(self):
        groups = []
        for name, value in dict(self.named_parameters()).items():
            groups += [{"params": [value], "lr": 0.1}]
        self.optimizer = optim.SGD(groups, momentum=0.9)
        return self.optimizer
"""
TRAINER = """\
from torch import nn

class Trainer(nn.Module):
    def __init__(self, detector):
        super().__init__()
        self.detector = detector
        self.optimizer = self.detector.get_optimizer()

    def train_step(self, x):
        self.optimizer.zero_grad()
        self.detector.head(x).sum().backward()
        self.optimizer.step()
"""
OWN_DETECTOR = """\
from torch import nn
from detector import Detector

class OwnDetector(Detector):
    def __init__(self):
        super().__init__(nn.Linear(4, 4))
"""
ASKING = """\
import torch
from own import OwnDetector
from trainer import Trainer

detector = OwnDetector()
STARTED
trainer.train_step(torch.ones(2, 4).cuda())
"""
STARTED = "trainer = Trainer(detector).cuda()"


@pytest.mark.parametrize(
    ("file", "old", "new", "told"),
    [
        ("train.py", "", "", True),
        ("train.py", STARTED, "optimizer = detector.get_optimizer()\ndetector.cuda()\ntrainer = detector", True),
        ("train.py", STARTED, "detector.cuda()\noptimizer = detector.get_optimizer()\ntrainer = detector", False),
        ("train.py", STARTED, f"detector.cuda()\n{STARTED}", False),
        ("detector.py", "        groups = []", "        self.cuda()\n        groups = []", False),
        ("detector.py", "self.named_parameters()", "other.named_parameters()", False),
        ("trainer.py", "self.detector.get_optimizer()", "detector.cuda().get_optimizer()", False),
        ("trainer.py", "self.detector.get_optimizer()", "None", False),
    ],
)
def test_optimizers_that_a_part_of_another_file_builds(
    tmp_path: Path, file: str, old: str, new: str, told: bool
) -> None:
    """By a method, and asked for it on the host: `Trainer(net)` does so as it is made, and moves as a whole."""
    files = {
        "detector.py": DETECTOR,
        "own.py": OWN_DETECTOR,
        "trainer.py": TRAINER,
        "train.py": ASKING.replace("STARTED", STARTED),
    }
    assert old in files[file]
    files[file] = files[file].replace(old, new) if old else files[file]
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    result = tpulint("check", ".", "--select", "TPU303", "--output-format", "concise", cwd=tmp_path)
    assert ("train.py" in result.out) is told, result.out


GIVEN = """\
from torch import nn, optim

class Net(nn.Module):
    def __init__(self, rate):
        super().__init__()
        self.layer, self.rate = nn.Linear(4, 2), rate

    def set_optimizer(self, steps):
        self.optimizer = optim.Adam(self.parameters(), lr=self.rate)
        REST

    def train_batch(self, x):
        self.optimizer.zero_grad()
        self.layer(x.cuda()).mean().backward()
        self.optimizer.step()
"""
GIVING = """\
from net import Net

net = Net(0.1)
net.set_optimizer(8)
net.cuda()
for x in samples:
    net.train_batch(x)
"""


@pytest.mark.parametrize(
    ("rest", "fix"),
    [
        ("pass", "order"),
        ("self.schedule = optim.lr_scheduler.StepLR(self.optimizer, steps)", "order"),
        ("self.head = nn.Linear(2, 2)", "flag"),  # moves, too
        ("self.add_head(2)", "flag"),
        ("self.cuda()", "none"),
        ("for x in samples: self.layer(x).mean().backward(); self.optimizer.step()", "none"),
    ],
)
def test_optimizers_that_a_module_of_another_file_is_told_to_build(tmp_path: Path, rest: str, fix: str) -> None:
    (tmp_path / "net.py").write_text(GIVEN.replace("REST", rest))
    (tmp_path / "train.py").write_text(GIVING)
    tpulint("check", ".", "--select", "TPU303", "--fix", "--unsafe-fixes", cwd=tmp_path)
    text = (tmp_path / "train.py").read_text()
    set_late = "net.set_optimizer(8)\nnet.cuda()\n"
    assert (set_late in text) == (fix != "order")
    assert ("net.cuda()\nnet.set_optimizer(8)\n" in text) == (fix == "order")
    assert text.count(FLAG) == (fix == "flag")


@pytest.mark.parametrize(
    "told",
    [
        "net.cuda()\nnet.set_optimizer(8)\n",
        "net.set_optimizer(8)\n",
        "other = Net(0.1)\nother.set_optimizer(8)\nnet.cuda()\n",
    ],
)
def test_modules_that_build_their_optimizer_where_they_are(tmp_path: Path, told: str) -> None:
    (tmp_path / "net.py").write_text(GIVEN.replace("REST", "pass"))
    (tmp_path / "train.py").write_text(GIVING.replace("net.set_optimizer(8)\nnet.cuda()\n", told))
    assert "TPU303" not in tpulint("check", ".", "--select", "TPU303", cwd=tmp_path).out


GROUP = "opt.add_param_group({'params': D.parameters()})"


@pytest.mark.parametrize(
    "group",
    [
        GROUP,
        "opt.add_param_group({'params': list(D.parameters()), 'lr': 0.1})",
        "opt.add_param_group(dict(params=D.weight))",
    ],
)
@pytest.mark.parametrize("moved", ["D.cuda()", "D = D.to('cuda')"])
def test_modules_that_move_behind_the_group_of_their_parameters(group: str, moved: str) -> None:
    text = f"{START}G.cuda()\nopt = optim.Adam(G.parameters())\n{group}\n{moved}\n{TRAINED}"
    first = f"{START}G.cuda()\nopt = optim.Adam(G.parameters())\n{moved}\n{group}\n{TRAINED}"
    assert fixed(text) == first
    assert fixed(first) == first


def test_modules_that_move_behind_a_group_elsewhere_keep_their_parameters() -> None:
    text = f"{START}G.cuda()\nopt = optim.Adam(G.parameters())\nif late:\n    {GROUP}\nD.cuda()\n{TRAINED}"
    assert fixed(text).count(FLAG) == 1


@pytest.mark.parametrize("behind", ["D.cpu()", "G.cuda()", "agent.net.cuda()"])
def test_groups_of_modules_that_stay(behind: str) -> None:
    text = f"{START}D.cuda()\nG.cuda()\nopt = optim.Adam(G.parameters())\n{GROUP}\n{behind}\n{TRAINED}"
    assert fixed(text) == text


IN_TURNS = """\
import torch
from torch import nn

DEVICE = torch.device("cuda")

def train(net, optimizer, data, device):
    for x in data:
        net = net.to(DEVICE)
        net(x.to(DEVICE)).sum().backward()
        optimizer.step()
        optimizer.zero_grad()

def main(data):
    net = nn.Linear(4, 4)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    train(net, optimizer, data, DEVICE)

main([torch.rand(8, 4)])
"""
"""With kept parameters: "Couldn't swap Linear.weight", where a turn that needs no gradient keeps its graph."""


def test_a_module_that_moves_in_every_turn_of_a_function_moves_beforehand() -> None:
    after = fixed(IN_TURNS)
    assert "net = nn.Linear(4, 4)\n    net.to(DEVICE)\n    optimizer = torch.optim.SGD(" in after
    assert "        net = net.to(DEVICE)\n" in after and FLAG not in after


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("net = net.to(DEVICE)", "net = net.to(device)"),  # whichever the function is given
        ("    for x in data:\n        net = net.to(DEVICE)", "    net = net.to(DEVICE)\n    for x in data:"),
        ("    net = nn.Linear(4, 4)\n", "    net = nn.Linear(4, 4)\n    DEVICE = torch.device('cuda:0')\n"),
        ('device("cuda")\n', 'device("cuda")\nDEVICE = torch.device("cuda:1")\n'),
        ("        net = net.to(DEVICE)", "        net.to('cpu')\n        collect(net)\n        net.to(DEVICE)"),
    ],
)
def test_other_modules_that_move_in_a_function_keep_their_parameters(old: str, new: str) -> None:
    assert old in IN_TURNS
    after = fixed(IN_TURNS.replace(old, new))
    assert FLAG in after and "net.to(DEVICE)\n    optimizer" not in after


BUILDING = """\
import torch
from torch import nn, optim
from types import SimpleNamespace

def build(args):
    net, other = nn.Linear(4, 4), nn.Linear(4, 4)
    BUILT
    RETURNED
"""
COMING = """\
import torch
import building

def main(args):
    UNPACKED
    MOVED
    for x in torch.ones(9, 2, 4):
        optimizer.zero_grad()
        net(x.cuda()).sum().backward()
        optimizer.step()
"""
BUILT = "optimizer = optim.Adam(net.parameters())"
CHOSEN = (
    "if args.fast: optimizer = optim.SGD([{'params': net.parameters()}], lr=0.1)\n"
    "    else: optimizer = optim.Adam(net.parameters())"
)
PAIR = ("return net, optimizer", "net, optimizer = building.build(args)")
NAMED = (
    "return {'net': net, 'optimizer': optimizer}",
    "parts = building.build(args); net, optimizer = parts['net'], parts['optimizer']",
)
PUT_IN = (
    "found = {}; found['net'] = net; found['optimizer'] = optimizer; return found",
    "parts = building.build(args); net, optimizer = parts['net'], parts['optimizer']",
)
HOLDER = (
    "return SimpleNamespace(net=net, optimizer=optimizer)",
    "parts = building.build(args); net, optimizer = parts.net, parts.optimizer",
)
SET = (
    "s = SimpleNamespace(); s.net = net; s.optimizer = optimizer; return s",
    "parts = building.build(args); net, optimizer = parts.net, parts.optimizer",
)


def _told_of_given(folder: Path, built: str, shape: tuple[str, str], moved: str) -> bool:
    building = BUILDING.replace("BUILT", built).replace("RETURNED", shape[0])
    (folder / "building.py").write_text(building)
    (folder / "train.py").write_text(COMING.replace("UNPACKED", shape[1]).replace("MOVED", moved))
    result = tpulint("check", ".", "--select", "TPU303", "--output-format", "concise", cwd=folder)
    assert "building.py" not in result.out
    return "train.py" in result.out


@pytest.mark.parametrize("shape", [PAIR, NAMED, PUT_IN, HOLDER, SET])
@pytest.mark.parametrize("built", [BUILT, CHOSEN])
def test_models_that_a_function_of_another_file_gives_with_their_optimizer(
    tmp_path: Path, built: str, shape: tuple[str, str]
) -> None:
    """What they are put into does not matter: they come from the host, and move behind their optimizer."""
    assert _told_of_given(tmp_path, built, shape, "net = net.cuda()")
    text = (tmp_path / "train.py").read_text()
    tpulint("check", "train.py", "--select", "TPU303", "--fix", "--unsafe-fixes", cwd=tmp_path)
    assert (tmp_path / "train.py").read_text().count(FLAG) == 1
    assert FLAG not in text


@pytest.mark.parametrize(
    ("built", "shape", "moved"),
    [
        ("net.cuda(); " + BUILT, PAIR, "net = net.cuda()"),  # it moves there
        ("net.to(args.device); " + BUILT, PAIR, "net = net.cuda()"),
        ("optimizer = optim.Adam(other.parameters())", PAIR, "net = net.cuda()"),  # that of another model
        (BUILT, ("return net, other", "net, other = building.build(args)"), "net = net.cuda()"),  # it stays there
        (BUILT, PAIR, "args.cuda()"),
        (BUILT, NAMED, "net.cpu()"),
        (BUILT, ("return other, optimizer", PAIR[1]), "net = net.cuda()"),
    ],
)
def test_models_that_come_with_the_optimizer_of_something_else(
    tmp_path: Path, built: str, shape: tuple[str, str], moved: str
) -> None:
    assert not _told_of_given(tmp_path, built, shape, moved)


HOLDING = """\
class Holder:
    def __init__(self, net):
        self.net = net
        self.net.cuda()

    def run(self, batches):
        for x in batches:
            self.net.learn(x.cuda())
"""
LEARNING = """\
from torch import nn, optim

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)
        self.optimizer = optim.SGD(PART.parameters(), lr=0.1)

    def learn(self, x):
        self.layer(x).sum().backward()
        self.optimizer.step()
"""
PUT_TOGETHER = """\
import torch
from holding import Holder
from learning import Net

if __name__ == "__main__":
    holder = Holder(Net())
    holder.run(torch.ones(9, 2, 4))
"""


@pytest.mark.parametrize(("part", "told"), [("self", True), ("self.layer", True), ("nn.Linear(4, 4)", False)])
def test_models_with_an_optimizer_that_another_file_hands_over(tmp_path: Path, part: str, told: bool) -> None:
    (tmp_path / "holding.py").write_text(HOLDING)
    (tmp_path / "learning.py").write_text(LEARNING.replace("PART", part))
    (tmp_path / "train.py").write_text(PUT_TOGETHER)
    result = tpulint("check", ".", "--select", "TPU303", "--output-format", "concise", cwd=tmp_path)
    assert ("holding.py:4" in result.out) is told, result.out


PAIR = """\
import torch
from torch import nn, optim

class Solver:
    def __init__(self, device, helper):
        self.device, self.helper = torch.device("cuda"), helper
        self.E, self.G, self.D = nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 1)
        self.g_opt = optim.Adam(self.G.parameters())
        self.d_opt = optim.Adam(self.D.parameters())
        MOVED
        self.D.to(self.device)

    def choose(self):
        self.device = self.helper.device
        return self.device

    def train(self, loader):
        for x in loader:
            self.D(self.G(x.to(self.device))).mean().backward()
            self.g_opt.step()
            self.d_opt.step()
"""


@pytest.mark.parametrize(
    ("moved", "is_first"),
    [
        ("self.G.to(self.device)", True),
        ("self.G = self.G.to(self.device)", True),
        ("self.G.cuda()", True),
        ("self.E.to(self.device)", True),
        ("self.E.to(self.choose())", False),  # it may choose another device for all
        ("self.helper.start(self)", False),
        ("self.device = self.G.to(self.device)", False),
    ],
)
def test_what_moves_another_model_stands_in_no_way(moved: str, is_first: bool) -> None:
    settings = Settings(select=("TPU303",), fix=True, unsafe_fixes=True)
    result = lint(SourceFile.from_text(PAIR.replace("MOVED", moved)), settings, CATALOGUE)
    assert result.error == ""
    rows = result.text.splitlines()
    places = [next(at for at, row in enumerate(rows) if text in row) for text in ("self.D.to(", "self.d_opt =")]
    assert (places[0] < places[1]) is is_first
    assert (FLAG in result.text) is not is_first


@pytest.mark.parametrize(
    ("between", "is_first"),
    [
        ("kept = copy.deepcopy(net)", False),  # which is of the host, and stays there
        ("kept = copy.deepcopy(net).cuda()", True),
        ("kept = copy.deepcopy(other)", True),
    ],
)
def test_a_copy_for_the_host_is_made_before_the_move(between: str, is_first: bool) -> None:
    text = f"""\
import copy
import torch
from torch import nn

net, other = nn.Linear(4, 2), nn.Linear(4, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
{between}
net.cuda()
for x in batches:
    net(x.cuda()).mean().backward()
    optimizer.step()
print(kept(torch.ones(1, 4)))
"""
    result = lint(SourceFile.from_text(text), Settings(select=("TPU303",), fix=True, unsafe_fixes=True), CATALOGUE)
    assert (result.text.index("net.cuda()") < result.text.index("optimizer =")) is is_first
    assert (FLAG in result.text) is not is_first


CHOSEN_MODEL = """\
import importlib
import torch

def run(name, loader):
    model = getattr(importlib.import_module(name), "Net")()
    optimizer = torch.optim.SGD(GROUPS, lr=0.1)
    MOVED
    for x in loader:
        loss = model(x.cuda()).mean()
        loss.backward()
        optimizer.step()
"""
MOVED_GROUPS = '[{"params": model.trainable_parameters()[0]}]'


@pytest.mark.parametrize(
    ("groups", "moved", "told"),
    [
        (MOVED_GROUPS, "model = torch.nn.DataParallel(model).cuda()", True),
        ("model.policies()", "model = torch.nn.DataParallel(model).cuda()", True),
        (MOVED_GROUPS, "model.cuda()", True),
        ("model.policies()", "model.cuda()", False),  # it may be no module
        ("model.weights", "model.cuda()", False),
        (MOVED_GROUPS, "other = torch.nn.DataParallel(torch.nn.Linear(4, 4)).cuda()", False),
    ],
)
def test_methods_that_give_the_parameters_of_a_class_nobody_sees(groups: str, moved: str, told: bool) -> None:
    text = CHOSEN_MODEL.replace("GROUPS", groups).replace("MOVED", moved)
    result = lint(SourceFile.from_text(text), Settings(select=("TPU303",)), CATALOGUE)
    assert [finding.code for finding in result.findings] == ["TPU303"] * told


@pytest.mark.parametrize(
    ("copied", "rows"), [("copy.deepcopy(net)", ["net.cuda()"]), ("net", ["other.cuda()", "net.cuda()"])]
)
def test_a_copy_of_a_model_that_moves_leaves_the_model_where_it_is(
    tmp_path: Path, copied: str, rows: list[str]
) -> None:
    program = f"""\
import copy
import torch
from torch import nn

net = nn.Linear(4, 4)
other = {copied}
opt = torch.optim.Adam(net.parameters(), lr=0.1)
other.cuda()
net.cuda()
for x in loader:
    (net(x.cuda()) - other(x.cuda())).sum().backward()
    opt.step()
"""
    (tmp_path / "train.py").write_text(program)
    answer = tpulint("check", ".", "--select", "TPU303", "--output-format", "concise", cwd=tmp_path)
    told = [int(row.split(":")[1]) for row in answer.out.splitlines() if "TPU303" in row]
    assert [program.splitlines()[at - 1] for at in told] == rows
