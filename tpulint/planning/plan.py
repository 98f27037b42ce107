"""A plan: a workload on some generations, with prices, and the commands for the slice that costs least."""

from __future__ import annotations

from typing import NamedTuple

from tpulint.planning.commands import Command, commands
from tpulint.planning.data import Prices
from tpulint.planning.estimate import Workload, unverified
from tpulint.planning.generations import Generation
from tpulint.planning.script_numbers import ScriptNumbers
from tpulint.planning.slices import Candidate, Scaling, cheapest, scale

TITLE = "estimate, not compiled: from numbers of the model and from data sheets; times and costs are lower bounds"
"""First line of every report."""


class Plan(NamedTuple):
    """What a report shows."""

    workload: Workload
    shape_given: bool
    """Whether layers or hidden size were given, not assumed."""
    steps_per_epoch: int
    epochs: int
    spot: bool
    scalings: tuple[Scaling, ...]
    prices: Prices
    chosen: Candidate | None
    commands: tuple[Command, ...]
    script: ScriptNumbers | None = None
    """What was read off a script; None where everything was given."""

    @property
    def unverified(self) -> dict[str, tuple[str, ...]]:
        """By name of a generation, figures behind the plan that no page of the vendor states without contradiction."""
        return unverified(one.generation for one in self.scalings)

    @property
    def steps(self) -> int:
        """Of the whole run."""
        return self.steps_per_epoch * self.epochs


def make(
    workload: Workload,
    generations: list[Generation],
    prices: Prices,
    *,
    shape_given: bool = True,
    steps_per_epoch: int = 1000,
    epochs: int = 1,
    spot: bool = False,
    name: str = "tpulint-run",
    zone: str = "",
    script: str = "train.py",
    read: ScriptNumbers | None = None,
) -> Plan:
    """Plan a workload on some generations."""
    scalings = tuple(one for generation in generations for one in scale(workload, generation))
    chosen = cheapest([one for scaling in scalings for one in scaling.candidates], prices.chip_hours, spot)
    typed: tuple[Command, ...] = ()
    if chosen is not None:
        typed = commands(chosen.generation, chosen.slice, name=name, zone=zone, spot=spot, script=script)
    return Plan(workload, shape_given, steps_per_epoch, epochs, spot, scalings, prices, chosen, typed, read)
