"""Libraries that are not installed; of TensorFlow not even a stand-in, or einops takes it for the real one."""

import sys

import made_up_data  # noqa: F401

sys.modules.pop("tensorflow", None)
