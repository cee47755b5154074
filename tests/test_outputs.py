"""Files are written whole or not at all, and leave nothing beside them."""

import os
import re
import signal
import stat
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from core.outputs import LEFT_BY_KILLS, appending, attempt, attempt_folder, replacing, write

ROOT = Path(__file__).resolve().parents[1]
OLD = "what stood there before"
as_anybody = pytest.mark.skipif(os.geteuid() == 0, reason="the administrator may write anywhere")


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def old(tmp_path):
    path = tmp_path / "old.txt"
    path.write_text(OLD)
    return path


def limited(code, path):
    """Run code in a process whose files may have 100 bytes, as on a disk that is full."""
    begins = """
        import resource, signal, sys
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, resource.RLIM_INFINITY))
        from core.outputs import *
        path = sys.argv[1]
    """
    source = textwrap.dedent(begins) + code
    return subprocess.run(
        [sys.executable, "-c", source, path], cwd=ROOT, capture_output=True, text=True
    )


def test_text_and_bytes_are_written_as_they_are(tmp_path):
    path = tmp_path / ("é" * 120)  # of nearly as many bytes as a name may have
    write(path, "é\n\r\n")
    assert path.read_bytes() == b"\xc3\xa9\n\r\n"
    write(str(path), b"\xff")
    assert path.read_bytes() == b"\xff" and list(tmp_path.iterdir()) == [path]


def test_half_a_character_is_no_end_of_a_report(tmp_path):
    write(tmp_path / "report", "of the file caf\udce9.csv")
    assert (tmp_path / "report").read_text() == "of the file caf?.csv"


@pytest.mark.parametrize("end", [OSError, KeyboardInterrupt, GeneratorExit])
def test_what_ends_in_the_middle_leaves_all_as_it_was(old, end):
    with pytest.raises(end), replacing(old) as file:
        file.write(b"half of")
        raise end
    with pytest.raises(end), replacing(old.with_name("new")) as file:
        raise end
    assert old.read_text() == OLD and list(old.parent.iterdir()) == [old]


@pytest.mark.parametrize("large", [101, 1_000_000])
def test_a_full_disk_leaves_what_stood_there(old, large):
    done = limited(f"write(path, b'x' * {large})", old)
    assert done.returncode and "File too large" in done.stderr
    assert old.read_text() == OLD and list(old.parent.iterdir()) == [old]


def test_a_kill_leaves_what_stood_there_and_a_name_that_says_so(old):
    code = "with replacing(path) as f: f.write(b'half'); f.flush(); print(1, flush=True); input()"
    source = f"import sys; from core.outputs import *; path = sys.argv[1]\n{code}"
    running = subprocess.Popen(
        [sys.executable, "-c", source, old], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert running.stdout.readline() == b"1\n"
    running.send_signal(signal.SIGKILL)
    running.communicate()
    assert old.read_text() == OLD
    assert {*old.parent.iterdir()} == {old, *old.parent.glob(LEFT_BY_KILLS)}
    assert len([*old.parent.iterdir()]) == 2


def test_permissions_stay_and_new_files_get_the_usual_ones(old, tmp_path):
    for permissions in (0o600, 0o640, 0o755):
        old.chmod(permissions)
        with replacing(old) as file:
            (unfinished,) = tmp_path.glob(LEFT_BY_KILLS)
            assert mode(unfinished) == permissions  # before there is anything to read in it
            file.write(b"new")
        assert mode(old) == permissions and old.read_text() == "new"
    usual, new = tmp_path / "usual", tmp_path / "new"
    usual.touch()
    write(new, "")
    assert mode(new) == mode(usual)


def test_a_link_stays_a_link(old, tmp_path):
    (tmp_path / "there").mkdir()
    link, new = tmp_path / "there" / "link", tmp_path / "there" / "new"
    link.symlink_to(old)
    new.symlink_to(tmp_path / "target")
    write(link, "new")
    write(new, "too")
    assert link.is_symlink() and old.read_text() == "new"
    assert new.is_symlink() and (tmp_path / "target").read_text() == "too"


def pipe(folder):
    os.mkfifo(folder / "pipe")
    return folder / "pipe"


def loop(folder):
    (folder / "loop").symlink_to(folder / "loop")
    return folder / "loop"


@pytest.mark.parametrize(
    ("place", "why"),
    [
        (lambda folder: folder, "Is a directory"),
        (lambda folder: folder / "no" / "file", "No such file or directory"),
        (pipe, "It is a pipe or a device"),
        (loop, "Too many levels"),
        (lambda folder: Path("/dev/null"), "It is a pipe or a device"),
        (lambda folder: Path("/dev/full"), "It is a pipe or a device"),
    ],
)
def test_what_is_no_file_is_neither_opened_nor_replaced(tmp_path, place, why):
    path = place(tmp_path)
    for way in (lambda: write(path, "new"), lambda: attempt(path)):
        with pytest.raises(OSError, match=re.escape(why)):
            way()
    assert not path.is_file() and not list(tmp_path.glob(LEFT_BY_KILLS))


@as_anybody
def test_a_file_that_may_not_be_changed_is_not_replaced(old):
    old.chmod(0o400)
    with pytest.raises(PermissionError):
        write(old, "new")
    with pytest.raises(PermissionError):
        attempt(old)
    assert old.read_text() == OLD


def test_what_is_tried_leaves_nothing(old, tmp_path):
    attempt(old)
    attempt(tmp_path / "new")
    attempt_folder(tmp_path)
    attempt_folder(tmp_path / "a" / "b")
    assert old.read_text() == OLD and list(tmp_path.iterdir()) == [old]
    with pytest.raises(NotADirectoryError):
        attempt_folder(old / "a" / "b")


def test_what_is_appended_is_there_at_once(old):
    with appending(old) as file:
        file.write(b", and more")
        assert old.read_text() == f"{OLD}, and more"
