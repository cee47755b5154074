"""No promise from labels that nobody has read: every value has a meaning, or it is asked for."""

from dataclasses import replace

import pytest

from core.data.tabular.columns import column_of, kinds
from core.data.tabular.label_meanings import (
    MOST_VALUES,
    Meaning,
    UnreadLabelsError,
    ValueMeaning,
    display,
    meanings_in,
    unread_values,
    values_of,
)
from core.data.tabular.labelled_rows import UnknownQuestionsError, labelled_rows
from core.data.tabular.suggestions import label_columns, suggest
from core.data.tabular.uploads import UploadError, parse

RIGHT, WRONG, OUT = Meaning.RIGHT, Meaning.WRONG, Meaning.OUT


def table(*labels):
    lines = [f"q{i},{i / 1000},{label}" for i, label in enumerate(labels)]
    return parse("\n".join(["question,doubt,correct", *lines]).encode(), "x.csv")


def read(upload, meanings=()):
    """Labelled rows by what a person says of values; "" is the empty cell."""
    said = meanings_in(upload, ["correct"], dict(meanings))
    return labelled_rows(upload, replace(suggest(upload), meant=said))


def refused(upload, meanings=()):
    with pytest.raises(UnreadLabelsError) as caught:
        read(upload, meanings)
    return caught.value


@pytest.mark.parametrize("words", [("да", "нет"), ("👍", "👎"), ("yes.", "no."), ("W", "")])
def test_two_words_under_correct_are_asked_about_and_more_or_other_headings_are_not(words):
    upload = table(*words * 50)
    assert "(50 rows)" in str(refused(upload))
    meant = [(word, RIGHT if word == words[0] else WRONG) for word in words]
    assert read(upload, meant).correct["doubt"].sum() == 50
    assert not suggest(table(*[*words, "third"] * 50)).scores
    other = parse(b"question,doubt,answer\nWho?,0.1,She\nWhat?,0.2,It\n", "x.csv")
    assert not suggest(other).scores
    assert read(table("1.00", "0.00")).correct["doubt"].tolist() == [True, False]


@pytest.mark.parametrize(
    ("right", "other", "value", "named"),
    [
        ("1", "", "", "empty (50 rows)"),
        ("true", "NaN", "nan", "“NaN” (50 rows)"),
        ("T", "W", "w", "“W” (50 rows)"),
        ("c", "x", "x", "“x” (50 rows)"),
        ("yes", "-", "-", "“-” (50 rows)"),
    ],
)
def test_half_of_the_labels_unread_are_asked_about_and_promise_nothing(right, other, value, named):
    """Left out as before, only right answers would remain, and all of them be certified."""
    upload = table(*[right, other] * 50)
    assert [score.correct for score in suggest(upload).scores] == ["correct"]
    assert str(refused(upload)) == (
        f"“correct” has cells that say neither right nor wrong: {named}. All its other labels "
        "say right. Nothing is promised until you say what each of these means."
    )
    assert [(each.value, each.rows) for each in unread_values(upload, "correct")] == [(value, 50)]
    found = read(upload, {value: WRONG})
    assert found.correct["doubt"].tolist() == [True, False] * 50
    assert (found.left_out, found.one_kind) == (0, frozenset())
    found = read(upload, {value: RIGHT})
    assert found.one_kind == {"doubt"} and len(found.kept) == 100
    found = read(upload, {value: OUT})
    assert found.one_kind == {"doubt"} and (len(found.kept), found.left_out) == (50, 50)


def test_one_empty_cell_beside_both_kinds_is_asked_about_too():
    upload = table("1", "0", "", "1")
    assert "empty (1 row)." in str(refused(upload)) and "All its other" not in str(refused(upload))
    found = read(upload, {"": OUT})
    assert found.kept.tolist() == [0, 1, 3]
    assert found.problems == ("Line 4: “correct” is empty (left out).",)
    assert found.decided == ("As you said, 1 row in which “correct” is empty was left out.",)


def test_every_value_needs_an_answer():
    upload = table("1", "0", "W", "w ", "", "?", "?", "?", "0", "1", "0", "1")
    assert "“?” (3 rows), “W” (2 rows) and empty (1 row)." in str(refused(upload))
    assert "neither right nor wrong: “?” (3 rows)." in str(refused(upload, {"w": WRONG, "": OUT}))
    found = read(upload, {"?": OUT, "w": WRONG, "": OUT})
    assert found.correct["doubt"].tolist() == [True, *[False] * 4, True, False, True]
    assert found.left_out == 4
    assert found.decided == (
        "As you said, 3 rows in which “correct” is “?” were left out.",
        "As you said, 2 rows in which “correct” is “W” were counted as wrong.",
        "As you said, 1 row in which “correct” is empty was left out.",
    )


def test_words_of_our_own_can_be_given_another_meaning():
    """Labels that say "is a hallucination": 1 is wrong."""
    found = read(table("1", "0", "0"), {"1": WRONG, "0": RIGHT})
    assert found.correct["doubt"].tolist() == [False, True, True]


def test_labels_that_are_all_read_ask_nothing_and_those_that_nobody_knows_all_do():
    upload = table("ja", "Nein", "1", "falsch")
    assert unread_values(upload, "correct") == ()
    found = read(upload)
    assert found.correct["doubt"].tolist() == [True, False, True, False]
    assert (found.decided, found.left_out) == ((), 0)
    upload = table("good", " Bad", "good", "bad", "good")
    assert [each.value for each in unread_values(upload, "correct")] == ["good", "bad"]
    assert list(values_of(column_of(upload, "correct")).items()) == [("good", 3), ("bad", 2)]


@pytest.mark.parametrize(
    ("cells", "asked"),
    [
        (["1", "5", "4", "2", "3"], ["1", "2", "3", "4", "5"]),  # of ratings, 1 may be the worst
        (["0", "1", "2"], ["0", "1", "2"]),
        (["100", "0", "100"], ["0", "100"]),
        (["1", "-1", "1"], ["-1"]),
        (["1", "0", "0.5"], ["0.5"]),
    ],
)
def test_grades_are_asked_about(cells, asked):
    upload = table(*cells)
    assert label_columns(upload, kinds(upload)) == ("correct",)
    assert sorted(each.value for each in unread_values(upload, "correct")) == asked


def test_an_id_whose_rows_are_worded_differently_is_asked_about():
    for item, worded in (
        *(("q_id", "Say: Who is"), ("q_id", "Who is"), ("doc_id", "When left")),
        *(("instance", "Say: Who is"), ("uuid", "Say: Who is")),
    ):
        rows = "".join(
            f"{n // 2},{('Who is', worded)[n % 2]} {n // 2}?,0.{n},{n % 3 > 0}\n" for n in range(10)
        )
        upload = parse(f"{item},question,doubt,correct\n{rows}".encode(), "x.csv")
        is_asked = item != "doc_id" and worded != "Who is"
        assert suggest(upload).query == (None if is_asked else "question")
        if is_asked:
            with pytest.raises(UnknownQuestionsError, match=f"Rows with one “{item}” differ in"):
                labelled_rows(upload, suggest(upload))


@pytest.mark.parametrize("item", ["instance", "uuid", "Instance ID", "frage_nr", "question_hash"])
def test_an_id_whose_values_repeat_is_proposed_as_the_question(item):
    rows = "".join(f"{n // 2},0.{n},{n % 3 > 0}\n" for n in range(10))
    assert suggest(parse(f"{item},doubt,correct\n{rows}".encode(), "x.csv")).query == item
    assert suggest(parse(f"{item},doubt,correct\n{rows[:8]}".encode(), "x.csv")).query is None


def test_labels_of_whom_nobody_knows_are_asked_about_beside_those_of_somebody():
    for headings, labels in (
        (("judge_correct", "human_correct"), ("judge_correct", "human_correct")),
        (("correct", "format_correct"), ("correct",)),
        (("previewcorrect", "n"), ("previewcorrect",)),
    ):
        rows = "".join(f"q{n},0.{n},{n % 2},{n % 3 % 2}\n" for n in range(9))
        upload = parse(f"question,doubt,{','.join(headings)}\n{rows}".encode(), "x.csv")
        assert label_columns(upload, kinds(upload)) == labels
        open_values = [each.value for each in unread_values(upload, labels[-1])]
        assert open_values == ([] if labels[-1] == "correct" else ["0", "1"])


def test_an_answer_in_the_words_of_the_labels_is_asked_about():
    """Of questions of true and false, “correct” may be the right answer."""
    for answers, labels in ((["true", "false"], ("correct", "answer")), (["a", "b"], ("correct",))):
        rows = "".join(f"q{n},0.{n},{answers[n % 2]},{n % 3 > 0}\n" for n in range(9))
        upload = parse(f"question,doubt,answer,correct\n{rows}".encode(), "x.csv")
        assert label_columns(upload, kinds(upload)) == labels


def test_a_meaning_for_a_value_that_no_row_has_is_misspelt():
    upload = table("1", "0", "x")
    assert meanings_in(upload, ["correct"], {" X ": WRONG}) == (
        ValueMeaning("correct", "x", WRONG),
    )
    with pytest.raises(UploadError, match="No row has the value “w” in “correct”"):
        meanings_in(upload, ["correct"], {"w": WRONG})
    with pytest.raises(UploadError, match="No row has an empty cell in “correct”"):
        meanings_in(upload, ["correct"], {"": OUT})


def test_too_many_values_are_refused_and_some_are_named():
    words = [f"grade {n}" for n in range(MOST_VALUES)]
    assert len(unread_values(table(*["1"] * 30, *words), "correct")) == MOST_VALUES
    with pytest.raises(UploadError) as caught:
        read(table(*["1"] * 30, *words, "grade more"))
    assert str(caught.value) == (
        "“correct” has 13 different values that say neither right nor wrong, such as “grade 0”, "
        "“grade 1”, “grade 2”. Write right or wrong in their place, or choose another column."
    )


def test_a_value_is_shown_in_one_short_line_that_no_terminal_obeys():
    line = display("\x1b[2J\x07a\nb\u202e" + "x" * 500)
    assert len(line) < 70 and line[1:-1].isprintable()
    assert "a b" in line
