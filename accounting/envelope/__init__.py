"""The Gaussian envelope of integer noise; proofs: docs/envelope.md, of rounding docs/rounding.md."""
