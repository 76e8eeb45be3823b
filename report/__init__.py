"""Evidence that others read: pages, pictures, and entries for a public registry."""
