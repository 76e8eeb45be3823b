"""The papers' statements as checks that can be run."""
