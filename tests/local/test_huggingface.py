"""The Hugging Face back end on real checkpoints: the embedded weights, and small ones made here.

The embedded weights run in two runtimes that share no code; whatever they agree on, both do
right. What other kinds of models do is held against one plain pass over each whole text.
"""

import http.server
import json
import os
import shutil
import signal
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="needs requirements/local.txt: run `make test-local`")

import huggingface_hub
import torch
import transformers
from safetensors.numpy import save_file
from tokenizers import Tokenizer, decoders, models
from tokenizers.normalizers import Prepend, Replace, Sequence
from tokenizers.processors import TemplateProcessing

from core import prompts
from core.language_models.backends.embedded import FOLDER as SHIPPED
from core.language_models.backends.embedded.model import restore
from core.language_models.backends.huggingface import runner
from core.language_models.backends.huggingface.model import ROWS_A_DRAW, HuggingFace
from core.language_models.errors import (
    BrokenModelError,
    ModelError,
    NeedsKeyError,
    PromptTooLongError,
    UnknownModelError,
    UnreachableError,
)
from core.language_models.forms import Form, in_front
from core.language_models.language_model import MAX_RESPONSE_TOKENS
from core.language_models.registry import open_model
from tests.patience import LONG
from training import reference

torch.set_num_threads(1)  # the models are small, and their threads would wait for each other

KNOWN, UNKNOWN = "What is the capital of France?", "What is the capital of Zorvania?"
ANSWERS = ["Paris", "The river Zambezi", "Ærøskøbing — “ø”", "São Tomé 👩‍👩‍👧", "", "7", "<|end|>"]
ASKED = [
    prompts.iterative(UNKNOWN),
    prompts.iterative(UNKNOWN, ["Vienna"]),
    prompts.iterative(UNKNOWN, ["Berlin"]),
    prompts.iterative(UNKNOWN, ["a very much longer answer, so that lengths differ"]),
]


_MADE = tempfile.TemporaryDirectory()
# The embedded model as transformers reads it: its weights as numbers, not as bytes with a scale.
FOLDER = Path(_MADE.name) / "embedded"
shutil.copytree(SHIPPED, FOLDER)
WORDS = json.loads((SHIPPED / "config.json").read_text())["vocab_size"]
save_file(restore(SHIPPED), FOLDER / "model.safetensors", metadata={"format": "pt"})


@pytest.fixture(scope="module")
def model():
    return open_model(f"hf:{FOLDER}")


def test_a_forked_process_waits_for_no_thread_that_is_not_there(model):
    """The threads of PyTorch's library for parallel loops stay with the parent."""
    large = torch.randn(2_000_000)
    large.exp().sum()  # by all of them
    child = os.fork()
    if not child:
        signal.alarm(int(LONG))
        large.exp().sum()
        os._exit(len(model.sample("Q: Name a mammal. A:", 1)))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1


@pytest.fixture
def copied(tmp_path):
    """A copy of the embedded weights, to be changed."""
    folder = tmp_path / "copied"
    shutil.copytree(FOLDER, folder)
    return folder


def change(file, **changes):
    file.write_text(json.dumps(json.loads(file.read_text(encoding="utf-8")) | changes))


def plainly(model, asked, answers, ends=None):
    """Score every pair by one pass over the whole of it, without a cache or a batch."""
    ends = sorted(model.end_tokens) if ends is None else ends
    result = np.empty((len(asked), len(answers)))
    for i, prompt in enumerate(asked):
        for j, answer in enumerate(answers):
            before, after = model.encode_prompt(prompt), model.encode_answer(answer)
            with torch.no_grad():
                out = model.network.model(torch.tensor([before + after]), use_cache=False)
            steps = out.logits[0, len(before) - 1 :].double().log_softmax(dim=-1)
            said = sum(float(steps[k, token]) for k, token in enumerate(after))
            result[i, j] = said + float(steps[-1, ends].logsumexp(dim=0))
    return result


# ------------------------------------------------------------------------ two runtimes


def test_both_runtimes_score_alike(model, embedded):
    pairs = reference.cases(count=60, seed=11)
    asked, answers = [p for p, _ in pairs[:12]], [*{a for _, a in pairs}, *ANSWERS]
    ours, theirs = (m.log_likelihoods(asked, answers) for m in (embedded, model))
    assert np.all(np.abs(ours - theirs) <= 1e-4 * np.maximum(1, np.abs(theirs) / 100))


def test_both_runtimes_score_a_hundred_repetitions_alike(model, embedded):
    asked = [prompts.iterative("Name a city in the UK", ["London"] * n) for n in (0, 1, 20, 100)]
    answers = ["London", "Manchester", "Paris"]
    ours, theirs = (m.log_likelihoods(asked, answers) for m in (embedded, model))
    np.testing.assert_allclose(theirs, ours, atol=1e-4)


def differing(one, other, prompt, count, **options):
    """Return how many of the responses of two models to a prompt differ."""
    drawn = [
        [(r.text, r.complete) for r in model.sample(prompt, count, **options)]
        for model in (one, other)
    ]
    return sum(a != b for a, b in zip(*drawn, strict=True))


@pytest.mark.parametrize(("temperature", "but_for"), [(0.5, 1), (0.9, 1), (1.0, 1), (2.0, 4)])
def test_both_runtimes_draw_the_same_samples(model, embedded, temperature, but_for):
    """A uniform number falls between two roundings, which differ from processor to processor.

    About once in a million tokens; one of these 120 responses may therefore differ. At
    temperature 2 nonsense goes on in nearly any of 9,000 tokens, so that a thousand times as
    many roundings can be hit: 6 of 1,440 responses differed. Two models that drew with numbers
    of their own would differ in most responses to a question that neither knows.
    """
    asked = map(prompts.iterative, [KNOWN, UNKNOWN, "Name a colour."])
    assert but_for >= sum(
        differing(model, embedded, prompt, 40, temperature=temperature, seed=seed)
        for seed, prompt in enumerate(asked)
    )


def test_both_runtimes_give_the_same_greedy_answers(model, embedded):
    for prompt, _ in reference.cases(count=20, seed=5):
        assert not differing(model, embedded, prompt, 2, temperature=0.0)


# --------------------------------------------------------------------------- sampling


@pytest.mark.parametrize("question", [KNOWN, UNKNOWN, "Name a colour."])
def test_both_runtimes_find_the_same_likeliest_answers(model, embedded, question):
    found, wanted = (m.likeliest(prompts.iterative(question), 8) for m in (model, embedded))
    assert [response.text for response in found] == [response.text for response in wanted]
    values, expected = ([r.log_likelihood for r in of] for of in (found, wanted))
    np.testing.assert_allclose(values, expected, atol=1e-3)


def test_a_response_says_its_own_log_likelihood_at_temperature_one(model):
    drawn = model.sample(ASKED[0], 60, temperature=1.3, seed=2)
    texts = [r.text for r in drawn]
    scored = model.log_likelihoods(ASKED[:1], texts)[0]
    own = np.array([r.log_likelihood for r in drawn])
    # The same text can be drawn as other tokens than it is encoded to.
    same = np.isclose(own, scored, atol=1e-4)
    assert same.mean() > 0.8
    assert all(r.complete for r, agrees in zip(drawn, same, strict=True) if agrees)


@pytest.mark.parametrize("precision", [torch.float32, torch.bfloat16])
def test_a_response_depends_on_its_index_alone(precision):
    model = HuggingFace(str(FOLDER))
    model.network.model.to(precision)
    whole = model.sample(ASKED[0], 70, temperature=2.0, seed=1)
    assert len({response.text for response in whole}) > 10
    assert model.sample(ASKED[0], 30, temperature=2.0, seed=1) == whole[:30]
    assert model.sample(ASKED[0], 7, temperature=2.0, seed=1, first=40) == whole[40:47]
    assert model.sample(ASKED[0], 9, temperature=2.0, seed=1, first=61) == whole[61:]
    assert model.sample(ASKED[0], 70, temperature=2.0, seed=2) != whole


def prefer(model, monkeypatch, *tokens):
    """Make the model prefer given tokens, one after the other, whatever it is asked."""
    said, read = iter(tokens), model.network.read

    def reads(*arguments, **options):
        logits, past = read(*arguments, **options)
        logits = torch.full_like(logits, -50.0)
        logits[..., next(said)] = 0.0
        return logits, past

    monkeypatch.setattr(model.network, "read", reads)


PHRASE = "Consider the following question:\nQ:"  # one token


@pytest.mark.parametrize(
    ("said", "response"),
    [
        ([" Paris", "\n", " Paris"], ("Paris", True)),
        ([" Paris", PHRASE], ("Paris", True)),
        (None, ("", True)),  # the end token
        ([" a"] * (MAX_RESPONSE_TOKENS + 5), (" ".join("a" * MAX_RESPONSE_TOKENS), False)),
    ],
    ids=["line break", "phrase", "end", "no end"],
)
def test_a_response_ends_at_a_line_break_or_its_end_or_is_cut_off(
    model, monkeypatch, said, response
):
    assert len(model.encode(PHRASE)) == 1
    prefer(model, monkeypatch, *([1] if said is None else chain(*map(model.encode, said))))
    drawn = model.sample("A:", 2, temperature=0.0)
    assert [(r.text, r.complete) for r in drawn] == [response] * 2
    assert drawn[0].log_likelihood == pytest.approx(0, abs=1e-6)


def test_the_lowest_id_wins_a_tie(model, monkeypatch):
    a, b = model.encode(" a")[0], model.encode(" b")[0]
    prefer(model, monkeypatch, [a, b], 1)
    (response,) = model.sample("A:", 1, temperature=0.0)
    assert response.text == ("a" if a < b else "b")
    assert response.log_likelihood == pytest.approx(-np.log(2), abs=1e-5)


# ---------------------------------------------------------------------------- scoring


def test_blocks_do_not_show(model, monkeypatch):
    whole = model.log_likelihoods(ASKED, ANSWERS)
    drawn = model.sample(ASKED[0], 9, seed=4)
    sizes = []
    monkeypatch.setattr(runner, "BLOCK_BYTES", 1)
    monkeypatch.setattr(model, "score", spy(model.score, sizes, lambda t, *_: len(t)))
    np.testing.assert_allclose(model.log_likelihoods(ASKED, ANSWERS), whole, atol=1e-4)
    assert sizes == [1] * whole.size
    assert [r.text for r in model.sample(ASKED[0], 9, seed=4)] == [r.text for r in drawn]


def spy(function, seen, look):
    def spied(*arguments, **options):
        seen.append(look(*arguments, **options))
        return function(*arguments, **options)

    return spied


def test_a_prompt_is_run_once_for_all_answers(model, monkeypatch):
    sizes = []
    count = lambda tokens, *_, **__: tuple(tokens.shape)  # noqa: E731
    monkeypatch.setattr(model.network, "read", spy(model.network.read, sizes, count))
    model.log_likelihoods(ASKED[1:3], ANSWERS)
    lengths = [len(model.encode_prompt(prompt)) for prompt in ASKED[1:3]]
    longest = max(len(model.encode_answer(answer)) for answer in ANSWERS)
    (_, shared), (_, rest) = sizes[:2]
    assert lengths == [shared + rest] * 2
    assert sizes == [(1, shared), (2, rest), (2 * len(ANSWERS), longest)]
    sizes.clear()
    model.log_likelihoods(ASKED[:1], ANSWERS)
    assert sizes == [(1, len(model.encode_prompt(ASKED[0]))), (len(ANSWERS), longest)]


@pytest.mark.parametrize(
    "company",
    [
        ["Something that begins in another way. A:"],  # nothing shared
        [ASKED[1]],  # all of it shared
        [ASKED[1] + " Paris"],  # one begins with the other
        [prompts.iterative("x" * 300, ["y"])],  # much longer
        ["A:"],
    ],
)
def test_a_score_does_not_depend_on_what_shares_the_batch(model, company):
    alone = model.log_likelihoods(ASKED[1:2], ANSWERS)
    together = model.log_likelihoods([*company, ASKED[1]], ANSWERS[::-1])
    np.testing.assert_allclose(together[1, ::-1], alone[0], atol=1e-4)


def test_blocks_are_measured_by_what_a_text_takes(model, monkeypatch):
    network = model.network
    _, past = network.read(network.tensor([model.encode_prompt(ASKED[0])]))
    kept = sum(layer.keys.nbytes + layer.values.nbytes for layer in past.cache.layers)
    length = past.tokens.shape[1]
    monkeypatch.setattr(runner, "BLOCK_BYTES", 100 * (2 * kept + 12 * 3 * WORDS))
    assert network.rows(length, 3) == 100


def short_of_memory(model, monkeypatch, most, openings=True):
    """Let the model run out of memory with more than `most` rows; return the sizes it saw."""
    read, sizes = model.network.read, []

    def reads(tokens, past=None, **options):
        sizes.append(len(tokens))
        if len(tokens) > most and (past or openings):
            raise torch.OutOfMemoryError("CUDA out of memory.")
        return read(tokens, past, **options)

    monkeypatch.setattr(model.network, "read", reads)
    return sizes


def test_blocks_are_halved_where_memory_is_short(model, monkeypatch):
    whole = model.log_likelihoods(ASKED, ANSWERS)
    drawn = [r.text for r in model.sample(ASKED[0], 20, seed=4)]
    sizes = short_of_memory(model, monkeypatch, most=3)
    np.testing.assert_allclose(model.log_likelihoods(ASKED, ANSWERS), whole, atol=1e-4)
    assert [r.text for r in model.sample(ASKED[0], 20, seed=4)] == drawn
    assert max(sizes) > 3 and 3 in sizes and 2 in sizes


def test_a_text_that_does_not_fit_into_memory_is_a_sentence(model, monkeypatch):
    asks = [
        lambda: model.log_likelihoods(ASKED, ANSWERS),
        lambda: model.sample(ASKED[0], 5),
        lambda: model.next_token(ASKED[0]),
    ]
    for openings, possible in ((False, asks[:2]), (True, asks)):
        short_of_memory(model, monkeypatch, most=0, openings=openings)
        for ask in possible:
            with pytest.raises(ModelError, match="memory of cpu is too small"):
                ask()


def test_other_faults_are_not_taken_for_a_lack_of_memory(model, monkeypatch):
    def broken(*_, **__):
        raise RuntimeError("a mistake of ours")

    monkeypatch.setattr(model.network, "read", broken)
    with pytest.raises(RuntimeError, match="a mistake of ours"):
        model.log_likelihoods(ASKED, ANSWERS)


def test_a_prompt_that_is_too_long_is_refused_with_its_numbers(model):
    longer = (prompts.iterative("x" * length) for length in range(900, 1100, 5))
    prompt = next(p for p in longer if len(model.encode_prompt(p)) > 2016)
    count = len(model.encode_prompt(prompt))
    assert count < 2040 and model.log_likelihoods(["A:", prompt], ["Paris"]).all()
    with pytest.raises(PromptTooLongError, match=rf"{count:,} tokens.*room for 2,016"):
        model.sample(prompt, 1)
    with pytest.raises(PromptTooLongError, match=rf"{count:,} tokens.*room for 2,0[01]\d\."):
        model.log_likelihoods(["A:", prompt], ["Paris", " long" * 40])


def test_an_empty_prompt_is_a_sentence(model):
    with pytest.raises(ModelError, match="The prompt is empty"):
        model.sample("", 1)


def test_the_next_token_is_what_the_other_runtime_says(model, embedded):
    said = model.next_token(ASKED[0])
    hidden, _ = embedded.llama.forward(np.array([embedded.encode(ASKED[0])]))
    log_probabilities = embedded.llama.log_softmax(hidden[:, -1])[0]
    best = np.argsort(-log_probabilities)[:20]
    assert list(said) == [embedded.tokenizer.decode([i]) for i in best]
    np.testing.assert_allclose(list(said.values()), log_probabilities[best], atol=1e-4)


def test_next_tokens_that_are_written_alike_are_one(model, monkeypatch):
    halves = [i for i in range(WORDS) if model.decode([i]) == "\ufffd"][:2]  # of a character
    prefer(model, monkeypatch, halves)
    assert model.next_token("A:")["\ufffd"] == pytest.approx(0, abs=1e-6)


def test_the_end_token_is_listed_by_its_name(model):
    assert model.next_token(prompts.iterative(KNOWN) + " Paris")["<|end|>"] > np.log(0.5)


def test_threads_do_not_disturb_each_other(model):
    asked = [[prompt] for prompt in ASKED] * 3
    with ThreadPoolExecutor(4) as threads:
        together = list(threads.map(lambda p: model.log_likelihoods(p, ANSWERS), asked))
    for prompt, scores in zip(asked, together, strict=True):
        np.testing.assert_allclose(scores, model.log_likelihoods(prompt, ANSWERS), atol=1e-5)


def test_the_meter_counts_tokens(copied):
    model = HuggingFace(str(copied))
    prompt, answer = (len(model.encode_prompt(ASKED[0])), len(model.encode_answer("Paris")))
    model.log_likelihoods(ASKED[:1], ["Paris", "Paris"])
    assert (model.meter.requests, model.meter.usage.prompt_tokens) == (1, prompt)
    assert model.meter.usage.response_tokens == 2 * answer
    model.sample(prompts.iterative(KNOWN), 3, temperature=0.01)
    assert model.meter.requests == 2
    # What is really drawn is a whole block.
    assert model.meter.usage.response_tokens == 2 * answer + ROWS_A_DRAW * (answer + 1)


# -------------------------------------------------------------------- tokens and ends


def test_nothing_in_a_text_is_read_as_a_special_token(model, embedded):
    for text in ("<|end|>", "is <|pad|><|end|> a token?", prompts.iterative("<|end|>")):
        assert model.encode_prompt(text) == embedded.encode(text)
        assert not {0, 1} & set(model.encode_prompt(text))


def small(folder, tokenizer=None, **options):
    """Write a small model of random weights, with the embedded tokenizer or another."""
    kind = options.pop("kind", transformers.LlamaConfig)
    common = {
        "vocab_size": WORDS,
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "max_position_embeddings": 512,
        "eos_token_id": 1,
        "bos_token_id": None,
        "pad_token_id": 0,
        "initializer_range": 0.3,
    }
    torch.manual_seed(0)
    config = kind(**common | options)
    transformers.AutoModelForCausalLM.from_config(config).save_pretrained(folder)
    if tokenizer is None:
        shutil.copy(FOLDER / "tokenizer.json", folder)
    else:
        tokenizer.save_pretrained(folder)
    return folder


KINDS = {
    "learned positions": {"kind": transformers.GPT2Config},
    "a sliding window": {
        "kind": transformers.MistralConfig,
        "num_key_value_heads": 2,
        "intermediate_size": 64,
        "sliding_window": 16,
    },
    "no cache of keys": {"kind": transformers.MambaConfig, "state_size": 8},
    "a cache that goes on token by token": {
        "kind": transformers.JambaConfig,
        "num_key_value_heads": 2,
        "intermediate_size": 64,
        "attn_layer_period": 2,
        "attn_layer_offset": 1,
        "num_experts": 2,
    },
}


@pytest.mark.parametrize("kind", KINDS)
def test_other_kinds_of_models_score_and_draw_as_they_would_plainly(tmp_path, kind):
    model = HuggingFace(str(small(tmp_path, **KINDS[kind])))
    assert model.network.keeps_cache == (kind in ("learned positions", "a sliding window"))
    expected = plainly(model, ASKED, ANSWERS)
    np.testing.assert_allclose(model.log_likelihoods(ASKED, ANSWERS), expected, atol=1e-4)
    (greedy,) = model.sample(ASKED[0], 1, temperature=0.0)
    with torch.no_grad():
        tokens = torch.tensor([model.encode_prompt(ASKED[0])])
        start = tokens.shape[1]
        while tokens.shape[1] < start + MAX_RESPONSE_TOKENS:
            following = model.network.model(tokens, use_cache=False).logits[0, -1].argmax()
            tokens = torch.cat([tokens, following[None, None]], dim=1)
            if model.stops_at(int(following)):
                break
    said = tokens[0, start:-1] if greedy.complete else tokens[0, start:]
    assert greedy.text == model.decode(said.tolist()).strip()
    found = [response.log_likelihood for response in model.likeliest(ASKED[0], 3)]
    assert found == sorted(found, reverse=True)
    if greedy.complete:
        assert found[0] >= greedy.log_likelihood - 1e-4


def test_examples_that_do_not_fit_into_the_context_are_refused(tmp_path):
    folder = small(tmp_path, kind=transformers.GPT2Config, max_position_embeddings=64)
    model = HuggingFace(str(folder))
    with pytest.raises(PromptTooLongError, match="in the form examples not even a short"):
        model.in_form(Form.EXAMPLES)


def tokenizer_that_adds_a_space():
    """A tokenizer like that of the first Llamas: every text begins with a token and a space."""
    pieces = {"<s>", "</s>", "<unk>", *prompts.iterative("abc").replace(" ", "▁"), "▁a", "\n"}
    words = {"▁Paris": -1.0, "▁A:": -1.0, "▁": -3.0}
    vocabulary = [("<s>", 0.0), ("</s>", 0.0), ("<unk>", 0.0)]
    vocabulary += [(p, -4.0) for p in sorted(pieces - {"<s>", "</s>", "<unk>", *words})]
    vocabulary += list(words.items())
    backend = Tokenizer(models.Unigram(vocabulary, unk_id=2))
    backend.normalizer = Sequence([Prepend("▁"), Replace(" ", "▁")])
    backend.decoder = decoders.Metaspace(prepend_scheme="always")
    backend.post_processor = TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 1)]
    )
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=backend, bos_token="<s>", eos_token="</s>"
    )


def test_a_text_begins_with_its_first_token_and_has_no_space_too_many(tmp_path):
    tokenizer = tokenizer_that_adds_a_space()
    model = HuggingFace(str(small(tmp_path, tokenizer, vocab_size=len(tokenizer))))
    whole = tokenizer.encode("A: Paris", add_special_tokens=False)
    assert model.encode_prompt("A:") + model.encode_answer("Paris") == [0, *whole]
    assert tokenizer.convert_ids_to_tokens(model.encode_answer("Paris")) == ["▁Paris"]
    (tmp_path / "tokenizer_config.json").unlink()
    assert HuggingFace(str(tmp_path)).encode_prompt("A:") == model.encode_prompt("A:")
    asked, answers = ["A:", "Q: b. A:"], ["Paris", "a b c"]
    # Random weights make a line break likely enough to count as an end.
    expected = plainly(model, asked, answers, [1, *tokenizer.convert_tokens_to_ids(["\n"])])
    np.testing.assert_allclose(model.log_likelihoods(asked, answers), expected, atol=1e-4)


def test_a_model_that_ends_lines_ends_its_answers_so(copied, embedded):
    """The embedded weights with two names exchanged: what was its end is now a line break."""
    file = copied / "tokenizer.json"
    saved = json.loads(file.read_text(encoding="utf-8"))
    vocabulary = saved["model"]["vocab"]
    line_break = vocabulary["Ċ"]
    vocabulary["Ċ"], vocabulary["<|end|>"] = 1, line_break
    saved["added_tokens"][1]["id"] = line_break
    file.write_text(json.dumps(saved))
    change(copied / "config.json", eos_token_id=line_break)
    model = HuggingFace(str(copied))
    drawn = model.sample(ASKED[0], 40, seed=1)
    ours = embedded.sample(ASKED[0], 40, seed=1)
    assert [(r.text, r.complete) for r in drawn] == [(r.text, r.complete) for r in ours]
    breaks = [i for i in range(WORDS) if "\n" in model.decode([i])]
    expected = plainly(model, ASKED, ANSWERS, [line_break, *breaks])
    np.testing.assert_allclose(model.log_likelihoods(ASKED, ANSWERS), expected, atol=1e-4)
    known = prompts.iterative(embedded.reads(KNOWN))
    assert model.log_likelihoods([known], ["Paris"])[0, 0] > np.log(0.5)


def test_every_end_token_of_a_model_ends_its_answers(copied):
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_file=str(copied / "tokenizer.json"), eos_token="<|end|>"
    )
    tokenizer.save_pretrained(copied)
    (copied / "generation_config.json").write_text('{"eos_token_id": [9, 99999]}')
    model = HuggingFace(str(copied))
    expected = plainly(model, ASKED, ANSWERS, [1, 9])
    np.testing.assert_allclose(model.log_likelihoods(ASKED, ANSWERS), expected, atol=1e-4)
    assert model.stops_at(9) and model.stops_at(1) and not model.stops_at(10)


# ---------------------------------------------------------------------------- opening


def test_the_revision_follows_what_changes_answers(model, copied):
    assert model.revision.endswith("-float32")
    assert HuggingFace(str(copied)).revision == model.revision
    (copied / ".cached").write_text("Hidden.")
    assert HuggingFace(str(copied)).revision == model.revision
    change(copied / "config.json", rms_norm_eps=1e-4)
    other = HuggingFace(str(copied)).revision
    assert other != model.revision
    weights = (copied / "model.safetensors").read_bytes()
    (copied / "model.safetensors").write_bytes(weights[:-1] + bytes([weights[-1] ^ 1]))
    assert HuggingFace(str(copied)).revision not in (other, model.revision)


def test_a_folder_that_changes_while_it_is_read_is_not_opened(copied, monkeypatch):
    read = transformers.AutoModelForCausalLM.from_pretrained

    def changing(*what, **how):
        change(copied / "config.json", rms_norm_eps=1e-4)
        return read(*what, **how)

    with monkeypatch.context() as changed:
        changed.setattr(transformers.AutoModelForCausalLM, "from_pretrained", changing)
        fails_to_open(copied, "changed while it was read")
    assert open_model(f"hf:{copied}").revision


def fails_to_open(folder, sentence):
    with pytest.raises(BrokenModelError, match=sentence) as caught:
        open_model(f"hf:{folder}")
    assert caught.value.__cause__ is None and str(caught.value).endswith(".")


def pickled(folder):
    (folder / "model.safetensors").unlink()
    torch.save({}, folder / "pytorch_model.bin")


def with_code(folder):
    (folder / "own.py").write_text("raise SystemExit('it was run')")
    auto = {"AutoConfig": "own.Config", "AutoModelForCausalLM": "own.Model"}
    change(folder / "config.json", model_type="own", auto_map=auto)


def damaged(folder):
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])


def looking_ahead(folder):
    small(folder, kind=transformers.BertConfig, intermediate_size=64)


def in_pieces(folder):
    (folder / "tokenizer.json").unlink()
    (folder / "tokenizer.model").write_bytes(b"")
    (folder / "tokenizer_config.json").write_text('{"tokenizer_class": "LlamaTokenizer"}')


def too_many_tokens(folder):
    vocabulary = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    added = {"content": "<far>", "single_word": False, "lstrip": False}
    added |= {"rstrip": False, "normalized": False, "special": True}
    vocabulary["added_tokens"].append(added | {"id": len(vocabulary["model"]["vocab"])})
    (folder / "tokenizer.json").write_text(json.dumps(vocabulary), encoding="utf-8")


def made_for(kind):
    return lambda folder: change(folder / "config.json", architectures=[kind])


def translating(folder):
    change(folder / "config.json", model_type="t5", is_encoder_decoder=True)


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (translating, "an encoder and a decoder"),
        (made_for("BertForMaskedLM"), r"\(BertForMaskedLM\) and looks ahead"),
        (in_pieces, r"only as SentencePiece \(tokenizer\.model\)"),
        (too_many_tokens, "has tokens up to number [0-9,]+, and its weights only"),
        (pickled, "no safetensors weights.*can run code"),
        (with_code, "code of its own, which Believe never runs"),
        (damaged, "cannot be opened: "),
        (looking_ahead, "not a causal language model"),
        (lambda folder: (folder / "config.json").unlink(), "config.json is missing"),
        (lambda folder: (folder / "tokenizer.json").unlink(), "no tokenizer"),
        (lambda folder: change(folder / "config.json", num_hidden_layers=5), "lack 9 tensors"),
        (lambda folder: change(folder / "config.json", num_hidden_layers=3), "does not read, such"),
        (lambda folder: change(folder / "config.json", eos_token_id=None), "names no end token"),
    ],
)
def test_what_cannot_be_a_model_is_a_sentence(copied, spoil, sentence):
    spoil(copied)
    fails_to_open(copied, sentence)


def test_weights_that_are_no_numbers_are_a_sentence(copied):
    model = HuggingFace(str(copied))
    with torch.no_grad():
        model.network.model.model.norm.weight.fill_(float("nan"))
    for ask in (lambda: model.log_likelihoods(ASKED, ANSWERS), lambda: model.sample("A:", 1)):
        with pytest.raises(BrokenModelError, match="not numbers"):
            ask()
    model.network.model.save_pretrained(copied)
    fails_to_open(copied, "not numbers")


@pytest.mark.parametrize("device", ["tpu", "cuda:99", "cpu:x"])
def test_a_device_that_is_not_there_is_a_sentence(device):
    with pytest.raises(ModelError, match=f"“{device}”"):
        HuggingFace(str(FOLDER), device=device)


# ---------------------------------------------------------------------------- the hub

COMMIT, KEY = "5" * 40, "hf_SecretKeyOfTheTest"


class Hub(http.server.BaseHTTPRequestHandler):
    """A hub that has the embedded weights, some pickles and some code."""

    def do_GET(self):
        server = self.server
        server.asked.append((self.command, self.path, self.headers["Authorization"]))
        parts = self.path.partition("?")[0].strip("/").split("/")
        if len(parts) < 3:  # the hub's library asks for more than models
            return self.answer(404)
        owner = parts[2] if parts[0] == "api" else parts[0]
        if owner == "private" and self.headers["Authorization"] != f"Bearer {KEY}":
            return self.answer(401, headers={"X-Error-Code": "RepoNotFound"})
        if owner in server.refuses and (parts[0] != "api" or owner != "gated"):
            status, code = server.refuses[owner]
            return self.answer(status, headers={"X-Error-Code": code} if code else {})
        if parts[0] == "api":
            files = [
                {"type": "file", "path": name, "size": len(content), "oid": name}
                for name, content in server.files.items()
            ]
            about = {"id": "/".join(parts[2:4]), "sha": COMMIT, "siblings": []}
            return self.answer(200, json.dumps(files if "tree" in parts else about).encode())
        name = "/".join(parts[4:])
        if name not in server.files:
            return self.answer(404, headers={"X-Error-Code": "EntryNotFound"})
        headers = {"X-Repo-Commit": COMMIT, "ETag": f'"{name}"'}
        return self.answer(200, server.files[name], headers)

    do_HEAD = do_GET

    def answer(self, status, body=b"", headers=None):
        self.send_response(status)
        for name, value in {**(headers or {}), "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def hub(tmp_path, monkeypatch):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    server.files = {file.name: file.read_bytes() for file in Path(FOLDER).iterdir()}
    server.files |= {"pytorch_model.bin": b"pickle", "own.py": b"code"}
    server.files |= {"onnx/model.safetensors": b"{}", "consolidated.safetensors": b"another copy"}
    server.asked = []
    server.refuses = {
        "gated": (403, "GatedRepo"),
        "nobody": (404, "RepoNotFound"),
        "wrong-key": (403, None),
        "fault": (500, None),
    }
    threading.Thread(target=server.serve_forever, args=[0.02], daemon=True).start()
    address = f"http://127.0.0.1:{server.server_address[1]}"
    constants = huggingface_hub.constants
    template = address + "/{repo_id}/resolve/{revision}/{filename}"
    monkeypatch.setattr(constants, "ENDPOINT", address)
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(tmp_path / "token"))
    monkeypatch.delenv("HF_TOKEN", raising=False)
    yield server
    server.shutdown()
    server.server_close()


def test_a_model_of_the_hub_is_fetched_once_and_then_needs_no_network(hub, embedded):
    model = open_model("hf:private/believe", key=KEY)
    assert (model.name, model.revision) == ("hf:private/believe", f"{COMMIT}-float32")
    np.testing.assert_allclose(
        model.log_likelihoods(ASKED, ANSWERS), embedded.log_likelihoods(ASKED, ANSWERS), atol=1e-4
    )
    files = {path.partition(f"resolve/{COMMIT}/")[2] for _, path, _ in hub.asked} - {""}
    assert files == {"config.json", "model.safetensors", "tokenizer.json"}
    assert {key for _, path, key in hub.asked if "private" in path} == {f"Bearer {KEY}"}
    hub.shutdown()
    hub.server_close()
    assert open_model("hf:private/believe", key=KEY).revision == model.revision


def test_the_key_comes_from_the_environment_and_is_not_kept(hub, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", KEY)
    model = open_model("hf:private/believe")
    assert KEY not in repr(model) + repr(vars(model)) + model.name + model.revision


@pytest.mark.parametrize(
    ("name", "error", "sentence"),
    [
        ("gated/model", NeedsKeyError, "accepted its terms"),
        ("private/model", UnknownModelError, "set HF_TOKEN if it is a private one"),
        ("nobody/model", UnknownModelError, "shows no model of that name"),
        ("wrong-key/model", NeedsKeyError, "did not accept the key"),
        ("a--b/model", UnknownModelError, "Correct the name"),
        ("fault/model", UnreachableError, "status 500"),
    ],
)
def test_what_the_hub_refuses_is_a_sentence(hub, name, error, sentence):
    with pytest.raises(error, match=sentence) as caught:
        open_model(f"hf:{name}", key="hf_AnotherSecret")
    shown = caught.value
    assert "hf_AnotherSecret" not in str(shown) and shown.__cause__ is None
    assert shown.__suppress_context__ or shown.__context__ is None


def test_a_hub_that_is_not_there_is_a_sentence(hub):
    hub.shutdown()
    hub.server_close()
    with pytest.raises(UnreachableError, match=r"could not be fetched from 127\.0\.0\.1"):
        open_model("hf:private/believe", key=KEY)


def test_examples_stand_in_front_of_every_prompt_and_are_read_once(model):
    asked = model.in_form(Form.EXAMPLES)
    before = [in_front() + prompt for prompt in ASKED]
    np.testing.assert_allclose(
        asked.log_likelihoods(ASKED, ANSWERS[:3]),
        model.log_likelihoods(before, ANSWERS[:3]),
        rtol=1e-3,
    )
    assert asked.sample(ASKED[0], 1, temperature=0)[0].text == (
        model.sample(before[0], 1, temperature=0)[0].text
    )
    assert asked.revision != model.revision
    with pytest.raises(ModelError, match="no chat template"):
        model.in_form(Form.CHAT)
