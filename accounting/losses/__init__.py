"""Privacy losses L = log P/Q under P, and how they compose: independent losses add up, so E e^(sL)
multiplies, and delta(level) = E_P (1 - e^(level - L))^+ comes back by Fourier inversion. Each error
bound is beside its way: all losses multiples of one real (`lattice`), few enough to be `listed`, or
moved to a lattice by coins, which bound them from both sides (`exactdp.losses`).
"""
