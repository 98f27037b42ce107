"""Reads what torch_xla wrote about a past run (``PT_XLA_DEBUG``): which graphs, why, where, and what rule explains it.

Nothing is run, and no torch is needed.
"""
