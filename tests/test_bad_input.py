"""Input that no tool likes: one clear finding or a clean result, never a crash, never a changed file."""

from __future__ import annotations

import contextlib
import encodings.aliases
import json
import subprocess
import sys
from pathlib import Path

import pytest
from counted_work import growth

from tpulint.catalog import load
from tpulint.config import Settings
from tpulint.linter import lint
from tpulint.model import FileResult, Severity
from tpulint.source import SourceFile, UnreadableSource

CATALOGUE = load()
FIXING = Settings(fix=True, unsafe_fixes=True, select=("ALL",), preview=True)

TORCH = b"import torch\ntorch.cuda.synchronize()\n"

BROKEN = {
    "syntax error": TORCH + b"def f(:\n    pass\n",
    "unclosed bracket": TORCH + b"x = torch.zeros((1, 2)\n",
    "unclosed string": TORCH + b"x = 'torch.cuda\n",
    "unclosed triple quotes": TORCH + b'x = """torch.cuda\n\n',
    "python 2": TORCH + b"print torch.cuda.is_available()\n",
    "python 2 exception": TORCH + b"try:\n    pass\nexcept ImportError, e:\n    pass\n",
    "indentation": TORCH + b"if True:\n        x = 1\n    torch.cuda.synchronize()\n",
    "tabs against spaces": TORCH + b"if True:\n        x = 1\n\ttorch.cuda.synchronize()\n",
    "merge conflict": TORCH + b"<<<<<<< HEAD\ntorch.cuda.synchronize()\n=======\n>>>>>>> other\n",
    "unfinished continuation": TORCH + b"x = torch.cuda.device_count() \\",
    "1,000 parentheses": TORCH + b"x = " + b"(" * 1000 + b"torch" + b")" * 1000 + b"\n",
    "1,000 lists": TORCH + b"x = " + b"[" * 1000 + b"torch" + b"]" * 1000 + b"\n",
    "120 nested blocks": TORCH
    + b"".join(b" " * depth + b"if torch:\n" for depth in range(120))
    + b" " * 120
    + b"pass\n",
}
"""Text that Python itself refuses."""

UNREADABLE = {
    "NUL byte": TORCH + b"x = '\x00'\n",
    "binary": bytes(range(256)) * 4 + b"torch.cuda.synchronize()",
    "latin-1 without a cookie": TORCH + b"# gr\xf6\xdfe\ntorch.cuda.synchronize()\n",
    "utf-16": "import torch\ntorch.cuda.synchronize()\n".encode("utf-16"),
    "cookie of no encoding": b"# coding: klingon\nimport torch\ntorch.cuda.synchronize()\n",
    "cookie of no text encoding": b"# coding: rot13\nimport torch\ntorch.cuda.synchronize()\n",
    "cookie against byte order mark": b"\xef\xbb\xbf# coding: latin-1\nimport torch\ntorch.cuda.synchronize()\n",
    "truncated utf-8": TORCH + "x = 'é'".encode()[:-2],
    "pickle": b"\x80\x04\x95torch.cuda.synchronize\x94.",
}
"""Bytes that are not text."""

HARMLESS = {
    "empty": b"",
    "newline only": b"\n",
    "byte order mark only": b"\xef\xbb\xbf",
    "white space only": b" \t\x0c\r\n\r\n  ",
    "comment only": b"# torch.cuda.synchronize()",
    "docstring only": b'"""torch.cuda.synchronize()"""',
    "800 elif": b"import torch\nif torch:\n    pass\n"
    + b"".join(b"elif torch == %d:\n    pass\n" % n for n in range(800)),
    "90 lists": b"import torch\nx = " + b"[" * 90 + b"torch" + b"]" * 90 + b"\n",
    "700 terms": b"import torch\nx = " + b" + ".join([b"torch.pi"] * 700) + b"\n",
    "long line": b"import torch\nx = '" + b"torch.cuda.synchronize() " * 40_000 + b"'\n",
}
"""Text without anything to find."""

DEEP = {
    "8,000 terms": b" + ".join([b"torch.cuda.device_count()"] * 8000),
    "2,000 terms": b" + ".join([b"torch.cuda.device_count()"] * 2000),
    "chain of 1,500 calls": b"torch.zeros(1)" + b".cuda()" * 1500,
    "chain of 300 calls": b"torch.zeros(1)" + b".cuda()" * 300,
    "3,000 not": b"not " * 3000 + b"torch.cuda.is_available()",
    "900 lambdas": b"lambda: " * 900 + b"torch.cuda.is_available()",
    "150 nested calls": b"torch.cuda.manual_seed(" * 150 + b"0" + b")" * 150,
    "attribute of 1,200 names": b"torch.cuda" + b".amp" * 1200,
    "500 comparisons": b" < ".join([b"torch.cuda.device_count()"] * 500),
}
"""Expressions so deep that a Python release may refuse them; a newer one may not."""


def read(data: bytes) -> SourceFile:
    return SourceFile.from_bytes(data, "train.py")


def fix(data: bytes) -> FileResult:
    return lint(read(data), FIXING, CATALOGUE)


@pytest.mark.parametrize("data", BROKEN.values(), ids=BROKEN.keys())
def test_text_that_is_not_python_is_one_finding(data: bytes) -> None:
    result = fix(data)
    assert [finding.code for finding in result.findings] == ["invalid-syntax"]
    finding = result.findings[0]
    assert finding.severity is Severity.ERROR
    assert finding.message and "\n" not in finding.message
    assert 0 <= finding.span.start <= finding.span.end <= len(result.text)
    assert not result.error and not result.fixed
    assert result.text == result.original == read(data).text


def test_syntax_error_is_shown_where_python_sees_it() -> None:
    source = read(TORCH + "x = 'größe 😀'\r\ny = torch.zeros(1) torch.ones(1)\r\n".encode())
    (finding,) = lint(source, FIXING, CATALOGUE).findings
    assert source.position(finding.span.start)[0] == 4


def test_syntax_error_tells_whose_it_is() -> None:
    """What a newer Python reads may be one for that which runs."""
    (finding,) = lint(read(TORCH + b"x = 1 2\n"), FIXING, CATALOGUE).findings
    assert finding.message.startswith(f"not valid Python {sys.version_info.major}.{sys.version_info.minor}: ")


@pytest.mark.parametrize("data", UNREADABLE.values(), ids=UNREADABLE.keys())
def test_bytes_that_are_not_text_are_one_sentence(data: bytes) -> None:
    with pytest.raises(UnreadableSource) as raised:
        read(data)
    assert raised.value.message and "\n" not in raised.value.message
    assert 1 <= raised.value.row <= data.count(b"\n") + data.count(b"\r") + 1


@pytest.mark.parametrize("data", HARMLESS.values(), ids=HARMLESS.keys())
def test_nothing_to_find_is_a_clean_result(data: bytes) -> None:
    source = read(data)
    result = lint(source, FIXING, CATALOGUE)
    assert result.findings == () and result.fixed == () and not result.error
    assert source.render(result.text) == data


@pytest.mark.parametrize("expression", DEEP.values(), ids=DEEP.keys())
def test_deep_expression_is_linted_or_refused(expression: bytes) -> None:
    result = fix(TORCH + b"x = (" + expression + b")\n")
    assert not result.error
    if any(finding.code == "invalid-syntax" for finding in result.findings):
        assert len(result.findings) == 1 and result.text == result.original
    else:
        compile_quietly(result.text)


def test_limit_of_nested_calls_is_told_as_what_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    def follow_for_ever(*given: object) -> object:
        return follow_for_ever(*given)

    monkeypatch.setattr("tpulint.told_findings.found_by", follow_for_ever)
    result = fix(TORCH)
    (finding,) = result.findings
    assert (finding.code, result.error, result.text) == ("invalid-syntax", "", result.original)
    assert "too deep or too large to be examined: RecursionError" in finding.message
    assert "(test_bad_input.py:" in finding.message
    assert "to parse" not in finding.message


def test_value_that_many_branches_change_is_followed_once() -> None:
    """Every branch doubles the ways that an object may have gone."""

    def lint_branches(count: int) -> None:
        text = "import torch\nnet = torch.nn.Linear(1, 1)\n" + "if x:\n    net = net.cuda()\n" * count
        result = lint(SourceFile.from_text(text), Settings(), CATALOGUE)
        assert [finding.code for finding in result.findings] == ["TPU002"] * count

    assert growth(lint_branches, 8, 32) < 16


def compile_quietly(text: str) -> None:
    """Compile where this Python can: what it refuses for depth alone is no fault of a fix."""
    with contextlib.suppress(RecursionError, MemoryError):
        compile(text, "train.py", "exec", dont_inherit=True)


def test_every_encoding_of_python_is_read_back_or_refused() -> None:
    outcomes = set()
    for name in sorted(
        {*encodings.aliases.aliases.values(), "idna", "punycode", "unicode_escape", "undefined", "mbcs"}
    ):
        data = f"# coding: {name}\nimport torch\ntorch.cuda.synchronize()  # {'x' * 80}\n".encode()
        try:
            source = read(data)
        except UnreadableSource:
            outcomes.add("refused")
        else:
            assert source.render(source.text) == data, name
            assert not lint(source, FIXING, CATALOGUE).error, name
            outcomes.add("read")
    assert outcomes == {"read", "refused"}


def generated_file(size: int) -> bytes:
    """A file as no person writes it: one loop with thousands of rows, each with something to find and to fix."""
    row = b"    total += loss.item(); x = x.cuda()  # row of a generated file\n"
    return b"import torch\nfor x in []:\n    loss = x.mean(); loss.backward()\n" + row * (size // len(row))


def test_thousands_of_lines_are_checked() -> None:
    data = generated_file(400_000)
    result = lint(read(data), Settings(select=("ALL",), preview=True), CATALOGUE)
    assert len(result.findings) > 1_000 and not result.error
    assert result.text.encode() == data


def test_work_grows_with_the_length_of_a_file_not_with_its_square() -> None:
    settings = Settings(select=("ALL",), preview=True)
    assert growth(lambda size: lint(read(generated_file(size)), settings, CATALOGUE), 5_000, 20_000) < 5
    assert growth(lambda size: fix(generated_file(size)), 5_000, 20_000) < 5


def test_functions_that_return_themselves_are_followed_once() -> None:
    """Two calls of itself in each of many returns: followed one by one they are as many as 2 to the power of all."""

    def lint_returns(count: int) -> None:
        returns = "".join(f"    if bins == {at}:\n        return histogram(values, {at}, 'a')\n" for at in range(count))
        text = (
            f"import torch\n\ndef histogram(values, bins, kind):\n{returns}    return torch.histc(values), values\n\n"
            "def run(values, device):\n    counts, edges = histogram(values, 8, 'a')\n    return counts.to(device)\n"
        )
        lint(SourceFile.from_text(text, "example.py"), Settings(select=("ALL",), preview=True), CATALOGUE)

    assert growth(lint_returns, 4, 16) < 5


# ---------------------------------------------------------------- the command line


def test_attribute_made_of_itself_is_followed_once() -> None:
    text = b"""\
import torch
class Average:
    def move(self, state, device):
        self.moves = self.moves and state
        if self.moves:
            return state.to(torch.device("cuda"))
"""
    result = lint(read(text), Settings(), CATALOGUE)
    assert not result.error
    assert "invalid-syntax" not in {finding.code for finding in result.findings}


def test_parts_of_what_a_function_gives_that_calls_itself_have_an_end() -> None:
    text = b"""\
import torch

def draw(seen, kind):
    if kind == "often" and len(seen) < 4:
        return draw(seen, "even")
    places = torch.randint(0, 3, (4,), device="xla")
    return places, places.float().sqrt()

model = torch.nn.Linear(4, 4).to("xla")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
weights = torch.rand(3, device="xla")
for x in loader:
    places, chance = draw(seen, "often")
    loss = (model(x.to("xla")).mean(1) * weights[places] / chance).mean()
    loss.backward()
    optimizer.step()
"""
    result = lint(read(text), Settings(), CATALOGUE)
    assert not result.error
    assert "invalid-syntax" not in {finding.code for finding in result.findings}


def test_batches_of_a_function_that_calls_itself_are_followed_once() -> None:
    text = b"""\
import torch

device = torch.device("cuda")

def load(x):
    if x is None:
        return x, x, x
    return load(x) if x else x

model = torch.nn.Linear(4, 4).to(device)
optimizer = torch.optim.Adam(model.parameters())
batches = load(2)
for x in batches:
    a, b, c = load(x.to(device))
    (model(a).mean() + b).backward()
    optimizer.step()
"""
    assert not lint(read(text), Settings(select=("ALL",), preview=True), CATALOGUE).error


def run(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from tpulint.cli import main; main()", "check", "--no-cache", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)


def test_bad_files_are_reported_and_the_others_are_linted(tmp_path: Path) -> None:
    broken = BROKEN | {name: TORCH + b"x = (" + data + b")\n" for name, data in DEEP.items()}
    for kind, files in {"broken": broken, "unreadable": UNREADABLE, "harmless": HARMLESS}.items():
        for number, data in enumerate(files.values()):
            (tmp_path / f"{kind}_{number}.py").write_bytes(data)
    (tmp_path / "good.py").write_bytes(TORCH)
    done = run("--output-format", "json", ".", folder=tmp_path)
    assert "Traceback" not in done.stderr + done.stdout
    # What cannot even be read is an error of the run; everything else is a finding.
    assert done.returncode == 2
    found: dict[str, set[str]] = {}
    for finding in json.loads(done.stdout):
        found.setdefault(Path(finding["filename"]).name, set()).add(finding["code"])
    assert not any(name.startswith("harmless") for name in found)
    assert found["good.py"] and "invalid-syntax" not in found["good.py"]
    for number, name in enumerate(BROKEN):
        assert found[f"broken_{number}.py"] == {"invalid-syntax"}, name
    errors = done.stderr.splitlines()
    for number, name in enumerate(UNREADABLE):
        assert len([line for line in errors if f"unreadable_{number}.py" in line]) == 1, name
    assert len(errors) == len(UNREADABLE)


def test_syntax_errors_alone_are_findings(tmp_path: Path) -> None:
    for number, data in enumerate(BROKEN.values()):
        (tmp_path / f"{number}.py").write_bytes(data)
    done = run(".", folder=tmp_path)
    assert done.returncode == 1 and not done.stderr
    assert done.stdout.count("invalid-syntax") == len(BROKEN)


def test_fixing_leaves_bad_files_byte_for_byte(tmp_path: Path) -> None:
    files = {tmp_path / f"{number}.py": data for number, data in enumerate([*BROKEN.values(), *UNREADABLE.values()])}
    for path, data in files.items():
        path.write_bytes(data)
    done = run("--fix", "--unsafe-fixes", ".", folder=tmp_path)
    assert "Traceback" not in done.stderr + done.stdout
    assert done.returncode == 2
    assert {path: path.read_bytes() for path in files} == files


def test_missing_path_and_folder_without_files_are_said(tmp_path: Path) -> None:
    missing = run("nowhere.py", folder=tmp_path)
    assert missing.returncode != 0 and "nowhere.py" in missing.stderr + missing.stdout
    assert "Traceback" not in missing.stderr
    assert run(".", folder=tmp_path).returncode == 0
