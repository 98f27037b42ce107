"""Four series, one row an hour, and libraries that only other data wants."""

import made_up_data  # noqa: F401
import made_up_tables
import modules

made_up_tables.hourly("made.csv", 110, 4)
modules.put("patoolib")
modules.put("sktime.datasets")
