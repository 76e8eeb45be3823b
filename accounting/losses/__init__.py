"""Privacy-loss laws, and how they compose.

The loss L = log P/Q under P is all that composition needs: losses of independent uses add up, so
E e^(sL) multiplies, and delta(level) = E_P (1 - e^(level - L))^+ comes back from it by Fourier
inversion. Three ways, each with its error bound beside it:

    lattice    all losses are multiples of one real: exact
    listed     few enough outcomes to list them all: exact
    moved      anything else: moved to a lattice by coins, which bound it from both sides
               (`exactdp.losses`)
"""
