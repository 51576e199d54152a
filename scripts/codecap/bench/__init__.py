"""Benchmarks: what this project costs, measured on this machine, printed and never asserted in tests by time."""
