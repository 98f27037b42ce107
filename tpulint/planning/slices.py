"""Which slices of a generation hold a workload, under which strategy, and what they take and cost."""

from __future__ import annotations

from typing import NamedTuple

from tpulint.planning.data import Price
from tpulint.planning.estimate import STRATEGIES, Step, Workload, estimate
from tpulint.planning.generations import Generation, Slice


class Cost(NamedTuple):
    """Money for some steps, from below: steps may take longer. None where there is no price."""

    on_demand: float | None
    spot: float | None


class Candidate(NamedTuple):
    """A slice that holds the workload."""

    generation: Generation
    slice: Slice
    strategy: str
    step: Step

    def seconds(self, steps: int) -> float | None:
        """Time of some steps, from below."""
        each = self.step.seconds
        return None if each is None else each * steps

    def cost(self, price: Price | None, steps: int) -> Cost:
        """Cost of some steps."""
        seconds = self.seconds(steps)
        if price is None or seconds is None:
            return Cost(None, None)
        hours = seconds / 3600 * self.slice.chips
        return Cost(*(None if rate is None else rate * hours for rate in (price.on_demand, price.spot)))


class Scaling(NamedTuple):
    """One generation under one strategy."""

    generation: Generation
    strategy: str
    candidates: tuple[Candidate, ...]
    """Smallest slice first."""
    obstacle: str
    """Why there is none."""


def scale(workload: Workload, generation: Generation) -> tuple[Scaling, ...]:
    """All slices of a generation, under each strategy."""
    return tuple(_scale(workload, generation, strategy) for strategy in STRATEGIES)


def _scale(workload: Workload, generation: Generation, strategy: str) -> Scaling:
    steps = [(piece, estimate(workload, generation, piece, strategy)) for piece in generation.slices]
    found = tuple(
        Candidate(generation, piece, strategy, step)
        for piece, step in steps
        if step.fits and piece.chips * generation.devices <= workload.batch
    )
    return Scaling(generation, strategy, found, "" if found else _obstacle(workload, generation, steps))


def _obstacle(workload: Workload, generation: Generation, steps: list[tuple[Slice, Step]]) -> str:
    smallest = steps[0][0].chips * generation.devices
    holding = next((piece for piece, step in steps if step.fits), None)
    if holding is not None:
        devices = holding.chips * generation.devices
        return f"needs {devices} devices, and each a sequence of its own: --batch {devices} or more"
    if smallest > workload.batch:
        return f"has no slice of fewer than {smallest} devices"
    least = min((step for _, step in steps), key=lambda step: step.memory.total)
    hint = "" if workload.recompute else "; --recompute keeps less"
    room = least.room or 0
    return f"at least {least.memory.total / 1e9:.1f} GB on a device that has {room / 1e9:.1f} GB to plan with{hint}"


def cheapest(found: list[Candidate], prices: dict[str, Price], spot: bool) -> Candidate | None:
    """The TPU slice on which a step costs least, the smallest of those; without prices, the first."""
    of_tpus = [one for one in found if one.generation.kind == "tpu" and one.slice.type]

    def rank(one: Candidate) -> tuple[float, int]:
        cost = one.cost(prices.get(one.generation.name), 1)
        rate = cost.spot if spot else cost.on_demand
        # Larger slices often cost the same; what rounding leaves of a difference must not choose.
        return (float("inf") if rate is None else float(f"{rate:.9g}"), one.slice.chips)

    return min(of_tpus, key=rank, default=None)
