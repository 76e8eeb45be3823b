"""What every folder uses and is no number: files, tables, caches, suggestions, workers."""
