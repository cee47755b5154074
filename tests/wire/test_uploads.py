"""What a browser may bring: what a page waits for, and no more than there is room for."""

import json
import uuid

import pytest

from benchmarks.shared.visitor import Visitor
from core.ui import gate
from tests.loops import in_own_loop
from tests.wire.test_hosts import answer, running, until

TABLE = b"query,confidence,correct\n" + b"".join(
    b"question %d,0.%03d,%d\n" % (i, i % 997, i % 2) for i in range(60)
)


def large(size):
    row = b"question %07d " + b"x" * 4000 + b",0.5,1\n"  # few rows: it is about bytes
    return b"query,confidence,correct\n" + b"".join(row % i for i in range(size // 4024))


@pytest.fixture(scope="module")
def port(tmp_path_factory):
    home = tmp_path_factory.mktemp("home")
    with running(BELIEVE_PUBLIC="1", XDG_DATA_HOME=str(home)) as port:
        yield port


def health(port):
    return json.loads(answer(port, "/health")[2])


async def put(visitor, name, content):
    """Send a file as the browser does, without telling the page."""
    folder = (await visitor.link(name)).upload_url.rpartition("/")[0]
    return await visitor.put(f"{folder}/{uuid.uuid4()}", name, content)


def test_a_page_takes_what_it_has_a_place_for(port):
    async def visit():
        async with Visitor(f"http://localhost:{port}") as visitor:
            await visitor.open("questions")
            yield await put(visitor, "a.csv", TABLE)
            await visitor.open("calibration")
            yield await put(visitor, "a.csv", TABLE)
            await visitor.open("questions")
            yield await put(visitor, "a.csv", TABLE)
            await visitor.open("calibration")
            yield await put(visitor, "a.exe", TABLE)  # last: the page runs again

    async def replies():
        return [(reply.status_code, reply.text) async for reply in visit()]

    nowhere, right, gone, wrong = in_own_loop(replies())
    assert nowhere == gone == (403, gate.NOT_WANTED)
    assert wrong == (415, gate.WRONG_KIND)
    assert right == (204, "")


def test_a_file_stays_on_the_page_when_its_content_is_let_go(port):
    async def visit():
        async with Visitor(f"http://localhost:{port}") as visitor:
            await visitor.open("calibration")
            await visitor.upload("labelled_file", "a.csv", TABLE)
            assert visitor.has("wrong")
            await visitor.give("wrong", 20.0)
            await visitor.open("questions")
            visitor.ids.pop("wrong")
            await visitor.open("calibration")
            assert visitor.has("wrong")  # the table is still there

    in_own_loop(visit())


def test_health_says_how_much_is_held_and_nothing_private(port):
    state = health(port)
    assert state.keys() == {"ok", "sessions", "process_mb", "held_mb", "budget_mb"}
    assert state["ok"] is True
    assert state["process_mb"] > 0 and state["budget_mb"] > 0


def test_who_brings_files_and_leaves_holds_no_more_than_others_can_spare(port):
    async def visit(name):
        async with Visitor(f"http://localhost:{port}") as visitor:
            await visitor.open("calibration")
            await visitor.upload("labelled_file", name, large(44_000_000))
            return health(port)["held_mb"]

    first, second = (in_own_loop(visit(name)) for name in ("one.csv", "other.csv"))
    assert first >= 44
    assert second < 1.5 * first  # the one before has made way
    until(lambda: health(port)["held_mb"] == 0)  # 20 seconds later


def test_a_file_for_which_there_is_no_room_is_refused_with_a_sentence(tmp_path):
    content = bytes(49_000_000)

    async def visit(port):
        async with Visitor(f"http://localhost:{port}") as one:
            await one.open("calibration")
            sent = [await put(one, "one.csv", content) for _ in range(2)]
            async with Visitor(f"http://localhost:{port}") as other:
                await other.open("calibration")
                sent += [await put(other, "two.csv", content) for _ in range(3)]
                return [(reply.status_code, reply.text) for reply in sent]

    with running(BELIEVE_MEMORY="200", XDG_DATA_HOME=str(tmp_path)) as port:
        replies = in_own_loop(visit(port))
    assert replies[0] == (204, "")
    assert (replies[-1][0], "its memory allows (200 MB)" in replies[-1][1]) == (507, True)
