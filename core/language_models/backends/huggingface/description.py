"""Models that transformers runs, as they are chosen."""

from core.language_models.back_end import BackEnd, TextField

HUGGING_FACE = BackEnd(
    kind="hf",
    place="core.language_models.backends.huggingface.model:HuggingFace",
    usage="hf:PATH_OR_NAME",
    title="Hugging Face",
    button="Model: Hugging Face",
    caption="A folder, or a name on the hub. Scores any text. Runs on this machine; needs PyTorch "
    "(requirements/local.txt).",
    model=TextField("Folder or hub name", "gpt2"),
    key=TextField("Hub token, if the model needs one"),  # in the environment, the hub reads it
    opens_files=True,
    extra="hf",
)
