"""Every back end that can be tried on this machine, by name; `test_conformance.py` tries them.

Services are real servers on 127.0.0.1 with the embedded model behind them. To add a back end,
add a function that opens it for the length of a ``with`` block. `SAYING` are services that say
what a test wants, or withhold it.
"""

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from importlib.util import find_spec
from tempfile import TemporaryDirectory

from core.language_models.backends.embedded import FOLDER
from core.language_models.backends.embedded.model import EmbeddedModel
from core.language_models.backends.openai import input_logprobs
from core.language_models.backends.openai.model import OpenAICompatible
from core.language_models.forms import Form
from core.language_models.language_model import LanguageModel, Response
from core.language_models.registry import open_model
from tests.language_models.documented_server import documented
from tests.language_models.gemini_server import gemini
from tests.language_models.gemini_server import serving as serving_gemini
from tests.language_models.openai_server import END, serving

KEY = "sk-conformance-0123456789"


@contextmanager
def opened(name: str) -> Iterator[LanguageModel]:
    """Open a model that needs no service."""
    yield open_model(name)


@contextmanager
def by_transformers() -> Iterator[LanguageModel]:
    """Open the embedded model by transformers: its own folder holds bytes, to be scaled."""
    from training.reference import in_transformers

    with TemporaryDirectory() as folder:
        in_transformers().save_pretrained(folder)
        shutil.copy(FOLDER / "tokenizer.json", folder)
        yield open_model(f"hf:{folder}")


@contextmanager
def openai(flavour: str, *, end: str | None = None, **options) -> Iterator[LanguageModel]:
    """Open a model of a server that wants a key."""
    with serving(flavour, key=KEY, **options) as server:
        if end:
            yield OpenAICompatible(server.rest, KEY, end=end)
        else:
            yield open_model(server.name, KEY)


@contextmanager
def as_documented(way: str) -> Iterator[LanguageModel]:
    """Open a model of a server that scores given text in a way of its own."""
    with documented(way, key=KEY) as (server, _):
        yield OpenAICompatible(server.rest, KEY, end=END)


@contextmanager
def in_form(form: Form, back_end: Callable[[], AbstractContextManager[LanguageModel]]):
    """Open a model that is asked in a form."""
    with back_end() as model:
        yield model.in_form(form)


BACK_ENDS: dict[str, Callable[[], AbstractContextManager[LanguageModel]]] = {
    "embedded": partial(opened, "embedded"),
    "gemini": partial(gemini, known=False),
    "gemini-own": partial(gemini, known=False, logprobs=True),
    "openai-echo": partial(openai, "echo"),
    "openai-echo-with-end": partial(openai, "echo", end=END),
    "openai-echo-of-one-token": partial(openai, "echo", least_tokens=1),
    "openai-echo-scaled": partial(openai, "echo", scaled=True),
    "openai-top": partial(openai, "top", lists_end=False),
    "openai-top-without-stops": partial(openai, "top", stops=False, written="content"),
    "openai-top-scaled": partial(openai, "top", scaled=True),
    **{f"openai-{way}": partial(as_documented, way) for way in input_logprobs.MAKERS},
    "openai-none": partial(openai, "none", n=False),
    "openai-chat-top": partial(openai, "chat-top", lists_end=False),
    "openai-chat-none": partial(openai, "chat-none"),
    "openai-chat-plain": partial(openai, "chat-none", refuses=("seed",)),
}
BEHIND_EXAMPLES = {
    "openai-echo": Form.EXAMPLES,
    "openai-top": Form.EXAMPLES,
    "openai-chat-top": Form.CHAT_WITH_EXAMPLES,
    f"openai-{input_logprobs.PROMPT_LOGPROBS}": Form.CHAT_WITH_EXAMPLES,
    f"openai-{input_logprobs.INPUT_TOKENS}": Form.EXAMPLES,
    f"openai-{input_logprobs.PREFILL}": Form.EXAMPLES,
    "gemini": Form.CHAT_WITH_EXAMPLES,
}
BACK_ENDS |= {
    f"{name}-behind-examples": partial(in_form, form, BACK_ENDS[name])
    for name, form in BEHIND_EXAMPLES.items()
}
if find_spec("torch") and find_spec("transformers"):  # only where `make test-local` runs
    BACK_ENDS["hf"] = by_transformers


# ------------------------------------------------------- services that say what a test wants

EACH = -0.5  # nats of every character, which is a token


@contextmanager
def openai_saying(flavour: str, text: str, *, withheld: bool = False) -> Iterator[LanguageModel]:
    """Open a model that answers every question, but not the probe, with a text."""
    chat = flavour.startswith("chat")

    def reply(path: str, body: dict) -> tuple[int, dict, bytes] | None:
        if "Provide an answer" not in json.dumps(body):
            return None
        tokens = [{"token": c, "logprob": EACH} for c in text]
        said = {"message": {"content": text}} if chat else {"text": text}
        reason = "content_filter" if withheld else "stop"
        choice = {"index": 0, "finish_reason": reason, "logprobs": {"content": tokens}, **said}
        name = f"{body['model']}-{network.revision}"
        return 200, {}, json.dumps({"model": name, "choices": [choice]}).encode()

    network = EmbeddedModel()
    with serving(flavour, key=KEY, before=reply, model=network) as server:
        yield open_model(server.name, KEY)


class Saying:
    """Draws one text."""

    def __init__(self, text: str) -> None:
        self.text = text

    def sample(self, prompt, count, **options):
        return [Response(self.text, True) for _ in range(count)]


@contextmanager
def gemini_saying(logprobs: bool, text: str, *, withheld: bool = False) -> Iterator[LanguageModel]:
    """Open a Gemini model that answers everything with a text."""

    def likelihoods(*asked):
        return {"chosenCandidates": [{"token": c, "logProbability": EACH} for c in text]}

    with serving_gemini(logprobs=logprobs, faults=["safety"] if withheld else []) as service:
        service.model, service.likelihoods = Saying(text), likelihoods
        yield service.open(key=KEY)


SAYING: dict[str, Callable[..., AbstractContextManager[LanguageModel]]] = {
    **{f"openai-{f}": partial(openai_saying, f) for f in ("top", "none", "chat-top", "chat-none")},
    "gemini": partial(gemini_saying, False),
    "gemini-own": partial(gemini_saying, True),
}
