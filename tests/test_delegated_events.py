"""Backward passes and updates that an object of another file's class runs for the loop that trains."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import tpulint
from marked_files import agree

HALF = """\
import torch
import torch_xla


class Half:
    def __init__(self, model):
        self.parameters = list(model.parameters())
        self.scale = 2.0**16
        self.own = torch.optim.SGD(self.parameters, lr=0.1)

    def backward(self, loss):
        (loss * self.scale).backward()

    def optimize(self, optimizer):
        if self.scale > 1:
            return self._scaled(optimizer)
        optimizer.step()
        return True

    def _scaled(self, given):
        for p in self.parameters:
            p.grad.mul_(1 / self.scale)
        given.step()
        return True

    def step_own(self):
        self.own.step()

    def backward_and_step(self, loss, optimizer):
        loss = loss / 2
        self.backward(loss)
        self.optimize(optimizer)

    def optimize_and_sync(self, optimizer):
        optimizer.step()
        torch_xla.sync()

    def train(self, model, batch):
        model(batch).mean().backward()
        self.own.step()

    def next_epoch(self, counter):
        counter.step()
"""
LOOP = """\
import torch
import torch_xla
from half import Half

device = torch_xla.device()
model = torch.nn.Linear(4, 4).to(device)
half = Half(model)
optimizer = torch.optim.AdamW(model.parameters())
plan = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: 1.0)
for x in loader:
    loss = model(x.to(device)).mean()
    BACKWARD
    UPDATE
    print(loss)
"""
CLASS = """\
import torch
import torch_xla
from half import Half


class Training:
    def __init__(self, model, data):
        self.model = model.to(torch_xla.device())
        self.data = data
        self.half = Half(model=self.model)
        self.opt = torch.optim.AdamW(self.model.parameters())
        self.step = 0

    def run(self):
        while self.step < 100:
            self.run_step(next(self.data))
            print(self.step)
            self.step += 1

    def run_step(self, batch):
        self.forward_backward(batch)
        self.half.optimize(self.opt)
        print("updated")

    def forward_backward(self, batch):
        for part in batch.chunk(2):
            loss = self.model(part.to(torch_xla.device())).mean()
            self.half.backward(loss)
"""


def fixed(folder: Path, text: str) -> str:
    """A file beside the class, with all boundaries it lacks."""
    (folder / "half.py").write_text(HALF)
    (folder / "train.py").write_text(text)
    tpulint("--fix", "--unsafe-fixes", "--select", "TPU301", "train.py", cwd=folder)
    return (folder / "train.py").read_text()


def loop(backward: str, update: str) -> str:
    return LOOP.replace("BACKWARD", backward).replace("    UPDATE\n", f"    {update}\n" if update else "")


@pytest.mark.parametrize(
    ("backward", "update"),
    [
        ("half.backward(loss)", "half.optimize(optimizer)"),
        ("half.backward(loss=loss)", "half.optimize(optimizer=optimizer)"),
        ("half.backward(loss)", "optimizer.step()"),
        ("loss.backward()", "half.optimize(optimizer)"),
        ("loss.backward()", "half.step_own()"),
        ("half.backward_and_step(loss, optimizer)", ""),
    ],
)
def test_boundary_stands_behind_the_update(tmp_path: Path, backward: str, update: str) -> None:
    before = loop(backward, update)
    last = f"    {update or backward}\n"
    assert fixed(tmp_path, before) == before.replace(last, last + "    torch_xla.sync()\n")


def test_boundary_of_a_loop_whose_methods_delegate(tmp_path: Path) -> None:
    update = "        self.half.optimize(self.opt)\n"
    assert fixed(tmp_path, CLASS) == CLASS.replace(update, update + "        torch_xla.sync()\n")


@pytest.mark.parametrize(
    ("backward", "update"),
    [
        ("half.backward(loss)", "half.optimize_and_sync(optimizer)"),
        ("half.backward(loss)", "half.next_epoch(plan)"),
        ("half.backward(loss)", "half.next_epoch(unknown)"),
        ("half.train(model, x)", "optimizer.step()"),
        ("unknown.backward(loss)", "unknown.optimize(optimizer)"),
    ],
)
def test_loop_that_has_a_boundary_or_no_step_of_its_own_stays(tmp_path: Path, backward: str, update: str) -> None:
    before = loop(backward, update)
    assert fixed(tmp_path, before) == before


def test_gradients_are_averaged_by_no_object_that_has_an_optimizer(tmp_path: Path) -> None:
    (tmp_path / "half.py").write_text(HALF.replace("step_own", "step"))
    train = (
        "import torch\nimport torch_xla\nfrom half import Half\n\n\ndef train(index):\n"
        "    device = torch_xla.device()\n    model = torch.nn.Linear(4, 4).to(device)\n    half = Half(model)\n"
        "    for _ in range(9):\n        loss = model(torch.ones(4, 4, device=device)).mean()\n"
        "        loss.backward()\n        half.step()\n        torch_xla.sync()\n\n\n"
        'if __name__ == "__main__":\n    torch_xla.launch(train)\n'
    )
    (tmp_path / "train.py").write_text(train)
    options = ("--fix", "--unsafe-fixes", "--select", "unreduced-update-in-launch", "train.py")
    answer = tpulint(*options, cwd=tmp_path)
    assert answer.status == 1
    assert (tmp_path / "train.py").read_text() == train


MAKERS = """\
    import torch

    def make_optimize(clip):
        def optimize(optimizer, parameters, step):
            torch.nn.utils.clip_grad_norm_(parameters, clip)
            optimizer.step()

        return optimize

    def make_step(train, optimize=None):
        def one_step(state, batch):  # TPU301
            model = state["model"]
            if train:
                optimizer = state["optimizer"]
                optimizer.zero_grad()
                loss = model(batch).pow(2).mean()
                loss.backward()
                optimize(optimizer, model.parameters(), step=state["step"])
            else:
                with torch.no_grad():
                    loss = model(batch).pow(2).mean()
            return loss

        return one_step
    """


def test_a_closure_that_a_function_of_another_file_makes(tmp_path: Path) -> None:
    train = """\
        import torch
        import makers

        def train():
            device = torch.device("cuda")
            model = torch.nn.Linear(4, 4).to(device)
            state = {"model": model, "optimizer": torch.optim.Adam(model.parameters()), "step": 0}
            step = makers.make_step(train=True, optimize=makers.make_optimize(1.0))
            for index in range(20):
                loss = step(state, torch.randn(8, 4).to(device))
                print(loss)
        """
    agree(tmp_path, select="TPU301", makers=MAKERS, train=train)
    tpulint("--fix", "--unsafe-fixes", "--select", "TPU301", ".", cwd=tmp_path)
    assert "        torch_xla.sync()\n        return loss" in (tmp_path / "makers.py").read_text()
    assert "sync" not in (tmp_path / "train.py").read_text()


@pytest.mark.parametrize(
    "call", ["make_step(train=False)", "make_step(False, None)", "make_evaluation()", "same(note)"]
)
def test_a_closure_that_is_made_without_its_step(tmp_path: Path, call: str) -> None:
    evaluate = """\
        import torch
        import makers

        def evaluate(model, batches):
            state = {"model": model.to("cuda")}
            step = makers.CALL
            for batch in batches:
                print(step(state, batch.cuda()).item())
        """
    agree(tmp_path, select="TPU301", makers=MAKERS.replace("  # TPU301", ""), evaluate=evaluate)


def test_a_closure_that_is_not_done_yet(tmp_path: Path) -> None:
    undone = MAKERS.replace("  # TPU301", "").replace(
        'model = state["model"]\n', 'raise Exception("not done")\n            model = state["model"]\n'
    )
    train = """\
        import torch
        from makers import make_step

        def train(state, batches):
            step = make_step(True, state.optimize)
            for batch in batches:
                step(state, batch.cuda())
        """
    agree(tmp_path, select="TPU301", makers=undone, train=train)


@pytest.mark.parametrize(
    ("behind", "is_update"),
    [
        ("apply(optimizer, model.parameters())", True),
        ("apply(model, optimizer=optimizer)", True),
        ("apply(model)", False),  # it is given no optimizer
        ("optimizer.step(); apply(optimizer)", True),
        ("print(optimizer)", False),
    ],
)
def test_a_function_that_is_given_the_optimizer(tmp_path: Path, behind: str, is_update: bool) -> None:
    text = f"""\
        import torch

        def train(model, optimizer, batches, apply):
            for batch in batches:{"  # TPU301" if is_update else ""}
                optimizer.zero_grad()
                model(batch.cuda()).mean().backward()
                {behind}
        """
    agree(tmp_path, select="TPU301", train=text)


SOLVER = """\
    import torch

    class Solver:
        def backward(self, loss):
            loss.backward()
            norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), 5.0)
            STEP
            return norm

        def count(self, loss):
            self.counter.step()
    """


@pytest.mark.parametrize(
    ("step", "call", "is_told"),
    [
        ("self.optimizer.step()", "self.backward(loss)", True),
        ("self.optimizer.opt.step()", "self.backward(loss)", False),  # of an object further away
        ("self.scheduler.step()", "self.backward(loss)", False),
        ("pass", "self.backward(loss)", False),
        ("self.optimizer.step()", "self.count(loss)", False),  # no backward pass with it
    ],
)
def test_an_optimizer_that_only_a_derived_class_gives(tmp_path: Path, step: str, call: str, is_told: bool) -> None:
    train = f"""\
        import torch
        from solver import Solver
        from wrappers import Wrapper

        class Training(Solver):
            def __init__(self, batches):
                self.device = torch.device("cuda")
                self.model = torch.nn.Linear(4, 4).to(self.device)
                self.optimizer = Wrapper(self.model.parameters())
                self.batches = batches

            def run(self):
                for data in self.batches:{"  # TPU301" if is_told else ""}
                    self.optimizer.clear()
                    loss = self.model(data.to(self.device)).mean()
                    norm = {call}
        """
    wrappers = """\
        class Wrapper:
            def __init__(self, parameters):
                self.opt = make(parameters)

            def step(self):
                self.opt.step()
        """
    agree(tmp_path, select="TPU301", solver=SOLVER.replace("STEP", step), train=train, wrappers=wrappers)
    tpulint("--fix", "--select", "TPU301", ".", cwd=tmp_path)
    assert "sync" not in (tmp_path / "train.py").read_text()
    tpulint("--fix", "--unsafe-fixes", "--select", "TPU301", ".", cwd=tmp_path)
    assert (f"norm = {call}\n            torch_xla.sync()" in (tmp_path / "train.py").read_text()) == is_told


@pytest.mark.parametrize(
    ("update", "is_told"),
    [
        ("update_params(self.optim, loss)", True),
        ("update_params(optim=self.optim, loss=loss)", True),
        ("update_params(\n                self.optim, loss,\n                retain_graph=True)", True),
        ("note(self.optim, loss)", False),  # which updates nothing
        ("update_params(self.steps, self.steps)", False),
    ],
)
def test_a_base_class_that_leaves_its_updates_to_a_function(tmp_path: Path, update: str, is_told: bool) -> None:
    base = f"""\
        import torch
        from parts import note, update_params

        class Base:
            def __init__(self):
                self.device = torch.device("cuda")
                self.steps = 0

            def run(self):
                while self.steps < 100:{"  # TPU301" if is_told else ""}
                    self.explore(self.steps)
                    self.steps += 1
                    self.learn(torch.randn(8, 4))

            def learn(self, batch):
                loss = self.loss_of(batch.to(self.device))
                {update}
        """
    parts = """\
        def update_params(optim, loss, retain_graph=False):
            optim.zero_grad()
            loss.backward(retain_graph=retain_graph)
            optim.step()

        def note(optim, loss):
            print(optim, loss.mean())
        """
    agent = """\
        import torch
        from base import Base

        class Agent(Base):
            def __init__(self):
                super().__init__()
                self.net = torch.nn.Linear(4, 2).to(self.device)
                self.optim = torch.optim.Adam(self.net.parameters())

            def loss_of(self, batch):
                return self.net(batch).mean()

            def explore(self, state):
                with torch.no_grad():
                    return self.net(torch.FloatTensor(state).to(self.device)).argmax().item()MARK
        """.replace("MARK", "  # TPU101" if is_told else "")
    agree(tmp_path, select="TPU101,TPU301", base=base, parts=parts, agent=agent)
    tpulint("--fix", "--select", "TPU301", ".", cwd=tmp_path)
    moved = update.replace("\n        ", "\n")
    assert (tmp_path / "base.py").read_text().endswith(f"{moved}\n        torch_xla.sync()\n") == is_told


HELPER = """\
    import torch

    def run_batch(model, batch, trains=False):
        loss = model(batch).mean()
        if trains:
            loss.backward()
        return {}
    """


@pytest.mark.parametrize(("behind", "is_step"), [("optimizer.step()", True), ("print(batch)", False)])
def test_backward_pass_of_a_loss_that_another_file_makes(tmp_path: Path, behind: str, is_step: bool) -> None:
    helper = HELPER.replace("{}", "loss.detach()")
    train = f"""\
        import helper
        import torch

        def train(model, batches):
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for batch in batches:{"  # TPU301" if is_step else ""}
                optimizer.zero_grad()
                outputs = helper.run_batch(model.cuda(), batch.cuda(), trains=True)
                {behind}
        """
    agree(tmp_path, select="TPU301", helper=helper, train=train)


def test_a_helper_that_updates_by_itself_is_no_half_of_a_step(tmp_path: Path) -> None:
    helper = HELPER.replace("return {}", "model.optimizer.step()")
    train = """\
        import helper
        import torch

        def train(model, batches):
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for batch in batches:
                helper.run_batch(model.cuda(), batch.cuda(), trains=True)
                optimizer.zero_grad()
                optimizer.step()
        """
    agree(tmp_path, select="TPU301", helper=helper, train=train)


@pytest.mark.parametrize(
    ("taken", "given", "is_told"),
    [
        ('losses["main"].backward()', '{"main": loss}', True),
        ("losses[0].backward()", "[loss]", True),
        ('torch.autograd.backward(losses["main"])', "dict(main=loss)", True),
        ('loss = losses["all"]["main"]\n        loss.backward()', '{"all": {"main": loss}}', True),
        ('losses["main"].detach()', '{"main": loss}', False),
    ],
)
def test_a_function_that_is_given_losses_in_a_collection(tmp_path: Path, taken: str, given: str, is_told: bool) -> None:
    """Where gradients are cleared as well, a backward pass runs somewhere, seen or not."""
    helper = f"""
    import torch

    def go_back(losses):
        {taken}
    """
    program = f"""
    import torch
    from helper import go_back

    model = torch.nn.Linear(4, 1).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in torch.rand(64, 8, 4):{"  # TPU301" if is_told else ""}
        loss = model(x.cuda()).mean()
        {"optimizer.zero_grad()" if is_told else ""}
        go_back({given})
        optimizer.step()
        print(loss.item()){"  # TPU101" if is_told else ""}
    """
    agree(tmp_path, "TPU301,TPU101", helper=helper, main=program)


@pytest.mark.parametrize("weight", ["args.weight", "0.5", "weights[epoch]", '{"mse": 1.0}["mse"]', "args"])
def test_a_number_that_scales_a_loss_is_none(tmp_path: Path, weight: str) -> None:
    """The loop around a whole training goes over epochs, and has no steps of its own."""
    main = f"""\
        import torch
        from torch import nn
        from training import train

        def main(args, loader, weights):
            model = nn.Linear(4, 4).cuda()
            opt = torch.optim.Adam(model.parameters())
            for epoch in range(args.epochs):
                loss = train(model, loader, opt, {weight})
                norm = sum(p.norm() for p in model.parameters())
                print(epoch, loss, norm.item())
        """
    training = """\
        import torch.nn.functional as F

        def train(model, loader, opt, w):
            total = 0
            for x, _ in loader:  # TPU301
                x = x.cuda()
                loss = F.mse_loss(model(x), x) * w
                opt.zero_grad()
                loss.backward()
                opt.step()
            return total / len(loader)
        """
    agree(tmp_path, "TPU301,TPU101", main=main, training=training)


@pytest.mark.parametrize("is_step", [True, False])
def test_a_function_that_trains_within_the_step_of_another_file(tmp_path: Path, is_step: bool) -> None:
    """One boundary ends both, and the loop is told of it; where it has no step of its own, the function is."""
    helper = f"""\
    import torch

    class Attack:
        def __init__(self, proxy, optimizer):
            self.proxy, self.optimizer = proxy, optimizer

        def strengthen(self, x):{"" if is_step else "  # TPU301"}
            loss = -self.proxy(x).mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            return loss
    """
    own = "model(x).mean().backward()\n        optimizer.step()" if is_step else "model(x)"
    program = f"""\
    import torch
    from helper import Attack

    model, proxy = torch.nn.Linear(4, 1).cuda(), torch.nn.Linear(4, 1).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    attack = Attack(proxy, torch.optim.SGD(proxy.parameters(), lr=0.1))
    for x in loader:{"  # TPU301" if is_step else ""}
        x = x.cuda()
        attack.strengthen(x)
        {own}
    """
    agree(tmp_path, "TPU301", helper=helper, main=program)
