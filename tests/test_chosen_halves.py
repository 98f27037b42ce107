"""float16 chosen by the name of the device, which becomes that of XLA."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from command import tpulint
from marked_files import agree

START = """\
    import torch
    from torch import nn

    device = "cuda" if torch.cuda.is_available() else "cpu"
    """
MODEL = """\
    model = nn.Linear(8, 4).to(device)
    with torch.autocast(device_type=device, dtype=dtype):
        print(model(torch.randn(8, 8).to(device)))
    """


@pytest.mark.parametrize("choice", [
    'dtype = torch.float16 if device == "cuda" else torch.float32  # TPU402',
    'dtype = torch.float16 if device in ("cuda", "mps") else torch.bfloat16  # TPU402',
    'dtype = torch.half if "cuda" in str(device) else torch.float32  # TPU402',
    'dtype = torch.float16 if device.startswith("cuda") and not slow else torch.float32  # TPU402',
    'dtype = torch.float16 if device != "cpu" else torch.float32  # TPU402',
    'dtype = torch.float32 if device == "cpu" else torch.float16  # TPU402',
    'dtype = torch.float32 if device == "cpu" or slow else torch.float16  # TPU402',
    'on_gpu = device in ["cuda", "mps"]\n    dtype = torch.float16 if on_gpu else torch.float32  # TPU402',
    'dtype = torch.float32\n    if device == "cuda":\n        dtype = torch.float16  # TPU402',
    'dtype = torch.float16 if device == "mps" else torch.float32',
    'dtype = torch.float32 if device == "cuda" else torch.float16',
    'dtype = torch.float16 if device == "cuda" and device == "cpu" else torch.float32',
    'dtype = torch.float16 if not device != "cpu" else torch.float32',
    'dtype = torch.float16 if torch.cuda.is_available() else torch.float32',
    'dtype = torch.float32 if slow else torch.float16',
    'dtype = torch.float32 if kind == "cpu" else torch.float16',
    'dtype = torch.float32 if device in names else torch.float16',
])  # fmt: skip
def test_is_told_where_the_device_of_xla_is_given_it(choice: str, tmp_path: Path) -> None:
    agree(tmp_path, "TPU402", train=f"{START}{choice}\n{MODEL}")


def test_a_comparison_that_stays_chooses_what_others_than_cuda_get(tmp_path: Path) -> None:
    text = """\
        import torch

        def run(model, x, device):
            dtype = torch.float16 if device.type == "cuda" else torch.float32
            return model.to(device, dtype)(x.to(device, dtype))
        """
    agree(tmp_path, "TPU402", library=text)


@pytest.mark.parametrize(("choice", "fixed"), [
    ('dtype = torch.float16 if device in ("cuda", "mps") else torch.bfloat16', "dtype = torch.bfloat16"),
    (
        'dtype = torch.float16 if device == "cuda" else torch.float32',
        'dtype = torch.bfloat16 if device == "xla" else torch.float32',
    ),
    (
        'if device == "cuda":\n        dtype = torch.float16\n    else:\n        dtype = torch.bfloat16',
        "dtype = torch.bfloat16",
    ),
])  # fmt: skip
def test_becomes_bfloat16(choice: str, fixed: str, tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(dedent(f"{START}{choice}\n{MODEL}"))
    tpulint("--fix", "--unsafe-fixes", str(path), cwd=tmp_path)
    expected = f'import torch\nimport torch_xla\nfrom torch import nn\n\ndevice = "xla"\n{fixed}\n{dedent(MODEL)}'
    assert path.read_text().replace("  # noqa: F401 - tells torch of the device xla", "") == expected
