"""Loaders whose arguments stand in a dictionary that the project keeps under a name, in whatever file."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from command import tpulint
from marked_files import agree

AGENT = """\
    import torch
    from torch import nn
    from torch.utils.data import DataLoader

    device = torch.device("cuda")


    class Agent:
        def __init__(self, data, settings):
            self.data = data
            self.settings = settings
            self.model = nn.Linear(4, 4).to(device)
            self.optimizer = torch.optim.Adam(self.model.parameters())

        def train(self):
            loader = DataLoader(self.data, shuffle=True, {})  {}
            for x, y in loader:
                self.optimizer.zero_grad()
                nn.functional.cross_entropy(self.model(x.to(device)), y.to(device)).backward()
                self.optimizer.step()
    """
BY_KEY = '**self.settings["loader_args"]'
BY_ATTRIBUTE = "**self.settings.loader_args"
FOUND, SILENT = "# TPU501", ""
TOLD = {
    "an entry of each of several": (BY_KEY, """\
        pool = {
            "small": {"loader_args": {"batch_size": 64, "num_workers": 1}},
            "large": {"loader_args": {"batch_size": 128}},
        }
        Agent(data, pool[name]).train()
        """),
    "an attribute": (BY_ATTRIBUTE, """\
        settings.loader_args = dict(batch_size=64)
        if large:
            settings.loader_args = {"batch_size": 128, "pin_memory": True}
        Agent(data, settings).train()
        """),
    "an entry of the variables": (BY_ATTRIBUTE, """\
        vars(settings)["loader_args"] = {"batch_size": 64}
        Agent(data, settings).train()
        """),
    "the size beside it": ("batch_size=size, " + BY_KEY, """\
        Agent(data, dict(loader_args={"num_workers": 2}, epochs=3)).train()
        """),
    "handed on under the same name": (BY_ATTRIBUTE, """\
        settings = {"loader_args": {"batch_size": 64}}
        chosen = Namespace(loader_args=settings["loader_args"])
        Agent(data, chosen).train()
        """),
}  # fmt: skip
UNTOLD = {
    "nowhere": (BY_KEY, "Agent(data, settings).train()\n"),
    "one leaves out the smaller batch": (BY_KEY, """\
        pool = {
            "small": {"loader_args": {"batch_size": 64}},
            "large": {"loader_args": {"batch_size": 128, "drop_last": True}},
        }
        """),
    "one has a sampler of batches": (BY_KEY, """\
        settings = {"loader_args": {"batch_sampler": batches}}
        """),
    "one says no size": (BY_KEY, """\
        pool = {"small": {"loader_args": {"batch_size": 64}}, "one": {"loader_args": {"num_workers": 1}}}
        """),
    "what another file computes": (BY_KEY, """\
        settings = {"loader_args": {"batch_size": 64, "drop_last": leave_out}}
        """),
    "read from a file": (BY_KEY, """\
        settings = {"loader_args": {"batch_size": 64}}
        settings["loader_args"] = json.load(open("loader.json"))
        """),
    "an option": (BY_ATTRIBUTE, """\
        parser.add_argument("--loader-args", type=json.loads)
        settings = Namespace(loader_args={"batch_size": 64})
        """),
    "changed by a key": (BY_KEY, """\
        settings = {"loader_args": {"batch_size": 64}}
        settings["loader_args"]["drop_last"] = True
        """),
    "changed by another": (BY_KEY, """\
        settings = {"loader_args": {"batch_size": 64}}
        settings["loader_args"].update(others)
        """),
    "changed in place": (BY_ATTRIBUTE, """\
        settings.loader_args = {"batch_size": 64}
        settings.loader_args |= others
        """),
    "asked for by name": (BY_KEY, """\
        settings = {"loader_args": {"batch_size": 64}}
        settings.setdefault("loader_args", {"drop_last": True})
        """),
}  # fmt: skip


@pytest.mark.parametrize(("given", "program"), TOLD.values(), ids=list(TOLD))
def test_of_dictionaries_without_a_word_of_it_the_last_batch_may_be_smaller(
    tmp_path: Path, given: str, program: str
) -> None:
    """They may stand in any file: here the class does not even import the one that has them."""
    agree(tmp_path, "TPU501", agents=AGENT.format(given, FOUND), main="from agents import Agent\n\n" + dedent(program))


@pytest.mark.parametrize(("given", "program"), UNTOLD.values(), ids=list(UNTOLD))
def test_where_one_may_say_something_else_nothing_is_said(tmp_path: Path, given: str, program: str) -> None:
    agree(tmp_path, "TPU501", agents=AGENT.format(given, SILENT), main="from agents import Agent\n\n" + dedent(program))


def test_a_file_below_is_told_of_the_one_above_it(tmp_path: Path) -> None:
    """Nothing marks the top of the project."""
    folder = tmp_path / "agents"
    folder.mkdir()
    (folder / "agent.py").write_text(dedent(AGENT.format(BY_KEY, FOUND)))
    program = 'from agents.agent import Agent\nsettings = {"loader_args": {"batch_size": 64}}\n'
    (tmp_path / "main.py").write_text(program)
    answer = tpulint("--output-format=concise", "--select", "TPU501", "agents/agent.py", cwd=tmp_path)
    assert "TPU501" in answer.out
    (tmp_path / "main.py").write_text(program.replace("64", "64, 'drop_last': True"))
    answer = tpulint("--output-format=concise", "--select", "TPU501", "agents/agent.py", cwd=tmp_path)
    assert "TPU501" not in answer.out  # nothing that was remembered holds any more
