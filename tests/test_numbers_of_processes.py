"""Functions that are launched and called directly, and told how many processes there are: 0 GPUs on a TPU machine."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import tpulint

PROGRAM = """\
import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def run(rank, world_size, size):
    is_shared = world_size > 1
    {join}
    net = torch.nn.Linear(4, 1).cuda(rank)
    print(net(torch.randn(size // world_size, 4).cuda(rank)).sum().item())


def main(alone=False):
    world_size = torch.cuda.device_count()
    if world_size == 1 or alone:
        run(0, 1, 64)
        {end}
    mp.spawn(run, args=(world_size, 64), nprocs=world_size)


if __name__ == "__main__":
    main()
"""
JOIN = 'dist.init_process_group("nccl", rank=rank, world_size=world_size)'


def ported(folder: Path, **given: str) -> tuple[str, str]:
    """The program after all fixes, and what is said of it then."""
    file = folder / "program.py"
    file.write_text(PROGRAM.format(**given))
    tpulint("check", "program.py", "--fix", "--unsafe-fixes", cwd=folder)
    return file.read_text(), tpulint("check", "program.py", "--output-format", "concise", cwd=folder).out


@pytest.mark.parametrize("test", ["is_shared", "world_size > 1", "rank >= 0 and is_shared"])
def test_a_number_that_decides_whether_to_join(tmp_path: Path, test: str) -> None:
    text, told = ported(tmp_path, join=f"if {test}:\n        {JOIN}", end="return")
    assert "def run(rank, world_size, size):\n    world_size = xr.world_size()\n    is_shared" in text
    assert "TPU611" not in told


@pytest.mark.parametrize("join", [JOIN, f"if rank >= 0:\n        {JOIN}"])
def test_a_number_that_is_asked_where_the_group_is_joined(tmp_path: Path, join: str) -> None:
    text, _ = ported(tmp_path, join=join, end="return")
    assert "def run(rank, world_size, size):\n    is_shared" in text
    assert 'init_method="xla://")' in text.replace("\n    world_size = xr.world_size()", "")
    assert "world_size = xr.world_size()" in text


@pytest.mark.parametrize(("end", "told"), [("return", False), ("raise SystemExit", False), ("print()", True)])
def test_what_leaves_in_front_of_a_launch(tmp_path: Path, end: str, told: bool) -> None:
    """A branch that ends with `return` never meets the launch behind it."""
    _, after = ported(tmp_path, join=f"if is_shared:\n        {JOIN}", end=end)
    assert ("TPU611" in after) is told, after


WORKERS = """\
import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def main(args):
    if args.url == "env://" and args.world_size == -1:
        args.world_size = int(os.environ["WORLD_SIZE"])
    {before}
    gpus = torch.cuda.device_count()
    if args.many:
        args.world_size = gpus * args.world_size
        {behind}
        mp.spawn(work, nprocs=gpus, args=(gpus, args))
    else:
        work(args.gpu, gpus, args)


def work(gpu, gpus, args):
    if args.is_shared:
        dist.init_process_group("nccl", init_method=args.url, world_size=args.world_size, rank=gpu)
        torch.distributed.barrier()
    net = torch.nn.Linear(4, 1).cuda(gpu)
    print(net(torch.randn(64 // args.world_size, 4).cuda(gpu)).sum().item())
"""
SHARED = "args.is_shared = args.world_size > 1"


@pytest.mark.parametrize("behind", [False, True])
def test_a_number_in_a_namespace_whose_test_is_made_before_it(tmp_path: Path, behind: bool) -> None:
    file = tmp_path / "program.py"
    file.write_text(WORKERS.format(before="pass" if behind else SHARED, behind=SHARED if behind else "pass"))
    tpulint("check", "program.py", "--fix", "--unsafe-fixes", cwd=tmp_path)
    asked = 'init_method="xla://")\n        args.world_size = xr.world_size()\n'
    assert (asked in file.read_text()) is not behind
    assert ("mp.spawn(" in file.read_text()) is behind  # 0 processes would not join: the launch is left as a whole
