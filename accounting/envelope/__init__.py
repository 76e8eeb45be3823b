"""The Gaussian envelope of integer noise; proofs: `docs/envelope.md`, `docs/rounding.md`."""
