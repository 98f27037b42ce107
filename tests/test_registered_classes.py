"""Classes that a configuration chooses from a registry, and values that are given by names that are no parameters.

Lines of which something must be said are marked with the code of the rule; no other line may be named.
"""

from __future__ import annotations

from pathlib import Path

from marked_files import agree

REGISTRY = """\
    class Registry(dict):
        def register(self, name):
            def note(made):
                self[name] = made
                return made

            return note


    HEADS = Registry()
    TAILS = Registry()
    """
HEAD = """\
    from torch import nn
    from registry import HEADS, TAILS


    @HEADS.register("wide")
    class Wide(nn.Module):
        def forward(self, x, y):
            kept = x[y > 0]  # TPU203
            return dict(loss=kept.sum())


    @TAILS.register("thin")
    class Thin(nn.Module):
        def forward(self, x, y):
            return dict(loss=x[y > 0].sum())
    """
PROGRAM = """\
    import torch
    from torch import nn
    from {source} import build


    class Detector(nn.Module):
        def __init__(self, config):
            super().__init__()
            self.body = nn.Linear(4, 4)
            self.head = build(config)

        def forward(self, x, y):
            return self.head(self.body(x), y)


    device = torch.device("cuda")
    model = Detector({{"head": "wide"}}).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in batches:
        losses = model(x.to(device), y.to(device))
        loss = sum(loss for loss in losses.values())
        loss.backward()
        optimizer.step()
    """
BUILD = """

    def build(config):
        return {}(config)
    """


def test_a_head_that_its_own_file_builds(tmp_path: Path) -> None:
    head = HEAD + BUILD.format('HEADS[config["head"]]')
    agree(tmp_path, "TPU203", main=PROGRAM.format(source="head"), head=head, registry=REGISTRY)


def test_a_head_that_another_file_builds(tmp_path: Path) -> None:
    build = """\
    import registry
    from head import Wide


    def build(config):
        return registry.HEADS.get(config["head"])()
    """
    program = PROGRAM.format(source="build")
    agree(tmp_path, "TPU203", main=program, build=build, head=HEAD, registry=REGISTRY)


def test_a_dictionary_that_is_no_registry(tmp_path: Path) -> None:
    """It may hold anything else as well."""
    head = HEAD.replace("  # TPU203", "") + BUILD.format('HEADS[config["head"]]')
    table = REGISTRY.replace("Registry", "Table")
    agree(tmp_path, "TPU203", main=PROGRAM.format(source="head"), head=head, registry=table)


def test_values_that_a_meter_is_given_by_other_names(tmp_path: Path) -> None:
    meter = """\
    import torch


    class Meter:
        def __init__(self):
            self.sums = {}

        def update(self, weight, **values):
            for name, value in values.items():
                if isinstance(value, torch.Tensor):
                    value = value.item()  # TPU101
                self.sums[name] = self.sums.get(name, 0) + value * weight


    class Count(Meter):
        def add(self, **values):
            for name, value in values.items():
                if isinstance(value, torch.Tensor):
                    value = value.item()
                self.sums[name] = value
    """
    program = """\
    import torch
    from torch import nn
    from meter import Count, Meter

    device = torch.device("cuda")
    model = nn.Linear(4, 1).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    meter, count = Meter(), Count()
    for step, x in enumerate(batches):
        losses = {"first": model(x.to(device)).mean(), "second": model(x.to(device)).sum()}
        loss = sum(loss for loss in losses.values())
        loss.backward()
        optimizer.step()
        meter.update(weight=2, **losses)
        count.add(step=step, rate=0.1)
    """
    agree(tmp_path, "TPU101", main=program, meter=meter)


def test_what_a_head_does_only_in_no_training(tmp_path: Path) -> None:
    """Its boxes are filtered when it is not trained: no step runs that, be it written in a method of its own."""
    head = """\
    from torch import nn
    from registry import HEADS


    @HEADS.register("boxes")
    class Boxes(nn.Module):
        def forward(self, x, y):
            if self.training:
                return self.losses(x, y)
            return self.found(x, y)

        def losses(self, x, y):
            return dict(loss=self.both(x, y), other=x[y > 0].sum())  # TPU203

        def found(self, x, y):
            return dict(found=x[x > 0.5], both=self.both(x, y), kept=self.kept(x))

        def both(self, x, y):
            return x[y > 1].sum()  # TPU203

        def kept(self, x):
            return x[x > 0.1]
    """
    build = BUILD.format('HEADS[config["head"]]')
    agree(tmp_path, "TPU203", main=PROGRAM.format(source="head"), head=head + build, registry=REGISTRY)


def test_a_model_that_an_engine_is_given_by_its_name(tmp_path: Path) -> None:
    engine = """\
    class Engine:
        def train(self, **given):
            state = {"model": given["model"], "make": given["make"], "batches": given["batches"], "at": 0}
            state["optimizer"] = state["make"](state["model"].parameters(), lr=0.1)
            for batch in state["batches"]:
                state["batch"] = batch
                state["optimizer"].zero_grad()
                loss, state["output"] = state["model"].loss(state["batch"])
                loss.backward()
                state["optimizer"].step()
                state["at"] += 1
    """
    program = """\
    import torch
    from torch import nn
    from engine import Engine


    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.encoder = nn.Linear(4, 4)

        def loss(self, x):
            loss = self.encoder(x.cuda()).pow(2).mean()
            return loss, {"loss": loss.item()}  # TPU101

        def others(self, x):
            return self.encoder(x.cuda()).pow(2).mean().item()


    model = Net().cuda()
    Engine().train(model=model, make=torch.optim.SGD, batches=[torch.ones(8, 4)], epochs=3)
    """
    agree(tmp_path, "TPU101", main=program, engine=engine)
    agree(
        tmp_path,
        "TPU301",
        main=program.replace("  # TPU101", ""),
        engine=engine.replace('["batches"]:', '["batches"]:  # TPU301'),
    )


def test_a_model_that_an_object_of_another_file_makes(tmp_path: Path) -> None:
    """The object hands itself to what trains, and imports within its methods what it makes."""
    trainer = """\
    import torch

    class Trainer:
        def __init__(self, experiment):
            self.experiment = experiment
            self.model = self.experiment.get_model()
            self.model.to(torch.device("cuda"))
            self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)

        def train(self, loader):
            for x, y in loader:
                loss = self.model(x.cuda(), y.cuda())
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
    """
    experiment = """\
    import torch

    class Experiment:
        def get_model(self):
            from net import Net
            if getattr(self, "model", None) is None:
                self.model = Net(3)
            return self.model

        def get_loader(self):
            return torch.utils.data.DataLoader(self.data, batch_size=8)

        def get_trainer(self):
            from trainer import Trainer
            return Trainer(self)
    """
    net = """\
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self, count):
            super().__init__()
            self.layer = nn.Linear(4, count)

        def forward(self, x, y):
            losses = self.layer(x).pow(2)
            print(losses.max().item())  # TPU101
            return losses[losses > 0.1].mean()  # TPU203
    """
    agree(tmp_path, trainer=trainer, experiment=experiment, net=net)


def test_a_function_that_is_defined_twice_is_the_last_of_them(tmp_path: Path) -> None:
    make = "def create():\n    return Filtered()\n"
    losses = f"""\
from torch import nn

class Filtered(nn.Module):
    def forward(self, x):
        return x[x > 0].sum()  # MARK

def create():
    return None

{make}
"""
    main = """\
    import torch
    from torch import nn
    from losses import create

    device = torch.device("cuda")
    model, criterion = nn.Linear(4, 4).to(device), create()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in loader:
        optimizer.zero_grad()
        criterion(model(x.to(device))).backward()
        optimizer.step()
    """
    agree(tmp_path, "TPU203", main=main, losses=losses.replace("MARK", "TPU203"))
    chosen = losses.replace(make, "if fast:\n    " + make.replace("\n    ", "\n        "))
    agree(tmp_path, "TPU203", main=main, losses=chosen)


def test_parts_of_what_a_function_gives_that_another_one_returns(tmp_path: Path) -> None:
    detector = """\
    import torch
    from torch import nn

    class Net(nn.Module):
        def forward(self, x):
            return x[x > 0]  # TPU203

    class Criterion(nn.Module):
        def forward(self, out, y):
            return out[y > 0].sum()  # TPU203

    class Unused(nn.Module):
        def forward(self, out, y):
            return out[y > 0].sum()

    def build(args):
        model = Net()
        criterion = Criterion()
        criterion.to(args.device)
        return model, criterion, Unused()
    """
    models = "from detector import build\n\ndef build_model(args):\n    return build(args)\n"
    main = """\
    import torch
    from engine import train
    from models import build_model

    def main(args):
        model, criterion, _ = build_model(args)
        model.to(torch.device("cuda"))
        optimizer = torch.optim.Adam(model.parameters())
        train(model, criterion, optimizer, loader)
    """
    engine = """\
    import torch

    def train(model, criterion, optimizer, loader):
        for x, y in loader:
            optimizer.zero_grad()
            criterion(model(x.cuda()), y.cuda()).backward()
            optimizer.step()
    """
    agree(tmp_path, "TPU203", main=main, models=models, detector=detector, engine=engine)


MODELS = """\
    from timm.models import register_model
    from torch import nn


    class Masked(nn.Module):
        def __init__(self, width=4):
            super().__init__()
            self.body = nn.Linear(4, width)

        def forward(self, x, y):
            return self.body(x[y > 0]).sum()  # {masked}


    class Whole(nn.Module):
        def forward(self, x, y):
            return x[y > 1].sum()  # {whole}


    class Unused(nn.Module):
        def forward(self, x, y):
            return x[y > 2].sum()


    @register_model
    def masked_small(pretrained=False, **kwargs):
        model = Masked(**kwargs)
        model.default_cfg = {{}}
        return model


    @register_model
    def whole_small(pretrained=False, **kwargs):
        return Whole(**kwargs)


    def unused_small(pretrained=False, **kwargs):
        return Unused(**kwargs)
    """
CREATED = """\
    import argparse
    import torch
    {imports}

    parser = argparse.ArgumentParser()
    parser.add_argument("--model", default="masked_small")
    args = parser.parse_args()
    device = torch.device("cuda")
    model = {made}.to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in batches:
        loss = model(x.to(device), y.to(device))
        loss.backward()
        optimizer.step()
    """
CREATE = "from timm.models import create_model"


def test_models_that_timm_makes_by_name(tmp_path: Path) -> None:
    models = MODELS.format(masked="TPU203", whole="TPU203")
    main = CREATED.format(imports=f"{CREATE}\n    import models", made="create_model(args.model, pretrained=False)")
    agree(tmp_path, "TPU203", main=main, models=models)


def test_a_model_that_timm_makes_by_a_name_that_is_written_out(tmp_path: Path) -> None:
    models = MODELS.format(masked="", whole="TPU203")
    main = CREATED.format(imports="import timm\n    import models", made='timm.create_model(model_name="whole_small")')
    agree(tmp_path, "TPU203", main=main, models=models)


def test_models_that_no_import_registers_are_not_made_by_timm(tmp_path: Path) -> None:
    models = MODELS.format(masked="", whole="")
    agree(tmp_path, "TPU203", main=CREATED.format(imports=CREATE, made="create_model(args.model)"), models=models)


def test_a_function_of_that_name_which_is_not_that_of_timm(tmp_path: Path) -> None:
    models = MODELS.format(masked="", whole="")
    main = CREATED.format(imports="from kept import create_model\n    import models", made="create_model(args.model)")
    agree(tmp_path, "TPU203", main=main, models=models)


def test_what_a_part_gives_that_a_function_of_a_registry_makes(tmp_path: Path) -> None:
    parts = """\
    from torch import nn

    made = {}


    def register(name):
        def put(cls):
            made[name] = cls
            return cls

        return put


    def make(spec):
        part = made[spec["name"]](**spec["args"])
        if "state" in spec:
            part.load_state_dict(spec["state"])
        return part


    @register("one")
    class One(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.conv = nn.Conv2d(3, width, 3)

        def forward(self, x):
            return self.conv(x)


    class Store:
        def get(self, x):
            return x


    def open_store(spec):
        return Store()
    """
    net = """\
    from torch import nn
    import torch.nn.functional as F
    import parts


    class Net(nn.Module):
        def __init__(self, spec):
            super().__init__()
            self.encoder = parts.make(spec)
            self.store = parts.open_store(spec)
            self.other = unseen(spec)

        def forward(self, x, y):
            self.kept = self.encoder(x)
            kept = self.kept
            names = self.store("x")
            if kept.sum() > 0:  # TPU103
                kept = kept + 1
            if names.size > 0 and self.other("y"):
                kept = kept + y
            return F.unfold(kept, 3)  # TPU135
    """
    main = """\
    import torch
    from net import Net

    net = Net({"name": "one", "args": {"width": 3}}).cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in loader:
        loss = net(x.cuda(), y.cuda()).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    """
    agree(tmp_path, "TPU103,TPU135", parts=parts, net=net, main=main)
