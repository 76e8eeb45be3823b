"""Privacy losses of one ordered pair of outputs' distributions, and their sums on a lattice.

`cells` says how a loss is known: P- and Q-masses in cells. `lattice` adds losses up, and bounds
delta(epsilon) and epsilon(delta) of the sum from both sides; `planning` chooses with floats where
to look, and proves nothing; `fourier` is the transform, with its error.
"""
