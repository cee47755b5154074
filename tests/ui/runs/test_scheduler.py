"""Scheduler: sessions share the machine fairly, whatever each of them starts."""

import itertools
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.ui.runs import scheduler
from core.ui.runs.scheduler import BusyError, Scheduler
from tests.patience import LONG


def go_on():
    """Let who waits go on waiting."""


class Waited(Exception):
    pass


def stop():
    """Stop who would wait."""
    raise Waited


def begun(line, who):
    """Return a ticket that computes at once."""
    ticket = line.ticket(who)
    line.wait(ticket, go_on)
    return ticket


def ends_in_order(line, holder, tickets):
    """Let a place go round, each turn to its end; return whose turns they were."""
    order = []
    while tickets:
        line.give_back(holder)
        holder = next(ticket for ticket in tickets if line.before(ticket) == 0)
        tickets.remove(holder)
        line.wait(holder, go_on)
        order.append(holder.who)
    line.give_back(holder)
    return order


def test_whoever_starts_ten_gets_no_more_than_who_starts_one():
    line = Scheduler(1)
    holder = begun(line, "greedy")
    tickets = [line.ticket("greedy") for _ in range(4)] + [line.ticket(who) for who in "ab"]
    assert [line.before(ticket) for ticket in tickets] == [2, 3, 4, 5, 0, 1]
    assert ends_in_order(line, holder, tickets) == ["a", "b", *["greedy"] * 4]


def test_who_has_waited_longest_since_the_last_turn_is_next():
    line = Scheduler(1, a_turn=0.0)
    first, second = begun(line, "a"), line.ticket("b")
    served = []

    def work(ticket):
        line.wait(ticket, go_on)
        for _ in range(3):
            served.append(ticket.who)
            line.pause(ticket, go_on)
        line.give_back(ticket)

    other = threading.Thread(target=work, args=(second,))
    other.start()
    for _ in range(3):
        served.append(first.who)
        line.pause(first, go_on)
    line.give_back(first)
    other.join(LONG)
    assert not other.is_alive()
    assert served == ["a", "b"] * 3


def test_a_turn_lasts_as_long_as_nobody_waits():
    line = Scheduler(1, a_turn=0.0)
    ticket = begun(line, "a")
    began = ticket.began
    line.pause(ticket, lambda: pytest.fail("it waited"))
    assert ticket.began == began


def test_a_turn_is_not_cut_short():
    line = Scheduler(1, a_turn=float("inf"))
    ticket = begun(line, "a")
    line.ticket("b")
    line.pause(ticket, lambda: pytest.fail("it waited"))


def test_who_comes_back_soon_is_served_before_who_computes_all_the_time():
    line = Scheduler(1)
    quick = begun(line, "quick")
    line.give_back(quick)
    long = begun(line, "long")
    tickets = [line.ticket("long"), line.ticket("quick")]
    assert ends_in_order(line, long, tickets) == ["quick", "long"]


def test_who_comes_new_need_not_wait_for_the_end_of_a_turn():
    line = Scheduler(1, a_turn=0.0, first=1)
    holder, new, newer = begun(line, "a"), line.ticket("b"), line.ticket("c")
    line.wait(new, lambda: pytest.fail("it waited"))
    with pytest.raises(Waited):
        line.wait(newer, stop)  # the place is for one
    with pytest.raises(Waited):
        line.pause(new, stop)  # and for one turn: now it stands in line, behind who is newer
    assert (line.before(newer), line.before(new)) == (0, 1)
    line.wait(newer, lambda: pytest.fail("it waited"))
    for ticket in (holder, newer, new):
        line.give_back(ticket)


def test_nobody_has_all_places():
    line = Scheduler(2, a_turn=0.0, a_session=1)
    first, second = begun(line, "a"), line.ticket("a")
    with pytest.raises(Waited):
        line.wait(second, stop)
    assert (line.before(second), line.computing(second), line.computing(first)) == (0, 1, None)
    other = begun(line, "b")  # its place was free, whoever stood in line before
    with pytest.raises(Waited):
        line.pause(first, stop)  # the session's own runs take turns on the other one
    line.wait(second, lambda: pytest.fail("it waited"))
    for ticket in (first, second, other):
        line.give_back(ticket)


def test_who_waits_may_stop_waiting():
    line = Scheduler(1)
    holder, waits = begun(line, "a"), line.ticket("b")
    with pytest.raises(Waited):
        line.wait(waits, stop)
    line.give_back(waits)
    line.give_back(holder)
    line.give_back(begun(line, "c"))


def test_one_session_may_have_so_many_and_all_together_so_many():
    line = Scheduler(1)
    mine = [line.ticket("a") for _ in range(scheduler.MOST_A_SESSION)]
    with pytest.raises(BusyError, match=f"{scheduler.MOST_A_SESSION} of your runs"):
        line.ticket("a")
    others = [line.ticket(i) for i in range(scheduler.MOST - len(mine))]
    with pytest.raises(BusyError, match=f"{scheduler.MOST} runs are unfinished"):
        line.ticket("b")
    line.give_back(others[0])
    line.ticket("b")
    line.give_back(mine[0])
    line.ticket("a")


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=8), st.integers(1, 3))
def test_everybody_comes_to_an_end_and_no_place_is_given_twice(who, places):
    line = Scheduler(places, a_turn=0.0)
    at_work, most = set(), []
    lock = threading.Lock()

    def work(ticket):
        line.wait(ticket, go_on)
        for _ in range(3):
            with lock:
                at_work.add(ticket)
                most.append(len(at_work))
            with lock:
                at_work.discard(ticket)
            line.pause(ticket, go_on)
        line.give_back(ticket)

    threads = [threading.Thread(target=work, args=(line.ticket(one),)) for one in who]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONG)
    assert not any(thread.is_alive() for thread in threads)
    assert len(most) == 3 * len(who) and max(most) <= places
    assert line.before(line.ticket("new")) == 0


@given(st.lists(st.sampled_from("abcd"), min_size=1, max_size=8))
def test_the_line_goes_round_by_session(who):
    line = Scheduler(1)
    holder = begun(line, "z")
    tickets = [line.ticket(one) for one in who]
    expected = [
        tickets[i] for i in sorted(range(len(who)), key=lambda i: (who[:i].count(who[i]), i))
    ]
    assert [line.before(ticket) for ticket in expected] == list(range(len(who)))
    order = ends_in_order(line, holder, tickets)
    first_round = list(itertools.islice(order, len(set(who))))
    assert len(set(first_round)) == len(first_round)
