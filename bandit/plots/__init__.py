"""The papers' figures again: what each shows, the runs behind it, its data and its picture."""

from .data import csv_text
from .drawing import MissingError, draw
from .files import folder_for, write
from .pictures import CERTIFIED, FIGURES, Figure, Line, Panel, Place
from .scale import FULL, QUICK, Scale
from .sweep import Curve, Sweep, sweep

__all__ = [
    "CERTIFIED",
    "FIGURES",
    "FULL",
    "QUICK",
    "Curve",
    "Figure",
    "Line",
    "MissingError",
    "Panel",
    "Place",
    "Scale",
    "Sweep",
    "csv_text",
    "draw",
    "folder_for",
    "sweep",
    "write",
]
