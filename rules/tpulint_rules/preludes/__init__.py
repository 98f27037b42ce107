"""Texts that examples stand in: the line ``# example`` is where one goes."""
