"""Scores as Langfuse exports them: https://langfuse.com/docs/api-and-data-platform.

One row a score, in the names of its page and of its export to a bucket. The cells are invented.
"""

import json


def _scores(traces):
    for n in range(traces):
        good = n % 2 == 0
        yield n, "confidence", round(0.9 - n / 10 % 0.8, 3), "", "NUMERIC", "API"
        yield n, "correctness", int(good), str(good), "BOOLEAN", "ANNOTATION"
        yield n, "tone", int(good), "good" if good else "bad", "CATEGORICAL", "EVAL"


def of_page(traces):
    """Return a CSV as the page of scores exports it."""
    heading = "id,traceId,observationId,name,value,stringValue,dataType,source,comment,traceName"
    rows = (
        f"s{at},t{n},,{name},{value},{text},{kind},{source},said at {at},chat"
        for at, (n, name, value, text, kind, source) in enumerate(_scores(traces))
    )
    return "\n".join([heading, *rows, ""]).encode()


def of_bucket(traces):
    """Return JSON lines as the export to a bucket writes them."""
    return "".join(
        json.dumps(
            {
                "id": f"s{at}",
                "timestamp": f"2025-01-01 00:00:{at:02}.000000",
                "project_id": "p",
                "trace_id": f"t{n}",
                "observation_id": None,
                "name": name,
                "value": value,
                "source": source,
                "data_type": kind,
                "string_value": text or None,
            }
        )
        + "\n"
        for at, (n, name, value, text, kind, source) in enumerate(_scores(traces))
    ).encode()


def traces(number, more=()):
    """Return rows as the page of traces exports them: a list of values under each score's name."""
    return [
        {
            "id": f"t{n}",
            "name": "chat",
            "input": f"Which crew was number {n}?",
            "output": f"Crew {n}",
            "latency": 1.5,
            "confidence": [round(0.9 - n / 100, 3), *more],
            "correctness": [str(n % 2 == 0)],
        }
        for n in range(number)
    ]
