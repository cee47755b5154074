"""Scores of answers that somebody has already: by hand, and the reason for each that is missing."""

import numpy as np
import pandas as pd
import pytest

from core.uncertainty.own_answers import FEWEST_PAIRS, NO_ANSWER, score
from core.uncertainty.scores import FEWEST_SECONDS, SCORES

FRENCH = ["Paris", "Paris", "Lyon", " Paris"]
ENTROPY = -(0.75 * np.log(0.75) + 0.25 * np.log(0.25))


def missing(result):
    return {name for name, each in result.scores.items() if each.value is None}


def test_answers_alone_tell_how_much_they_differ_and_nothing_else():
    result = score(FRENCH)
    assert result.answers == (("Paris", pytest.approx(0.75)), ("Lyon", pytest.approx(0.25)))
    assert result.scores["semantic_entropy"].value == pytest.approx(ENTROPY)
    assert missing(result) == SCORES.keys() - {"semantic_entropy"}
    assert "no second answers" in result.scores["mutual_information"].reason
    assert all(each.reason for name, each in result.scores.items() if name in missing(result))


def test_log_probabilities_weigh_the_answers_and_the_greedy_one():
    logs = np.log([0.3, 0.3, 0.6, 0.3])
    result = score(FRENCH, logs, greedy="Lyon")
    assert result.answers == (("Lyon", pytest.approx(2 / 3)), ("Paris", pytest.approx(1 / 3)))
    greedy = result.scores["greedy_probability"]
    assert (greedy.value, greedy.answer) == (pytest.approx(0.6), "Lyon")
    assert "temperature zero" in score(FRENCH, logs).scores["greedy_probability"].reason
    assert "temperature zero" in score(FRENCH, greedy="Lyon").scores["greedy_probability"].reason


@pytest.mark.parametrize("logs", [[0.6, 0.1, 0.3], [0.1, 0.6, 0.3]])
def test_of_several_log_probabilities_of_a_text_the_largest_counts(logs):
    result = score(["Paris", "Paris", "Lyon"], np.log(logs), greedy="Paris")
    assert dict(result.answers)["Paris"] == pytest.approx(2 / 3)
    assert result.scores["greedy_probability"].value == pytest.approx(0.6)


def test_second_answers_part_who_follows_from_who_does_not():
    first = ["Lemon", "Banana"] * 50
    copies = score(first, second=[[text] * FEWEST_SECONDS for text in first])
    keeps = score(first, second=[["Lemon", "Banana"] * FEWEST_SECONDS] * 100)
    assert copies.scores["mutual_information"].value == pytest.approx(np.log(2), abs=0.02)
    assert keeps.scores["mutual_information"].value == pytest.approx(0, abs=0.02)
    for result in (copies, keeps):
        assert result.scores["semantic_entropy"].value == pytest.approx(np.log(2))
        assert "exact likelihoods" in result.scores["certified_mutual_information"].reason


@pytest.mark.parametrize("pairs", [FEWEST_PAIRS, FEWEST_PAIRS - 2])
def test_pairs_with_their_log_probabilities_take_a_hundred(pairs):
    random, fruits = np.random.default_rng(0), ["Lemon", "Banana", "Mango", "Quince"]
    first = random.integers(4, size=pairs)
    repeats = random.random(pairs) < 0.8
    second = np.where(repeats, first, random.integers(4, size=pairs))
    logs = np.log(np.where(first == second, 0.85, 0.05))  # of a fair model that repeats in 4 of 5
    texts = [[fruits[i] for i in each] for each in (first, second)]
    result = score(texts[0], np.log([0.25] * pairs), texts[1], logs, greedy="Lemon")
    information = result.scores["mutual_information"]
    less = logs - (np.arange(pairs) == 0)  # of one pair, another time
    again = score(texts[0], np.log([0.25] * pairs), texts[1], less, greedy="Lemon")
    assert again == result, "the largest of a pair counts"
    assert (information.value is not None) == (pairs >= FEWEST_PAIRS)
    assert result.scores["greedy_probability"].value == pytest.approx(0.25)
    if information.value is not None:
        exact = np.log(4) + 0.85 * np.log(0.85) + 0.15 * np.log(0.05)
        assert information.value == pytest.approx(exact, abs=0.1)
    else:
        assert f"there are {pairs}" in information.reason


@pytest.mark.parametrize("logs", [None, np.log([0.5, 0.5] * 60)])
def test_an_answer_without_a_second_one_is_not_left_out(logs):
    """Of two answers that came equally often, the one that is left would differ from nothing."""
    result = score(["Paris", "Lyon"] * 60, logs, ["Paris", ""] * 60, logs)
    assert result.scores["semantic_entropy"].value == pytest.approx(np.log(2))
    assert "1 of 2 different answers have no" in result.scores["mutual_information"].reason


def test_few_second_answers_say_so():
    result = score(FRENCH, second=["Paris", "Paris", "Lyon", ""])
    assert "10 second answers after each" in result.scores["mutual_information"].reason
    assert "one has 1" in result.scores["mutual_information"].reason


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (([],), "no answers"),
        (("Paris",), "are one text"),
        ((["", " "],), "no answers"),
        ((None,), "responses holds no list"),
        ((5,), "responses holds no list"),
        ((["a"], None, 5), "second is no list"),
        ((["a"], None, [None]), "second holds no list"),
        (([None, "Paris"],), "responses holds None, which is no text"),
        (({"Paris", "Lyon"},), "responses is a set"),
        ((pd.DataFrame({"answer": ["Paris", "Lyon"]}),), "responses is a table"),
        ((["a"], None, [["b", 3]]), "second holds 3"),
        ((["a"], None, {"a": ["b"] * 30}), "second is no list"),
        ((["a", "b"], None, "ab"), "second is no list"),
        ((["a", "b"], [-0.1, -0.2]), "add up to 1.72, more than 1"),
        ((["a"], [0.5]), "log_probabilities"),
        ((["a", "b"], [-np.inf, -1]), "contains -inf: an answer that came"),
        ((["a", "b"], [-9999, -1]), "contains -9999: an answer that came"),
        ((["a", "b"], [-1, -1], ["b", "a"], [-1, -1e4]), "second_log_.* contains -10000"),
        ((["a", "a"], [-1, -1], ["a", "b"], [-0.1, -0.2]), "add up to 1.72, more than 1"),
        ((["a"], [np.nan]), "log_probabilities"),
        ((["a"], [-1, -2]), "log_probabilities"),
        ((["a"], None, ["a", "b"]), "2 entries for 1"),
        ((["a"], None, [""]), "every one is empty"),
    ],
)
def test_what_is_no_evidence_is_refused_with_a_sentence(arguments, sentence):
    with pytest.raises(ValueError, match=sentence):
        score(*arguments)


def test_where_all_answers_would_be_one_there_is_no_score():
    with pytest.raises(ValueError, match="all answers are one"):
        score(["Paris", "Lyon"], threshold=0)
    for threshold in ("0.3", None, 1.5):
        with pytest.raises(ValueError, match=f"is {threshold!r}, but must be between 0 and 1"):
            score(["Paris", "Lyon"], threshold=threshold)


@pytest.mark.parametrize("text", ["I don't know.", "Error: 429"])
def test_a_text_that_is_no_answer_has_no_score(text):
    result = score([text] * 10)
    assert result.answers == ((text, 1.0),) and missing(result) == SCORES.keys()
    assert result.scores["semantic_entropy"].reason == NO_ANSWER
    assert score([text, "Paris", "Paris"], [-2, -1, -1]).scores["semantic_entropy"].value
    assert (
        score(["", *["Paris", "Lyon"] * 5], [-np.inf, *[-1, -2] * 5])
        .scores["semantic_entropy"]
        .value
    )


@pytest.mark.parametrize("second", [None, [["Paris"] * 10] * 9])
def test_where_too_many_answers_are_empty_the_others_have_no_score(second):
    few, many = (score(["Paris"] * (9 - n) + [""] * n, second=second) for n in (0, 1))
    assert few.scores["semantic_entropy"].value == 0
    assert missing(many) == SCORES.keys()
    assert many.scores["semantic_entropy"].reason.startswith("1 of 9 answers are empty")


def test_one_answer_has_no_entropy_whatever_came_second():
    alone = score(["Paris"], second=[["Paris"] * 10])
    assert "two to differ" in alone.scores["semantic_entropy"].reason


def test_it_goes_to_json():
    content = score(FRENCH).to_dict()
    assert content["answers"][0] == {"text": "Paris", "probability": pytest.approx(0.75)}
    assert content["scores"]["semantic_entropy"]["reason"] is None
