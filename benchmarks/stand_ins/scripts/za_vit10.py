"""No TensorFlow, not even a made-up one: a library looks for it among the modules."""

import sys

import made_up_data  # noqa: F401

sys.modules.pop("tensorflow", None)
