"""Hourly values of four things."""

import made_up_data  # noqa: F401
import made_up_tables
import modules

made_up_tables.hourly("made/hours.csv", 150, 4)
modules.put("einops")
