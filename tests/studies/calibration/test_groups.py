"""What a policy does in each group of the data, and what it promises there."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

from core.reports.calibration import words
from core.studies.calibration import calibration as study
from core.studies.calibration.calibration import BEST, Target
from core.studies.calibration.example import EXAMPLE
from core.studies.calibration.groups import MOST_GROUPS, by_group
from tests.studies.calibration.tables import rows_of_arrays


def rows(*groups, scores=1):
    """Rows of (name, right, wrong) groups, all of the same doubt in each of some scores."""
    names = [name for name, right, wrong in groups for _ in range(right + wrong)]
    correct = [each < right for _, right, wrong in groups for each in range(right + wrong)]
    return rows_of_arrays(
        {f"s{i}": np.zeros(len(names)) for i in range(scores)},
        {f"s{i}": np.array(correct) for i in range(scores)},
        sources=np.array(names, object),
    )


def grouped(*groups, scores=1, **target):
    return by_group(
        study.calibrate(rows(*groups, scores=scores), Target(**{"score": "s0"} | target))
    )


def counted(found):
    return [(g.name, g.queries, g.answered, g.errors, g.promised) for g in found.groups]


def test_each_group_has_a_promise_of_its_own_or_none():
    """Of 660 answered 19 are wrong, P(Bin(660, 5 %) ≤ 19) is 1 %; among them all of one group."""
    found = grouped(("sure", 600, 4), ("never", 0, 15), ("few", 41, 0))
    assert counted(found) == [
        ("sure", 604, 604, 4, True),
        ("few", 41, 41, 0, False),  # 0.95⁴¹ is 12 %
        ("never", 15, 15, 15, False),
    ]
    assert words.by_group(found) == (
        "With 90% confidence for these groups together, at most 5% of answered questions are "
        "wrong in each of them, too: “sure”. No promise holds by itself for “never” (15 of 15 "
        "wrong) and “few” (0 of 41 wrong). Check answers there, or calibrate such a group alone "
        "for a threshold of its own."
    )


@pytest.mark.parametrize(("right", "promised"), [(58, False), (59, True)])
def test_a_group_has_its_share_of_delta(right, promised):
    """Of two groups each has 5 %: 0.95⁵⁸ is 5.1 %, 0.95⁵⁹ is 4.8 %."""
    found = grouped(("many", 500, 2), ("few", right, 0))
    assert found.groups[1].promised is promised
    assert words.caution(found) == ("" if promised else None), "not seen to hold is not held"


@pytest.mark.parametrize(("right", "promised"), [(71, False), (72, True)])
def test_where_the_best_of_several_scores_was_chosen_it_is_less(right, promised):
    """Of two groups and two scores each has 2.5 %: 0.95⁷¹ is 2.6 %, 0.95⁷² is 2.49 %."""
    found = grouped(("many", 500, 2), ("few", right, 0), scores=2, score=BEST)
    assert found.groups[1].promised is promised


@pytest.mark.parametrize("method", ["crc", "empirical"])
def test_other_methods_promise_nothing_by_group(method):
    found = grouped(("a", 300, 1), ("b", 300, 1), method=method)
    assert [g.promised for g in found.groups] == [False, False]
    assert words.by_group(found) == "Nothing is promised for any group by itself."


def test_many_groups_are_counted_and_too_many_are_promised_nothing():
    every = [(f"group {i:02d}", 8, 2) for i in range(MOST_GROUPS)]
    found = grouped(("", 4000, 0), *every[1:])
    assert sum(g.promised for g in found.groups) == 1
    assert "each of them, too: rows of no group." in words.by_group(found)
    more = MOST_GROUPS - 1 - 5
    assert f"“group 05” (2 of 10 wrong) and {more} more. Check" in words.by_group(found)
    found = grouped(("", 4000, 0), *every)
    assert not any(g.promised for g in found.groups)
    assert words.by_group(found).startswith(f"There are {MOST_GROUPS + 1} groups, too many")
    assert len(found.groups) == MOST_GROUPS


def test_without_groups_or_without_a_policy_there_is_nothing_to_say():
    for groups in ([("", 300, 1)], [("all", 300, 1)], [("a", 30, 30), ("b", 30, 30)]):
        found = grouped(*groups)
        assert (found.groups, words.by_group(found), words.caution(found)) == ((), "", None)


def test_a_group_in_which_nothing_is_answered_is_promised_nothing_and_not_complained_of():
    data = rows(("sure", 300, 1), ("doubtful", 0, 20))
    data = replace(data, doubts={"s0": np.append(np.zeros(301), np.ones(20))})
    found = by_group(study.calibrate(data, Target(score="s0")))
    assert counted(found)[1] == ("doubtful", 20, 0, 0, False)
    assert "doubtful" not in words.by_group(found)


def test_long_names_of_groups_cost_no_more_than_their_length():
    """As fixed-width texts, these would take 1.6 GB."""
    tracemalloc.start()
    try:
        found = grouped(("x" * 2_000_000, 200, 0), ("y", 3, 0))
        assert len(words.by_group(found)) < 400 and found.groups[0].promised
        assert tracemalloc.get_traced_memory()[1] < 100_000_000
    finally:
        tracemalloc.stop()


def test_the_example_answers_what_the_model_never_saw_and_says_so():
    data = study.read(EXAMPLE.read_bytes(), EXAMPLE.name)
    found = by_group(study.calibrate(data, Target(score="mutual_information")))
    bands = {g.name: g for g in found.groups}
    assert set(bands) == {"never seen", "rarely seen", "half known", "by heart", "many answers"}
    assert bands["never seen"].errors > bands["never seen"].answered / 2 > 0
    assert not bands["never seen"].promised and not bands["rarely seen"].promised
    assert bands["by heart"].promised and bands["many answers"].promised
    assert "“never seen” (" in words.by_group(found).partition("No promise holds by itself for")[2]
