"""The Python that has jax and libtpu, and what its compiler knows."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import NamedTuple

from tpulint.verification.environment import CannotRun

REQUIREMENTS = "jax==0.10.2 libtpu==0.0.51"
"""What the extra ``plan`` installs, as arguments of pip."""
_PROBE = """\
import importlib.metadata as m, json, sys
def version(name):
    try:
        return m.version(name)
    except Exception:
        return ""
print(json.dumps([list(sys.version_info[:2]), version("jax"), version("libtpu")]))
"""
_PROBE_SECONDS = 120
_OLDEST = (3, 11)

TOPOLOGIES: dict[str, tuple[str, dict[str, str]]] = {
    "v2": ("v2:2x2", {}),
    "v3": ("v3:2x2", {}),
    # Both cores of a chip as one device, as programs have it there.
    "v4": ("v4:2x2x1", {"chip_config_name": "megacore"}),
    "v5e": ("v5e:2x2", {}),
    "v5p": ("v5p:2x2x1", {}),
    "v6e": ("v6e:2x2", {}),
    "tpu7x": ("tpu7x:2x2x1", {}),
}
"""By generation: one host of it, as libtpu names it, and how its chips are set up. All are known to libtpu 0.0.51."""


class Compiler(NamedTuple):
    """A Python that has jax and libtpu."""

    path: str
    jax: str
    libtpu: str
    """Versions."""


def environment() -> dict[str, str]:
    """That of this process, less what prepares the Python of a script: it is nothing to the compiler."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


def find(candidates: tuple[str, ...]) -> Compiler:
    """The first that has both. Raises ``CannotRun``."""
    for path in dict.fromkeys(candidates or (sys.executable,)):
        try:
            # -P: no module of the working directory stands in for one of jax.
            done = subprocess.run(
                [path, "-P", "-c", _PROBE], capture_output=True, text=True, timeout=_PROBE_SECONDS, check=False,
                stdin=subprocess.DEVNULL, env=environment(),
            )  # fmt: skip
            version, jax, libtpu = json.loads(done.stdout.strip().splitlines()[-1])
        except OSError as error:
            raise CannotRun(f"cannot run {path}: {error.strerror or error}") from None
        except (ValueError, IndexError, subprocess.TimeoutExpired):
            continue
        if jax and libtpu and tuple(version) >= _OLDEST:
            return Compiler(path, jax, libtpu)
    raise CannotRun(
        f"jax and libtpu are not installed for {' or '.join(dict.fromkeys(candidates))}: run "
        f"`{candidates[0]} -m pip install {REQUIREMENTS}` (the extra `plan`), or name a Python that has them with "
        "--compiler-python"
    )
