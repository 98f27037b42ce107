"""Variables of functions that only what fixes took away has read."""

from __future__ import annotations

import subprocess
import sys
from textwrap import indent

import pytest

from tpulint.catalog import load
from tpulint.config import Settings
from tpulint.linter import lint
from tpulint.source import SourceFile

CATALOGUE = load()
SETTINGS = Settings(fix=True, unsafe_fixes=True)


def port(body: str, path: str = "train.py") -> str:
    text = f"import os\n\nimport torch\n\n\ndef main(args, net, rank):\n{indent(body, '    ')}    return net.cuda()\n"
    result = lint(SourceFile.from_text(text, path), SETTINGS, CATALOGUE)
    assert not result.error
    assert lint(SourceFile.from_text(result.text, path), SETTINGS, CATALOGUE).text == result.text
    return result.text


@pytest.mark.parametrize(
    "value",
    [
        "rank % args.gpus",
        'int(os.environ["LOCAL_RANK"])',
        'os.environ.get("LOCAL_RANK", 0)',
        "args.gpu if args.gpu else 0",
        "torch.cuda.current_device()",
    ],
)
def test_goes_with_its_last_use(value: str) -> None:
    ported = port(f"number = {value}\ntorch.cuda.set_device(number)\n")
    assert "number" not in ported
    command = [sys.executable, "-m", "ruff", "check", "--isolated", "--select=F841", "-"]
    told = subprocess.run(command, input=ported, capture_output=True, text=True, check=False).stdout
    assert "All checks passed" in told, told


def test_goes_when_its_last_use_gets_another_value() -> None:
    ported = port(
        'place = torch.accelerator.current_accelerator()\ndevice = torch.device(f"{place}:{rank}")\n'
        "backend = torch.distributed.get_default_backend_for_device(device)\n"
        "torch.distributed.init_process_group(backend=backend)\n"
    )
    assert "place" not in ported and 'backend = "xla"' in ported


def test_goes_with_its_annotation() -> None:
    ported = port("gpus: int = args.gpus\nnumber: int = rank % gpus\ntorch.cuda.set_device(number)\n")
    assert "gpus" not in ported and "number" not in ported


def test_goes_from_branches_that_give_nothing_else() -> None:
    branches = "if args.on:\n    number = rank\nelif args.off:\n    number = 1\nelse:\n    number = 0\n"
    ported = port(branches + "torch.cuda.set_device(number)\n")
    assert "number" not in ported and "args.o" not in ported


def test_one_goes_with_another() -> None:
    ported = port("gpus = args.gpus\nnumber = rank % gpus\ntorch.cuda.set_device(number)\n")
    assert "gpus" not in ported and "number" not in ported


@pytest.mark.parametrize(
    "body",
    [
        "number = find_gpu()\ntorch.cuda.set_device(number)\n",  # does something
        "number = args.numbers[0]\ntorch.cuda.set_device(number)\n",  # may raise
        "number = rank  # of this machine\ntorch.cuda.set_device(number)\n",
        "number = rank\ntorch.cuda.set_device(number)\nprint(locals())\n",
        "number = other = rank\ntorch.cuda.set_device(number)\n",
        "global number\nnumber = rank\ntorch.cuda.set_device(number)\n",
        "number = rank\ntorch.cuda.set_device(number)\ndef show():\n    nonlocal number\n    number = 1\n",
        "number = rank\n\nif args.on:\n    number = find_gpu()\ntorch.cuda.set_device(number)\n",
        "try:\n    number = rank\nexcept ValueError:\n    number = 0\ntorch.cuda.set_device(number)\n",
        "if ask():\n    number = rank\nelse:\n    number = 0\ntorch.cuda.set_device(number)\n",
        "number = rank\n",  # had no use before
        "number = None\ndef draw():\n    global number\n    number = number or 1\n",  # that of the module
        "number = None\ndef draw(number):\n    return number\n",
    ],
)
def test_stays(body: str) -> None:
    ported = port(f"{body}torch.cuda.set_device(rank)\n")
    assert "set_device" not in ported and ported.count("number = ") == body.count("number = ")


def test_variables_of_the_module_stay() -> None:
    """Other files may take them."""
    text = "import torch\n\nnumber = 1\ntorch.cuda.set_device(number)\nnet = torch.nn.Linear(2, 2).cuda()\n"
    ported = lint(SourceFile.from_text(text, "train.py"), SETTINGS, CATALOGUE).text
    assert "set_device" not in ported and "number = 1\n" in ported


def test_frees_the_name_that_another_fix_waits_for() -> None:
    text = (
        "import torch\n\nlayer = torch.nn.Linear(2, 2)\n\n\ndef main():\n"
        '    device = "cuda" if torch.cuda.is_available() else "cpu"\n    model = layer.cuda()\n'
        '    model.load_state_dict(torch.load("last.pt", map_location=device))\n    return model\n'
    )
    settings = Settings(fix=True, portable=True)
    result = lint(SourceFile.from_text(text, "train.py"), settings, CATALOGUE)
    assert "cuda" not in result.text and "backend.device()" in result.text
    assert not result.findings
