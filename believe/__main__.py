"""``believe`` and ``python -m believe``: the command line, also called ``python -m core``."""

from core.__main__ import run as main

if __name__ == "__main__":
    main()
