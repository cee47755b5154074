"""The shipped model against the definition of what it is, and against its contract.

Nothing here depends on what the model has learned: it is replaced when it is trained anew.
"""

import json
import math
import shutil
from itertools import chain, pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import load_file, save_file

from core import prompts
from core.data.world.facts import facts
from core.data.world.normal_form import normal_form
from core.language_models.backends.embedded import FOLDER
from core.language_models.backends.embedded.model import FILES, SCALE, EmbeddedModel, restore
from core.language_models.backends.llama import runtime
from core.language_models.backends.llama.model import branched_trunk, common_trunk
from core.language_models.errors import BrokenModelError, PromptTooLongError
from core.language_models.language_model import MAX_RESPONSE_TOKENS

KNOWN, UNKNOWN = "What is the capital of France?", "What is the capital of Zorvania?"
ANSWERS = ["Paris", "The river Zambezi", "Ærøskøbing — “ø”", "São Tomé 👩‍👩‍👧", "", "7"]


# ------------------------------------------------------------- the definition, slowly


def scale_of(kept, name, weight):
    """What each row of a matrix in bytes is to be multiplied by; nothing changes others."""
    if weight.dtype != np.int8:
        return 1.0
    return kept[f"{name}{SCALE}"].astype(np.float64)[:, np.newaxis]


class Reference:
    """A Llama as it is defined, one sequence at a time, all positions at once, in float64."""

    def __init__(self, folder=FOLDER):
        self.config = json.loads((folder / "config.json").read_text())
        kept = load_file(folder / "model.safetensors")
        self.weights = {
            name: weight.astype(np.float64) * scale_of(kept, name, weight)
            for name, weight in kept.items()
            if not name.endswith(SCALE)
        }

    def log_probabilities(self, tokens, attention=None):
        """ln P(next token) behind every prefix of `tokens`, of shape (length, vocabulary).

        A list of attention is filled with one array a head: how the last token sees the others.
        """
        c, w = self.config, self.weights
        length, heads = len(tokens), c["num_attention_heads"]
        width = c["hidden_size"] // heads
        x = w["model.embed_tokens.weight"][tokens]
        frequencies = c["rope_theta"] ** (-np.arange(0, width, 2) / width)
        turns = np.exp(1j * np.outer(np.arange(length), frequencies))  # (length, width / 2)
        future = np.triu(np.ones((length, length), bool), 1)
        for i in range(c["num_hidden_layers"]):

            def project(x, name, layer=f"model.layers.{i}."):
                return x @ w[f"{layer}{name}.weight"].T

            def norm(x, name, layer=f"model.layers.{i}."):
                return self.norm(x, w[f"{layer}{name}.weight"])

            h = norm(x, "input_layernorm")
            q, k, v = (project(h, f"self_attn.{name}_proj") for name in "qkv")
            out = np.empty_like(x)
            for head in range(heads):
                part = slice(head * width, (head + 1) * width)
                query, key = turned(q[:, part], turns), turned(k[:, part], turns)
                score = np.where(future, -np.inf, query @ key.T / math.sqrt(width))
                weight = np.exp(score - score.max(axis=1, keepdims=True))
                weight /= weight.sum(axis=1, keepdims=True)
                out[:, part] = weight @ v[:, part]
                if attention is not None:
                    attention.append(weight[-1])
            x = x + project(out, "self_attn.o_proj")
            h = norm(x, "post_attention_layernorm")
            gate = project(h, "mlp.gate_proj")
            silu = gate / (1 + np.exp(-gate))
            x = x + project(silu * project(h, "mlp.up_proj"), "mlp.down_proj")
        logits = self.norm(x, w["model.norm.weight"]) @ w["model.embed_tokens.weight"].T
        peak = logits.max(axis=1, keepdims=True)
        return logits - peak - np.log(np.exp(logits - peak).sum(axis=1, keepdims=True))

    def norm(self, x, weight):
        mean_square = (x**2).mean(axis=1, keepdims=True)
        return x / np.sqrt(mean_square + self.config["rms_norm_eps"]) * weight

    def log_likelihood(self, model, prompt, answer):
        """ln Q(answer | prompt) with its end token, read off one pass over all of it."""
        before, after = model.encode(prompt), [*model.encode(f" {answer}"), model.end]
        log_p = self.log_probabilities([*before, *after[:-1]])
        return sum(log_p[len(before) - 1 + i, token] for i, token in enumerate(after))

    def greedy(self, model, prompt):
        """The text at temperature 0, one whole pass a token."""
        tokens, drawn = model.encode(prompt), []
        while len(drawn) < MAX_RESPONSE_TOKENS:
            token = int(self.log_probabilities(tokens + drawn)[-1].argmax())
            if token == model.end or "\n" in model.tokenizer.decode([token]):
                break
            drawn.append(token)
        return model.tokenizer.decode(drawn).strip()


def turned(x, turns):
    """Rotary positions: coordinates j and j + width / 2 are one complex number."""
    half = x.shape[1] // 2
    z = (x[:, :half] + 1j * x[:, half:]) * turns
    return np.concatenate([z.real, z.imag], axis=1)


@pytest.fixture(scope="module")
def reference():
    return Reference()


def test_scores_are_those_of_the_definition(embedded, reference):
    """Whatever is scored with them: a much longer answer, or the same one twice."""
    asked = [
        prompts.iterative(KNOWN),
        prompts.iterative(KNOWN, ["Lyon"]),
        prompts.self_verification(UNKNOWN, "Zürich"),
        "A:",
    ]
    answers = [*ANSWERS, "long " * 40]
    expected = [[reference.log_likelihood(embedded, p, a) for a in answers] for p in asked]
    scored = embedded.log_likelihoods(asked, [*answers, ANSWERS[0]])
    np.testing.assert_allclose(scored, np.column_stack([expected, scored[:, 0]]), atol=1e-4)


@pytest.fixture
def passes(embedded, monkeypatch):
    """One number of batches for every pass over all layers."""
    forward_all, passes = embedded.llama.forward_all, []

    def count(batches, *filled):
        passes.append(len(batches))
        return forward_all(batches, *filled)

    monkeypatch.setattr(embedded.llama, "forward_all", count)
    return passes


@pytest.mark.parametrize("limit", [1, 3, MAX_RESPONSE_TOKENS])
def test_what_a_search_saw_of_the_greedy_answer_is_not_computed_again(embedded, passes, limit):
    model = embedded.with_limit(limit)

    def counted(prompt):
        before = len(passes)
        (response,) = model.sample(prompt, 1, temperature=0.0)
        return response, len(passes) - before

    for fact in facts()[:400:20]:
        prompt = prompts.iterative(normal_form(fact.question))
        alone = counted(prompt)
        model.likeliest(prompt, 8)
        after = counted(prompt)
        assert after[0] == alone[0]
        assert after[1] < alone[1] - 1 or after[1] == 0  # nor is the prompt read again
        assert counted(prompt) == alone  # computed again


def test_blocks_scored_together_share_their_passes(embedded, passes):
    query = normal_form(UNKNOWN)
    blocks = [
        ([prompts.iterative(query, told) for told in ([], ["Paris"], ["7"])], ANSWERS),
        ([prompts.self_verification(query, "Paris")], [prompts.TRUE, prompts.FALSE]),
        ([], ANSWERS),
    ]
    alone = [embedded.log_likelihoods(*block) for block in blocks]
    assert passes == [1] * 6
    passes.clear()
    for values, expected in zip(embedded.score_together(blocks), alone, strict=True):
        np.testing.assert_allclose(values, expected, rtol=1e-4, atol=1e-4)
    assert passes == [2] * 3


@pytest.mark.parametrize("question", [KNOWN, UNKNOWN, "Name a colour."])
def test_temperature_zero_is_the_likeliest_token_each_time(embedded, reference, question):
    prompt = prompts.iterative(question)
    greedy = embedded.sample(prompt, 2, temperature=0.0, seed=5)
    assert [response.text for response in greedy] == [reference.greedy(embedded, prompt)] * 2


# ------------------------------------------------------------------------------ scoring


def batch():
    return [
        prompts.iterative(UNKNOWN),
        prompts.iterative(UNKNOWN, ["Paris"]),
        prompts.iterative(UNKNOWN, ["a very much longer answer, in order that padding matters"]),
    ]


def test_blocks_do_not_show(embedded, monkeypatch):
    whole = embedded.log_likelihoods(batch(), ANSWERS)
    monkeypatch.setattr("core.language_models.backends.llama.model.BLOCK_TOKENS", 16)
    np.testing.assert_allclose(embedded.log_likelihoods(batch(), ANSWERS), whole, atol=1e-4)


# ------------------------------------------------------------- branching off a trunk


def told(times, answer="Lyon"):
    """The prompts that tell an answer that often."""
    return [prompts.iterative(KNOWN, [answer] * t) for t in times]


def one_by_one(model, asked, answers):
    return np.concatenate([model.log_likelihoods([prompt], answers) for prompt in asked])


def test_branching_prompts_are_scored_as_defined(embedded, reference):
    """A hundred and one of them, in any order, of up to 317 tokens."""
    order = np.random.default_rng(1).permutation(101)
    together = embedded.log_likelihoods(told(order), ANSWERS)[np.argsort(order)]
    times = [1, 100]
    expected = [[reference.log_likelihood(embedded, p, a) for a in ANSWERS] for p in told(times)]
    np.testing.assert_allclose(together[times], expected, atol=1e-4)


@pytest.mark.parametrize("answer", ["São Tomé 👩‍👩‍👧", "Is it?", "a rather longer one, of words"])
def test_whatever_is_told_branching_does_not_show(embedded, answer):
    asked = told([20, 0, 40, 20, 1, 2, 3, 39], answer)
    together = embedded.log_likelihoods(asked, ["Paris", answer])
    np.testing.assert_allclose(together, one_by_one(embedded, asked, ["Paris", answer]), atol=1e-4)


@pytest.mark.parametrize("where", [0, 17])
@pytest.mark.parametrize(
    "company",
    [
        ["A:"],  # nothing shared: it leaves the trunk at its root
        [prompts.iterative(UNKNOWN), prompts.iterative(UNKNOWN, ["Lyon"] * 3)],
        [prompts.iterative(KNOWN, ["Lyon"] * 40) + " Lyon"],  # longer than the longest
        [prompts.iterative("x" * 300, ["y"])],  # much longer where it branches off
        [prompts.iterative(KNOWN)] * 3,
    ],
)
def test_branching_prompts_may_be_mixed_with_others(embedded, company, where):
    asked = told(range(0, 41, 2))
    asked[where:where] = company
    together = embedded.log_likelihoods(asked, ANSWERS[:3])
    checked = sorted({0, 1, 20, *range(where, where + len(company)), len(asked) - 1})
    alone = one_by_one(embedded, [asked[i] for i in checked], ANSWERS[:3])
    np.testing.assert_allclose(together[checked], alone, atol=1e-4)


@pytest.mark.parametrize("size", [1, 100])
def test_blocks_do_not_show_where_prompts_branch(embedded, monkeypatch, size):
    """Down to one prompt and one answer a block, where all of a block leave in one place."""
    whole = embedded.log_likelihoods(told(range(25)), ANSWERS)
    monkeypatch.setattr("core.language_models.backends.llama.model.BLOCK_TOKENS", size)
    np.testing.assert_allclose(embedded.log_likelihoods(told(range(25)), ANSWERS), whole, atol=1e-4)


def prefix(a, b):
    parted = (i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y)
    return next(parted, min(len(a), len(b)))


TOKENS = st.lists(st.integers(0, 2), min_size=1, max_size=6)


@given(st.lists(st.tuples(st.integers(0, 30), TOKENS), min_size=1, max_size=8), st.booleans())
def test_a_trunk_is_what_prompts_begin_with(branches, alike):
    """And every prompt keeps a token of its own, to say what comes next."""
    base = [0, 1, 2, 2, 1] * 6
    asked = [(base[:length] if alike else []) + own for length, own in branches]
    trunk, shared = common_trunk(asked)
    assert len(shared) == len(asked)
    for prompt, length in zip(asked, shared.tolist(), strict=True):
        assert 0 <= length < len(prompt)
        assert length <= len(trunk)
        assert trunk[:length] == prompt[:length]
    longest = max(asked, key=len)
    assert trunk == longest[: len(trunk)]
    # Either all leave where the first of them must, or each as late as it can.
    together = min(min(prefix(p, q), len(p) - 1, len(q) - 1) for p in asked for q in asked)
    each = [min(prefix(p, longest), len(p) - 1) for p in asked]
    assert shared.tolist() in ([together] * len(asked), each)
    assert len(trunk) == max(shared)


def test_repetitions_branch_off_the_longest_prompt_and_others_where_the_first_must(embedded):
    """101 prompts of up to 317 tokens: 9 at most are a prompt’s own, all others the longest’s."""
    asked = [embedded.encode(prompt) for prompt in told(range(101))]
    trunk, shared = common_trunk(asked)
    assert len(trunk) == len(asked[-1]) - 1
    own = [len(prompt) - length for prompt, length in zip(asked, shared.tolist(), strict=True)]
    assert max(own) < 15 < len(asked[-1]) / 15
    alike = [embedded.encode(prompts.iterative(KNOWN, [a])) for a in ("Lyon", "Nice", "Metz")]
    trunk, shared = common_trunk(alike)
    assert shared.tolist() == [len(trunk)] * 3
    assert len(trunk) == min(prefix(alike[0], other) for other in alike[1:])


# ---------------------------------------------------------------------------- attention


ATTENDED = [
    prompts.iterative(KNOWN),
    prompts.iterative(UNKNOWN, ["Vienna", "São Tomé 👩‍👩‍👧"]),
    prompts.iterative(KNOWN, ["Lyon"] * 30),
    "A:",
]


@pytest.mark.parametrize("prompt", ATTENDED)
def test_attention_is_that_of_the_definition(embedded, reference, prompt):
    expected, tokens = [], embedded.encode(prompt)
    reference.log_probabilities(tokens, expected)
    spans, weights = embedded.attention(prompt)
    layers, heads = len(embedded.llama.layers), embedded.llama.heads
    assert weights.shape == (layers, heads, len(tokens))
    np.testing.assert_allclose(weights.reshape(layers * heads, -1), expected, atol=1e-5)
    np.testing.assert_allclose(weights.sum(axis=-1), 1, atol=1e-5)
    assert weights.min() >= 0
    # Spans stand in order and without a hole; those of one letter's bytes all at that letter.
    assert (spans[0][0], spans[-1][1]) == (0, len(prompt))
    for (begin, end), (following, after) in pairwise(spans):
        assert begin <= following <= end <= after
    for (begin, end), token in zip(spans, tokens, strict=True):
        text = embedded.tokenizer.decode([token])
        assert prompt[begin:end] == text or "\ufffd" in text


@pytest.mark.parametrize("prompt", ATTENDED)
def test_looking_on_changes_nothing(embedded, prompt):
    tokens = np.array([embedded.encode(prompt)])
    hidden, segment = embedded.llama.forward(tokens)
    seen = []
    watched, same = embedded.llama.forward(tokens, attention=seen)
    np.testing.assert_array_equal(watched, hidden)
    np.testing.assert_array_equal(same.keys, segment.keys)
    np.testing.assert_array_equal(same.values, segment.values)
    assert len(seen) == len(embedded.llama.layers)


def test_attention_behind_a_past_is_that_of_the_whole(embedded):
    tokens = np.array([embedded.encode(ATTENDED[1])])
    whole, seen = [], []
    embedded.llama.forward(tokens, attention=whole)
    _, past = embedded.llama.forward(tokens[:, :10])
    embedded.llama.forward(tokens[:, 10:], (past,), attention=seen)
    np.testing.assert_allclose(seen, whole, atol=1e-5)


def test_rows_that_leave_a_trunk_do_not_see_what_comes_behind(embedded):
    """Three rows leave one sequence after 4, 9 and all of its tokens, and see those alone."""
    trunk = embedded.encode(ATTENDED[0])
    own = np.tile(embedded.encode(" Paris, I think.")[:3], (3, 1))
    lengths = np.array([4, 9, len(trunk)])
    _, past = embedded.llama.forward(np.array([trunk]))
    seen = []
    hidden, _ = embedded.llama.forward(own, (branched_trunk(past, lengths),), attention=seen)
    for row, length in enumerate(lengths):
        alone = []
        whole, _ = embedded.llama.forward(np.array([[*trunk[:length], *own[row]]]), attention=alone)
        np.testing.assert_allclose(hidden[row], whole[0, length:], atol=1e-4)
        for layer, expected in zip(seen, alone, strict=True):
            np.testing.assert_array_equal(layer[row, :, length : len(trunk)], 0)
            visible = np.delete(layer[row], np.arange(length, len(trunk)), axis=-1)
            np.testing.assert_allclose(visible, expected[0], atol=1e-5)


def test_nobody_looks_on_unless_asked(embedded, monkeypatch):
    watched = []
    attend = runtime.attend

    def noted(query, stretches, visible, length, seen=None):
        watched.append(seen)
        return attend(query, stretches, visible, length, seen)

    monkeypatch.setattr(runtime, "attend", noted)
    embedded.log_likelihoods(told(range(20)), ANSWERS)
    embedded.sample(prompts.iterative(KNOWN), 3)
    assert watched and all(seen is None for seen in watched)
    embedded.attention(prompts.iterative(KNOWN))
    assert isinstance(watched[-1], list)


# ----------------------------------------------------------------------------- sampling


def test_samples_come_as_often_as_they_are_likely(embedded):
    prompt = prompts.iterative(UNKNOWN)
    drawn = [response.text for response in embedded.sample(prompt, 600, temperature=1.0)]
    likeliest = max(set(drawn), key=drawn.count)
    p = math.exp(embedded.log_likelihoods([prompt], [likeliest])[0, 0])
    spread = math.sqrt(p * (1 - p) / 600)
    assert abs(drawn.count(likeliest) / 600 - p) < 5 * spread + 0.01


def test_a_low_temperature_keeps_to_the_likely(embedded):
    prompt = prompts.iterative(UNKNOWN)
    (greedy,) = embedded.sample(prompt, 1, temperature=0.0)
    cold, hot = (embedded.sample(prompt, 30, temperature=t) for t in (0.01, 2.0))
    assert cold.count(greedy) >= 25
    assert len(set(hot)) > len(set(cold))


PHRASE = "\n\nOne answer to question Q is"
PARIS, AGAIN = ("Paris", True), (" ".join("a" * MAX_RESPONSE_TOKENS), False)


@pytest.mark.parametrize(
    ("said", "response"),
    [
        ([" Paris", "\n", " Paris"], PARIS),
        ([" Paris", PHRASE, " Paris"], PARIS),
        (None, ("", True)),  # the end token
        ([" a"] * (MAX_RESPONSE_TOKENS + 5), AGAIN),
    ],
    ids=["line break", "phrase", "end", "no end"],
)
def test_a_response_ends_at_a_line_break_or_its_end_or_is_cut_off(
    embedded, monkeypatch, said, response
):
    """The model is made to say given tokens, one after the other; the phrase is a single one."""
    assert len(embedded.encode(PHRASE)) == 1
    tokens = iter([embedded.end] if said is None else chain(*map(embedded.encode, said)))

    def log_softmax(hidden):
        scores = np.full((len(hidden), len(embedded.llama.embeddings)), -50.0, np.float32)
        scores[:, next(tokens)] = 0.0
        return scores

    monkeypatch.setattr(embedded.llama, "log_softmax", log_softmax)
    drawn = embedded.sample("A:", 2, temperature=0.0)
    assert [(r.text, r.complete) for r in drawn] == [response] * 2


# -------------------------------------------------------------------------- vocabulary


@pytest.mark.parametrize("text", ["<|end|>", "a<|end|>b", " <|end|>", "<|pad|>", "<|end|><|pad|>"])
def test_typed_special_tokens_are_ordinary_text(embedded, text):
    tokens = embedded.encode(text)
    assert embedded.end not in tokens and 0 not in tokens
    assert embedded.tokenizer.decode(tokens) == text


def test_an_answer_that_names_the_end_token_is_scored_as_text(embedded):
    empty, typed = embedded.log_likelihoods([prompts.iterative(KNOWN)], ["", "<|end|>"])[0]
    assert typed < empty


@pytest.mark.parametrize("text", [*ANSWERS, "\u2028 \t\x00", "日本語", "e\u0301 é", "  two  "])
def test_every_text_comes_back_from_its_tokens(embedded, text):
    assert embedded.tokenizer.decode(embedded.encode(text)) == text


def test_no_token_straddles_prompt_and_answer(embedded):
    for prompt, answer in product(batch(), ANSWERS):
        both = embedded.encode(f"{prompt} {answer}")
        assert both == embedded.encode(prompt) + embedded.encode(f" {answer}")


def test_every_taught_answer_fits_into_a_response(embedded):
    texts = [answer.text for fact in facts() for answer in fact.answers]
    texts += [fact.misconception for fact in facts() if fact.misconception]
    assert max(len(embedded.encode(f" {text}")) for text in texts) < MAX_RESPONSE_TOKENS


# -------------------------------------------------------------------------------- limits


def test_a_prompt_that_is_too_long_is_refused_with_a_sentence(embedded):
    prompt = prompts.iterative(KNOWN, ["Paris"] * embedded.llama.context_length)
    for ask in (
        lambda: embedded.sample(prompt, 1),
        lambda: embedded.log_likelihoods([prompt], ["Paris"]),
        lambda: embedded.log_likelihoods([prompts.iterative(KNOWN), prompt], ["Paris"]),
        lambda: embedded.attention(prompt),
    ):
        with pytest.raises(PromptTooLongError, match="the question or repeat fewer") as caught:
            ask()
        assert f"{len(embedded.encode(prompt)):,} tokens" in str(caught.value)
        assert str(caught.value).endswith(".")


def test_an_answer_that_is_too_long_is_refused_with_a_sentence(embedded):
    with pytest.raises(PromptTooLongError):
        embedded.log_likelihoods(["A:"], ["word " * embedded.llama.context_length])


def test_it_is_as_small_as_it_says():
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 8_000_000
    weights = load_file(FOLDER / "model.safetensors")
    assert sum(weight.size for weight in weights.values()) <= 4_500_000
    assert all(np.isfinite(weight.astype(np.float32)).all() for weight in weights.values())


def test_matrices_in_bytes_are_restored_row_by_row(tmp_path):
    matrix = np.array([[127, -127, 0], [1, 2, -3]], np.int8)
    kept = {
        "m": matrix,
        f"m{SCALE}": np.array([0.5, 2.0], np.float32),
        "v": np.array([1.5, -2.0], np.float16),
        "whole": np.eye(2, dtype=np.float16),
    }
    save_file(kept, tmp_path / "model.safetensors")
    found = restore(tmp_path)
    assert {name: part.dtype for name, part in found.items()} == dict.fromkeys(
        ("m", "v", "whole"), np.dtype(np.float32)
    )
    np.testing.assert_array_equal(found["m"], [[63.5, -63.5, 0], [2, 4, -6]])
    np.testing.assert_array_equal(found["v"], [1.5, -2.0])
    np.testing.assert_array_equal(found["whole"], np.eye(2))


def test_it_reads_every_question_as_it_was_taught_to(embedded):
    assert embedded.reads("  WHO wrote “Les Misérables”?? 🤔") == "who wrote les miserables"
    assert embedded.reads("?!") == "?!"
    for fact in facts()[::50]:
        assert embedded.reads(fact.question) == normal_form(fact.question)


# ------------------------------------------------------------------------- broken copies


@pytest.fixture
def copy(tmp_path):
    return shutil.copytree(FOLDER, tmp_path / "weights")


def test_a_copy_is_the_same_model(copy, embedded):
    moved = EmbeddedModel(copy)
    assert moved.revision == embedded.revision
    asked = [prompts.iterative(KNOWN)]
    np.testing.assert_array_equal(
        moved.log_likelihoods(asked, ANSWERS), embedded.log_likelihoods(asked, ANSWERS)
    )


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_not_the_one_is_refused(copy, name):
    """Changed by a bit, without a hash, or missing."""
    whole = (copy / name).read_bytes()
    changed = bytearray(whole)
    changed[len(changed) // 2] ^= 1
    (copy / name).write_bytes(changed)
    with pytest.raises(BrokenModelError, match=name) as caught:
        EmbeddedModel(copy)
    assert str(caught.value).endswith(".")
    (copy / name).write_bytes(whole)
    sums = copy / "SHA256SUMS"
    lines = sums.read_text()
    sums.write_text("\n".join(line for line in lines.splitlines() if name not in line))
    with pytest.raises(BrokenModelError):
        EmbeddedModel(copy)
    sums.write_text(lines)
    (copy / name).unlink()
    with pytest.raises(BrokenModelError, match=r"cannot be read|not the one"):
        EmbeddedModel(copy)


@pytest.mark.parametrize("text", ["", "one", "a b c\n", "\x00\xff", None])
def test_a_spoilt_or_missing_list_of_hashes_is_refused(copy, text):
    (copy / "SHA256SUMS").unlink()
    if text is not None:
        (copy / "SHA256SUMS").write_text(text)
    with pytest.raises(BrokenModelError, match=r"cannot be read|not the one"):
        EmbeddedModel(copy)
