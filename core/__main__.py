"""``python -m core``: the studies without a browser."""

from core.cli import main

main(prog_name="python -m core")
