"""Gradients of several batches, added up so that the update is that of all of them together."""

from __future__ import annotations

from collections.abc import Iterable

import torch

from tpulint_runtime.backend import Backend


class Gradients:
    """Sums of gradients beside the parameters, and what to divide them by.

    Each batch has its ``.grad`` to itself. Added up in ``.grad``, the first batch of an update, the others and the last
    one would be three graphs, and those of ragged batches as many as there are combinations of shapes. Added up here,
    batches need one graph for each shape, and the update one.

    Half precision is added up in float32. A parameter that no batch gave a gradient has none in the update.
    """

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self.sums: dict[torch.nn.Parameter, torch.Tensor] = {}
        """What was added up since the last update, in order of the parameters."""
        self._given: dict[torch.nn.Parameter, None] = {}
        """Those that got a gradient since the last update, in order."""
        # Sent from the host, not made on the device, where they would be constants of the first graph.
        self.one, self._count = backend.send([torch.ones(1, dtype=torch.int64), torch.zeros(1, dtype=torch.int64)])
        """What a loss that is a mean counts."""

    def start(self, parameters: Iterable[torch.nn.Parameter]) -> None:
        """Adds up the gradients of those that are trained, besides of those before."""
        for parameter in parameters:
            if parameter.requires_grad and parameter not in self.sums:
                dtype = parameter.dtype if parameter.dtype in (torch.float32, torch.float64) else torch.float32
                (self.sums[parameter],) = self._backend.send([torch.zeros(parameter.shape, dtype=dtype)])

    def add(self, count: torch.Tensor) -> None:
        """Takes the gradients of a sum over ``count``."""
        for parameter, total in self.sums.items():
            if parameter.grad is not None:
                total.add_(parameter.grad)
                parameter.grad = None
                self._given[parameter] = None
        self._count = self._count + count

    def discard(self) -> None:
        """Begins anew, without what was added up."""
        for total in self.sums.values():
            total.zero_()
        self._given = {}
        self._count = torch.zeros_like(self._count)

    def put_back(self) -> None:
        """Gives the parameters the gradient of the mean over all that was added up, in all processes, and begins anew.

        The processes have to agree on which parameters are trained."""
        processes = self._backend.place().processes
        if processes > 1:
            self._given = {parameter: None for parameter in self.sums if parameter.requires_grad}
            self._backend.add_up([self._count, *self.sums.values()])
        count = self._count.clamp(min=1).squeeze(0)
        for parameter in self._given:
            total = self.sums[parameter]
            parameter.grad = (total / count).to(parameter.dtype)
            total.zero_()
        self._given = {}
        self._count = torch.zeros_like(self._count)
