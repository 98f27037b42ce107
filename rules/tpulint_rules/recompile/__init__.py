"""Recompilation: graphs that differ from step to step.

A graph is compiled once and then found again by its hash. Every new shape, and every Python number that becomes part
of the graph, makes another graph, and compiling takes seconds to minutes. These rules find what gives the graph of a
step a new shape or a new constant.
"""
