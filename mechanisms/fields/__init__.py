"""The keys of a spec: what each takes, and how its value is read and checked."""
