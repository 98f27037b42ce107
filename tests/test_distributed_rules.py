"""Rules of the distributed family together, one by one, and in the traps of programs that start processes."""

from __future__ import annotations

import ast
import builtins
import textwrap
from typing import NamedTuple

import pytest

from tpulint.catalog import Catalogue, Rule, load
from tpulint.config import Settings
from tpulint.linter import lint
from tpulint.model import FileResult
from tpulint.selection import enabled
from tpulint.semantic import SemanticIndex
from tpulint.source import SourceFile

CATALOGUE = load()
FAMILY = tuple(rule for rule in CATALOGUE.rules if rule.category == "distributed")

SPAWN_SCRIPT = '''\
import argparse
import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


def setup(rank, world_size):
    os.environ["MASTER_ADDR"] = "localhost"
    os.environ["MASTER_PORT"] = "12355"
    dist.init_process_group("nccl", rank=rank, world_size=world_size)


def train(rank, world_size, dataset, epochs):
    """One process."""
    setup(rank, world_size)
    model = DDP(nn.Linear(8, 4).to(rank), device_ids=[rank], output_device=rank)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    sampler = DistributedSampler(dataset, num_replicas=world_size, rank=rank)
    loader = DataLoader(dataset, batch_size=64 // world_size, sampler=sampler)
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        for x, y in loader:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x.to(rank)), y.to(rank))
            loss.backward()
            optimizer.step()
        dist.barrier()
    if rank == 0:
        torch.save(model.module.state_dict(), "model.pt")


def main():
    args = argparse.Namespace(epochs=2)
    world_size = torch.cuda.device_count()
    if world_size < 2:
        raise SystemExit("needs two GPUs")
    mp.spawn(train, args=(world_size, [], args.epochs), nprocs=world_size, join=True)


if __name__ == "__main__":
    main()
'''

NAMESPACE_SCRIPT = """\
import argparse

import torch
import torch.distributed as dist


def worker(gpu, args):
    args.rank = args.rank * args.ngpus + gpu
    dist.init_process_group(backend=args.backend, init_method=args.url, world_size=args.world_size, rank=args.rank)
    per_process = args.batch_size // args.world_size
    print(per_process, dist.get_world_size())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--backend", default="nccl")
    parser.add_argument("--url", default="tcp://localhost:1234")
    parser.add_argument("--batch-size", default=64, type=int)
    parser.add_argument("--rank", default=0, type=int)
    parser.add_argument("--nodes", default=1, type=int)
    args = parser.parse_args()
    args.ngpus = torch.cuda.device_count()
    args.world_size = args.ngpus * args.nodes
    if args.ngpus > 1:
        torch.multiprocessing.spawn(worker, nprocs=args.ngpus, args=(args,))
    else:
        worker(0, args)


main()
"""

XLA_SCRIPT = """\
import torch
import torch.nn as nn
import torch_xla
import torch_xla.core.xla_model as xm
import torch_xla.distributed.parallel_loader as pl
from torch.utils.data import DataLoader

device = torch_xla.device()


def train(index, dataset):
    model = nn.Linear(8, 4).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = DataLoader(dataset, batch_size=8, shuffle=True, drop_last=True)
    feed = pl.MpDeviceLoader(loader, device)
    print(len(feed.dataset))
    for epoch in range(2):
        for x, y in feed:
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
    if xm.is_master_ordinal():
        xm.save(model.state_dict(), "model.pt")


if __name__ == "__main__":
    torch_xla.launch(train, args=([],))
"""

SCRIPTS = {"spawn": SPAWN_SCRIPT, "namespace": NAMESPACE_SCRIPT, "xla": XLA_SCRIPT}


class Ordered(NamedTuple):
    """A catalogue that runs its rules in the order given."""

    rules: tuple[Rule, ...]

    def select(self, settings: Settings) -> tuple[Rule, ...]:
        return tuple(rule for rule in self.rules if rule in enabled(self.rules, settings))


def fixed(text: str, catalogue: Catalogue | Ordered = CATALOGUE, codes: tuple[str, ...] = ("TPU6",)) -> FileResult:
    settings = Settings(select=codes, preview=True, fix=True, unsafe_fixes=True)
    result = lint(SourceFile.from_text(text, "script.py"), settings, catalogue)  # type: ignore[arg-type]
    assert result.error == ""
    return result


def found(text: str, *codes: str) -> list[str]:
    result = lint(SourceFile.from_text(text, "script.py"), Settings(select=codes, preview=True), CATALOGUE)
    return [finding.code for finding in result.findings]


def undefined(text: str) -> set[str]:
    """Names that are read and never bound: what a fix that is not whole leaves behind."""
    index = SemanticIndex(SourceFile.from_text(text), ast.parse(text))
    names = index.names
    read = [node for node in index.tree.names if isinstance(node.ctx, ast.Load) and not hasattr(builtins, node.id)]
    return {node.id for node in read if names.find(node.id, names.scope_of(node)) is None} - {"__name__"}


@pytest.mark.parametrize("name", SCRIPTS)
def test_nothing_is_left_undefined(name: str) -> None:
    assert undefined(SCRIPTS[name]) == set()
    assert undefined(fixed(SCRIPTS[name]).text) == set()


@pytest.mark.parametrize("rule", FAMILY, ids=lambda rule: rule.code)
@pytest.mark.parametrize("name", SCRIPTS)
def test_each_fix_is_whole_without_the_others(name: str, rule: Rule) -> None:
    result = fixed(SCRIPTS[name], codes=(rule.code,))
    assert undefined(result.text) == set()
    assert not [finding for finding in result.findings if finding.fix is not None]


@pytest.mark.parametrize("name", SCRIPTS)
def test_second_run_changes_nothing(name: str) -> None:
    once = fixed(SCRIPTS[name]).text
    assert once != SCRIPTS[name]
    assert fixed(once).text == once


@pytest.mark.parametrize("name", SCRIPTS)
def test_order_of_rules_does_not_matter(name: str) -> None:
    assert fixed(SCRIPTS[name], Ordered(FAMILY[::-1])).text == fixed(SCRIPTS[name], Ordered(FAMILY)).text


def test_script_that_spawns_is_ported() -> None:
    text = fixed(SPAWN_SCRIPT).text
    for line in (
        "def train(rank, dataset, epochs):\n"
        '    """One process."""\n'
        "    world_size = xr.world_size()\n"
        "    setup(rank, world_size)\n",
        '    dist.init_process_group("xla", init_method="xla://")\n',
        "DDP(nn.Linear(8, 4).to(rank), gradient_as_bucket_view=True)",
        "    args = argparse.Namespace(epochs=2)\n    torch_xla.launch(train, args=([], args.epochs))\n",
        '        xm.rendezvous("barrier")\n',
    ):
        assert line in text
    for gone in ("device_count", "nccl", "torch.multiprocessing", "needs two GPUs", "device_ids"):
        assert gone not in text
    assert found(text, "TPU6") == []


def test_namespace_gets_the_number_in_each_process() -> None:
    text = fixed(NAMESPACE_SCRIPT).text
    body = text[text.index("def worker") : text.index("def main")]
    # The rank of the first process of a machine is a multiple of the number as well, and must not become the number.
    assert "args.rank = xr" not in body
    assert body.index("args.ngpus = xr.local_device_count()") < body.index("args.rank = args.rank * args.ngpus + gpu")
    assert "args.world_size = xr.world_size()" in body
    assert 'add_argument("--backend", default="xla")' in text
    assert "    torch_xla.launch(worker, args=(args,))\n" in text
    assert "worker(0, args)" not in text


@pytest.mark.parametrize(
    ("name", "use", "asked"),
    [
        ("n_gpus_per_node", "print(64 // n_gpus_per_node)", "local_device_count"),
        ("n_gpus", "print(n_gpus * 3 + at)", "local_device_count"),
        ("n_gpus", "print(n_gpus * 3 + 1)", "world_size"),
        ("n_gpus_per_node", "print(DistributedSampler([], num_replicas=n_gpus_per_node, rank=at))", "world_size"),
        ("n_gpus_per_node", "print(DistributedSampler([], n_gpus_per_node, at))", "world_size"),
    ],
)
def test_the_number_of_gpus_of_one_machine_of_several(name: str, use: str, asked: str) -> None:
    text = f"""\
import torch
import torch.multiprocessing as mp
from torch.utils.data.distributed import DistributedSampler

def train(at, {name}):
    {use}

if __name__ == "__main__":
    mp.spawn(train, nprocs=torch.cuda.device_count(), args=(torch.cuda.device_count(),))
"""
    assert f"    {name} = xr.{asked}()\n    {use}\n" in fixed(text).text


def test_xla_script_trains_one_model_on_shared_out_samples() -> None:
    text = fixed(XLA_SCRIPT).text
    for line in (
        'device = torch.device("xla")\n',
        "sampler=DistributedSampler(dataset, num_replicas=xr.world_size(), rank=xr.global_ordinal(), shuffle=True)",
        "        loader.sampler.set_epoch(epoch)\n        for x, y in feed:\n",
        "            xm.optimizer_step(optimizer)\n",
        "    print(len(loader.dataset))\n",
        # The device loader ends every step, so nothing is pending under this condition.
        '    if xm.is_master_ordinal():\n        xm.save(model.state_dict(), "model.pt")\n',
    ):
        assert line in text


def spawn_with(function: str, start: str) -> str:
    """A script with a launched function and some lines that start it."""
    return "import torch\nimport torch.multiprocessing as mp\n" + textwrap.dedent(function) + textwrap.dedent(start)


def test_parameter_stays_where_the_function_is_called_too() -> None:
    text = fixed(
        spawn_with(
            """
            def train(rank, world_size):
                print(rank, world_size)
            """,
            """
            if distributed:
                mp.spawn(train, args=(torch.cuda.device_count(),), nprocs=torch.cuda.device_count())
            else:
                train(0, 1)
            """,
        )
    ).text
    assert "def train(rank, world_size):\n    world_size = xr.world_size()\n" in text
    assert "torch_xla.launch(train, args=(torch.cuda.device_count(),))" in text
    assert "train(0, 1)" in text


def test_number_is_asked_behind_the_join_where_torchrun_may_call() -> None:
    """Asked before, the runtime would answer 1, and remember it."""
    text = fixed(
        spawn_with(
            """
            import torch.distributed as dist


            def train(gpu, count, args):
                if args.distributed:
                    dist.init_process_group("nccl", init_method="env://", world_size=count, rank=gpu)
                print(64 // count)
            """,
            """
            if args.spawn:
                mp.spawn(train, args=(torch.cuda.device_count(), args), nprocs=torch.cuda.device_count())
            else:
                train(args.gpu, 1, args)
            """,
        )
    ).text
    assert 'init_method="xla://")\n        count = xr.world_size()\n' in text


@pytest.mark.parametrize(
    "start",
    [
        "mp.spawn(train, args=args, nprocs=torch.cuda.device_count())",
        "mp.spawn(train, args=(*args,), nprocs=torch.cuda.device_count())",
        "mp.spawn(imported, args=(torch.cuda.device_count(),), nprocs=torch.cuda.device_count())",
        "context = mp.spawn(train, args=(1,), nprocs=torch.cuda.device_count(), join=False)",
        "mp.spawn(lambda rank, n: print(n), args=(torch.cuda.device_count(),), nprocs=torch.cuda.device_count())",
    ],
)
def test_start_that_cannot_be_followed_is_left(start: str) -> None:
    text = spawn_with(
        """
        def train(rank, world_size):
            print(rank, world_size)

        """,
        start + "\n",
    )
    assert found(text, "TPU601") == ["TPU601"]
    assert fixed(text, codes=("TPU601",)).text == text


@pytest.mark.parametrize(
    ("guard", "left"),
    [
        ("if count > 1 and not distributed:\n    sys.exit(1)\n", "if count > 1 and not distributed:"),
        ("if not count <= 1:\n    raise SystemExit\n", "if not count <= 1:"),
        ("if not count:\n    raise SystemExit\n", ""),
        ("if count < 2 or not distributed:\n    sys.exit(1)\n", "if not distributed:"),
    ],
)
def test_what_turns_several_gpus_down_is_not_taken_to_be_met(guard: str, left: str) -> None:
    text = fixed(
        spawn_with(
            """
            import sys


            def train(rank, count):
                print(rank, count)


            count = torch.cuda.device_count()
            """,
            f"{guard}mp.spawn(train, args=(count,), nprocs=count)\n",
        )
    ).text
    assert "torch_xla.launch(train" in text
    conditions = [line for line in text.splitlines() if line.startswith("if ") and "__main__" not in line]
    assert conditions == ([left] if left else [])


def test_branch_that_starts_the_processes_and_leaves_is_taken() -> None:
    text = fixed(
        spawn_with(
            """
            def train(rank, count):
                print(rank, count)


            def start(count):
                mp.spawn(train, args=(count,), nprocs=count)


            def main():
                count = torch.cuda.device_count()
                if count > 1:
                    start(count)
                    return
                train(0, 1)
            """,
            "",
        )
    ).text
    assert "if " not in text and "    start()\n" in text


def test_number_for_variadic_function_is_left() -> None:
    text = spawn_with(
        """
        def train(rank, *rest):
            print(rank, rest)

        """,
        "mp.spawn(train, args=(torch.cuda.device_count(),), nprocs=torch.cuda.device_count())\n",
    )
    assert found(text, "TPU601") == ["TPU601"]
    assert fixed(text, codes=("TPU601",)).text == text


@pytest.mark.parametrize(
    ("joined", "other", "told"),
    [
        ('dist.init_process_group("nccl", rank=rank, world_size=rest[0])', "", True),
        ('dist.init_process_group("gloo", rank=rank, world_size=rest[0])', "", False),
        ('dist.init_process_group("xla", init_method="xla://")', "", True),
        ('dist.init_process_group("xla", init_method="xla://")', "torch_xla.launch(train, args=(1,))", False),
    ],
)
def test_processes_of_a_group_of_xla_that_nothing_of_it_starts(joined: str, other: str, told: bool) -> None:
    text = (
        f"import torch.distributed as dist\nimport torch.multiprocessing as mp\nimport torch_xla\n\n"
        f"def train(rank, *rest):\n    join(rank, *rest)\n\ndef join(rank, *rest):\n    {joined}\n\n"
        f"if __name__ == '__main__':\n    numbers = (2,)\n    mp.spawn(train, numbers, nprocs=2)\n    {other}\n"
    )
    result = fixed(text)
    assert ("TPU601" in [finding.code for finding in result.findings]) is told


@pytest.mark.parametrize(
    ("named", "backend", "is_device"),
    [
        ("kind = 'nccl'", "kind", False),
        ("dist_backend = 'nccl'", "dist_backend", False),
        ("backend = 'xla'", "", False),  # another file joins
        ("device = 'xla'", "device", True),
        ("place = 'xla'", "", True),
    ],
)
def test_the_name_of_a_backend_is_no_device(named: str, backend: str, is_device: bool) -> None:
    joined = f"dist.init_process_group({backend}, init_method='xla://')" if backend else ""
    moved = f"{named}\n{joined}\nnet = nn.Linear(4, 4).cuda()\n"
    text = f"import torch.distributed as dist\nfrom torch import nn\n\n{moved}"
    result = fixed(text, codes=("TPU0", "TPU6"))
    assert (f".to({named.split()[0]})" in result.text) is is_device, result.text
    owner = f"class Work:\n    def __init__(self):\n        self.{named}\n        self.net = nn.Linear(4, 4).cuda()\n"
    result = fixed(f"from torch import nn\n\n{owner}", codes=("TPU0",))
    assert (f".to(self.{named.split()[0]})" in result.text) is (is_device), result.text


def test_number_handed_over_twice() -> None:
    text = fixed(
        spawn_with(
            """
            def train(rank, world_size, gpus, epochs):
                print(rank, world_size // gpus, epochs)

            """,
            """
            n = torch.cuda.device_count()
            mp.spawn(train, args=(n, n, 3), nprocs=n)
            """,
        )
    ).text
    assert "def train(rank, epochs):\n    world_size = xr.world_size()\n    gpus = xr.world_size()\n" in text
    assert "torch_xla.launch(train, args=(3,))\n" in text


@pytest.mark.parametrize(
    ("made", "handed", "is_for_none"),
    [
        ("parts = [data[i::n] for i in range(n)]", "(parts,)", True),
        ("parts = split(data, n)", "(parts, 3)", True),
        ("count = max(n, 1)\nparts = split(data, parts=count)", "(parts,)", False),  # 1, and it is not known as 0
        ("pass", "(split(data, torch.cuda.device_count()),)", True),
        ("print(split(data, n))", "(data,)", False),
        ("size = 64 // n\nparts = split(data, size)", "(parts,)", False),  # the division is told
        ("parts = split(data, 4)", "(parts, n)", False),  # the processes ask for the number
    ],
)
def test_parts_that_are_made_for_as_many_processes_as_there_are_gpus(made: str, handed: str, is_for_none: bool) -> None:
    """The parent cannot ask for the number of chips, and what it makes is handed to other processes than it thinks."""
    handed_to = "parts, other" if handed in ("(parts, 3)", "(parts, n)") else "parts"
    start = f"n = torch.cuda.device_count()\n{made}\nmp.spawn(train, args={handed}, nprocs=n)\n"
    text = spawn_with(f"\ndef train(rank, {handed_to}):\n    print(rank, {handed_to})\n\n", start)
    result = fixed(text, codes=("TPU601", "TPU605"))
    assert ("torch_xla.launch(" in result.text) is not is_for_none, result.text
    assert any("is made for so many" in finding.message for finding in result.findings) is is_for_none


SCALED = """
def train(gpu, n, args):
    args.rank = args.rank * n + gpu
    dist.init_process_group("nccl", init_method=args.url, world_size=args.world_size, rank=args.rank)
    print(args.lr)

"""


@pytest.mark.parametrize(
    ("made", "named", "moved"),
    [
        ("args.lr = args.lr * args.world_size", True, True),
        ("args.lr *= args.world_size", True, True),
        ("args.lr = args.lr * n", True, False),  # of a variable that the process does not get
        ("args.lr = args.lr * args.world_size\nlog(args.lr)", True, False),
        ("args.lr = scale * args.world_size", True, False),
        ("args.lr = args.lr * args.world_size  # of all", True, False),
        ("if n > 1:\n    args.lr = args.lr * args.world_size", False, False),
        ("args.lr = args.lr * 0.1", False, False),
        ("args.seed = args.seed * args.world_size", False, False),
    ],
)
def test_learning_rates_that_the_parent_multiplies_by_the_number_of_gpus(made: str, named: bool, moved: bool) -> None:
    """Through a variable that was multiplied before: the processes know the number, the parent does not."""
    counted = "n = torch.cuda.device_count()\nargs.world_size = n * args.world_size\n"
    text = spawn_with(SCALED, f"{counted}{made}\nmp.spawn(train, nprocs=n, args=(n, args))\n")
    assert ("TPU605" in [one.code for one in fixed(text, codes=("TPU605",)).findings]) is named
    result = fixed(text, codes=("TPU601", "TPU602", "TPU605"))
    assert result.text.count(made.splitlines()[-1].strip()) == 1
    assert (f"    args.world_size = xr.world_size()\n    {made}\n" in result.text) is moved, result.text


def test_what_is_multiplied_in_one_branch_may_be_more_than_none() -> None:
    counted = "n = torch.cuda.device_count()\nif n:\n    args.world_size = n * args.world_size\n"
    made = "args.lr = args.lr * args.world_size\nmp.spawn(train, nprocs=n, args=(n, args))\n"
    assert fixed(spawn_with(SCALED, counted + made), codes=("TPU605",)).findings == ()


def test_shadowed_name_of_the_runtime_is_avoided() -> None:
    text = fixed(
        spawn_with(
            """
            def train(rank, world_size, xr):
                print(rank, world_size, xr)

            """,
            "mp.spawn(train, args=(torch.cuda.device_count(), 3), nprocs=torch.cuda.device_count())\n",
        )
    ).text
    assert "import torch_xla.runtime as xr_\n" in text
    assert "def train(rank, xr):\n    world_size = xr_.world_size()\n" in text


def test_comment_beside_a_removed_argument_keeps_the_fix_from_being_safe() -> None:
    text = spawn_with(
        """
        def train(rank):
            print(rank)

        """,
        """
        mp.spawn(
            train,
            nprocs=torch.cuda.device_count(),  # one for each GPU
            join=True,
        )
        """,
    )
    safe = lint(SourceFile.from_text(text), Settings(select=("TPU601",), fix=True), CATALOGUE)
    assert safe.text == text
    assert "torch_xla.launch(" in fixed(text, codes=("TPU601",)).text


def test_windows_line_ends_survive() -> None:
    text = fixed(SPAWN_SCRIPT.replace("\n", "\r\n")).text
    assert text.replace("\r\n", "\n") == fixed(SPAWN_SCRIPT).text
    assert text.count("\r\n") == text.count("\n")


def test_runtime_is_not_asked_in_the_parent() -> None:
    """No fix may bring a question to the runtime in front of the launch, where it would end the launch."""
    for script in SCRIPTS.values():
        assert found(fixed(script).text, "TPU611") == []


@pytest.mark.parametrize(
    ("condition", "is_on_rank"),
    [
        ("rank == 0", True),
        ("not rank", True),
        ("is_main", True),
        ("dist.get_rank() == 0 and epoch % 5 == 0", True),
        ("xm.is_master_ordinal(local=False)", True),
        ("int(os.environ['LOCAL_RANK']) == 0", True),
        ("epoch % 5 == 0", False),
        ("world_size > 1", False),
        ("model is not None", False),
    ],
)
def test_condition_on_the_rank_is_known(condition: str, is_on_rank: bool) -> None:
    text = f"""\
import os
import torch.distributed as dist
import torch_xla
import torch_xla.core.xla_model as xm
import torch_xla.runtime as xr


def train(rank, epoch):
    is_main = rank == 0
    world_size = xr.world_size()
    model = build(rank)
    if {condition}:
        total = xm.mesh_reduce("total", 1.0, sum)


torch_xla.launch(train, args=(1,))
"""
    assert found(text, "TPU608") == (["TPU608"] if is_on_rank else [])


def test_branch_for_several_gpus_goes_with_the_choice_of_the_device() -> None:
    """Behind that choice the file names XLA, and what asks for GPUs would look as if it were kept for CUDA."""
    text = (
        "import torch\n"
        "from torch import nn\n"
        "device = torch.device('cuda') if torch.cuda.is_available() else torch.device('cpu')\n"
        "net = nn.Linear(3, 4)\n"
        "if torch.cuda.device_count() > 1:\n"
        "    net = nn.DataParallel(net)\n"
        "net = net.to(device)\n"
    )
    result = fixed(text, codes=("TPU0", "TPU6"))
    assert "torch_xla.device()" in result.text
    assert "DataParallel" not in result.text


@pytest.mark.parametrize("device", ["args.device", "self.device", "x.device"])
def test_inputs_that_are_moved_already_are_not_moved_again(device: str) -> None:
    """`x.to(args.device)` in front of the wrapped model: where that is, is said in another place."""
    text = (
        "import torch\n"
        "from torch.nn.parallel import DistributedDataParallel\n"
        "model = DistributedDataParallel(model, device_ids=[rank])\n"
        f"batch = torch.zeros(3).to({device})\n"
        "model(batch)\n"
    )
    result = lint(SourceFile.from_text(text), Settings(fix=True, unsafe_fixes=True, select=("TPU603",)), CATALOGUE)
    assert "device_ids" not in result.text
    assert "model(batch)\n" in result.text


def test_list_of_views_that_the_wrapper_moved() -> None:
    """A list has no `to`: its tensors are moved, as the wrapper did."""
    text = (
        "import torch\n"
        "from torch.nn.parallel import DistributedDataParallel\n"
        "model = DistributedDataParallel(model.cuda(), device_ids=[rank])\n"
        "loader = torch.utils.data.DataLoader(dataset, batch_size=4)\n"
        "for number, views in loader:\n"
        "    output = model(views)\n"
        "    samples = views[0].size(0)\n"
    )
    settings = Settings(fix=True, unsafe_fixes=True, select=("TPU002", "TPU603"))
    result = lint(SourceFile.from_text(text), settings, CATALOGUE)
    assert "output = model([part.to(device) for part in views])\n" in result.text


def test_texts_of_a_batch_whose_images_are_moved_by_hand() -> None:
    """The wrapper moved tensors alone: captions are a list of texts, which has no `to`."""
    text = (
        "import torch\n"
        "from torch.nn.parallel import DistributedDataParallel\n"
        "model = DistributedDataParallel(model, device_ids=[args.gpu])\n"
        "loader = torch.utils.data.DataLoader(dataset, batch_size=4)\n"
        "def train(model, device):\n"
        "    for image, caption, weights in loader:\n"
        "        loss = model(image.to(device), caption, weights=weights.to(device))\n"
        "train(model, args.device)\n"
    )
    result = lint(SourceFile.from_text(text), Settings(fix=True, unsafe_fixes=True, select=("TPU603",)), CATALOGUE)
    assert "device_ids" not in result.text
    assert "model(image.to(device), caption, weights=weights.to(device))\n" in result.text


def test_batches_that_may_be_dicts_are_not_moved() -> None:
    text = (
        "import torch\n"
        "from torch.nn.parallel import DistributedDataParallel\n"
        "model = DistributedDataParallel(model, device_ids=[args.gpu])\n"
        "for data, step in zip(torch.utils.data.DataLoader(dataset), range(9)):\n"
        "    loss = sum(model(data).values())\n"
    )
    result = lint(SourceFile.from_text(text), Settings(fix=True, unsafe_fixes=True, select=("TPU603",)), CATALOGUE)
    assert "device_ids" not in result.text
    assert "model(data)" in result.text


OPTION = """
import argparse
import torch
import torch.distributed as dist

parser = argparse.ArgumentParser()
parser.add_argument("--dist-backend", default="nccl")
args = parser.parse_args()
device = torch.device({device})
if device.type == {device}:
    dist.init_process_group(backend=args.dist_backend, init_method=args.url, world_size=args.size, rank=args.rank)
"""


@pytest.mark.parametrize("device", ['"cuda"', '"xla"'])
def test_default_backend_of_an_option(device: str) -> None:
    """A device of XLA beside it does not say that the backend is another."""
    settings = Settings(select=("TPU602",), preview=True, fix=True, unsafe_fixes=True)
    result = lint(SourceFile.from_text(OPTION.format(device=device)), settings, CATALOGUE)
    assert 'default="xla")' in result.text
    assert 'init_process_group(backend=args.dist_backend, init_method="xla://")' in result.text


@pytest.mark.parametrize(
    ("offered", "expected"),
    [
        ('choices=["gloo", "mpi", "nccl"]', 'choices=["gloo", "mpi", "xla"]'),
        ("choices=('nccl', 'gloo'), help='(default: nccl)'", "choices=('xla', 'gloo'), help='(default: xla)'"),
        ("help='nccl is the fastest'", "help='nccl is the fastest'"),
        ("choices=NCCL", "choices=NCCL"),
    ],
)
def test_backends_that_an_option_offers(offered: str, expected: str) -> None:
    text = OPTION.format(device='"cuda"').replace('default="nccl")', f'default="nccl", {offered})')
    settings = Settings(select=("TPU602",), preview=True, fix=True, unsafe_fixes=True)
    result = lint(SourceFile.from_text(text), settings, CATALOGUE)
    assert f'default="xla", {expected})' in result.text


def test_option_whose_help_knows_the_backend_of_xla() -> None:
    text = OPTION.format(device='"xla"').replace('default="nccl")', 'default="nccl", help="nccl, gloo or xla")')
    result = lint(SourceFile.from_text(text), Settings(select=("TPU602",), preview=True), CATALOGUE)
    assert result.findings == ()


CONFIGURED = """
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

def begin(args):
    torch.cuda.set_device(args.rank)
    dist.init_process_group(backend=args.ddp_backend, init_method=args.url, world_size=args.size, rank=args.rank)

def end():
    dist.barrier()
"""


@pytest.mark.parametrize(
    ("old", "new", "codes"),
    [
        ("", "", ["TPU602"]),
        ("args.ddp_backend", 'args["ddp_backend"]', ["TPU602"]),
        ("args.ddp_backend", "args.ddp_backend or 'gloo'", []),
        ("backend=args.ddp_backend, ", "**args.group, ", []),
        ("    torch.cuda.set_device(args.rank)\n", "", []),
        ("set_device(args.rank)", "is_available()", []),
        ("def end():\n", "def end(args):\n    use_npu = torch.npu or torch.mlu\n", []),
        ("args.ddp_backend", "ddp_backend", []),  # nobody knows what callers give
    ],
)
def test_helper_for_gpus_whose_backend_a_configuration_names(old: str, new: str, codes: list[str]) -> None:
    assert old in CONFIGURED
    assert found(CONFIGURED.replace(old, new) if old else CONFIGURED, "TPU602") == codes


@pytest.mark.parametrize(
    ("asked", "codes"),
    [('kind == "mps"', ["TPU603"]), ('kind == "xla"', []), ('kind == "xla" or kind == "hpu"', [])],
    ids=["other", "xla", "several"],
)
def test_library_for_several_backends_knows_what_it_does(asked: str, codes: list[str]) -> None:
    text = (
        "import torch_xla\n"
        "from torch.nn.parallel import DistributedDataParallel\n"
        "class Accelerator:\n"
        "    def prepare(self, model, kind):\n"
        f"        if {asked}:\n"
        "            return model.to(torch_xla.device())\n"
        "        return DistributedDataParallel(model, device_ids=[self.rank])\n"
    )
    assert found(text, "TPU603") == codes


SEVERAL_GPUS_OR_ONE = """\
import torch.multiprocessing as mp
from torch.cuda import device_count
from learner import train, train_in_process
def main(args):
    count = device_count()
    if count > 1:
        if args.batch_size % count != 0:
            raise ValueError(count)
        mp.spawn(train_in_process, args=(count, args), nprocs=count)
    else:
        train(args)
main(None)
"""


def test_branch_for_several_gpus_divides_by_no_zero() -> None:
    """Without GPUs the branch is left out, and the other one trains."""
    assert found(SEVERAL_GPUS_OR_ONE, "TPU605") == []
    result = lint(SourceFile.from_text(SEVERAL_GPUS_OR_ONE), Settings(select=("TPU601",)), CATALOGUE)
    assert ["this branch is left out" in finding.message for finding in result.findings] == [True]


@pytest.mark.parametrize("change", ["args.lr = args.lr * 0.5", "args.lr = args.lr * args.world_size"])
def test_option_that_is_changed_by_itself_is_followed_to_an_end(change: str) -> None:
    text = f"""\
import torch
import torch.multiprocessing as mp


def worker(rank, args):
    model = torch.nn.Linear(10, 3).cuda()


def main(args):
    args.world_size = torch.cuda.device_count()
    {change}
    mp.spawn(worker, args=(args,), nprocs=args.world_size)
"""
    found = {finding.code for finding in lint(SourceFile.from_text(text), Settings(), CATALOGUE).findings}
    assert "TPU601" in found
    assert "invalid-syntax" not in found


# -------------------------------------------------------------------- seeds

SEEDED = """\
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn

TOP


def seed(number):
    torch.manual_seed(number)
    CUDA


def worker(rank, world_size):
    dist.init_process_group("nccl", rank=rank, world_size=world_size)
    torch.cuda.set_device(rank)
    seed(3)
    model = nn.Sequential(nn.Linear(8, 4), nn.Dropout(0.5)).cuda(rank)
    print(model(torch.randn(4, 8).cuda(rank)))


if __name__ == "__main__":
    START
"""
SPAWNED = "mp.spawn(worker, args=(1,), nprocs=1)"


@pytest.mark.parametrize(
    ("top", "cuda", "start", "seeds"),
    [
        ("torch.cuda.manual_seed(1)", "torch.cuda.manual_seed(number)", SPAWNED, 1),
        ("", "torch.cuda.manual_seed(number)", f"torch.cuda.manual_seed(1)\n    {SPAWNED}", 1),
        ("", "torch.cuda.manual_seed(number)", f"seed(5)\n    {SPAWNED}", 0),
        ("", "", f"seed(5)\n    {SPAWNED}", 0),
        ("", "", SPAWNED, 1),
    ],
)
def test_seeds_start_no_runtime_in_front_of_the_launch(top: str, cuda: str, start: str, seeds: int) -> None:
    """What runs in the parent and in the processes stays: there, `torch.cuda.manual_seed` does nothing."""
    text = SEEDED.replace("TOP", top).replace("CUDA", cuda or "print(number)").replace("START", start)
    ported = fixed(text, codes=("TPU",)).text
    assert "torch_xla.launch(worker" in ported
    assert ported.count("torch_xla.manual_seed(") == seeds
    assert found(ported, "TPU611") == []


JOINING = """\
import torch
import torch.distributed as dist
import torch.nn as nn


def prepare():
    dist.init_process_group("nccl")
    INNER


def main():
    torch.cuda.manual_seed_all(1)
    BETWEEN
    prepare()
    model = nn.Sequential(nn.Linear(8, 4), nn.Dropout(0.5)).cuda()
    print(model(torch.randn(4, 8).cuda()))


main()
"""


@pytest.mark.parametrize(
    ("inner", "between", "moves"),
    [
        ("pass", "pass", True),
        ("pass", "torch.manual_seed(1)", True),
        ("pass", "torch.manual_seed(3)", False),
        ("torch.manual_seed(3)", "pass", False),
    ],
)
def test_a_seed_does_not_move_behind_another(inner: str, between: str, moves: bool) -> None:
    ported = fixed(JOINING.replace("INNER", inner).replace("BETWEEN", between), codes=("TPU0",)).text
    assert ("prepare()\n    torch_xla.manual_seed(1)" in ported) == moves
    assert ("torch.cuda.manual_seed_all(1)" in ported) != moves


@pytest.mark.parametrize(
    ("set_up", "seed", "call", "moves"),
    [
        ('dist.init_process_group("nccl")', "1", "main()", True),
        ('if os.environ:\n        dist.init_process_group("nccl")', "1", "if True:\n    main()", True),
        ("prepare()", "NUMBER", "main()", True),
        ("prepare()", "1", "torch.manual_seed(2)\nmain()", False),
        ("torch.manual_seed(2)\n    prepare()", "1", "main()", False),
        ("prepare()", "1", "main()\nmain()", False),
        ("NUMBER = 2\n    prepare()", "NUMBER", "main()", False),
        ('for _ in range(2):\n        pass\n    dist.init_process_group("nccl")', "1", "main()", False),
    ],
)
def test_a_seed_of_the_module_moves_into_the_one_function_that_joins(
    set_up: str, seed: str, call: str, moves: bool
) -> None:
    text = JOINING.replace("INNER", "pass").replace("    BETWEEN\n", "")
    text = text.replace("    torch.cuda.manual_seed_all(1)\n", "").replace(
        "import torch\n", "import os\nimport torch\n", 1
    )
    text = text.replace(
        "def main", f"NUMBER = 1\nif torch.cuda.is_available():\n    torch.cuda.manual_seed_all({seed})\n\n\ndef main"
    )
    text = text.replace("    prepare()\n", f"    {set_up}\n").replace("\nmain()\n", f"\n{call}\n")
    ported = fixed(text, codes=("TPU0",)).text
    assert (f"\n    torch_xla.manual_seed({seed})\n    model" in ported) == moves
    assert (f"torch.cuda.manual_seed_all({seed})" in ported) != moves


@pytest.mark.parametrize(("count", "is_told"), [("torch.cuda.device_count()", True), ("len(parts)", False)])
def test_number_of_gpus_beside_another_value(count: str, is_told: bool) -> None:
    text = f"import os\nimport torch\n\nrank, count = int(os.environ['RANK']), {count}\nlocal = rank % count\n"
    result = lint(SourceFile.from_text(text), Settings(select=("TPU605",)), CATALOGUE)
    assert [finding.code for finding in result.findings] == ["TPU605"] * is_told
