"""Tests of samplers that somebody else wrote: what outputs alone can say about a claim."""

from .audit import SampleAudit, SampleTest, audit_sampler, audit_samples
from .bounds import Bounds
from .choice import Excess, Guessing
from .event import Event
from .sampler import Command, OneByOne, Sampler
from .verdict import ERROR, SampleVerdict

__all__ = [
    "ERROR",
    "Bounds",
    "Command",
    "Event",
    "Excess",
    "Guessing",
    "OneByOne",
    "SampleAudit",
    "SampleTest",
    "SampleVerdict",
    "Sampler",
    "audit_sampler",
    "audit_samples",
]
