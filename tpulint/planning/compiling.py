"""Asks a TPU compiler, in a process of its own, what it makes of a program. Answers are kept by content."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from tpulint.digest import digest_of
from tpulint.disk import write_private
from tpulint.planning.compiled import Compilation, CompileFailure, Memory, Program
from tpulint.planning.compiler_messages import crash, failure_of, timeout
from tpulint.planning.compilers import TOPOLOGIES, Compiler, environment
from tpulint.planning.generations import Generation
from tpulint.verification.process import end

_FORMAT = 3
_LOOK_SECONDS = 0.1
_KEPT_ANSWERS = 500
_START_SECONDS = 60.0
"""Given to the process in which only a topology is looked for, on top of compiling."""
_PROCESS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "tpu_process.py")


class Compiling(NamedTuple):
    """How programs are compiled."""

    compiler: Compiler
    folder: str
    """For what is asked and answered."""
    timeout: float
    """Seconds for one program."""
    cache: str = ""
    """Folder with answers of earlier runs; empty for none."""
    process: str = _PROCESS
    """What is run; another file in tests."""


def compile_program(
    program: Program,
    generation: Generation,
    script: str,
    how: Compiling,
    on_wait: Callable[[], None] | None = None,
) -> Compilation:
    """One program for one generation. A failure is an answer, too."""
    name = generation.name
    if name not in TOPOLOGIES:
        unknown = CompileFailure("topology", f"libtpu is not known to have a compiler for {name}")
        return Compilation(program.digest, name, "", None, None, None, unknown, 0.0, False)
    topology, configuration = TOPOLOGIES[name]
    donated = [position for position, one in enumerate(program.arguments) if one.role == "state"]
    request = {"topology": topology, "configuration": configuration, "donated": donated}
    kept = _kept_at(program, TOPOLOGIES[name], how)
    answer: dict[str, Any] | CompileFailure | None = _load(kept)
    is_cached = answer is not None
    if answer is None:
        answer = _ask(program, {**request, "leave_out": True}, script, how, on_wait)
        if isinstance(answer, CompileFailure) and answer.kind == "crash":
            # Seen of libtpu 0.0.51 (fusion_util.cc, TransformWindow), which compiles it with what passes through.
            other = _ask(program, {**request, "leave_out": False}, script, how, on_wait)
            answer = answer if isinstance(other, CompileFailure) else {**other, "as_printed": True}
    if isinstance(answer, CompileFailure):
        return Compilation(program.digest, name, topology, None, None, None, answer, how.timeout, False)
    failure = failure_of(str(answer["error"]), str(answer["stage"]), script) if "error" in answer else None
    if not is_cached and (failure is None or failure.kind == "out-of-memory"):
        _keep(kept, answer)  # other failures name lines, which are no part of the content
    return Compilation(
        program.digest, name, topology, Memory(*answer["memory"]) if "memory" in answer else None,
        answer.get("flops"), answer.get("bytes_accessed"), failure, float(answer.get("seconds", 0.0)), is_cached,
        bool(answer.get("as_printed")),
    )  # fmt: skip


def _ask(
    program: Program, request: dict[str, Any], script: str, how: Compiling, on_wait: Callable[[], None] | None
) -> dict[str, Any] | CompileFailure:
    stem = os.path.join(how.folder, f"compile-{len(os.listdir(how.folder))}")
    request = {**request, "program": stem + ".mlirbc", "answer": stem + ".answer"}
    with open(request["program"], "wb") as code:
        code.write(program.code)
    with open(stem + ".json", "w", encoding="utf-8") as file:
        json.dump(request, file)
    settings = environment()
    settings["TMPDIR"] = how.folder
    started = time.monotonic()
    with open(stem + ".log", "wb") as log:
        process = subprocess.Popen(
            [how.compiler.path, "-P", how.process, stem + ".json"],
            stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, start_new_session=True, cwd=how.folder,
            env=settings,
        )  # fmt: skip
    try:
        while process.poll() is None:
            if time.monotonic() - started > how.timeout:
                return timeout(how.timeout)
            time.sleep(_LOOK_SECONDS)
            if on_wait is not None:
                on_wait()
    finally:
        status = end(process)
    try:
        with open(request["answer"], encoding="utf-8") as file:
            answer = json.load(file)
        _check(answer)
    except (OSError, ValueError, TypeError, KeyError):
        with open(stem + ".log", encoding="utf-8", errors="replace") as file:
            return crash(status, file.read(), script)
    return dict(answer)


def _check(answer: dict[str, Any]) -> None:
    """Raises one of several errors for what is no answer."""
    if "error" in answer:
        str(answer["stage"])
        return
    if len(answer["memory"]) != len(Memory._fields) or not all(isinstance(one, int) for one in answer["memory"]):
        raise ValueError("memory")
    for key in ("flops", "bytes_accessed"):
        if answer[key] is not None:
            float(answer[key])


def _kept_at(program: Program, topology: tuple[str, dict[str, str]], how: Compiling) -> str:
    if not how.cache:
        return ""
    donated = [one.role == "state" for one in program.read]
    words = json.dumps([_FORMAT, topology, donated, how.compiler.jax, how.compiler.libtpu], sort_keys=True)
    return os.path.join(how.cache, "compiled", f"{digest_of(words.encode(), program.digest.encode())}.json")


def _load(path: str) -> dict[str, Any] | None:
    """What is kept; None for nothing, or for what is damaged."""
    if not path:
        return None
    try:
        with open(path, encoding="utf-8") as file:
            answer = json.load(file)
        _check(answer)
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None
    return dict(answer)


def _keep(path: str, answer: dict[str, Any]) -> None:
    """A folder that cannot be written only costs time later."""
    if not path:
        return
    try:
        write_private(path, json.dumps(answer).encode())
        folder = os.path.dirname(path)
        with os.scandir(folder) as entries:
            by_age = sorted(entries, key=lambda entry: entry.stat().st_mtime_ns)
        for entry in by_age[:-_KEPT_ANSWERS]:
            os.unlink(entry.path)
    except OSError:
        return
