"""Smaller batches, and the digits also where the class is taken from its own module."""

from pathlib import Path

import made_up_data
import modules

made_up_data.smaller_batches(16)
modules.when_imported("torchvision.datasets", lambda module: setattr(module.mnist, "MNIST", module.MNIST))
Path("results").mkdir(exist_ok=True)
