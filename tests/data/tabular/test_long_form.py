"""Tables of one score a row become tables of one trace a row, or say why they cannot."""

import csv
import io
import json

import pytest

from core.data.tabular.labelled_rows import UnknownLabelsError, labelled_rows
from core.data.tabular.suggestions import suggest
from core.data.tabular.uploads import UploadError, parse
from core.studies.calibration.calibration import read
from tests.data.tabular.long_form import of_bucket, of_page, traces


def rows_of(upload, *names):
    return upload.table[list(names)].to_numpy(object).tolist()


def test_the_scores_of_a_trace_become_columns_of_its_row():
    for content, trace in ((of_page(3), "traceId"), (of_bucket(3), "trace_id")):
        upload = parse(content, "scores.csv")
        assert rows_of(upload, trace, "confidence", "correctness", "tone") == [
            ["t0", "0.9", "1", "good"],
            ["t1", "0.8", "0", "bad"],
            ["t2", "0.7", "1", "good"],
        ]
        assert upload.notes[-1] == (
            "Each row held one score of a trace; now each of 3 traces is a row, with its scores as "
            "columns: “confidence”, “correctness” and “tone”."
        )
    assert parse(of_page(3), "scores.csv").lines.tolist() == [2, 5, 8]  # where its first one stands


def test_what_is_said_of_a_trace_stays_and_what_of_a_single_score_goes():
    headings = set(parse(of_page(3), "scores.csv").table.columns)
    assert "traceName" in headings and not {"id", "value", "dataType", "comment"} & headings


def test_nothing_is_guessed_but_what_headings_say():
    guess = suggest(parse(of_page(60), "scores.csv"))
    assert [(s.column, s.larger_is_surer, s.correct) for s in guess.scores] == [
        ("confidence", True, "correctness")
    ]
    assert guess.query is None  # several traces may ask the same: that is asked
    data = read(of_page(60), "scores.csv", question="")
    assert (len(data.kept), data.correct["confidence"].sum()) == (60, 30)


def test_two_sources_of_one_name_are_two_columns_and_asked_about():
    more = b"".join(b"e%d,t%d,,correctness,1,True,BOOLEAN,EVAL,,chat\n" % (n, n) for n in range(3))
    upload = parse(of_page(3) + more, "scores.csv")
    assert rows_of(upload, "correctness (ANNOTATION)", "correctness (EVAL)") == [
        ["1", "1"],
        ["0", "1"],
        ["1", "1"],
    ]
    with pytest.raises(UnknownLabelsError):
        labelled_rows(upload, suggest(upload))


def test_scores_of_parts_of_a_trace_are_rows_and_two_of_one_part_are_refused():
    lines = [
        {"traceId": "t", "observationId": part, "name": "x", "value": 0.5, "dataType": "NUMERIC"}
        for part in "ab"
    ]
    assert rows_of(parse(json.dumps(lines).encode(), "x.json"), "observationId", "x") == [
        ["a", "0.5"],
        ["b", "0.5"],
    ]
    with pytest.raises(UploadError, match="trace “t” has several scores called “x”"):
        parse(json.dumps([*lines, lines[0]]).encode(), "x.json")


def test_a_score_without_a_trace_is_left_out_and_said():
    upload = parse(of_page(2) + b"e,,,csat,1,,NUMERIC,API,,\n", "scores.csv")
    assert len(upload.table) == 2 and "csat" not in upload.table
    assert upload.notes[-1] == "Left out, as they belong to no trace: 1 score."


def test_other_tables_with_a_name_and_a_value_stay_as_they_are():
    upload = parse(b"trace_id,name,value\na,x,1\na,y,2\n", "x.csv")
    assert list(upload.table.columns) == ["trace_id", "name", "value"] and not upload.notes


def test_scores_in_lists_within_the_rows_of_traces_are_read():
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, traces(1)[0])
    writer.writeheader()
    writer.writerows(
        {k: json.dumps(v) if k[0] == "c" else v for k, v in row.items()} for row in traces(60)
    )
    for content, name in ((json.dumps(traces(60)), "x.json"), (buffer.getvalue(), "x.csv")):
        data = read(content.encode(), name)
        assert data.numbers("confidence")[:3].tolist() == [0.9, 0.89, 0.88]
        assert data.correct["confidence"].sum() == 30


def test_several_scores_of_one_name_in_a_row_are_refused_by_name():
    content = json.dumps(traces(60, more=[0.4])).encode()
    with pytest.raises(
        UploadError,
        match=r"“confidence” has no number: its cells are lists, such as "
        r"“\[0.9, 0.4\]” in line 1. Write one number in each cell",
    ):
        read(content, "x.json", ["confidence"], larger_is_surer=True)
