"""Step boundaries: where they go, and loops that must be left alone."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from textwrap import dedent

import pytest
from command import tpulint

from tpulint.catalog import load
from tpulint.config import Settings
from tpulint.linter import lint
from tpulint.model import Applicability, FileResult, Severity
from tpulint.source import SourceFile

CATALOGUE = load()
FAMILY = ("TPU301", "TPU302")


def port(text: str, *, unsafe: bool = True, select: tuple[str, ...] = FAMILY) -> FileResult:
    settings = Settings(select=select, preview=True, fix=True, unsafe_fixes=unsafe)
    result = lint(SourceFile.from_text(text), settings, CATALOGUE)
    assert result.error == ""
    ast.parse(result.text)
    again = lint(SourceFile.from_text(result.text), settings, CATALOGUE)
    assert again.text == result.text, "a second run changes the text"
    return result


def check(text: str, select: tuple[str, ...] = FAMILY) -> FileResult:
    return lint(SourceFile.from_text(dedent(text).lstrip("\n")), Settings(select=select, preview=True), CATALOGUE)


def becomes(before: str, after: str, *, unsafe: bool = False, select: tuple[str, ...] = FAMILY) -> None:
    result = port(dedent(before).lstrip("\n"), unsafe=unsafe, select=select)
    assert result.text == dedent(after).lstrip("\n")
    assert result.findings == ()


def stays(text: str) -> None:
    text = dedent(text).lstrip("\n")
    result = port(text)
    assert result.text == text
    assert result.findings == ()


# -------------------------------------------------------------------- where the boundary goes


def test_update_in_a_method_of_a_trainer() -> None:
    becomes(
        """
        import torch


        class Trainer:
            def __init__(self, model, optimizer, loader, device):
                self.model = model.to(device)
                self.optimizer = optimizer
                self.loader = loader

            def run_batch(self, x, y):
                self.optimizer.zero_grad()
                loss = torch.nn.functional.mse_loss(self.model(x), y)
                loss.backward()
                self.optimizer.step()
                return loss

            def run_epoch(self):
                for x, y in self.loader:
                    self.run_batch(x, y)
        """,
        """
        import torch
        import torch_xla


        class Trainer:
            def __init__(self, model, optimizer, loader, device):
                self.model = model.to(device)
                self.optimizer = optimizer
                self.loader = loader

            def run_batch(self, x, y):
                self.optimizer.zero_grad()
                loss = torch.nn.functional.mse_loss(self.model(x), y)
                loss.backward()
                self.optimizer.step()
                torch_xla.sync()
                return loss

            def run_epoch(self):
                for x, y in self.loader:
                    self.run_batch(x, y)
        """,
    )


def test_updates_in_two_functions_have_one_boundary_in_the_loop() -> None:
    becomes(
        """
        import torch

        def update_critic(critic, optimizer, x):
            optimizer.zero_grad()
            critic(x).mean().backward()
            optimizer.step()

        def update_actor(actor, optimizer, x):
            optimizer.zero_grad()
            actor(x).mean().backward()
            optimizer.step()

        def train(actor, critic, first, second, loader, device):
            for step, x in enumerate(loader):
                x = x.to(device)
                update_critic(critic, first, x)
                update_actor(actor, second, x)
                if step % 10 == 0:
                    print(step)
        """,
        """
        import torch
        import torch_xla

        def update_critic(critic, optimizer, x):
            optimizer.zero_grad()
            critic(x).mean().backward()
            optimizer.step()

        def update_actor(actor, optimizer, x):
            optimizer.zero_grad()
            actor(x).mean().backward()
            optimizer.step()

        def train(actor, critic, first, second, loader, device):
            for step, x in enumerate(loader):
                x = x.to(device)
                update_critic(critic, first, x)
                update_actor(actor, second, x)
                torch_xla.sync()
                if step % 10 == 0:
                    print(step)
        """,
    )


def test_inner_loop_of_the_critic_and_the_loop_around_it() -> None:
    """Both loops train; the work of the outer one must not run into the next inner turn forever."""
    becomes(
        """
        import torch
        device = torch.device("cuda")
        critic, actor = torch.nn.Linear(2, 1).to(device), torch.nn.Linear(2, 2).to(device)
        first, second = torch.optim.SGD(critic.parameters()), torch.optim.SGD(actor.parameters())
        for step in range(100):
            for _ in range(5):
                critic(torch.randn(4, 2, device=device)).mean().backward()
                first.step()
                first.zero_grad()
            actor(torch.randn(4, 2, device=device)).mean().backward()
            second.step()
        """,
        """
        import torch
        import torch_xla
        device = torch.device("cuda")
        critic, actor = torch.nn.Linear(2, 1).to(device), torch.nn.Linear(2, 2).to(device)
        first, second = torch.optim.SGD(critic.parameters()), torch.optim.SGD(actor.parameters())
        for step in range(100):
            for _ in range(5):
                critic(torch.randn(4, 2, device=device)).mean().backward()
                first.step()
                first.zero_grad()
                torch_xla.sync()
            actor(torch.randn(4, 2, device=device)).mean().backward()
            second.step()
            torch_xla.sync()
        """,
    )


def test_closure() -> None:
    becomes(
        """
        import torch
        device = torch.device("cuda")
        model = torch.nn.Linear(2, 1).to(device)
        optimizer = torch.optim.LBFGS(model.parameters())
        for step in range(20):
            def closure():
                optimizer.zero_grad()
                loss = model(torch.ones(1, 2, device=device)).mean()
                loss.backward()
                return loss
            optimizer.step(closure)
        """,
        """
        import torch
        import torch_xla
        device = torch.device("cuda")
        model = torch.nn.Linear(2, 1).to(device)
        optimizer = torch.optim.LBFGS(model.parameters())
        for step in range(20):
            def closure():
                optimizer.zero_grad()
                loss = model(torch.ones(1, 2, device=device)).mean()
                loss.backward()
                return loss
            optimizer.step(closure)
            torch_xla.sync()
        """,
    )


@pytest.mark.parametrize(
    "update",
    [
        "optimizers['model'].zero_grad(); loss.backward(); optimizers['model'].step()",
        "for one in optimizers: one.zero_grad()\n    loss.backward()\n    for one in optimizers: one.step()",
        "loss_scaler(loss, optimizer, parameters=model.parameters())\n    optimizer.zero_grad()",
        "scaler.scale(loss).backward()\n    scaler.step(optimizer)\n    scaler.update()\n    optimizer.zero_grad()",
        "loss.backward()\n    with torch.no_grad():\n        for p in model.parameters(): p.sub_(0.1 * p.grad)",
    ],
)
def test_updates_known_by_what_is_done_with_them(update: str) -> None:
    """Nothing says what these objects are but that their gradients are cleared, or parameters change by gradients."""
    text = f"import torch\nfrom lib import *\nfor x in batches:\n    loss = model(x.to(device)).mean()\n    {update}\n"
    result = port(text, unsafe=False)
    assert result.text.endswith("torch_xla.sync()\n")
    assert result.findings == ()


def test_object_that_only_steps_is_likely_an_optimizer() -> None:
    text = """
    import torch
    from lib import *
    for x in batches:
        model.zero_grad()
        model(x.to(device)).mean().backward()
        updater.step()
    """
    (finding,) = check(text).findings
    assert finding.fix is not None
    assert finding.fix.applicability is Applicability.UNSAFE


@pytest.mark.parametrize("call", ["scheduler.step()", "env.step(action)", "profiler.step()", "self.step()"])
def test_other_things_that_step(call: str) -> None:
    stays(
        f"""
        import torch
        from lib import *
        for x in batches:
            model(x.to(device)).mean().backward()
            {call}
        """
    )


def test_boundary_stands_behind_device_work_and_in_front_of_clocks_and_files() -> None:
    becomes(
        """
        import time
        import torch
        import torch.nn.functional as F

        def count_right(output, target):
            with torch.no_grad():
                _, guess = output.topk(1)
                return (guess.t() == target).sum()

        def train(model, optimizer, ema, loader, device):
            right = 0
            for step, (x, y) in enumerate(loader):
                x, y = x.to(device), y.to(device)
                output = model(x)
                loss = F.cross_entropy(output, y)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                ema.update(model)

                # accuracy
                right += count_right(output, y)
                seen = step * len(x)  # on the host
                elapsed = time.time() - begin
                if step % 500 == 0:
                    torch.save(model.state_dict(), "last.pt")
        """,
        """
        import time
        import torch
        import torch.nn.functional as F
        import torch_xla

        def count_right(output, target):
            with torch.no_grad():
                _, guess = output.topk(1)
                return (guess.t() == target).sum()

        def train(model, optimizer, ema, loader, device):
            right = 0
            for step, (x, y) in enumerate(loader):
                x, y = x.to(device), y.to(device)
                output = model(x)
                loss = F.cross_entropy(output, y)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                ema.update(model)

                # accuracy
                right += count_right(output, y)
                torch_xla.sync()
                seen = step * len(x)  # on the host
                elapsed = time.time() - begin
                if step % 500 == 0:
                    torch.save(model.state_dict(), "last.pt")
        """,
    )


def test_skipped_micro_batches() -> None:
    becomes(
        """
        import torch
        def train(model, optimizer, loader, device):
            for i, x in enumerate(loader):
                model(x.to(device)).mean().backward()
                if (i + 1) % 8 != 0:
                    continue
                optimizer.step()
                optimizer.zero_grad()
        """,
        """
        import torch
        import torch_xla
        def train(model, optimizer, loader, device):
            for i, x in enumerate(loader):
                model(x.to(device)).mean().backward()
                if (i + 1) % 8 != 0:
                    continue
                optimizer.step()
                optimizer.zero_grad()
                torch_xla.sync()
        """,
    )


@pytest.mark.parametrize(
    "rest",
    [
        ["except RuntimeError:", "    continue"],
        ["except RuntimeError:", "    optimizer.zero_grad()", "print('next')"],
        ["finally:", "    optimizer.zero_grad()"],
    ],
)
def test_update_and_read_in_a_try_have_one_boundary(rest: list[str]) -> None:
    """A turn that goes well passes the boundary in the block; one that fails has no update to end."""
    before = dedent(
        """
        import torch
        import torch_xla

        model = torch.nn.Linear(4, 4).to(torch_xla.device())
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for x in loader:
            try:
                loss = model(x.to(torch_xla.device())).mean()
                loss.backward()
                optimizer.step()
                print(loss.item())
        """
    ) + "".join(f"    {line}\n" for line in rest)
    step = "        optimizer.step()\n"
    becomes(before, before.replace(step, step + "        torch_xla.sync()\n"))


def test_try_whose_handler_updates_keeps_a_boundary_behind_it() -> None:
    becomes(
        """
        import torch
        import torch_xla

        model = torch.nn.Linear(4, 4).to(torch_xla.device())
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for x in loader:
            loss = model(x.to(torch_xla.device())).mean()
            loss.backward()
            try:
                optimizer.step()
                print(loss.item())
            except RuntimeError:
                optimizer.step()
        """,
        """
        import torch
        import torch_xla

        model = torch.nn.Linear(4, 4).to(torch_xla.device())
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for x in loader:
            loss = model(x.to(torch_xla.device())).mean()
            loss.backward()
            try:
                optimizer.step()
                torch_xla.sync()
                print(loss.item())
            except RuntimeError:
                optimizer.step()
            torch_xla.sync()
        """,
    )


def test_block_that_updates_and_goes_on_with_the_next_turn() -> None:
    becomes(
        """
        import torch
        def train(model: torch.nn.Module, optimizer, loader, device):
            for step, x in enumerate(loader):
                x = x.to(device)
                optimizer.zero_grad()
                if step < 500:
                    loss = model(x).mean()
                    loss.backward()
                    optimizer.step()
                    print(loss.item())
                    continue
                loss = model(x).std()
                loss.backward()
                optimizer.step()
        """,
        """
        import torch
        import torch_xla
        def train(model: torch.nn.Module, optimizer, loader, device):
            for step, x in enumerate(loader):
                x = x.to(device)
                optimizer.zero_grad()
                if step < 500:
                    loss = model(x).mean()
                    loss.backward()
                    optimizer.step()
                    torch_xla.sync()
                    print(loss.item())
                    continue
                loss = model(x).std()
                loss.backward()
                optimizer.step()
                torch_xla.sync()
        """,
    )


def test_boundary_takes_the_place_of_a_wait_for_cuda() -> None:
    becomes(
        """
        import torch
        def train(model: torch.nn.Module, optimizer, loader, device):
            for x in loader:
                optimizer.zero_grad()
                model(x.to(device)).mean().backward()
                optimizer.step()
                torch.cuda.synchronize()
        """,
        """
        import torch
        import torch_xla
        def train(model: torch.nn.Module, optimizer, loader, device):
            for x in loader:
                optimizer.zero_grad()
                model(x.to(device)).mean().backward()
                optimizer.step()
                torch_xla.sync()
        """,
        unsafe=True,
        select=(*FAMILY, "TPU010"),
    )


def test_tabs_carriage_returns_and_no_newline_at_the_end() -> None:
    before = (
        "import torch\r\nfor x in b:\r\n\tloss = m(x.to(device))\r\n\tloss.backward()\r\n\to.zero_grad()\r\n\to.step()"
    )
    after = before.replace("torch\r\n", "torch\r\nimport torch_xla\r\n", 1) + "\r\n\ttorch_xla.sync()"
    assert port(before, unsafe=False).text == after


# -------------------------------------------------------------------- what is left alone


@pytest.mark.parametrize("imported", ["", "import matplotlib.pyplot as plt"])
@pytest.mark.parametrize("last", ["", 'plt.xlabel("step")'])
def test_script_without_a_device(imported: str, last: str) -> None:
    """Nothing in it has to do with a device: it runs on the host, and is meant to. ``xlabel`` is no word of XLA."""
    stays(
        f"""
        import torch
        {imported}
        model = torch.nn.Linear(2, 1)
        optimizer = torch.optim.SGD(model.parameters())
        for x in batches:
            optimizer.zero_grad()
            model(x).mean().backward()
            optimizer.step()
        {last}
        """
    )


def test_optimizer_is_defined_not_used() -> None:
    stays(
        """
        import torch

        class Descent(torch.optim.Optimizer):
            def step(self):
                for p in self.params:
                    p.data.add_(p.grad, alpha=-0.1)

        def to_device(x, device):
            for part in x:
                part.to(device).backward()
        """
    )


def test_device_loader_passed_to_a_function() -> None:
    stays(
        """
        import torch
        import torch_xla
        from torch_xla.distributed.parallel_loader import MpDeviceLoader

        def train(model, optimizer, batches):
            for x in batches:
                optimizer.zero_grad()
                model(x).mean().backward()
                optimizer.step()

        def main(model, optimizer, loader):
            train(model, optimizer, MpDeviceLoader(loader, torch_xla.device()))
        """
    )


def test_boundary_in_a_helper() -> None:
    stays(
        """
        import torch
        import torch_xla

        def finish(optimizer):
            optimizer.step()
            torch_xla.sync()

        def train(model, optimizer, loader, device):
            for x in loader:
                model(x.to(device)).mean().backward()
                finish(optimizer)
                optimizer.zero_grad()
        """
    )


# -------------------------------------------------------------------- evaluation


def test_evaluation_behind_eval_without_no_grad() -> None:
    result = check(
        """
        import torch
        def score(model: torch.nn.Module, loader, device):
            model.eval()
            right = 0
            for x, y in loader:
                right += (model(x.to(device)).argmax(1) == y.to(device)).sum()
            return right.item()
        """
    )
    assert [(finding.code, finding.severity) for finding in result.findings] == [("TPU302", Severity.WARNING)]


def test_train_mode_is_no_evaluation() -> None:
    stays(
        """
        import torch
        def warm_up(model: torch.nn.Module, loader, device):
            model.eval()
            model.train()
            for x in loader:
                model(x.to(device))
        """
    )


def test_loop_over_layers_is_no_evaluation() -> None:
    stays(
        """
        import torch
        @torch.no_grad()
        def forward(layers: torch.nn.ModuleList, heads: torch.nn.ModuleList, x, device):
            x = x.to(device)
            for layer in layers:
                x = layer(x)
            for i in range(len(heads)):
                x = heads[i](x)
            return x
        """
    )


def test_evaluation_of_a_framework() -> None:
    stays(
        """
        import torch
        from accelerate import Accelerator
        accelerator = Accelerator()
        model = accelerator.prepare(torch.nn.Linear(2, 1))
        with torch.no_grad():
            for x in batches:
                accelerator.gather(model(x))
        """
    )


def test_evaluation_within_a_step_loop() -> None:
    """A function that a step starts now and then has a boundary of its own in each of its batches."""
    becomes(
        """
        import torch
        @torch.no_grad()
        def validate(model, loader, device):
            total = 0
            for x in loader:
                total += model(x.to(device)).sum()
            return total.item()
        def train(model: torch.nn.Module, optimizer, loader, device):
            for step, x in enumerate(loader):
                optimizer.zero_grad()
                model(x.to(device)).mean().backward()
                optimizer.step()
                if step % 100 == 0:
                    print(validate(model, loader, device))
        """,
        """
        import torch
        import torch_xla
        @torch.no_grad()
        def validate(model, loader, device):
            total = 0
            for x in loader:
                total += model(x.to(device)).sum()
                torch_xla.sync()
            return total.item()
        def train(model: torch.nn.Module, optimizer, loader, device):
            for step, x in enumerate(loader):
                optimizer.zero_grad()
                model(x.to(device)).mean().backward()
                optimizer.step()
                torch_xla.sync()
                if step % 100 == 0:
                    print(validate(model, loader, device))
        """,
    )


# -------------------------------------------------------------------- functions that train one step

FUNCTION = """
import torch
import torch_xla

device = torch_xla.device()
model = torch.nn.Linear(4, 4).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def make(model):
    def train(x):
        loss = model(x.to(device)).mean()
        loss.backward()
        optimizer.step()
        return loss.item()
    return train
"""


def test_function_that_trains_one_step_for_a_loop_elsewhere() -> None:
    """Likely, not certain: the loop is not seen. The step of a loop within the function has its own boundary."""
    found = check(FUNCTION).findings
    assert [(finding.code, finding.severity) for finding in found] == [("TPU301", Severity.ERROR)]
    assert found[0].fix is not None and found[0].fix.applicability is Applicability.UNSAFE
    step = "        optimizer.step()\n"
    becomes(FUNCTION, FUNCTION.replace(step, step + "        torch_xla.sync()\n"), unsafe=True)
    called = FUNCTION.replace("return train\n", "train(torch.ones(4))\n")
    becomes(called, called.replace(step, step + "        torch_xla.sync()\n"), unsafe=True)
    becomes(
        """
        import torch
        import torch_xla


        class Gan:
            def __init__(self, critic, maker):
                self.device = torch_xla.device()
                self.critic, self.maker = critic.to(self.device), maker.to(self.device)
                self.critic_optimizer = torch.optim.Adam(critic.parameters())
                self.maker_optimizer = torch.optim.Adam(maker.parameters())

            def backward_maker(self, z):
                self.loss = self.critic(self.maker(z)).mean()
                self.loss.backward()

            def optimize(self, batches, z):
                for x in batches:
                    loss = self.critic(x.to(self.device)).mean()
                    loss.backward()
                    self.critic_optimizer.step()
                self.backward_maker(z)
                self.maker_optimizer.step()
        """,
        """
        import torch
        import torch_xla


        class Gan:
            def __init__(self, critic, maker):
                self.device = torch_xla.device()
                self.critic, self.maker = critic.to(self.device), maker.to(self.device)
                self.critic_optimizer = torch.optim.Adam(critic.parameters())
                self.maker_optimizer = torch.optim.Adam(maker.parameters())

            def backward_maker(self, z):
                self.loss = self.critic(self.maker(z)).mean()
                self.loss.backward()

            def optimize(self, batches, z):
                for x in batches:
                    loss = self.critic(x.to(self.device)).mean()
                    loss.backward()
                    self.critic_optimizer.step()
                    torch_xla.sync()
                self.backward_maker(z)
                self.maker_optimizer.step()
                torch_xla.sync()
        """,
        unsafe=True,
    )


STEP_CALLED_TRAIN = """
import torch
import torch_xla

class Engine:
    def __init__(self, model):
        self.model = model.to(torch_xla.device())
        self.optimizer = torch.optim.Adam(self.model.parameters())

    def train(self, x, y, **others):
        self.model.train()
        loss = (self.model(x) - y).abs().mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()

    def measure(self, x, y):
        self.model.eval()
        with torch.no_grad():
            error = (self.model(x) - y).abs().mean()
        self.model.train()
        return error
"""


def test_step_with_a_name_that_modules_have() -> None:
    """``self.model.train()`` calls no method that has to be given a batch."""
    step = "        self.optimizer.step()\n"
    becomes(STEP_CALLED_TRAIN, STEP_CALLED_TRAIN.replace(step, step + "        torch_xla.sync()\n"), unsafe=True)
    for other in ("self.pool.spawn(self.train)", "self.run = self.train"):
        stays(STEP_CALLED_TRAIN.replace("self.model.train()\n        return", other + "\n        return"))


@pytest.mark.parametrize(
    "change",
    [
        ("    return train\n", "    return torch_xla.compile(train)\n"),  # a step as it is
        ("    return train\n", "    engine = Engine(train)\n    return engine\n"),  # called by who knows whom
        ("def train(x)", "def test_training(x)"),
        ("def train(x)", "def __call__(x)"),
        ("def train(x):\n        loss = model(x.to(device)).mean()", "def train(loss):"),  # the helper of a scaler
        ("        optimizer.step()\n", ""),
        ("        return loss", "        torch_xla.sync()\n        return loss"),
    ],
)
def test_functions_that_are_no_step(change: tuple[str, str]) -> None:
    assert FUNCTION.count(change[0]) == 1
    stays(FUNCTION.replace(*change))


def test_optimizer_of_apex_sets_no_boundary() -> None:
    """``optimizer.backward(loss)`` is no training framework."""
    before = """
        import torch
        import torch_xla
        from apex.fp16_utils import FP16_Optimizer

        model = torch.nn.Linear(4, 4).to(torch_xla.device())
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        if half:
            optimizer = FP16_Optimizer(optimizer)
        for x in loader:
            loss = model(x.to(torch_xla.device())).mean()
            if half:
                optimizer.backward(loss)
            else:
                loss.backward()
            optimizer.step()
        """
    step = "            optimizer.step()\n"
    becomes(before, before.replace(step, step + "            torch_xla.sync()\n"))


def test_optimizer_whose_place_is_kept_with_none() -> None:
    becomes(
        """
        import torch


        class Trainer:
            def __init__(self, model):
                self.optimizer = None
                self.model = model.to("cuda")

            def run(self, batches):
                self.optimizer = self.model.configure_optimizers()
                for x, y in batches:
                    _, self.loss = self.model(x.to("cuda"), y.to("cuda"))
                    self.model.zero_grad(set_to_none=True)
                    self.loss.backward()
                    self.optimizer.step()
                    self.report()
        """,
        """
        import torch
        import torch_xla


        class Trainer:
            def __init__(self, model):
                self.optimizer = None
                self.model = model.to("cuda")

            def run(self, batches):
                self.optimizer = self.model.configure_optimizers()
                for x, y in batches:
                    _, self.loss = self.model(x.to("cuda"), y.to("cuda"))
                    self.model.zero_grad(set_to_none=True)
                    self.loss.backward()
                    self.optimizer.step()
                    torch_xla.sync()
                    self.report()
        """,
        unsafe=True,
    )


def test_update_by_a_wrapper_around_the_optimizer() -> None:
    becomes(
        """
        import torch.nn.functional as F


        def train_epoch(model, batches, optimizer, device):
            for x, y in batches:
                optimizer.zero_grad()
                loss = F.cross_entropy(model(x.to(device)), y.to(device))
                loss.backward()
                optimizer.step_and_update_lr()
        """,
        """
        import torch.nn.functional as F
        import torch_xla


        def train_epoch(model, batches, optimizer, device):
            for x, y in batches:
                optimizer.zero_grad()
                loss = F.cross_entropy(model(x.to(device)), y.to(device))
                loss.backward()
                optimizer.step_and_update_lr()
                torch_xla.sync()
        """,
        unsafe=True,
    )


def test_methods_with_step_in_their_name_that_update_nothing() -> None:
    stays(
        """
        def train_epoch(model, batches, schedule, device):
            for x in batches:
                model(x.to(device)).sum().backward()
                schedule.step_count()
        """
    )


def test_flag_stands_below_the_import_of_torch_further_down() -> None:
    becomes(
        """
        import os
        os.environ["CUDA_VISIBLE_DEVICES"] = "0"
        import torch
        from models import Net

        model = Net()
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

        if torch.cuda.is_available():
            model.cuda()
            print(model)
        """,
        """
        import os
        os.environ["CUDA_VISIBLE_DEVICES"] = "0"
        import torch
        from models import Net

        torch.__future__.set_swap_module_params_on_conversion(True)

        model = Net()
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

        if torch.cuda.is_available():
            model.cuda()
            print(model)
        """,
        unsafe=True,
        select=("TPU303",),
    )


# -------------------------------------------------------------------- steps that some turns have

GATED = """
import torch
import torch.nn.functional as F

device = torch.device("xla")
net = torch.nn.Linear(4, 2).to(device)
optimizer = torch.optim.Adam(net.parameters())
for turn in range(1000):
    values = net(torch.tensor(state, device=device))
    state = world.move(values.argmax(dim=1).cpu().numpy())
    if turn > 100:
        if turn % 10 == 0:
            x, y = memory.sample()
            loss = F.mse_loss(net(x.to(device)), y.to(device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if turn % 500 == 0:
            target.load_state_dict(net.state_dict())
"""


def test_step_of_every_tenth_turn_ends_with_it() -> None:
    """The other turns run what they record by reading it."""
    result = port(GATED)
    step = "            optimizer.step()\n"
    assert step + "            torch_xla.sync()\n        if turn % 500" in result.text
    assert result.text.count("sync()") == 1


def test_steps_that_end_with_the_turn() -> None:
    """Nothing else runs the other turns."""
    old, new = "state = world.move(values.argmax(dim=1).cpu().numpy())", "memory.add(values)"
    assert old in GATED
    assert port(GATED.replace(old, new)).text.endswith("net.state_dict())\n    torch_xla.sync()\n")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("            loss.backward()\n            optimizer.step()\n",
         "        loss.backward()\n        if turn % 10 == 0:\n            optimizer.step()\n"),
        ("        if turn % 10 == 0:", "        if memory:"),
    ],
    ids=["backward pass in every turn", "no interval"],
)  # fmt: skip
def test_steps_that_begin_late(old: str, new: str) -> None:
    """The turns in front of them read what they record."""
    assert old in GATED
    text = port(GATED.replace(old, new)).text
    assert "            optimizer.step()\n        torch_xla.sync()\n        if turn % 500" in text
    assert text.count("sync()") == 1


def test_step_behind_a_start_that_only_collects() -> None:
    """A boundary in front of the first step would let the update of a copied network delete what was copied."""
    before = GATED.replace("        if turn % 10 == 0:", "        if True:").replace(
        "        if turn % 500 == 0:\n            target.load_state_dict(net.state_dict())\n",
        "        for p, q in zip(net.parameters(), target.parameters()):\n"
        "            q.data.copy_(0.1 * p.data + 0.9 * q.data)\n"
        "        if turn % 100 == 0:\n            print(loss.item())\n",
    )
    text = port(before).text
    assert "0.9 * q.data)\n        torch_xla.sync()\n        if turn % 100" in text
    assert text.count("sync()") == 1


# -------------------------------------------------------------------- clocks

TIMED = """\
import time
import torch

def train(model, optimizer, loader, device):
    model.to(device)
    for x in loader:
        {start}
        optimizer.zero_grad()
        loss = model(x.to(device)).sum()
        loss.backward()
        optimizer.step()
        {stop}
"""


@pytest.mark.parametrize(
    ("start", "stop", "ported_start", "ported_stop"),
    [
        ("t = time.time()", "torch.cuda.synchronize()\n        print(time.time() - t)",
         "t = time.time()", "torch_xla.sync(wait=True)\n        print(time.time() - t)"),
        ("torch.cuda.synchronize()\n        t = time.perf_counter()",
         "torch.cuda.synchronize()\n        took = time.perf_counter() - t",
         "torch_xla.sync(wait=True)\n        t = time.perf_counter()",
         "torch_xla.sync(wait=True)\n        took = time.perf_counter() - t"),
        ("t = time.time()", "with lock:\n            torch.cuda.synchronize()\n            x = time.time() - t",
         "t = time.time()", "with lock:\n            torch_xla.sync(wait=True)\n            x = time.time() - t"),
        # nobody reads a clock there: the step boundary is enough
        ("t = 0", "torch.cuda.synchronize()\n        t += 1", "t = 0", "torch_xla.sync()\n        t += 1"),
        # it waits only now and then, and a boundary belongs in every turn
        ("t = time.time()", "if t > 5:\n            torch.cuda.synchronize()\n            print(time.time() - t)",
         "t = time.time()",
         "torch_xla.sync()\n        if t > 5:\n"
         "            torch_xla.sync(wait=True)\n            print(time.time() - t)"),
    ],
)  # fmt: skip
def test_boundary_in_front_of_a_clock_waits(start: str, stop: str, ported_start: str, ported_stop: str) -> None:
    before = TIMED.format(start=start, stop=stop)
    result = port(before, select=("TPU301", "TPU010"))
    after = TIMED.format(start=ported_start, stop=ported_stop)
    head = "\n\ndef train"
    assert result.text.partition(head)[2] == after.partition(head)[2]
    assert result.findings == ()


def test_boundary_stays_at_the_update_where_a_read_comes_before_the_clock() -> None:
    """The read would run the step's work; the wait comes too late to be its boundary."""
    stop = "print(loss.item())\n        torch.cuda.synchronize()\n        t = time.time()"
    text = TIMED.format(start="t = time.time()", stop=stop)
    ported = port(text, select=("TPU301", "TPU010")).text
    assert "        optimizer.step()\n        torch_xla.sync()\n        print(loss.item())\n" in ported
    assert "        torch_xla.sync(wait=True)\n        t = time.time()\n" in ported


# -------------------------------------------------------------------- weights that are loaded again

FOLDS = """
import copy

import torch
from torch import nn

device = torch.device("xla")
model = nn.Linear(4, 2).to(device)
initial = {snapshot}
for fold in range(3):
    model.load_state_dict(initial)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x.to(device)), y.to(device)).backward()
        optimizer.step()
    with torch.no_grad():
        for x, y in held_out:
            losses.append(nn.functional.mse_loss(model(x.to(device)), y.to(device)))
"""


@pytest.mark.parametrize(
    ("snapshot", "is_safe"),
    [
        ("copy.deepcopy(model.state_dict())", False),
        ("{name: value.clone() for name, value in model.state_dict().items()}", False),
        ("{name: value.cpu() for name, value in model.state_dict().items()}", True),
        ('torch.load("start.pt")', True),
    ],
)
def test_a_boundary_is_no_safe_fix_where_it_could_let_kept_weights_be_deleted(snapshot: str, is_safe: bool) -> None:
    found = check(FOLDS.replace("{snapshot}", snapshot)).findings
    assert {finding.code for finding in found} == {"TPU301", "TPU302"}
    degrees = {finding.fix.applicability for finding in found if finding.fix is not None}
    assert degrees == {Applicability.SAFE if is_safe else Applicability.UNSAFE}


def test_with_the_copy_on_the_host_boundaries_are_safe_again() -> None:
    text = FOLDS.replace("{snapshot}", "copy.deepcopy(model.state_dict())")
    result = port(dedent(text).lstrip("\n"), select=("TPU301", "TPU302", "TPU322"))
    assert "initial = {name: value.cpu().clone() for name, value in model.state_dict().items()}" in result.text
    assert result.text.count("torch_xla.sync()") == 2
    assert result.findings == ()


def test_a_boundary_is_no_safe_fix_where_a_caller_still_has_the_weights() -> None:
    text = dedent("""
        import torch
        import torch_xla

        def train_client(net, weights, batches, optimizer):
            net.load_state_dict(weights)
            for x, y in batches:
                optimizer.zero_grad()
                torch.nn.functional.cross_entropy(net(x.to(torch_xla.device())), y).backward()
                optimizer.step()
            return net.state_dict()
    """).lstrip("\n")
    boundary = next(finding for finding in check(text).findings if finding.code == "TPU301")
    assert boundary.fix is not None and boundary.fix.applicability is Applicability.UNSAFE
    result = port(text, select=("TPU301", "TPU322"))
    assert "net.load_state_dict({name: value * 1 for name, value in weights.items()})" in result.text
    assert "        optimizer.step()\n        torch_xla.sync()\n" in result.text
    assert result.findings == ()


MOVED_LATE = """
from torch import nn, optim
import torch_xla
model = nn.LSTM(4, 3)
model.load_state_dict(states)
optimizer = optim.Adam(model.parameters())
device = torch_xla.device()  # the chip
model = model.to(device)
"""


def test_a_device_that_is_taken_behind_the_optimizer_moves_with_the_model() -> None:
    becomes(
        MOVED_LATE,
        """
        from torch import nn, optim
        import torch_xla
        model = nn.LSTM(4, 3)
        model.load_state_dict(states)
        device = torch_xla.device()  # the chip
        model = model.to(device)
        optimizer = optim.Adam(model.parameters())
        """,
        unsafe=True,
        select=("TPU303",),
    )


def test_a_device_that_needs_the_optimizer_stays_behind_it() -> None:
    text = MOVED_LATE.replace("torch_xla.device()  # the chip", "choose(optimizer)")
    fixed = port(text, select=("TPU303",)).text
    assert fixed.index("optim.Adam") < fixed.index("choose(optimizer)") < fixed.index("model.to(device)")


def test_wait_in_an_evaluation_loop_becomes_its_boundary() -> None:
    becomes(
        """
        import time
        import torch
        import torch_xla
        device = torch_xla.device()
        model = torch.nn.Linear(4, 3).to(device)
        model.eval()
        with torch.no_grad():
            for x in batches:
                start = time.time()
                out = model(x.to(device))
                torch.cuda.synchronize()
                print(time.time() - start)
        """,
        """
        import time
        import torch
        import torch_xla
        device = torch_xla.device()
        model = torch.nn.Linear(4, 3).to(device)
        model.eval()
        with torch.no_grad():
            for x in batches:
                start = time.time()
                out = model(x.to(device))
                torch_xla.sync(wait=True)
                print(time.time() - start)
        """,
        unsafe=True,
        select=(*FAMILY, "TPU010"),
    )


@pytest.mark.parametrize(
    ("between", "bounded"),
    [("", False), ("seen += 1", False), ("metric.add(out)", True), ("print(out.sum().item())", True)],
)
def test_wait_behind_what_may_read_is_no_boundary_of_a_batch(between: str, bounded: bool) -> None:
    text = f"""\
import time
import torch
import torch_xla
device = torch_xla.device()
model = torch.nn.Linear(4, 3).to(device)
model.eval()
seen = 0
with torch.no_grad():
    for x in batches:
        start = time.time()
        out = model(x.to(device))
        {between or "pass"}
        torch.cuda.synchronize()
        print(time.time() - start)
"""
    codes = {finding.code for finding in check(text).findings}
    assert ("TPU302" in codes) == bounded


# -------------------------------------------------------------------- frozen batch normalisations

ATTACK = """
import torch
import torch.nn.functional as F
from torchvision.models import resnet18

model = resnet18().to("xla")

def attack(model, images, labels):
    images = images.clone().requires_grad_()
    F.cross_entropy(model(images), labels).backward()
    return images + 0.1 * images.grad.sign()

def run(loader):
    for images, labels in loader:
        SWITCH
        attacked = attack(model, images, labels)
"""


@pytest.mark.parametrize(
    ("switch", "is_told"),
    [
        ("model.eval()", True),
        ("model.train(False)", True),
        ("model.train()", False),
        ("model.eval(); model.train()", False),
        ("model.train(); model.eval()", True),
        ("if not images.any(): model.eval()", False),
    ],
)
def test_gradient_of_another_function_through_a_model_in_evaluation_mode(switch: str, is_told: bool) -> None:
    found = check(ATTACK.replace("SWITCH", switch), select=("TPU323",)).findings
    assert [finding.code for finding in found] == (["TPU323"] if is_told else [])


@pytest.mark.parametrize(
    ("rows", "is_told"),
    [
        (["if attacks:", "    model.eval()"], True),
        (["if attacks:", "    model.eval()", "else:", "    model.train()"], True),
        (["if attacks:", "    model.eval()", "    show(model(images))", "    continue"], False),
        (["if attacks:", "    model.eval()", "    show(model(images))", "    model.train()"], False),
        (["if attacks:", "    model.eval()", "model.train()"], False),
        (["if attacks:", "    model.eval()", "if not attacks:"], False),  # the backward pass runs in the other case
        (["if attacks:", "    other.eval()"], False),
    ],
)
def test_gradient_through_a_model_that_a_branch_puts_into_evaluation_mode(rows: list[str], is_told: bool) -> None:
    step = ["F.cross_entropy(model(images), labels).backward()", "model.train()"]
    rows = ["model.train()", *rows, *(("    " if rows[-1].endswith(":") else "") + row for row in step)]
    code = ATTACK.replace("SWITCH", "\n        ".join(rows)).replace("attacked = attack(model, images, labels)", "pass")
    found = check(code, select=("TPU323",)).findings
    assert [finding.code for finding in found] == (["TPU323"] if is_told else [])


def test_gradient_through_a_network_of_another_file(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "networks.py").write_text(
        "from torch import nn\n\ndef network():\n    return nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8))\n"
    )
    (tmp_path / "plain.py").write_text(
        "from torch import nn\n\ndef network():\n    return nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU())  # BatchNorm\n"
    )
    program = ATTACK.replace("SWITCH", "model.eval()").replace("from torchvision.models", "from networks")
    (tmp_path / "with_norms.py").write_text(program.replace("resnet18", "network"))
    (tmp_path / "without.py").write_text(program.replace("resnet18", "network").replace("from networks", "from plain"))
    answer = tpulint("--output-format=concise", "--select=TPU323", ".", cwd=tmp_path)
    assert re.findall(r"^(\w+\.py):(\d+)", answer.out, re.M) == [("with_norms.py", "10")]


def test_gradient_that_only_training_computes() -> None:
    """One function for training and validation: the model is in evaluation mode where nothing goes backward."""
    text = """
import torch
from torchvision.models import resnet18

model = resnet18().to("xla")
optimizer = torch.optim.Adam(model.parameters())

def run(loader, training):
    for images, labels in loader:
        loss = torch.nn.functional.cross_entropy(model(images), labels)
        GATE
            loss.backward()
            optimizer.step()

def train(loader):
    model.train()
    run(loader, True)
    model.eval()
    run(loader, False)
"""
    for gate, told in (("if training:", 0), ("with torch.enable_grad():", 1)):
        found = check(text.replace("GATE", gate), select=("TPU323",)).findings
        assert len(found) == told


# -------------------------------------------------------------------- updates that are written out

WRITTEN_OUT = """
import torch
import torch_xla
from torch import nn

device = torch_xla.device()
model = nn.Linear(3, 3).to(device)

def update(pairs, rate):
    for weight, velocity in pairs:
        gradient = weight.grad.data
        weight = weight.data
        gradient.mul_(-rate)
        velocity.mul_(0.9).add_(gradient)
        weight.add_(velocity)

def average(model, mean):
    for own, other in zip(model.parameters(), mean.parameters()):
        other.data.mul_(0.9).add_(own.data, alpha=0.1)

def train(loader, weights, biases, mean):
    for x, y in loader:
        model.zero_grad()
        nn.functional.cross_entropy(model(x.to(device)), y.to(device)).backward()
        update(weights, 0.1)
        update(biases, 0.2)
        average(model, mean)
"""


def test_update_by_a_buffer_is_one_and_two_of_them_are_one_step() -> None:
    after = WRITTEN_OUT.replace(
        "        average(model, mean)\n", "        average(model, mean)\n        torch_xla.sync()\n"
    )
    becomes(WRITTEN_OUT, after, unsafe=True)


def test_gradients_that_are_clipped_update_nothing() -> None:
    stays(
        WRITTEN_OUT.replace("        weight.add_(velocity)\n", "        weight.grad.data.clamp_(-1, 1)\n").replace(
            "        weight = weight.data\n", ""
        )
    )


def test_averages_in_ordered_dicts_belong_in_front_of_the_boundary() -> None:
    text = """
        import torch
        import torch_xla
        from collections import OrderedDict

        def average(mean, model):
            means = OrderedDict(mean.named_parameters())
            for name, weight in OrderedDict(model.named_parameters()).items():
                means[name].mul_(0.9).add_(weight.data, alpha=0.1)

        def train(model, mean, loader, device):
            model.to(device)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for x in loader:
                optimizer.zero_grad()
                model(x.to(device)).sum().backward()
                optimizer.step()
                average(mean, model)
"""
    becomes(text, f"{text}                torch_xla.sync()\n")


AVERAGED = """
import torch
from collections import OrderedDict
from torch import nn

@torch.no_grad()
def average(kept, model):
    weights = OrderedDict(model.named_parameters())
    for name, weight in OrderedDict(kept.named_parameters()).items():
        weight.mul_(0.9).add_(weights[name].data, alpha=0.1)

def train(model: nn.Module, kept: nn.Module, loader, criterion, optimizer, averages, device):
    for x, y in loader:
        loss = criterion(model(x.to("xla")), y.to("xla"))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        {}
        print(loss.item())
"""


@pytest.mark.parametrize(
    ("work", "left"),
    [
        ("average(kept, model)", "average(kept, model)"),
        ("torch.cuda.synchronize()\n        averages.update(model)", "averages.update(model)"),
    ],
)
def test_averages_of_the_weights_belong_to_the_step(work: str, left: str) -> None:
    """Behind the boundary they would be computed along by the next step, compiled once more for it."""
    text = port(AVERAGED.format(work), select=(*FAMILY, "TPU010")).text
    assert f"        optimizer.step()\n        {left}\n        torch_xla.sync()\n        print(loss.item())\n" in text


# -------------------------------------------------------------------- recurrent layers on packed sequences

CHOSEN_LAYER = """
import torch
import torch.nn as nn

class Encoder(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.rnn = getattr(nn, kind)(input_size=8, hidden_size=16)

    def forward(self, x, mask, state):
        lengths = mask.sum(0).int().cpu()
        x = nn.utils.rnn.pack_padded_sequence(x, lengths, enforce_sorted=False)
        h, _ = self.rnn(x, state)
        h, _ = nn.utils.rnn.pad_packed_sequence(h)
        return h

model = Encoder("GRU").to("xla")
"""


def test_layer_that_a_name_chooses_runs_padded_with_the_lengths_on_the_device() -> None:
    ported = port(dedent(CHOSEN_LAYER).lstrip(), select=("TPU320",)).text
    assert "        lengths = mask.sum(0).int()\n" in ported
    assert "        h, _ = tpulint_runtime.run_padded(self.rnn, x, lengths, state)\n        return h\n" in ported


@pytest.mark.parametrize(
    ("old", "new"),
    [("        return h\n", "        return h[: lengths.max()]\n"), ("getattr(nn, kind)(", "getattr(self, kind)(")],
)
def test_lengths_that_others_read_are_copied_and_other_layers_are_left_alone(old: str, new: str) -> None:
    ported = port(dedent(CHOSEN_LAYER).lstrip().replace(old, new), select=("TPU320",)).text
    assert "lengths = mask.sum(0).int().cpu()\n" in ported
    assert ("run_padded" in ported) is ("lengths.max" in new)


@pytest.mark.parametrize(
    ("weights", "is_told"),
    [
        ("{name: value.clone() for name, value in net.state_dict().items()}", True),
        ("{name: value.detach().cpu() for name, value in net.state_dict().items()}", False),
        ("torch.load('start.pt', map_location='cpu')", False),
        ("start", True),  # unknown
    ],
)
def test_weights_that_a_function_is_given_on_the_host(weights: str, is_told: bool) -> None:
    text = f"""
    import torch
    import torch_xla

    def train(net, weights, loader):
        net.load_state_dict(weights)
        for x, y in loader:
            optimizer.zero_grad()
            criterion(net(x.to("xla")), y.to("xla")).backward()
            optimizer.step()
            torch_xla.sync()
        return net.state_dict()

    net = torch.nn.Linear(3, 3).to("xla")
    weights = {weights}
    for client in clients:
        collect(train(net, weights, client))
    """
    assert [finding.code for finding in check(text, select=("TPU322",)).findings] == ["TPU322"] * is_told


@pytest.mark.parametrize("taken", ["{}[0]", "{}.data", "({}).data.float()"])
@pytest.mark.parametrize(
    ("scores", "has_gradient"),
    [
        ("model(x)", True),
        ("nn.functional.log_softmax(model(x), -1).transpose(0, 1)", True),
        ("both(x)[0]", True),
        ("x", False),
        ("model(x).argmax(-1)", False),
        ("model(x).detach()", False),
    ],
)
def test_backward_behind_packed_elements(taken: str, scores: str, has_gradient: bool) -> None:
    """XLA has no gradient of packing; elements that are taken out of the padded batch have theirs."""
    text = f"""\
import torch
from torch import nn

model = nn.Linear(8, 8).to("xla")
both = nn.LSTM(8, 8).to("xla")
for x, lengths, targets in loader:
    x = x.to("xla")
    scores = {scores}
    packed = {taken.format("nn.utils.rnn.pack_padded_sequence(scores, lengths)")}
    criterion(head(packed, model(x)), targets).backward()
    optimizer.step()
"""
    (finding,) = check(text, select=("TPU320",)).findings
    assert ("raises" in finding.message) is has_gradient
    taken_out = "tpulint_runtime.pack_padded_sequence(scores, lengths)" in port(text, select=("TPU320",)).text
    assert taken_out is has_gradient


@pytest.mark.parametrize(
    ("packing", "has_gradient"),
    [
        ("packed, *_ = {}", True),
        ("packed, sizes, _, _ = {}", True),
        ("with torch.no_grad():\n        packed = {}[0]", False),
    ],
)
def test_outputs_of_a_module_that_are_unpacked(packing: str, has_gradient: bool) -> None:
    """Of several outputs the first is what it computes; one that it hands on may be a target."""
    text = """\
import torch
from torch import nn

model = nn.LSTM(8, 8).to("xla")
for x, lengths, targets in loader:
    scores, targets = model(x.to("xla"))
    {}
    criterion(head(packed), targets).backward()
    optimizer.step()
"""
    pack = "nn.utils.rnn.pack_padded_sequence({}, lengths)"
    for name, raises in (("scores", has_gradient), ("targets", False)):
        (finding,) = check(text.format(packing.format(pack.format(name))), select=("TPU320",)).findings
        assert ("raises" in finding.message) is raises


def test_sequence_that_is_kept_packed_stays_padded() -> None:
    text = """\
import torch
from torch import nn

model = nn.Linear(8, 8).to("xla")
for x, lengths, targets in loader:
    packed = nn.utils.rnn.pack_padded_sequence(model(x.to("xla")), lengths)
    criterion(head(packed), targets).backward()
    optimizer.step()
"""
    assert "recurrent layers" in check(text, select=("TPU320",)).findings[0].message
    assert "packed = tpulint_runtime.pack_padded_sequence" in port(text, select=("TPU320",)).text


def test_layer_with_projections_runs_padded() -> None:
    layer = CHOSEN_LAYER.replace("getattr(nn, kind)(input_size=8, hidden_size=16)", "nn.LSTM(8, 16, proj_size=4)")
    ported = port(dedent(layer).lstrip(), select=("TPU320",)).text
    assert "        h, _ = tpulint_runtime.run_padded(self.rnn, x, lengths, state)\n" in ported


@pytest.mark.parametrize(
    ("body", "is_told"),
    [("return head(model(images))", True), ("with torch.no_grad():\n        return model(images)", False)],
)
def test_model_in_evaluation_mode_that_a_function_runs(body: str, is_told: bool) -> None:
    """What a function only hands on, or runs without gradients, has no part in the backward pass."""
    text = f"""
import torch
from torchvision.models import resnet18

model = resnet18().to("xla")
head = torch.nn.Linear(1000, 2).to("xla")

def features(model, images):
    {body}

def train(model, loader):
    for images in loader:
        found = head(features(model, images))
        found.sum().backward()

model.eval()
train(model, [])
"""
    assert bool(check(text, select=("TPU323",)).findings) is is_told


def test_features_of_a_network_without_batch_normalisations() -> None:
    text = """
import torch
from torch import nn
from torchvision import models

class Features(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = NETWORK().features

    def forward(self, x):
        return self.layers(x)

class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm2d(3)

generator, features = Generator().to("xla"), Features().to("xla")
features.eval()

def train(loader):
    for images in loader:
        features(generator(images)).sum().backward()

features.eval()
for images in []:
    features(generator(images)).sum().backward()
"""
    assert not check(text.replace("NETWORK", "models.vgg19"), select=("TPU323",)).findings
    assert len(check(text.replace("NETWORK", "models.vgg19_bn"), select=("TPU323",)).findings) == 1


# -------------------------------------------------------------------- functions that a framework calls with every batch


@pytest.mark.parametrize(
    ("line", "told"),
    [("trainer = Engine(step)", True), ("trainer = Engine(process_function=step)", True), ("run(step)", False)],
)
def test_step_that_ignite_runs(line: str, told: bool) -> None:
    """The optimizer is of a library that nobody sees, and has a `step` as the function has."""
    result = check(
        f"""
        import torch_xla
        from ignite.engine import Engine
        from transformers import AdamW

        device = torch_xla.device()

        def main(model, run):
            optimizer = AdamW(model.parameters())

            def step(engine, batch):
                loss = model(batch.to(device)).mean()
                loss.backward()
                optimizer.step()
                return loss.item()

            {line}
        """
    )
    assert ([finding.code for finding in result.findings] == ["TPU301"]) is told


# -------------------------------------------------------------------- what a batch of an evaluation computes last

LAST = """\
import torch
import torch_xla
from tools import peak
device = torch_xla.device()
model = torch.nn.Linear(4, 4).to(device)
right = lambda logits, y: torch.mean((logits.argmax(dim=-1) == y).float())
shown = lambda logits: print(logits.sum().item())
with torch.no_grad():
    for x, y in loader:
        y = y.to(device)
        logits = model(x.to(device))
        LINE
"""


@pytest.mark.parametrize(
    ("line", "is_work"),
    [
        ("found = right(logits, y)", True),
        ("meter.update(peak(logits, y), len(x))", True),
        ("loss = criteria[0](logits, y)", True),
        ("loss = criteria[0](names)", False),
        ("criteria[0](logits, y)", False),
        ("found = shown(logits)", False),
        ("report(logits, y)", False),
    ],
)
def test_boundary_behind_what_is_computed_of_a_batch(tmp_path: Path, line: str, is_work: bool) -> None:
    """In front of it, the next batch would compute it along: the first one is another graph than the others."""
    (tmp_path / "tools.py").write_text(
        "import torch\n\n\ndef peak(a, b):\n    return 10.0 * torch.log10(1.0 / torch.mean((a - b) ** 2))\n"
    )
    (tmp_path / "evaluate.py").write_text(LAST.replace("LINE", line))
    tpulint("--fix", "--select", "TPU302", "--no-cache", cwd=tmp_path)
    text = (tmp_path / "evaluate.py").read_text()
    assert text.endswith(f"        {line}\n        torch_xla.sync()\n") is is_work
    assert "torch_xla.sync()" in text


UPDATES = """\
import torch
import torch_xla
from tools import follow, tell
device = torch_xla.device()
model, target = torch.nn.Linear(4, 4).to(device), torch.nn.Linear(4, 4).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x in loader:
    loss = model(x.to(device)).mean()
    loss.backward()
    optimizer.step()
    CALL(model, target)
    losses.append(loss.item())
"""


@pytest.mark.parametrize(("call", "is_work"), [("follow", True), ("tell", False), ("unknown", False)])
def test_functions_of_other_files_between_update_and_boundary(tmp_path: Path, call: str, is_work: bool) -> None:
    """An average of the weights belongs to the step: behind the boundary, the next step would compute it along."""
    (tmp_path / "tools.py").write_text(
        "def follow(main, target, rate=0.01):\n"
        "    for new, old in zip(main.parameters(), target.parameters()):\n"
        "        old.data.copy_(rate * new.data + (1 - rate) * old.data)\n\n\n"
        "def tell(main, target):\n    print(sum(p.sum().item() for p in main.parameters()))\n"
    )
    (tmp_path / "train.py").write_text(UPDATES.replace("CALL", call))
    tpulint("--fix", "--select", "TPU301", "--no-cache", cwd=tmp_path)
    text = (tmp_path / "train.py").read_text()
    assert (f"    {call}(model, target)\n    torch_xla.sync()\n" in text) is is_work
    assert "torch_xla.sync()" in text


@pytest.mark.parametrize(
    ("collective", "is_work"),
    [
        ("all_reduce(found)", True),
        ("all_reduce(found, async_op=True).wait()", True),
        ("all_reduce(found, async_op=True); sent = torch.distributed.reduce(found, 0); sent.wait()", True),
        ("all_reduce(found); losses.wait()", False),
        ("barrier()", False),
    ],
)
def test_metrics_that_processes_add_up_between_update_and_boundary(
    tmp_path: Path, collective: str, is_work: bool
) -> None:
    """The sum over processes is recorded like other work; what waits for the others is not."""
    (tmp_path / "tools.py").write_text("def count(a, b):\n    return (a == b).sum()\n")
    program = UPDATES.replace("follow, tell", "count").replace(
        "    CALL(model, target)\n    losses.append(loss.item())\n",
        "    found = count(loss, x)\n    if several:\n"
        f"        torch.distributed.{collective}\n    found = found.cpu()\n",
    )
    (tmp_path / "train.py").write_text(program)
    tpulint("--fix", "--select", "TPU301", "--no-cache", cwd=tmp_path)
    text = (tmp_path / "train.py").read_text()
    assert (f"{collective}\n    torch_xla.sync()\n    found = found.cpu()" in text) is is_work
    assert "torch_xla.sync()" in text


def test_copies_of_what_may_be_on_the_device_stand_behind_the_boundary(tmp_path: Path) -> None:
    (tmp_path / "tools.py").write_text(
        "import torch\n\n\ndef fetch(x: torch.Tensor):\n    return x.detach().cpu().numpy()\n"
    )
    program = UPDATES.replace("follow, tell", "fetch").replace("CALL(model, target)", "values = fetch(scores)")
    (tmp_path / "train.py").write_text(program)
    tpulint("--fix", "--select", "TPU301", "--no-cache", cwd=tmp_path)
    text = (tmp_path / "train.py").read_text()
    assert "    optimizer.step()\n    torch_xla.sync()\n    values = fetch(scores)\n" in text


ENGINE = """
import torch
import torch_xla
device = torch_xla.device()
model = torch.nn.Linear(4, 4).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
engine, with_engine = start(model)
for x in loader:
    loss = model(x.to(device)).mean()
    if with_engine:
        engine.backward(loss)
        engine.step()
    else:
        OTHER
"""


@pytest.mark.parametrize(
    ("other", "told"),
    [
        ("optimizer.zero_grad()\n        loss.backward()\n        optimizer.step()", True),
        ("engine.backward(loss * 2)\n        optimizer.step()", False),
    ],
)
def test_backward_pass_of_a_framework_that_is_one_of_two(other: str, told: bool) -> None:
    """A framework sets boundaries of its own, the branch without it sets none."""
    text = ENGINE.replace("OTHER", other)
    assert ([finding.code for finding in check(text).findings] == ["TPU301"]) is told
    assert not check(text.replace("engine", "accelerator")).findings


OWN_OPTIMIZER = """\
import torch

class Session(torch.nn.Module):
    def __init__(self, size):
        super().__init__()
        self.fc = torch.nn.Linear(size, size){placed}
        self.optimizer = torch.optim.Adam(self.parameters())

    def forward(self, x):
        return self.fc(x)

def on_device(x):
    return x.to("xla")
"""


@pytest.mark.parametrize(("placed", "told"), [("", True), ('.to("xla")', False)], ids=["on the host", "on the device"])
def test_a_module_with_an_optimizer_of_its_own(placed: str, told: bool) -> None:
    """Whoever makes it moves it behind its `__init__`: `model = on_device(Session(8))`, perhaps in another file."""
    text = OWN_OPTIMIZER.format(placed=placed)
    assert bool(check(text, ("TPU303",)).findings) is told
    fixed = port(text, select=("TPU303",)).text
    assert ("set_swap_module_params_on_conversion(True)" in fixed) is told


# -------------------------------------------------------------------- on the CPU

PLAIN = """\
import torch

DEVICE
x, y = torch.randn(64, 10, device=device), torch.randn(64, 1, device=device)
weight = torch.randn(10, 1, device=device, requires_grad=True)
for step in range(500):
    loss = (x.mm(weight) - y).pow(2).sum()
    print(step, loss.item())
    loss.backward()
    with torch.no_grad():
        weight -= 1e-3 * weight.grad
        weight.grad.zero_()
"""
MOVED = """\
import torch
from torch import nn

DEVICE
net = nn.Linear(10, 1).to(device)
sgd = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(500):
    loss = net(torch.randn(64, 10, device=device)).mean()
    print(step, loss.item())
    loss.backward()
    sgd.step()
"""
MADE_BY_FUNCTION = (
    MOVED.replace("DEVICE\n", "DEVICE\ndef make():\n    return nn.Sequential(nn.Linear(10, 1))\n\n")
    .replace("net = nn.Linear(10, 1)", "net = make()")
    .replace("    sgd.step()\n", "    sgd.step()\n# no GPU\nprint(next(net.parameters()).device)\n")
)


@pytest.mark.parametrize("text", [PLAIN, MOVED, MADE_BY_FUNCTION])
@pytest.mark.parametrize(
    ("device", "is_silent"),
    [
        ('device = torch.device("cpu")', True),
        ('device = torch.device("cpu")\n# device = torch.device("cuda")  # on a GPU', True),
        ('# use cuda here\ndevice = "cpu"', True),
        ('device = torch.device("cpu")  # or torch.device("cuda:0")', True),
        ('device = "cpu"\nprint("#", torch.zeros(1).cuda())', False),
        ('device = torch.device("cuda")', False),
        ('device = "cpu"\nif device == "cuda":\n    torch.cuda.manual_seed_all(1)\nelse:\n    print("seeded")', True),
        ('device = torch.device("cpu")\nif device.type == "cuda":\n    torch.backends.cudnn.benchmark = True', True),
        ('device = torch.device("cpu")\nif torch.cuda.is_available():\n    torch.cuda.manual_seed(1)', True),
        ('device = "cpu"\nif device == "cpu":\n    torch.zeros(1).cuda()', False),
        ('device = "cpu"\nif device != "cuda":\n    torch.zeros(1).cuda()', False),
        ('device = sys.argv[1]\nif device == "cuda":\n    torch.cuda.manual_seed_all(1)  # cpu', False),
        ('device = torch.device("cpu")\nif len(sys.argv) > 1:\n    device = torch.device("cuda")', False),
        ("device = torch.device(sys.argv[1])  # cpu", False),
    ],
)
def test_what_runs_on_the_cpu_is_left_alone_whatever_a_comment_offers(text: str, device: str, is_silent: bool) -> None:
    source = SourceFile.from_text(f"import sys\n{text.replace('DEVICE', device)}")
    found = {finding.code for finding in lint(source, Settings(), CATALOGUE).findings}
    assert ("TPU301" in found, "TPU101" in found) == (not is_silent, not is_silent)


def test_condition_is_not_put_on_a_row_of_another_statement() -> None:
    """``model.cuda()`` under a condition belongs in front of the optimizer, which shares its row."""
    text = (
        "import torch\nmodel = torch.nn.Linear(4, 4); optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
        "if torch.cuda.is_available(): model.cuda()\n"
    )
    result = lint(SourceFile.from_text(text), Settings(select=("TPU303",), fix=True), CATALOGUE)
    assert result.error == ""
    assert result.text == text


MOVED = "if state:\n    model.to(device)\n    print(1)\nmodel.load_state_dict(state)"


@pytest.mark.parametrize(
    ("layer", "load", "flags"),
    [
        ("nn.GRU(4, 4)", MOVED, ["True", "False"]),
        ("getattr(nn, 'GRU')(4, 4)", MOVED, ["True", "False"]),
        ("nn.GRU(4, 4)", "model.to(device).load_state_dict(state)", []),
        ("nn.Linear(4, 4)", "model.to(device).load_state_dict(state)", ["True"]),
    ],
)
def test_flag_that_recurrent_layers_cannot_load_with(layer: str, load: str, flags: list[str]) -> None:
    text = (
        "import torch\nimport torch_xla\nfrom torch import nn\ndevice = torch_xla.device()\n"
        f"model = {layer}\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)\nstate = model.state_dict()\n"
        f"print(optimizer)\n{load}\n"
    )
    settings = Settings(select=("TPU303",), fix=True, unsafe_fixes=True)
    result = lint(SourceFile.from_text(text), settings, CATALOGUE)
    assert re.findall(r"set_swap_module_params_on_conversion\((\w+)\)", result.text) == flags


@pytest.mark.parametrize("move", ["    model = model.cuda()", "    model.\\\n        cuda()"])
def test_moved_statements_keep_the_newlines_of_windows(move: str) -> None:
    text = (
        "import torch\nmodel = torch.nn.Linear(4, 4)\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
        f"if torch.cuda.is_available():\n{move}\n"
    )
    settings = Settings(select=("TPU303",), fix=True, unsafe_fixes=True)
    unix = lint(SourceFile.from_text(text), settings, CATALOGUE)
    windows = lint(SourceFile.from_text(text.replace("\n", "\r\n")), settings, CATALOGUE)
    assert unix.text != text
    assert windows.error == ""
    assert windows.text == unix.text.replace("\n", "\r\n")


@pytest.mark.parametrize(
    ("kinds", "is_told"),
    [
        ("Block.NORM", True),
        ("(nn.Dropout, Block.NORM)", True),
        ("Chosen", True),
        ("Block.ACTIVATION", False),
        ("Block.MISSING", False),
    ],
)
def test_batch_normalisations_by_another_name(kinds: str, is_told: bool) -> None:
    text = f"""\
import torch
from torch import nn

Chosen = nn.BatchNorm2d


class Block(nn.Sequential):
    NORM = Chosen
    ACTIVATION = nn.ReLU


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = Block(nn.Conv2d(3, 4, 1), nn.BatchNorm2d(4))

    def freeze(self):
        for module in self.modules():
            if isinstance(module, {kinds}):
                module.eval()
"""
    assert [finding.code for finding in check(text, ("TPU323",)).findings] == ["TPU323"] * is_told


@pytest.mark.parametrize(
    ("first", "told"),
    [
        ("pass", False),
        ("net.cuda()", True),
        ("net = net.to(args.place)", True),
        ("torch.set_default_tensor_type(torch.cuda.FloatTensor)", True),
        ("place = 'cuda:0'", True),
    ],
)
def test_a_program_that_only_seeds_a_gpu_trains_on_the_host(first: str, told: bool) -> None:
    text = f"""\
import argparse

import torch

parser = argparse.ArgumentParser()
parser.add_argument("--no-cuda", action="store_true")
args = parser.parse_args()
args.cuda = not args.no_cuda and torch.cuda.is_available()
if args.cuda:
    torch.cuda.manual_seed(1)
net = torch.nn.Linear(4, 4)
{first}
opt = torch.optim.Adam(net.parameters())
for x in torch.rand(9, 8, 4):
    net.zero_grad()
    net(x).sum().backward()
    opt.step()
"""
    assert bool(check(text).findings) is told
    seeded = port(text, select=("TPU0", "TPU3")).text
    assert ("sync()" in seeded) is told and "torch_xla.manual_seed(1)" in seeded


@pytest.mark.parametrize(
    ("question", "goes"),
    [
        ('torch.__version__ >= "2" and platform.system().lower() != "windows"', True),
        ('hasattr(torch, "compile")', True),
        ("torch.cuda.get_device_capability() >= (7, 0)", True),
        ("ask_user()", False),
        ("settings.pop(0)", False),
        ("(fast := settings[0])", False),
    ],
)
def test_question_that_only_compiling_hangs_on(question: str, goes: bool) -> None:
    """It goes along, where asking does nothing else."""
    text = f"""
import platform
import torch

model = torch.nn.Linear(2, 2).to("xla")
if {question}:
    model = torch.compile(model)
print(platform)
"""
    ported = port(text, select=("TPU210",)).text
    assert "torch.compile" not in ported
    assert ("if " in ported) is not goes
