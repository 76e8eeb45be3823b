"""Continuous noise, and uses on a random sample of the users.

    laplace             closed forms of one use
    uses, mixture       the losses of uses
    line                M(s) = E e^(sL) on a line Re s = c as a finite sum with a proved error
    sampled_gaussian,
    sampled_laplace     that sum for the two laws
    inversion           delta(level) of composed uses from their lines
    profile             the figures of one use, and of Gaussian ones together
    average, allocated  random allocation

Accounting only: noise in floating point is not any of these laws, and nothing here samples it.
"""
