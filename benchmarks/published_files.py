"""How the field's best-known files are read: what is asked of each, and what it is read as.

``python -m benchmarks.published_files > docs/measured/published_files.md``. The rows are invented,
in the shape of the published ones; `tests/data/datasets/test_answer_key.py` tests the reading of
the questions.
"""

import io
import json
from typing import Any

import pandas as pd

from core.data.datasets.answer_key import answer_key
from core.data.tabular.directions import UnknownDirectionError
from core.data.tabular.labelled_rows import LabelledRows, UnknownLabelsError, UnknownQuestionsError
from core.data.tabular.uploads import UploadError, parse
from core.studies.calibration.calibration import read


def lines(*rows):
    return "".join(f"{json.dumps(row)}\n" for row in rows).encode()


def array(*rows):
    return json.dumps(rows).encode()


def parquet(*rows):
    buffer = io.BytesIO()
    pd.DataFrame(rows).to_parquet(buffer)
    return buffer.getvalue()


ABOUT = """\
`python -m benchmarks.published_files` prints this page: what a person is asked before a model is,
or before anything is certified. **The rows are invented**, in the shape of the published files,
and what is asked is counted by the command, not by clicks on the page. On the page these
published files were opened: NQ-open, AmbigNQ and TriviaQA in two forms ask for nothing before
*Start*; answers of a real system with human labels and a column `score` take one click, on its
direction (`tests/pages/test_foreign_files.py`, which needs the files).
"""
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
    "TriviaQA on Hugging Face": (parquet(TRIVIA), [(CREW, (("Crew 4",), ("The fourth",)))]),
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
                    "choices": [{"text": "Crew 9", "label": "A"}, {"text": "Crew 4", "label": "B"}],
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


#: What evaluations write: scores with labels. Four rows each, of which half are right.
RESULTS = {
    "lm-evaluation-harness, samples": lines(
        *(
            {
                "doc_id": n,
                "doc": {"question": f"{CREW} {n}"},
                "target": "4",
                "filtered_resps": ["4"],
                "filter": "none",
                "exact_match": float(n % 2),
            }
            for n in range(4)
        )
    ),
    "Inspect, log as JSON": json.dumps(
        {
            "version": 2,
            "samples": [
                {
                    "id": n,
                    "epoch": 1,
                    "input": f"{CREW} {n}",
                    "target": "4",
                    "scores": {"match": {"value": "CI"[n % 2], "metadata": {"confidence": n / 9}}},
                }
                for n in range(4)
            ],
        }
    ).encode(),
    "promptfoo, results": json.dumps(
        {
            "results": {
                "results": [
                    {
                        "success": n % 2 == 0,
                        "score": n / 9,
                        "vars": {"question": f"{CREW} {n}"},
                        "response": {"output": "Crew 4"},
                        "provider": {"id": "m"},
                    }
                    for n in range(4)
                ]
            }
        }
    ).encode(),
    "deepeval, test run": json.dumps(
        {
            "testCases": [
                {
                    "input": f"{CREW} {n}",
                    "actualOutput": "Crew 4",
                    "success": n % 2 == 0,
                    "metricsData": [
                        {"name": "Faithfulness", "score": n / 9, "success": n % 2 == 0}
                    ],
                }
                for n in range(4)
            ]
        }
    ).encode(),
    "ragas, results": (
        "user_input,response,reference,faithfulness,answer_correctness\n"
        + "".join(f"{CREW} {n},Crew 4,Crew 4,{n / 9:.2f},{n % 2}\n" for n in range(4))
    ).encode(),
    "uqlm, results with labels": (
        "prompt,response,semantic_negentropy,noncontradiction,response_correct\n"
        + "".join(f"{CREW} {n},Crew 4,{n / 9:.2f},{n / 8:.2f},{n % 2}\n" for n in range(4))
    ).encode(),
    "Langfuse, scores": (
        "id,traceId,observationId,name,value,stringValue,dataType,source\n"
        + "".join(
            f"a{n},t{n},,confidence,{n / 9:.2f},,NUMERIC,API\n"
            f"b{n},t{n},,correctness,{n % 2},{n % 2 > 0},BOOLEAN,ANNOTATION\n"
            for n in range(4)
        )
    ).encode(),
    "Phoenix, spans with evaluations": (
        "context.span_id,attributes.input.value,eval.Hallucination.label,eval.confidence.score\n"
        + "".join(
            f"s{n},{CREW} {n},{('factual', 'hallucinated')[n % 2]},{n / 9:.2f}\n" for n in range(4)
        )
    ).encode(),
    "LM-Polygraph, MaximumSequenceProbability": (
        "question,MaximumSequenceProbability,correct\n"
        + "".join(f"{CREW} {n},{3 * n + 0.2:.2f},{n % 2}\n" for n in range(4))
    ).encode(),
    "HaluEval, general, with a confidence": lines(
        *(
            {
                "user_query": f"{CREW} {n}",
                "chatgpt_response": "Crew 4",
                "hallucination": ("yes", "no")[n % 2],
                "confidence": n / 9,
            }
            for n in range(4)
        )
    ),
}


#: What whoever knows a file answers, where its headings leave it open: arguments of `read`.
ANSWERS: dict[str, dict[str, Any]] = {
    "Inspect, log as JSON": {"larger_is_surer": True},
    "promptfoo, results": {"larger_is_surer": True},
    "deepeval, test run": {"correct": "success", "larger_is_surer": True},
    "ragas, results": {"larger_is_surer": True},
    "Langfuse, scores": {"question": ""},
    "Phoenix, spans with evaluations": {"larger_is_surer": True},
    "LM-Polygraph, MaximumSequenceProbability": {"larger_is_surer": False},
}
_ASKS = {
    UnknownDirectionError: "larger_is_surer",
    UnknownLabelsError: "correct",
    UnknownQuestionsError: "question",
}
_OPTIONS = {
    "larger_is_surer": lambda surer: "--larger-is-surer" if surer else "--larger-is-doubt",
    "correct": lambda column: f"--correct {column}",
    "question": lambda column: f"--question {column or json.dumps('')}",
}


def answered(name: str, content: bytes) -> tuple[LabelledRows, dict[str, Any]]:
    """Return a file of scores as it is calibrated on, and the answers that this takes.

    Raises `UploadError` when it has no score, or no answer that is asked for is at hand.
    """
    answers: dict[str, Any] = {}
    while True:
        try:
            return read(content, name, **answers), answers
        except tuple(_ASKS) as error:
            argument = _ASKS[type(error)]
            answers[argument] = ANSWERS[name][argument]


def row_of_results(name: str, content: bytes) -> str:
    try:
        data, answers = answered(name, content)
    except UploadError as error:
        return f"| {name} | – | – | {str(error).partition('. ')[0]}. |"
    book = next(iter(data.codebooks.values()))
    reading = f"{_codes([book.question])}; {_codes([*data.doubts])}; {_codes([book.label])}"
    options = _codes([_OPTIONS[argument](value) for argument, value in answers.items()])
    return f"| {name} | {reading} | {len(answers)} | {options if answers else '–'} |"


def row_of_questions(name: str, content: bytes) -> str:
    key = answer_key(parse(content, "x"))
    if key is None:
        return f"| {name} | – | – | – | 1 |"
    more = [f"choices: {_codes([*key.choices])}"] if key.choices else []
    more += [f"unanswerable: `{key.unanswerable}`"] if key.unanswerable else []
    more += ["what follows `####`"] if key.has_reasons else []
    more += ["true is yes"] if key.is_boolean else []
    return (
        f"| {name} | `{key.question}` | {_codes([*key.answers])} | {', '.join(more) or '–'} | 0 |"
    )


def _codes(names: list[str]) -> str:
    return ", ".join(f"`{name}`" if name else "every row" for name in names)


def main() -> None:
    print("# The field's best-known files, and how each is read\n")
    print(ABOUT)
    print("## Questions with right answers\n")
    print("| file | question | right | besides | answers |")
    print("| --- | --- | --- | --- | ---: |")
    for name, (content, _) in FILES.items():
        print(row_of_questions(name, content))
    print("\n## Scores with labels\n")
    print(
        "An answer is a choice on the page, and an option of `calibrate`. Once all are given, a "
        "threshold is certified or\nrefused for what the labels show; without one of them, "
        "nothing is. Where a scorer is a judge, its\nconfidence may be that of its grade, so its "
        "direction is asked.\n"
    )
    print("| file | question; scores; labels | answers | which |")
    print("| --- | --- | ---: | --- |")
    for name, content in RESULTS.items():
        print(row_of_results(name, content))


if __name__ == "__main__":
    main()
