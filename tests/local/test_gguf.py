"""SmolLM2 by our own runtime and by transformers, which reads the same file in its own way."""

import numpy as np
import pytest

pytest.importorskip("torch", reason="needs requirements/local.txt: run `make test-local`")

import torch
import transformers

from core import prompts
from core.data.world.facts import facts
from core.language_models.backends.gguf.model import smollm2_file
from core.language_models.errors import UnknownModelError
from core.language_models.forms import Form
from core.language_models.registry import open_model

COUNT = 200
SCORED = 40  # of them in the plain form: each is one pass of PyTorch by itself


@pytest.fixture(scope="module")
def file():
    try:
        return smollm2_file()
    except UnknownModelError as missing:
        pytest.skip(str(missing))


@pytest.fixture(scope="module")
def theirs(file):
    return transformers.AutoModelForCausalLM.from_pretrained(
        file.parent, gguf_file=file.name, dtype=torch.float32
    ).eval()


@pytest.fixture(scope="module")
def asked():
    """Prompts with an answer each: right ones, and what another question is answered."""
    rng = np.random.default_rng(0)
    chosen = rng.choice(len(facts()), COUNT, replace=False)
    assert len({(i % 2, i % 3) for i in chosen[:SCORED]}) == 6, "every kind is scored"
    found = []
    for i, other in zip(chosen, rng.permutation(chosen), strict=True):
        fact, told = facts()[i], facts()[other].answers[0].text
        query = fact.ask(fact.templates[0])
        answer = (fact.answers[0].text, told)[i % 2]
        found.append((prompts.iterative(query, [told] * (i % 3)), answer))
    return found


def test_texts_have_the_tokens_that_transformers_reads_off_the_file(file, asked):
    theirs = transformers.AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name)
    ours = open_model("smollm2")
    for prompt, answer in asked:
        for text in (prompt, f" {answer}", f"{prompt} {answer} 1969–70 “ø” 🙂"):
            assert ours.encode(text) == theirs.encode(text, add_special_tokens=False)


@pytest.mark.parametrize("form", [Form.PLAIN, Form.EXAMPLES, Form.CHAT])
def test_likelihoods_are_those_of_transformers(theirs, asked, form):
    ours = open_model("smollm2").in_form(form)
    ends = torch.tensor(ours.ends)
    for prompt, answer in asked[: SCORED if form is Form.PLAIN else 10]:
        text = ours.frame.head + prompt + ours.frame.tail
        before = [*ours.frame.before, *ours.encode(text), *ours.frame.after]
        said = ours.encode(ours.frame.lead + answer)
        with torch.inference_mode():
            logits = theirs(torch.tensor([before + said])).logits[0, len(before) - 1 :]
        table = logits.double().log_softmax(dim=-1)
        steps = table[torch.arange(len(said)), torch.tensor(said)].sum()
        expected = steps + table[-1, ends].logsumexp(dim=0)
        found = ours.log_likelihoods([prompt], [answer])[0, 0]
        assert found == pytest.approx(float(expected), rel=1e-3)
