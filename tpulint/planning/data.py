"""The tables of this folder, and a price file of the user's, read key by key."""

from __future__ import annotations

import functools
import os
from typing import NamedTuple

from tpulint.card import CardError
from tpulint.config import ConfigError
from tpulint.planning.generations import Figure, Generation, Hardware, Slice, chips_of
from tpulint.strict_yaml import Table, read

FIGURES = (
    "tensor_cores", "devices", "mxus", "mxu", "tile", "hbm", "hbm_bandwidth", "peak_bf16", "peak_int8", "peak_fp8",
    "ici", "pod", "network", "runtime", "zone",
)  # fmt: skip
"""Keys of figures, in the order shown."""

_HERE = os.path.dirname(__file__)


class Price(NamedTuple):
    """What one chip costs for an hour."""

    on_demand: float | None
    spot: float | None
    region: str
    date: str
    source: str
    """Those of the file, unless it has others for this chip."""


class Prices(NamedTuple):
    """A price file."""

    path: str
    date: str
    currency: str
    source: str
    note: str
    chip_hours: dict[str, Price]
    """By name of a generation."""


@functools.cache
def load_hardware() -> Hardware:
    """The generations that tpulint knows."""
    path = os.path.join(_HERE, "tpus.yaml")
    return parse_hardware(_text(path), path)


def load_prices(path: str = "") -> Prices:
    """Prices from a file, else those that come with tpulint. Raises ``ConfigError``."""
    path = path or os.path.join(_HERE, "prices.yaml")
    try:
        prices = parse_prices(_text(path), path)
    except CardError as error:
        raise ConfigError(str(error)) from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from None
    for name in prices.chip_hours:
        if name not in (known := load_hardware().generations):
            raise ConfigError(f"{path}: a price for {name!r}, which is not known; known are {', '.join(known)}")
    return prices


def parse_hardware(text: str, path: str) -> Hardware:
    """Read the table of generations. Raises ``CardError``."""
    table = read(text, path, "the table of TPUs")
    addresses = table.table("pages")
    pages = {key: addresses.text(key) for key in addresses.words}
    generations = [_generation(one, pages) for one in table.tables("generations", "a generation")]
    table.close()
    return Hardware(pages, {one.name: one for one in generations})


def parse_prices(text: str, path: str) -> Prices:
    """Read a price file. Raises ``CardError``."""
    table = read(text, path, "the price file")
    rates = table.table("chip_hours")
    date, source = table.text("date"), table.text("source")
    prices = Prices(
        path, date, table.text("currency"), source, table.text("note", ""),
        {name: _price(rates.table(name), date, source) for name in rates.words},
    )  # fmt: skip
    table.close()
    return prices


def _price(table: Table, date: str, source: str) -> Price:
    on_demand, spot = (_positive(table, key) if key in table else None for key in ("on_demand", "spot"))
    price = Price(on_demand, spot, table.text("region", ""), table.text("date", date), table.text("source", source))
    table.close()
    return price


def _generation(table: Table, pages: dict[str, str]) -> Generation:
    inner = table.table("figures")
    figures = {key: _figure(inner.table(key), pages) for key in FIGURES if key in inner}
    inner.close()
    generation = Generation(
        table.text("name"), table.text("title"), table.choice("kind", ("tpu", "gpu"), "tpu"), figures,
        tuple(_slice(one) for one in table.tables("slices", "a slice")),
        table.choice("slices_page", pages), table.text("note", ""),
    )  # fmt: skip
    table.close()
    return generation


def _figure(table: Table, pages: dict[str, str]) -> Figure:
    value = table.value("value")
    if not isinstance(value, str):
        value = _positive(table, "value")
    verified = table.flag("verified") if "verified" in table else True
    figure = Figure(value, table.text("unit", ""), table.choice("page", pages), verified, table.text("note", ""))
    if not verified and not figure.note:
        raise table.error("what is not verified needs a note that says why")
    table.close()
    return figure


def _slice(table: Table) -> Slice:
    verified = table.flag("verified") if "verified" in table else True
    chips = table.number("chips")
    found = Slice(table.text("type", ""), chips or 0, table.text("topology", ""), verified)
    if found.chips < 1 or (found.topology and chips_of(found.topology) != found.chips):
        raise table.error(f"a slice {found.topology} does not have {found.chips} chips")
    table.close()
    return found


def _positive(table: Table, key: str) -> float:
    value = table.value(key)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < float("inf"):
        raise table.error(f"{key!r} of {table.what} must be a number above zero, not {value!r}", key)
    return value


def _text(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()
