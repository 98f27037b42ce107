"""The flag of torch with which a module keeps its parameter objects when it moves."""

from __future__ import annotations

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Scope
from tpulint.semantic.moves import SWAP_FLAG

_HOLDS_WEAK_REFERENCES = ("torch.nn.LSTM", "torch.nn.GRU", "torch.nn.RNN")


def keep_parameters(ctx: FileContext) -> FixBuilder | None:
    """A fix that sets the flag below the imports; None in a file with layers that cannot stand it.

    Not of module scope: what wide fixes unfold may let a move be put in front of the optimizer instead.
    """
    index = ctx.index
    if next(index.references("torch.nn.utils.weight_norm"), None) is not None:
        return None  # its tensors hold on to the graph, and the move fails
    if next(index.references(*_HOLDS_WEAK_REFERENCES), None) is not None and index.mentions(r"\bload_state_dict\b"):
        return None
    fix = ctx.fix(
        "Make moves keep the parameters",
        Applicability.UNSAFE,
        "The flag is for the whole process; with it a model cannot change its device between forward and backward, "
        "and `load_state_dict` fails on recurrent layers.",
        Scope.STATEMENT,
    )
    fix.insert_below_imports(f"{fix.use('torch')}{SWAP_FLAG.removeprefix('torch')}(True)")
    return fix
