"""What is said of ``interpolate`` and ``nn.Upsample``, which torch_xla computes on the host in some ways."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_files import SETUP, agree

PROGRAM = (
    SETUP
    + """
    class Decoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = {layer}(4, 4, 3)
            self.larger = {made}

        def forward(self, x, size, mode):
            x = self.layer(x)
            return {used}{code}

    decoder = Decoder().to(device)
    optimizer = torch.optim.Adam(decoder.parameters())
    for x in loader:
        decoder(x.to(device), sizes[0], mode="nearest").mean().backward()
        optimizer.step()
    """
)


@pytest.mark.parametrize(
    ("layer", "used", "told"),
    [
        ("nn.Conv3d", "F.interpolate(x, scale_factor=2)", True),
        ("nn.Conv3d", "F.interpolate(x, size, mode='nearest')", True),
        ("nn.Conv3d", "F.upsample(x, size)", True),
        ("nn.Conv3d", "F.interpolate(x, size=(8, 8))", False),  # of images
        ("nn.Conv3d", "F.interpolate(x, size, mode=mode)", False),
        ("nn.Conv3d", "F.interpolate(x, size, None, mode)", False),
        ("nn.Conv3d", "F.interpolate(x, **size)", False),
        ("nn.Conv3d", "F.interpolate(x, size, None, 'trilinear')", True),  # its gradient
        ("nn.Conv3d", "F.interpolate(x, size, mode='area')", False),
        ("nn.Conv1d", "F.interpolate(x, scale_factor=2)", True),
        ("nn.Conv1d", "F.interpolate(x, scale_factor=2, mode='linear')", True),
        ("nn.Conv2d", "F.interpolate(x, scale_factor=2)", False),
        ("nn.Conv2d", "F.interpolate(x, scale_factor=2, mode='bilinear')", False),
        ("nn.Conv2d", "F.interpolate(x, scale_factor=2, mode='bicubic')", True),
        ("nn.Conv2d", "F.interpolate(x, scale_factor=2, mode='bilinear', antialias=True)", True),
        ("choose(nn.Conv1d, nn.Conv2d)", "F.interpolate(x, scale_factor=2)", False),
        ("nn.Linear", "F.interpolate(x, scale_factor=2)", False),
    ],
)
def test_calls_that_resize(tmp_path: Path, layer: str, used: str, told: bool) -> None:
    code = "  # TPU135" if told else ""
    agree(tmp_path, select="TPU135", train=PROGRAM.format(layer=layer, made="None", used=used, code=code))


@pytest.mark.parametrize(
    ("layer", "made", "told"),
    [
        ("nn.Conv3d", "nn.Upsample(scale_factor=2)", True),
        ("nn.Conv3d", "nn.Upsample(None, 2, 'nearest')", True),
        ("nn.Conv3d", "nn.Upsample(scale_factor=2, mode='trilinear')", True),
        ("nn.Conv3d", "nn.Upsample(scale_factor=2, mode=options.mode)", False),
        ("nn.Conv2d", "nn.Upsample(scale_factor=2)", False),
        ("nn.Conv2d", "nn.Upsample(None, 2, 'bilinear')", False),
        ("nn.Conv2d", "nn.Upsample(None, 2, 'bicubic')", True),
        ("nn.Conv3d", "nn.Upsample(None, 2, 'area') if options.area else nn.Upsample(None, 2)", False),
    ],
)
def test_layers_that_resize(tmp_path: Path, layer: str, made: str, told: bool) -> None:
    code = "  # TPU135" if told else ""
    agree(tmp_path, select="TPU135", train=PROGRAM.format(layer=layer, made=made, used="self.larger(x)", code=code))


def test_gradients_that_nobody_computes(tmp_path: Path) -> None:
    program = (
        SETUP
        + """
    with torch.no_grad():
        for x in loader:
            y = model(F.interpolate(x.to(device), scale_factor=2, mode="trilinear"))
            print(y.sum())
    """
    )
    agree(tmp_path, select="TPU135", train=program)


ASKED = (
    SETUP
    + """
    class Table(nn.Module):
        def __init__(self):
            super().__init__()
            self.rows = nn.Parameter(torch.zeros(1, 4, 9))

        def forward(self, x, length, kind):
            rows = self.rows
            if {asked}:
                rows = F.interpolate(rows, size=length, mode="linear"){code}
            return x + rows.mean()

    table = Table().to(device)
    optimizer = torch.optim.Adam(table.parameters())
    for x in loader:
        table(x.to(device), 9, kind).mean().backward()
        optimizer.step()
    """
)


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("self.rows.shape[2] != length", False),
        ("length != rows.size(2)", False),
        ("self.rows.shape[2] == length", True),
        ("kind != 'plain'", True),
    ],
)
def test_what_fits_is_not_resized(tmp_path: Path, asked: str, told: bool) -> None:
    agree(tmp_path, "TPU135", main=ASKED.format(asked=asked, code="  # TPU135" * told))
