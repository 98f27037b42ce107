"""Answers and classes that cross files: whether there is a GPU, what a registry holds, what a wrapper is given."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

from command import tpulint
from marked_files import agree

GAN = """\
    class GAN:
        def __init__(self, net, use_cuda):
            self.net = net
            self.use_cuda = use_cuda
            if self.use_cuda:
                self.net.cuda()  # TPU002
    """


def test_an_answer_that_a_class_of_another_file_is_given(tmp_path: Path) -> None:
    """What a library is given stays, as what only CUDA has does."""
    program = """\
    import torch
    from gan import GAN
    from torch.utils.data import DataLoader

    gan = GAN(torch.nn.Linear(8, 1), use_cuda=torch.cuda.is_available())  # TPU001
    loader = DataLoader(data, pin_memory=torch.cuda.is_available())
    """
    agree(tmp_path, "TPU001,TPU002", main=program, gan=GAN)


def test_classes_that_a_module_puts_into_a_dictionary(tmp_path: Path) -> None:
    """A class of its own that has a method called `cuda`, and is no module, is left to it."""
    learners = """\
    from q_learner import QLearner

    REGISTRY = {}

    REGISTRY["q"] = QLearner
    """
    learner = """\
    class QLearner:
        def __init__(self, net):
            self.net = net

        def cuda(self):
            self.net.cuda()  # TPU002
    """
    program = """\
    import torch
    from learners import REGISTRY as CHOICES

    net = torch.nn.Linear(4, 4)
    learner = CHOICES[args.learner](net)
    learner.cuda()
    net.cuda()  # TPU002
    """
    agree(tmp_path, "TPU002", main=program, learners=learners, q_learner=learner)


def test_a_wrapped_model_that_is_given_parts_of_a_batch(tmp_path: Path) -> None:
    program = dedent("""\
    import torch
    from torch import nn

    class Framework(nn.Module):
        def __init__(self, model, loader):
            super().__init__()
            self.model = model
            self.loader = loader
            self.parallel = nn.DataParallel(self.model)
            self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            self.cuda()

        def train_model(self):
            for data in self.loader:
                for i in range(len(data)):
                    data[i] = data[i].cuda()
                label, args = data[0], data[1:]
                loss = nn.functional.cross_entropy(self.parallel(*args), label)
                loss.backward()
                self.optimizer.step()
    """)
    (tmp_path / "main.py").write_text(program)
    answer = tpulint("--fix", "--unsafe-fixes", ".", cwd=tmp_path)
    text = (tmp_path / "main.py").read_text()
    assert "invalid Python" not in answer.out + answer.err
    assert "self.parallel = self.model" in text and "self.parallel(*args)" in text and "torch_xla.sync()" in text


def test_a_module_that_takes_the_version_apart_starts_no_runtime(tmp_path: Path) -> None:
    program = dedent("""\
    import torch
    import torch.distributed as dist

    MAJOR = int(torch.__version__.split(".")[0])

    class Value:
        def gather(self):
            return torch.tensor([1.0, 2.0], device="cuda")

    def start(args):
        dist.init_process_group(backend="nccl", init_method="env://")

    def mean(x):
        return torch.tensor(x).cuda()
    """)
    (tmp_path / "misc.py").write_text(program)
    tpulint("--fix", "--unsafe-fixes", ".", cwd=tmp_path)
    text = (tmp_path / "misc.py").read_text()
    assert "\ndevice = " not in text and "torch.tensor(x).to(torch_xla.device())" in text


def test_a_statement_stands_below_the_imports_of_all_that_it_uses(tmp_path: Path) -> None:
    """The flag of torch is set behind a block of imports that torch is not part of."""
    program = dedent("""\
    import os

    os.environ["OMP_NUM_THREADS"] = "1"
    with open("config.txt") as file:
        size = int(file.read())

    import torch
    from torch import nn

    model = nn.Linear(size, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in batches:
        model.cuda()
        loss = model(x.cuda()).mean()
        loss.backward()
        optimizer.step()
    """)
    (tmp_path / "main.py").write_text(program)
    tpulint("--fix", "--unsafe-fixes", ".", cwd=tmp_path)
    lines = (tmp_path / "main.py").read_text().splitlines()
    used = next(at for at, line in enumerate(lines) if line.startswith("torch.__future__"))
    assert used > lines.index("import torch")


def test_an_import_of_a_function_whose_name_means_something_else_later(tmp_path: Path) -> None:
    program = dedent("""\
    import torch

    def train(loader, model, optimizer):
        import torch_xla
        torch_xla = "taken"
        for x in loader:
            optimizer.zero_grad()
            model(x.cuda()).sum().backward()
            optimizer.step()
    """)
    (tmp_path / "main.py").write_text(program)
    assert "come to an end" not in tpulint("--fix", "--unsafe-fixes", ".", cwd=tmp_path).err
    assert "torch_xla_.sync()" in (tmp_path / "main.py").read_text()


def test_elements_of_a_dictionary_of_another_file_are_told_apart(tmp_path: Path) -> None:
    picking = """\
    class Greedy:
        def pick(self, info):
            if info["is_off"]:
                return 0
            if info["episode"] >= 3:
                return 1
            if info["values"].max() > 0:  # TPU103
                return 2
            return 3
    """
    program = """\
    import torch
    from picking import Greedy

    model = torch.nn.Linear(4, 2).to("xla")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    greedy = Greedy()
    for episode, x in enumerate(loader):
        values = model(x.to("xla"))
        print(greedy.pick({"values": values, "is_off": is_off, "episode": episode}))
        optimizer.zero_grad()
        values.sum().backward()
        optimizer.step()
    """
    agree(tmp_path, "TPU103", main=program, picking=picking)


def test_rank_that_a_function_of_another_file_moves_tensors_to(tmp_path: Path) -> None:
    """One that does something else with it may take it for a number."""
    placing = """\
    import torch

    def put(batch, rank, device):
        print(rank)
        return {name: x.to(device) if torch.is_tensor(x) else x for name, x in batch.items()}

    def put_first(batch, device):
        return batch if device > 0 else batch.to(device)
    """
    program = """\
    import torch
    from placing import put, put_first

    def work(rank: int, model, optimizer, loader):
        model.to(rank)  # TPU001
        for batch in loader:
            batch = put(batch, rank, device=rank)  # TPU001
            batch.update(put(batch, rank, rank))  # TPU001
            print(put_first(batch, rank))
            model(**batch).sum().backward()
            optimizer.step()
    """
    agree(tmp_path, "TPU001", main=program, placing=placing)


def test_wrapper_of_another_file_that_shares_out_batches_itself(tmp_path: Path) -> None:
    wrapper = """\
    import torch
    from torch.nn import DataParallel

    class StackedDataParallel(DataParallel):
        def scatter(self, inputs, kwargs, device_ids):
            return [[torch.stack(item) for item in inputs[0]]], [kwargs]
    """
    program = """\
    import torch
    from wrapper import StackedDataParallel

    net = StackedDataParallel(torch.nn.Linear(4, 2).to("xla"))  # TPU604
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for batch in loader:
        optimizer.zero_grad()
        net(batch).sum().backward()
        optimizer.step()
    """
    agree(tmp_path, "TPU604", main=program, wrapper=wrapper)
