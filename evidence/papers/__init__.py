"""The checks of the papers' statements, one function each, named by its row in `claims.toml`."""
