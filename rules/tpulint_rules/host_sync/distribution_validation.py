"""Distributions check their arguments by reading them."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Finding
from tpulint.semantic import FunctionNode, Kind, Pace, SemanticIndex
from tpulint.semantic.functions.passed_arguments import values_given
from tpulint.semantic.loops.turn_code import EVALUATION, STEP
from tpulint.semantic.syntax.nodes import is_super
from tpulint.semantic.values.distribution_classes import class_of_torch
from tpulint_rules.host_sync._argument_checks import checking, is_open, uses

_PREFIX = "torch.distributions"
_CHECKING = frozenset({"log_prob", "cdf"})
"""Methods that check what they are given."""
_CHECKS_NOTHING = "Independent"
"""Leaves that to the distribution which it is made of: no transfer as it is made, samples or is asked (torch 2.9)."""


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    known = index.moves.has_device or (index.outside and index.kinds.mentions_device)
    if not known or index.mentions(r"set_default_validate_args"):
        return
    every = list(_made(ctx))
    made = [(call, name) for call, name in every if not index.regions.evaluation.switches.is_without_training(call)]
    steps = {call for call, _ in made if _per_step(ctx, call)}
    told: set[ast.Call] = set()
    for call, name in every:
        if call not in steps and index.turn_code.turn_of(call) == EVALUATION and _takes_device_tensor(index, call):
            yield _finding(ctx, call, name, EVALUATION)
            told.add(call)
            made = [item for item in made if item[0] is not call]
    owners = [index.tree.class_of(call) for call in steps]
    policies = {owner for owner in owners if owner is not None and index.definitions.is_module_class(owner)}
    for call, name in made:
        # A policy that is asked in the steps is asked for actions too, in each step of its environment.
        if call not in steps and (index.tree.class_of(call) not in policies or _shows_only(index, call)):
            continue
        yield _finding(ctx, call, name, STEP)
        told.add(call)
    for call, name in _constructions(index):
        if call not in told and is_open(call) and not index.regions.evaluation.switches.is_without_training(call):
            yield from _made_before(ctx, call, name)
    if not made:  # otherwise they are shown beside what makes them
        yield from _asked_of_others(ctx)


def _finding(ctx: FileContext, call: ast.Call, name: str, turn: str) -> Finding:
    message = f"`{name}` reads its arguments from the device to check them, in every {turn}"
    return checking(ctx, call, message, _asked(ctx.index, call))


def _made_before(ctx: FileContext, call: ast.Call, name: str) -> Iterator[Finding]:
    """``prior = Normal(0.0, 1.0)`` in front of the steps, and ``prior.log_prob(z)`` in them."""
    index = ctx.index
    there = _takes_device_tensor(index, call)
    asked = [one for one in _asked(index, call) if there or any(map(index.is_device_tensor, one.args))]
    turns = [turn for one in asked if (turn := index.turn_code.turn_of(one)) is not None]
    if turns:
        turn = STEP if STEP in turns else turns[0]
        message = f"`{name}` reads what it is asked about from the device to check it, in every {turn}"
        yield checking(ctx, call, message, asked)


def _takes_device_tensor(index: SemanticIndex, call: ast.Call) -> bool:
    return any(index.is_device_tensor(item) for item in values_given(call))


def _asked_of_others(ctx: FileContext) -> Iterator[Finding]:
    """Values that a step gives to a distribution which another file makes."""
    for call, receiver in ctx.index.method_calls(*_CHECKING):
        if ctx.index.pace_of(call) is not Pace.STEP and ctx.index.turn_code.turn_of(call) != STEP:
            continue
        path = ctx.index.distributions.made_elsewhere(receiver)
        if path is not None:
            shown = f"`{ctx.text(call.func)}` reads what it is given from the device to check it, in every step"
            yield ctx.finding(call, f"{shown}: the distribution is made in {os.path.basename(path)}")


def _made(ctx: FileContext) -> Iterator[tuple[ast.Call, str]]:
    """Calls that make a distribution of what may be on the device and leave it open whether that is checked."""
    for call, name in _constructions(ctx.index):
        given = values_given(call)
        if given and all(_is_of_host(ctx.index, item) for item in given):
            continue  # numbers of Python are checked on the host
        if is_open(call):
            yield call, name


def _is_of_host(index: SemanticIndex, item: ast.expr) -> bool:
    if isinstance(item, ast.Starred):
        return index.kinds.content(item.value, None, 0).kind is Kind.HOST
    return index.kind(item) is Kind.HOST


def _constructions(index: SemanticIndex) -> Iterator[tuple[ast.Call, str]]:
    """Calls of the classes of torch, and of those derived from them: ``class FixedNormal(Normal)``."""
    derived: list[tuple[ast.ClassDef, str]] = []
    for node, name in index.references(_PREFIX):
        named = class_of_torch(name)
        parent = index.parent(node)
        if not named or named == _CHECKS_NOTHING:
            continue
        if isinstance(parent, ast.Call) and parent.func is node:
            yield parent, named
        elif isinstance(parent, ast.ClassDef):
            derived.append((parent, named))
    for call in index.calls:
        held = [one for one in index.kinds.distribution_classes.held_by(call.func) if one != _CHECKS_NOTHING]
        if held:
            yield call, held[0] if len(held) == 1 else index.text(call.func)
    for owner, name in derived:
        own = index.definitions.method(owner, "__init__") is not None
        for call in index.calls:
            if _starts_base(index, call, owner) if own else index.definitions.class_called(call) is owner:
                yield call, name


def _starts_base(index: SemanticIndex, call: ast.Call, owner: ast.ClassDef) -> bool:
    """``super().__init__(mean, deviation)``"""
    func = call.func
    is_start = isinstance(func, ast.Attribute) and func.attr == "__init__" and is_super(func.value)
    return is_start and index.tree.class_of(call) is owner


def _asked(index: SemanticIndex, made: ast.Call) -> Iterator[ast.Call]:
    """Calls that give the distribution values, of which it reads each to check it: ``normal.log_prob(x)``."""
    for use in uses(index, made):
        method = index.parent(use)
        call = index.parent(method) if isinstance(method, ast.Attribute) and method.attr in _CHECKING else None
        if isinstance(call, ast.Call):
            yield call
    if _is_returned(index, made):
        yield from _asked_elsewhere(index, made)
    owner = index.definitions.class_called(made)
    for call, receiver in index.method_calls(*_CHECKING) if owner is not None else ():
        if index.tree.class_of(call) is owner and is_super(receiver):
            yield call  # in a class derived from one of torch


def _is_returned(index: SemanticIndex, made: ast.Call) -> bool:
    """Whether a function hands a distribution on, maybe with something else: ``return normal, value``."""
    for node in (made, *uses(index, made)):
        parent = index.parent(node)
        if isinstance(parent, ast.Return) or (
            isinstance(parent, ast.Tuple) and isinstance(index.parent(parent), ast.Return)
        ):
            return True
    return False


def _asked_elsewhere(index: SemanticIndex, made: ast.Call) -> Iterator[ast.Call]:
    """The same in the steps of a file, of a distribution that is not made there: by the policy, then."""
    maker = index.function_of(made)
    for call, receiver in index.method_calls(*_CHECKING):
        if index.turn_code.turn_of(call) != STEP:
            continue
        if isinstance(receiver, ast.Attribute) and maker is not None and receiver.attr == maker.name:
            yield call  # a property: `model.prior.log_prob(z)`
        if not isinstance(receiver, ast.Name):
            continue
        values = [binding.value for binding in index.flow.reaching(receiver)]
        others = (value.func for value in values if isinstance(value, ast.Call) and value is not made)
        if values and not any((index.qualified_name(func) or "").startswith(_PREFIX) for func in others):
            yield call


def _per_step(ctx: FileContext, call: ast.Call) -> bool:
    if ctx.index.pace_of(call) is Pace.STEP or ctx.index.turn_code.turn_of(call) == STEP:
        return True
    owner, function = ctx.index.tree.class_of(call), ctx.index.function_of(call)
    if owner is not None and function is not None and function.name == "__init__":
        # A distribution made of others: `class SquashedNormal(TransformedDistribution)`.
        bases = [ctx.index.qualified_name(base) or "" for base in owner.bases]
        calls = [one for one in ctx.index.calls if ctx.index.definitions.class_called(one) is owner]
        return any(base.startswith(_PREFIX) for base in bases) and any(_per_step(ctx, one) for one in calls)
    return (
        owner is not None
        and function is not None
        and ctx.index.definitions.is_module_class(owner)
        and not _shows_only(ctx.index, call)
        and (function.name == "forward" or _calls_forward(ctx, function) or ctx.index.turn_code.runs_method(function))
    )


def _shows_only(index: SemanticIndex, call: ast.Call) -> bool:
    """Whether a method of a model leaves its training mode by itself: ``self.eval()``, then ``self.sample(64)``."""
    return index.regions.evaluation.switches.is_behind_eval(call)


def _calls_forward(ctx: FileContext, function: FunctionNode) -> bool:
    """``def sample(self, state): mean, deviation = self.forward(state)``, the other way into a policy."""
    for call in ctx.index.tree.inside(function, functions=False):
        called = call.func if isinstance(call, ast.Call) else None
        if isinstance(called, ast.Attribute) and called.attr == "forward":
            called = called.value
        elif isinstance(called, ast.Attribute):
            continue
        if isinstance(called, ast.Name) and called.id == "self":
            return True
    return False
