"""A table of four series."""

import made_up_tables

made_up_tables.hourly("made.csv", 230, 4)
