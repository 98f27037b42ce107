"""Devices that options hold, and that other files are handed."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import tpulint
from marked_files import agree

MAIN = """\
import torch
from options import read
from store import restore, save

config = read()
net = torch.nn.Linear(4, 1).to({at})
state = restore("net.pt", {{"net": net}}, {given})
{run}
"""
STORE = """\
import torch


def restore(path, state, where):
    loaded = torch.load(path, map_location=where)
    state["net"].load_state_dict(loaded["net"])
    return state


def save(path, state):
    torch.save({"net": state["net"].state_dict()}, path)
"""
RUN = "for x in state['rows']:\n    net(x).backward()"


@pytest.mark.parametrize(
    ("at", "given", "is_told"),
    [
        ("config.device", "config.device", True),
        ("config.device", "config.rows", False),
        ("config.device", '"cpu"', False),
        ("config.dtype", "config.device", False),  # nothing moves there
    ],
)
def test_checkpoints_that_are_loaded_to_it(tmp_path: Path, at: str, given: str, is_told: bool) -> None:
    (tmp_path / "main.py").write_text(MAIN.format(at=at, given=given, run=RUN))
    (tmp_path / "store.py").write_text(STORE)
    tpulint("check", "--fix", "--unsafe-fixes", ".", cwd=tmp_path)
    text = (tmp_path / "store.py").read_text()
    assert ('map_location="cpu"' in text) is is_told
    assert ("xm.save(" in text) is is_told


OPTIONS = """\
import argparse


def get_parser():
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--device", default={default})
    return parser
"""
TRAIN = """\
import torch
from options import get_parser


def main(args):
    device = torch.device(args.device)
    net = torch.nn.Linear(4, 1).to(device)
    if {asked} == "cuda":{mark}
        print("a GPU")
    net(torch.ones(4, device=device))


if __name__ == "__main__":
    main(get_parser().parse_args())
"""
SUBMIT = """\
import argparse
import train


def read():
    parser = argparse.ArgumentParser("submit", parents=[train.get_parser()])
    parser.add_argument("--nodes", default=8)
    return parser.parse_args()


train.main(read())
"""


@pytest.mark.parametrize("submit", [SUBMIT, SUBMIT.replace("main(read())", "main(unknown())")])
def test_options_of_several_scripts_that_run_one_function(tmp_path: Path, submit: str) -> None:
    """Each with options that it parses itself, or of which nothing is known."""
    options = OPTIONS.format(default='"cuda"').replace('"cuda")', '"cuda")  # TPU001')
    train = TRAIN.format(asked="args.device", mark="  # TPU001")
    agree(tmp_path, "TPU001", options=options, train=train, submit=submit)


@pytest.mark.parametrize(("default", "asked"), [('"cpu"', "args.device"), ('"cuda"', "args.kind")])
def test_options_that_name_no_device_of_cuda(tmp_path: Path, default: str, asked: str) -> None:
    train = TRAIN.replace("args.device", asked).format(asked=asked, mark="")
    agree(tmp_path, "TPU001", options=OPTIONS.format(default=default), train=train, submit=SUBMIT)


SETTINGS = """\
class Settings:
    def __init__(self):
        self.image_device = "cuda"
        self.rows = 8
"""
SCENES = """\
import torch


class Image:
    def __init__(self, image, image_device="cpu"):
        self.image = image.to(torch.device(image_device))


def read(args):
    return Image(torch.rand(args.rows, 4), {given})
"""


@pytest.mark.parametrize(
    ("given", "is_told"),
    [("image_device=args.image_device", True), ("args.rows", False), ("image_device=rows.image_device", False)],
)
def test_a_setting_of_a_file_without_torch(tmp_path: Path, given: str, is_told: bool) -> None:
    """Given by a name that says it is a device, as an attribute of what is called like settings."""
    (tmp_path / "settings.py").write_text(SETTINGS)
    (tmp_path / "scenes.py").write_text(SCENES.format(given=given))
    tpulint("--select", "TPU001", "--fix", "--unsafe-fixes", ".", cwd=tmp_path)
    fixed = (tmp_path / "settings.py").read_text()
    assert ('self.image_device = "xla"' in fixed, "import torch_xla" in fixed) == (is_told, is_told)


NUMBERED = """\
import argparse
import torch


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--gpu", type=int, default=0)
    parser.add_argument("--start")
    args = parser.parse_args()
    args.gpu = torch.device("cuda", args.gpu)
    return args


def main():
    args = parse()
    net = torch.nn.Linear(4, 4).to(args.gpu)
    net.load_state_dict(torch.load(args.start, map_location=args.gpu))
    return net
"""


def test_a_device_that_takes_the_place_of_its_number(tmp_path: Path) -> None:
    path = tmp_path / "main.py"
    path.write_text(NUMBERED)
    tpulint("check", "--fix", "--unsafe-fixes", ".", cwd=tmp_path)
    ported = path.read_text()
    assert "args.gpu = torch_xla.device()" in ported
    assert ".to(args.gpu)" in ported, "which is the device by now"
    assert 'torch.load(args.start, map_location="cpu")' in ported
    assert tpulint("check", ".", cwd=tmp_path).status == 0
    path.write_text(NUMBERED.replace("    args.gpu = torch", "    if args.start:\n        args.gpu = torch"))
    tpulint("check", "--fix", "--unsafe-fixes", ".", cwd=tmp_path)
    assert ".to(torch_xla.device())" in path.read_text(), "which may be the number still"
