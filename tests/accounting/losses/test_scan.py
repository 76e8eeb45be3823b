"""Bounds of transforms at many nodes: what one node tells of its neighbours."""

from flint import arb

from exactdp.accounting.losses.law import Atoms
from exactdp.accounting.losses.scan import Scan, Screened


def test_one_loss_that_is_certain_has_no_logarithm_of_its_change():
    """As of counts whose threshold is far away: nothing but 0 is seen at the tilt."""
    certain = Atoms([arb(1)], [arb(0)], arb(0), arb(0))
    other = Atoms([arb(0.25), arb(0.75)], [arb(1), arb(-1)], arb(0), arb(0))
    for parts in ([(certain, 5)], [(certain, 5), (other, 400)]):
        screened = Screened(parts, 0.5, arb(0.001), -30.0)
        each = Scan(parts, 0.5, arb(0.001)).log_bounds(0, 40)
        assert (screened.log_bounds(0, 40) >= each - 1e-3).all()
