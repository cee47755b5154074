"""What was looked at of labels: in the database; where that cannot be read later, in this session.

The bundled example has a ledger of its own, which ends with the session: everybody has seen it, and
nobody's own labels are to pay for that.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TypeVar

import streamlit as st

from core.abstention.ledger import Look
from core.data.tabular.labelled_rows import LabelledRows
from core.reports.calibration.words import UNNOTED, UNREAD
from core.store.errors import StoreError, UnknownLookError
from core.studies.calibration.calibration import CalibrationError
from core.studies.calibration.delta_spending import from_json, to_json
from core.studies.calibration.first_calibration import example, first_calibration
from core.ui.session import alone, person
from core.ui.storage import storage

T = TypeVar("T")

ONLY_HERE = (
    "Looks at these labels are counted in this session only. After a reload of the page they count "
    "anew, and the promises of both sessions do not hold together."
)
ONLY_OWN = (
    "Looks of other people at these labels are not counted, and their promises and yours do not "
    "hold together."
)
_LOOKS = "calibration_looks"  # by setting; those of the database, too, once they were read
_OF_EXAMPLE = "calibration_looks_at_example"
_READ = "calibration_looks_read"  # whether those of the database were, in this session


def is_example(data: LabelledRows) -> bool:
    """Say whether rows are of the bundled example."""
    return data.sha256 == example().sha256


def limit_of_count(data: LabelledRows) -> str:
    """Say which looks at labels are not counted: of other sessions, of other people; or ""."""
    if is_example(data):
        return ""
    if storage().database.folder is None or not (alone() or person()):
        return ONLY_HERE
    return "" if alone() else ONLY_OWN


def check_ledger(data: LabelledRows | None) -> None:
    """Promise nothing of labels as long as nobody can say what was looked at before.

    Raises `CalibrationError`.
    """
    if (data is not None and is_example(data)) or st.session_state.get(_READ):
        return
    where = storage()
    try:
        if where.why:  # the one in memory is not that of those before
            raise StoreError(where.why)
        for each in where.looks.all().items():
            from_json(*each)
    except StoreError as error:
        raise CalibrationError(f"{UNREAD} {error}") from error
    st.session_state[_READ] = True


def all_looks(data: LabelledRows | None = None) -> tuple[Look, ...]:
    """Return every look at labels that is known here; of the example, those at it."""
    if data is not None and is_example(data):
        return tuple(_looks_at_example().values())
    looks: dict[str, Look] = st.session_state.setdefault(_LOOKS, {})
    try:
        for setting, text in storage().looks.all().items():
            looks.setdefault(setting, from_json(setting, text))
    except StoreError:  # those of this session are known
        pass
    return tuple(looks.values())


def note(
    taken: Iterable[Look], earlier: Collection[Look], data: LabelledRows | None = None
) -> bool:
    """Remember what is looked at, before it is shown.

    Return whether it is: not where another page has looked meanwhile, whose place it may have.

    `earlier`: the looks after which these were counted.

    Raises `CalibrationError` where one of the database cannot be read, or these not saved.
    """
    if data is not None and is_example(data):
        _looks_at_example().update({each.setting: each for each in taken})
        return True
    looks: dict[str, Look] = st.session_state.setdefault(_LOOKS, {})
    new = {each.setting: each for each in taken if each.setting not in looks}
    if new:
        rows = [(each.setting, to_json(each)) for each in new.values()]
        try:
            saved = storage().looks
            if not saved.save(rows, {*new, *(each.setting for each in earlier)}):
                for each in saved.all().items():
                    from_json(*each)  # one that cannot be read would be unknown for ever
                return False
        except UnknownLookError as error:  # it may be one at these labels, and those behind it
            raise CalibrationError(f"{UNREAD} {error}") from error
        except StoreError as error:
            raise CalibrationError(f"{UNNOTED} {error}") from error
        looks |= new
    return True


def take(
    work: Callable[[Sequence[Look]], T],
    look_of: Callable[[T], Look | None],
    data: LabelledRows | None = None,
) -> T:
    """Return what work makes of the looks before; note its own before anybody sees it.

    Raises `CalibrationError` as of `check_ledger` and `note`.
    """
    while True:
        earlier = all_looks(data)
        result = work(earlier)
        look = look_of(result)
        if look is None:
            return result
        check_ledger(data)
        if note([look], earlier, data):
            return result


def _looks_at_example() -> dict[str, Look]:
    """Return the looks at the example by their setting; the page has opened with the first."""
    first = {each.setting: each for each in first_calibration().looks}
    looks: dict[str, Look] = st.session_state.setdefault(_OF_EXAMPLE, first)
    return looks
