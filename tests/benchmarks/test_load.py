"""The visitor of the load still speaks the protocol of the Streamlit that is installed."""

import pytest

from benchmarks.load import Look, Server, growth, memory, processor_seconds
from benchmarks.shared.visitor import VisitError, Visitor
from tests.browser.server import start_server, stop_server
from tests.loops import in_own_loop

ROUND = 11  # actions, after which every kind has been done
DRAWN = (  # by then
    *("told", "amplify"),  # of an inspection
    *("remove_upload", "all_rows"),  # of a file that was read, and of what was calibrated on it
    "most",  # repetitions on the page Amplification
)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("load")
    process, address = start_server(BELIEVE_DATABASE_URL=f"sqlite:///{folder}/believe.db")
    yield Server(address, process.pid)
    stop_server(process)


def test_one_round_reaches_every_page_and_a_result_on_each(server):
    before = processor_seconds(server.process)
    kinds = []

    async def go_round():
        async with Visitor(server.address) as visitor:
            await visitor.open("")
            assert not any(map(visitor.has, DRAWN))
            for kind, act in server.somebody():
                await act(visitor)
                kinds.append(kind)
                if len(kinds) == ROUND:
                    break
            assert visitor.received > 10_000
            return [key for key in DRAWN if not visitor.has(key)]

    assert in_own_loop(go_round()) == []
    assert len({*kinds}) == 8, kinds
    assert processor_seconds(server.process) > before and memory(server.process) > 10**7


def test_what_is_not_on_the_page_cannot_be_used(server):
    async def look_for_it():
        async with Visitor(server.address) as visitor:
            await visitor.open("questions")
            await visitor.press("no such button")

    with pytest.raises(VisitError, match="no such button"):
        in_own_loop(look_for_it())


def test_only_a_server_of_this_machine_is_visited():
    async def visit():
        async with Visitor("http://example.org"):
            pass

    with pytest.raises(ValueError, match="this machine"):
        in_own_loop(visit())


def test_the_growth_is_that_after_the_warm_up():
    # It takes 100 bytes until 20 of 100 seconds have passed, then 3 for each of 8 sessions.
    warm = [Look(20.0 + 10 * i, 5 + i, 100 + 3 * i) for i in range(9)]
    assert growth([Look(0.0, 0, 7), *warm]) == (100, 124, pytest.approx(3))
    assert growth([Look(0.0, 0, 7), Look(30.0, 4, 100), Look(100.0, 4, 90)]) == (100, 90, 0)
