"""The errors that callers tell apart; packages above have few of their own, where they are raised.

What cannot be told, or not in this way, is an ArithmeticError: who has another way, or an enclosure
already, goes on with that. That the work or the time allowed is over is none.
"""


class ParameterError(ValueError):
    """A parameter that is not what it has to be; the message names it and what is allowed."""


class UndecidedError(ArithmeticError):
    """A comparison that stays open: the numbers compared are not known well enough."""


class OutOfTimeError(Exception):
    """The time, or the work, that was allowed is over."""


class DoesNotApplyError(ArithmeticError):
    """A theorem, or a way to compute, that has nothing to say here; the message says why."""


class ContradictionError(RuntimeError):
    """Two enclosures of one number do not meet: a defect of this program, and never an answer."""
