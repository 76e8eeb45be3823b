"""What two neighbouring datasets lead to: pairs of distributions, shifted, listed or read."""
