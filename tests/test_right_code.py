"""Code that is right on XLA as it stands, in the forms that public training code for TPUs has."""

from __future__ import annotations

from textwrap import dedent

import pytest

from tpulint.catalog import load
from tpulint.config import Settings
from tpulint.linter import lint
from tpulint.model import Finding, Severity
from tpulint.source import SourceFile

CATALOGUE = load()


def found(text: str, *codes: str) -> tuple[Finding, ...]:
    """Findings of some rules, those in preview included."""
    source = SourceFile.from_text(dedent(text))
    return lint(source, Settings(select=codes or ("ALL",), preview=True), CATALOGUE).findings


# -------------------------------------------------------------------- step boundaries

LOADER_FROM_FUNCTION = """
    import torch
    import torch_xla
    import torch_xla.distributed.parallel_loader as pl

    def build(config, device):
        dataset = make(config)
        loader = torch.utils.data.DataLoader(dataset, batch_size=8, drop_last=True)
        loader = pl.MpDeviceLoader(loader, device)
        return dataset, {returned}

    def train(config):
        device = torch_xla.device()
        model = torch.nn.Linear(3, 3).to(device)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        dataset, loader = build(config, device)
        for x, y in loader:
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(model(x), y).backward()
            optimizer.step()
    """


def test_loader_that_a_function_returns_beside_others_sets_boundaries() -> None:
    assert not found(LOADER_FROM_FUNCTION.replace("{returned}", "loader"), "TPU301")
    assert found(LOADER_FROM_FUNCTION.replace("{returned}", "dataset"), "TPU301")


NEXT_BATCH = """
    import torch
    import torch_xla
    import torch_xla.distributed.parallel_loader as pl

    class Trainer:
        def __init__(self, model, dataset):
            self.device = torch_xla.device()
            self.model = torch.nn.Linear(3, 3).to(self.device)
            self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
            self.dataset = dataset

        def loader(self) -> {annotation}:
            return {made}

        def train(self, steps):
            loader = self.loader()
            batches = iter(loader)
            for step in range(steps):
                try:
                    x, y = next(batches)
                except StopIteration:
                    batches = iter(loader)
                    x, y = next(batches)
                self.optimizer.zero_grad()
                torch.nn.functional.mse_loss(self.model(x), y).backward()
                self.optimizer.step()
    """


@pytest.mark.parametrize(
    ("annotation", "made"),
    [
        ("pl.MpDeviceLoader", "make(self.dataset)"),
        ("object", "pl.MpDeviceLoader(make(self.dataset), self.device)"),
    ],
)
def test_taking_the_next_batch_of_a_device_loader_is_a_boundary(annotation: str, made: str) -> None:
    text = NEXT_BATCH.replace("{annotation}", annotation).replace("{made}", made)
    assert not found(text, "TPU301")


def test_taking_the_next_batch_of_another_loader_is_none() -> None:
    text = NEXT_BATCH.replace("{annotation}", "object").replace("{made}", "make(self.dataset)")
    assert found(text, "TPU301")


COMPILED = """
    import torch
    import torch_xla

    device = torch_xla.device()
    model = torch.nn.Linear(3, 3).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step(x, y):
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()

    {compiled}
    for x, y in loader:
        {call}(x.to(device), y.to(device))
    """


def test_whole_step_compiled_for_xla_runs_its_graphs_itself() -> None:
    compiled = COMPILED.replace("{compiled}", 'fast = torch.compile(step, backend="openxla")').replace("{call}", "fast")
    assert not found(compiled, "TPU301")
    assert found(COMPILED.replace("{compiled}", "").replace("{call}", "step"), "TPU301")


# -------------------------------------------------------------------- branches for other devices

BRANCHES = {
    "choice by an attribute called xla": """
        import torch
        import torch_xla

        def run(options, batch):
            device = torch_xla.device() if options.xla else "cuda"
            wait = torch_xla.sync if options.xla else torch.cuda.synchronize
            wait()
            return batch.to(device)
        """,
    "attribute that says CUDA and not XLA": """
        import torch

        class Trainer:
            def __init__(self, config):
                self.tpu = config.tpu
                self.cuda = torch.cuda.is_available() and not self.tpu

            def check(self):
                if self.cuda and torch.cuda.get_device_capability(0)[0] < 7:
                    print("old")
        """,
    "another member of the enumeration that has a member for XLA": """
        import torch
        from torch.distributed.fsdp import FullyShardedDataParallel

        def prepare(state, model):
            if state.kind == Kind.FSDP:
                model = FullyShardedDataParallel(model)
            elif state.kind == Kind.XLA:
                model.gpu_count = 0
            return model
        """,
    "class that is CUDA's by the end of its name": """
        import torch
        from .device_env import DeviceEnv

        class DeviceEnvCuda(DeviceEnv):
            def join(self, rank):
                torch.cuda.set_device(rank)
                torch.distributed.init_process_group(backend="nccl", init_method="env://")
                self.device = torch.device("cuda:%d" % rank)
        """,
    "arguments of an autocast": """
        import torch
        import torch_xla.core.xla_model as xm

        def kept(context):
            context.gpu_arguments = {
                "device_type": "cuda",
                "enabled": torch.is_autocast_enabled("cuda"),
                "dtype": torch.get_autocast_dtype("cuda"),
            }
        """,
}


@pytest.mark.parametrize("name", BRANCHES)
def test_branches_that_never_run_on_xla(name: str) -> None:
    assert [f.message for f in found(BRANCHES[name]) if f.severity is Severity.ERROR] == []


def test_the_same_without_a_branch_for_xla_is_found() -> None:
    alone = """
        from torch.distributed.fsdp import FullyShardedDataParallel

        def prepare(state, model):
            if state.kind == Kind.FSDP:
                model = FullyShardedDataParallel(model)
            return model
        """
    assert {finding.code for finding in found(alone)} == {"TPU615"}


# -------------------------------------------------------------------- tests

LEFT_OUT = {
    "decorator for a kind of GPU": """
        import unittest, torch

        class Test(unittest.TestCase):
            @require_cuda_or_xpu
            def test_it(self):
                self.model.to("cuda")
        """,
    "skipped without a GPU": """
        import unittest, torch

        class Test(unittest.TestCase):
            @unittest.skipIf(not torch.cuda.is_available(), "needs a GPU")
            def test_it(self):
                self.x = torch.zeros(3).cuda()
        """,
    "mark of pytest": """
        import pytest, torch

        @pytest.mark.gpu
        def test_it():
            assert torch.zeros(3).cuda().is_cuda
        """,
    "needs so many GPUs": """
        import torch
        from tests.conftest import RunIf

        @RunIf(thunder=True, min_cuda_gpus=1)
        def test_it():
            assert torch.zeros(3, device="cuda").is_cuda
        """,
    "failure that is expected": """
        import pytest, torch

        def test_it(model):
            with pytest.raises(RuntimeError):
                model.to("cuda:0")
        """,
}


@pytest.mark.parametrize("name", LEFT_OUT)
def test_tests_that_are_left_out_or_expect_to_fail(name: str) -> None:
    assert [f.message for f in found(LEFT_OUT[name], "TPU001", "TPU002", "TPU010")] == []


ON_HOST = """
    import pytest, torch

    @torch.no_grad()
    def test_logits({fixture}):
        net = torch.nn.Linear(2, 2){moved}
        x = torch.ones(4, 2){moved}
        for _ in range(3):
            x = net(x)
            assert x.shape == (4, 2)

    @pytest.mark.parametrize("device", ["cpu", "cuda"])
    def test_training(device):
        net = torch.nn.Linear(2, 2).to(device)
        net(torch.ones(4, 2).to(device)).mean().backward()
    """


@pytest.mark.parametrize(("fixture", "moved", "codes"), [("", "", []), ("device", ".to(device)", ["TPU302"])])
def test_loops_of_tests_that_speak_of_no_device_run_on_the_host(fixture: str, moved: str, codes: list[str]) -> None:
    text = ON_HOST.format(fixture=fixture, moved=moved)
    assert [finding.code for finding in found(text, "TPU301", "TPU302")] == codes


def test_a_test_that_would_run_is_found() -> None:
    text = """
        import pytest, torch

        @pytest.mark.slow
        def test_it():
            x = torch.zeros(3).cuda()
        """
    assert {finding.code for finding in found(text, "TPU00")} == {"TPU002"}


# -------------------------------------------------------------------- values that nobody knows here

SPAWN = """
    import torch_xla.distributed.xla_multiprocessing as xmp

    def launch(fn, count, debug=False):
        {before}
        xmp.spawn(fn, nprocs={nprocs})
    """


@pytest.mark.parametrize(
    ("before", "nprocs", "severities"),
    [
        ("n = 1 if debug else None", "n", []),
        ("pass", "count", [Severity.WARNING]),
        ("n = 8", "n", [Severity.ERROR]),
        ("pass", "8 if debug else 1", [Severity.ERROR]),
    ],
)
def test_number_of_processes(before: str, nprocs: str, severities: list[Severity]) -> None:
    text = SPAWN.replace("{before}", before).replace("{nprocs}", nprocs)
    assert [finding.severity for finding in found(text, "TPU901")] == severities


def test_checkpoint_that_is_loaded_to_the_host_where_xla_is() -> None:
    text = """
        import torch

        def load(model, path, device):
            model.to(device)
            if has_xla_support:
                device = "cpu"
            return torch.load(path, map_location=device)
        """
    assert not found(text, "TPU701")


def test_branch_beside_one_for_xla_is_left_alone_once_the_file_says_no_more_of_cuda() -> None:
    """Fixes of other lines take CUDA's name out of the file; what they left stays as it is."""
    text = (
        "import torch\nfrom torch import nn\n\n\n"
        "class Net(nn.Module):\n"
        "    def save(self, path):\n"
        '        if getattr(self.config, "xla_device", False):\n'
        "            import torch_xla.core.xla_model as xm\n\n"
        "            xm.save(self.state_dict(), path)\n"
        "        else:\n"
        "            torch.save(self.state_dict(), path)\n\n\n"
        "def place(net):\n"
        "    return net.cuda()\n"
    )
    fixed = lint(SourceFile.from_text(text, "net.py"), Settings(fix=True, unsafe_fixes=True), CATALOGUE).text
    assert "net.to(torch_xla.device())" in fixed and "cuda" not in fixed
    assert "            torch.save(self.state_dict(), path)\n" in fixed
