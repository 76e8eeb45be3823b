"""The command line: one thin command per verb; it parses, calls, prints, and computes nothing."""
