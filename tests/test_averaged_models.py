"""Averages of models that share with their model what no step changes [TPU325]."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent, indent

import pytest
from command import tpulint
from marked_files import agree
from test_step_rules import check, port

CODE = "TPU325"

TRAINING = """
    import torch
    from torch import nn
    from torch.optim.swa_utils import AveragedModel
    from ema_pytorch import EMA

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.last = nn.Linear(4, 4), nn.Linear(4, 2)
            MADE

        def forward(self, x):
            USED
            return self.last(self.first(x))

    device = torch.device("cuda")
    model = Net().to(device)
    SAID
    average = AVERAGE
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(3):
        for x, y in loader:
            loss = nn.functional.mse_loss(model(x.to(device)), y.to(device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            UPDATE
    """
WITH_BUFFERS = "AveragedModel(model, use_buffers=True)"
UPDATE = "average.update_parameters(model)"


def training(made: str = "", used: str = "", said: str = "", average: str = WITH_BUFFERS, update: str = UPDATE) -> str:
    text = dedent(TRAINING).lstrip("\n")
    parts = {"MADE": (made, 8), "USED": (used, 8), "SAID": (said, 0), "AVERAGE": (average, 0), "UPDATE": (update, 8)}
    for name, (part, columns) in parts.items():
        text = text.replace(name, indent(dedent(part).strip("\n") or "pass", " " * columns).lstrip())
    return text


def is_told(text: str) -> bool:
    found = check(text, (CODE,)).findings
    assert {finding.code for finding in found} <= {CODE} and len(found) < 2
    return bool(found)


BETAS = 'self.register_buffer("betas", torch.linspace(0, 1, 10))'


@pytest.mark.parametrize(
    "made",
    [
        BETAS,
        'self.register_buffer("places", torch.arange(10), persistent=False)',
        'self.register_buffer("mask", tensor=torch.ones(3))',
        """
        register = lambda name, value: self.register_buffer(name, value.float())
        register("alphas", torch.ones(3))
        """,
        "self.places = nn.Parameter(torch.zeros(3), requires_grad=False)",
        "self.first.requires_grad_(False)",
        """
        for parameter in self.first.parameters():
            parameter.requires_grad = False
        """,
    ],
)
def test_what_the_class_keeps(made: str) -> None:
    assert is_told(training(made))


@pytest.mark.parametrize(
    ("made", "used"),
    [
        ("self.norm = nn.BatchNorm1d(4)", "x = self.norm(x)"),
        ('self.register_buffer("later", None)', ""),
        ('self.register_buffer("count", torch.zeros(1))', "self.count += 1"),
        ('self.register_buffer("count", torch.zeros(1))', "self.count = self.count + 1"),
        ('self.register_buffer("mean", torch.zeros(4))', "self.mean.lerp_(x.mean(0).detach(), 0.1)"),
        ('self.register_buffer("mean", torch.zeros(4))', "self.mean.data.copy_(x.mean(0))"),
        ('self.register_buffer("queue", torch.zeros(4, 4))', "self.queue[:2] = x[:2].detach()"),
        ('self.register_buffer("mean", torch.zeros(4))', "mean = self.mean\nmean.mul_(0.9)"),
        (
            'self.register_buffer("m", torch.zeros(4))\nself.register_buffer("v", torch.zeros(4))',
            "x = nn.functional.batch_norm(x, self.m, self.v, training=True)",
        ),
        ('self.register_buffer("m", torch.zeros(4))', 'setattr(self, "m", x.mean(0))'),
        ("self.first.requires_grad_(False)\nself.first.requires_grad_(True)", ""),
    ],
)
def test_what_each_step_changes(made: str, used: str) -> None:
    assert not is_told(training(made, used))


def test_a_function_that_writes_to_a_buffer_it_is_given() -> None:
    made, used = 'self.register_buffer("mean", torch.zeros(4))', "follow(self.mean, x)"
    writing = "def follow(mean, x):\n    mean.mul_(0.9).add_(x.mean(0), alpha=0.1)\n\n\n"
    reading = "def follow(mean, x):\n    return x - mean\n\n\n"
    assert not is_told(writing + training(made, used))
    assert is_told(reading + training(made, used))


@pytest.mark.parametrize(
    "said",
    [
        "model.first.requires_grad_(False)",
        "model.first.weight.requires_grad = False",
        "for p in model.first.parameters():\n    p.requires_grad = False",
        'for name, p in model.named_parameters():\n    if "first" in name:\n        p.requires_grad_(False)',
        "for p in list(model.parameters())[:2]:\n    p.requires_grad = False",
        "for part in [*model.children()][:1]:\n    pass\nfor part in model.children():\n"
        "    for p in part.parameters():\n        p.requires_grad = False",
        "def freeze(part):\n    for p in part.parameters():\n        p.requires_grad = False\n\nfreeze(model.first)",
    ],
)
@pytest.mark.parametrize("average", ["AveragedModel(model)", WITH_BUFFERS, "EMA(model, beta=0.9)"])
def test_what_the_program_freezes(said: str, average: str) -> None:
    update = "average.update()" if average.startswith("EMA") else UPDATE
    assert is_told(training(said=said, average=average, update=update))


@pytest.mark.parametrize(
    "said",
    [
        "",
        "for p in model.first.parameters():\n    p.requires_grad = False\n"
        "for p in model.first.parameters():\n    p.requires_grad = True",
        "teacher = Net().to(device)\nfor p in teacher.parameters():\n    p.requires_grad = False",
        "def freeze(part, off=False):\n    if off:\n        part.requires_grad_(False)\n\nfreeze(model.first)",
    ],
)
def test_what_is_not_frozen(said: str) -> None:
    assert not is_told(training(said=said, average="AveragedModel(model)"))


@pytest.mark.parametrize(
    ("average", "update", "told"),
    [
        (WITH_BUFFERS, UPDATE, True),
        ("AveragedModel(model, None, None, None, True)", UPDATE, True),
        ("AveragedModel(model, device=device, use_buffers=True)", UPDATE, True),
        ("EMA(model, beta=0.9).to(device)", "average.update()", True),
        (WITH_BUFFERS, f"if epoch > 1:\n    {UPDATE}", True),
        ("AveragedModel(model)", UPDATE, False),
        ('AveragedModel(model, device="cpu", use_buffers=True)', UPDATE, False),
        ('AveragedModel(model, torch.device("cpu"), use_buffers=True)', UPDATE, False),
        ("EMA(model, allow_different_devices=True)", "average.update()", False),
        ('EMA(model, ignore_names={"betas"})', "average.update()", False),
        ("EMA(model, **dict(allow_different_devices=True))", "average.update()", False),
        ("EMA(model=model, **dict(beta=0.9))", "average.update()", True),
        ("EMA(model)", "average.eval()", False),
        ("Average(model)", UPDATE, False),
    ],
)
def test_averages(average: str, update: str, told: bool) -> None:
    assert is_told(training(BETAS, average=average, update=update)) is told


def test_an_update_at_the_end_alone_and_models_on_the_host() -> None:
    at_the_end = training(BETAS, update="pass") + UPDATE + "\n"
    assert not is_told(at_the_end)
    assert not is_told(training(BETAS).replace('torch.device("cuda")', 'torch.device("cpu")'))
    once_an_epoch = training(BETAS, update="pass") + "    " + UPDATE + "\n"
    assert is_told(once_an_epoch)


def test_integers_that_ema_leaves_alone() -> None:
    moving = {"average": "EMA(model)", "update": "average.update()"}
    for made in (
        "torch.tensor([0.5, 1])",
        "torch.full((3,), 1e-3)",
        "torch.arange(3).float()",
        "torch.arange(3, dtype=torch.float32)",
        "torch.randn(3)",
        "1 / 10000 ** torch.linspace(0, 1, 4)",
    ):
        assert is_told(training(f'self.register_buffer("kept", {made})', **moving))
    for made in (
        "torch.arange(3)",
        "torch.tensor(0)",
        "torch.tensor([1, 2])",
        "torch.full((3,), count)",
        "torch.ones(3, dtype=torch.bool)",
        "(torch.rand(3) > 0.5)",
        "one.long()",
    ):
        assert not is_told(training(f'self.register_buffer("kept", {made})', **moving))


@pytest.mark.parametrize(
    ("made", "average", "told"),
    [
        ("swin_t(num_classes=2)", WITH_BUFFERS, True),
        ("swin_v2_t(num_classes=2)", WITH_BUFFERS, True),
        ("swin_v2_t(num_classes=2)", "EMA(model)", True),
        ("swin_t(num_classes=2)", "EMA(model)", False),  # they are integers
        ("swin_t(num_classes=2)", "AveragedModel(model)", False),
        ("resnet18(num_classes=2)", WITH_BUFFERS, False),
        ("get_model(args.model)", WITH_BUFFERS, False),
    ],
)
def test_models_of_torchvision(made: str, average: str, told: bool) -> None:
    update = "average.update()" if average.startswith("EMA") else UPDATE
    text = training(average=average, update=update).replace("Net().to(", f"torchvision.models.{made}.to(")
    assert is_told("import torchvision\n" + text) is told


def test_parts_of_a_model() -> None:
    text = training().replace("model = Net()", "model = Wrapped()")
    whole = """
        class Schedule(nn.Module):
            def __init__(self, steps):
                super().__init__()
                self._register(steps)

            def _register(self, steps):
                self.register_buffer("rates", torch.linspace(0, 1, steps))

        class Wrapped(nn.Module):
            def __init__(self):
                super().__init__()
                self.net, self.rest = Net(), nn.ModuleList([self.make(2)])

            def make(self, steps):
                return Schedule(steps)

        """
    assert is_told(text.replace("device = ", dedent(whole) + "\ndevice = ", 1))
    other = f"class Schedule(nn.Module):\n    def __init__(self):\n        super().__init__()\n        {BETAS}\n\n\n"
    given = training().replace("Net().to(", "nn.Sequential(Net(), Schedule()).to(")
    assert is_told(given.replace("device = ", other + "device = ", 1))
    assert not is_told(training().replace("device = ", other + "device = ", 1))


def test_one_of_several_classes() -> None:
    """All of them have to keep something."""
    chosen = "Net() if small else Large()"
    large = "class Large(Net):\n    def __init__(self):\n        super().__init__()\n        MADE\n\n\n"
    text = (
        training("self.half = 2").replace("Net().to(", f"({chosen}).to(").replace("device = ", large + "device = ", 1)
    )
    assert not is_told(text.replace("MADE", BETAS))
    assert is_told(text.replace("MADE", "pass").replace("self.half = 2", BETAS))
    by_name = text.replace("MADE", BETAS).replace(f"({chosen})", "{'small': Net, 'large': Large}[args.model]()")
    assert not is_told(by_name)


def test_the_fix() -> None:
    result = port(training(BETAS, update=f"if epoch:\n    {UPDATE}"), select=(CODE,))
    assert result.findings == ()
    renewed = "\n            tpulint_runtime.renew_tensors(model)"
    assert f"{renewed}\n            average.update_parameters(model)\n" in result.text
    moving = port(training(BETAS, average="EMA(model)", update="average.update()"), select=(CODE,))
    assert "        tpulint_runtime.renew_tensors(average.model)\n        average.update()\n" in moving.text
    within = check(training(BETAS, update=f"print({UPDATE})"), (CODE,)).findings
    assert [finding.fix for finding in within] == [None]


NETWORK = """
    import torch
    from torch import nn

    class Diffusion(nn.Module):
        def __init__(self, steps):
            super().__init__()
            self.net = nn.Linear(4, 4)
            betas = torch.linspace(0, 1, steps)
            self.register_buffer("betas", betas)

        def forward(self, x):
            return self.net(x) * self.betas[0]
    """
AVERAGE = """
    import torch

    class MovingAverage(torch.optim.swa_utils.AveragedModel):
        def __init__(self, model, decay, device="cpu"):
            def average(old, new, count):
                return decay * old + (1 - decay) * new

            super().__init__(model, device, average, use_buffers=True)
    """
MAIN = """
    import argparse
    import torch
    from average import MovingAverage
    from network import Diffusion

    def train(model, loader, optimizer, device, args, moving=None):
        for step, x in enumerate(loader):
            loss = model(x.to(device)).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if moving and step % args.every == 0:
                moving.update_parameters(model)  # TPU325

    def main(args):
        device = "cpu" if args.cpu else "cuda"
        model = Diffusion(args.steps).to(device)
        moving = None
        if args.average:
            moving = MovingAverage(model, device=device, decay=0.9)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for epoch in range(args.epochs):
            train(model, loader, optimizer, device, args, moving)

    if __name__ == "__main__":
        parser = argparse.ArgumentParser()
        parser.add_argument("--steps", type=int, default=10)
        main(parser.parse_args())
    """


def test_a_class_of_the_project_and_models_of_other_files(tmp_path: Path) -> None:
    agree(tmp_path, CODE, network=NETWORK, average=AVERAGE, main=MAIN)


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("average", "use_buffers=True", "use_buffers=False"),
        ("average", "super().__init__(model, device, average", 'super().__init__(model, "cpu", average'),
        ("average", "class MovingAverage(torch.optim.swa_utils.AveragedModel)", "class MovingAverage(torch.nn.Module)"),
        ("main", "MovingAverage(model, device=device, decay=0.9)", "MovingAverage(model, decay=0.9)"),
        ("network", "return self.net(x)", "self.betas.mul_(0.9)\n            return self.net(x)"),
    ],
)
def test_what_of_it_would_be_right(tmp_path: Path, file: str, old: str, new: str) -> None:
    files = {"network": NETWORK, "average": AVERAGE, "main": MAIN.replace("  # TPU325", "")}
    assert old in files[file]
    agree(tmp_path, CODE, **{**files, file: files[file].replace(old, new)})


TRAINER = """
    import torch
    from ema_pytorch import EMA
    from network import Diffusion

    class Trainer:
        def __init__(self, model, loader, device="cuda"):
            self.device, self.loader = device, loader
            self.model = model.to(device)
            self.ema = EMA(model, beta=0.99, update_every=10)
            self.optimizer = torch.optim.Adam(model.parameters())

        def train(self, steps):
            for step in range(steps):
                loss = self.model(next(self.loader).to(self.device)).mean()
                loss.backward()
                self.optimizer.step()
                self.optimizer.zero_grad()
                self.ema.update()  # TPU325
    """


def test_a_trainer_that_keeps_its_average(tmp_path: Path) -> None:
    main = "from network import Diffusion\nfrom trainer import Trainer\n\nTrainer(Diffusion(9), loader).train(100)\n"
    agree(tmp_path, CODE, network=NETWORK, trainer=TRAINER, main=main)
    assert tpulint("--fix", "--unsafe-fixes", "--select", CODE, ".", cwd=tmp_path).status == 0
    assert "renew_tensors(self.ema.model)\n" in (tmp_path / "trainer.py").read_text()


FREEZING = """
    from torch import nn

    def freeze(part):
        for parameter in part.parameters():
            parameter.requires_grad = False

    def choose(part, learns):
        for parameter in part.parameters():
            parameter.requires_grad = learns

    class Encoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.last = nn.Linear(4, 4), nn.Linear(4, 4)

        def freeze(self):
            self.first.requires_grad_(False)

        def hold(self):
            self.last.requires_grad_(False)

        def let_go(self):
            self.last.requires_grad_(True)
    """
CALLING = """
    import torch
    from freezing import Encoder, choose, freeze
    from torch.optim.swa_utils import AveragedModel

    model, other = Encoder().cuda(), Encoder().cuda()
    CALL
    average = AveragedModel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in loader:
        optimizer.zero_grad()
        model(x.cuda()).mean().backward()
        optimizer.step()
        average.update_parameters(model)
    """


@pytest.mark.parametrize(
    ("call", "told"),
    [
        ("freeze(model)", True),
        ("freeze(model.first)", True),
        ("model.freeze()", True),
        ("freeze(other)", False),
        ("other.freeze()", False),
        ("choose(model, False)", False),
        ("model.hold()", False),
    ],
)
def test_calls_that_freeze(tmp_path: Path, call: str, told: bool) -> None:
    main = CALLING.replace("CALL", call)
    main = (
        main.replace("average.update_parameters(model)", "average.update_parameters(model)  # TPU325") if told else main
    )
    agree(tmp_path, CODE, freezing=FREEZING, main=main)
    (tmp_path / "freezing.py").unlink()
    alone = dedent(FREEZING) + dedent(CALLING.replace("CALL", call)).replace(
        "from freezing import Encoder, choose, freeze", ""
    )
    assert is_told(alone) is told


HOOKED = """
    import lightning
    import torch
    from network import Diffusion
    from torch.optim.swa_utils import AveragedModel

    class Task(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.model = Diffusion(9)
            self.average = AveragedModel(self.model, use_buffers=True)

        def training_step(self, batch, at):
            return self.model(batch).mean()

        def on_train_batch_end(self, outputs, batch, at):
            self.average.update_parameters(self.model)  # TPU325

        def on_fit_end(self):
            self.average.update_parameters(self.model)
    """


def test_hooks_of_a_framework(tmp_path: Path) -> None:
    agree(tmp_path, CODE, network=NETWORK, task=HOOKED)
