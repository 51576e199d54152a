"""Agents: command-line programs that look at a clip with tools, write a page, render it, and mend it, in a sandbox of their own."""
