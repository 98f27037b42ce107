"""Trained models that one function sends to the host and another brings back, and copies that go there instead."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from marked_files import agree

from tpulint.catalog import load
from tpulint.config import Settings
from tpulint.linter import lint
from tpulint.source import SourceFile

CATALOGUE = load()
EVALUATIONS = """\
import copy
import torch

def on_host(model, x):
    model.eval()
    model.to(torch.device("cpu"))
    return model(x)

def of_copy(model, x):
    model = copy.deepcopy(model)
    model.cpu()
    return model(x)

def prepared(model, use_cuda):
    if use_cuda:
        model.cuda()
    else:
        model.cpu()

def there_and_back(model, x):
    model.cpu()
    print(model(x))
    model.cuda()
"""
TRAINING = """\
import torch
from torch import nn
from evaluations import of_copy, on_host, prepared, there_and_back

device = torch.device("cuda")
model = nn.Linear(4, 1).to(device)
teacher = nn.Linear(4, 1).to(device)
optimizer = torch.optim.Adam(model.parameters())
x = torch.ones(2, 4)
for epoch in range(30):
    {head}
    for batch in loader:
        model(batch.to(device)).sum().backward()
        optimizer.step()
    {end}
"""


@pytest.mark.parametrize(
    ("head", "end"),
    [
        ("model.to(device)", "on_host(model, x)  # TPU314"),
        ("model.to(device)", "on_host(x=x, model=model)  # TPU314"),
        ("model.cuda().train()", "on_host(model, x)  # TPU314"),
        ("model.to(device)", "model.cpu()  # TPU314"),
        ("pass", "on_host(model, x)  # TPU314\n    model.to(device)"),
        ("pass", "on_host(model, x)"),  # it stays there, and the next batch tells
        ("model.to(device)", "of_copy(model, x)"),
        ("model.to(device)", "on_host(teacher, x)"),
        ("teacher.to(device)", "on_host(model, x)"),
        ("model.to(device)", "prepared(model, True)"),
        ("model.to(device)", "print(model.weight.cpu())"),
        ("model.to(device)\n    optimizer = torch.optim.Adam(model.parameters())", "on_host(model, x)"),
        ("if epoch % 2:\n        model.to(device)\n    else:\n        model.cpu()", "print(epoch)"),
    ],
)
def test_ways_to_the_host_by_another_file(tmp_path: Path, head: str, end: str) -> None:
    text = TRAINING.format(head=head, end=end)
    if head.count("optimizer"):
        text = text.replace("optimizer = torch.optim.Adam(model.parameters())\nx", "x")
    agree(tmp_path, "TPU314", train=text, evaluations=EVALUATIONS)


HELPERS = """\
import torch
from torch import nn

device = torch.device("cuda")

def main(use_cuda):
    net, critic, other = nn.Linear(4, 1), nn.Linear(4, 1), nn.Linear(4, 1)
    models = [net, critic]

    def leave():
        for model in models:
            model.cpu(){mark}

    def come_back():
        for model in models:
            model.to(device)

    come_back()
    optimizer = torch.optim.Adam([*{trained}.parameters(), *{trained}.parameters()])
    for step in range(30):
        net(torch.rand(4, 4).to(device)).sum().backward()
        optimizer.step()
        {within}
    {behind}
"""
SAVE = "leave(); torch.save(net.state_dict(), 'net.pt'); come_back()"


@pytest.mark.parametrize(
    ("trained", "within", "behind", "is_told"),
    [
        ("net", SAVE, "print()", True),
        ("critic", SAVE, "print()", True),
        ("other", SAVE, "print()", False),
        ("net", "print()", SAVE, False),
        ("net", "leave()", "come_back()", False),
    ],
)
def test_helpers_that_move_all_models(tmp_path: Path, trained: str, within: str, behind: str, is_told: bool) -> None:
    mark = "  # TPU314" if is_told else ""
    text = HELPERS.format(trained=trained, within=within, behind=behind, mark=mark)
    agree(tmp_path, "TPU314", train=text)


def test_helpers_under_a_question_for_the_device(tmp_path: Path) -> None:
    text = HELPERS.format(trained="net", within=SAVE, behind="print()", mark="")
    agree(tmp_path, "TPU314", train=text.replace("model.cpu()", "model.cpu() if not use_cuda else None"))


def test_a_trainer_whose_model_is_on_the_device_for_its_turn(tmp_path: Path) -> None:
    """A client of federated learning: its optimizer is as old as its model, or is built in each turn."""
    text = """\
    import torch
    from torch import nn

    class Client:
        def __init__(self, loader):
            self.model = nn.Linear(4, 1).cuda()
            self.loader = loader
            {early}

        def train(self):
            self.model.cuda()
            {late}
            for x in self.loader:
                self.model(x.cuda()).sum().backward()
                self.optimizer.step()
            self.model.cpu(){mark}

    def main(loader):
        client = Client(loader)
        for turn in range(30):
            client.train()
    """
    built = "self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)"
    (tmp_path / "early").mkdir()
    agree(tmp_path / "early", "TPU314", train=text.format(early=built, late="pass", mark="  # TPU314"))
    (tmp_path / "late").mkdir()
    agree(tmp_path / "late", "TPU314", train=text.format(early="pass", late=built, mark=""))


# -------------------------------------------------------------------- copies

KEPT = """\
import torch
import torch_xla
from torch import nn

device = torch_xla.device()
net = nn.Linear(2, 1).to(device)
optimizer = torch.optim.Adam(net.parameters())


def slope(x):
    return torch.autograd.grad(net_of(x), x, {kept})[0]


def main():
    net = nn.Linear(2, 1).to(device)
    optimizer = torch.optim.Adam(net.parameters())
    for step in range(30):
        net(torch.rand(4, 2, device=device)).sum().backward()
        optimizer.step()
        torch_xla.sync()
        net.cpu()
        {between}
        net.to(device)
"""
BETWEEN = "print(net(torch.ones(1, 2)), show([net]))"


def ported(text: str) -> str:
    settings = Settings(select=("TPU314",), fix=True, unsafe_fixes=True)
    return lint(SourceFile.from_text(dedent(text), "train.py"), settings, CATALOGUE).text


def test_what_is_kept_of_graphs_lets_a_copy_go_to_the_host() -> None:
    """The parameters in a graph that is alive cannot be swapped."""
    text = KEPT.format(kept="create_graph=True", between=BETWEEN)
    expected = text.replace("net.cpu()", "net_on_host = copy.deepcopy(net).cpu()")
    expected = expected.replace(BETWEEN, "print(net_on_host(torch.ones(1, 2)), show([net_on_host]))")
    expected = expected.replace("        net.to(device)\n", "").replace(
        "torch_xla\nfrom", "torch_xla\nimport copy\nfrom"
    )
    assert ported(text) == expected
    assert "set_swap_module_params" in ported(text.replace("create_graph=True", "create_graph=False"))


@pytest.mark.parametrize(
    "between",
    [
        "net.eval(); print(net(torch.ones(1, 2)))",
        "net.load_state_dict(best); print(net(torch.ones(1, 2)))",
        "net = wrapped(net)",
        "kept = net",
        "print(step)",
        "draw = lambda: net(torch.ones(1, 2))",
    ],
)
def test_what_no_copy_can_stand_for(between: str) -> None:
    text = KEPT.format(kept="retain_graph=True", between=between)
    assert ported(text) == text


def test_graphs_that_another_file_keeps(tmp_path: Path) -> None:
    (tmp_path / "slopes.py").write_text("def slope(y, x):\n    return grad(y, x, create_graph=True)\n")
    (tmp_path / "train.py").write_text(KEPT.format(kept="allow_unused=True", between=BETWEEN))
    from command import tpulint

    tpulint("--select=TPU314", "--fix", "--unsafe-fixes", "train.py", cwd=tmp_path)
    assert "copy.deepcopy(net).cpu()" in (tmp_path / "train.py").read_text()


@pytest.mark.parametrize(("stepped", "mark"), [("own", ""), ("optimizer", "  # TPU314")])
def test_models_that_come_back_to_be_looked_at_alone(tmp_path: Path, stepped: str, mark: str) -> None:
    """What trains behind the way back is another model, with an optimizer of its own."""
    program = f"""\
    import torch
    from torch import nn

    device = torch.device("cuda")
    model = nn.Linear(4, 1).to(device)
    optimizer = torch.optim.Adam(model.parameters())

    def train():
        model(samples[0].to(device)).sum().backward()
        optimizer.step()
        model.cpu(){mark}

    def look():
        model.to(device)
        print(model(samples[0].to(device)))

    def train_another():
        other = nn.Linear(4, 1).to(device)
        own = torch.optim.Adam(other.parameters())
        for x in samples:
            other(x.to(device)).sum().backward()
            {stepped}.step()

    train()
    look()
    train_another()
    """
    agree(tmp_path, "TPU314", main=program)
