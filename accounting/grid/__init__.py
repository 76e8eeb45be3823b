"""The coarse grid: losses on a lattice from both sides, their weights as integers."""
