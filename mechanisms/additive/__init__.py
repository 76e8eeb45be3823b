"""Noise added to numbers and vectors, by one party or by every user, as the papers set it."""
