"""Exact real parameters and certified enclosures: what every other part computes with."""

from .deadline import OutOfTimeError, check_time, time_left, time_limit
from .enclosure import Enclosure, Endpoint, UndecidedError
from .number import ExactInput, Formula, ParameterError, Real, ball, decimal_text, exact, mpf, whole
from .precision import CAP, WIDTH, enclose, refine, refine_each, working_precision

__all__ = [
    "CAP",
    "WIDTH",
    "Enclosure",
    "Endpoint",
    "ExactInput",
    "Formula",
    "OutOfTimeError",
    "ParameterError",
    "Real",
    "UndecidedError",
    "ball",
    "check_time",
    "decimal_text",
    "enclose",
    "exact",
    "mpf",
    "refine",
    "refine_each",
    "time_left",
    "time_limit",
    "whole",
    "working_precision",
]
