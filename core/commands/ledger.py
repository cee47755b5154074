"""The ledger of labels of a command: what was looked at before, and what it looks at now."""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from core.abstention.ledger import Look
from core.commands.model import tell
from core.store.database import open_database
from core.store.errors import StoreError
from core.store.labels import Looks
from core.studies.calibration.delta_spending import from_json, to_json

T = TypeVar("T")

NOT_NOTED = "This look is not noted, so that later looks at these labels cost too little:"
UNREAD = (
    "Looks at these labels that came before cannot be read, and this one is not noted: its promise "
    "and theirs do not hold together."
)
IN_MEMORY = (
    "The database is in memory, so looks at these labels are counted in this command only, and "
    "its promise and those of others do not hold together."
)


def ledger(
    work: Callable[[Sequence[Look]], T], looks_of: Callable[[T], Iterable[Look | None]]
) -> T:
    """Return what work makes of the looks before; note its own before anybody sees it.

    It works again where another command has looked meanwhile, whose place it would take.
    """
    earlier: list[Look] | None = None
    try:
        with open_database() as database:
            if database.folder is None:
                tell(IN_MEMORY)
            is_noted = False
            while not is_noted:
                earlier = [from_json(each) for each in Looks(database).all()]
                result = work(earlier)
                new = {each.setting: to_json(each) for each in looks_of(result) if each is not None}
                is_noted = Looks(database).save(new.items(), {each.setting for each in earlier})
    except StoreError as error:
        tell(f"{UNREAD if earlier is None else NOT_NOTED} {error}")
        result = work(earlier or ())
    return result
