"""Moves to the device behind which the same move follows once fixes have rewritten both."""

from __future__ import annotations

import pytest
from ported_bodies import port


@pytest.mark.parametrize(
    ("body", "left"),
    [
        ("return x.cuda().cuda(args.gpu)\n", "return x.to(d)\n"),
        ("return x.cuda().cuda(0).cuda()\n", "return x.to(d)\n"),
        ('return x.cuda().to("cuda:0")\n', "return x.to(d)\n"),
        ("return (x + 1).cuda().cuda()\n", "return (x + 1).to(d)\n"),
        ("return (x.cuda()).cuda()\n", "return (x.to(d))\n"),
        ("return x.type(torch.cuda.FloatTensor).cuda()\n", "return x.to(d, torch.float32)\n"),
        ("return x.cuda().type(torch.cuda.LongTensor)\n", "return x.to(d, torch.int64)\n"),
        (
            "return x.type(torch.cuda.FloatTensor).cuda(args.gpu, non_blocking=args.fast)\n",
            "return x.to(d, torch.float32, non_blocking=args.fast)\n",
        ),
        (
            "return torch.cuda.LongTensor([1, 2]).cuda(non_blocking=True)\n",
            "return torch.LongTensor([1, 2]).to(d, non_blocking=True)\n",
        ),
        ("device = torch.device('cuda')\nreturn x.cuda().to(device)\n", "device = d\nreturn x.to(device)\n"),
        ("return x.cuda().float().cuda()\n", "return x.to(d).float().to(d)\n"),
        ("return x.cuda().to('cpu').cuda()\n", "return x.to(d).to('cpu').to(d)\n"),
        ("return x.cuda().to(torch.int32)\n", "return x.to(d).to(torch.int32)\n"),
        ("return x.to(args.device).cuda()\n", "return x.to(args.device).to(d)\n"),
        (
            "return (x.cuda()  # to the first\n        .cuda(args.gpu))\n",
            "return (x.to(d)  # to the first\n        .to(d))\n",
        ),
        (
            "y = x.cuda()\nreturn y.to(args.found(0)).to(args.found(0))\n",
            "y = x.to(d)\nreturn y.to(args.found(0)).to(args.found(0))\n",
        ),
        ("y = x.cuda()\nreturn y.to(x.device).to(x.device)\n", "y = x.to(d)\nreturn y.to(x.device).to(x.device)\n"),
    ],
)
def test_moves_to_one_device(body: str, left: str) -> None:
    """Each is moved once; what moves elsewhere, what nobody knows and what its author has written so stays."""
    assert port(body) == left
