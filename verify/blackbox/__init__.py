"""Tests of samplers that somebody else wrote: what outputs alone can say about a claim or a law."""

from .audit import SampleAudit, SampleTest, audit_sampler
from .bounds import ERROR, Bounds, SampleVerdict
from .choice import Excess, Guessing
from .event import Event
from .fit import Fit, fit
from .sampler import Command, OneByOne, Sampler

__all__ = [
    "ERROR",
    "Bounds",
    "Command",
    "Event",
    "Excess",
    "Fit",
    "Guessing",
    "OneByOne",
    "SampleAudit",
    "SampleTest",
    "SampleVerdict",
    "Sampler",
    "audit_sampler",
    "fit",
]
