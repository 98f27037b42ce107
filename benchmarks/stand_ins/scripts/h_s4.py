"""A decorator of a library that is not needed for it."""

import sys

import modules

modules.put("pytorch_lightning.utilities", rank_zero_only=lambda function: function)
sys.modules.pop("tensorflow", None)  # einops would ask it for the classes of its tensors
