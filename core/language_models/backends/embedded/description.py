"""The embedded model, as it is chosen."""

from core.language_models.back_end import BackEnd

EMBEDDED = BackEnd(
    kind="embedded",
    place="core.language_models.backends.embedded.model:EmbeddedModel",
    usage="embedded",
    title="Embedded model",
    button="Embedded demo model *· use yours*",
    caption="Small, trained for this program on facts whose truth is known. Scores any text. At "
    "once, on this machine: no key, no network.",
)
