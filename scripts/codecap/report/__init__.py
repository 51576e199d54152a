"""The report: a folder of static pages that opens from disk without a network; `site.build_report` makes it."""
