"""Exact samplers: from random bits to integers, with no floating point in between."""

from .bits import RandomBits, SeededBits, SystemBits
from .simulated import simulate

__all__ = ["RandomBits", "SeededBits", "SystemBits", "simulate"]
