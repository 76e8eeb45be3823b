"""The Gaussian envelope of integer noise: mu_1 with which it is mu_1 |v|-GDP for a vector v.

unit      mu_1 of a law, and when there is none
cells     cells of the normal law: what curvature says of their width
centre    the certificate for sums of discrete Gaussians
"""

from .unit import NoEnvelopeError, gaussian_distance, unit_parameter

__all__ = ["NoEnvelopeError", "gaussian_distance", "unit_parameter"]
