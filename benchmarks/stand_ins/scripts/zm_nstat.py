"""A table by the hour."""

import made_up_tables

made_up_tables.hourly("made.csv", 130, 4)
