"""Tables of a run: `tables.tabulate` turns rows of all stages into means with intervals, and `comparison.json` for the report."""
