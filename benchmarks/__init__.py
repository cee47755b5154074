"""Measurements anyone can rerun: ``python -m benchmarks.NAME``, or all with ``make bench``."""
