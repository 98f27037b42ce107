"""Versions of torch_xla and its environment.

torch_xla renamed and removed a good part of its first API, and many published examples still use the old names. These
rules go by the target version: what is fine for the version you write for is not mentioned.
"""
