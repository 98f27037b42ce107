"""Modules within others that only wrap them: of the class that they were made of."""

from __future__ import annotations

import ast

from tpulint.semantic.functions.passed_arguments import values_given
from tpulint.semantic.syntax import torch_facts as facts
from tpulint.semantic.syntax.bindings import Binding
from tpulint.semantic.syntax.names import Names

WRAPPED = "module"
"""The attribute under which a wrapper has the module that it wraps: ``DataParallel(net).module``."""


def is_made_of_torch(names: Names, value: ast.expr) -> bool:
    """``nn.Linear(3, 3)``, of a class of torch; what keeps the class of its argument is of that."""
    name = names.qualified(value.func) if isinstance(value, ast.Call) else None
    return name is not None and name.startswith("torch.nn.") and name not in facts.SAME_CLASS


def wrapped(names: Names, value: ast.expr) -> ast.expr:
    """``net`` of ``DistributedDataParallel(net)``"""
    while isinstance(value, ast.Call) and value.args and names.qualified(value.func) in facts.SAME_CLASS:
        value = value.args[0]
    return value


def wraps_itself(binding: Binding, node: ast.Attribute) -> bool:
    """``self.net = self.to_device(self.net)``: it stays of the class that it was made of.

    So it is where several come back in the order in which they are given: ``self.net, self.optimizer = prepare(...)``.
    """
    given = values_given(binding.value) if isinstance(binding.value, ast.Call) else []
    if binding.path:
        given = given[binding.path[0] :][:1] if len(binding.path) == 1 and binding.path[0] >= 0 else []
    return any(isinstance(item, ast.Attribute) and ast.dump(item) == ast.dump(node) for item in given)
