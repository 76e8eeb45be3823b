"""What uses cost: one by itself, and lists of them together."""
