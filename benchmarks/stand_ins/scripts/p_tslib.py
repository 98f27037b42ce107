"""A table of series."""

import made_up_tables
import modules

modules.put("patoolib")
made_up_tables.hourly("data/ETT/made.csv", 160, 4)
