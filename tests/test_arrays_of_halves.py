"""Models in float16 whose results become NumPy arrays, which know no bfloat16."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from command import tpulint

START = """\
import numpy as np
import torch
from torch import nn

model = nn.Linear(8, 4).to("xla")
"""


def port(folder: Path, text: str, **others: str) -> list[str]:
    """The rows that the fixes of one rule change in a program that may import other files."""
    text = START + dedent(text)
    (folder / "program.py").write_text(text)
    for name, other in others.items():
        (folder / f"{name}.py").write_text(dedent(other))
    tpulint("--fix", "--unsafe-fixes", "--select", "TPU402", ".", cwd=folder)
    fixed = (folder / "program.py").read_text()
    tpulint("--fix", "--unsafe-fixes", "--select", "TPU402", ".", cwd=folder)
    assert (folder / "program.py").read_text() == fixed
    before = text.splitlines()
    return [row.strip() for row in fixed.splitlines() if row not in before]


@pytest.mark.parametrize(("read", "fixed"), [
    ("array = model(x).cpu().numpy()", "array = model(x).float().cpu().numpy()"),
    ("array = np.asarray(model(x).detach().cpu())", "array = np.asarray(model(x).detach().float().cpu())"),
    ("array = model(x)[:, 0].softmax(-1).numpy()", "array = model(x)[:, 0].softmax(-1).float().numpy()"),
    ("out = model(x)\narray = torch.cat([out, out]).numpy()", "array = torch.cat([out, out]).float().numpy()"),
    ("array = model.forward(x).hidden.numpy()", "array = model.forward(x).hidden.float().numpy()"),
])  # fmt: skip
def test_results_are_made_float32_for_their_arrays(read: str, fixed: str, tmp_path: Path) -> None:
    assert port(tmp_path, f"model.half()\n{read}\n") == ["model.bfloat16()", fixed]


@pytest.mark.parametrize("read", [
    "array = model(x).float().numpy()",
    "array = model(x).argmax(1).cpu().numpy()",
    "arrays = [out if isinstance(out, np.ndarray) else out.numpy() for out in model(x)]",
    "array = labels.numpy()",
    "array = np.asarray(labels.cpu())",
])  # fmt: skip
def test_arrays_of_other_types_stay(read: str, tmp_path: Path) -> None:
    assert port(tmp_path, f"model.half()\n{read}\n") == ["model.bfloat16()"]


def test_results_that_another_function_collects(tmp_path: Path) -> None:
    text = """\
        def embed(net, batches):
            found = []
            for x in batches:
                found.append(net(x).cpu())
            return torch.cat(found, dim=0).numpy()

        model = model.half()
        embed(model, batches)
        """
    fixed = ["return torch.cat(found, dim=0).float().numpy()", "model = model.bfloat16()"]
    assert port(tmp_path, text) == fixed


def test_a_type_that_is_named(tmp_path: Path) -> None:
    text = "model.to(torch.float16)\narray = model(x).numpy()\n"
    assert port(tmp_path, text) == ["model.to(torch.bfloat16)", "array = model(x).float().numpy()"]


def test_a_function_that_makes_arrays_of_whatever_it_is_given_leaves_the_model_in_float16(tmp_path: Path) -> None:
    text = """\
        def array_of(tensor):
            return tensor.detach().cpu().numpy()

        model.half()
        x = x.half()
        print(array_of(model(x)), array_of(labels))
        """
    assert port(tmp_path, text) == []


READER = """\
    import torch

    def embed(net: torch.nn.Module, batches):
        return [net(x){cast}.cpu().numpy() for x in batches]
    """


@pytest.mark.parametrize(("cast", "fixed"), [("", []), (".float()", ["model.half()"])])
def test_another_file_that_makes_the_arrays(cast: str, fixed: list[str], tmp_path: Path) -> None:
    text = "from reader import embed\nmodel.half()\nembed(model, batches)\n"
    fixed = [row.replace("half", "bfloat16") for row in fixed]
    assert port(tmp_path, text, reader=READER.format(cast=cast)) == fixed
