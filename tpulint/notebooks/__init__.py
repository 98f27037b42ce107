"""Jupyter notebooks: the code of their cells, read as one program and written back cell by cell."""
