"""Answers of other tools scored on the command line: lists, lists of lists, one answer a row."""

import csv
import io
import itertools
import json
from functools import partial

import numpy as np
import pytest

from tests import command_line

FRENCH = ["Paris", "Paris", "Lyon", "Paris"]
LOGS = [float(p) for p in np.log([0.6, 0.6, 0.2, 0.6])]
ENTROPY = -(0.75 * np.log(0.75) + 0.25 * np.log(0.25))

#: As each tool writes them, one question.
SHAPES = {
    "uqlm.jsonl": {"prompt": "Capital?", "response": "Paris", "sampled_responses": FRENCH},
    "lm_polygraph.jsonl": {
        "question": "Capital?",
        "greedy_texts": "Paris",
        "sample_texts": FRENCH,
        "sample_log_probs": LOGS,
    },
    "harness_of_one_request.jsonl": {"question": "Capital?", "resps": [FRENCH]},
    "harness_of_several.jsonl": {"question": "Capital?", "resps": [[text] for text in FRENCH]},
    "uqlm_with_tokens.jsonl": {
        **{"prompt": "Capital?", "response": "Paris", "sampled_responses": FRENCH},
        "logprob": [{"token": "Paris", "logprob": -0.1}],  # of the one response
        "multiple_logprob": [[{"token": t, "logprob": p / 2} for t in "ab"] for p in LOGS],
    },
    "tokens.jsonl": {
        "question": "Capital?",
        "responses": FRENCH,
        "logprobs": [[p / 2] * 2 for p in LOGS],
    },
}


believe = partial(command_line.believe, "score")


@pytest.mark.parametrize("name", SHAPES)
def test_lists_of_answers_are_read_as_each_tool_writes_them(tmp_path, name):
    (tmp_path / name).write_text("\n".join(json.dumps(SHAPES[name]) for _ in range(2)))
    done = believe(tmp_path / name, "--json", "--out", tmp_path / "scores.csv")
    assert done.exit_code == 0, done.output
    written = list(csv.DictReader(io.StringIO((tmp_path / "scores.csv").read_text("utf-8-sig"))))
    assert [row["answer"] for row in written] == ["Paris"] * 2
    rows = json.loads(done.stdout)["rows"]
    assert [row["question"] for row in rows] == ["Capital?"] * 2
    for row in rows:
        assert row["answers"][0]["text"] == "Paris"
        assert row["scores"]["semantic_entropy"]["value"] == pytest.approx(ENTROPY)
    greedy = rows[0]["scores"]["greedy_probability"]["value"]
    assert greedy == (pytest.approx(0.6) if "greedy_texts" in SHAPES[name] else None)
    assert ("multiple_logprob" in done.stderr) == ("multiple_logprob" in SHAPES[name])
    assert "M.I., missing of 2 of 2: There are no second answers." in done.stderr


def test_one_answer_a_row_is_put_together_by_its_question(tmp_path):
    rows = [f"Capital?,{text}" for text in FRENCH] + ["=Fruit?,Lemon", "=Fruit?,"]
    (tmp_path / "traces.csv").write_text("\n".join(["input,output", *rows]))
    done = believe(tmp_path / "traces.csv", "--question", "input")
    capital, fruit = csv.DictReader(io.StringIO(done.stdout))
    assert (capital["question"], capital["answer"]) == ("Capital?", "Paris")
    assert float(capital["semantic_entropy"]) == pytest.approx(ENTROPY)
    assert (fruit["answer"], fruit["semantic_entropy"]) == ("Lemon", "")
    assert "S.E., missing of 1 of 2: There is one answer" in done.stderr
    assert "Empty answers, which do not count: 1." in done.stderr
    assert not fruit["question"].startswith("=") and capital["mutual_information"] == ""


def message(text, role="assistant"):
    return {"role": role, "content": text}


ASKED = [message("Be brief.", "system"), message("Capital?", "user")]


IN_PARTS = [*ASKED, message("?"), message([{"type": "text", "text": "Capital?"}], "user")]


def sample(place, text):
    """One epoch, as inspect-ai 0.3.285 writes it in JSON."""
    output = {"model": "m", "choices": [{"message": message(text)}], "completion": text}
    return {"id": "a", "epoch": place, "input": "Capital?", "target": "Paris", "output": output}


def span(place, text, **more):
    """One span of Phoenix, with the reply of a service in it."""
    value = {"id": f"chatcmpl-{place}", "choices": [{"index": 0, "message": message(text)}]}
    return {
        **{"context.span_id": f"s{place}", "span_kind": "LLM", **more},
        "attributes.input.value": json.dumps({"messages": ASKED}),
        "attributes.output.value": json.dumps(value),
    }


#: Of logs and traces, one answer a row.
TRACES = {
    "inspect.json": {
        "version": 2,
        "eval": {"model_args": {"custom_outputs": [{"completion": "No"}] * 4}},
        "samples": [sample(place, text) for place, text in enumerate(FRENCH, 1)],
    },
    "langfuse.json": [
        {"id": f"t{place}", "name": "qa", "input": ASKED, "output": message(text)}
        for place, text in enumerate(FRENCH)
    ],
    "langfuse_of_messages.json": [
        {"id": f"t{place}", "input": IN_PARTS, "output": [*ASKED, message(text)]}
        for place, text in enumerate(FRENCH)
    ],
    "langfuse_of_requests.json": [
        {"id": f"t{place}", "input": {"messages": ASKED}, "output": message(text)}
        for place, text in enumerate(FRENCH)
    ],
    "langfuse_of_the_newer_interface.json": [
        {"id": f"t{place}", "input": json.dumps({"input": ASKED}), "output": message(text)}
        for place, text in enumerate(FRENCH)
    ],
    "phoenix_of_messages.json": [
        {
            "attributes.llm.input_messages": [
                {f"message.{name}": value for name, value in each.items()} for each in ASKED
            ],
            "attributes.output.value": text,
        }
        for text in FRENCH
    ],
    "phoenix.json": [span(place, text) for place, text in enumerate(FRENCH)],
}


@pytest.mark.parametrize("name", TRACES)
def test_epochs_and_traces_are_put_together_by_what_was_asked(tmp_path, name):
    (tmp_path / name).write_text(json.dumps(TRACES[name]))
    done = believe(tmp_path / name, "--json")
    assert done.exit_code == 0, done.output
    (row,) = json.loads(done.stdout)["rows"]
    assert row["question"] == "Capital?"
    assert [(a["text"], a["probability"]) for a in row["answers"]] == [
        ("Paris", pytest.approx(0.75)),
        ("Lyon", pytest.approx(0.25)),
    ]
    assert row["scores"]["semantic_entropy"]["value"] == pytest.approx(ENTROPY)


@pytest.mark.parametrize(
    ("heading", "values", "apart"),
    [
        ("passage", ["sky", "sky", "sea", "sea"], True),
        ("question_id", ["1", "1", "2", "2"], True),
        ("id", ["1", "2", "3", "4"], False),  # of the row
        ("sample_id", ["1", "2", "1", "2"], False),  # of the trial
    ],
)
def test_a_question_on_another_passage_is_another(tmp_path, heading, values, apart):
    asks = ["What is it about?"] * 4
    if heading == "sample_id":
        asks[2:] = ["Which colour?"] * 2
    rows = zip(asks, values, ["The sky", "The sky", "The sea", "The sea"], strict=True)
    lines = [",".join(row) for row in [("question", heading, "response"), *rows]]
    (tmp_path / "answers.csv").write_text("\n".join(lines))
    done = believe(tmp_path / "answers.csv", "--json")
    entropies = [
        row["scores"]["semantic_entropy"]["value"] for row in json.loads(done.stdout)["rows"]
    ]
    assert entropies == ([pytest.approx(np.log(2))] if heading == "id" else [0, 0])
    assert (f"One question with several values of “{heading}” is several." in done.stderr) is apart


def test_answers_of_several_models_are_no_sample_of_one(tmp_path):
    file = tmp_path / "spans.json"
    spans = [span(i, text, span_kind=k) for k in ("LLM", "CHAIN") for i, text in enumerate(FRENCH)]
    file.write_text(json.dumps(spans))
    done = believe(file)
    assert done.exit_code == 1 and "several values of “span_kind”" in done.stderr
    assert "--filter COLUMN=VALUE" in done.stderr
    (row,) = json.loads(believe(file, "--filter", "span_kind=LLM", "--json").stdout)["rows"]
    assert row["scores"]["semantic_entropy"]["value"] == pytest.approx(ENTROPY)
    assert "No row is left" in believe(file, "--filter", "span_kind=TOOL").stderr


def test_requests_that_differ_beside_their_messages_are_no_sample_of_one(tmp_path):
    rows = [
        {"input": {"messages": ASKED, "system": text}, "output": message("Paris")} for text in "ab"
    ]
    (tmp_path / "a.json").write_text(json.dumps(rows))
    assert "several values of “input.system”" in believe(tmp_path / "a.json").stderr


def test_second_answers_bring_mutual_information(tmp_path):
    row = {"question": "Fruit?", "responses": ["Lemon", "Banana"] * 5}
    row["second"] = [[text] * 10 for text in row["responses"]]
    (tmp_path / "own.jsonl").write_text(json.dumps(row))
    scores = json.loads(believe(tmp_path / "own.jsonl", "--json").stdout)["rows"][0]["scores"]
    assert scores["mutual_information"]["value"] == pytest.approx(np.log(2), abs=0.05)


def test_answers_with_something_beside_their_text_are_their_text_everywhere(tmp_path):
    row = {"question": "Fruit?", "responses": ["Lemon", "Banana"] * 5, "greedy": "Lemon"}
    row |= {"second": [["Lemon"] * 6 + ["Banana"] * 4] * 10}

    def scores(beside):
        def put(value):
            return [*map(put, value)] if isinstance(value, list) else beside(value)

        file = tmp_path / "own.jsonl"
        file.write_text(json.dumps({name: put(value) for name, value in row.items()} | {"id": 1}))
        return json.loads(believe(file, "--question", "id", "--json").stdout)["rows"][0]["scores"]

    numbers = itertools.count()
    assert scores(lambda text: {"text": text, "logprob": -next(numbers)}) == scores(str)


def test_thoughts_in_front_of_an_answer_are_none_of_it(tmp_path):
    thinking = ["<think>Lyon?</think>Paris", "<think>It is\nso.</think>\n\nParis", "Lyon"]
    plain = ["Paris", "Paris", "Lyon"]
    found = []
    for responses in (thinking, plain, [{"text": text} for text in thinking]):
        (tmp_path / "own.jsonl").write_text(json.dumps({"question": "Q?", "responses": responses}))
        done = believe(tmp_path / "own.jsonl", "--json")
        found.append(json.loads(done.stdout)["rows"])
        assert ("what follows “</think>” counts" in done.stderr) == (responses is not plain)
    assert found[0] == found[1] == found[2] and found[0][0]["answers"][0]["text"] == "Paris"


def test_how_often_an_answer_came_is_said_to_count_for_nothing(tmp_path):
    (tmp_path / "counts.csv").write_text("question,response,count\nQ?,Paris,97\nQ?,Lyon,3\n")
    assert (
        "An answer counts once, whatever its “count” is" in believe(tmp_path / "counts.csv").stderr
    )
    (tmp_path / "one.csv").write_text("question,response,count\nQ?,Paris,1\nQ?,Lyon,1\n")
    assert "counts once" not in believe(tmp_path / "one.csv").stderr


def test_a_question_that_is_no_evidence_leaves_the_others(tmp_path):
    rows = [
        {"question": "a", "responses": FRENCH, "log_probs": LOGS},
        {"question": "b", "responses": FRENCH, "log_probs": [-0.1] * 4},
    ]
    (tmp_path / "mixed.jsonl").write_text("\n".join(map(json.dumps, rows)))
    done = believe(tmp_path / "mixed.jsonl", "--json")
    first, second = json.loads(done.stdout)["rows"]
    assert first["scores"] and "add up to 1.81" in second["error"] and not second["scores"]
    assert "1 of 2 questions have no scores" in done.stderr


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("question,colour\nWho?,red\n", "No heading says which column holds the answers"),
        ("response,colour\nA,red\n", "to which question"),
        ('question,responses,logprobs\nWho?,"[""A""]","[""x""]"\n', "“x” is no log-probability"),
        ('question,responses\nWho?,"[]"\n', "No question could be scored"),
        ('question,resps\nWho?,"[[[-1.2, true]], [[-3, false]]]"\n', "of choices"),
        ('question,responses\nWho?,"[[""A"", -1.2], [""A"", -3]]"\n', "where its text stands"),
        ('question,output\nWho?,"{""b"": 1}"\nWho?,"{""b"": 2}"\n', "where its text stands"),
        ('question,responses\nA,"[""a"", ""b""]"\nB,"[""c""]"\nC,oops\n', "and “oops” is none"),
    ],
)
def test_what_cannot_be_scored_is_a_sentence(tmp_path, text, sentence):
    (tmp_path / "bad.csv").write_text(text)
    done = believe(tmp_path / "bad.csv")
    assert done.exit_code == 1 and sentence in done.stderr
