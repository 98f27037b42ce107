"""A table of seven series by the hour."""

import made_up_data  # noqa: F401
import made_up_tables

made_up_tables.hourly("data/ETT/ETTh1.csv", 420, 7)
