"""So many uses of one sampled Gaussian, in one direction."""

from exactdp.accounting.losses.continuous.composed import composed_renyi, sampled_gaussian
from exactdp.accounting.losses.mixed import delta as composed_delta
from exactdp.accounting.losses.mixed import epsilon as composed_epsilon


def _of(measure):
    def measured(rate, noise, sensitivity, times, level, direction, *rest, **more):
        law = sampled_gaussian(rate, noise, sensitivity, direction)
        return measure([(law, times)], level, *rest, **more)

    return measured


sampled_gaussian_delta = _of(composed_delta)
sampled_gaussian_epsilon = _of(composed_epsilon)
sampled_gaussian_renyi = _of(composed_renyi)
