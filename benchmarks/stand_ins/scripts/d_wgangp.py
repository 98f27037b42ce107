"""A transform by the name that it once had."""

import torchvision.transforms

torchvision.transforms.Scale = torchvision.transforms.Resize
