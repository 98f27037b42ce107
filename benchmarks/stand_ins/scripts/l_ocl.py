"""A library of filters that is not used."""

import modules

modules.put("skimage.filters")
modules.put("skimage.util")
