"""Progress and cancelling: one call that says how far a study is, and may stop it."""

from __future__ import annotations

from typing import Protocol


class Cancelled(Exception):
    """Raised out of a progress call by a caller who wants the study to stop."""


class Progress(Protocol):
    """What a study calls between two questions to the model."""

    def __call__(self, stage: str, share: float) -> None:
        """Report that `share`, in [0, 1], of `stage` is done.

        Raises
        ------
        Cancelled
            To stop the study here; what it has already recorded is lost unless it was
            handed out before.
        """


def silent(stage: str, share: float) -> None:
    """Report nothing and never cancel."""
