"""Reading in a process of its own: the same tables, and an end to what takes too much."""

import os
import select
import signal
import sys
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest

from core.data.tabular import isolation
from core.data.tabular.isolation import Limits, parse_isolated
from core.data.tabular.uploads import TOO_MUCH_MEMORY, UploadError, parse
from tests.data.tabular.files import as_parquet
from tests.patience import LONG

SMALL = b"a,b\n1,2\n"


@pytest.fixture(autouse=True)
def nothing_prepared(monkeypatch):
    monkeypatch.setattr(isolation, "original", None)
    yield
    if isolation.original is not None:
        isolation.original.socket.close()
        isolation.original.process.wait(LONG)


@pytest.fixture
def started(monkeypatch):
    """The processes that were started."""
    processes = []
    start = isolation.start
    monkeypatch.setattr(
        isolation, "start", lambda *of: processes.append(start(*of)) or processes[-1]
    )
    return processes


@pytest.fixture
def behaves(monkeypatch, started):
    """Put a process in the place of the one that reads; it runs these statements once ready."""

    def put(statements, ready="ready"):
        code = f"import os, signal, sys, time\nprint({ready!r}, flush=True)\n{statements}"
        monkeypatch.setattr(isolation, "COMMAND", (sys.executable, "-c", code))
        return started

    return put


def refused(content=SMALL, name="x.csv", **options):
    with pytest.raises(UploadError) as caught:
        parse_isolated(content, name, **options)
    return str(caught.value)


@pytest.mark.parametrize(
    ("content", "name"),
    [
        ('a,a,,é\n1,,x,😀\n\n"2\n",007,None,NA\n'.encode(), "x.tsv"),
        (b'\n[{"a": 1},\n{"b": [1, null]}]', "../x.json"),
        (as_parquet({"a": [1.5, None], "b": [["x"], []]}), "ü\ud800.parquet"),
    ],
)
def test_the_same_as_in_this_process(content, name, started):
    here, there = parse(content, name), parse_isolated(content, name)
    pd.testing.assert_frame_equal(here.table, there.table)
    assert here.lines.tolist() == there.lines.tolist() and there.lines.dtype == "int64"
    for field in ("name", "sha256", "kind", "notes"):
        assert getattr(here, field) == getattr(there, field)
    assert [process.returncode is not None for process in started] == [True]


@pytest.mark.parametrize("content", [b"", b"a,b\n1\n", b"PAR1PAR1"])
def test_the_same_sentence_as_in_this_process(content):
    with pytest.raises(UploadError) as caught:
        parse(content, "x.csv")
    assert refused(content) == str(caught.value)


def test_a_file_that_is_too_large_starts_no_process(started, monkeypatch):
    monkeypatch.setattr("core.data.tabular.rows.MAX_UPLOAD_BYTES", 5)
    assert "more than 5 bytes" in refused() and not started


# -------------------------------------------------------------------------------- limits


def is_dead(process):
    try:
        os.kill(process.pid, 0)
    except ProcessLookupError:
        return True
    return False


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits memory reliably")
def test_memory_is_limited():
    content = b"a\n" + (b"x" * 99 + b"\n") * 300_000
    assert refused(content, limits=Limits(memory=40_000_000, seconds=300)) == TOO_MUCH_MEMORY
    assert len(parse_isolated(content, "x.csv", limits=Limits(seconds=300)).table) == 300_000


#: The process that reads, but blind: as if a file lied in all that it says of its sizes.
BLIND = """
from core.data.tabular import isolation, parquet_rows
parquet_rows._check_description = lambda about: None
parquet_rows._least_text = lambda values: 0
isolation._read_one()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits memory reliably")
@pytest.mark.parametrize("times", [1, 20_000])
def test_memory_has_the_last_word_on_what_parquet_unpacks_to(times, monkeypatch):
    monkeypatch.setattr(isolation, "COMMAND", (sys.executable, "-c", BLIND))
    numbers = pa.array([0] * times, pa.int32())
    content = as_parquet({"a": pa.DictionaryArray.from_arrays(numbers, ["x" * 90_000])})
    limits = Limits(memory=200_000_000, seconds=300)
    if times == 1:
        assert len(parse_isolated(content, "x.parquet", limits=limits).table) == 1
    else:  # 1.8 GB in 10 kB
        assert refused(content, "x.parquet", limits=limits) == TOO_MUCH_MEMORY


LARGE = b"a\n" + b"1\n" * 400_000  # more than a pipe holds: part of it is never taken
NOBODY_WATCHES = pytest.mark.skipif(
    not hasattr(signal, "SIGXCPU"), reason="this system does not limit processor time"
)


@pytest.mark.parametrize(
    ("statements", "limits", "says"),
    [
        ("time.sleep(1000)", Limits(wall=0.05), "not read within 0.05 seconds"),
        pytest.param(
            "os.kill(os.getpid(), signal.SIGXCPU)\ntime.sleep(1000)",
            Limits(seconds=300),
            "takes more than 300 seconds of a processor",
            marks=NOBODY_WATCHES,
        ),
        ("while True: os.write(1, b'x' * 1000)", Limits(seconds=300, answer=5000), TOO_MUCH_MEMORY),
        ('print(\'{"failed": "Traceback"}\', flush=True)', Limits(), "an error in this program"),
    ],
)
def test_a_process_that_takes_too_much_or_fails_is_a_sentence(behaves, statements, limits, says):
    started = behaves(statements)
    assert says in refused(limits=limits)
    assert is_dead(started[0])


#: The process that reads, whose reading never ends: it only computes.
BUSY = """
import itertools
from core.data.tabular import isolation
isolation.parse = lambda *file: sum(itertools.count())
isolation._read_one()
"""


@NOBODY_WATCHES
def test_its_seconds_are_those_of_a_processor(monkeypatch):
    monkeypatch.setattr(isolation, "COMMAND", (sys.executable, "-c", BUSY))
    assert "takes more than 0.5 seconds of a processor" in refused(
        limits=Limits(seconds=0.5, wall=300)
    )


def test_a_busy_machine_refuses_no_file(behaves, monkeypatch, tmp_path):
    """Half a minute goes by on the clock, in which the process gets nothing of the processor."""
    may_go_on = tmp_path / "go on"
    behaves(
        "import json, pathlib\n"
        f"while not pathlib.Path({str(may_go_on)!r}).exists(): time.sleep(0.01)\n"
        "print(json.dumps({'refused': 'It was read.'}), flush=True)"
    )
    times = iter([0.0, 0.0, 1.0])  # on which it begins to wait, is started, and is ready

    def clock():
        now = next(times, None)
        if now is None:
            may_go_on.touch()
        return 31.0 if now is None else now

    monkeypatch.setattr(isolation.time, "monotonic", clock)
    assert refused() == "It was read."


def test_a_process_that_says_why_it_took_half_a_file_is_heard(behaves):
    behaves('print(\'{"failed": "Traceback"}\', flush=True)')
    assert "an error in this program" in refused(LARGE)


@pytest.mark.parametrize("end", ["os.abort()", "os._exit(3)", "os.kill(os.getpid(), 9)"])
def test_a_process_that_dies_is_a_sentence(behaves, end):
    behaves(end)
    message = refused(LARGE)
    assert "crashed" in message and "Save it again" in message


def test_a_process_that_never_begins_is_given_up(behaves, monkeypatch):
    started = behaves("time.sleep(1000)", ready="")
    # Something else than that it is ready: no file goes there at all.
    assert "crashed" in refused()
    monkeypatch.setattr(isolation, "START_WITHIN", 0.05)
    monkeypatch.setattr(isolation, "COMMAND", (sys.executable, "-c", "input()"))
    assert "too busy" in refused()
    assert len(started) == 2 and all(map(is_dead, started))


def test_a_process_that_cannot_be_started_is_a_sentence(monkeypatch):
    monkeypatch.setattr(isolation, "COMMAND", ("/no/such/program",))
    assert "allows no further process" in refused()


# -------------------------------------------------------------------------------- stopping


def test_stopping_ends_the_process_and_so_does_what_asking_raises(behaves):
    class Left(BaseException):
        pass

    def leave():
        raise Left

    started = behaves("time.sleep(1000)")
    assert "was stopped" in refused(cancelled=lambda: bool(started))
    with pytest.raises(Left):
        parse_isolated(SMALL, "x.csv", cancelled=leave)
    assert len(started) == 2 and all(map(is_dead, started))


def test_files_wait_for_their_turn_and_can_be_stopped_there(started):
    with isolation.TURNS, isolation.TURNS:
        assert "was stopped" in refused(cancelled=lambda: True)
    assert not started
    assert len(parse_isolated(SMALL, "x.csv").table) == 1  # the turns were given back


# ------------------------------------------------------------------------- the next process


def test_a_table_lies_in_the_answer_of_the_process_and_is_not_copied():
    content = b"query,answer\n" + b"".join(b"question %06d,answer\n" % i for i in range(20_000))
    before = pa.total_allocated_bytes()
    upload = parse_isolated(content, "x.csv")
    texts = upload.columns["query"]
    assert pa.array(upload.table["query"]).buffers()[2].address == (
        texts.distinct.buffers()[2].address
    )
    # The answer is Python's. What Arrow has taken are the cells of the other column, spelled out.
    assert pa.total_allocated_bytes() - before < 20_000 * (len("answer") + 8) + 10_000
    assert texts.codes.flags.aligned and texts.values.flags.aligned


ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nothing is prepared")


@pytest.fixture
def prepared(started):
    """The process that is copied for every file, once it can be; the copies that it has."""
    isolation.prepare()
    isolation.prepare()
    (process,) = started
    assert select.select([isolation.original.socket], [], [], 120)[0]
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    return process, lambda: [int(pid) for pid in children.read_text().split()]


@ON_LINUX
def test_a_prepared_process_is_copied_for_every_file(prepared, started):
    process, copies = prepared
    tasks = Path(f"/proc/{process.pid}/task").iterdir()
    others = [task for task in tasks if task.name != str(process.pid)]
    # A copy has no other threads, nor gets what they have locked. That of Arrow's own allocator,
    # which is not in use, knows of forks.
    assert {(task / "comm").read_text() for task in others} <= {"jemalloc_bg_thd\n"}
    for content in (SMALL, b"a,b\n3,4\n"):
        here, there = parse(content, "x.csv"), parse_isolated(content, "x.csv")
        pd.testing.assert_frame_equal(here.table, there.table)
    assert "Reading the file" not in refused(b"a,b\n1\n")  # the file's own sentence
    assert started == [process] and process.poll() is None and copies() == []


@ON_LINUX
def test_a_copy_has_no_file_of_the_one_before_and_limits_of_its_own(prepared):
    process, copies = prepared
    with pytest.raises(UploadError, match="not read within 0 seconds"):
        parse_isolated(b"a\n" + b"1\n" * 400_000, "x.csv", limits=Limits(wall=0.0))
    assert copies() == []
    content = b"a\n" + (b"x" * 99 + b"\n") * 300_000
    assert refused(content, limits=Limits(memory=40_000_000, seconds=300)) == TOO_MUCH_MEMORY
    assert len(parse_isolated(SMALL, "x.csv").table) == 1  # its memory is not limited by theirs
    assert copies() == [] and process.poll() is None


@ON_LINUX
@pytest.mark.parametrize("signal_", [signal.SIGXCPU, signal.SIGKILL])
def test_how_a_copy_ended_is_known(prepared, signal_):
    _, copies = prepared
    copy = isolation.original.fork()
    assert copy.stdout.readline() == b"ready\n"
    (pid,) = copies()
    os.kill(pid, signal_)
    assert copy.stdout.read() == b""
    copy.kill()
    copy.wait()
    assert copy.returncode == -signal_


@ON_LINUX
def test_copies_have_no_pipes_of_each_other_and_end_when_they_are_not_wanted(prepared):
    process, copies = prepared
    first, second = (isolation.original.fork() for _ in range(2))
    for copy in (first, second):
        assert copy.stdout.readline() == b"ready\n"
    both = copies()
    assert len(both) == 2
    held = [
        {os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")}
        for pid in both
    ]
    assert held[0] & held[1] == {os.devnull}
    assert not any("socket" in name for name in set.union(*held))
    first.kill()
    first.wait()
    assert copies() == both[1:]
    isolation.original.socket.close()  # as if the one that asks had ended
    assert process.wait(LONG) == 0
    second.wait()
    assert second.stdout.read() == b"" and is_gone(both[1])


def is_gone(pid):
    """Whether a process has ended, though nobody may have asked how."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def test_while_it_is_not_there_each_file_has_a_process_of_its_own(started):
    isolation.prepare()
    for process in started:  # none where nothing can be prepared
        process.kill()
        process.wait()
    before = len(started)
    assert len(parse_isolated(SMALL, "x.csv").table) == 1
    assert len(started) == before + 1
    isolation.prepare()
    assert len(started) == 2 * before + 1  # another one


def test_no_key_of_a_service_reaches_the_process(behaves, monkeypatch):
    monkeypatch.setenv("GEMINI_API_KEY", "secret")
    behaves("import json\nprint(json.dumps({'refused': ' '.join(os.environ)}), flush=True)")
    message = refused()
    assert "PATH" in message.split() and "GEMINI_API_KEY" not in message
