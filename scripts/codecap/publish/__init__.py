"""A data set as others get it: its card and statistics, a folder to publish, and the way back from such a folder to the videos."""
