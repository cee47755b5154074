"""OpenAI-compatible servers, as they are chosen, lent to and paid for."""

from core.language_models.back_end import BackEnd, TextField
from core.language_models.backends.openai.presets import KEY_VARIABLE, OPENAI, PRESETS

OPENAI_COMPATIBLE = BackEnd(
    kind="openai",
    place="core.language_models.backends.openai.model:OpenAICompatible",
    usage="openai:NAME@BASE_URL",
    title="OpenAI-compatible server",
    button="Model: a server",
    caption="vLLM, llama.cpp, Ollama, OpenAI and many others, by address. What it can do is found "
    "out when it is opened.",
    model=TextField("Model", "as the server names it"),
    key=TextField("Key, if the server needs one"),
    example_url="http://localhost:8000/v1",
    usual_url=OPENAI,
    presets=PRESETS,
    lists="core.language_models.backends.openai.listing:model_names",
    keys=tuple(dict.fromkeys([KEY_VARIABLE, *(p.key for p in PRESETS if p.key)])),
    key_for="core.language_models.backends.openai.address:key_variable",
    price_unit=1_000_000,
)
