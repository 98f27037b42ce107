"""Scripts that import torch below other code: what the fixes import, and the device they make, stands below it."""

from __future__ import annotations

from pathlib import Path

from command import tpulint

BEHIND = """
local_rank = 0
dist.init_process_group(backend="nccl")
model = nn.Linear(4, 1).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x in batches:
    optimizer.zero_grad()
    model(x.cuda()).mean().backward()
    optimizer.step()
"""


def ported(folder: Path, text: str) -> str:
    (folder / "train.py").write_text(text)
    tpulint("--fix", "--unsafe-fixes", ".", cwd=folder)
    return (folder / "train.py").read_text()


def test_a_script_that_reads_itself_first(tmp_path: Path) -> None:
    top = "import os\nimport sys\nwith open(sys.argv[0]) as f:\n    code = f.read()\nimport uuid\n\n"
    torch = "import torch\nfrom torch import nn\nimport torch.distributed as dist\n"
    after = ported(tmp_path, top + torch + BEHIND)
    assert after.startswith(top + torch + "import torch_xla\n")
    assert after.index("import torch.distributed as dist") < after.index('device = torch.device("xla")')


def test_torch_that_comes_by_star_from_a_folder_put_on_the_path(tmp_path: Path) -> None:
    (tmp_path / "params.py").write_text("import torch\nfrom torch import nn\n")
    top = "import os\nimport sys\n\nsys.path.insert(0, os.getcwd())\n\nfrom params import *\n"
    after = ported(tmp_path, top + 'device = torch.device("cuda")\nmodel = nn.Linear(4, 4).to(device)\n')
    assert after.startswith(top + "import torch_xla\n")


def test_a_module_that_asks_for_the_version_of_torch_is_no_script(tmp_path: Path) -> None:
    """Whoever imports it may not have joined the process group yet, which the device waits for."""
    module = """\
import torch
import torch.distributed as dist

TORCH_MAJOR = int(torch.__version__.split(".")[0])

class Meter:
    pass

def init(args):
    dist.init_process_group(backend="nccl")

def mean(x):
    x = torch.tensor(x).cuda()
    dist.all_reduce(x)
    return x.item()
"""
    after = ported(tmp_path, module)
    assert "\ndevice = " not in after
    assert "x = torch.tensor(x).to(torch_xla.device())" in after
