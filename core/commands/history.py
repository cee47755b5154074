"""What a command saves to History."""

from typing import Final

from core.commands.model import tell
from core.store.database import open_database
from core.store.errors import StoreError
from core.store.results import SavedResults

KEEP: Final = "Save the result to History."


def keep(kind: str, query: str, model: str, payload: str, outcome: str) -> None:
    """Keep a result for History; what was found is printed even where that fails."""
    try:
        with open_database() as database:
            SavedResults(database).save(kind, query, query, model, payload, outcome=outcome)
    except StoreError as error:
        tell(f"Not saved to History: {error}")
