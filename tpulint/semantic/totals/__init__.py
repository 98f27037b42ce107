"""Totals, meters and lists of numbers that a loop keeps of what its steps give."""
