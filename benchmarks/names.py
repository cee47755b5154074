"""The reference of what a program imports: ``python -m benchmarks.names [--write]``.

Every name of ``believe`` with its signature and docstring, and of a class the comments of its
fields. With ``--write`` the page goes to ``docs/measured/names.md``; a test holds it against the
code.
"""

import argparse
import ast
import inspect
import io
import re
import textwrap
import tokenize
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
    parts = [name + call, inspect.getdoc(thing) or ""]
    if isinstance(thing, type) and (meanings := [*fields(thing)]):
        parts.append("\n".join(["Attributes", "----------", *meanings]))
    return "```\n" + "\n\n".join(parts) + "\n```"


def fields(kind: type) -> Iterator[str]:
    """Yield the annotated names of a class that have a comment, above or behind, each with it."""
    source = textwrap.dedent(inspect.getsource(kind))
    # Of each line: its comment, and whether nothing stands before that.
    comments = {
        token.start[0]: (token.string.lstrip("# "), not token.line[: token.start[1]].strip())
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type == tokenize.COMMENT
    }
    (body,) = ast.parse(source).body
    assert isinstance(body, ast.ClassDef)
    for node in body.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            first = node.lineno
            while comments.get(first - 1, ("", False))[1]:
                first -= 1
            lines = range(first, (node.end_lineno or first) + 1)
            if text := " ".join(comments[line][0] for line in lines if line in comments):
                yield node.target.id + "\n" + textwrap.indent(textwrap.fill(text, 92), "    ")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help=f"into {PAGE}")
    if parser.parse_args().write:
        outputs.write(PAGE, page())
    else:
        print(page())


if __name__ == "__main__":
    main()
