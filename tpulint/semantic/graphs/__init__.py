"""Graphs: what code records for the device, what waits to be run, and what becomes a constant."""
