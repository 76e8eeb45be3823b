"""The papers' figures again: what each shows, the runs behind it, its data and its picture."""
