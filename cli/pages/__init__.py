"""Pages for readers: tables that are computed anew, each beside what to make of it."""
