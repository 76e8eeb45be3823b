"""Linear contextual bandits, in batches whose noisy sums are vectors."""
