"""The files that a command reads and writes: each is tried before a model is asked.

A command whose answers cost money or minutes must not end at a folder that is not there.
"""

from __future__ import annotations

import math
import os
import stat
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from core import outputs
from core.codec import is_writable

PIPE = (
    "{} is a pipe or a device, which can be read only once or never ends. Save what comes out of "
    "it as a file, and name that."
)
LONGEST_CHARACTER = 4  # bytes, in UTF-8
DASH = (
    "“-” is no file. The command prints its result on standard output anyway; name the file that "
    "is to be written besides."
)


def with_options(*options: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return what adds options to a command, in this order."""
    return lambda command: reduce(lambda whole, option: option(whole), reversed(options), command)


class Input(click.Path):
    """A file that is there; no pipe, which may keep who opens it waiting for ever.

    `dash`: whether “-” stands for standard input.
    """

    def __init__(self, *, dash: bool = False) -> None:
        super().__init__(exists=True, dir_okay=False, allow_dash=dash, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path; see `click.ParamType.convert`."""
        path = super().convert(value, param, ctx)
        if self.allow_dash and os.fspath(path) == "-":
            return path
        if not stat.S_ISREG(os.stat(path).st_mode):
            self.fail(PIPE.format(path), param, ctx)
        return path


class Output(click.Path):
    """A file to write, or to replace."""

    def __init__(self) -> None:
        super().__init__(dir_okay=False, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path; see `click.ParamType.convert`."""
        if os.fspath(value) == "-":
            self.fail(DASH, param, ctx)
        return super().convert(value, param, ctx)


class Folder(click.Path):
    """A folder to write to, made where there is none.

    `only_with`: the argument without which the command only reads what is in it.
    """

    def __init__(self, only_with: str = "") -> None:
        super().__init__(file_okay=False, path_type=Path)
        self.only_with = only_with

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the folder; Arrow writes to none whose name is no text."""
        if not is_writable(os.fsdecode(value)):
            self.fail("The name of the folder is not UTF-8. Choose another.", param, ctx)
        return super().convert(value, param, ctx)


class Range(click.FloatRange):
    """A number within limits. NaN is none, though no comparison refuses it."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number."""
        number = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value!r} is no number.", param, ctx)
        return number


class FilesFirst(click.Command):
    """A command that tries its files before it does anything."""

    def invoke(self, ctx: click.Context) -> Any:
        """Try the files, then run the command; see `click.Command.invoke`.

        Raises `ClickException` when a file cannot be written, or is one that the command reads.
        """
        folders = [
            path
            for param, path in _paths(ctx, Folder)
            if not param.type.only_with or ctx.params[param.type.only_with] is not None
        ]
        for folder in folders:
            _try_folder(folder)
        places = {os.path.realpath(path) for _, path in _paths(ctx, Input)}
        places |= _of_model(ctx)
        for _, path in _paths(ctx, Output):
            place = os.path.realpath(path)
            if place in places:
                raise click.ClickException(
                    f"{path} cannot be written: this command reads it, or writes something else "
                    "there. Name another file."
                )
            places.add(place)
            if not any(os.path.realpath(folder) == os.path.dirname(place) for folder in folders):
                _try(path)
        return super().invoke(ctx)


def _paths(ctx: click.Context, kind: type[click.Path]) -> list[tuple[Any, Path]]:
    """Return the paths of a kind that a command was given, with their parameters."""
    paths: list[tuple[Any, Path]] = []
    for param in ctx.command.params:
        if isinstance(param.type, kind) and (value := ctx.params.get(param.name or "")):
            paths += [(param, each) for each in (value if isinstance(value, tuple) else (value,))]
    return paths


def _of_model(ctx: click.Context) -> set[str]:
    """Return where the file of a model is that is named by its path."""
    path = os.path.expanduser(str(ctx.params.get("model") or "").partition(":")[2])
    return {os.path.realpath(path)} if os.path.isfile(path) else set()


def _try(path: Path) -> None:
    try:
        outputs.attempt(path)
    except OSError as error:
        raise click.ClickException(outputs.sentence(path, error)) from error
    if _is_printed_to(path):
        raise click.ClickException(
            f"{path} cannot be written: standard output goes there. Name another file."
        )


def _is_printed_to(path: Path) -> bool:
    """Return whether what is printed goes into this file, which a new one would replace."""
    with suppress(OSError, ValueError):
        status = path.stat()
        return any(
            os.path.samestat(status, os.fstat(stream.fileno()))
            for stream in (sys.__stdout__, sys.__stderr__)
            if stream is not None
        )
    return False


def _try_folder(folder: Path) -> None:
    try:
        outputs.attempt_folder(folder)
    except OSError as error:
        what = "written to" if os.path.isdir(folder) else "made"
        raise click.ClickException(
            f"{folder} cannot be {what}: {error.strerror or error}. Name another folder."
        ) from error


def write(path: Path, content: str | bytes) -> None:
    """Write a file, all of it or nothing; raise `ClickException` when it cannot be written."""
    try:
        outputs.write(path, content)
    except OSError as error:
        raise click.ClickException(outputs.sentence(path, error)) from error


def beginning(file: Path, most: int) -> bytes:
    """Return what a file holds, and one byte too many of one that is too large to be read."""
    with file.open("rb") as opened:
        return opened.read(most + 1)


def text_in(file: Path, most: int) -> str:
    """Return the text of a file, or of standard input; a longer one keeps some more than `most`.

    Raises `BadParameter` where it is no UTF-8.
    """
    with click.open_file(os.fspath(file), "rb") as stream:
        content = stream.read(LONGEST_CHARACTER * (most + 1))
    cut = len(content) > LONGEST_CHARACTER * most  # maybe within a character
    try:
        return content.decode("utf-8-sig", "ignore" if cut else "strict")
    except UnicodeDecodeError:
        raise click.BadParameter("The text is not UTF-8; save it as UTF-8.") from None


if TYPE_CHECKING:
    from core.reports.report import Report


report_option = click.option(
    "--report",
    type=Output(),
    help="Write a report too: one HTML file with pictures, settings and versions.",
)


def write_report(path: Path, report: Report, *, from_file: bool = False) -> None:
    """Write a report; raise `ClickException` when the file cannot be written."""
    from core.reports.report import to_html  # Altair takes long to load
    from core.reports.result_files import FROM_FILE

    write(path, to_html(report, warning=FROM_FILE if from_file else ""))
