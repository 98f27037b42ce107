"""Captures the steady step of a script for ``tpulint plan``: the graphs that its step boundaries hand to the device.

With ``execute`` off nothing is compiled or run: at a step boundary what was traced is dropped, and tensors keep their
shapes alone. A step of any model is then captured in the time that tracing it takes.
"""

from __future__ import annotations

import gc
import hashlib
import json
import os
import re
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any, NamedTuple

import torch

from tpulint_runtime.observation import processes, script
from tpulint_runtime.observation.counters import loaded_xla
from tpulint_runtime.observation.records import Records
from tpulint_runtime.observation.training import Training
from tpulint_runtime.observation.unread import answer_reads
from tpulint_runtime.observation.variants import Variant
from tpulint_runtime.ownership import Line, Ownership

_MOST_READS = 20
"""Lines told of that read a value before its step boundary."""


class Wishes(NamedTuple):
    """What is to be captured, and how."""

    script: str
    folder: str
    """Where records and graphs are written."""
    step: int = 3
    """Number of the step that is captured: the third has the state of the optimizer, and repeats the second."""
    execute: bool = False
    """Whether steps are compiled and run until then."""
    bf16: bool = False
    checkpointing: bool = False
    hang_at: float = 0
    """Time since the epoch when the stack is written down; 0 for never."""


class Capturer:
    """Watches one process until it has the step."""

    def __init__(self, wishes: Wishes) -> None:
        self._wishes = wishes
        self._records = Records(wishes.folder)
        self._ownership = Ownership(wishes.script)
        self._training = Training(
            self._records, 0, False, lambda: None, self._on_backward, self._admit, lambda: None
        )  # fmt: skip
        self._variant = Variant(wishes.bf16, wishes.checkpointing, self._tell)
        self._xla: Any = None
        self._leave = os._exit
        self._before: set[int] | None = None
        """Identities of the tensors that lived at the last step boundary; None until the one before the step."""
        self._settled: set[int] = set()
        self._kept: set[int] = set()
        """Identities of all that programs wrote or read before the step that is captured. What only waits in the queue
        of a loader is none of them."""
        self._known: dict[str, int] = {}
        """Graphs by digest, and their numbers."""
        self._is_finished = False
        self._reads = 0

    def install(self) -> None:
        """Prepare this process."""
        wishes = self._wishes
        os.environ["XLA_HLO_DEBUG"] = "1"  # source lines of operations
        self._records.write("start", pid=os.getpid(), parent=os.getppid())
        if wishes.hang_at:
            self._records.write_stack_at(wishes.hang_at)
        self._training.install()
        self._variant.install()
        processes.follow_spawned("capture_spawned", "capturer")
        processes.notice_started(lambda command: self._records.write("process", command=command))

    def finish(self, how: str, status: int = 0, error: str = "", line: Line | None = None) -> None:
        """Write down how it ended. Only the first call does."""
        if self._is_finished:
            return
        self._is_finished = True
        self._records.flush()
        self._records.write(
            "end", how=how, status=status, error=error[:2000], line=list(line) if line else None,
            steps=self._training.steps, backwards=self._training.backwards, xla=loaded_xla() is not None,
        )  # fmt: skip

    def line_of(self, trace: Any) -> Line | None:
        """The innermost line of the user's code in a traceback."""
        return self._ownership.innermost(trace)

    def _tell(self, text: str) -> None:
        self._records.write("note", text=text)

    def _admit(self, error: Exception) -> None:
        """A failure of the capturer is no failure of the script."""
        self._tell(f"capturing failed: {type(error).__name__}: {error}")

    def _on_backward(self) -> None:
        """What runs before the first backward pass is run: weights may be made on the device."""
        xla = loaded_xla()
        if self._xla is not None or xla is None:
            return
        self._xla = xla
        run = xla._xla_step_marker

        def at_boundary(*args: Any, **kwargs: Any) -> Any:
            try:
                self._at_boundary(sys._getframe(1))
            except Exception as error:
                self._admit(error)
            if self._wishes.execute:
                return run(*args, **kwargs)
            return xla._clear_pending_irs(xla._xla_get_default_device())

        xla._xla_step_marker = at_boundary
        for name in ("_run_cached_graph", "_xla_warm_up_cache"):
            setattr(xla, name, self._telling_of_dynamo(getattr(xla, name)))
        if not self._wishes.execute:
            answer_reads(self._on_read)

    def _telling_of_dynamo(self, run: Callable[..., Any]) -> Callable[..., Any]:
        def run_told(*args: Any, **kwargs: Any) -> Any:
            if "dynamo" not in self._known:
                self._known["dynamo"] = 0
                self._records.write("dynamo")
            return run(*args, **kwargs)

        return run_told

    def _on_read(self, tensor: torch.Tensor) -> None:
        """A value that is still to be computed is read: on a device the step is cut there."""
        if self._before is None or self._reads >= _MOST_READS or self._identity(tensor) in self._settled:
            return
        self._reads += 1
        line = self._ownership.nearest(sys._getframe(2))
        self._records.write("cut", line=list(line) if line else None)

    def _at_boundary(self, frame: FrameType | None) -> None:
        steps = self._training.steps
        tensors = self._living()
        self._settled = {self._identity(one) for one in tensors}
        if self._before is not None:
            self._take(tensors, frame)
            if steps >= self._wishes.step:
                self._end()
        self._remember(tensors)
        if self._before is not None or steps >= self._wishes.step - 1:
            self._before = self._settled

    def _remember(self, tensors: list[torch.Tensor]) -> None:
        """What the program of this boundary writes and reads."""
        needed = self._xla._check_tensor_need_materialization(tensors)
        written = [one for one, is_needed in zip(tensors, needed, strict=True) if is_needed]
        read, _ = self._xla._get_tensors_xla_device_data_node(written)
        self._kept.update(map(self._identity, written), read)

    def _living(self) -> list[torch.Tensor]:
        """Tensors on the device that Python knows, and gradients, in the order in which torch_xla takes them."""
        found: dict[int, torch.Tensor] = {}
        for one in gc.get_objects():
            if issubclass(type(one), torch.Tensor):
                try:
                    if one.device.type == "xla":
                        found[self._identity(one)] = one
                        if one.is_leaf and one.grad is not None:  # Python knows it only once somebody has asked for it
                            found[self._identity(one.grad)] = one.grad
                except (RuntimeError, ReferenceError):
                    continue  # a tensor whose buffer was given away, or a proxy of one
        return [found[number] for number in sorted(found)]

    def _identity(self, tensor: torch.Tensor) -> int:
        return int(self._xla._xla_get_tensor_id(tensor))

    def _take(self, tensors: list[torch.Tensor], frame: FrameType | None) -> None:
        xla, device = self._xla, self._xla._xla_get_default_device()
        roots: list[torch.Tensor] = []  # all that live, also what Python does not know
        code: bytes = xla._get_stablehlo(roots, device, [], True)
        digest = hashlib.sha256(code).hexdigest()[:32]
        number = self._known.get(digest)
        if number is None:
            number = self._known[digest] = len(self._known)
            path = os.path.join(self._wishes.folder, f"program-{os.getpid()}-{number}")
            text: bytes = xla._get_stablehlo(roots, device, [], False)
            roles = self._roles(tensors)
            if shapes_of(text) != [shape for shape, _ in roles]:
                # Roots that Python does not know change the order of the arguments. Without them it is known.
                code = xla._get_stablehlo(tensors, device, [], True)
                text = xla._get_stablehlo(tensors, device, [], False)
            with open(path + ".mlirbc", "wb") as file:
                file.write(code)
            with open(path + ".mlir", "wb") as file:
                file.write(text)
            line = self._ownership.nearest(frame)
            self._records.write(
                "program", number=number, digest=digest, path=path, line=list(line) if line else None, roles=roles,
            )  # fmt: skip
        self._records.write("run", number=number)

    def _roles(self, tensors: list[torch.Tensor]) -> list[list[Any]]:
        """Shape and role of every argument. What lived at the last boundary is kept from step to step, unless it only
        waited for its step; and what does not live any more is replaced."""
        assert self._before is not None
        numbers, values = self._xla._get_tensors_xla_device_data_node(tensors)
        found = []
        for number, value in zip(numbers, values, strict=True):
            role = "input"
            if number in self._before and number in self._kept:
                role = "kept" if number in self._settled and not self._is_written(number, tensors) else "state"
            found.append([list(getattr(value, "shape", ())), role])
        return found

    def _is_written(self, number: int, tensors: list[torch.Tensor]) -> bool:
        """Whether a tensor was changed in place: then more than itself is needed to compute it."""
        tensor = next(one for one in tensors if self._identity(one) == number)
        needed, _ = self._xla._get_tensors_xla_device_data_node([tensor])
        return list(needed) != [number]

    def _end(self) -> None:
        """The step is there: nothing more of the script is run."""
        optimizers = self._training.optimizers
        self._records.write("captured", step=self._training.steps, params=optimizers.numbers())
        self.finish("captured")
        sys.stdout.flush()
        sys.stderr.flush()
        self._leave(0)


def shapes_of(text: bytes) -> list[list[int]]:
    """Shapes of the arguments of a module's main function."""
    head = next((line for line in text.splitlines() if b"func.func @main(" in line), b"")
    return [
        [int(side) for side in sides.split(b"x") if side] for sides in re.findall(rb"%arg\d+: tensor<((?:\d+x)*)", head)
    ]


def capture() -> None:
    """Run the script that the environment names until its step is captured. Called in a process made for it."""
    wishes = _wishes()
    main = script.prepare(wishes.script, sys.argv[1:])
    capturer = Capturer(wishes)
    capturer.install()
    ending = script.run(main)
    capturer.finish(ending.how, ending.status, ending.error, capturer.line_of(ending.trace))
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(ending.status)  # at its end torch_xla would run what is pending, or wait for threads


def capture_spawned() -> None:
    """The same in a process that the script has spawned."""
    Capturer(_wishes()).install()


def _wishes() -> Wishes:
    return Wishes(**json.loads(os.environ[processes.VARIABLE]))
