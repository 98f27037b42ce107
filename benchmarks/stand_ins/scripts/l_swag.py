"""A library that is not used."""

import modules

modules.put("gpytorch")
