"""Exact real parameters and certified enclosures: what every other part computes with."""

from .budget import OutOfTimeError, is_over, spend, time_left, time_limit, within
from .enclosure import Enclosure, Endpoint, UndecidedError
from .number import (
    ExactInput,
    Formula,
    Logarithm,
    ParameterError,
    Real,
    ball,
    brief_text,
    decimal_text,
    exact,
    whole,
)
from .precision import (
    CAP,
    WIDTH,
    enclose,
    enclose_between,
    refine,
    working_precision,
)

__all__ = [
    "CAP",
    "WIDTH",
    "Enclosure",
    "Endpoint",
    "ExactInput",
    "Formula",
    "Logarithm",
    "OutOfTimeError",
    "ParameterError",
    "Real",
    "UndecidedError",
    "ball",
    "brief_text",
    "decimal_text",
    "enclose",
    "enclose_between",
    "exact",
    "is_over",
    "refine",
    "spend",
    "time_left",
    "time_limit",
    "whole",
    "within",
    "working_precision",
]
