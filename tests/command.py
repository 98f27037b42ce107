"""Runs the real command in a process of its own, as users do."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

SCRIPT = """\
import torch

for x, y in loader:
    loss = model(x).sum()
    loss.backward()
    optimizer.step()
    torch.cuda.empty_cache()
    torch.cuda.synchronize()
print(torch.cuda.memory_allocated())
"""
"""Three findings of TPU010: one with a safe fix, one with an unsafe fix, one without a fix."""

FIXED = SCRIPT.replace("    torch.cuda.empty_cache()\n", "")
"""What ``--fix`` makes of it."""


class Answer(NamedTuple):
    """What the command gave back."""

    status: int
    out: str
    err: str
    raw: bytes
    """Standard output, byte for byte."""


def tpulint(*args: str, cwd: Path, stdin: bytes = b"", **environment: str) -> Answer:
    """Run ``tpulint`` in a folder."""
    env = {key: value for key, value in os.environ.items() if not key.startswith(("TPULINT_", "GITHUB_", "NO_COLOR", "FORCE_"))}
    env.setdefault("XDG_CACHE_HOME", str(cwd.parent / "user-cache"))
    env.update(environment)
    command = [sys.executable, "-P", "-m", "tpulint", *args]
    done = subprocess.run(command, cwd=cwd, input=stdin, capture_output=True, env=env, timeout=120, check=False)
    out, err = (text.decode("utf-8", "replace").replace("\r\n", "\n") for text in (done.stdout, done.stderr))
    assert "Traceback" not in err, err
    return Answer(done.returncode, out, err, done.stdout)


def write(path: Path, text: str | bytes) -> Path:
    """A file with this content, and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def plugin(folder: Path, body: str) -> Path:
    """A package ``acme_rules`` with one rule, ACM001, whose check has this body."""
    card = """\
code: ACM001
name: acme-rule
summary: "What acme looks for"
status: stable
since: NEXT
severity: warning
certainty: certain
fix: {availability: none}
anchors: [acme]
why: Acme wants it. This is the second sentence.
examples:
  - bad: |
      acme()
"""
    rules = folder / "acme_rules"
    write(rules / "__init__.py", '"""Rules of acme."""\n')
    write(rules / "device" / "__init__.py", '"""Devices."""\n')
    write(rules / "device" / "acme_rule.yaml", card)
    indented = "".join(f"    {line}\n" for line in body.strip().splitlines())
    write(rules / "device" / "acme_rule.py", f"import os, signal, time\n\n\ndef check(ctx):\n{indented}    yield\n")
    return folder
