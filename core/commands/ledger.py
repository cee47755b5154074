"""The ledger of labels of a command: what was looked at before, and what it looks at now."""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import click

from core.abstention.ledger import Look
from core.commands.model import tell
from core.reports.calibration.words import UNNOTED, UNREAD
from core.store.database import open_database
from core.store.errors import StoreError
from core.store.labels import Looks
from core.studies.calibration.delta_spending import from_json, to_json

T = TypeVar("T")

IN_MEMORY = (
    "The database is in memory, so looks at these labels are counted in this command only, and "
    "its promise and those of others do not hold together."
)


class LedgerError(click.ClickException):
    """The looks before cannot be read, or this one not noted, so that nothing may be promised."""


def ledger(
    work: Callable[[Sequence[Look]], T], looks_of: Callable[[T], Iterable[Look | None]]
) -> T:
    """Return what work makes of the looks before; note its own before anybody sees it.

    It works again where another command has looked meanwhile, whose place it would take.

    Raises `LedgerError` where nobody can say what was looked at before, or note this.
    """
    beginning = UNREAD
    try:
        with open_database() as database:
            for sentence in (database.notice, None if database.folder else IN_MEMORY):
                if sentence:  # a damaged file was set aside, with what it knew
                    tell(sentence)
            while True:
                earlier = [from_json(*each) for each in Looks(database).all().items()]
                result = work(earlier)
                new = {each.setting: to_json(each) for each in looks_of(result) if each is not None}
                beginning = UNNOTED
                if Looks(database).save(new.items(), {each.setting for each in earlier}):
                    return result
                beginning = UNREAD  # of others, who have looked meanwhile
    except StoreError as error:
        raise LedgerError(f"{beginning} {error}") from error
