"""What CI servers get: SARIF as its object model has it, annotations and summaries for GitHub, the action itself."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import attr
import pytest
import sarif_om
import yaml
from command import CONFIG, SCRIPT, environment, tpulint

ROOT = Path(__file__).resolve().parents[1]
ACTION = ROOT / "action.yml"

# What the schema of SARIF makes of each property; a list is one of these.
CLASSES = {
    "runs": sarif_om.Run, "tool": sarif_om.Tool, "driver": sarif_om.ToolComponent,
    "rules": sarif_om.ReportingDescriptor,
    "shortDescription": sarif_om.MultiformatMessageString, "fullDescription": sarif_om.MultiformatMessageString,
    "help": sarif_om.MultiformatMessageString, "defaultConfiguration": sarif_om.ReportingConfiguration,
    "automationDetails": sarif_om.RunAutomationDetails, "invocations": sarif_om.Invocation,
    "toolExecutionNotifications": sarif_om.Notification, "results": sarif_om.Result, "message": sarif_om.Message,
    "locations": sarif_om.Location, "location": sarif_om.Location, "relatedLocations": sarif_om.Location,
    "physicalLocation": sarif_om.PhysicalLocation, "artifactLocation": sarif_om.ArtifactLocation,
    "region": sarif_om.Region, "deletedRegion": sarif_om.Region, "insertedContent": sarif_om.ArtifactContent,
    "codeFlows": sarif_om.CodeFlow, "threadFlows": sarif_om.ThreadFlow, "fixes": sarif_om.Fix,
    "artifactChanges": sarif_om.ArtifactChange, "replacements": sarif_om.Replacement, "description": sarif_om.Message,
}  # fmt: skip
RAGGED = """
import torch
from torch.utils.data import DataLoader


def train(model, optimizer, dataset, tokenizer, device):
    def collate(samples):
        return tokenizer(list(samples), padding=True, return_tensors="pt")

    loader = DataLoader(dataset, batch_size=16, collate_fn=collate, drop_last=True)
    for inputs in loader:
        optimizer.zero_grad()
        model(**inputs.to(device)).loss.backward()
        optimizer.step()
"""
"""Has a finding with a source and a sink."""
FREE = ("properties", "partialFingerprints")


def hold_against(model: type[Any], value: dict[str, Any], where: str) -> int:
    """Assert that an object has properties of its class only, and all that it must have; how many were looked at."""
    fields = {one.metadata["schema_property_name"]: one for one in attr.fields(model)}
    needed = {name for name, one in fields.items() if one.default is attr.NOTHING}
    assert set(value) <= set(fields) | {"$schema"}, f"{where}: {set(value) - set(fields)}"
    assert needed <= set(value), f"{where} lacks {needed - set(value)}"
    seen = 1
    for name, inner in value.items():
        wanted = (
            sarif_om.ThreadFlowLocation if model is sarif_om.ThreadFlow and name == "locations" else CLASSES.get(name)
        )
        for one in inner if isinstance(inner, list) else [inner]:
            if isinstance(one, dict) and name not in FREE:
                assert wanted is not None, f"{where}: {name} is unknown"
                seen += hold_against(wanted, one, f"{where}.{name}")
    return seen


def test_sarif_is_what_its_object_model_allows(tmp_path: Path) -> None:
    shutil.copy(ROOT / "examples" / "train_gpu.py", tmp_path / "träin.py")
    (tmp_path / "ragged.py").write_text(RAGGED)
    (tmp_path / "broken.py").write_text("import torch\ndef f(:\n")
    (tmp_path / "bad.py").write_bytes(b"# \xff\nimport torch\n")
    answer = tpulint("check", "--isolated", "--preview", "--output-format", "sarif", ".", cwd=tmp_path)
    log = json.loads(answer.out)
    assert hold_against(sarif_om.SarifLog, log, "log") > 200
    (run,) = log["runs"]
    results = run["results"]
    assert {result["level"] for result in results} == {"note", "warning", "error"}
    for result in results:
        address = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        assert not os.path.isabs(address) and ":" not in address and address.isascii()
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
    marks = [result["partialFingerprints"]["primaryLocationLineHash"] for result in results]
    assert len(set(marks)) == len(marks)
    for rule in run["tool"]["driver"]["rules"]:
        assert all(rule[name]["text"].strip() for name in ("shortDescription", "fullDescription", "help"))
        assert rule["id"] == "invalid-syntax" or rule["properties"]["precision"] in ("very-high", "high")
    assert any("fixes" in result for result in results) and any("codeFlows" in result for result in results)
    # The same line elsewhere in its file has the same fingerprint.
    text = (tmp_path / "träin.py").read_text()
    (tmp_path / "träin.py").write_text("# A comment more\n" + text)
    moved = json.loads(tpulint("check", "--isolated", "--preview", "--output-format", "sarif", ".", cwd=tmp_path).out)
    assert {one["partialFingerprints"]["primaryLocationLineHash"] for one in moved["runs"][0]["results"]} == set(marks)


# ---------------------------------------------------------------- GitHub


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A clone on a branch with a file that ``origin/main`` does not have."""
    origin, folder = tmp_path / "origin", tmp_path / "project"
    origin.mkdir()
    identity = ("-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false")

    def git(where: Path, *words: str) -> None:
        subprocess.run(["git", *identity, *words], cwd=where, check=True, capture_output=True)

    (origin / "tpulint.toml").write_text(CONFIG)
    (origin / "a_first.py").write_text("import acme\n" + "acme.drop()\n" * 12)
    git(origin, "init", "-q", "-b", "main")
    git(origin, "add", "-A")
    git(origin, "commit", "-qm", "start")
    git(tmp_path, "clone", "-q", str(origin), "project")
    git(folder, "checkout", "-qb", "mine")
    (folder / "train.py").write_text(SCRIPT)
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "mine")
    return folder


def annotated(out: str) -> list[str]:
    """Files of the annotations, in order."""
    return re.findall(r"^::(?:error|warning|notice) title=tpulint \(\w+\),file=([^,]+),", out, re.MULTILINE)


def test_new_findings_come_first_on_a_pull_request(project: Path) -> None:
    plain = tpulint("check", "--output-format", "github", cwd=project)
    assert annotated(plain.out)[:3] != ["train.py"] * 3 and len(annotated(plain.out)) == 15
    on_request = tpulint("check", "--output-format", "github", cwd=project, GITHUB_BASE_REF="main")
    assert annotated(on_request.out)[:3] == ["train.py"] * 3 and len(annotated(on_request.out)) == 15
    unknown = tpulint("check", "--output-format", "github", cwd=project, GITHUB_BASE_REF="gone")
    assert annotated(unknown.out) == annotated(plain.out) and "warning" in unknown.err


def test_what_github_does_not_show_is_in_the_summary_of_the_step(project: Path, tmp_path: Path) -> None:
    page = tmp_path / "summary.md"
    page.write_text("# Before\n")
    answer = tpulint("check", "--output-format", "github", cwd=project, GITHUB_STEP_SUMMARY=str(page))
    assert "15 findings; GitHub shows 10 of a level, the summary of this step has more" in answer.out
    text = page.read_text()
    assert text.startswith("# Before\n## tpulint\n") and "**15 findings** in 2 files" in text
    assert text.count("| `a_first.py:") == 12 and text.count("| `train.py:") == 3


def test_a_summary_in_markdown(project: Path) -> None:
    (project / "bad.py").write_bytes(b"# \xff\nimport acme\n")
    (project / "odd|name.py").write_text("import acme\nacme.drop()\n")
    links = {"GITHUB_SERVER_URL": "https://github.com", "GITHUB_REPOSITORY": "a/b", "GITHUB_SHA": "abc"}
    answer = tpulint("check", "--output-format", "markdown", cwd=project, **links)
    assert answer.status == 2 and "### Files that could not be dealt with\n\n- `bad.py:1`: byte 0xff" in answer.out
    assert "[`train.py:4`](https://github.com/a/b/blob/abc/train.py#L4) | ACM001 |" in answer.out
    rows = [row for row in answer.out.splitlines() if row.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {5}, rows
    clean = tpulint("check", "--output-format", "markdown", "--select", "ACM009", "train.py", cwd=project)
    assert clean.out == "## tpulint\n\nAll checks passed.\n"


@pytest.mark.parametrize(("kind", "name"), [("vendor.github-actions", "action.yml"),
                                            ("vendor.github-workflows", ".github/workflows/ci.yml")])  # fmt: skip
def test_github_can_read_it(kind: str, name: str) -> None:
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", kind, str(ROOT / name)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def run_action(project: Path, folder: Path, inputs: dict[str, str], **env: str) -> subprocess.CompletedProcess[str]:
    """The step of the action that lints, as GitHub's runner runs it, with tpulint from here."""
    action = yaml.safe_load(ACTION.read_text())
    step = action["runs"]["steps"][-1]
    given = {name: inputs.get(name, str(one["default"])) for name, one in action["inputs"].items()}
    assert set(inputs) <= set(given)
    (folder / "tpulint" / "bin").mkdir(parents=True, exist_ok=True)
    command = folder / "tpulint" / "bin" / "tpulint"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -P -m tpulint "$@"\n')
    command.chmod(0o755)
    wanted = {
        name: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda match: given[match[1]], value)
        .replace("${{ runner.temp }}", str(folder))
        for name, value in step["env"].items()
    }  # fmt: skip
    assert not any("${{" in value for value in wanted.values())
    script = folder / "step.sh"
    script.write_text(step["run"])
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", str(script)], cwd=project, check=False,
        env=environment(folder / "cache", **wanted, **env), capture_output=True, text=True,
    )  # fmt: skip


def test_the_action(project: Path, tmp_path: Path) -> None:
    everything = run_action(project, tmp_path, {"sarif-file": "out.sarif"})
    assert everything.returncode == 1 and len(annotated(everything.stdout)) == 15
    assert len(json.loads((project / "out.sarif").read_text())["runs"][0]["results"]) == 15
    changed = run_action(project, tmp_path, {"changed-only": "true"}, GITHUB_BASE_REF="main")
    assert changed.returncode == 1 and annotated(changed.stdout) == ["train.py"] * 3
    some = run_action(project, tmp_path, {"paths": "train.py a_first.py", "args": "--select ACM002 --exit-zero"})
    assert some.returncode == 0 and len(annotated(some.stdout)) == 1
    wrong = run_action(project, tmp_path, {"args": "--select NOPE", "sarif-file": "no.sarif"})
    assert wrong.returncode == 2 and "NOPE" in wrong.stderr and not (project / "no.sarif").exists()


def test_arguments_of_the_action_in_quotes(project: Path, tmp_path: Path) -> None:
    (project / "with blanks").mkdir()
    (project / "with blanks" / "a.py").write_text("import acme\nacme.drop()\n")
    (project / "it's.py").write_text("import acme\nacme.drop()\n")
    quoted = run_action(
        project, tmp_path,
        {"paths": "'with blanks'\n\"it's.py\"", "args": "--config 'ignore = [\"ACM002\", \"ACM003\"]'\n  -e\n"},
    )  # fmt: skip
    assert quoted.returncode == 0 and sorted(annotated(quoted.stdout)) == ["it's.py", "with blanks/a.py"], quoted.stderr
    # Nothing is run, nothing is expanded.
    literal = run_action(project, tmp_path, {"paths": "$(touch${IFS}made) * `touch made`"})
    assert literal.returncode == 2 and not (project / "made").exists() and not annotated(literal.stdout)
    open_quote = run_action(project, tmp_path, {"args": "--select 'ACM001", "sarif-file": "out.sarif"})
    assert open_quote.returncode == 2 and "::error title=tpulint::the input args" in open_quote.stdout
    assert not (project / "out.sarif").exists()


def test_nothing_takes_the_sarif_file_of_the_action_away(project: Path, tmp_path: Path) -> None:
    (project / "nul.py").write_bytes(b"import acme\n\0")
    wanted = {"sarif-file": "out dir/out.sarif"}
    (project / "out dir").mkdir()
    report = project / "out dir" / "out.sarif"
    for args in ("", "--output-format concise", "--output-file other.txt", "--silent", "-o other.txt -s"):
        done = run_action(project, tmp_path, {**wanted, "args": args})
        assert done.returncode == 2, args
        (run,) = json.loads(report.read_text())["runs"]
        assert len(run["results"]) == 15 and run["invocations"][0]["executionSuccessful"] is False
        (notification,) = run["invocations"][0]["toolExecutionNotifications"]
        assert "NUL" in notification["message"]["text"]
        report.unlink()
    for args in ("--statistics", "--diff", "--fix-only"):
        done = run_action(project, tmp_path, {**wanted, "args": args, "paths": "train.py"})
        assert done.returncode == 2 and args in done.stderr and not report.exists(), args


def test_what_the_action_is_told_stands_in_the_docs() -> None:
    text = (ROOT / "docs" / "ci.md").read_text()
    inputs = yaml.safe_load(ACTION.read_text())["inputs"]
    assert all(f"`{name}`" in text for name in inputs)
