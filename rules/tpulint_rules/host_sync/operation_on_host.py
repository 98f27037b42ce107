"""Operations that XLA has not: torch_xla copies their tensors to the host, and the results back."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Set

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Certainty, Finding
from tpulint.semantic import Kind, Side
from tpulint.semantic.loops.turn_code import STEP
from tpulint_rules.device._sparse_ways import makes_sparse, needs_sparse
from tpulint_rules.host_sync import _host_operations as on_host
from tpulint_rules.host_sync._failing_gradients import failing_gradients
from tpulint_rules.host_sync._host_draws import host_draws
from tpulint_rules.host_sync._made_layers import made_layers
from tpulint_rules.host_sync._pooling import POOLS, count_no_padding, has_pooled_gradient_on_host
from tpulint_rules.host_sync._resizing import RESIZING, UPSAMPLE, has_gradient_on_host, runs_on_host
from tpulint_rules.host_sync._scaled_products import add_scaled_product
from tpulint_rules.host_sync._smooth_losses import smooth_loss

_NAMES = {
    "torch": on_host.FUNCTIONS,
    "torch.linalg": on_host.LINEAR_ALGEBRA,
    "torch.fft": on_host.TRANSFORMS,
    "torch.nn.functional": on_host.OF_LAYERS,
    "torch.special": on_host.SPECIAL,
    "torch.sparse": on_host.OF_SPARSE,
    "torchvision.ops": on_host.OF_REGIONS,
}

_TAKEN_BY_CTC = 4
_FACTORED = ("covariance_matrix", "precision_matrix")
_SPARSE_PRODUCT = "torch.sparse.mm"
_DENSE = "Both factors must be on the device, where no sparse ones exist."
_UNASKED = "No error is raised where a matrix has no inverse."


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    yield from failing_gradients(ctx)
    if not index.turn_code.exists:
        return
    told: set[tuple[int, str]] = set()
    for call in index.turn_code.nodes(ast.Call):
        found = _operation(ctx, call) or _of_distribution(ctx, call) or _factored(ctx, call)
        gradient = found is None
        found = found or _gradient(ctx, call)
        turn = None if found is None else index.turn_code.turn_of(call)
        if found is None or turn is None or index.value(found[1]).side is not Side.DEVICE or _is_of_sparse(ctx, call):
            continue
        operation, tensor = found
        if gradient and (turn != STEP or not index.regions.records_gradient(call) or _is_cut(ctx, call)):
            continue
        place = (index.span(call).start, operation)
        if place in told:
            continue  # `x.unfold(2, 3, 1).unfold(3, 3, 1)` begins in one place
        told.add(place)
        yield ctx.finding(
            call,
            f"{'the gradient of ' if gradient else ''}`{operation}` runs on the host in every {turn}: "
            "the graph is cut, and its tensor is transferred",
            _dense_product(ctx, call)
            or _unasked_inverse(ctx, call, operation)
            or add_scaled_product(ctx, call)
            or smooth_loss(ctx, call)
            or (_pooled_over_image(ctx, call) if gradient else None),
            certainty=Certainty.CERTAIN if index.value(tensor).certain else Certainty.LIKELY,
            help=on_host.INSTEAD.get(operation.rpartition(".")[2], on_host.NOTHING),
        )
    yield from host_draws(ctx)
    yield from made_layers(ctx)


def _is_cut(ctx: FileContext, call: ast.Call) -> bool:
    from tpulint.semantic.graphs.cut_gradients import is_cut

    return is_cut(ctx.index, call)


def _is_of_sparse(ctx: FileContext, call: ast.Call) -> bool:
    """Whether a product is one of sparse tensors that stay so, ``mm(a, b).coalesce()``: it fails before it runs."""
    if ctx.index.qualified_name(call.func) != _SPARSE_PRODUCT:
        return False
    return needs_sparse(ctx, [maker for maker in ctx.index.calls if makes_sparse(ctx, maker)])


def _dense_product(ctx: FileContext, call: ast.Call) -> FixBuilder | None:
    """``torch.mm`` for ``torch.sparse.mm``: of tensors on the device both are dense."""
    if ctx.index.qualified_name(call.func) != _SPARSE_PRODUCT or len(call.args) != 2 or call.keywords:
        return None
    fix = ctx.fix("Multiply dense matrices", Applicability.UNSAFE, _DENSE)
    fix.rename_callee(call, f"{fix.use('torch', at=call)}.mm")
    return fix


def _pooled_over_image(ctx: FileContext, call: ast.Call) -> FixBuilder | None:
    name = ctx.index.qualified_name(call.func)
    return count_no_padding(ctx, call, name) if name in POOLS else None


def _unasked_inverse(ctx: FileContext, call: ast.Call, operation: str) -> FixBuilder | None:
    """``torch.linalg.inv_ex(x).inverse``, which the device computes, and nobody asks whether there is one."""
    is_function = ctx.index.qualified_name(call.func) is not None
    if operation not in on_host.INVERSES or call.keywords or len(call.args) != int(is_function):
        return None
    fix = ctx.fix("Compute the inverse on the device", Applicability.UNSAFE, _UNASKED)
    inverse = f"{fix.use('torch', at=call)}.linalg.inv_ex"
    if is_function:
        fix.rename_callee(call, inverse)
        fix.append(call, ".inverse")
    elif isinstance(call.func, ast.Attribute):
        fix.replace(call, f"{inverse}({ctx.text(call.func.value)}).inverse")
    return fix


def _of_distribution(ctx: FileContext, call: ast.Call) -> tuple[str, ast.expr] | None:
    """A method of a distribution that has no program for XLA, whichever of its classes the distribution is of."""
    func = call.func
    if not isinstance(func, ast.Attribute) or ctx.index.kind(func.value) is not Kind.DISTRIBUTION:
        return None
    classes = ctx.index.distributions.classes_of(func.value)
    if not classes or not all(func.attr in on_host.DISTRIBUTIONS.get(name, ()) for name in classes):
        return None
    return f"{sorted(classes)[0]}.{func.attr}", func.value


def _factored(ctx: FileContext, call: ast.Call) -> tuple[str, ast.expr] | None:
    """A distribution that factors its covariance where it is made."""
    if ctx.index.qualified_name(call.func) != "torch.distributions.MultivariateNormal" or not call.args:
        return None
    given = [*call.args[1:3], *(item.value for item in call.keywords if item.arg in _FACTORED)]
    return ("MultivariateNormal", call.args[0]) if given else None


def _gradient(ctx: FileContext, call: ast.Call) -> tuple[str, ast.expr] | None:
    """An operation whose gradient alone has no program for XLA."""
    if not call.args or isinstance(call.args[0], ast.Starred):
        return None
    name = ctx.index.qualified_name(call.func)
    if name is None:
        return _layer(ctx, call, on_host.BACKWARD_LAYERS, is_gradient=True)
    is_pooled = name in POOLS and has_pooled_gradient_on_host(call, name)
    if name in on_host.BACKWARD or is_pooled or (name in RESIZING and has_gradient_on_host(call, name)):
        return name.rpartition(".")[2], call.args[0]
    return None


def _operation(ctx: FileContext, call: ast.Call) -> tuple[str, ast.expr] | None:
    """Name and tensor of an operation that runs on the host; None for any other call."""
    name = ctx.index.qualified_name(call.func)
    if name is not None:
        head, _, last = name.rpartition(".")
        if not call.args or isinstance(call.args[0], ast.Starred):
            return None
        tensor, rest = call.args[0], call.args[1:]
        if head == "torch.nn.functional" and last in ("one_hot", "interpolate", "upsample"):
            asks_host = runs_on_host(ctx, call, name) if name in RESIZING else _counts_classes(call, rest)
            return (last, tensor) if asks_host else None
        if last in on_host.SCALED and head == "torch":
            return (last, tensor) if _is_scaled(call, plain=3) else None
        if last not in _NAMES.get(head, ()):
            return None
        if (last == "searchsorted" and rest) or (head == "torch.sparse" and rest):
            tensor = rest[0]
    elif isinstance(call.func, ast.Attribute) and call.func.attr in on_host.METHODS:
        last, tensor, rest = call.func.attr, call.func.value, call.args
        if ctx.index.kind(tensor) is Kind.MODULE or (last in on_host.BARE and (rest or call.keywords)):
            return None  # `vocoder.inverse(mels)`
    elif isinstance(call.func, ast.Attribute) and call.func.attr.removesuffix("_") in on_host.SCALED:
        name = call.func.attr.removesuffix("_")
        return (name, call.func.value) if _is_scaled(call, plain=2) else None
    else:
        return _layer(ctx, call, on_host.LAYERS)
    if last == "multinomial":
        counts = [*rest[:1], *(item.value for item in call.keywords if item.arg == "num_samples")]
        several = any(isinstance(c, ast.Constant) and isinstance(c.value, int) and c.value > 1 for c in counts)
        again = len(rest) > 1 or any(item.arg == "replacement" for item in call.keywords)
        return (last, tensor) if several and not again else None
    return last, tensor


def _counts_classes(call: ast.Call, rest: list[ast.expr]) -> bool:
    """Whether ``one_hot`` looks for the largest class itself."""
    return not rest and not any(item.arg in ("num_classes", None) for item in call.keywords)


def _is_scaled(call: ast.Call, plain: int) -> bool:
    """Whether a sum with a product has factors, other than 1: as keywords, or in front of its tensors as of old."""
    given = [item.value for item in call.keywords if item.arg in ("alpha", "beta")]
    if len(call.args) > plain:
        given.extend(item for item in call.args if isinstance(item, ast.Constant | ast.UnaryOp))
    numbers = [ast.unparse(item) for item in given if isinstance(item, ast.Constant | ast.UnaryOp)]
    return any(number not in ("1", "1.0") for number in numbers)


def _layer(
    ctx: FileContext, call: ast.Call, layers: Set[str], is_gradient: bool = False
) -> tuple[str, ast.expr] | None:
    """A module of torch or torchvision whose forward pass is such an operation, or whose gradient; also of a list."""
    if not call.args or not isinstance(call.func, ast.Name | ast.Attribute | ast.Subscript):
        return None
    made = [
        creation.node
        for item in ctx.index.members_of(call.func)
        for creation in ctx.index.moves.creations.of(item)
        if not creation.path
    ]
    named = [(ctx.index.qualified_name(node.func), node) for node in made if isinstance(node, ast.Call)]
    known = [name for name, _ in named if name is not None and name.startswith(("torch.", "torchvision.ops."))]
    names = {name.removeprefix("torch.nn.").removeprefix("torchvision.ops.") for name in known}
    if len(call.args) == _TAKEN_BY_CTC:
        names &= {"CTCLoss"}  # of the losses that an option chooses from, no other takes lengths
    if len(names) != 1 or not (names <= layers or _resizes(ctx, named, is_gradient)):
        return None
    # Where the batch is cannot always be told; what the layer gives is where the layer is.
    batch = call.args[0]
    return names.pop(), call if ctx.index.value(batch).side is Side.UNKNOWN else batch


def _resizes(ctx: FileContext, made: list[tuple[str | None, ast.Call]], is_gradient: bool) -> bool:
    """Whether all that a layer may be are ``nn.Upsample``, each in a way that the host computes."""
    return all(
        name == UPSAMPLE and (has_gradient_on_host(call, name) if is_gradient else runs_on_host(ctx, call, name))
        for name, call in made
    )
