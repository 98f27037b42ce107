"""The porting report: what is counted, and its three forms; the page in a real browser."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from command import tpulint, write
from made_plans import compiled_plan

ROOT = Path(__file__).resolve().parents[1]
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
SAFE = "import torch\n\ntorch.cuda.empty_cache()\nx = torch.zeros(1)\n"
BLOCKED = "import torch\nfrom flash_attn import flash_attn_func\n\nattention = flash_attn_func\n"
ODD = 'import torch\n\n# <script>alert("&")</script> ü \U0001f9e0\ntorch.cuda.empty_cache()\nx = "<b>"\n'


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "a <project>"
    write(folder / "tpulint.toml", "")
    write(folder / "train.py", (ROOT / "examples" / "train_gpu.py").read_text())
    write(folder / "safe.py", SAFE)
    write(folder / "attention.py", BLOCKED)
    write(folder / "model.py", "import torch\n\n\nclass Net(torch.nn.Module):\n    pass\n")
    write(folder / "setup.py", "print(1)\n")
    write(folder / "odd.py", ODD)
    return folder


def data_of(folder: Path) -> dict[str, object]:
    return json.loads(tpulint("report", "--output-format", "json", cwd=folder).out)  # type: ignore[no-any-return]


def test_files_by_the_way_they_port(project: Path) -> None:
    data = data_of(project)
    ways = {file["filename"]: file["ports"] for file in data["per_file"]}  # type: ignore[attr-defined]
    assert ways == {
        "train.py": "reviewed fix", "safe.py": "safe fix", "attention.py": "by hand", "model.py": "as it is",
        "odd.py": "safe fix",
    }  # fmt: skip
    assert (data["files"], data["other_files"]) == (5, 1)
    shares = data["shares"]
    assert isinstance(shares, dict)
    assert {way: share["files"] for way, share in shares.items()} == {
        "as it is": 0.2, "safe fix": 0.4, "reviewed fix": 0.2, "by hand": 0.2
    }  # fmt: skip
    assert abs(sum(share["lines"] for share in shares.values()) - 1) < 0.001
    (blocker,) = data["blocking"]  # type: ignore[misc]
    assert (blocker["filename"], blocker["row"]) == ("attention.py", 2) and "flash_attn" in blocker["message"]


def test_counts_are_those_of_a_check(project: Path) -> None:
    data = data_of(project)
    found = json.loads(tpulint("check", "--output-format", "json", cwd=project).out)
    assert sum(data["rules"].values()) == len(found)  # type: ignore[attr-defined]
    unsafe = [one for one in found if (one["fix"] or {}).get("applicability") == "unsafe"]
    assert data["shares"]["reviewed fix"]["findings"] == len(unsafe) > 0  # type: ignore[index]


def test_step_loops_and_what_they_cost(project: Path) -> None:
    (loop,) = (
        loop for file in data_of(project)["per_file"] for loop in file["step_loops"]  # type: ignore[attr-defined]
    )  # fmt: skip
    lines = (project / "train.py").read_text().splitlines()
    assert lines[loop["row"] - 1].strip().startswith("for ") and loop["end_row"] > loop["row"]
    assert loop["costs"]["host_sync"] == 2 and loop["costs"]["step"] >= 1


def test_effort_grows_with_what_is_left(project: Path) -> None:
    minutes = {file["filename"]: file["effort_minutes"] for file in data_of(project)["per_file"]}  # type: ignore[attr-defined]
    assert minutes["safe.py"] == minutes["model.py"] == 0
    assert minutes["attention.py"] > minutes["train.py"] > 0
    tpulint("check", "--fix", "--unsafe-fixes", "train.py", cwd=project)
    after = {file["filename"]: file["effort_minutes"] for file in data_of(project)["per_file"]}  # type: ignore[attr-defined]
    assert after["train.py"] < minutes["train.py"] and after["attention.py"] == minutes["attention.py"]


def test_text(project: Path) -> None:
    answer = tpulint("report", cwd=project)
    assert answer.status == 0
    for expected in ("5 files of training code", "1 other file left out", "as it is", "In the way", "attention.py:2",
                     "Step loops", "train.py:49", "Estimated effort: ", "rule of thumb"):  # fmt: skip
        assert expected in answer.out, expected


def test_what_cannot_be_read_is_told(project: Path) -> None:
    (project / "bad.py").write_bytes(b"# \xff\nimport torch\n")
    write(project / "broken.py", "import torch\ndef f(:\n")
    answer = tpulint("report", "--output-format", "json", cwd=project)
    data = json.loads(answer.out)
    assert answer.status == 2 and "bad.py" in answer.err
    assert [one["filename"] for one in data["failed"]] == ["bad.py"]
    assert next(file["ports"] for file in data["per_file"] if file["filename"] == "broken.py") == "by hand"


def test_names_of_files_obey_no_terminal(tmp_path: Path) -> None:
    write(tmp_path / "a\x1b[31m\nb.py", "import torch\n\nx = torch.zeros(1).cuda()\n")
    write(tmp_path / "c\x1b.py", b"\xff\x00")
    answer = tpulint("report", ".", cwd=tmp_path)
    assert "\x1b" not in answer.out + answer.err
    assert "  a\\x1b[31m\\nb.py\n" in answer.out and "error: c\\x1b.py: " in answer.out


def test_nothing_to_port(tmp_path: Path) -> None:
    write(tmp_path / "p" / "a.py", "print(1)\n")
    for form in ("text", "json", "html"):
        assert tpulint("report", "--output-format", form, cwd=tmp_path / "p").status == 0
    assert tpulint("report", "-", cwd=tmp_path / "p").status == 2


class Page(HTMLParser):
    """Checks that tags close in the order they open, and notes what is fetched from elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.outside: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.outside += [f"{tag} {name}" for name, _ in attrs if name in ("src", "href", "srcset", "action")]
        if tag not in ("meta", "br", "hr"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open.pop() == tag, (tag, self.getpos())

    def handle_data(self, data: str) -> None:
        self.text.append(data)


@pytest.fixture
def page(project: Path) -> Path:
    answer = tpulint("report", "--output-format", "html", "-o", "report.html", cwd=project)
    assert (answer.status, answer.out) == (0, "")
    return project / "report.html"


def test_the_page_stands_alone(page: Path) -> None:
    parser = Page()
    parser.feed(page.read_text())
    assert parser.open == [] and parser.outside == []
    text = "".join(parser.text)
    assert '<script>alert("&")</script> ü \U0001f9e0' in text  # shown, not run
    assert "script" not in re.findall(r"<(\w+)", page.read_text())


def seen_by_a_browser(page: Path, folder: Path, width: int) -> dict[str, Any]:
    """What the page is like in Chromium. Scripts are the browser's own here: the page has none."""
    assert BROWSER is not None
    probe = (
        "<script>addEventListener('load', () => { const wide = document.documentElement.scrollWidth > innerWidth;"
        "const widths = which => [...document.querySelectorAll(which)].map(e => e.getBoundingClientRect().width);"
        "document.body.dataset.told = JSON.stringify({wide, title: document.title, open:"
        "document.querySelectorAll('details[open]').length, all: document.querySelectorAll('details').length,"
        "bar: widths('.bar i'), whole: widths('.bar')[0], meters: widths('.meter i'), meter: widths('.meter'),"
        "best: [...document.querySelectorAll('.best td:first-child')].map(e => e.textContent),"
        "alerted: document.querySelectorAll('main script').length}); });</script>"
    )
    seen = page.with_name("seen.html")
    seen.write_text(page.read_text().replace("</body>", probe + "</body>"))
    command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder / 'profile'}",
               f"--window-size={width},900", "--virtual-time-budget=2000", "--dump-dom", seen.as_uri()]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    match = re.search(r'data-told="([^"]*)"', done.stdout)
    assert match is not None, done.stderr
    told: dict[str, Any] = json.loads(match[1].replace("&quot;", '"').replace("&lt;", "<").replace("&gt;", ">"))
    return told


@pytest.mark.skipif(BROWSER is None, reason="needs Chromium")
@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_in_a_browser(page: Path, tmp_path: Path, width: int) -> None:
    told = seen_by_a_browser(page, tmp_path, width)
    assert told["title"] == "Porting report: a <project>" and not told["alerted"]
    assert (told["open"], told["all"]) == (3, 4)
    assert not told["wide"], "the page is wider than the window"
    assert abs(sum(told["bar"]) - told["whole"]) < 2 and min(told["bar"]) > 0


# ------------------------------------------------------------------------ with a plan

PLANNED = "batch_size, seq_len = 8, 2048\n"


def page_with(project: Path, plan: str) -> Path:
    (project / "plan.json").write_text(plan)
    answer = tpulint("report", "--output-format", "html", "--plan", "plan.json", "-o", "report.html", cwd=project)
    assert (answer.status, answer.out) == (0, ""), answer.err
    parser = Page()
    parser.feed((project / "report.html").read_text())
    assert parser.open == [] and parser.outside == []
    return project / "report.html"


@pytest.fixture
def estimated(project: Path) -> Path:
    write(project / "planned.py", PLANNED)
    options = ("--params", "7B", "--layers", "32", "--hidden", "4096", "--output-format", "json")
    return page_with(project, tpulint("plan", "planned.py", *options, cwd=project).out)


def test_an_estimate_on_the_page(estimated: Path) -> None:
    text = " ".join(re.sub("<[^>]*>", " ", estimated.read_text()).split())
    for expected in ("estimate, not compiled", "parameters 7B 32 layers of 4096", "batch 8 planned.py:1",
                     "parameters 7000000000 given", "step 8 x 2048", "v6e-8 FSDP 8", "gcloud compute tpus",
                     "v5e, data parallel: at least"):  # fmt: skip
        assert expected in text, expected
    assert text.index("Plan") < text.index("In the way")


def test_a_compiled_plan_on_the_page(project: Path) -> None:
    plan = json.loads(compiled_plan())
    plan["prices"]["chip_hours"][0] |= {"generation": "v4", "date": "2030-02-02", "source": "a <bill>"}
    text = " ".join(re.sub("<[^>]*>", " ", page_with(project, json.dumps(plan)).read_text()).split())
    for expected in ("compiled, not run", "v5e as it is 6.0 GB of 16.0 GB 250 ms memory compiles",
                     "v6e as it is - - - out-of-memory: Ran out of memory",
                     "v4 as it is - - - operator: not implemented (train.py:9)",
                     "v5e batch 32, bf16 6.0 GB", "v5litepod-4 data parallel 4 6.0 GB 250 ms 2.08 min",
                     "one &lt;note&gt;", ", of v4 of 2030-02-02 from a &lt;bill&gt;; marked",
                     "Figures that are not verified: v5e hbm bandwidth"):  # fmt: skip
        assert expected in text, expected


@pytest.mark.skipif(BROWSER is None, reason="needs Chromium")
@pytest.mark.parametrize("width", [1280, 390])
def test_an_estimate_in_a_browser(estimated: Path, tmp_path: Path, width: int) -> None:
    told = seen_by_a_browser(estimated, tmp_path, width)
    assert not told["wide"] and not told["alerted"]
    assert told["all"] == 5 and told["best"] == ["v6e-8"]
    assert told["meters"] and all(0 < used <= whole for used, whole in zip(told["meters"], told["meter"], strict=True))


@pytest.mark.skipif(BROWSER is None, reason="needs Chromium")
def test_a_compiled_plan_in_a_browser(project: Path, tmp_path: Path) -> None:
    told = seen_by_a_browser(page_with(project, compiled_plan()), tmp_path, 390)
    assert not told["wide"] and told["best"] == ["v5litepod-4"]
    shares = [used / whole for used, whole in zip(told["meters"], told["meter"], strict=True)]
    assert shares == pytest.approx([6 / 16, 6 / 16], abs=0.01)


@pytest.mark.parametrize(
    ("plan", "arguments", "message"),
    [
        (None, ("--output-format", "html"), "error: cannot read plan.json"),
        ("{", ("--output-format", "html"), "error: plan.json is no JSON"),
        ("[]", ("--output-format", "html"), "error: plan.json is no plan"),
        (
            '{"version": 1, "kind": "estimate", "about": ""}',
            ("--output-format", "html"),
            "error: plan.json is no whole plan",
        ),
        ("{}", (), "error: --plan is for --output-format html"),
    ],
)
def test_what_is_no_plan(tmp_path: Path, plan: str | None, arguments: tuple[str, ...], message: str) -> None:
    write(tmp_path / "p" / "a.py", "print(1)\n")
    if plan is not None:
        write(tmp_path / "p" / "plan.json", plan)
    answer = tpulint("report", "--plan", "plan.json", *arguments, cwd=tmp_path / "p")
    assert answer.status == 2 and message in answer.err and answer.out == ""


def test_a_name_that_is_not_utf8_is_told_in_json(tmp_path: Path) -> None:
    write(tmp_path / "p" / os.fsdecode(b"a\xff.py"), "import torch\nx = torch.zeros(1).cuda()\n")
    answer = tpulint("report", "--output-format", "json", ".", cwd=tmp_path / "p")
    (file,) = json.loads(answer.out)["per_file"]
    assert file["filename"] == r"a\udcff.py"
