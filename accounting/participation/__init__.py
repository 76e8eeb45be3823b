"""Users who return: what they spent, what is left, and limits that hold for adaptive choices."""
