"""Operations of torch with one number ``v``, and a run that counts how often each is compiled for six of them.

As a script it prints the counts as JSON. It needs torch_xla; the lists themselves need nothing.
"""

from __future__ import annotations

import json
from typing import Any

CONSTANTS = """
x ** v
v ** x
torch.pow(x, v)
torch.pow(v, x)
torch.pow(x, exponent=v)
x.pow(v)
x.clone().pow_(v)
torch.float_power(x, v)
F.threshold(x, v, 20.0)
F.threshold(x, 0.1, v)
F.pad(x, (1, 1), value=v)
F.pad(x, (1, 1), "constant", v)
F.normalize(x, p=v)
F.pairwise_distance(x, x + 1, p=v)
torch.norm(x, p=v)
torch.norm(x, v)
x.norm(v)
torch.linalg.norm(x.flatten(), v)
torch.linalg.vector_norm(x, v)
gradient(lambda z: F.hardtanh(z, -v, v))
"""
"""The number is written into the graph."""

SMALL_CONSTANTS = """
F.layer_norm(x, (width,), eps=v)
F.batch_norm(x, None, None, training=True, eps=v)
F.batch_norm(x, mean, mean, training=True, momentum=v)
F.group_norm(image, 3, eps=v)
F.instance_norm(image, eps=v)
torch.logit(x / 4, eps=v)
(x / 4).logit(v)
"""

WHOLE_CONSTANTS = """
torch.zeros(v, width, device=device) + 1
torch.ones(v, width, device=device) + 1
torch.empty(v, width, device=device).fill_(1)
torch.full((v, width), 2.0, device=device)
torch.rand(v, width, device=device)
torch.randn(v, width, device=device)
torch.randint(9, size=(v, width), device=device)
torch.randint(0, 9, (v, width), device=device)
torch.normal(0.0, 1.0, (v, width), device=device)
torch.arange(v + width, device=device)
torch.arange(v, v + width, device=device)
torch.eye(v, width, device=device)
torch.linspace(0, 1, v + width, device=device)
torch.roll(x, v)
x.roll(v)
torch.narrow(x, 0, v, 4) + 1
x.narrow(0, v, 4) + 1
x.select(0, v) + 1
torch.tril(x, v)
x.tril(v)
torch.triu(x, v)
x.triu(v)
torch.diagonal(x, v) + 1
x.diagonal(v) + 1
torch.topk(x, v).values
x.topk(v).values
torch.kthvalue(x, v).values
x.kthvalue(v).values
torch.reshape(tall, (v, -1)) + 1
tall.view(v, -1) + 1
tall.reshape(v, -1) + 1
torch.tile(x, (v, 1))
x.tile(v, 1)
x.repeat(v, 1)
x[None].expand(v, 16, width) + 1
torch.repeat_interleave(x, v, 0)
x.repeat_interleave(v, 0)
x.new_zeros(v, width) + 1
x.new_ones(v, width) + 1
x.new_full((v, width), 2.0)
F.one_hot(y, v + 4)
F.pad(x, (0, v))
F.interpolate(image, size=v)
F.interpolate(image, scale_factor=v)
F.avg_pool2d(image, v)
F.max_pool2d(image, v)
F.conv2d(image, kernel, padding=v)
torch.std(x, correction=v)
x.std(correction=v)
torch.var(x, correction=v)
x.var(correction=v)
"""

INPUTS = """
x * v
x + v
v - x
v / x
x / v
x // v
x % v
torch.fmod(x, v)
x > v
x == v
torch.clamp(x, v)
torch.clamp(x, max=v)
x.clamp_min(v)
x.clone().clamp_(-v, v)
torch.add(x, x, alpha=v)
torch.sub(x, x, alpha=v)
torch.addcmul(x, x, x, value=v)
torch.addcdiv(x, x, x, value=v)
torch.full((4, width), v, device=device)
torch.full_like(x, v)
x.new_full((4, width), v)
x.clone().fill_(v)
x.masked_fill(mask, v)
torch.where(mask, x, v)
torch.tensor(v, device=device) * x
torch.tensor([v]).to(device) * x
x ** torch.tensor(v, device=device)
F.leaky_relu(x, v)
F.elu(x, v)
F.celu(x, v)
F.softplus(x, v)
F.hardtanh(x, -v, v)
F.softshrink(x, v)
F.hardshrink(x, v)
F.gumbel_softmax(x, tau=v)
F.softmax(x / v, -1)
F.smooth_l1_loss(x, x + 3, beta=v)
F.margin_ranking_loss(x[:, 0], x[:, 1], mean[:1], margin=v)
F.triplet_margin_loss(x, x + 1, x + 2, margin=v)
F.hinge_embedding_loss(x, torch.ones_like(x), margin=v)
F.poisson_nll_loss(x, x, eps=v)
torch.nan_to_num(x, nan=v)
x.clone().normal_(0, v)
x.clone().normal_(v, 1)
x.clone().uniform_(-v, v)
x.clone().exponential_(v)
x + torch.randn_like(x) * v
torch.linspace(0, v, width, device=device)
torch.sqrt(x + v)
x.clone().scatter_(1, y[:, None], v)
x.clone().index_fill_(0, y, v)
F.scaled_dot_product_attention(x[None], x[None], x[None], scale=v)
gradient(lambda z: F.leaky_relu(z, v))
gradient(lambda z: F.elu(z, v))
gradient(lambda z: F.softplus(z, v))
gradient(lambda z: z.clamp(-v, v))
gradient(lambda z: z.masked_fill(mask, v))
gradient(lambda z: F.smooth_l1_loss(z, x + 3, beta=v))
"""
"""The number is uploaded, and one graph serves all."""

SMALL_INPUTS = """
torch.lerp(x, x + 1, v)
x.clone().lerp_(x + 1, v)
F.dropout(x, v)
F.dropout2d(image, v)
F.alpha_dropout(x, v, training=True)
torch.bernoulli(x, v)
F.cross_entropy(x, y, label_smoothing=v)
F.cosine_similarity(x, x + 1, eps=v)
F.normalize(x, eps=v)
gradient(lambda z: F.dropout(z, v))
gradient(lambda z: torch.lerp(z, z * 2, v))
gradient(lambda z: F.cross_entropy(z, y, label_smoothing=v))
"""

WHOLE_INPUTS = """
torch.full((4, width), v, device=device)
torch.randint(0, v, (4, width), device=device)
x.clone().random_(0, v)
x[[v]] + 1
x.index_select(0, torch.tensor([v], device=device)) + 1
torch.arange(width, device=device) + v
x * v
"""

NUMBERS = (2.125, 2.25, 2.375, 2.5, 2.625, 2.75)
SMALL_NUMBERS = (0.1125, 0.125, 0.1375, 0.15, 0.1625, 0.175)
WHOLE_NUMBERS = (2, 3, 4, 5, 6, 7)

LISTS = (
    (CONSTANTS, NUMBERS, True),
    (SMALL_CONSTANTS, SMALL_NUMBERS, True),
    (WHOLE_CONSTANTS, WHOLE_NUMBERS, True),
    (INPUTS, NUMBERS, False),
    (SMALL_INPUTS, SMALL_NUMBERS, False),
    (WHOLE_INPUTS, WHOLE_NUMBERS, False),
)


def operations(constant: bool) -> list[tuple[str, tuple[float, ...]]]:
    """The operations whose number is, or is not, a constant, with the numbers to try."""
    lists = [(text, numbers) for text, numbers, is_constant in LISTS if is_constant is constant]
    return [(line, numbers) for text, numbers in lists for line in text.split("\n") if line]


def count_compilations() -> dict[str, list[int]]:
    """For each operation how many programs were compiled for the first three numbers, and for the others."""
    import torch
    import torch.nn.functional as F
    import torch_xla
    import torch_xla.debug.metrics as metrics

    device = torch_xla.device()

    def gradient(function: Any) -> torch.Tensor:
        leaf = scope["x"].clone().requires_grad_()
        function(leaf).sum().backward()
        return leaf.grad

    def compiled() -> int:
        data = metrics.metric_data("CompileTime")
        return data[0] if data else 0

    scope: dict[str, Any] = {"torch": torch, "F": F, "device": device, "gradient": gradient}
    counts = {}
    everything = [*operations(True), *operations(False)]
    for number, (text, values) in enumerate(everything):
        width = 16 + number  # a program is never found compiled by another operation
        scope.update(
            width=width,
            x=torch.rand(16, width) + 0.5,
            image=torch.rand(2, 3, 16, width) + 0.5,
            tall=torch.rand(420, width),
            mean=torch.ones(width),
            mask=torch.rand(16, width) < 0.5,
            y=torch.randint(0, 4, (16,)),
            kernel=torch.ones(3, 3, 1, 1),
        )
        scope.update({name: value.to(device) for name, value in scope.items() if isinstance(value, torch.Tensor)})
        torch_xla.sync()
        seen = []
        for value in values:
            before = compiled()
            scope["v"] = value
            result = eval(text, scope)  # the texts are those above
            torch_xla.sync()
            del result
            seen.append(compiled() - before)
        counts[text] = [sum(seen[:3]), sum(seen[3:])]
    return counts


if __name__ == "__main__":
    print(json.dumps(count_compilations()))
