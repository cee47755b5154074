"""Altair specifications from results; pages, command line and reports share them."""
