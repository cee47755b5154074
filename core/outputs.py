"""The one way to write a file: beside its place, and in its place once all of it is on the disk.

A full disk, a kill or a power cut leaves what stood there before, never a half.
`tests/test_house.py` refuses every other way.
"""

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

#: What a kill may leave beside a file: none of anybody's, and nobody's name is too long for it.
LEFT_BY_KILLS = ".believe-*.part"

_AS_EFFECTIVE = os.access in os.supports_effective_ids


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Give a file to write to, which stands at a path once the block has ended well.

    It has the permissions of the file that it replaces; a link stays one, and what it leads to is
    replaced. When the block or the disk fails, all is as it was before.

    Raises `OSError` when it cannot be written: also where a folder, a pipe or a device stands, or a
    file that this user may not change.
    """
    place = _place(path)
    beside = _beside(place)
    try:
        with beside.open("xb") as file:
            _permit_alike(beside, place)
            yield file
            file.flush()
            os.fsync(file.fileno())
        beside.replace(place)
    except BaseException:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
        raise
    _sync(place.parent)


def write(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write a file, all of it or nothing; text as UTF-8, with its line ends as they are.

    Halves of characters, as the name of a file can have, become question marks.

    Raises `OSError` as of `replacing`.
    """
    with replacing(path) as file:
        file.write(content.encode("utf-8", "replace") if isinstance(content, str) else content)


def appending(path: str | os.PathLike[str]) -> IO[bytes]:
    """Open a file that only grows, and whose reader expects that its end is cut off.

    Nothing is buffered: what was written is the system's, however this process ends.

    Raises `OSError` when it cannot be written.
    """
    return open(path, "ab", buffering=0)


def attempt(path: str | os.PathLike[str]) -> None:
    """Make sure that a file can be written, before anybody works or pays for what is in it.

    Raises `OSError` as of `replacing`.
    """
    _attempt_beside(_place(path))


def attempt_folder(path: str | os.PathLike[str]) -> None:
    """Make sure that a folder is there or can be made, and takes files; else raise `OSError`."""
    folder = Path(path)
    _attempt_beside(next(each for each in (folder, *folder.parents) if each.exists()) / "any")


def sentence(path: str | os.PathLike[str], error: OSError) -> str:
    """Return why a file is not written, what to do, and what became of the one before."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        mend = "Make room on its disk, or name a file on another one."
    elif error.errno == errno.ENOENT:
        mend = "Make its folder, or name a file in another one."
    elif error.errno in (errno.EACCES, errno.EPERM):
        mend = "Allow it for this user, or name another file."
    else:
        mend = "Name another file."
    before = " What stood there before is untouched." if os.path.isfile(path) else ""
    return f"{path} cannot be written: {error.strerror or error}. {mend}{before}"


def _place(path: str | os.PathLike[str]) -> Path:
    """Return where links lead to, if a file may stand there."""
    with suppress(FileNotFoundError):
        mode = os.stat(path).st_mode  # of the path itself: of a pipe, links lead to no name
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "It is a pipe or a device, no file")
        # A new file in its place would need no permission for the old one.
        if not os.access(path, os.W_OK, effective_ids=_AS_EFFECTIVE):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    return Path(os.path.realpath(path))


def _beside(place: Path) -> Path:
    return place.with_name(LEFT_BY_KILLS.replace("*", secrets.token_hex(8)))


def _attempt_beside(place: Path) -> None:
    beside = _beside(place)
    try:
        beside.open("xb").close()
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)


def _permit_alike(beside: Path, place: Path) -> None:
    """Give a new file the permissions of another one, before there is anything to read in it."""
    with suppress(FileNotFoundError):
        status = place.stat()
        if hasattr(os, "chown"):
            with suppress(OSError):  # only the administrator gives files away
                os.chown(beside, status.st_uid, status.st_gid)
        beside.chmod(stat.S_IMODE(status.st_mode))


def _sync(folder: Path) -> None:
    """Have the folder know the new name even after a power cut, where a system can do that."""
    with suppress(OSError):
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)
