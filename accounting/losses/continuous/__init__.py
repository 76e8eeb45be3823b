"""Continuous noise, and uses on a random sample of the users.

Accounting only: noise in floating point is not any of these laws, and nothing here samples it.
"""
