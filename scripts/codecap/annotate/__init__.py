"""Stage folder."""
