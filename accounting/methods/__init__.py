"""What the known ways of accounting report: conversions between notions, composition theorems."""
