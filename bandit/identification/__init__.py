"""Which arm is best, with an error that is proved: best-arm identification at fixed confidence."""
