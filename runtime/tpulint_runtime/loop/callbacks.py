"""What a training loop tells those who want to know."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tpulint_runtime.loop.history import Record
    from tpulint_runtime.loop.loop import Loop


class Callback:
    """The hooks of a loop, which do nothing here. A callback need not be one of these, nor have all of them.

    They run on the host, in the order the callbacks were given in. ``on_step_begin`` and ``on_step_end`` are behind the
    boundary of the step before and of the step itself: what they read of the device has been asked for, but they wait
    for it. A callback with ``state_dict`` and ``load_state_dict`` is saved in checkpoints with the loop.
    """

    def on_train_begin(self, loop: Loop) -> None:
        """Before the first step, with the state in place, also that of a checkpoint. The one hook that is given the
        loop: keep it, to look at its attributes or to :meth:`~Loop.stop` it."""

    def on_epoch_begin(self) -> None:
        """Before the first batch of an epoch."""

    def on_step_begin(self, batch: Any) -> None:
        """Before a step, with its batch on the device; with gradient accumulation, the list of its batches."""

    def on_boundary(self, *computed: Any) -> None:
        """Before a boundary of a step, with what its graph computes: the values to log, by name, and the model; or,
        with gradient accumulation before that of each batch, the sums of gradients. Nothing of it has run, and nothing
        is to be read."""

    def on_step_end(self) -> None:
        """After the boundary of a step. Values of the step are on the device, and not yet read."""

    def on_log(self, record: Record) -> None:
        """When values were read, every ``log_every`` steps and at the end."""

    def on_evaluation_end(self, record: Record) -> None:
        """When an evaluation is done."""

    def on_epoch_end(self) -> None:
        """After the last step of an epoch, and the evaluation that follows it."""

    def on_train_end(self) -> None:
        """When training is over, also when an exception ends it."""

    def expected(self) -> AbstractContextManager[Any]:
        """Entered around what waits for the device on purpose: reading values to log, evaluations, checkpoints."""
        return nullcontext()


class Callbacks(list[Any]):
    """The callbacks of a loop, in the order they were given in."""

    def tell(self, hook: str, *args: Any) -> None:
        """Calls the hook of all that have it."""
        for callback in self:
            if (told := getattr(callback, hook, None)) is not None:
                told(*args)

    def end(self, is_failing: bool) -> None:
        """Tells all of them that training is over. Their errors do not replace one that is on its way."""
        failed: list[Exception] = []
        for callback in self:
            try:
                getattr(callback, "on_train_end", lambda: None)()
            except Exception as error:
                failed.append(error)
        if failed and not is_failing:
            raise failed[0]
        for told in failed:
            warnings.warn(f"a callback failed at the end of the training: {told!r}", stacklevel=4)

    @contextmanager
    def expected(self) -> Iterator[None]:
        """Around what waits for the device on purpose."""
        with ExitStack() as stack:
            for callback in self:
                if hasattr(callback, "expected"):
                    stack.enter_context(callback.expected())
            yield

    def state_dict(self) -> list[Any]:
        """The states of those that have one."""
        return [callback.state_dict() for callback in self._with_state()]

    def check_states(self, states: Sequence[Any]) -> None:
        """Raises ValueError for states of others."""
        if len(states) != len(self._with_state()):
            raise ValueError(f"{len(states)} callbacks with a state were saved, these are {len(self._with_state())}")

    def load_state_dict(self, states: Sequence[Any]) -> None:
        """Gives each its own back."""
        for callback, saved in zip(self._with_state(), states, strict=True):
            callback.load_state_dict(saved)

    def _with_state(self) -> list[Any]:
        return [callback for callback in self if hasattr(callback, "load_state_dict")]
