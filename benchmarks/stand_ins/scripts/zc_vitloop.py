"""Smaller batches, and the digits also where the class is taken from its own module."""

import made_up_data
import modules

made_up_data.smaller_batches(4)
modules.when_imported("torchvision.datasets", lambda module: setattr(module.mnist, "MNIST", module.MNIST))
