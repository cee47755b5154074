"""The models that a server says it has: ``GET /models``, which most servers answer.

The names are a stranger's words. They are shown, and sent back as they came, and nothing else.
"""

from typing import Any

from core.codec import one_line
from core.language_models.backends.openai.address import key_for, read_address
from core.language_models.backends.openai.http import Rejection, Service
from core.language_models.errors import ModelError, RefusedError
from core.language_models.usage import Meter

MOST = 1000  # names
LONGEST = 200  # characters of one


def model_names(url: str, key: str | None = None) -> tuple[str, ...]:
    """Return the names of a server's models, in their order in the alphabet.

    Raises `ModelError` with a sentence: the address is none, nobody answers, or nothing is listed.
    """
    address = read_address(url)
    key, of_environment = key_for(address, key)
    service = Service(address, key, Meter(), typed=not of_environment)
    try:
        listed = service.get("/models").get("data")
    except Rejection:
        listed = None
    entries = listed if isinstance(listed, list) else []
    ids = [entry.get("id") for entry in entries if isinstance(entry, dict)]
    names = sorted({name for name in ids if isinstance(name, str) and _is_name(name)})
    if not names:
        raise ModelError(f"{address.host} does not list its models. Type the name of one.")
    return tuple(names[:MOST])


def weights_of(service: Service, model: str) -> str:
    """Return what a server says of the weights behind a name; "" where it says no more than that.

    llama.cpp answers to any name; others can be started anew behind one (vLLM, with a name of one's
    own), or filled anew (Ollama, by ``pull`` and ``create``).

    Raises `TemporaryError` for what may pass, `NeedsKeyError`.
    """
    listed = _entries(service, "/models", "data")
    own = [entry for entry in listed if entry.get("id") == model] or listed[: len(listed) == 1]
    entry = own[0] if own else {}
    meta, names = entry.get("meta"), [entry.get("root")]
    if isinstance(meta, dict) and len(listed) == 1:
        names = [entry.get("id"), f"{meta.get('size')} bytes"]
    elif listed and all(":" in str(each.get("id")) for each in listed):  # as Ollama's names
        tags = _entries(service, "/api/tags", "models", beside=True)
        named = [tag for tag in tags if tag.get("name") in (model, f"{model}:latest")]
        names = [str(tag.get("digest"))[:12] for tag in named]
    others = [name for name in names if isinstance(name, str) and name != model]
    return one_line(service.without_key(", ".join(others)), LONGEST)


def _entries(
    service: Service, path: str, field: str, *, beside: bool = False
) -> list[dict[str, Any]]:
    """Return the objects that a server lists at a path; none where it refuses."""
    try:
        listed = service.get(path, beside=beside).get(field)
    except RefusedError:
        listed = None
    return (
        [entry for entry in listed if isinstance(entry, dict)] if isinstance(listed, list) else []
    )


def _is_name(text: str) -> bool:
    return 0 < len(text.strip()) == len(text) <= LONGEST and text.isprintable()
