"""How the schema of a ledger came about, step by step, forward and back."""
