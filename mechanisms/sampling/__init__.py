"""Who takes part: Poisson samples, batches of a fixed size, allocations; guarantees, sampled."""
