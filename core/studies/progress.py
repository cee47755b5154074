"""Progress and cancelling: one call that says how far a study is, and may stop it."""

from typing import Protocol


class Cancelled(Exception):
    """Raised out of a progress call by a caller who wants the study to stop."""


class Progress(Protocol):
    """What a study calls between two questions to the model."""

    def __call__(self, stage: str, share: float) -> None:
        """Report that `share`, in [0, 1], of `stage` is done.

        Raises `Cancelled` to stop the study here; what it has already recorded is lost unless it
        was handed out before.
        """


def silent(stage: str, share: float) -> None:
    """Report nothing and never cancel."""


def part(progress: Progress, number: int, of: int, begins: str = "") -> Progress:
    """Return the progress of one of several equal parts; what it says of a stage begins so."""
    return lambda stage, share: progress(f"{begins}{stage}", (number + share) / of)


class Stages:
    """Progress of one stage after another as one share, which never falls.

    `progress` is told it. The stages are in order; one may be left out, or come in several parts.
    """

    def __init__(self, progress: Progress, *stages: str) -> None:
        self._progress, self._stages = progress, stages
        self._reached = 0.0

    def __call__(self, stage: str, share: float) -> None:
        """Meet the `Progress` protocol with the share of one stage."""
        reached = (self._stages.index(stage) + share) / len(self._stages)
        self._reached = max(self._reached, reached)
        self._progress(stage, self._reached)
