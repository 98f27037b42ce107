"""Portable code: the same rules, written for CUDA, XLA and the CPU at once."""

from __future__ import annotations

import re

import pytest

from tpulint.catalog import load
from tpulint.config import Settings
from tpulint.linter import lint
from tpulint.model import Applicability, FileResult
from tpulint.source import SourceFile

CATALOGUE = load()
PORTABLE = Settings(portable=True, preview=True, fix=True, unsafe_fixes=True)
HEAD = "import torch\n"
IMPORT = "from tpulint_runtime import backend\n"


def run(text: str, *, fix: bool = True, **changes: object) -> FileResult:
    settings = PORTABLE._replace(fix=fix, **changes)  # type: ignore[arg-type]
    result = lint(SourceFile.from_text(HEAD + text, "train.py"), settings, CATALOGUE)
    assert result.error == ""
    return result


def port(text: str) -> str:
    """The text without the imports at its head."""
    result = run(text)
    again = lint(SourceFile.from_text(result.text, "train.py"), PORTABLE, CATALOGUE)
    assert again.text == result.text, "a second run changes something"
    assert result.text.startswith(HEAD)
    return result.text.removeprefix(HEAD).removeprefix(IMPORT)


def codes(text: str) -> list[str]:
    return [finding.code for finding in run(text, fix=False).findings]


# ------------------------------------------------------------------------ device

X = "x = torch.ones(2).to(device)\n"
ON_CUDA = " if torch.cuda.is_available() else None"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('device = torch.device("cuda:1")', "device = backend.device(1)"),
        ('device = torch.device("cuda:0")', "device = backend.device()"),
        ('device = torch.device("cuda:%d" % rank)', "device = backend.device(rank)"),
        ('device = torch.device("cuda:{}".format(rank))', "device = backend.device(rank)"),
        ('device = torch.device("cuda:" + str(rank))', "device = backend.device(rank)"),
        ('device = f"cuda:{rank}"', "device = str(backend.device(rank))"),
        ('device = "cuda"', "device = backend.device_type()"),
        (
            "device = (rank + 1) % torch.cuda.device_count()",
            "device = backend.device((rank + 1) % max(torch.cuda.device_count(), 1))",
        ),
        (
            'device = torch.device("cuda") if torch.cuda.is_available() else torch.device("cpu")',
            "device = backend.device()",
        ),
        (
            'device = torch.device("cpu" if not torch.cuda.is_available() else "cuda")',
            "device = backend.device()",
        ),
        (
            'device = torch.device("cuda" if args.gpu and torch.cuda.is_available() else "cpu")',
            'device = torch.device(backend.device_type() if args.gpu else "cpu")',
        ),
        (
            'device = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"',
            'device = backend.device_type() if backend.is_available() else "mps" if torch.backends.mps.is_available() '
            'else "cpu"',
        ),
    ],
)
def test_device_is_that_of_the_machine(before: str, after: str) -> None:
    assert port(f"rank = 1\n{before}\n{X}") == f"rank = 1\n{after}\n{X}"


def test_choice_in_branches() -> None:
    before = (
        'if torch.cuda.is_available():\n    device = torch.device("cuda")\nelse:\n    device = torch.device("cpu")\n'
    )
    assert port(before + X) == "device = backend.device()\n" + X
    kept = before.replace("else:", "elif torch.backends.mps.is_available():\n    device = torch.device('mps')\nelse:")
    expected = kept.replace("torch.cuda.is_available()", "backend.is_available()")
    assert port(kept + X) == expected.replace('torch.device("cuda")', "backend.device()") + X


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('device.type == "cuda"', 'device.type in ("cuda", "xla")'),
        ('device.type != "cuda"', 'device.type not in ("cuda", "xla")'),
        ("'cuda' in str(device)", "('cuda' in str(device) or 'xla' in str(device))"),
        ('str(device).startswith("cuda")', 'str(device).startswith(("cuda", "xla"))'),
        ('str(device) == "cuda"', 'str(device).split(":")[0] in ("cuda", "xla")'),
        ('device.type in ["cuda", "cpu"]', 'device.type in ["cuda", "xla", "cpu"]'),
        ("device.type not in ('cuda',)", "device.type not in ('cuda', 'xla',)"),
    ],
)
def test_comparison_holds_on_xla_too(before: str, after: str) -> None:
    text = 'device = torch.device("cuda")\nif {}:\n    x = torch.ones(2).to(device)\n'
    assert port(text.format(before)) == text.format(after).replace('torch.device("cuda")', "backend.device()")


def test_group_that_cannot_be_written_whole_is_left() -> None:
    text = 'device = torch.device("cuda", pick(torch.cuda.device_count()))\nother = "cuda" == device\n' + X
    assert port(text) == text
    assert "TPU001" in codes(text)


@pytest.mark.parametrize(
    "kept",
    [
        "if torch.cuda.is_available():\n    torch.cuda.manual_seed_all(1)\n    torch.backends.cudnn.benchmark = True\n",
        "if torch.cuda.is_available():\n    print(torch.cuda.get_device_name(0))\n",
        "if device.type == 'cuda':\n    torch.cuda.set_device(device)\n",
        "torch.backends.cudnn.benchmark = True\n",
        "print(torch.cuda.max_memory_allocated())\n",
        "torch.cuda.empty_cache()\n",
    ],
)
def test_what_is_for_cuda_stays(kept: str) -> None:
    text = f'device = torch.device("cuda")\n{X}{kept}'
    assert port(text) == text.replace('torch.device("cuda")', "backend.device()")


def test_flag_of_the_runtime_does_not_guard_cuda() -> None:
    text = "use_cuda = torch.cuda.is_available()\nif use_cuda:\n    torch.cuda.set_device(0)\n    x = x.cuda()\n"
    assert port(text).splitlines() == [
        "",
        "device = backend.device()",
        "use_cuda = backend.is_available()",
        "if use_cuda:",
        "    if torch.cuda.is_available():",
        "        torch.cuda.set_device(0)",
        "    x = x.to(device)",
    ]


@pytest.mark.parametrize(
    ("row", "after"),
    [
        ("torch.cuda.set_device(0); print(1)", f"torch.cuda.set_device(0){ON_CUDA}; print(1)"),
        ("print(1); torch.cuda.init()", f"print(1); torch.cuda.init(){ON_CUDA}"),
        ("x = 1; (torch.cuda.init());", f"x = 1; (torch.cuda.init(){ON_CUDA});"),
    ],
)
@pytest.mark.parametrize("head", ["", "if flag: ", "for i in range(2): "])
def test_calls_for_cuda_that_share_their_row(head: str, row: str, after: str) -> None:
    assert port(f"{head}{row}\n") == f"{head}{after}\n"
    assert codes(f"{head}{after}\n") == []


def test_what_a_branch_on_one_row_does_on_a_gpu_alone() -> None:
    """The test holds on XLA too, where the call would raise."""
    text = X + "if torch.cuda.is_available(): torch.cuda.set_device(0); print(x)\n"
    assert port('device = torch.device("cuda")\n' + text).endswith(
        f"if backend.is_available(): torch.cuda.set_device(0){ON_CUDA}; print(x)\n"
    )


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("model = build(torch.cuda.get_device_name(0))\n", "TPU010"),
        ("start = torch.cuda.Event(enable_timing=True)\n", "TPU011"),
        ("train(torch.cuda.mem_get_info())\n", "TPU010"),
    ],
)
def test_work_of_every_device_is_not_put_under_a_condition(text: str, code: str) -> None:
    assert port(text) == text
    assert codes(text) == [code]


def test_random_generator_stays_on_the_gpu() -> None:
    text = "device = torch.device('cuda')\ng = torch.Generator(device=device)\n" + X
    after = text.replace("torch.device('cuda')", "backend.device()")
    assert port(text) == after.replace("device=device", 'device=device if torch.cuda.is_available() else "cpu"')


# ------------------------------------------------------------------------ precision


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("torch.autocast('cuda')", "backend.autocast()"),
        ("torch.autocast('cuda', torch.float16, True)", "backend.autocast(dtype=torch.float16, enabled=True)"),
        ("torch.autocast(device_type='cuda', enabled=amp)", "backend.autocast(enabled=amp)"),
        ("torch.cuda.amp.autocast(amp, torch.float16)", "backend.autocast(amp, torch.float16)"),
        (
            "functools.partial(torch.autocast, 'cuda', dtype=dtype)()",
            "functools.partial(backend.autocast, dtype=dtype)()",
        ),
    ],
)
def test_autocast_keeps_its_arguments(before: str, after: str) -> None:
    text = "import functools\nwith {}:\n    y = torch.relu(model(x))\n"
    assert port(text.format(before)) == text.format(after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "enabled=torch.cuda.is_available()"),
        ("enabled=True", "enabled=torch.cuda.is_available()"),
        ("2.0**10, growth_interval=5", "2.0**10, growth_interval=5, enabled=torch.cuda.is_available()"),
        ("enabled=amp or half", "enabled=(amp or half) and torch.cuda.is_available()"),
    ],
)
def test_scaler_is_off_without_cuda(before: str, after: str) -> None:
    text = "scaler = torch.cuda.amp.GradScaler({})\nscaler.scale(loss).backward()\nscaler.step(opt)\nscaler.update()\n"
    assert port(text.format(before)) == text.format(after)


@pytest.mark.parametrize("enabled", ["torch.cuda.is_available()", "amp and torch.cuda.is_available()", "False"])
def test_scaler_that_is_off_is_right(enabled: str) -> None:
    assert codes(f"scaler = torch.amp.GradScaler('cuda', enabled={enabled})\n") == []


def test_scaler_with_hidden_arguments_keeps_autocast_as_well() -> None:
    text = "scaler = torch.cuda.amp.GradScaler(**options)\nwith torch.autocast('cuda'):\n    y = model(x)\n"
    assert port(text) == text
    assert codes(text) == ["TPU401", "TPU401"]


# ------------------------------------------------------------------------ seeds, processes


def test_seed_for_cuda_alone_does_not_seed_xla() -> None:
    text = "def seed(s, device):\n    torch.manual_seed(s)\n{}    return torch.ones(2).to(device)\n"
    guarded = "    if torch.cuda.is_available():\n        torch.cuda.manual_seed_all(s)\n"
    assert port(text.format(guarded)) == text.format("    backend.manual_seed(s)\n" + guarded)
    both = "    torch.cuda.manual_seed_all(s)\n"
    assert port(text.format(both)) == text.format("    backend.manual_seed(s)\n")


def test_condition_on_gpus_before_a_launch_leaves_it() -> None:
    text = (
        "import torch.multiprocessing as mp\n\n\ndef main(rank, n):\n    torch.manual_seed(n)\n\n\n"
        'if __name__ == "__main__":\n    n = torch.cuda.device_count()\n    if n > 1:\n'
        "        mp.spawn(main, args=(n,), nprocs=n)\n    else:\n        main(0, 1)\n"
    )
    assert port(text) == text
    assert "TPU601" in codes(text)


# ------------------------------------------------------------------------ what ties code to torch_xla


def test_fix_that_would_bring_torch_xla_in_is_shown_only() -> None:
    text = (
        "import torch.distributed as dist\n\n\ndef run(rank):\n"
        '    dist.init_process_group("nccl", rank=rank)\n    dist.barrier()\n'
    )
    (finding,) = [finding for finding in run(text, fix=False).findings if finding.code == "TPU618"]
    assert finding.fix is not None and finding.fix.applicability is Applicability.DISPLAY
    assert "tie the code to torch_xla" in finding.fix.reason
    assert "rendezvous" not in port(text)


def test_code_that_has_torch_xla_is_kept_up_to_date() -> None:
    text = "import torch_xla.core.xla_model as xm\nxm.mark_step()\n"
    assert "torch_xla.sync()" in run(text).text
    guarded = "try:\n    import torch_xla.core.xla_model as xm\nexcept ImportError:\n    xm = None\nxm.mark_step()\n"
    beside = guarded.replace(" as xm\n", " as xm\n    import torch_xla\n").replace("xm.mark_step", "torch_xla.sync")
    assert run(guarded).text == HEAD + beside


def test_name_of_the_runtime_that_is_taken() -> None:
    text = "backend = 'nccl'\ndevice = torch.device('cuda')\n" + X
    result = run(text).text
    assert "from tpulint_runtime import backend as backend_\n" in result
    assert "device = backend_.device()\n" in result and "backend = 'nccl'\n" in result


def test_plain_output_is_the_default() -> None:
    text = f"device = torch.device('cuda')\n{X}"
    assert not re.search("tpulint_runtime", run(text, portable=False).text)


def test_what_chooses_a_gpu_is_kept_for_cuda() -> None:
    """In parentheses where it needs them; a second run changes nothing."""
    text = (
        "import torch\n"
        'third = torch.load("c.pt", map_location=lambda storage, place: storage.cuda(rank))\n'
        'print(third["b"])\n'
        "model = torch.nn.parallel.DistributedDataParallel(model, [rank])\n"
    )
    wanted = Settings(fix=True, unsafe_fixes=True, portable=True, select=("TPU603", "TPU701"))
    fixed = lint(SourceFile.from_text(text), wanted, CATALOGUE)
    assert fixed.text == (
        "import torch\n"
        'third = torch.load("c.pt", map_location=(lambda storage, place: storage.cuda(rank)) '
        'if torch.cuda.is_available() else "cpu")\n'
        'print(third["b"])\n'
        "model = torch.nn.parallel.DistributedDataParallel(model, [rank] if torch.cuda.is_available() else None)\n"
    )
    assert not lint(SourceFile.from_text(fixed.text), wanted, CATALOGUE).findings


def test_option_of_float16_stays_with_gpus() -> None:
    """XLA has no float16, so the runtime's answer is not the one an option of it asks for."""
    before = (
        'use_cuda = torch.cuda.is_available()\ndevice = torch.device("cuda" if use_cuda else "cpu")\n'
        "if use_cuda:\n    print(device)\nx = torch.ones(2).to(device)\na = Arguments(fp16=use_cuda)\n"
    )
    assert port(before).endswith("a = Arguments(fp16=torch.cuda.is_available())\n")
