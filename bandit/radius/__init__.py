"""Confidence radii of batched arm elimination: the papers' and certified ones."""

from __future__ import annotations

from .certified import CertifiedRadius, certified_failure, certified_radius
from .paper import (
    NO_NOISE,
    Epoch,
    NoiseScale,
    discrete_gaussian_scale,
    discrete_laplace_scale,
    local_scale,
    paper_radius,
    sajed_sheffet_epoch,
    shuffle_radius,
    shuffle_variance,
    skellam_scale,
)
from .plan import ContinuousLaplace, Decoding, Noise, Plan

__all__ = [
    "NO_NOISE",
    "CertifiedRadius",
    "ContinuousLaplace",
    "Decoding",
    "Epoch",
    "Noise",
    "NoiseScale",
    "Plan",
    "certified_failure",
    "certified_radius",
    "discrete_gaussian_scale",
    "discrete_laplace_scale",
    "local_scale",
    "paper_radius",
    "sajed_sheffet_epoch",
    "shuffle_radius",
    "shuffle_variance",
    "skellam_scale",
]
