"""Confidence radii of batched arm elimination: the papers' (`paper`) and certified ones."""
