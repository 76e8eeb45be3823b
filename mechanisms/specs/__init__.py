"""From the text of a spec to a mechanism, and to what it releases."""
