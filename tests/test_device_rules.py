"""The device family as a whole: rules that build on each other, folding, and places that must be left alone."""

from __future__ import annotations

import ast
import json
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
FAMILY = ("TPU001", "TPU002", "TPU003", "TPU004", "TPU005", "TPU006")


def port(text: str, *, unsafe: bool = True, select: tuple[str, ...] = FAMILY) -> FileResult:
    settings = Settings(select=select, preview=True, fix=True, unsafe_fixes=unsafe)
    result = lint(SourceFile.from_text(text), settings, CATALOGUE)
    assert result.error == ""
    ast.parse(result.text)
    again = lint(SourceFile.from_text(result.text), settings, CATALOGUE)
    assert again.text == result.text, "a second run changes the text"
    return result


def becomes(before: str, after: str) -> None:
    result = port(dedent(before).lstrip("\n"))
    assert result.text == dedent(after).lstrip("\n")
    assert result.findings == ()


def stays(text: str) -> None:
    text = dedent(text).lstrip("\n")
    assert port(text).text == text


# -------------------------------------------------------------------- words that are no devices


@pytest.mark.parametrize("ways", ['"cuda", "keops", "naive"', '"cuda", "triton"', '"python", "cuda"'])
def test_a_way_to_compute_is_no_device(ways: str) -> None:
    """``backend="cuda"`` of a kernel stays what it is, and so do the comparisons: an assertion failed else."""
    stays(
        f"""
        import torch
        from torch import nn

        class Kernel(nn.Module):
            def __init__(self, backend: str = "cuda"):
                super().__init__()
                self.backend = backend
                assert self.backend in [{ways}]
                self.weight = nn.Parameter(torch.randn(3))

            def forward(self, x):
                if self.backend == "cuda":
                    return x
                return x * self.weight
        """
    )


# -------------------------------------------------------------------- the rules together


def test_flag_guards_calls_and_classes() -> None:
    """The flag is answered first; then the classes are replaced, with the variable that `.cuda()` uses too."""
    becomes(
        """
        import torch
        import torch.nn as nn

        cuda = True if torch.cuda.is_available() else False
        generator = nn.Linear(4, 4)
        if cuda:
            generator.cuda()
        Tensor = torch.cuda.FloatTensor if cuda else torch.FloatTensor

        for imgs in [torch.randn(2, 4)]:
            valid = Tensor(imgs.size(0), 1).fill_(1.0)
            output = generator(imgs.type(Tensor))
        """,
        """
        import torch
        import torch.nn as nn
        import torch_xla

        device = torch_xla.device()

        generator = nn.Linear(4, 4)
        generator.to(device)
        Tensor = torch.FloatTensor

        for imgs in [torch.randn(2, 4)]:
            valid = Tensor(imgs.size(0), 1).fill_(1.0).to(device)
            output = generator(imgs.to(device, torch.float32))
        """,
    )


def test_pinned_copy_behind_a_comparison() -> None:
    becomes(
        """
        import torch

        device = 'cuda'

        def get_batch(x):
            if 'cuda' in device:
                # pin, so that the copy runs beside the computation
                x = torch.as_tensor(x).pin_memory().to(device, non_blocking=True)
            else:
                x = torch.as_tensor(x).to(device)
            return x
        """,
        """
        import torch
        import torch_xla  # noqa: F401 - tells torch of the device xla

        device = 'xla'

        def get_batch(x):
            if 'xla' in device:
                # pin, so that the copy runs beside the computation
                x = torch.as_tensor(x).to(device, non_blocking=True)
            else:
                x = torch.as_tensor(x).to(device)
            return x
        """,
    )


def test_what_is_moved_beside_a_tensor_that_lies_on_cuda() -> None:
    """The condition is ported with what it decides; one that only speeds something up is CUDA's own."""
    becomes(
        """
        import torch

        def overlap(output, target):
            counts = torch.zeros(output.shape)
            if output.device.type == "cuda":
                counts = counts.cuda(output.device.index)
            counts.scatter_(1, target, 1)
            weights = counts.to("cuda") if output.device.type == "cuda" else counts
            if output.device.type == "cuda":
                torch.cuda.synchronize()
            if output.device.type != "cuda":
                return output * weights
            return output * weights.cuda()
        """,
        """
        import torch
        import torch_xla

        def overlap(output, target):
            counts = torch.zeros(output.shape)
            if output.device.type == "xla":
                counts = counts.to(torch_xla.device())
            counts.scatter_(1, target, 1)
            weights = counts.to("xla") if output.device.type == "xla" else counts
            if output.device.type == "cuda":
                torch.cuda.synchronize()
            if output.device.type != "xla":
                return output * weights
            return output * weights.to(torch_xla.device())
        """,
    )
    stays(
        """
        import torch

        def place(output, counts):
            if output.device.type == "cuda":
                counts = counts.cuda()
            elif output.device.type == "mps":
                counts = counts.to("mps")
            return output * counts
        """
    )


def test_classes_beside_a_tensor_that_knows_its_device() -> None:
    becomes(
        """
        import torch

        def noise(mu):
            Tensor = torch.cuda.FloatTensor if mu.is_cuda else torch.FloatTensor
            return Tensor(3).normal_()

        device = torch.device("cuda")
        noise(torch.ones(3, device=device))
        """,
        """
        import torch
        import torch_xla

        def noise(mu):
            Tensor = torch.FloatTensor
            return Tensor(3).normal_().to(mu.device)

        device = torch_xla.device()
        noise(torch.ones(3, device=device))
        """,
    )


def test_flag_of_the_user_chooses_the_device_too() -> None:
    """With the flag off the models stay on the host, and so must the tensors."""
    becomes(
        """
        import torch

        def sample(opt):
            Tensor = torch.cuda.FloatTensor if opt.cuda else torch.FloatTensor
            Long = torch.cuda.LongTensor if opt.cuda else torch.LongTensor
            return Tensor(3), Long(3)
        """,
        """
        import torch
        import torch_xla

        def sample(opt):
            device = torch_xla.device() if opt.cuda else torch.device("cpu")
            Tensor = torch.FloatTensor
            Long = torch.LongTensor
            return Tensor(3).to(device), Long(3).to(device)
        """,
    )


def test_class_of_a_module_that_an_object_keeps() -> None:
    """As the search of OpenNMT does; the host's module takes the place of CUDA's."""
    becomes(
        """
        import torch

        class Beam:
            def __init__(self, size, cuda):
                self.tt = torch.cuda if cuda else torch
                self.scores = self.tt.FloatTensor(size).zero_()

            def follow(self, words):
                return self.tt.LongTensor(words), words.type(self.tt.LongTensor)
        """,
        """
        import torch
        import torch_xla

        class Beam:
            def __init__(self, size, cuda):
                self.tensor_device = torch_xla.device() if cuda else torch.device("cpu")
                self.tt = torch
                self.scores = self.tt.FloatTensor(size).zero_().to(self.tensor_device)

            def follow(self, words):
                return self.tt.LongTensor(words).to(self.tensor_device), words.to(self.tensor_device, torch.int64)
        """,
    )


def test_class_of_a_module_that_a_branch_chooses() -> None:
    becomes(
        """
        import torch

        def sample(opt, sizes):
            if opt.cuda:
                tt = torch.cuda
            else:
                tt = torch
            return [tt.FloatTensor(size) for size in sizes]
        """,
        """
        import torch
        import torch_xla

        def sample(opt, sizes):
            device = torch_xla.device() if opt.cuda else torch.device("cpu")
            tt = torch
            return [tt.FloatTensor(size).to(device) for size in sizes]
        """,
    )


def test_module_that_the_answer_chooses() -> None:
    becomes(
        """
        import torch

        tt = torch.cuda if torch.cuda.is_available() else torch
        x = tt.FloatTensor(4, 4).normal_()
        """,
        """
        import torch
        import torch_xla

        device = torch_xla.device()

        tt = torch
        x = torch.randn(4, 4, device=device)
        """,
    )


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        # More than tensors is taken from it, or nobody sees what.
        ("return tt.", "tt.manual_seed(3)\n    return tt.", 1),
        ("return tt.", "prepare(tt)\n    return tt.", 1),
        # It may be something else.
        ("else torch\n", "else torch.xpu\n", 0),
        ("else torch\n", "else torch\n    tt = opt.module\n", 0),
    ],
)
def test_module_of_which_not_everything_is_seen(old: str, new: str, told: int) -> None:
    text = (
        "import torch\n\ndef sample(opt):\n    tt = torch.cuda if opt.cuda else torch\n    return tt.FloatTensor(3)\n"
    )
    assert port(text).text != text
    result = port(text.replace(old, new), select=("TPU003",))
    assert result.text == text.replace(old, new) and len(result.findings) == told


def test_module_by_another_name_is_left_for_what_else_it_has() -> None:
    text = "import torch\n\ntt = torch.cuda\nx = tt.FloatTensor(3)\ntt.synchronize()\n"
    result = port(text, select=("TPU003", "TPU010"))
    assert "tt = torch\n" not in result.text and "x = torch.FloatTensor(3).to(" in result.text


def test_flag_that_chooses_in_two_scopes() -> None:
    """No variable for the device is read in both of them."""
    text = """\
import torch

def sample():
    Tensor = torch.cuda.FloatTensor if args.cuda else torch.FloatTensor
    return Tensor(3)

Long = torch.cuda.LongTensor if args.cuda else torch.LongTensor
x = Long(3), sample()
"""
    assert port(text, select=("TPU003",)).text == text
    assert port(text.replace("args.cuda", "True"), select=("TPU003",)).text != text


def test_device_that_follows_the_flag_is_used() -> None:
    becomes(
        """
        import argparse
        import torch

        parser = argparse.ArgumentParser()
        parser.add_argument("--cuda", action="store_true")
        opt = parser.parse_args()
        device = torch.device("cuda" if opt.cuda else "cpu")
        dtype = torch.cuda.FloatTensor if opt.cuda else torch.FloatTensor
        x = torch.ones(3).type(dtype)
        """,
        """
        import argparse
        import torch
        import torch_xla  # noqa: F401 - tells torch of the device xla

        parser = argparse.ArgumentParser()
        parser.add_argument("--cuda", action="store_true")
        opt = parser.parse_args()
        device = torch.device("xla" if opt.cuda else "cpu")
        dtype = torch.FloatTensor
        x = torch.ones(3).to(device, torch.float32)
        """,
    )


@pytest.mark.parametrize("codes", [FAMILY, FAMILY[::-1]])
def test_order_of_the_rules_does_not_matter(codes: tuple[str, ...]) -> None:
    text = dedent(
        """
        import torch

        use_cuda = torch.cuda.is_available()
        x = torch.ones(3).pin_memory()
        if use_cuda:
            torch.accelerator.synchronize()
            x = x.cuda()
        """
    )
    assert port(text, select=codes).text == port(text).text


def test_safe_fixes_do_not_leave_half_a_port() -> None:
    """The choice of the device needs `--unsafe-fixes` here, so `.cuda()` must wait for it."""
    text = dedent(
        """
        import torch

        device = "cuda" if torch.cuda.is_available() else "cpu"
        model = torch.nn.Linear(2, 2).cuda()
        x = torch.ones(3, 2).to(device)
        """
    ).lstrip("\n")
    assert port(text, unsafe=False).text == text
    assert "cuda" not in port(text).text


# -------------------------------------------------------------------- where the device may be touched


@pytest.mark.parametrize("moves", ["self.model = model.to('cuda')", "self.model = model.cuda()"])
def test_safe_fixes_move_no_model_behind_its_optimizer(moves: str) -> None:
    """The model would train nothing and say nothing; what mends it has to be looked at."""
    text = dedent(
        f"""\
        import torch
        import torch.nn as nn


        class Trainer:
            def __init__(self, model, optimizer):
                {moves}
                self.optimizer = optimizer

            def step(self, x):
                self.model(x.to('cuda')).mean().backward()
                self.optimizer.step()


        model = nn.Linear(4, 4)
        trainer = Trainer(model, torch.optim.SGD(model.parameters(), lr=0.1))
        """
    )
    select = (*FAMILY, "TPU303")
    assert port(text, unsafe=False, select=select).text == text
    assert "cuda" not in port(text, select=select).text
    earlier = text.replace("Linear(4, 4)", "Linear(4, 4).to('cuda')").replace(moves, "self.model = model")
    assert "cuda" not in port(earlier, unsafe=False, select=select).text


def test_parent_of_processes_only_names_the_device() -> None:
    becomes(
        """
        import torch
        import torch.multiprocessing as mp

        DEVICE = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")

        class Worker:
            def __init__(self, model, rank: int):
                self.model = model.cuda(rank)

        def run(rank, model):
            return Worker(model, rank).model(torch.ones(2).to(DEVICE))

        def start(model, device=torch.device("cuda")):
            mp.spawn(run, args=(model,), nprocs=4)
        """,
        """
        import torch
        import torch.multiprocessing as mp
        import torch_xla  # noqa: F401 - tells torch of the device xla

        DEVICE = torch.device("xla")

        class Worker:
            def __init__(self, model, rank: int):
                self.model = model.to(DEVICE)

        def run(rank, model):
            return Worker(model, rank).model(torch.ones(2).to(DEVICE))

        def start(model, device=torch.device("xla")):
            mp.spawn(run, args=(model,), nprocs=4)
        """,
    )


def test_module_without_a_script_does_not_take_the_device_when_imported() -> None:
    becomes(
        """
        import torch

        def zeros(n):
            return torch.zeros(n).cuda()
        """,
        """
        import torch
        import torch_xla

        def zeros(n):
            return torch.zeros(n).to(torch_xla.device())
        """,
    )


def test_module_only_names_the_device_when_imported() -> None:
    becomes(
        """
        import logging
        import torch

        logger = logging.getLogger(__name__)
        DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")

        def prefetch(batch, device: torch.device = torch.device("cuda")):
            local = torch.device("cuda:0")
            return batch.to(device), batch.to(local)
        """,
        """
        import logging
        import torch
        import torch_xla

        logger = logging.getLogger(__name__)
        DEVICE = torch.device("xla")

        def prefetch(batch, device: torch.device = torch.device("xla")):
            local = torch_xla.device()
            return batch.to(device), batch.to(local)
        """,
    )


def test_variable_of_another_function_is_not_used() -> None:
    becomes(
        """
        import torch

        def first():
            device = torch.device("cuda")
            return torch.ones(2, device=device)

        def second(device_name):
            return torch.ones(2).cuda()
        """,
        """
        import torch
        import torch_xla

        def first():
            device = torch_xla.device()
            return torch.ones(2, device=device)

        def second(device_name):
            return torch.ones(2).to(torch_xla.device())
        """,
    )


def test_variable_bound_later_is_not_used() -> None:
    becomes(
        """
        import torch

        x = torch.ones(2).cuda()
        device = torch.device("cuda")
        y = torch.ones(2).cuda()
        """,
        """
        import torch
        import torch_xla

        x = torch.ones(2).to(torch_xla.device())
        device = torch_xla.device()
        y = torch.ones(2).to(device)
        """,
    )


def test_attribute_that_a_method_runs_ahead_of_is_not_used() -> None:
    becomes(
        """
        import torch

        class Trainer:
            def __init__(self):
                self.build()
                self.device = torch.device("cuda")
                self.reset()

            def build(self):
                self.net = self.make_net()

            def make_net(self):
                return torch.nn.Linear(2, 2).cuda()

            def reset(self):
                self.state = torch.nn.Linear(2, 2).cuda()
        """,
        """
        import torch
        import torch_xla

        class Trainer:
            def __init__(self):
                self.build()
                self.device = torch_xla.device()
                self.reset()

            def build(self):
                self.net = self.make_net()

            def make_net(self):
                return torch.nn.Linear(2, 2).to(torch_xla.device())

            def reset(self):
                self.state = torch.nn.Linear(2, 2).to(self.device)
        """,
    )


def test_attribute_that_the_base_class_runs_ahead_of_is_not_used() -> None:
    becomes(
        """
        import torch

        class Base:
            def __init__(self):
                self.net = self.make_net()

        class Trainer(Base):
            def __init__(self):
                super().__init__()
                self.device = torch.device("cuda")

            def make_net(self):
                return torch.nn.Linear(2, 2).cuda()

            def copy_net(self):
                return torch.nn.Linear(2, 2).cuda()
        """,
        """
        import torch
        import torch_xla

        class Base:
            def __init__(self):
                self.net = self.make_net()

        class Trainer(Base):
            def __init__(self):
                super().__init__()
                self.device = torch_xla.device()

            def make_net(self):
                return torch.nn.Linear(2, 2).to(torch_xla.device())

            def copy_net(self):
                return torch.nn.Linear(2, 2).to(self.device)
        """,
    )


def test_attribute_that_is_set_on_one_way_is_not_used() -> None:
    becomes(
        """
        import torch

        class Trainer:
            def __init__(self, args):
                if args.gpu:
                    self.device = torch.device("cuda")

            def make_net(self):
                return torch.nn.Linear(2, 2).cuda()
        """,
        """
        import torch
        import torch_xla

        class Trainer:
            def __init__(self, args):
                if args.gpu:
                    self.device = torch_xla.device()

            def make_net(self):
                return torch.nn.Linear(2, 2).to(torch_xla.device())
        """,
    )


def test_variable_that_a_function_runs_ahead_of_is_not_used() -> None:
    becomes(
        """
        import torch

        def make_net():
            return torch.nn.Linear(2, 2).cuda()

        def make_state():
            return torch.nn.Linear(2, 2).cuda()

        net = make_net()
        device = torch.device("cuda")
        state = make_state()
        """,
        """
        import torch
        import torch_xla

        def make_net():
            return torch.nn.Linear(2, 2).to(torch_xla.device())

        def make_state():
            return torch.nn.Linear(2, 2).to(device)

        net = make_net()
        device = torch_xla.device()
        state = make_state()
        """,
    )


def test_class_that_objects_keep() -> None:
    becomes(
        """
        import torch

        class Model(torch.nn.Module):
            def __init__(self, args):
                super().__init__()
                if args.cuda:
                    self.Tensor = torch.cuda.FloatTensor
                else:
                    self.Tensor = torch.FloatTensor

            def forward(self, x):
                return x + self.Tensor(x.size()).normal_()

        class Child(Model):
            def start(self):
                return self.Tensor(1).zero_()
        """,
        """
        import torch
        import torch_xla

        class Model(torch.nn.Module):
            def __init__(self, args):
                super().__init__()
                self.tensor_device = torch_xla.device() if args.cuda else torch.device("cpu")
                self.Tensor = torch.FloatTensor

            def forward(self, x):
                return x + self.Tensor(x.size()).normal_().to(self.tensor_device)

        class Child(Model):
            def start(self):
                return self.Tensor(1).zero_().to(self.tensor_device)
        """,
    )


TYPES = """\
import torch

class Types:
    def choose(self, cuda):
        if cuda:
            self.Float = torch.cuda.FloatTensor
            self.Long = torch.cuda.LongTensor
        else:
            self.Float = torch.FloatTensor
            self.Long = torch.LongTensor

class Learner:
    def __init__(self, cuda):
        self.types = types = Types()
        types.choose(cuda)
        self.zeros = types.Float(3).zero_()

    def update(self, rows):
        labels = self.types.Long([0, 1])
        return rows.type(self.types.Float), labels
"""


def test_class_that_is_taken_from_objects() -> None:
    """They keep the device that was chosen with it."""
    becomes(
        TYPES,
        """
        import torch
        import torch_xla

        class Types:
            def choose(self, cuda):
                self.tensor_device = torch_xla.device() if cuda else torch.device("cpu")
                self.Float = torch.FloatTensor
                self.Long = torch.LongTensor

        class Learner:
            def __init__(self, cuda):
                self.types = types = Types()
                types.choose(cuda)
                self.zeros = types.Float(3).zero_().to(types.tensor_device)

            def update(self, rows):
                labels = self.types.Long([0, 1]).to(self.types.tensor_device)
                return rows.to(self.types.tensor_device, torch.float32), labels
        """,
    )


@pytest.mark.parametrize(
    ("rest", "fixed"),
    [
        # Nobody sees whose it is: half of the file must not be changed.
        ("def other(thing):\n    return thing.Float(3)\n", False),
        ("def other(things):\n    return torch.ones(3).type(things[0].Float)\n", False),
        # It makes no tensor, or is that of another class.
        ("def other(thing):\n    thing.Float = None\n    return thing.Float\n", True),
        ("class Own:\n    def __init__(self):\n        self.Float = float\n\nOwn().Float(3)\n", True),
        ("torch.Float(3)\n", True),
    ],
)
def test_class_that_is_taken_from_what_is_not_known(rest: str, fixed: bool) -> None:
    result = port(TYPES + "\n" + rest)
    assert ("cuda." not in result.text) == fixed
    assert [finding.code for finding in result.findings] == ([] if fixed else ["TPU003"] * 2)


def test_flag_of_an_object_that_the_answer_sets_chooses_in_two_scopes() -> None:
    text = """\
import torch

class Agents:
    def __init__(self):
        self.use_cuda = torch.cuda.is_available()

    def learn(self, rows):
        Float = torch.cuda.FloatTensor if self.use_cuda else torch.FloatTensor
        return torch.stack(rows).type(Float)

    def act(self, state):
        Byte = torch.cuda.ByteTensor if self.use_cuda else torch.ByteTensor
        return state + Byte([1, 0])
"""
    result = port(text)
    assert "torch.stack(rows).to(torch_xla.device(), torch.float32)" in result.text
    assert "Byte([1, 0]).to(torch_xla.device())" in result.text and result.findings == ()
    # Whoever makes the object may say no, and no variable for the device is read in both scopes.
    for old, new in (
        ("torch.cuda.is_available()", "options.cuda"),
        ("    def learn", "    def stop(self):\n        self.use_cuda = False\n\n    def learn"),
    ):
        result = port(text.replace(old, new))
        assert [finding.code for finding in result.findings] == ["TPU003"] * 2


def test_class_that_makes_the_values_of_a_dict() -> None:
    becomes(
        """
        import torch
        from collections import defaultdict

        def track():
            Tensor = torch.cuda.FloatTensor if torch.cuda.is_available() else torch.FloatTensor
            return defaultdict(Tensor)
        """,
        """
        import torch
        import torch_xla
        from collections import defaultdict

        def track():
            Tensor = torch.FloatTensor
            return defaultdict(lambda: Tensor().to(torch_xla.device()))
        """,
    )


def test_class_of_unknown_use_keeps_its_condition() -> None:
    text = """
        import torch

        def make(build):
            Tensor = torch.cuda.FloatTensor if torch.cuda.is_available() else torch.FloatTensor
            return build(Tensor)
        """
    stays(text)


def test_taken_name_is_not_overwritten() -> None:
    becomes(
        """
        import torch

        device = "a phone"
        print(device)
        for x in [torch.ones(2)]:
            y = torch.ones(2).cuda()
        """,
        """
        import torch
        import torch_xla

        device = "a phone"
        print(device)
        for x in [torch.ones(2)]:
            y = torch.ones(2).to(torch_xla.device())
        """,
    )


# -------------------------------------------------------------------- numbers as devices


def test_number_that_is_only_used_as_a_device() -> None:
    becomes(
        """
        import torch
        import torch.distributed as dist

        def main(args):
            rank = dist.get_rank()
            device = rank % torch.cuda.device_count()
            model = torch.nn.Linear(2, 2).to(device)
            y = torch.zeros(3, device=device)
            if rank == 0:
                print(f"rank {rank} on {device}")
        """,
        """
        import torch
        import torch.distributed as dist
        import torch_xla

        def main(args):
            rank = dist.get_rank()
            device = torch_xla.device()
            model = torch.nn.Linear(2, 2).to(device)
            y = torch.zeros(3, device=device)
            if rank == 0:
                print(f"rank {rank} on {device}")
        """,
    )


INDEXED = """
    import torch
    from torch import nn
    import torch_xla

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 4)

        def forward(self, x):
            {}
    """


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "device = x.get_device(); return torch.ones(3).cuda(device) + torch.ones(3, device=device)",
            "device = x.device; return torch.ones(3).to(device) + torch.ones(3, device=device)",
        ),
        (
            "device = x.get_device() if x.is_cuda else 'cpu'; return torch.ones(3).to(device)",
            "device = x.device if x.device.type == \"xla\" else 'cpu'; return torch.ones(3).to(device)",
        ),
        (
            "device = x.device if x.is_cuda else 'cpu'; return torch.ones(3).to(device)",
            "device = x.device if x.device.type == \"xla\" else 'cpu'; return torch.ones(3).to(device)",
        ),
        # A name that speaks of a number, and a number that is compared: it stays one.
        (
            "gpu = x.get_device(); return torch.ones(3).cuda(gpu), torch.ones(3).to(gpu)",
            "gpu = x.get_device(); return torch.ones(3).to(torch_xla.device()), torch.ones(3).to(torch_xla.device())",
        ),
        (
            "device = x.get_device(); return torch.ones(3).cuda(device) if device >= 0 else x",
            "device = x.get_device(); return torch.ones(3).to(torch_xla.device()) if device >= 0 else x",
        ),
        (
            "device = x.get_device(); return self.put(x, device)\n\n"
            "        def put(self, x, device): return torch.ones(3).to(device)",
            "device = x.get_device(); return self.put(x, device)\n\n"
            "        def put(self, x, device): return torch.ones(3).to(torch_xla.device())",
        ),
    ],
)
def test_number_of_the_gpu_that_holds_a_tensor(before: str, after: str) -> None:
    """What ``get_device`` gives on XLA is 0, and ``.to(0)`` asks for CUDA."""
    becomes(INDEXED.format(before), INDEXED.format(after))


HELD = """\
    import torch
    import torch_xla

    class Trainer:
        def __init__(self, model, device{}):
            self.device = device
            self.model = model.cuda(self.device){}
    """


@pytest.mark.parametrize(
    ("default", "behind", "place"),
    [
        ("=-1", "", "torch_xla.device()"),
        ("", " if self.device >= 0 else model", "torch_xla.device()"),
        ("", " if self.device != -1 else model", "torch_xla.device()"),
        ("", "", "self.device"),
        ("=None", " if self.device != 'cpu' else model", "self.device"),
    ],
)
def test_variables_called_device_that_hold_numbers(default: str, behind: str, place: str) -> None:
    """``.to(0)`` asks for CUDA; what neither its default nor a comparison tells is a device by its name."""
    text = dedent(HELD).format(default, behind)
    assert port(text, select=("TPU002",)).text == text.replace("cuda(self.device)", f"to({place})")


LOADED = """\
    import torch

    def place_on(gpu):
        def place({}):
            return {}
        return place

    model = torch.nn.Linear(4, 4)
    model.load_state_dict(torch.load("model.pt", map_location=place_on(0)))
    """


@pytest.mark.parametrize(
    ("parameters", "returned", "kept"),
    [
        ("storage, location", "storage.cuda(gpu)", "storage"),
        ("kept: torch.UntypedStorage, location: str", "kept.cuda(gpu, non_blocking=True)", "kept"),
        ("storage", "storage.cuda()", "storage.to(device)"),  # it is given no place
    ],
)
def test_storages_that_a_function_places_are_loaded_to_the_host(parameters: str, returned: str, kept: str) -> None:
    result = port(dedent(LOADED).format(parameters, returned), select=("TPU002",))
    assert f"        return {kept}\n" in result.text and not result.findings


def test_number_of_the_gpu_that_holds_what_is_not_known() -> None:
    """``cuda`` takes the number of a GPU only; what an object of the project calls so may be a device."""
    text = "import torch_xla\n\ndef put(x, holder):\n    device = holder.get_device()\n    return x.{}, device\n"
    assert port(text.format("cuda(device)")).text == text.format("to(torch_xla.device())")
    stays(text.format("to(device)"))


@pytest.mark.parametrize(
    "given", ["args.local_device_rank", "dev_id", "self.output_device", "args.dev", "current_device"]
)
def test_what_may_be_the_number_of_a_gpu_is_not_handed_on(given: str) -> None:
    """``x.to(0)`` asks for an accelerator that torch knows, as ``x.cuda(0)`` does."""
    text = "import torch\nimport torch_xla\n\ndef put(x: torch.Tensor, self, args, dev_id, current_device):\n    "
    text += "return x.{}\n"
    assert port(text.format(f"cuda({given})")).text == text.format("to(torch_xla.device())")
    for device in ("self.device", "args.device"):
        assert f"x.to({device})" in port(text.format(f"cuda({device})")).text


def test_number_of_a_gpu_that_moves_nothing() -> None:
    stays(INDEXED.format("device = x.get_device(); print(device); return x"))


RETURNED = """
    import torch
    from torch import nn
    import torch_xla

    {}

    class Net(nn.Module):
        def __init__(self, options):
            super().__init__()
            self.options, self.layer = options, nn.Linear(4, 4)

        def forward(self, x):
            where = place_of(self.options, x)
            return self.layer(x) + torch.ones(3, device=where)
"""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            """def place_of(options, x):
        if options.device.type != "cpu":
            device = x.get_device()
        else:
            device = options.device
        return device""",
            "device = x.device",
        ),
        (
            """def place_of(options, x):
        if options.device.type != "cpu":
            return x.get_device()
        return options.device""",
            "return x.device",
        ),
        (
            """def place_of(options, x):
        return x.get_device() if options.device.type != "cpu" else "cpu\"""",
            "return x.device if",
        ),
    ],
)
def test_number_of_a_gpu_that_a_function_returns_for_a_device(before: str, after: str) -> None:
    """Other files use what it returns, and none can take it for a number: it is a device on the other way."""
    old = after.replace(".device", ".get_device()")
    becomes(RETURNED.format(before), RETURNED.format(before.replace(old, after)))


@pytest.mark.parametrize(
    "text",
    [
        # Those who call them compare a number.
        "def place_of(options, x):\n        return x.get_device()",
        "def place_of(options, x):\n        return x.get_device() if options.device else -1",
        """def place_of(options, x):
        if options.device.type != "cpu":
            device = x.get_device()
        else:
            device = options.device
        print(device + 1)
        return device""",
        # One of several: who unpacks it is not seen.
        """def place_of(options, x):
        device = x.get_device() if options.device.type != "cpu" else options.device
        return x, device""",
    ],
)
def test_number_of_a_gpu_that_a_function_returns(text: str) -> None:
    stays(RETURNED.format(text))


PINNED = """\
import torch
from torch.utils.data import DataLoader

found = torch.cuda.is_available()
loader = DataLoader(data, batch_size=4, ARGUMENTS)
"""


@pytest.mark.parametrize(
    ("arguments", "stays_so"),
    [("pin_memory=found", True), ("pin_memory=found, num_workers=2 if found else 0", False), ("shuffle=found", False)],
)
def test_answer_that_a_loader_pins_memory_by(arguments: str, stays_so: bool) -> None:
    """It is false without a GPU, as it should be; not where something else goes by it."""
    text = PINNED.replace("ARGUMENTS", arguments) + "model.to('cuda')\n"
    assert ("found = torch.cuda.is_available()" in port(text).text) is stays_so


def test_number_of_an_option() -> None:
    becomes(
        """
        import argparse
        import torch

        parser = argparse.ArgumentParser()
        parser.add_argument("--gpu", type=int, default=0)
        args = parser.parse_args()
        x = torch.ones(2).to(args.gpu)
        device = torch.device(f"cuda:{args.gpu}" if args.gpu >= 0 and torch.cuda.is_available() else "cpu")
        """,
        """
        import argparse
        import torch
        import torch_xla

        parser = argparse.ArgumentParser()
        parser.add_argument("--gpu", type=int, default=0)
        args = parser.parse_args()
        x = torch.ones(2).to(torch_xla.device())
        device = torch.device("xla" if args.gpu >= 0 else "cpu")
        """,
    )


def test_option_called_device_is_not_the_device_of_tensors() -> None:
    options = (
        "import argparse\nimport torch\n\n"
        "parser = argparse.ArgumentParser()\n"
        'parser.add_argument("--device", type=int, default=0)\n'
        "chosen = parser.parse_args()\n"
    )
    options += "print(torch.ones(2).cuda().to(chosen.device))\n\n\ndef move(x, index):\n    return index.to(x.device)\n"
    ported = port(options).text
    assert "device = torch_xla.device()\n" in ported and "torch.ones(2).to(device))" in ported
    assert "index.to(x.device)" in ported


def test_index_of_the_accelerator_is_taken_out_where_the_port_asks_for_xla() -> None:
    """What the port compares says nothing of calls that the author wrote for GPUs."""
    ported = port(
        "import torch\n\n\n"
        "def main(args, net):\n"
        "    if args.gpu is not None:\n"
        "        torch.accelerator.set_device_index(args.gpu)\n"
        "    device = torch.accelerator.current_accelerator()\n"
        "    if device.type == 'cuda':\n"
        "        net = net.cuda()\n"
        "    return net\n"
    ).text
    assert "device.type == 'xla'" in ported and "set_device_index" not in ported


def test_names_that_say_number() -> None:
    becomes(
        """
        import torch

        class Model:
            def __init__(self, net, gpu_ids, args):
                self.net = net.to(gpu_ids[0])
                self.args = args

            def step(self, parts):
                x = torch.stack(parts)
                y = torch.zeros(3).to(x.get_device())
                return self.net(x.to(self.args.local_rank)), y
        """,
        """
        import torch
        import torch_xla

        class Model:
            def __init__(self, net, gpu_ids, args):
                self.net = net.to(torch_xla.device())
                self.args = args

            def step(self, parts):
                x = torch.stack(parts)
                y = torch.zeros(3).to(x.device)
                return self.net(x.to(torch_xla.device())), y
        """,
    )


def test_attribute_of_unknown_value_is_no_number() -> None:
    """A class that sets `self.device = None` says nothing about the `device` of tensors."""
    stays(
        """
        import torch

        class Layer:
            rank: int = 0

            def __init__(self):
                self.device = None
                self.dtype = None

            def update(self, keys, index):
                self.dtype, self.device = keys.dtype, keys.device
                return index.to(self.device), keys.to(self.dtype), index.to(keys.device)
        """
    )


def test_accelerator_with_a_number_behind_it() -> None:
    becomes(
        """
        import torch

        def setup(rank):
            acc = torch.accelerator.current_accelerator()
            return torch.device(f"{acc}:{rank}")
        """,
        """
        import torch_xla

        def setup(rank):
            return torch_xla.device()
        """,
    )


# -------------------------------------------------------------------- comparisons


def test_comparison_with_a_device_of_unknown_origin_stays() -> None:
    stays(
        """
        import torch

        def configure(model, device_type, batch):
            fused = device_type == "cuda"
            if batch.device.type == "cuda":
                batch = batch.half()
            return torch.optim.AdamW(model.parameters(), fused=fused)
        """
    )


def test_comparison_that_opens_what_only_cuda_has_goes_with_it() -> None:
    becomes(
        """
        import torch

        device = torch.device("cuda")
        model = torch.nn.Linear(2, 2).to(device)
        optimizer = torch.optim.AdamW(model.parameters(), fused=device.type == "cuda")
        if device.type == "cuda":
            model = torch.nn.DataParallel(model)
        if device.type == "cuda":
            # which one
            print(torch.cuda.get_device_properties(device))
        if device.type == "cuda":
            print(torch.cuda.get_device_properties(device))
        """,
        """
        import torch
        import torch_xla

        device = torch_xla.device()
        model = torch.nn.Linear(2, 2).to(device)
        optimizer = torch.optim.AdamW(model.parameters(), fused=device.type == "cuda")
        if device.type == "cuda":
            # which one
            print(torch.cuda.get_device_properties(device))
        """,
    )


def test_text_of_a_device_object_has_its_number() -> None:
    becomes(
        """
        import torch

        device = torch.device("cuda")
        if str(device) == "cuda":
            x = torch.ones(2, device=device)
        if str(device).startswith("cuda"):
            x = torch.ones(2, device=device)
        """,
        """
        import torch
        import torch_xla

        device = torch_xla.device()
        if str(device) == "xla:0":
            x = torch.ones(2, device=device)
        if str(device).startswith("xla"):
            x = torch.ones(2, device=device)
        """,
    )


# -------------------------------------------------------------------- statements that go


def test_overwritten_default_goes_with_its_guard() -> None:
    becomes(
        """
        import torch

        device = "cpu"
        if torch.cuda.is_available():
            device = "cuda"
        x = torch.ones(2, device=device)
        """,
        """
        import torch
        import torch_xla  # noqa: F401 - tells torch of the device xla

        device = "xla"
        x = torch.ones(2, device=device)
        """,
    )


def test_generator_function_stays_one() -> None:
    """The statement behind the branch cannot be reached, but it makes the function a generator."""
    becomes(
        """
        import torch

        def batches():
            if torch.cuda.is_available():
                return torch.ones(2, device="cuda")
            yield torch.ones(2)
        """,
        """
        import torch
        import torch_xla  # noqa: F401 - tells torch of the device xla

        def batches():
            return torch.ones(2, device="xla")
            yield torch.ones(2)
        """,
    )


# -------------------------------------------------------------------- left alone


@pytest.mark.parametrize(
    "text",
    [
        'import torch\nfrom jobs import Queue\nqueue = Queue("cuda")\nqueue.run(name="cuda:0")\n',
        'import torch\nnames = ["cuda", "cpu"]\nfor name in names:\n    print(name)\n',
        "import torch\nif torch.cuda.is_available():\n    stream = torch.cuda.Stream()\n",
        'import torch\nprint("yes" if torch.cuda.is_bf16_supported.__doc__ else "no")\n',
        "import torch\n\ndef test(x: torch.Tensor, dim=0):\n    return x.to(x.dtype), x.size(dim)\n",
        "import torch\nscaler = torch.cuda.amp.GradScaler(enabled=torch.cuda.is_available())\n",
        'import torch\nwith torch.autocast("cuda", dtype=torch.bfloat16):\n    pass\n',
        'device = "cuda"\nprint(device)\n',
        'import torch\nwith torch.random.fork_rng(device_type="cuda"):\n    pass\n',
        'import torch\nop = torch.library.custom_op("my::op", mutates_args=(), device_types="cuda")\n',
        "import torch\nimport pynvml\nif torch.cuda.is_available():\n    pynvml.nvmlInit()\n",
        "import torch\ntrainer = Trainer(gpus=1 if torch.cuda.is_available() else 0)\n",
        "import torch\ndtype = torch.float16 if torch.cuda.is_available() else torch.float32\n",
        "import torch\nx = torch.load('a.pt', map_location=lambda storage, loc: storage.cuda(0))\n",
        "import numpy as np\nx = np.zeros(3).cuda()\n",
        "import torch\nclass torch:\n    class cuda:\n        is_available = bool\nx = torch.cuda.is_available()\n",
    ],
)
def test_left_alone(text: str) -> None:
    assert port(text).text == text


def test_file_with_an_xla_branch_is_left_alone() -> None:
    text = dedent(
        """
        import torch
        from accelerate.utils import is_torch_xla_available

        if torch.cuda.is_available():
            device = torch.device("cuda")
        elif is_torch_xla_available():
            import torch_xla.core.xla_model as xm
            device = xm.xla_device()
        else:
            device = torch.device("cpu")
        """
    )
    result = port(text)
    assert result.text == text
    assert result.findings == ()


def test_several_gpus_by_number_are_reported_without_a_fix() -> None:
    text = (
        "import torch\na = torch.nn.Linear(2, 2).cuda(0)\nb = torch.nn.Linear(2, 2).to('cuda:1')\nc = b.to('cuda:0')\n"
    )
    result = port(text, select=("TPU001",))
    assert result.text == text
    assert len(result.findings) == 2
    assert all(finding.fix is None and "several GPUs" in finding.help for finding in result.findings)


# -------------------------------------------------------------------- code that is right without a GPU


@pytest.mark.parametrize(
    "text",
    [
        # a report about the machine
        "info = {}\ninfo['cuda'] = torch.cuda.is_available()\n",
        "gpu = torch.cuda.is_available()\nprint({'gpu': gpu, 'version': torch.__version__})\n",
        "info = {}\ninfo['gpu'] = name(0) if torch.cuda.device_count() > 0 else None\n",
        # tests that are left out
        "@unittest.skipUnless(torch.cuda.is_available(), 'no GPU')\ndef test(): torch.zeros(1)\n",
        "@pytest.mark.skipif(not torch.cuda.is_available(), reason='no GPU')\ndef test(): torch.zeros(1)\n",
        "def test():\n    if not torch.cuda.is_available():\n        raise unittest.SkipTest\n    torch.zeros(1)\n",
        "def needs(test):\n    if not torch.cuda.is_available():\n        return unittest.skip('no GPU')(test)\n",
        # options of optimizers that XLA refuses
        "start({'fused': True} if torch.cuda.is_available() else {})\n",
        "opt = Adam(params, fused=True if torch.cuda.is_available() else False)\n",
        # a feature of GPUs, asked for by its function
        "def validate():\n    if not torch.cuda.is_available():\n        raise OSError('kernels need a GPU')\n",
        "def is_cuda_available():\n    return torch.cuda.is_available()\n",
        # CUDA by name
        "class CUDABackend(Backend):\n    def devices(self, n):\n        return [torch.device('cuda', i) for i in n]\n",
        "class Box:\n    def cuda(self, device='cuda'):\n        return self.apply(lambda x: x.cuda(device))\n",
        "def pick():\n    return 'cuda' if CUDAAccelerator.is_available() else 'cpu'\n",
        # one row of a table of backends
        "if is_npu_available():\n    device = 'npu'\nelif is_cuda_available():\n    device = 'cuda'\n"
        "elif is_xpu_available():\n    device = 'xpu'\n",
        "clear = {'cuda': torch.cuda.empty_cache, 'xpu': torch.xpu.empty_cache}\n",
        "if torch.cuda.is_available():\n    torch.cuda.empty_cache()\nelif torch.xpu.is_available():\n"
        "    torch.xpu.empty_cache()\n",
        "def name(device):\n    return f'{device.type}:{device.index}'\n\nname(torch.device('cpu'))\n",
        "table = {}\ntable['tpu'] = torch.accelerator.synchronize\n",
        "if torch.backends.mps.is_available() and not torch.cuda.is_available():\n    print('slow')\n",
        "if torch.cuda.is_available():\n    print('a GPU')\n",
        "names = [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]\n",
        "for i in range(torch.cuda.device_count()):\n    torch.cuda.set_device(i)\n",
        # guarded by a condition that stays
        "def wait(x):\n    if x.device.type == 'cuda':\n        torch.cuda.synchronize()\n",
        "def wait(x):\n    if x.device.type != 'cuda':\n        return\n    torch.cuda.synchronize()\n",
        "def can(x):\n    return x.is_cuda and torch.cuda.get_device_capability() >= (8, 0)\n",
        "def can(x):\n    return not x.is_cuda or torch.cuda.get_device_capability() >= (8, 0)\n",
        # extensions that are compiled for GPUs
        "if torch.cuda.is_available():\n    from model.nms.nms_gpu import nms_gpu\n",
        "if torch.cuda.is_available():\n    import knn_cuda\n",
        "if torch.cuda.device_count() > 0:\n    from encoding import gpu\n",
        "if torch.cuda.is_available():\n    from . import cuda\n",
        "if torch.cuda.is_available():\n    sources += ['src/nms_cuda.c']\n    with_cuda = True\n",
        "if torch.cuda.is_available() and CUDA_HOME is not None:\n    macros += [('WITH_CUDA', None)]\nelse:\n"
        "    raise NotImplementedError\n",
        # calls of what moves nothing to a device
        "def put(x):\n    return x.to('cpu')\n\ndef get(x):\n    if torch.cuda.is_available():\n"
        "        x = put(x)\n    return x\n",
        "def log(x, to):\n    to.write(x)\n\ndef get(x):\n    if torch.cuda.is_available():\n        log(x, file)\n",
    ],
)
def test_right_without_a_gpu(text: str) -> None:
    settings = Settings(select=("TPU00", "TPU010"), preview=True)
    assert lint(SourceFile.from_text(f"import torch\n{text}"), settings, CATALOGUE).findings == ()


@pytest.mark.parametrize(
    ("asserted", "new"),
    [
        ('assert str(net.weight.device) == "cuda:0"', 'assert str(net.weight.device) == "xla:0"'),
        ('assert "cuda:0" == str(net.bias.device)', 'assert "xla:0" == str(net.bias.device)'),
        ('assert str(net.weight.device) != "cuda:0"', 'assert str(net.weight.device) != "cuda:0"'),
        ('assert net.device.type == "cuda"', 'assert net.device.type == "cuda"'),  # a kernel may need it
        ('assert str(net.name) == "cuda:0"', 'assert str(net.name) == "cuda:0"'),
        ('print(str(net.weight.device) == "cuda:0")', 'print(str(net.weight.device) == "cuda:0")'),
    ],
)
def test_places_that_are_asserted_by_their_names(asserted: str, new: str) -> None:
    text = f"import torch\n\nnet = torch.nn.Linear(2, 2).cuda()\n{asserted}\n"
    assert port(text).text.endswith(f"{new}\n")


@pytest.mark.parametrize(("file", "is_told"), [("gpu", True), ("other", False)])
def test_modules_called_for_gpus_that_the_project_has(tmp_path: Path, file: str, is_told: bool) -> None:
    """Others are extensions, which nobody can build without CUDA."""
    package = tmp_path / "encoding"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / f"{file}.py").write_text("import torch\n\ndevice = torch.device('cuda')\n")
    moved = "\n\ndef put(x):\n    return x.cuda()\n"
    text = f"import torch\n\nif torch.cuda.is_available():\n    from encoding import gpu\n{moved}"
    (package / "net.py").write_text(text)
    answer = tpulint("--output-format=json", "--select=TPU001", "encoding/net.py", cwd=tmp_path)
    assert bool(json.loads(answer.out)) is is_told


@pytest.mark.parametrize(
    "text",
    [
        "config = {'use_cuda': torch.cuda.is_available()}\nif config['use_cuda']:\n    model.to(0)\n",
        "def check():\n    if not torch.cuda.is_available():\n        raise OSError\n\ncheck()\n",
        "def main():\n    if not torch.cuda.is_available():\n        raise OSError\n    model.to(0)\n",
        "def has_gpu():\n    return torch.cuda.is_available()\n\ndevice = 'cuda' if has_gpu() else 'cpu'\n",
        "class CudaNet(torch.nn.Module):\n    def forward(self, x):\n        return x.to('cuda')\n",
        "def run(device):\n    if device.type == 'cuda':\n        x = x.cuda()\n",
        "if torch.cuda.is_available():\n    from model.fast import Net\n",
        "if torch.cuda.is_available():\n    from encoding import gpu\n    model.cuda()\n",
        "if torch.cuda.is_available():\n    import knn_cuda\n    model.cuda()\n",
        "def put(x):\n    return x.cuda()\n\ndef get(x):\n    if torch.cuda.is_available():\n"
        "        x = put(x)\n    return x\n",
        "def put(x, device):\n    return x.to(device)\n\ndef get(x, device):\n"
        "    return put(x, device) if torch.cuda.is_available() else x\n",
    ],
)
def test_wrong_without_a_gpu(text: str) -> None:
    """What looks like the above, and chooses the device."""
    settings = Settings(select=("TPU00",), preview=True)
    findings = lint(SourceFile.from_text(f"import torch\n{text}"), settings, CATALOGUE).findings
    assert findings
    found = {text[finding.span.start - 13 : finding.span.end - 13] for finding in findings}
    assert "is_available" not in text or "torch.cuda.is_available()" in found


def test_choice_of_the_user_is_compared_with_the_new_name() -> None:
    becomes(
        """
        import argparse
        import torch

        parser = argparse.ArgumentParser()
        parser.add_argument("--device", default="cpu", choices=["cuda", "cpu"])
        args = parser.parse_args()
        model = torch.nn.Linear(1, 1)
        if args.device == "cuda":
            model = model.to(args.device)
        """,
        """
        import argparse
        import torch
        import torch_xla  # noqa: F401 - tells torch of the device xla

        parser = argparse.ArgumentParser()
        parser.add_argument("--device", default="cpu", choices=["xla", "cpu"])
        args = parser.parse_args()
        model = torch.nn.Linear(1, 1)
        if args.device == "xla":
            model = model.to(args.device)
        """,
    )


WISHED = """
import argparse
import torch

parser = argparse.ArgumentParser()
parser.add_argument("--device", default={default})
args = parser.parse_args()
{chosen}
model = torch.nn.Linear(1, 1).to(device)
"""
CHOICE = 'device = "cuda:0" if {} else "cpu"'


@pytest.mark.parametrize(
    ("chosen", "becomes"),
    [
        (CHOICE.format('args.device == "cuda"'), 'device = "xla" if args.device != "cpu" else "cpu"'),
        (
            CHOICE.format('(args.device == "cuda" and torch.cuda.is_available())'),
            'device = "xla" if (args.device != "cpu") else "cpu"',
        ),
        (
            'device = torch.device("cuda") if args.device == "cuda" else torch.device("cpu")',
            'device = torch_xla.device() if args.device != "cpu" else torch.device("cpu")',
        ),
        (
            'if args.device == "cuda":\n    device = "cuda"\nelse:\n    device = "cpu"',
            'if args.device != "cpu":\n    device = "xla"\nelse:\n    device = "cpu"',
        ),
        (
            'device = "cuda" if args.device == "cuda" else "mps" if args.device == "mps" else "cpu"',
            'device = "xla" if args.device == "xla" else "mps" if args.device == "mps" else "cpu"',
        ),
        (
            'if args.device == "cuda":\n    device = "cuda"\nelse:\n    print("host")\n    device = "cpu"',
            'if args.device == "xla":\n    device = "xla"\nelse:\n    print("host")\n    device = "cpu"',
        ),
    ],
)
def test_command_lines_that_go_on_to_ask_for_cuda(chosen: str, becomes: str) -> None:
    """``--device cuda`` of a script that is kept would else train on the host, without a word."""
    text = port(WISHED.format(default='"cuda"', chosen=chosen)).text
    assert f"\n{becomes}\nmodel" in text


GUARDED = "device = torch.device(args.device if {} else 'cpu')"
PLAIN = "device = torch.device(args.device)"
HOST = "'cpu', help='cpu or cuda, by default: cpu'"
NAMED = "'xla', help='cpu or xla, by default: xla'"


@pytest.mark.parametrize(
    ("default", "chosen", "new_default", "becomes"),
    [
        (HOST, GUARDED.format("torch.cuda.is_available()"), NAMED, PLAIN),
        (HOST, GUARDED.format("torch.cuda.device_count() > 0"), NAMED, PLAIN),
        (HOST, "cuda = torch.cuda.is_available()\n" + GUARDED.format("cuda"), NAMED, PLAIN),
        (HOST, "device = torch.device('cpu' if not torch.cuda.is_available() else args.device)", NAMED, PLAIN),
        (HOST, f"if not torch.cuda.is_available():\n    args.device = 'cpu'\n{PLAIN}", NAMED, PLAIN),
        (
            HOST,
            f"if torch.cuda.device_count() == 0:\n    device = torch.device('cpu')\nelse:\n    {PLAIN}",
            NAMED,
            PLAIN,
        ),
        (
            "'cpu', choices=['cpu', 'cuda']",
            GUARDED.format("torch.cuda.is_available()"),
            "'xla', choices=['cpu', 'xla']",
            PLAIN,
        ),
        # Whether a default of nothing is the host, nobody tells.
        ("None, help='cpu or cuda'", GUARDED.format("torch.cuda.is_available()"), "None, help='cpu or xla'", PLAIN),
    ],
)
def test_an_option_that_is_the_host_unless_told(default: str, chosen: str, new_default: str, becomes: str) -> None:
    """Without the question the port would train there as before, and fail where ``--device cuda`` is given."""
    text = WISHED.format(default=default, chosen=chosen)
    fixed = port(text).text
    assert f'"--device", default={new_default})' in fixed
    assert f"\n{becomes}\nmodel" in fixed and "import torch_xla" in fixed
    kept = lint(SourceFile.from_text(text), Settings(preview=True, fix=True, select=("TPU001",)), CATALOGUE)
    assert kept.text == text, "what changes an option is not safe"


@pytest.mark.parametrize(
    ("default", "chosen"),
    [
        # A place of its own, that stays on the host: `--device` is another matter.
        ("'cpu'", "device = torch.device('cuda' if torch.cuda.is_available() else args.device)"),
        ("0, type=int", "device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')\nprint(args.device)"),
        ("'cpu'", "if torch.cuda.is_available():\n    print('GPU')\ndevice = torch.device(args.device)"),
        ("'cpu'", "device = torch.device(args.device)"),
        # What goes by CUDA's name would not hold.
        ("'cpu'", GUARDED.format("torch.cuda.is_available()") + "\nuse_cuda = args.device == 'cuda'"),
    ],
)
def test_an_option_that_no_question_guards_stays(default: str, chosen: str) -> None:
    assert f'"--device", default={default})' in port(WISHED.format(default=default, chosen=chosen)).text


def test_an_option_that_is_declared_where_the_program_starts() -> None:
    head, _, rest = WISHED.format(default=HOST, chosen=GUARDED.format("torch.cuda.is_available()")).partition("parser")
    text = f"{head}if __name__ == '__main__':\n" + "".join(f"    {row}\n" for row in f"parser{rest}".splitlines())
    fixed = port(text).text
    assert f'"--device", default={NAMED})' in fixed and f"    {PLAIN}\n" in fixed


def test_an_option_that_is_declared_where_there_is_a_gpu() -> None:
    text = WISHED.format(default=HOST, chosen=GUARDED.format("torch.cuda.is_available()"))
    declared = next(row for row in text.splitlines() if "--device" in row)
    text = text.replace(declared, f"if torch.cuda.is_available():\n    {declared}")
    fixed = port(text).text
    assert f"\n{declared}\n" in fixed and PLAIN in fixed


def test_an_option_for_what_is_kept_elsewhere_stays_the_host() -> None:
    text = WISHED.format(default="'cuda'", chosen="device = torch.device(args.device)").replace(
        "args = ", "parser.add_argument('--buffer_device', default='cpu')\nargs = "
    )
    fixed = port(text + "x = torch.ones(2).to(args.buffer_device if torch.cuda.is_available() else 'cpu')\n").text
    assert "'--buffer_device', default='cpu')" in fixed and "torch.ones(2).to(args.buffer_device)" in fixed


def test_options_of_another_file_that_are_set_by_themselves() -> None:
    text = (
        "import torch\nfrom options import args\n"
        "args.device = torch.device(args.device if torch.cuda.is_available() else 'cpu')\n"
        "x = torch.ones(2).to(args.device)\n"
    )
    assert "args.device = torch_xla.device()\n" in port(text).text


def test_command_lines_that_may_say_nothing() -> None:
    """Without the option the host was chosen, and is."""
    text = port(WISHED.format(default=None, chosen=CHOICE.format('args.device == "cuda"'))).text
    assert 'args.device != "cpu"' not in text


def test_what_decides_a_move_is_a_device_by_whatever_name() -> None:
    """The option changes with the comparison; a word that decides something else stays, as its comparison does."""
    becomes(
        """
        import argparse
        import torch

        parser = argparse.ArgumentParser()
        parser.add_argument("--backend", default="cuda", choices=["cuda", "cpu"])
        parser.add_argument("--way", default="cuda")
        args = parser.parse_args()

        def put(x, where):
            return x.cuda() if where == "cuda" else x

        model = torch.nn.Linear(1, 1)
        if args.backend == "cuda":
            model = model.cuda()
        if args.way == "cuda":
            print("fast")
        print(model(put(torch.ones(1), "cuda")))
        """,
        """
        import argparse
        import torch
        import torch_xla

        device = torch_xla.device()

        parser = argparse.ArgumentParser()
        parser.add_argument("--backend", default="xla", choices=["xla", "cpu"])
        parser.add_argument("--way", default="cuda")
        args = parser.parse_args()

        def put(x, where):
            return x.to(where) if where == "xla" else x

        model = torch.nn.Linear(1, 1)
        if args.backend == "xla":
            model = model.to(device)
        if args.way == "cuda":
            print("fast")
        print(model(put(torch.ones(1), "xla")))
        """,
    )


def test_guard_that_lost_what_it_guarded_goes() -> None:
    before = """
        import torch

        device = torch.device("cuda")
        model = torch.nn.Linear(1, 1).to(device)
        try:
            if model.training:
                if device.type == "cuda":
                    torch.cuda.empty_cache()
            model(model.weight)
        except RuntimeError as error:
            if "out of memory" in str(error):
                torch.cuda.empty_cache()
            else:
                raise
            if ask():
                torch.cuda.empty_cache()
        if device.type == "cuda":
            pass
        """
    after = """
        import torch
        import torch_xla

        device = torch_xla.device()
        model = torch.nn.Linear(1, 1).to(device)
        try:
            model(model.weight)
        except RuntimeError as error:
            if "out of memory" in str(error):
                pass
            else:
                raise
            if ask():
                pass
        if device.type == "xla":
            pass
        """
    result = port(dedent(before).lstrip("\n"), select=(*FAMILY, "TPU010"))
    assert result.text == dedent(after).lstrip("\n")


def test_call_behind_a_question_is_skipped_so_far() -> None:
    """It fails once the question is answered, not before."""
    text = "import torch\nif torch.cuda.is_available():\n    torch.cuda.synchronize()\ntorch.cuda.synchronize()\n"
    result = lint(SourceFile.from_text(text), Settings(select=("TPU010",)), CATALOGUE)
    assert [finding.severity.label for finding in result.findings] == ["warning", "error"]


@pytest.mark.parametrize("beside", ["", "print(torch.cuda.get_device_name())"])
def test_flags_of_cuda_behind_a_question_go_when_the_device_is_chosen(beside: str) -> None:
    text = f"""\
import torch
from torch import nn

model = nn.Linear(4, 2)
if torch.cuda.is_available():
    torch.backends.cudnn.benchmark = True
    {beside}
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model.to(device)
"""
    result = port(text, select=(*FAMILY, "TPU010"))
    assert "cudnn" not in result.text
    assert ("torch.cuda.is_available()" in result.text) == bool(beside)


WAITING_NOW_AND_THEN = """\
import time
import torch
import torch_xla

device = torch_xla.device()
model = torch.nn.Linear(4, 1).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
start = time.time()
for step, x in enumerate(loader):
    model(x.to(device)).sum().backward()
    optimizer.step()
    if step % 100 == 0:
        torch.cuda.synchronize()
        READ
"""


@pytest.mark.parametrize(
    ("read", "wait"),
    [("print(time.time() - start)", "        torch_xla.sync(wait=True)\n"), ("print(step)", "")],
)
def test_wait_in_front_of_a_clock_now_and_then_beside_the_boundary_that_is_missing(read: str, wait: str) -> None:
    text = WAITING_NOW_AND_THEN.replace("READ", read)
    update, gate = "    optimizer.step()\n", "    if step % 100 == 0:\n"
    result = port(text, select=("TPU010", "TPU301"))
    assert update + "    torch_xla.sync()\n" + gate + wait + f"        {read}\n" in result.text


def test_total_is_put_where_the_batches_go() -> None:
    """The sum is the first to be written, in front of the moves; both use one variable."""
    before = """
        import torch

        model = torch.nn.Linear(1, 1).cuda()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


        def train(loader):
            total = 0.0
            for x in loader:
                loss = model(x.cuda()).mean()
                loss.backward()
                optimizer.step()
                total += loss.item()
            return total
        """
    result = port(dedent(before).lstrip("\n"), select=("TPU0", "TPU1", "TPU301"))
    assert result.text.count("torch_xla.device()") == 1
    assert "total = torch.zeros(1).to(device)" in result.text


def test_device_is_written_one_way_in_a_function() -> None:
    before = """
        import torch
        from torch.nn.parallel import DistributedDataParallel as DDP


        def main(rank: int):
            model = DDP(torch.nn.Linear(1, 1).to(rank), device_ids=[rank])
            return model(torch.randn(1, 1))


        main(0)
        """
    result = port(dedent(before).lstrip("\n"), select=("TPU0", "TPU6"))
    assert result.text.count(".to(torch_xla.device())") == 2
    assert "device = " not in result.text


def test_model_that_is_put_on_a_gpu_by_a_map_moves_with_its_batches() -> None:
    """Half a port, batches here and the model there, would be worse than none."""
    before = """
        import torch
        from transformers import AutoModel


        def train(batch, device="cuda"):
            model = AutoModel.from_pretrained("gpt2", device_map="cuda")
            return model(batch.to(device))
        """
    after = """
        import torch
        import torch_xla  # noqa: F401 - tells torch of the device xla
        from transformers import AutoModel


        def train(batch, device="xla"):
            model = AutoModel.from_pretrained("gpt2").to(device)
            return model(batch.to(device))
        """
    select = (*FAMILY, "TPU804")
    before, after = dedent(before).lstrip("\n"), dedent(after).lstrip("\n")
    assert port(before, unsafe=False, select=select).text == before
    assert port(before, select=select).text == after


def test_patterns_compare_the_device_too() -> None:
    becomes(
        """
        import torch

        device = "cuda"
        match device:
            case "cuda" | "mps":
                model = torch.nn.Linear(1, 1).to(device)
            case _:
                model = torch.nn.Linear(1, 1)
        match model.name:
            case "cuda":
                print(model)
        """,
        """
        import torch
        import torch_xla  # noqa: F401 - tells torch of the device xla

        device = "xla"
        match device:
            case "xla" | "mps":
                model = torch.nn.Linear(1, 1).to(device)
            case _:
                model = torch.nn.Linear(1, 1)
        match model.name:
            case "cuda":
                print(model)
        """,
    )


@pytest.mark.parametrize(
    ("ending", "severity"),
    [
        ("", Severity.WARNING),
        ("\nDEFAULT = 3\n", Severity.WARNING),
        ("\nprint(choose())\n", Severity.ERROR),
        ('\nif __name__ == "__main__":\n    choose()\n', Severity.ERROR),
    ],
)
def test_question_in_a_file_that_serves_others_is_a_warning(ending: str, severity: Severity) -> None:
    text = 'import torch\n\n\ndef choose():\n    return "cuda" if torch.cuda.is_available() else "cpu"\n' + ending
    result = lint(SourceFile.from_text(text), Settings(select=("TPU001",)), CATALOGUE)
    question = next(finding for finding in result.findings if "is_available" in finding.message)
    assert question.severity is severity


@pytest.mark.parametrize("mixed", ["\r\n", "\r"], ids=["windows", "classic"])
def test_lines_beside_new_ones_keep_their_ends(mixed: str) -> None:
    """Mixed newlines: the line above an inserted import ends as before."""
    text = f'import torch{mixed}d = torch.device("cuda")\nprint(d)\n'
    result = lint(SourceFile.from_text(text), Settings(fix=True, select=("TPU001",)), CATALOGUE)
    imported = "import torch_xla  # noqa: F401 - tells torch of the device xla"
    assert result.text == f'import torch{mixed}{imported}\nd = torch.device("xla")\nprint(d)\n'


# -------------------------------------------------------------------- a choice without conditions


def test_choice_and_move_are_safe_together() -> None:
    text = 'import torch\n\nd = torch.device("cuda")\nx = torch.zeros(3).cuda()\ny = torch.ones(3).to(d)\n'
    result = port(text, unsafe=False)
    assert result.text == (
        "import torch\nimport torch_xla\n\nd = torch_xla.device()\nx = torch.zeros(3).to(d)\ny = torch.ones(3).to(d)\n"
    )
    assert result.findings == ()


@pytest.mark.parametrize(
    ("choice", "reason"),
    [
        (
            'd = torch.device("cuda" if torch.cuda.is_available() else "cpu")',
            "Code that was skipped without a GPU now runs, and it calls into CUDA.",
        ),
        (
            'd = "cuda"\nprint(d == "cuda")',
            "Comparisons with the name of the device change as well, and with them what they guard.",
        ),
    ],
)
def test_choice_under_a_condition_is_not_safe_with_a_move(choice: str, reason: str) -> None:
    text = f"import torch\n\n{choice}\nx = torch.zeros(3).cuda()\ny = torch.ones(3).to(d)\n"
    assert port(text, unsafe=False).text == text
    found = lint(SourceFile.from_text(text), Settings(select=FAMILY), CATALOGUE).findings
    assert {finding.fix.reason for finding in found if finding.fix and finding.code == "TPU001"} == {reason}


def test_runtime_call_beside_a_plain_choice_is_no_doubt() -> None:
    """Nothing was skipped without a GPU, so nothing runs that did not run before."""
    text = 'import torch\n\nd = torch.device("cuda")\nx = torch.zeros(3).to(d)\ntorch.cuda.mem_get_info()\n'
    assert "d = torch_xla.device()" in port(text, unsafe=False).text


CHOSEN = (
    'import torch\n{}\nd = torch.device("cuda" if torch.cuda.is_available() else "cpu")\nx = torch.zeros(3).to(d)\n{}'
)


@pytest.mark.parametrize(
    ("imported", "used", "is_safe"),
    [
        ("import torch.cuda.amp as amp", "", True),
        ("from torch.cuda import mem_get_info", "", True),
        ("from torch.cuda import mem_get_info", "mem_get_info()\n", False),
        ("import torch.cuda as gpu", "gpu.mem_get_info()\n", False),
        ("import torch.cuda as gpu", "gpu.empty_cache()\n", True),
    ],
)
@pytest.mark.parametrize("portable", [False, True])
def test_names_of_cuda_that_are_used_keep_a_choice_back(
    imported: str, used: str, is_safe: bool, portable: bool
) -> None:
    """By whatever name they go; what is only imported runs nothing."""
    settings = Settings(select=("TPU001",), portable=portable)
    found = lint(SourceFile.from_text(CHOSEN.format(imported, used)), settings, CATALOGUE).findings
    degree = Applicability.SAFE if is_safe and not (portable and used) else Applicability.UNSAFE
    assert {finding.fix.applicability for finding in found if finding.fix} == {degree}


def test_device_named_to_ask_about_a_gpu_behind_an_early_return() -> None:
    stays(
        """
        import torch
        from torch import nn


        class Attend(nn.Module):
            def __init__(self, flash=False):
                super().__init__()
                self.config = None
                if not torch.cuda.is_available() or not flash:
                    return
                properties = torch.cuda.get_device_properties(torch.device("cuda"))
                self.config = properties.major
        """
    )


def test_device_is_taken_in_front_of_its_first_use_whatever_is_imported_below() -> None:
    becomes(
        """
        import torch
        from models import Net

        model = Net()
        model.cuda()
        import matplotlib.pyplot as plt

        plt.plot(model(torch.randn(2).cuda()).tolist())
        """,
        """
        import torch
        import torch_xla
        from models import Net

        device = torch_xla.device()

        model = Net()
        model.to(device)
        import matplotlib.pyplot as plt

        plt.plot(model(torch.randn(2).to(device)).tolist())
        """,
    )


def test_default_names_the_device_and_does_not_take_it() -> None:
    """A default is worked out when the function is defined, which may be long before processes are started."""
    text = 'import torch\ndef train(x, device=torch.device("cuda")):\n    return x.to(device)\nprint(train(1))\n'
    result = lint(SourceFile.from_text(text), Settings(fix=True, unsafe_fixes=True, select=("TPU001",)), CATALOGUE)
    assert 'device=torch.device("xla")' in result.text


@pytest.mark.parametrize(
    ("given", "becomes_help"),
    [
        ("cuda or cpu", "xla or cpu"),
        ("device (cpu, cuda)", "device (cpu, xla)"),
        ("cuda:0|cpu", "xla|cpu"),
        ("cuda device, i.e. 0 or 0,1,2,3 or cpu", None),  # numbers of GPUs
        ("cuda, cuda:1 or cpu", None),
        ("GPU (cuda) or cpu", None),
        ("where cuda kernels run", None),
    ],
)
def test_help_of_an_option_lists_the_device_by_its_new_name(given: str, becomes_help: str | None) -> None:
    """What says anything else is left wholly alone."""
    text = (
        "import argparse\nimport torch\nparser = argparse.ArgumentParser()\n"
        'parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"], help="{}")\n'
        "args = parser.parse_args()\nx = torch.ones(2).to(args.device)\n"
    )
    fixed = port(text.format(given)).text
    assert 'default="xla", choices=["xla", "cpu"]' in fixed
    assert f'help="{becomes_help or given}"' in fixed


@pytest.mark.parametrize(
    "text",
    [
        'use_fp16 = torch.cuda.is_available()\na = TrainingArguments("out", fp16=use_fp16)\n',
        'a = TrainingArguments("out", fp16=True if torch.cuda.is_available() else False)\n',
        'kw = dict(fp16=torch.cuda.is_available())\na = TrainingArguments("out", **kw)\n',
        'kw = {"fp16": bool(torch.cuda.is_available())}\na = TrainingArguments("out", **kw)\n',
        'kw["fp16"] = torch.cuda.is_available()\na = TrainingArguments("out", **kw)\n',
        "args.fp16 = args.fp16 and torch.cuda.is_available()\n",
    ],
)
def test_option_of_float16_stays_off(text: str) -> None:
    """XLA has no float16: libraries refuse what the same script did not ask for without a GPU."""
    text = "import torch\nfrom transformers import TrainingArguments\n" + text
    moved = port(text + 'x = torch.ones(2).to("cuda")\n').text
    assert moved.endswith(text.partition("TrainingArguments\n")[2] + 'x = torch.ones(2).to("xla")\n')


def test_answer_that_chooses_the_device_too_is_not_given_to_an_option_of_float16() -> None:
    becomes(
        """
        import torch
        from transformers import TrainingArguments

        use_cuda = torch.cuda.is_available()
        device = torch.device("cuda" if use_cuda else "cpu")
        args = TrainingArguments("out", fp16=use_cuda)
        x = torch.ones(2).to(device)
        """,
        """
        import torch
        import torch_xla
        from transformers import TrainingArguments

        use_cuda = True
        device = torch_xla.device()
        args = TrainingArguments("out", fp16=False)
        x = torch.ones(2).to(device)
        """,
    )


def test_question_that_chooses_float16_by_a_name_stays() -> None:
    """No is right: XLA has no float16."""
    text = (
        "import torch\nhas_half = torch.cuda.is_available() or torch.backends.mps.is_available()\n"
        "dtype = torch.float16 if has_half else torch.float32\nx = torch.ones(2, dtype=dtype).to({})\n"
    )
    assert port(text.format('"cuda"')).text.endswith(text.format('"xla"').removeprefix("import torch\n"))


def test_option_of_float16_that_opens_an_autocast_of_the_file_is_on() -> None:
    text = (
        'import torch\ncfg = {"fp16": torch.cuda.is_available()}\nx = torch.ones(2).to("cuda")\n'
        'with torch.autocast("cuda", enabled=cfg["fp16"]):\n    print(x)\n'
    )
    assert 'cfg = {"fp16": True}' in port(text).text


@pytest.mark.parametrize(
    ("choice", "chosen"),
    [
        ('torch.device(cfg["device"] if torch.cuda.is_available() else "cpu")', "torch_xla.device()"),
        ('torch.device(args.device if torch.cuda.is_available() else "cpu")', "torch_xla.device()"),
        ('torch.device(cfg.get("device", None) if torch.cuda.is_available() else "cpu")', "torch_xla.device()"),
        ('args.device if torch.cuda.is_available() else "cpu"', '"xla"'),
    ],
)
def test_device_named_outside_loses_its_guard_together_with_its_name(choice: str, chosen: str) -> None:
    """Settings that say `cuda` ran on the CPU so far, and raise where nothing is left that asks."""
    text = f"import torch\nfrom settings import args, cfg\ndevice = {choice}\nx = torch.ones(2).to(device)\n"
    assert port(text, unsafe=False).text == text
    fixed = port(text)
    assert f"\ndevice = {chosen}\n" in fixed.text
    assert fixed.findings == ()


def test_device_that_settings_of_the_file_name_is_still_read_from_them() -> None:
    text = (
        'import torch\ncfg = {"device": "cuda"}\n'
        'device = torch.device(cfg["device"] if torch.cuda.is_available() else "cpu")\nx = torch.ones(2).to(device)\n'
    )
    fixed = port(text).text
    assert 'cfg = {"device": "xla"}' in fixed
    assert 'device = torch.device(cfg["device"])' in fixed


def test_settings_of_another_file_fall_back_to_the_xla_device() -> None:
    """What they name is not seen here: the guard asks for the host, as the user may, and no longer for CUDA."""
    guarded = """
        if not torch.cuda.is_available():
            config.device = 'cpu'
            config.pin_memory = False
        """
    chosen = """
        if config.device != 'cpu':
            config.device = 'xla'
            config.pin_memory = False
        """
    script = "import torch\nfrom settings import config\n{}device = torch.device(config.device)\n"
    text = script.format(dedent(guarded))
    assert port(text, unsafe=False).text == text
    fixed = port(text)
    assert dedent(chosen) in fixed.text
    assert fixed.findings == ()
    served = "import torch\ndef update(config):{}    return config\n"
    assert "if config.device != 'cpu':" in port(served.format(guarded.replace("        ", "    "))).text


KINDS = """
import torch
class Base:
    def acquire(self):
        if self.args.use_gpu and {kind} == "cuda":
            device = torch.device("cuda:{{}}".format(self.args.gpu))
        elif self.args.use_gpu and {kind} == "mps":
            device = torch.device("mps")
        else:
            device = torch.device("cpu")
        return device
"""


@pytest.mark.parametrize(("kind", "chosen"), [("self.args.gpu_type", True), ("kind", False), ("x.device.type", False)])
def test_kind_of_gpu_that_an_option_tells(kind: str, chosen: bool) -> None:
    """What the option is called stays; what others hand over is theirs to say."""
    text = KINDS.format(kind=kind)
    expected = text.replace('torch.device("cuda:{}".format(self.args.gpu))', "torch_xla.device()")
    expected = expected.replace("import torch\n", "import torch\nimport torch_xla\n")
    assert port(text).text == (expected if chosen else text)


def test_device_that_an_option_of_the_file_names_needs_no_fallback() -> None:
    becomes(
        """
        import argparse
        import torch
        parser = argparse.ArgumentParser()
        parser.add_argument("--device", default="cuda")
        args = parser.parse_args()
        if not torch.cuda.is_available():
            args.device = "cpu"
        x = torch.ones(2).to(args.device)
        """,
        """
        import argparse
        import torch
        import torch_xla  # noqa: F401 - tells torch of the device xla
        parser = argparse.ArgumentParser()
        parser.add_argument("--device", default="xla")
        args = parser.parse_args()
        x = torch.ones(2).to(args.device)
        """,
    )


PICK = """\
import torch
def pick():
    if not torch.cuda.is_available():
        {}
    free = [torch.cuda.mem_get_info(i)[0] for i in range(torch.cuda.device_count())]
    return f"cuda:{{free.index(max(free))}}"
x = torch.ones(2).to(pick())
y = torch.ones(2).to("cuda:0")
"""


@pytest.mark.parametrize(
    ("answer", "new_answer"),
    [
        ('return "cpu"', 'return "xla"'),
        ('return torch.device("cpu")', "return torch_xla.device()"),
        ('raise SystemExit("no GPU")', 'raise SystemExit("no GPU")'),
    ],
)
def test_guard_in_front_of_what_the_driver_is_asked_stays(answer: str, new_answer: str) -> None:
    """What it guards raises without a GPU, and no fix changes it."""
    fixed = port(PICK.format(answer)).text
    assert f"    if not torch.cuda.is_available():\n        {new_answer}\n    free = " in fixed
    assert 'y = torch.ones(2).to("xla")' in fixed


@pytest.mark.parametrize(
    ("test", "left"),
    [
        ("not torch.cuda.is_available() or not use_gpu", "    if not use_gpu:\n        return cpu\n"),
        ("mode == 'test' or not torch.cuda.is_available()", "    if mode == 'test':\n        return cpu\n"),
    ],
)
def test_whoever_wants_the_host_gets_it_in_front_of_what_the_driver_is_asked(test: str, left: str) -> None:
    answer = 'return torch.device("cpu")'
    text = PICK.format(answer).replace("not torch.cuda.is_available()", test)
    left = left.replace("return cpu", answer)
    assert f"{left}    if not torch.cuda.is_available():\n        return torch_xla.device()\n" in port(text).text


def test_number_of_gpus_beside_the_question_is_no_wish_of_the_user() -> None:
    test = "not torch.cuda.is_available()"
    text = PICK.format('return "cpu"').replace(test, f"{test} or torch.cuda.device_count() == 0")
    fixed = port(text).text
    assert "cpu" not in fixed and 'return "xla"' in fixed


def test_guard_of_what_cannot_be_ported_is_reported_without_a_fix() -> None:
    text = PICK.format('raise SystemExit("no GPU")').partition("x = ")[0] + "print(pick())\n"
    text += "model = torch.nn.Linear(2, 1).cuda()\n"
    result = port(text, select=("TPU001",))
    assert result.text == text
    assert [(finding.code, finding.fix) for finding in result.findings] == [("TPU001", None)]


@pytest.mark.parametrize(
    "use",
    ["x = torch.ones(2).to(DEVICES[-1])", "x = torch.ones(2, device=DEVICES[0])", "for d in DEVICES:\n    x = y.to(d)"],
)
def test_devices_in_a_list(use: str) -> None:
    text = f'import torch\nDEVICES = ["cuda:0"]\ny = torch.ones(2).to("cuda:0")\n{use}\n'
    assert 'DEVICES = ["xla"]\ny = torch.ones(2).to("xla")' in port(text).text


def test_several_gpus_in_a_list_are_reported_without_a_fix() -> None:
    text = 'import torch\nDEVICES = ["cuda:0", "cuda:1"]\nx = torch.ones(2).to("cuda:0")\ny = x.to(DEVICES[-1])\n'
    result = port(text)
    assert result.text == text
    assert result.findings


@pytest.mark.parametrize(
    ("chosen", "ported"),
    [
        ('PLACES = ["cpu", "cuda"] if torch.cuda.is_available() else ["cpu"]', 'PLACES = ["cpu", "xla"]'),
        ('PLACES = ("cuda:0",) if torch.cuda.is_available() else ("cpu",)', 'PLACES = ("xla",)'),
        ('PLACES = ["cpu"] + (["cuda"] if torch.cuda.is_available() else [])', 'PLACES = ["cpu"] + (["xla"])'),
        ('place = ["cpu", "cuda"][torch.cuda.is_available()]', 'place = ["cpu", "xla"][True]'),
        (
            'PLACES = ["cpu"]\nif torch.cuda.is_available():\n    PLACES.append("cuda")',
            'PLACES = ["cpu"]\nPLACES.append("xla")',
        ),
        (
            'PLACES = ["cpu"]\nif torch.cuda.is_available():\n    PLACES += ["cuda"]',
            'PLACES = ["cpu"]\nPLACES += ["xla"]',
        ),
        (
            'PLACES = ["cpu"]\nif torch.cuda.is_available():\n    PLACES.extend(["cuda"])',
            'PLACES = ["cpu"]\nPLACES.extend(["xla"])',
        ),
        (
            'def places():\n    return ["cpu", "cuda"] if torch.cuda.is_available() else ["cpu"]',
            'def places():\n    return ["cpu", "xla"]',
        ),
    ],
)
def test_devices_that_a_question_adds_to_a_list_are_chosen_with_it(chosen: str, ported: str) -> None:
    """Whoever goes through the list, in this file or another."""
    assert port(f"import torch\n{chosen}\n").text.endswith(f"\n{ported}\n")


@pytest.mark.parametrize(
    "chosen",
    [
        'WORDS = ["cpu", "cuda"]',  # nobody asks: tests that are skipped
        'WORDS = ["cpu", "cuda", "fast"]\nWORDS += ["cuda"]',
        'WORDS = ["fast"]\nWORDS.append("cuda")',
    ],
)
def test_lists_of_words_are_left(chosen: str) -> None:
    text = f"import torch\n{chosen}\nx = torch.ones(2)\n"
    assert port(text).text == text


def test_list_of_names_that_is_no_list_of_devices_stays() -> None:
    text = 'import torch\nBACKENDS = ["cuda", "mps"]\nx = torch.ones(2).to("cuda")\nprint(BACKENDS[0])\n'
    assert 'BACKENDS = ["cuda", "mps"]' in port(text).text


LIGHTNING = """\
import torch
import lightning as L


class Net(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.start = torch.zeros(2).cuda()

    @torch.no_grad()
    def training_step(self, batch, number):
        return batch + torch.randn(2).cuda(non_blocking=True)

    @classmethod
    def noise(cls, shape):
        return torch.randn(shape).cuda()


class Other:
    def step(self, batch):
        return batch + torch.randn(2).cuda()
"""


def test_a_lightning_module_knows_its_device() -> None:
    fixed = port(LIGHTNING).text
    assert "batch + torch.randn(2).to(self.device, non_blocking=True)" in fixed
    assert fixed.count("self.device") == 1, "not in __init__, a class method or another class"
    assert port(fixed).text == fixed


STREAM = """\
import torch
stream = torch.cuda.Stream()
def move(x):
    with torch.cuda.stream(stream):
        x = x.to("xla")
    torch.cuda.current_stream().wait_stream(stream)
    {}
    return x
"""


@pytest.mark.parametrize(("use", "goes"), [("x.record_stream(stream)", True), ("launch(x, stream)", False)])
def test_stream_goes_only_with_all_that_is_told_to_it(use: str, goes: bool) -> None:
    text = port(STREAM.format(use), select=("TPU010",)).text
    assert ("torch.cuda.Stream()" in text) is not goes
    assert "wait_stream" not in text
    assert ("launch(x, stream)" in text) is not goes


@pytest.mark.parametrize("text", ['f"cuda"', 'f"cuda:0"'])
def test_text_of_cuda_marked_as_formatted_that_has_nothing_to_format(text: str) -> None:
    becomes(
        f"""
        import torch

        device = torch.device({text})
        torch.ones(3).to(device)
        """,
        """
        import torch
        import torch_xla

        device = torch_xla.device()
        torch.ones(3).to(device)
        """,
    )


def test_accelerator_kept_under_a_name_that_does_not_say_so() -> None:
    """The text of an XLA device has its number in it already: with another one behind it, it names none."""
    becomes(
        """
        import torch

        class Trainer:
            def __init__(self, model, rank):
                self.acc = torch.accelerator.current_accelerator()
                self.model = model.to(torch.device(f"{self.acc}:{rank}"))
        """,
        """
        import torch_xla

        class Trainer:
            def __init__(self, model, rank):
                self.acc = torch_xla.device()
                self.model = model.to(torch_xla.device())
        """,
    )


def test_number_of_gpus_that_is_one_condition_of_several() -> None:
    becomes(
        """
        import torch

        device = torch.device("cpu")
        if wanted and torch.cuda.device_count():
            device = torch.device("cuda")
        x = torch.ones(2).to(device)
        """,
        """
        import torch
        import torch_xla

        device = torch.device("cpu")
        if wanted:
            device = torch_xla.device()
        x = torch.ones(2).to(device)
        """,
    )


def test_number_of_gpus_or_another_number_is_no_condition() -> None:
    stays(
        """
        import torch

        workers = torch.cuda.device_count() or 1
        x = torch.ones(2, workers)
        """
    )


def test_device_of_the_host_that_is_overwritten_at_once_goes() -> None:
    becomes(
        """
        import torch

        device = torch.device("cpu")
        if torch.cuda.is_available():
            device = torch.device("cuda:0")
            torch.cuda.empty_cache()
        x = torch.ones(2).to(device)
        """,
        """
        import torch
        import torch_xla

        device = torch_xla.device()
        torch.cuda.empty_cache()
        x = torch.ones(2).to(device)
        """,
    )


def test_method_of_the_own_class_is_no_index_of_a_tensor() -> None:
    becomes(
        """
        import torch

        class Generator:
            def get_device(self) -> str:
                return self.model.device.type

            def to_gpu(self, index=0):
                self.model.to(torch.device("cuda", index))

            def generate(self, tokens):
                return self.model.generate(tokens["input_ids"].to(self.get_device()))
        """,
        """
        import torch_xla

        class Generator:
            def get_device(self) -> str:
                return self.model.device.type

            def to_gpu(self, index=0):
                self.model.to(torch_xla.device())

            def generate(self, tokens):
                return self.model.generate(tokens["input_ids"].to(self.get_device()))
        """,
    )


def test_object_that_may_be_a_model_is_asked_by_its_own_method() -> None:
    """nanochat: the model's class, in another file, has a ``get_device`` of its own."""
    stays(
        """
        import torch

        def evaluate(model, batch):
            total = torch.tensor(0.0, device=model.get_device())
            return total + model(batch), torch.zeros(3).to(batch.get_device())
        """
    )


@pytest.mark.parametrize(
    ("call", "is_left"),
    [
        ("model(images)", True),
        ("model(x=images)", True),
        ("model(names)", False),  # texts, as likely as tensors
        ("measure(model(seen).cpu(), images)", False),  # on the host, with what was fetched
        ("show(images)", False),  # no module
    ],
)
def test_images_beside_labels_that_are_moved(call: str, is_left: bool) -> None:
    text = dedent(f"""
        import torch
        def train(loader, model, measure):
            model.train()
            measure.eval()
            for seen, images, labels, names in loader:
                seen = seen.cuda()
                labels = labels.cuda()
                out = {call}
                torch.nn.functional.cross_entropy(model(seen), labels).backward()
    """)
    found = lint(SourceFile.from_text(text), Settings(select=("TPU021",)), CATALOGUE).findings
    assert ("`images` is left on the host" in " ".join(item.message for item in found)) is is_left
    wrapped = text.replace("    model.train()", "    model = torch.nn.DataParallel(model)\n    model.train()")
    found = lint(SourceFile.from_text(wrapped), Settings(select=("TPU021",)), CATALOGUE).findings
    assert "left on the host" not in " ".join(item.message for item in found), "the rule about the wrapper does that"


@pytest.mark.parametrize(
    ("head", "batches", "moved", "call"),
    [
        ("from accelerate import Accelerator", "loader", "labels.to(device)", "images"),
        ("", "loader", "labels.to(torch.float32)", "images"),
        ("", "loader", "labels.to('cpu')", "images"),
        ("host = torch.device('cpu')", "loader", "labels.to(host)", "images"),
        ("kind = torch.float32", "loader", "labels.to(kind)", "images"),
        ("", "Prefetcher(loader)", "labels.to(device)", "images"),
        ("", "torch.utils.data.DataLoader(data, collate_fn=place)", "labels.to(device)", "images"),
        ("", "loader", "labels.to(device)", "**images"),
    ],
)
def test_images_that_something_else_moves_or_nothing_does(head: str, batches: str, moved: str, call: str) -> None:
    text = dedent(f"""
        import torch
        {head}
        def train(loader, model, device):
            model.train()
            for images, labels in {batches}:
                labels = {moved}
                torch.nn.functional.cross_entropy(model({call}), labels).backward()
    """)
    assert lint(SourceFile.from_text(text), Settings(select=("TPU021",)), CATALOGUE).findings == ()


@pytest.mark.parametrize(
    ("model", "is_left"),
    [
        ("", True),  # whoever calls the function has wrapped it
        ("train(Net().cuda(), loader)", False),  # nobody has: the model itself moves what it is given
        ("net = Net().cuda()\nnet.train()\ntrain(net, loader)", False),
    ],
)
def test_images_of_a_model_that_is_seen_to_have_no_wrapper(model: str, is_left: bool) -> None:
    text = dedent("""
        import torch
        from models import Net
        def train(model, loader):
            model.train()
            for images, labels in loader:
                labels = labels.cuda()
                torch.nn.functional.cross_entropy(model(images), labels).backward()
    """)
    found = lint(SourceFile.from_text(text + model), Settings(select=("TPU021",)), CATALOGUE).findings
    assert ("`images` is left on the host" in " ".join(item.message for item in found)) is is_left


@pytest.mark.parametrize(
    ("use", "is_kept"),
    [
        ("print(net.module.depth)", True),
        ("if epoch % 2:\n    torch.save(net.module.state_dict(), path)", True),
        ("if device == 'cuda':\n    print(net.module.depth)", True),
        ("if parallel:\n    print(net.module.depth)", True),
        ("if torch.cuda.is_available() and parallel:\n    print(net.module.depth)", True),
        ("if isinstance(net, torch.nn.DataParallel):\n    print(net.module.depth)", False),
        ("if hasattr(net, 'module'):\n    print(net.module.depth)", False),
        ("if torch.cuda.device_count() > 1:\n    print(net.module.depth)", False),
        ("print(net(x))", False),
    ],
)
def test_wrapper_for_cuda_stays_where_it_is_unwrapped(use: str, is_kept: bool) -> None:
    """`net.module` needs the wrapper, which does no harm; without it the branch is CUDA's alone."""
    text = dedent("""
        import torch
        device = 'cuda' if torch.cuda.is_available() else 'cpu'
        net = torch.nn.Linear(4, 4).to(device)
        if device == 'cuda':
            net = torch.nn.DataParallel(net)
            torch.backends.cudnn.benchmark = True
    """)
    result = port(text + use + "\n", select=("TPU0", "TPU6"))
    assert ("DataParallel(net)" in result.text) is is_kept


@pytest.mark.parametrize(("asked", "is_kept"), [("parallel", True), ("hasattr(net, 'module')", False)])
def test_wrapper_for_cuda_stays_where_another_file_unwraps(tmp_path: Path, asked: str, is_kept: bool) -> None:
    (tmp_path / "saving.py").write_text(
        f"import torch\n\ndef save(net, parallel):\n    if {asked}:\n        net = net.module\n    print(net.depth)\n"
    )
    script = tmp_path / "train.py"
    script.write_text(
        dedent("""\
            import torch
            from saving import save
            net = torch.nn.Linear(4, 4).to("cuda" if torch.cuda.is_available() else "cpu")
            if torch.cuda.is_available() and parallel:
                net = torch.nn.DataParallel(net)
            save(net, parallel)
        """)
    )
    tpulint("--fix", "--unsafe-fixes", ".", cwd=tmp_path)
    assert "    net = torch.nn.DataParallel(net)\n" in script.read_text()
    assert ("if parallel:\n" in script.read_text()) is is_kept


def test_answer_kept_among_the_options() -> None:
    """Other files read it: a report in a dict of another name stays."""
    becomes(
        """
        import torch

        def run(config, Net):
            config["gpu"] = torch.cuda.is_available()
            net = Net(config)
            info = {}
            info["cuda"] = torch.cuda.is_available()
            print(info)
            return net
        """,
        """
        import torch

        def run(config, Net):
            config["gpu"] = True
            net = Net(config)
            info = {}
            info["cuda"] = torch.cuda.is_available()
            print(info)
            return net
        """,
    )


# -------------------------------------------------------------------- messages about each GPU

SELECT_DEVICE = """
import torch

def select_device(device="", count=1):
    s = f"torch {torch.__version__} "
    cpu = device == "cpu"
    if CONDITION:
        for i, name in enumerate(device.split(",") if device else range(count)):
            p = torch.cuda.get_device_properties(i)
            s += f"GPU {name} ({p.name})"
        arg = "cuda:0"
    else:
        arg = "cpu"
    print(s)
    return torch.device(arg)

x = torch.zeros(2).to(select_device())
"""


@pytest.mark.parametrize(
    ("condition", "old", "new", "is_left_out"),
    [
        ("not cpu and torch.cuda.is_available()", "", "", True),
        ("cuda", "    if CONDITION", "    cuda = not cpu and torch.cuda.is_available()\n    if CONDITION", True),
        ("torch.cuda.is_available()", '            s += f"GPU {name} ({p.name})"', "            print(p.name)", True),
        ("torch.cuda.is_available()", '            s += f"GPU {name} ({p.name})"', "            count += 1", False),
        ("torch.cuda.is_available()", "    print(s)", "    print(s, p)", False),
    ],
    ids=["beside another condition", "by a flag", "printed", "counts", "used behind the loop"],
)
def test_message_about_each_gpu_is_left_out(condition: str, old: str, new: str, is_left_out: bool) -> None:
    text = port(SELECT_DEVICE.replace(old, new).replace("CONDITION", condition), select=("TPU00", "TPU010")).text
    assert ("get_device_properties" not in text) == is_left_out
    assert ("for i, name" not in text) == is_left_out


@pytest.mark.parametrize(
    ("use", "is_left_out"),
    [('print(f"Using {p.name}")', True), ("size = p.total_memory", False)],
)
def test_message_about_what_a_variable_read_of_a_gpu(use: str, is_left_out: bool) -> None:
    before = f"""
        import torch

        if torch.cuda.is_available():
            device = torch.device("cuda")
            p = torch.cuda.get_device_properties(device)
            {use}
        else:
            device = torch.device("cpu")
        x = torch.zeros(2).to(device)
        """
    text = port(dedent(before), select=("TPU00", "TPU010")).text
    assert ("get_device_properties" not in text) == is_left_out


@pytest.mark.parametrize(
    ("made", "told"),
    [
        ('torch_xla.device() if on_tpu else torch.device("cuda")', False),
        ('torch.device("cuda" if on_gpu else "cpu")', True),
    ],
    ids=["knows XLA", "knows CUDA alone"],
)
def test_comparison_and_scaler_of_a_file_for_several_backends(made: str, told: bool) -> None:
    text = (
        f"import torch\nimport torch_xla\n\n\ndef train(model, loader, on_tpu, on_gpu):\n    device = {made}\n"
        '    scaler = torch.amp.GradScaler(enabled=device.type == "cuda")\n'
        '    pinned = device.type == "cuda"\n    for x in loader:\n'
        "        scaler.scale(model(x.to(device, non_blocking=pinned)).mean()).backward()\n"
    )
    found = lint(SourceFile.from_text(text), Settings(select=("TPU001", "TPU401"), preview=True), CATALOGUE).findings
    assert {finding.code for finding in found} == ({"TPU001", "TPU401"} if told else set())


# -------------------------------------------------------------------- buffers that are resized through an alias


BUFFERS = """
import argparse
import torch
from torch.autograd import Variable

options = argparse.ArgumentParser().parse_args()
net = torch.nn.Linear(8, 1)
label = torch.FloatTensor(options.size)
noise = torch.FloatTensor(options.size, 8)
if options.cuda:
    net.cuda()
    label, noise = label.cuda(), noise.cuda()
label, noise = Variable(label), Variable(noise)
"""


def test_buffers_of_a_program_are_made_anew_in_each_turn() -> None:
    before = (
        BUFFERS
        + """
for x in batches:
    count = x.size(0)
    label.data.resize_(count).fill_(1)  # real
    noise.data.resize_(count, 8)
    noise.data.normal_(0, 1)
    loss = net(noise).view(-1) - label
"""
    )
    after = (
        BUFFERS
        + """
for x in batches:
    count = x.size(0)
    label = label.new_empty(count).fill_(1)  # real
    noise = noise.new_empty(count, 8)
    noise.data.normal_(0, 1)
    loss = net(noise).view(-1) - label
"""
    )
    result = port(before, select=("TPU022",))
    assert (result.text, result.findings) == (after, ())


@pytest.mark.parametrize(
    "loop",
    [
        # a function that would make a variable of its own
        "def step(x):\n    label.data.resize_(x.size(0)).fill_(1)\n",
        # another name holds the buffer
        "target = label\nfor x in batches:\n    label.data.resize_(x.size(0)).fill_(1)\n    print(target)\n",
        "show = Window(label)\nfor x in batches:\n    label.data.resize_(x.size(0)).fill_(1)\n",
        # the old values are still read
        "for x in batches:\n    label.data.resize_(x.size(0))\n    print(label)\n",
        "for x in batches:\n    rows = label.data.resize_(x.size(0)).fill_(1)\n",
        # a gradient is recorded for it
        "label.requires_grad = True\nfor x in batches:\n    label.data.resize_(x.size(0)).fill_(1)\n",
    ],
)
def test_buffer_is_not_made_anew_where_the_old_one_may_be_wanted(loop: str) -> None:
    result = port(BUFFERS + loop, select=("TPU022",))
    assert result.text == BUFFERS + loop
    assert [finding.code for finding in result.findings] == ["TPU022"]


@pytest.mark.parametrize(
    "line",
    [
        "net.weight.data.resize_(4, 8).zero_()",  # a parameter
        "noise.data.resize_(options.size, 8).normal_(0, 1)",  # the size it has
        "x.data.resize_(4, 8)",  # unknown
        "torch.FloatTensor(4).data.resize_(2)",
        "label.data.fill_(0)",
    ],
)
def test_other_aliases_are_left_alone(line: str) -> None:
    text = BUFFERS + f"for x in batches:\n    {line}\n"
    result = port(text, select=("TPU022",))
    assert (result.text, result.findings) == (text, ())


SEMANTICS = """
import torch
from torch import nn

class Model(nn.Module):
    def __init__(self, options):
        super().__init__()
        self.options = options
        self.FloatTensor = torch.cuda.FloatTensor if self.use_gpu() else torch.FloatTensor
        self.net = nn.Conv2d(4, 3, 3)
        HANDED
        if len(options.gpu_ids) > 0:
            self.net.cuda()

    def forward(self, data):
        if self.use_gpu():
            data["label"] = data["label"].cuda()
        label = data["label"]
        return self.net(self.FloatTensor(len(label), 4, 8, 8).zero_().scatter_(1, label, 1.0))

    def use_gpu(self):
        return ANSWER
"""


def test_method_that_tells_what_the_user_chose_keeps_nothing_for_cuda() -> None:
    """Moves behind it stayed as they were once the file spoke of XLA, and nothing was said of them any more."""
    text = SEMANTICS.replace("HANDED", "pass").replace("ANSWER", "len(self.options.gpu_ids) > 0")
    result = port(text)
    assert "cuda" not in result.text
    assert 'data["label"] = data["label"].to(self.tensor_device)' in result.text


def test_tensor_class_that_is_handed_on_stays_told() -> None:
    text = SEMANTICS.replace("HANDED", "self.loss = Loss(tensor=self.FloatTensor)")
    result = port(text.replace("ANSWER", "len(self.options.gpu_ids) > 0"))
    assert [finding.code for finding in result.findings] == ["TPU003"]
    assert ".cuda()" not in result.text


def test_method_that_asks_the_machine_keeps_what_is_for_cuda() -> None:
    text = SEMANTICS.replace("HANDED", "pass").replace("ANSWER", "find_gpus() is not None")
    assert 'data["label"] = data["label"].cuda()' in port(text).text


def test_a_branch_that_loads_to_the_host_is_kept() -> None:
    """Unfolded to the branch for GPUs, a file that was saved on one could not be loaded."""
    text = """
        import torch

        def load(model, path):
            if torch.cuda.is_available():
                print("loading for GPUs")
                state = torch.load(path)
            else:
                state = torch.load(path, map_location="cpu")
            model.load_state_dict(state)
        """
    stays(text)
    assert port(dedent(text).replace('"loading for GPUs"', "model.cuda()")).text != dedent(text)
    assert "is_available" not in port(dedent(text).replace(', map_location="cpu"', "")).text
    stays(
        """
        import torch

        def load(path):
            host = torch.load(path) if torch.cuda.is_available() else torch.load(path, map_location="cpu")
            if not torch.cuda.is_available():
                return torch.load(path, map_location=torch.device("cpu"))
            else:
                return torch.load(path)
        """
    )


def test_the_first_parameter_of_a_function_is_no_object_whatever_its_name() -> None:
    text = """\
import torch


def sample(self, model, device, every=10):
    return model(torch.zeros(1, 4).to(device))


class Sampler:
    def sample(self, device):
        return torch.zeros(1, 4).to(device)


sample(diffusion, model, "cuda", every=2)
Sampler().sample("cuda")
"""
    fixed = port(text).text
    assert "cuda" not in fixed
    assert fixed.count('"xla"') == 2


@pytest.mark.parametrize(
    "choice",
    [
        "    if cuda:\n        kind = torch.cuda.FloatTensor\n    else:\n        kind = torch.FloatTensor\n",
        "    if cuda:\n        kind = torch.cuda.FloatTensor\n    else:\n        pass\n        kind = torch.Tensor\n",
        "    if not cuda:\n        kind = torch.FloatTensor\n    else:\n        kind = torch.cuda.FloatTensor\n",
        "    kind = torch.cuda.FloatTensor if cuda else torch.FloatTensor\n",
    ],
)
@pytest.mark.parametrize("parameter", ["cuda", "cuda=True", "cuda=False"])
def test_whoever_calls_a_function_chooses_the_class_of_its_tensors(choice: str, parameter: str) -> None:
    """The default of a parameter is no answer: `score(images, cuda=False)` stays on the host."""
    text = f"import torch\n\n\ndef score(x, {parameter}):\n{choice}    return x.type(kind)\n"
    result = port(f"{text}\n\nscore(torch.ones(3), False)\n")
    assert '    device = torch_xla.device() if cuda else torch.device("cpu")\n' in result.text
    assert "    return x.to(device, torch.float32)\n" in result.text


def test_a_flag_of_the_file_that_says_yes_chooses_the_device() -> None:
    choice = "if cuda:\n    kind = torch.cuda.FloatTensor\nelse:\n    kind = torch.FloatTensor\n"
    text = port(f"import torch\n\ncuda = True\n{choice}x = torch.ones(3).type(kind)\n").text
    assert "torch.float32)" in text and "if cuda else" not in text


OPTIONS = """\
import torch
from torch import nn
from options import make

NAME = MADE
model = nn.Linear(4, 2)
if USED:
    model.cuda()
model(x)
"""


@pytest.mark.parametrize(
    ("name", "made", "used"),
    [
        ("args", 'make({"lr": 0.1, "cuda": torch.cuda.is_available()})', "args.cuda"),
        ("chosen", 'make({"lr": 0.1, "cuda": torch.cuda.is_available()})', "chosen.cuda"),
        ("chosen", 'make(**{"cuda": torch.cuda.is_available()})', "chosen.cuda"),
        ("opt", 'make({"cuda": torch.cuda.is_available()})', "wanted(opt)"),  # whoever is handed the options reads it
    ],
)
def test_an_option_of_a_dictionary_is_read_as_an_attribute(name: str, made: str, used: str) -> None:
    text = OPTIONS.replace("NAME", name).replace("MADE", made).replace("USED", used)
    fixed = port(text).text
    assert '"cuda": True' in fixed
    assert "model.to(" in fixed


@pytest.mark.parametrize("used", ["chosen.lr > 0", "found.cuda", "wanted(chosen)"])
def test_a_report_that_nobody_reads_an_answer_from_stays(used: str) -> None:
    text = OPTIONS.replace("NAME", "chosen").replace("MADE", 'make({"cuda": torch.cuda.is_available()})')
    assert '"cuda": torch.cuda.is_available()' in port(text.replace("USED", used)).text


@pytest.mark.parametrize(
    ("moved", "left"),
    [
        ("for p in model.parameters():\n    p.data = p.data.cuda()", True),
        ("state.data = state.detach().cuda()", True),
        ("model.scale.data = model.scale.cuda()", True),
        # What is set to another tensor may have moved before.
        ("model.weight.data = other.weight.data.cuda()", False),
        ("weight = model.weight.data.cuda()", False),
        ("model.weight.grad = model.weight.data.cuda()", False),
    ],
)
def test_values_that_are_set_to_those_of_the_device(moved: str, left: bool) -> None:
    text = f"import torch\nfrom torch import nn\n\nmodel, other = nn.Linear(4, 4), nn.Linear(4, 4)\n{moved}\n"
    result = port(text, select=("TPU002",))
    assert (".cuda()" in result.text) is left
    assert all("swap_tensors" in (one.help or "") for one in result.findings)
    assert "Parameter" not in result.text


@pytest.mark.parametrize(
    ("of", "first", "is_tensor"),
    [
        ("data.Dataset", "self", False),
        ("object", "rows", False),
        ("nn.Module", "self", False),
        ("Base", "self", False),  # of a file that nobody sees
        ("torch.Tensor", "self", True),
        ("nn.Parameter", "self", True),
        ("Scale", "self", True),
    ],
)
def test_data_of_an_object_is_moved_where_the_object_is_no_tensor(of: str, first: str, is_tensor: bool) -> None:
    text = (
        "import torch\nfrom torch import nn\nfrom torch.utils import data\nfrom lib import Base\n\n"
        "class Scale(nn.Parameter):\n    pass\n\n"
        f"class Rows({of}):\n    def move(FIRST):\n        FIRST.data = FIRST.data.cuda()\n"
    ).replace("FIRST", first)
    assert (f"{first}.data.cuda()" in port(text, select=("TPU002",)).text) is is_tensor


@pytest.mark.parametrize(
    ("made", "is_tensor"),
    [
        ("rows = datasets.MNIST('data')", False),
        ("rows = Rows()", False),
        ("rows = nn.Linear(2, 2)", False),
        ("rows = Scale()", True),
        ("rows = torch.zeros(3)", True),
        ("rows = unseen()", True),  # it may be one
        ("rows = datasets.MNIST('data') if named else unseen()", True),
    ],
)
def test_data_of_a_variable_is_moved_where_what_it_holds_is_no_tensor(made: str, is_tensor: bool) -> None:
    text = (
        "import torch\nfrom torch import nn\nfrom torchvision import datasets\n\n"
        "class Rows:\n    data = torch.zeros(3)\n\nclass Scale(nn.Parameter):\n    pass\n\n"
        f"{made}\nrows.data = rows.data.cuda()\n"
    )
    assert ("rows.data.cuda()" in port(text, select=("TPU002",)).text) is is_tensor


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("timer = Timer(torch.cuda.synchronize)", "timer = Timer(lambda: torch_xla.sync(wait=True))"),
        ("timer = Timer(wait=torch.cuda.synchronize)", "timer = Timer(wait=lambda: torch_xla.sync(wait=True))"),
        ("wait = torch.cuda.synchronize", "wait = lambda: torch_xla.sync(wait=True)"),
        (
            "wait = torch.cuda.synchronize if ok else lambda: None",
            "wait = (lambda: torch_xla.sync(wait=True)) if ok else lambda: None",
        ),
        (
            "wait = idle if x else torch.cuda.synchronize",
            "wait = idle if x else lambda: torch_xla.sync(wait=True)",
        ),
        ("wait = 1 if torch.cuda.synchronize else 2", "wait = 1 if torch.cuda.synchronize else 2"),
        ("waits = [torch.cuda.synchronize]", "waits = [torch.cuda.synchronize]"),
        ("wait = partial(torch.cuda.synchronize, 0)", "wait = partial(torch.cuda.synchronize, 0)"),
        ("name = torch.cuda.synchronize.__name__", "name = torch.cuda.synchronize.__name__"),
    ],
)
def test_wait_that_is_handed_on(before: str, after: str) -> None:
    text = f"from functools import partial\n\nimport torch\n\n{before}\n"
    assert after in port(text, select=("TPU010",)).text.splitlines()
    assert before in port(text, select=("TPU010",), unsafe=False).text.splitlines()


SEEDED = """\
import torch

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(3)
if device == "cuda":
    torch.cuda.manual_seed_all(3)
model = torch.nn.Dropout().to(device)
"""
OBJECT = 'torch.device("cuda" if torch.cuda.is_available() else "cpu")'


@pytest.mark.parametrize(
    ("old", "new", "seeding"),
    [
        ("", "", 'if device.type == "xla":\n    torch_xla.manual_seed(3)\n'),
        # A text is what it is compared with.
        (
            OBJECT,
            '"cuda" if torch.cuda.is_available() else "cpu"',
            'if device == "xla":\n    torch_xla.manual_seed(3)\n',
        ),
        # What else stands there did not run on a GPU, and does not now; the device is seeded beside the host.
        (
            "all(3)\n",
            "all(3)\n    print('on a GPU')\n",
            "torch.manual_seed(3)\ntorch_xla.manual_seed(3)\n"
            "if device == \"xla\":\n    torch_xla.manual_seed(3)\n    print('on a GPU')\n",
        ),
        ('device == "cuda"', 'device.type == "cuda"', 'if device.type == "xla":\n    torch_xla.manual_seed(3)\n'),
        # A seed that was never asked for may not be there.
        (
            "all(3)\n",
            "all(args.seed)\n",
            "torch.manual_seed(3)\ntorch_xla.manual_seed(3)\n"
            'if device == "xla":\n    torch_xla.manual_seed(args.seed)\n',
        ),
        # The type of a device is a text made when it is read, which `is` none of the program.
        (
            'device == "cuda"',
            'device.type is "cuda"',
            'torch.manual_seed(3)\ntorch_xla.manual_seed(3)\nif device.type is "cuda":\n    torch_xla.manual_seed(3)\n',
        ),
    ],
)
def test_seeds_behind_a_comparison_of_a_device_with_a_text(old: str, new: str, seeding: str) -> None:
    """``torch.device("cuda") == "cuda"`` is false: on a GPU ``torch.manual_seed`` alone seeds the device."""
    result = port(SEEDED.replace(old, new), select=("TPU001", "TPU010", "TPU702"))
    assert seeding in result.text and result.text.count("torch_xla.manual_seed") == seeding.count("torch_xla")
    assert result.findings == ()


@pytest.mark.parametrize(
    ("chosen", "asked", "written"),
    [
        (OBJECT, 'device.type is "cuda"', 'if device.type is "cuda":'),
        (OBJECT, 'device is not "cuda"', 'if device is not "cuda":'),
        ('"cuda" if torch.cuda.is_available() else "cpu"', 'device is "cuda"', 'if device is "xla":'),
        ('"cuda" if torch.cuda.is_available() else "cpu"', 'device is not "cuda"', 'if device is not "xla":'),
    ],
)
def test_texts_that_are_asked_to_be_the_same(chosen: str, asked: str, written: str) -> None:
    """A text is the one of the program that it was chosen from; a device and its type are none, on a GPU neither."""
    text = f"import torch\n\ndevice = {chosen}\nmodel = torch.nn.Linear(2, 2)\nif {asked}:\n    model.to(device)\n"
    assert written in port(text, select=("TPU001",)).text.splitlines()


TIMED = """\
import time

import torch

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = torch.nn.Linear(4, 4).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(20):
    start = time.perf_counter()
    model(torch.randn(8, 4).to(device)).sum().backward()
    optimizer.step()
    GUARD:
        torch.cuda.synchronize()
    took = time.perf_counter() - start
"""
GUARDS = {
    'if device.type == "cuda"': True,
    'if device.type != "cpu"': True,
    "if torch.cuda.is_available()": True,
    "if args.cuda": True,
    "if use_gpu": True,
    # What says more of when to wait than whether there is a GPU.
    "if step % 10 == 0": False,
    "if args.profile": False,
    "if args.cuda and args.profile": False,
    "if args.gpu is None": False,
}


@pytest.mark.parametrize(("guard", "waits"), GUARDS.items(), ids=GUARDS)
def test_wait_in_front_of_a_clock_behind_a_question_for_the_device(guard: str, waits: bool) -> None:
    """It becomes the boundary of the step, as it does without the question."""
    select = ("TPU001", "TPU010", "TPU301")
    result = port(TIMED.replace("GUARD", guard), select=select)
    sync = "torch_xla.sync(wait=True)" if waits else "torch_xla.sync()"
    assert f"    optimizer.step()\n    {sync}\n    took = " in result.text
    assert result.findings == ()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("synchronize()\n", "synchronize()\n    else:\n        print(step)\n"),
        ("synchronize()\n", "synchronize()\n        print(step)\n"),
        ("    took = time.perf_counter() - start\n", ""),
    ],
)
def test_wait_behind_a_question_for_more_or_without_a_clock(old: str, new: str) -> None:
    text = TIMED.replace("GUARD", 'if device.type != "cpu"').replace(old, new)
    assert text.count("wait=True") == port(text, select=("TPU001", "TPU010", "TPU301")).text.count("wait=True") == 0


# -------------------------------------------------------------------- values of layers


LAYER = """
import torch
from torch import nn

layer = nn.Linear(4, 4)
BETWEEN
layer.weight.data = torch.zeros(4, 4, device="cuda")
"""


@pytest.mark.parametrize(
    "between",
    ["", "print(1)", "layer.bias.data = torch.ones(4)", "other = nn.Linear(4, 4)"],
)
def test_values_on_the_device_of_a_layer_on_the_host_become_a_parameter(between: str) -> None:
    after = port(LAYER.replace("BETWEEN", between), unsafe=False).text
    assert 'layer.weight = torch.nn.Parameter(torch.zeros(4, 4, device="xla"))' in after


@pytest.mark.parametrize(
    "between",
    [
        "layer.to('cuda')",
        "layer = layer.cuda()",
        "optimizer = torch.optim.SGD(layer.parameters(), 0.1)",
        "layer.to('cuda')\nlayer.weight.requires_grad = False",
        "whole = nn.Sequential(layer).cuda()\nlayer.weight.requires_grad = False",
        "layer.weight = other.weight",
        "torch.set_default_device('cuda')",
    ],
)
def test_layers_that_may_be_on_the_device_keep_their_parameters(between: str) -> None:
    after = port(LAYER.replace("BETWEEN", between)).text
    assert 'layer.weight.data = torch.zeros(4, 4, device="xla")' in after


@pytest.mark.parametrize(
    "between",
    [
        "layer.weight.requires_grad = False",
        "layer.requires_grad_(False)",
        "other = nn.Linear(4, 4)\nother.weight = layer.weight",
        "other = nn.Linear(4, 4)\nother.weight = layer.weight\nlayer.weight.requires_grad = False",
    ],
)
def test_values_of_what_is_frozen_or_shared_on_the_host_are_made_there(between: str) -> None:
    after = port(LAYER.replace("BETWEEN", between), unsafe=False).text
    assert after == LAYER.replace("BETWEEN", between).replace(', device="cuda"', "")


@pytest.mark.parametrize("made", ["nn.Linear(4, 4, device='cuda')", "nn.Linear(4, 4, **options)", "build()"])
def test_layers_that_were_perhaps_made_on_the_device_keep_their_parameters(made: str) -> None:
    after = port(LAYER.replace("BETWEEN", "").replace("nn.Linear(4, 4)", made)).text
    assert 'layer.weight.data = torch.zeros(4, 4, device="xla")' in after


# -------------------------------------------------------------------- arguments that are keywords today


def test_async_argument_of_older_torch() -> None:
    """The rest of the file is ported with it; texts and comments stay."""
    before = dedent(
        """\
        import torch

        model = torch.nn.Linear(4, 4).cuda()
        text = "async=True"
        y = torch.ones(4).cuda(async = True)  # async=True
        x = (torch.ones(4)
             .cuda(0, async=True))
        """
    )
    after = dedent(
        """\
        import torch
        import torch_xla

        device = torch_xla.device()

        model = torch.nn.Linear(4, 4).to(device)
        text = "async=True"
        y = torch.ones(4).to(device, non_blocking = True)  # async=True
        x = (torch.ones(4)
             .to(device, non_blocking=True))
        """
    )
    assert port(before, select=(*FAMILY, "TPU025")).text == after


@pytest.mark.parametrize("call", ["send(x, async=True)", "x.cuda(async)", "x.cuda({async: True})", "x.cuda(async=)"])
def test_other_uses_of_a_keyword_are_no_python(call: str) -> None:
    text = f"import torch\nx = torch.ones(4).cuda(async=True)\n{call}\n"
    result = lint(SourceFile.from_text(text), Settings(fix=True, unsafe_fixes=True), CATALOGUE)
    assert [finding.code for finding in result.findings] == ["invalid-syntax"]
    assert result.text == text


def test_number_that_a_function_takes_for_its_device() -> None:
    """Where the function may choose another one itself, what it is given is rewritten."""
    becomes(
        """
        import torch

        def train(model, x, device=None):
            if device is None:
                device = torch.device("cuda")
            return model(x.to(device))

        def count(device=None):
            return device + 1

        def work(model, x):
            train(model, x, device=0)
            train(model, x, device="cpu")
            count(device=0)
        """,
        """
        import torch_xla

        def train(model, x, device=None):
            if device is None:
                device = torch_xla.device()
            return model(x.to(device))

        def count(device=None):
            return device + 1

        def work(model, x):
            train(model, x, device=torch_xla.device())
            train(model, x, device="cpu")
            count(device=0)
        """,
    )


# -------------------------------------------------------------------- texts that nothing takes for a device


@pytest.mark.parametrize(
    "chosen",
    [
        'where = "cuda:0" if torch.cuda.is_available() else "cpu"\n',
        'where = "cpu"\nif torch.cuda.is_available():\n    where = "cuda"\n    print("a GPU")\n',
        'use_gpu = torch.cuda.is_available()\nwhere = f"cuda:{rank}" if use_gpu else "cpu"\n',
        'model = load("ViT", "cuda" if torch.cuda.is_available() else "cpu")\n',
        'def choose():\n    if not torch.cuda.is_available():\n        return "cpu"\n    return "cuda"\n',
        'class Own:\n    gpu = torch.cuda.is_available()\n    where = "cuda" if gpu else "cpu"\n',
    ],
)
def test_question_stays_with_a_text_of_cuda_that_stays(chosen: str) -> None:
    """Without it the text would ask for a GPU wherever it goes; what else chooses a device in the file is ported."""
    text = f"import torch\n\n{chosen}"
    used = 'device = torch.device("cuda" if torch.cuda.is_available() else "cpu")\nx = torch.ones(3).to(device)\n'
    result = port(text + used)
    assert result.text == text.replace("torch\n", "torch\nimport torch_xla\n", 1) + (
        "device = torch_xla.device()\nx = torch.ones(3).to(device)\n"
    )
    told = [finding for finding in port(text, unsafe=False).findings if finding.code == "TPU001"]
    assert [(finding.fix, finding.help != "") for finding in told] == [(None, True)]


def test_question_goes_that_decides_more_than_a_text() -> None:
    becomes(
        """
        import torch

        if torch.cuda.is_available():
            where = "cuda"
            x = torch.ones(3).cuda()
        """,
        """
        import torch
        import torch_xla

        device = torch_xla.device()

        where = "cuda"
        x = torch.ones(3).to(device)
        """,
    )


def test_device_of_a_library_without_xla_stays_with_its_question() -> None:
    text = """
        from faster_whisper import WhisperModel
        import torch

        first = WhisperModel("small", "cuda" if torch.cuda.is_available() else "cpu")
        second = WhisperModel("small", device="cuda" if torch.cuda.is_available() else "cpu")
        """
    stays(text)
    assert port(dedent(text)).findings == ()


def test_text_that_an_item_or_a_field_hands_on_is_a_device() -> None:
    becomes(
        """
        import torch

        conf = {"where": "cpu", "name": "cuda"}
        if torch.cuda.is_available():
            conf["where"] = "cuda"
        x = torch.ones(3).to(conf["where"])
        if conf["where"] == "cuda" and conf["name"] == "cuda":
            x = x + 1


        class Own:
            there = "cuda" if torch.cuda.is_available() else "cpu"
            other = "cuda"


        y = torch.ones(3, device=Own.there)
        print(Own.other, Own().there)
        """,
        """
        import torch
        import torch_xla  # noqa: F401 - tells torch of the device xla

        conf = {"where": "cpu", "name": "cuda"}
        conf["where"] = "xla"
        x = torch.ones(3).to(conf["where"])
        if conf["where"] == "xla" and conf["name"] == "cuda":
            x = x + 1


        class Own:
            there = "xla"
            other = "cuda"


        y = torch.ones(3, device=Own.there)
        print(Own.other, Own().there)
        """,
    )


def test_device_that_is_compared_with_an_object() -> None:
    becomes(
        """
        import torch

        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


        def seed(number, where):
            if device == torch.device("cuda"):
                print(number)
            if torch.device("cuda:0") != device:
                print("host")
            if where == torch.device("cuda"):
                print("a text is no device, and has no type")
        """,
        """
        import torch
        import torch_xla

        device = torch.device("xla")


        def seed(number, where):
            if device.type == "xla":
                print(number)
            if "xla" != device.type:
                print("host")
            if where == torch_xla.device():
                print("a text is no device, and has no type")
        """,
    )


def test_a_report_of_what_there_is_is_right() -> None:
    report = """
        import torch


        def describe():
            found = {"cuda": torch.version.cuda, "available": torch.cuda.is_available()}
            if not torch.cuda.is_available() and found["cuda"] is not None:
                found["cuda"] = "none"
            return found
        """
    stays(report)
    moved = dedent(report) + "\n\nmodel = torch.nn.Linear(2, 2)\nif torch.cuda.is_available():\n    model.cuda()\n"
    assert port(moved).text != moved


# -------------------------------------------------------------------- one of several names


def test_a_name_chosen_among_gpus_is_the_device() -> None:
    """It stayed `cuda:0` where the first name had been ported, and the port failed with a number given."""
    becomes(
        """
        import sys
        import torch
        from torch import nn

        name = "cuda:0"
        if len(sys.argv) > 1:
            name = ["cuda:0", "cuda:1"][int(sys.argv[1])]
        device = torch.device(name if torch.cuda.is_available() else "cpu")
        model = nn.Linear(2, 2).to(device)
        model.to(torch.device(("cpu", "cuda")[int(sys.argv[2])]))
        """,
        """
        import sys
        import torch
        import torch_xla  # noqa: F401 - tells torch of the device xla
        from torch import nn

        name = "xla"
        if len(sys.argv) > 1:
            name = ["xla", "xla"][int(sys.argv[1])]
        device = torch.device(name)
        model = nn.Linear(2, 2).to(device)
        model.to(torch.device(("cpu", "xla")[int(sys.argv[2])]))
        """,
    )


@pytest.mark.parametrize(
    "use",
    [
        'print(["cuda:0", "cuda:1"][int(sys.argv[1])])',  # shown only
        'way = ["cuda", "triton"][int(sys.argv[1])]\nmodel = nn.Linear(2, 2).to(way)',  # ways to compute
        'first, second = ["cuda", "cpu", "mps"][0:2]\nprint(first, second)',  # no choice of one
    ],
)
def test_a_word_chosen_among_others_is_no_device(use: str) -> None:
    stays(f"import sys\nimport torch\nfrom torch import nn\n\n{use}\n")


def test_a_model_on_two_gpus_is_not_put_on_one_device() -> None:
    """Each number is a place of its own, which a list that one is chosen from is not."""
    stays(
        """
        import sys
        import torch
        from torch import nn

        first = nn.Linear(2, 2).to("cuda:0")
        second = nn.Linear(2, 2).to("cuda:1")
        third = nn.Linear(2, 2).to(["cuda:2", "cuda:3"][int(sys.argv[1])])
        """
    )


# -------------------------------------------------------------------- numbers of GPUs


def test_the_number_that_a_replica_is_given_is_a_gpu() -> None:
    """`device_ids=[one]` goes, and `.to(one)` was left: it means `cuda:1`."""
    becomes(
        """
        import torch
        from torch.nn.parallel import DistributedDataParallel as DDP

        def train(rank, pool, rows):
            one = pool[rank]
            model = DDP(torch.nn.Linear(4, 2).to(one), device_ids=[one])
            return model(rows.to(one))
        """,
        """
        import torch
        import torch_xla
        from torch.nn.parallel import DistributedDataParallel as DDP

        def train(rank, pool, rows):
            one = pool[rank]
            model = DDP(torch.nn.Linear(4, 2).to(torch_xla.device()), device_ids=[one])
            return model(rows.to(torch_xla.device()))
        """,
    )


@pytest.mark.parametrize(
    "lines",
    [
        "one, other = pool[rank], pool[0]\n    model = DDP(model, device_ids=[other])",  # of a tuple: not followed
        "one, other = pool[rank], rank\n    model = DDP(model, device_ids=[pool[0]])",
        "one = pool[rank]\n    model = DDP(model)",
        "one = place(rank)\n    model = DDP(model, device_ids=[one])",  # may be a device that is chosen elsewhere
        "one = pool[rank]\n    model = DDP(model, device_ids=[one])\n    one = other_place()",
    ],
)
def test_what_no_replica_is_given_may_be_anything(lines: str) -> None:
    stays(
        "from torch.nn.parallel import DistributedDataParallel as DDP\n\n"
        f"def train(rank, pool, rows, model):\n    {lines}\n    return model(rows.to(one))\n"
    )


def test_a_rank_that_is_below_0_when_not_told_is_a_number() -> None:
    """`torch.device(rank)` means `cuda:0`; it was left, as -1 was not taken for a number."""
    becomes(
        """
        import torch

        def place_of(rank=-1):
            if rank == -1:
                rank = 0
            return torch.device(rank)
        """,
        """
        import torch_xla

        def place_of(rank=-1):
            if rank == -1:
                rank = 0
            return torch_xla.device()
        """,
    )


def test_a_place_that_is_a_text_when_not_told_is_no_number() -> None:
    stays(
        """
        import torch

        def place_of(place=-1):
            if place == -1:
                place = default_place()
            return torch.device(place)
        """
    )
