"""Modules of the script lie in a folder of their own."""

import os
import sys

import made_up_data  # noqa: F401

sys.path.insert(1, os.path.join(os.getcwd(), "src"))
