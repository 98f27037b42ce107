"""What fixes write for a device, a step boundary, a seed ...: plain torch_xla, or code that runs on any device.

The one place that knows both. A rule asks its fix (``fix.emit``) for the text of a concept and never names an API.
"""

from __future__ import annotations

import ast

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.fixes import FixBuilder


class Emitter:
    """Plain torch_xla."""

    __slots__ = ("_fix",)

    heeds_numbers = False
    """Whether the number of a GPU matters: XLA gives each process one device."""

    def __init__(self, fix: FixBuilder) -> None:
        self._fix = fix

    # ---------------------------------------------------------------- device

    def device(self, at: ast.AST, number: str = "") -> str:
        """The device of the process. ``number`` is the text of what chose among the GPUs of a machine."""
        return f"{self._fix.use('torch_xla', at=at)}.device()"

    def named_device(self, at: ast.AST) -> str:
        """A device object made without starting the XLA runtime, where other processes are to be started."""
        self._fix.use("torch_xla", at=at)  # which tells torch of the device type
        return f'{self._fix.use("torch", at=at)}.device("xla")'

    def device_name(self, at: ast.AST, quote: str = '"', number: str = "") -> str:
        """The device as a text."""
        self._fix.use("torch_xla")  # which tells torch of the device type
        return f"{quote}xla{quote}"

    def is_on_device(self) -> str:
        """What ``.is_cuda`` of a tensor becomes."""
        return 'device.type == "xla"'

    # ---------------------------------------------------------------- step

    def boundary(self, at: ast.AST) -> str:
        """A step boundary."""
        return f"{self._fix.use('torch_xla', at=at)}.sync()"

    def seed(self, at: ast.AST, seed: str) -> str:
        """A call that seeds the random numbers of the device."""
        return f"{self._fix.use('torch_xla', at=at)}.manual_seed({seed})"

    def save(self, call: ast.Call) -> None:
        """Let ``torch.save(obj, f)`` fetch all tensors at once and write tensors of the host."""
        xm = self._fix.use("torch_xla.core.xla_model", alias="xm", at=call)
        self._fix.rename_callee(call, f"{xm}.save")
        for item in (item for item in call.keywords if item.arg is not None):
            name = "data" if item.arg == "obj" else "file_or_path"
            self._fix.replace(item, f"{name}={self._fix.source(item.value)}")

    def world_size(self, at: ast.AST, variable: str) -> str:
        """The number of processes that run together, where ``variable`` holds the number that was asked for."""
        return f"{self._fix.use('torch_xla.runtime', alias='xr', at=at)}.world_size()"

    def checkpointing(self) -> str:
        """The module whose ``checkpoint`` computes activations again."""
        return "torch_xla.utils.checkpoint"

    def checkpoint(self, at: ast.AST) -> str:
        """That function."""
        return f"{self._fix.use(self.checkpointing(), at=at)}.checkpoint"

    # ---------------------------------------------------------------- what only CUDA has

    def leave_to_cuda(self, call: ast.Call, argument: ast.keyword | ast.expr) -> None:
        """Do without an argument that switches on what only CUDA has."""
        self._fix.delete_argument(call, argument)

    def cuda_question(self, at: ast.AST) -> str:
        """A condition that holds where CUDA is the device."""
        return f"{self._fix.use('torch', at=at)}.cuda.is_available()"

    def runtime(self, name: str, at: ast.AST) -> str:
        """A function of the runtime that does its work on any device."""
        return f"{self._fix.use('tpulint_runtime', 'backend', at=at)}.{name}"


class PortableEmitter(Emitter):
    """Code that runs on CUDA and the CPU as before, and on XLA where it is installed: all through the runtime."""

    __slots__ = ()

    heeds_numbers = True

    def device(self, at: ast.AST, number: str = "") -> str:
        return f"{self.runtime('device', at)}({number})"

    def named_device(self, at: ast.AST) -> str:
        return f"{self._fix.use('torch', at=at)}.device({self.runtime('device_type', at)}())"

    def device_name(self, at: ast.AST, quote: str = '"', number: str = "") -> str:
        return f"str({self.device(at, number)})" if number else f"{self.runtime('device_type', at)}()"

    def is_on_device(self) -> str:
        return 'device.type != "cpu"'

    def boundary(self, at: ast.AST) -> str:
        return f"{self.runtime('sync', at)}()"

    def seed(self, at: ast.AST, seed: str) -> str:
        return f"{self.runtime('manual_seed', at)}({seed})"

    def save(self, call: ast.Call) -> None:
        self._fix.rename_callee(call, self.runtime("save", call))

    def world_size(self, at: ast.AST, variable: str) -> str:
        return f"{self.runtime('world_size', at)}({variable})"

    def checkpointing(self) -> str:
        return "tpulint_runtime.backend"

    def checkpoint(self, at: ast.AST) -> str:
        return self.runtime("checkpoint", at)

    def leave_to_cuda(self, call: ast.Call, argument: ast.keyword | ast.expr) -> None:
        value = argument.value if isinstance(argument, ast.keyword) else argument
        self._fix.replace(value, self.cuda_question(call))
