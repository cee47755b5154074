"""Gemini, as it is chosen, lent and paid for."""

from core.language_models.back_end import BackEnd, TextField

KEY_VARIABLE = "GOOGLE_API_KEY"
GEMINI = BackEnd(
    kind="gemini",
    place="core.language_models.backends.gemini.model:Gemini",
    usage="gemini:NAME",
    title="Gemini",
    button="Model: Gemini",
    caption="Google’s service. Needs a key. It scores its own answers at most, so that more "
    "samples are needed.",
    model=TextField("Model", value="gemini-2.5-flash"),
    key=TextField("API key"),
    lists="core.language_models.backends.gemini.listing:model_names",
    keys=(KEY_VARIABLE,),
    price_unit=1_000_000,
    extra="gemini",
)
