"""Continuous noise, and uses on a random sample of the users.

    gaussian, laplace   closed forms of one use, and of all uses where they add up
    sampling            what sampling does to a profile, to pure epsilon and to a list of outcomes
    line                M(s) = E e^(sL) on a line Re s = c as a finite sum with a proved error
    sampled_gaussian,
    sampled_laplace     that sum for the two laws
    inversion           delta(level) of composed uses from their lines
    composed            the figures that people ask for, of plain numbers

Accounting only: noise in floating point is not any of these laws, and nothing here samples it.
"""
