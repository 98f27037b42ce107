"""A table by the hour, and a library that other tasks of the script want."""

import made_up_tables
import modules

made_up_tables.hourly("made.csv", 150, 4)
modules.put("sktime.datasets")
