"""What the model says after each answer that it was told, as rows of bars."""

from typing import Final

from core.charts.inspection import answer_name
from core.studies.inspection.conditional_rows import ConditionalRows, chance
from core.ui.components.registration import register

mount = register("rows", "parts")

WORDS: Final = {
    "nothing": "Told nothing",
    "told": "Told {}",
    "says": "it says",
    "else": "anything else",
    "order": "From left:",
    "again": "says again what it was told",
    "share": "untold → told",
    "itself": "its answer when told nothing",
}


def rows(table: ConditionalRows, *, key: str) -> None:
    """Draw one bar for what was told; each answer has the same place and shade in all of them."""
    content = {
        "answers": [answer_name(text) for text in table.answers],
        "rows": [
            {
                "told": None if row.after is None else answer_name(row.after),
                "at": table.answers.index(row.after) if row.after in table.answers else None,
                "says": [round(share, 6) for share in row.says],
                "in_words": [chance(p, table.is_counted) for p in (*row.says, row.rest)],
            }
            for row in table.rows
        ],
        "words": WORDS,
    }
    mount(data=content, key=key)
