"""The keys of services that the environment has, and those of them that strangers may use."""

from core import settings
from core.language_models.registry import BACK_ENDS, full_name
from core.settings import PUBLIC_KEYS, SettingError


def lent_variables() -> set[str]:
    """Return the variables of the keys that the owner of a public server lends to its visitors.

    Raises `SettingError` when ``BELIEVE_PUBLIC_KEYS`` names anything else than such keys.
    """
    variables = list(dict.fromkeys(key for back_end in BACK_ENDS.values() for key in back_end.keys))
    names = settings.public_keys()
    if not names <= set(variables):
        raise SettingError(
            f"{PUBLIC_KEYS} contains something that is not the name of a key to lend. If you "
            f"run this server, set it to one or more of these, separated by commas: "
            f"{', '.join(variables)}."
        )
    return names


def environment_key(variable: str) -> str | None:
    """Return a key of the environment where it may be used; on a public server, if it is lent.

    Raises `SettingError` as `lent_variables` does.
    """
    if settings.is_public() and variable not in lent_variables():
        return None
    return settings.key(variable)


def owners_key(name: str) -> str | None:
    """Return the environment's key for a model, for the owner of the environment alone."""
    kind, _, rest = full_name(name).partition(":")
    return settings.key(BACK_ENDS[kind].key_variable(rest)[0]) if kind in BACK_ENDS else None


def check() -> None:
    """Read every setting that can be wrong; raise `SettingError` when one is."""
    settings.check()
    if settings.is_public():
        lent_variables()
