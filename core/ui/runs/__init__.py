"""Runs: long work beside the page, from its start to its end, on every screen alike."""
