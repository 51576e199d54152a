"""A made-up benchmark of 16 systems and 40 clips whose tables can be worked out by hand; `expected.csv` is the spreadsheet."""
