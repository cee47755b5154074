"""The reference of what a program imports: ``python -m benchmarks.names [--write]``.

Every name of ``believe`` with its signature and docstring. With ``--write`` the page goes to
``docs/measured/names.md``; a test holds it against the code.
"""

import argparse
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from believe import names
from core import outputs

PAGE: Final = Path("docs/measured/names.md")
HEAD: Final = (
    "Written by `python -m benchmarks.names --write`; [code.md](../code.md) shows them in use."
)
#: What stands in quotes because nobody asked for the type yet; a default keeps its own.
ANNOTATION: Final = re.compile(r"(: |-> )([\"'])(.+?)\2(?=[,) ]|$)")


def page() -> str:
    """Return the page in Markdown; docstrings stand as they are, in blocks of code."""
    entries = (entry(f"believe.{name}", getattr(names, name)) for name in names.__all__)
    return "\n\n".join(["# What a program imports", HEAD, *entries]) + "\n"


def entry(name: str, thing: Any) -> str:
    """Return a name with what it takes and means, and so for the methods of a class."""
    methods = public_methods(thing) if isinstance(thing, type) else ()
    parts = [block(name, thing), *(block(f".{method}", each) for method, each in methods)]
    return "\n\n".join([f"## {name}", *parts])


def public_methods(kind: type) -> Iterator[tuple[str, Any]]:
    """Yield the methods and properties of a class that are its own, and its call."""
    for name, each in vars(kind).items():
        is_method = inspect.isfunction(each) or isinstance(each, property | classmethod)
        if is_method and (not name.startswith("_") or name == "__call__"):
            yield name, each


def block(name: str, thing: Any) -> str:
    """Return one docstring below its signature."""
    call = ""
    is_error = isinstance(thing, type) and issubclass(thing, Exception)
    if not isinstance(thing, property) and not is_error:
        function = thing.__func__ if isinstance(thing, classmethod) else thing
        call = ANNOTATION.sub(r"\1\3", str(inspect.signature(function)))
        for bound in ("self", "cls"):
            call = call.replace(f"({bound}, ", "(").replace(f"({bound})", "()")
    return f"```\n{name}{call}\n\n{inspect.getdoc(thing) or ''}\n```"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help=f"into {PAGE}")
    if parser.parse_args().write:
        outputs.write(PAGE, page())
    else:
        print(page())


if __name__ == "__main__":
    main()
