"""Commands with a file of their own; `core.cli` has the others."""
