"""Files of others, a few invented rows each in the shape of a published one: nothing is asked."""

import io
import json

import pandas as pd
import pytest

from core.data.datasets.answer_key import answer_key
from core.data.datasets.questions import MalformedRowError
from core.data.datasets.uploaded import uploaded_questions
from core.data.tabular.uploads import parse


def lines(*rows):
    return "".join(f"{json.dumps(row)}\n" for row in rows).encode()


def array(*rows):
    return json.dumps(rows).encode()


def parquet(*rows):
    buffer = io.BytesIO()
    pd.DataFrame(rows).to_parquet(buffer)
    return buffer.getvalue()


CREW = "Which crew?"
SQUAD = {"id": "a", "title": "T", "context": "C", "question": CREW}
SQUAD_2 = {
    "version": "v2.0",
    "data": [
        {
            "title": "T",
            "paragraphs": [
                {
                    "context": "C",
                    "qas": [
                        {
                            "id": "a",
                            "question": CREW,
                            "answers": [{"text": "Crew 4", "answer_start": 0}],
                            "is_impossible": False,
                        },
                        {
                            "id": "b",
                            "question": "Why?",
                            "answers": [],
                            "plausible_answers": [{"text": "x", "answer_start": 0}],
                            "is_impossible": True,
                        },
                    ],
                }
            ],
        }
    ],
}
NOTHING = ()
ONE = (("Crew 4",),)
CHOICES = f"{CREW}\nA: Crew 9\nB: Crew 4"
TRIVIA = {
    "question": CREW,
    "question_id": "tc_1",
    "answer": {"aliases": ["Crew 4", "The fourth"], "type": "W", "value": "Crew 4"},
}
PRINTED = "{'text': array(['Crew 4'], dtype=object), 'answer_start': array([5], dtype=int32)}"

#: By name: the file, what is asked, and what is right.
FILES = {
    "TruthfulQA": (
        b"Type,Category,Question,Best Answer,Correct Answers,Incorrect Answers,Source\n"
        b"A,Law,Which crew?,Crew 4,Crew 4; The fourth,Crew 9,https://x.org\n",
        [(CREW, (("Crew 4",), ("The fourth",)))],
    ),
    "TruthfulQA, generation": (
        parquet(
            {
                "type": "A",
                "category": "Law",
                "question": CREW,
                "best_answer": "Crew 4",
                "correct_answers": ["Crew 4", "The fourth"],
                "incorrect_answers": ["Crew 9"],
                "source": "https://x.org",
            }
        ),
        [(CREW, (("Crew 4",), ("The fourth",)))],
    ),
    "TruthfulQA, multiple choice": (
        lines(
            {"question": CREW, "mc1_targets": {"choices": ["Crew 9", "Crew 4"], "labels": [0, 1]}}
        ),
        [(CHOICES, (("Crew 4", "B"),))],
    ),
    "SimpleQA": (
        b"metadata,problem,answer\n\"{'topic': 'T'}\",Which crew?,Crew 4\n",
        [(CREW, ONE)],
    ),
    "PopQA": (
        b'id,subj,prop,obj,s_pop,question,possible_answers\n1,s,p,o,9,Which crew?,"[""Crew 4""]"\n',
        [(CREW, ONE)],
    ),
    "HaluEval": (
        lines(
            {
                "knowledge": "K",
                "question": CREW,
                "right_answer": "Crew 4",
                "hallucinated_answer": "Crew 9",
            }
        ),
        [(CREW, ONE)],
    ),
    "SQuAD on Hugging Face": (
        parquet(SQUAD | {"answers": {"text": ["Crew 4"], "answer_start": [0]}}),
        [(CREW, ONE)],
    ),
    "SQuAD 2 on Hugging Face": (
        parquet(
            SQUAD | {"answers": {"text": ["Crew 4"], "answer_start": [0]}},
            SQUAD | {"id": "b", "question": "Why?", "answers": {"text": [], "answer_start": []}},
        ),
        [(CREW, ONE), ("Why?", NOTHING)],
    ),
    "SQuAD printed into a CSV": (
        pd.DataFrame([SQUAD | {"answers": PRINTED}]).to_csv(index=False).encode(),
        [(CREW, ONE)],
    ),
    "SQuAD 2": (json.dumps(SQUAD_2).encode(), [(CREW, ONE), ("Why?", NOTHING)]),
    "TriviaQA on Hugging Face": (
        parquet(TRIVIA),
        [(CREW, (("Crew 4",), ("The fourth",)))],
    ),
    "NQ open": (lines({"question": CREW, "answer": ["Crew 4"]}), [(CREW, ONE)]),
    "ARC on Hugging Face": (
        parquet(
            {
                "id": "a",
                "question": CREW,
                "choices": {"text": ["Crew 9", "Crew 4"], "label": ["1", "2"]},
                "answerKey": "2",
            }
        ),
        [(f"{CREW}\n1: Crew 9\n2: Crew 4", (("Crew 4", "2"),))],
    ),
    "ARC": (
        lines(
            {
                "id": "a",
                "question": {
                    "stem": CREW,
                    "choices": [
                        {"text": "Crew 9", "label": "A"},
                        {"text": "Crew 4", "label": "B"},
                    ],
                },
                "answerKey": "B",
            },
            {
                "id": "b",
                "question": {"stem": "Why?", "choices": [{"text": "x", "label": "A"}]},
                "answerKey": "A",
            },
        ),
        [(CHOICES, (("Crew 4", "B"),)), ("Why?\nA: x", (("x", "A"),))],
    ),
    "MMLU": (
        parquet({"question": CREW, "subject": "s", "choices": ["Crew 9", "Crew 4"], "answer": 1}),
        [(CHOICES, (("Crew 4", "B"),))],
    ),
    "MMLU-Pro": (
        parquet(
            {
                "question_id": 7,
                "question": CREW,
                "options": ["Crew 9", "Crew 4"],
                "answer": "B",
                "answer_index": 1,
            }
        ),
        [(CHOICES, (("Crew 4", "B"),))],
    ),
    "MedQA": (
        lines(
            {
                "question": CREW,
                "answer": "Crew 4",
                "options": {"A": "Crew 9", "B": "Crew 4"},
                "answer_idx": "B",
            }
        ),
        [(CHOICES, (("Crew 4", "B"),))],
    ),
    "BoolQ": (
        lines({"question": "is it crew 4", "passage": "P", "answer": False}),
        [("is it crew 4", (("no", "false"),))],
    ),
    "GSM8K": (
        lines({"question": "How many?", "answer": "3+4=<<3+4=7>>7.\n#### 7"}),
        [("How many?", (("7",),))],
    ),
    "EntityQuestions": (array({"question": CREW, "answers": ["Crew 4"]}), [(CREW, ONE)]),
    "AmbigQA on Hugging Face": (
        parquet(
            {
                "id": "a",
                "question": CREW,
                "annotations": {
                    "type": ["singleAnswer", "multipleQAs"],
                    "answer": [["Crew 4"], []],
                    "qaPairs": [
                        {"question": [], "answer": []},
                        {"question": ["In May?"], "answer": [["Crew 5", "Five"]]},
                    ],
                },
            }
        ),
        [(CREW, (("Crew 4",), ("Crew 5", "Five")))],
    ),
    "SelfAware": (
        json.dumps(
            {
                "example": [
                    {"question_id": 1, "question": CREW, "answer": ["Crew 4"], "answerable": True},
                    {"question_id": 2, "question": "Why?", "answer": None, "answerable": False},
                ]
            }
        ).encode(),
        [(CREW, ONE), ("Why?", NOTHING)],
    ),
    "ragas": (
        lines({"user_input": CREW, "reference_contexts": ["C"], "reference": "Crew 4"}),
        [(CREW, ONE)],
    ),
    "deepeval": (
        array({"input": CREW, "actual_output": None, "expected_output": "Crew 4", "context": []}),
        [(CREW, ONE)],
    ),
    "Inspect": (lines({"input": CREW, "target": "Crew 4", "id": "a"}), [(CREW, ONE)]),
    "Inspect with choices": (
        lines({"input": CREW, "target": "B", "choices": ["Crew 9", "Crew 4"]}),
        [(CHOICES, (("Crew 4", "B"),))],
    ),
    "OpenAI evals": (
        lines(
            {
                "input": [
                    {"role": "system", "content": "Be brief."},
                    {"role": "user", "content": CREW},
                ],
                "ideal": ["Crew 4", "4"],
            }
        ),
        [(f"Be brief.\n{CREW}", (("Crew 4",), ("4",)))],
    ),
    "promptfoo, CSV": (b"question,__expected\nWhich crew?,icontains: Crew 4\n", [(CREW, ONE)]),
    "promptfoo, JSON": (
        array(
            {
                "vars": {"question": CREW},
                "assert": [
                    {"type": "equals", "value": "Crew 4"},
                    {"type": "llm-rubric", "value": "is polite"},
                ],
            }
        ),
        [(CREW, ONE)],
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_a_published_shape_is_read_without_a_question(name):
    content, asked = FILES[name]
    upload = parse(content, "x")
    assert [(q.query, q.answers) for q in uploaded_questions(upload)] == asked


def test_what_means_what_is_put_into_words():
    upload = parse(FILES["Inspect with choices"][0], "x")
    assert answer_key(upload).sentences == (
        "Question: “input”; right: “target”.",
        "The choices in “choices” belong to the question.",
        "Columns not used: none.",
    )
    upload = parse(FILES["SQuAD 2"][0], "x")
    assert answer_key(upload).sentences[1] == "“is_impossible” says where no answer is right."


def test_a_right_answer_that_is_no_choice_is_malformed():
    upload = parse(lines({"input": "Q?", "target": "C", "choices": ["x", "y"]}), "x")
    with pytest.raises(MalformedRowError, match="the right answer “C” is none of the choices"):
        list(uploaded_questions(upload))


def test_texts_of_json_are_not_divided():
    upload = parse(lines({"question": "Q?", "answer": "Art. 5; para 2"}), "x")
    assert next(uploaded_questions(upload)).answers == (("Art. 5; para 2",),)
