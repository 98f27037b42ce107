"""What lowers a fix whatever its rule says: a file is turned to XLA as a whole, or not by safe fixes."""

from __future__ import annotations

from textwrap import dedent

import pytest

from tpulint.catalog import load
from tpulint.config import Settings
from tpulint.linter import lint
from tpulint.model import Applicability, FileResult, Finding
from tpulint.source import SourceFile

CATALOGUE = load()
SILENCED = "Errors of the file that a comment silences stay: half ported, it would fail, or train nothing."
STAYS = "Other errors of the file need a look first: half ported, it would fail, or train nothing."

DDP = dedent(
    """\
    import os

    import torch
    import torch.distributed as dist
    import torch.nn as nn
    from torch.nn.parallel import DistributedDataParallel as DDP


    def main(place):
        local_rank = int(os.environ["LOCAL_RANK"])
        torch.cuda.set_device(local_rank)
        dist.init_process_group("nccl")
        model = DDP(nn.Linear(8, 1).cuda(local_rank), device_ids=[local_rank])
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        criterion = nn.MSELoss()
        for _ in range(100):
            x = torch.randn(4, 8).cuda(local_rank)
            optimizer.zero_grad()
            loss = criterion(model(x), torch.zeros(4, 1).cuda(local_rank))
            loss.backward()
            optimizer.step()
        {tail}


    if __name__ == "__main__":
        main(None)
    """
)
UNKNOWN = DDP.format(tail="return place.cuda(local_rank)")
"""What ``place`` is, is not known: its move is likely, and stays."""

SPAWN = dedent(
    """\
    import torch
    import torch.multiprocessing as mp
    import torch.nn as nn


    def train(gpu, place):
        generator = torch.Generator(device="cuda")
        model = nn.Linear(8, 1).to(gpu)
        x = torch.zeros(8, device=gpu)
        print(model(x), generator, place.cuda(gpu))


    if __name__ == "__main__":
        mp.spawn(train, args=(None,), nprocs=2)
    """
)


def run(text: str, **chosen: object) -> FileResult:
    settings = Settings(fix=True, **chosen)  # type: ignore[arg-type]
    result = lint(SourceFile.from_text(text, "script.py"), settings, CATALOGUE)
    assert result.error == ""
    again = lint(SourceFile.from_text(result.text, "script.py"), settings, CATALOGUE)
    assert again.text == result.text, "a second run changes the text"
    return result


def look(text: str, **chosen: object) -> FileResult:
    return lint(SourceFile.from_text(text, "script.py"), Settings(**chosen), CATALOGUE)  # type: ignore[arg-type]


@pytest.mark.parametrize("text", [UNKNOWN, SPAWN], ids=["ddp", "spawn"])
def test_half_of_a_script_is_not_ported(text: str) -> None:
    """Where one place stays on the GPU, plain fixing leaves processes, device and steps on CUDA too."""
    result = run(text)
    assert "xla" not in result.text
    for line in text.splitlines():
        if any(word in line for word in ("cuda", "nccl", "device", "gpu", "mp.")):
            assert line in result.text.splitlines()
    assert "cuda" not in run(text, unsafe_fixes=True).text


def test_reason_is_told() -> None:
    reasons = {f.code: (f.fix.applicability, f.fix.reason) for f in look(UNKNOWN).findings if f.fix is not None}
    assert reasons["TPU602"] == (Applicability.UNSAFE, STAYS)
    assert reasons["TPU603"] == (Applicability.UNSAFE, STAYS)


def test_whole_script_is_ported() -> None:
    result = run(DDP.format(tail="return model"))
    assert "cuda" not in result.text
    assert 'init_process_group("xla", init_method="xla://")' in result.text


def test_fixes_that_are_right_everywhere_stay_safe() -> None:
    text = dedent(
        """\
        import torch

        torch.backends.cudnn.benchmark = True
        model = torch.nn.Linear(8, 1).to("cuda")
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        loader = torch.utils.data.DataLoader([], batch_size=8, shuffle=True, pin_memory=True)
        for x, place in loader:
            optimizer.zero_grad()
            loss = model(x.to("cuda")).sum()
            loss.backward()
            optimizer.step()
            {move}
        """
    )
    whole, half = text.format(move="x.cpu()"), text.format(move="place.cuda()")
    assert "cudnn" not in run(whole).text
    assert "torch_xla.sync()" in run(whole).text
    result = run(half)
    assert "torch.backends.cudnn.benchmark = True" in result.text
    assert "xla" not in result.text
    assert "pin_memory" not in result.text


def test_settings_decide_what_stays() -> None:
    """A move that the user holds for safe stays nowhere; one that must not be fixed stays."""
    assert "cuda" not in run(UNKNOWN, extend_safe_fixes=("TPU002",)).text
    whole = DDP.format(tail="return model")
    for chosen in ({"unfixable": ("TPU002",)}, {"extend_unsafe_fixes": ("TPU002",)}):
        assert "xla" not in run(whole, **chosen).text


def test_fix_that_the_user_holds_for_safe() -> None:
    text = run(UNKNOWN, extend_safe_fixes=("TPU602",)).text
    assert 'init_process_group("xla"' in text
    assert "device_ids=[local_rank]" in text


def test_portable_code_is_ported_part_by_part() -> None:
    """There every part still runs on a GPU."""
    assert "backend" in run(UNKNOWN, portable=True).text


def test_names_of_xla_are_brought_up_to_date() -> None:
    text = dedent(
        """\
        import torch
        import torch_xla.core.xla_model as xm

        xm.mark_step()


        def move(place):
            return place.cuda()
        """
    )
    fixes = {f.code: f.fix.applicability for f in look(text).findings if f.fix is not None}
    assert fixes == {"TPU002": Applicability.UNSAFE, "TPU901": Applicability.SAFE}


def test_call_that_a_safe_fix_removes_keeps_nothing_back() -> None:
    text = dedent(
        """\
        import torch

        if torch.cuda.is_available():
            torch.cuda.set_device(0)
            device = torch.device("cuda")
        else:
            device = torch.device("cpu")
        x = torch.zeros(3).to(device)
        """
    )
    assert (
        run(text).text
        == "import torch\nimport torch_xla\n\ndevice = torch_xla.device()\nx = torch.zeros(3).to(device)\n"
    )


PART = dedent(
    """\
    import torch

    model = torch.nn.Linear(2, 2).cuda(){model}
    x = torch.ones(1, 2).cuda(){x}
    print(model(x))
    """
)


def test_error_that_a_comment_silences_keeps_the_rest_back() -> None:
    """The model would be on XLA, and its input on the GPU."""
    text = PART.format(model="", x="  # noqa: TPU002")
    assert run(text).text == text
    (finding,) = look(text).findings
    assert finding.fix is not None
    assert (finding.fix.applicability, finding.fix.reason) == (Applicability.UNSAFE, SILENCED)
    assert "torch.nn.Linear(2, 2).to(device)" in run(text, unsafe_fixes=True).text
    assert "torch.nn.Linear(2, 2).to(device)" in run(text, ignore_noqa=True).text
    assert "backend.device()" in run(text, portable=True).text


@pytest.mark.parametrize("comment", ["  # noqa: E501", "  # noqa: TPU101", "  # tpulint: ignore[TPU511]"])
def test_comment_that_silences_no_error_of_a_device_keeps_nothing_back(comment: str) -> None:
    assert "cuda" not in run(PART.format(model="", x=comment)).text


def test_warning_that_a_comment_silences_keeps_nothing_back() -> None:
    text = PART.format(model="", x="") + "torch.backends.cudnn.benchmark = True  # noqa: TPU010\n"
    assert ".cuda()" not in run(text).text


def test_old_error_keeps_the_rest_back() -> None:
    text = PART.format(model="", x="")

    def is_old(source: SourceFile, findings: list[Finding]) -> list[Finding]:
        return [
            finding._replace(fix=None) if source.text[finding.span.start :].startswith("torch.ones") else finding
            for finding in findings
        ]

    source = SourceFile.from_text(text, "script.py")
    result = lint(source, Settings(fix=True), CATALOGUE, untouchable=is_old)
    assert result.text == text
    assert {f.fix and (f.fix.applicability, f.fix.reason) for f in result.findings} == {
        None,
        (Applicability.UNSAFE, STAYS),
    }
    both = lint(source, Settings(fix=True, unsafe_fixes=True), CATALOGUE, untouchable=is_old)
    assert both.text.count(".to(device)") == 1
