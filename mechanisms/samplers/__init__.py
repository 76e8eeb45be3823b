"""Exact samplers: from random bits to integers, with no floating point in between."""

from .bits import RandomBits, SeededBits, SystemBits

__all__ = ["RandomBits", "SeededBits", "SystemBits"]
