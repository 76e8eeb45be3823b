"""Divergences of one use: the largest over the pairs that dominate a mechanism's neighbours."""
