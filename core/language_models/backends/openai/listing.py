"""The models that a server says it has: ``GET /models``, which most servers answer.

The names are a stranger's words. They are shown, and sent back as they came, and nothing else.
"""

from core.language_models.backends.openai.address import key_for, read_address
from core.language_models.backends.openai.http import Rejection, Service
from core.language_models.errors import ModelError
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


def _is_name(text: str) -> bool:
    return 0 < len(text.strip()) == len(text) <= LONGEST and text.isprintable()
