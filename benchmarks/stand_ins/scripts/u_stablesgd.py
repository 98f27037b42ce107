"""Digits are given to every script; there are no curves to be drawn."""

import made_up_data  # noqa: F401
