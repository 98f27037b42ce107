"""Classes of the models that programs build in roundabout ways: what a model of another file does in a step is told.

The line that fetches is marked with the code of its rule; no other line may be named.
"""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from marked_files import agree, fill

NET = """\
    from torch import nn


    class {name}(nn.Module):
        def __init__(self, size=4):
            super().__init__()
            self.layer = nn.Linear(size, 1)

        def forward(self, x):
            if x.sum().item() > 0:  # TPU103
                return self.layer(x)
            return self.layer(-x)
    """
TRAINING = """\
    device = torch.device("cuda")
    model = model.to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in batches:
        optimizer.zero_grad()
        model(x.to(device)).sum().backward()
        optimizer.step()
    """
BUILT = {
    "a checkpoint of the program": """\
        import torch
        from net import Net

        checkpoint = None


        def main():
            global checkpoint
            if checkpoint is None:
                model = Net()
            else:
                checkpoint = torch.load(checkpoint)
                model = checkpoint["model"]
            train(model)


        def train(model):
            training

        main()
        """,
    "what a function loads": """\
        import torch
        from net import Net
        from elsewhere import Checkpoint

        model = Checkpoint.load("best").model if resumes else Net()
        training
        """,
    "classes that branches import": """\
        import torch

        if plain:
            from net import Net as Chosen
        else:
            from other import Other as Chosen
        model = Chosen()
        training
        """,
    "the module a program names": """\
        import torch
        import net

        model = eval(options.module).Net()
        training
        """,
    "a module that is imported by its name": """\
        import torch

        library = __import__(options["module"])
        model = library.Net()
        training
        """,
    "a function that wraps": """\
        import torch
        from net import Net
        from wrapping import wrap

        model = wrap(Net())
        training
        """,
    "a function that may refuse": """\
        import torch
        from building import build

        model = build("net")
        training
        """,
    "a name that was that of the module": """\
        import torch
        import net as model

        if resumes:
            model = torch.load("model.pt")
        else:
            model = model.Net()
        training
        """,
    "a class of the builder's file or of another": """\
        import torch
        from choosing import build

        model, _ = build(options)
        training
        """,
    "a dictionary of functions": """\
        import torch
        from choosing import MODELS

        model = MODELS[options.model](size=4)
        training
        """,
    "a list of several": """\
        import torch
        from net import Net


        def train(models):
            model, _ = models
            training

        train([Net(), None])
        """,
}
OTHERS = {
    "choosing": """\
        from torch import nn
        from net import Net


        class Small(nn.Module):
            def forward(self, x):
                return x * 2


        def build(options):
            model = Small()
            if options.large:
                model = Net(model)
            return model, None


        def large(**sizes):
            return Net(**sizes)


        MODELS = {"large": large, "small": Small}
        """,
    "wrapping": """\
        import torch


        def wrap(module):
            if torch.distributed.get_world_size() == 1:
                return module
            return torch.nn.parallel.DistributedDataParallel(module)
        """,
    "building": """\
        from net import Net


        def build(name):
            if name != "net":
                print("no such model")
                return
            return Net()
        """,
}
MADE = """\
    import torch
    import models

    model = models.make("net", size=4)
    training
    """
NOTED = {
    "__init__": """\
        from .making import make
        from . import first
        """,
    "making": """\
        models = {}


        def register(name):
            def note(made):
                models[name] = made
                return made

            return note


        def make(name, **options):
            return models[name](**options)
        """,
}


@pytest.mark.parametrize("way", BUILT)
def test_a_model_of_another_file(tmp_path: Path, way: str) -> None:
    program = fill(BUILT[way], training=dedent(TRAINING))
    files = {"main": program} | {name: text for name, text in OTHERS.items() if name in program}
    files["net"] = NET.format(name="Net")
    if "Other" in program:
        files["other"] = NET.format(name="Other")
    agree(tmp_path, "TPU103", **files)


def test_a_model_that_a_decorator_notes(tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    net = NET.format(name="Net").replace(
        "    class", '    from .making import register\n\n\n    @register("net")\n    class'
    )
    files = {f"models/{name}": text for name, text in NOTED.items()} | {"models/first": net}
    agree(tmp_path, "TPU103", main=fill(MADE, training=dedent(TRAINING)), **files)


def test_folders_that_a_shell_script_puts_on_the_path(tmp_path: Path) -> None:
    for folder in ("bin", "trainer", "models"):
        (tmp_path / folder).mkdir()
    program = """\
        import torch
        from net import Net
        from trainer import Trainer

        model = Net().to("cuda")
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        trainer = Trainer(model, optimizer)
        trainer.run()
        """
    trainer = """\
        class Trainer:
            def __init__(self, model, optimizer):
                self.model = model
                self.optimizer = optimizer

            def run(self):
                for x in batches:
                    self.optimizer.zero_grad()
                    self.model(x.to("cuda")).sum().backward()
                    self.optimizer.step()
        """
    (tmp_path / "trainer" / "__init__.py").touch()
    files = {"bin/train": program, "trainer/trainer": trainer, "models/net": NET.format(name="Net")}
    agree(tmp_path, "TPU103", **files)
