"""Devices: what names one, what is moved there, and where numbers and settings stand for one."""
