"""What a value is, and on which side it lives."""

from __future__ import annotations

from enum import Enum

from tpulint.records import NamedTuple


class Kind(Enum):
    """What a value is."""

    TENSOR = "tensor"
    MODULE = "module"
    DISTRIBUTION = "distribution"
    OPTIMIZER = "optimizer"
    SCHEDULER = "scheduler"
    SCALER = "scaler"
    LOADER = "loader"
    DEVICE = "device"
    NUMPY = "numpy array"
    HOST = "host value"
    UNKNOWN = "unknown"


class Side(Enum):
    """Where a tensor lives."""

    DEVICE = "device"
    HOST = "host"
    UNKNOWN = "unknown"


class Value(NamedTuple):
    """What is known about an expression."""

    kind: Kind
    side: Side = Side.UNKNOWN
    certain: bool = True
