"""Which candidate, which query, which keys: what is chosen from private scores and counts."""
