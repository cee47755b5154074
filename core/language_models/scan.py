"""A look at the usual ports of this machine: which servers answer, and with which models."""

from functools import partial

from core.language_models import registry
from core.language_models.client.concurrency import at_once
from core.language_models.errors import ModelError
from core.language_models.stopping import current_stop, patience

LOOKING = 3.0  # seconds that a server on this machine may take to list its models


def local_servers() -> dict[str, tuple[str, ...]]:
    """Return the servers at the usual ports of this machine, by base URL, with their models.

    All are asked at once, for `LOOKING` seconds, and sent no key: nobody knows who listens there.
    """
    places = [
        (back_end.kind, preset.base_url)
        for back_end in registry.BACK_ENDS.values()
        for preset in back_end.presets
        if preset.base_url.startswith("http://localhost:")
    ]

    stop = current_stop()

    def names_at(kind: str, url: str) -> tuple[str, ...]:
        try:
            with patience(stop, LOOKING):  # which is this thread's own
                return registry.model_names(kind, url, "")
        except ModelError:
            return ()

    lists = at_once([partial(names_at, *place) for place in places])
    return {url: names for (_, url), names in zip(places, lists, strict=True) if names}
