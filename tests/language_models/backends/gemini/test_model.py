"""Gemini through Google's own SDK, against a server on this machine that speaks its REST."""

import itertools
import logging
import socket
import subprocess
import sys
import traceback
from concurrent.futures import ThreadPoolExecutor

import pytest

from core import prompts
from core.language_models import connections
from core.language_models.backends.gemini.listing import model_names
from core.language_models.backends.gemini.model import Gemini, genai
from core.language_models.client.batch import BatchingModel
from core.language_models.errors import (
    BudgetError,
    CreditError,
    ModelError,
    NeedsKeyError,
    OtherModelError,
    PromptTooLongError,
    RefusedError,
    SilentError,
    SmallerRequestsError,
    TemporaryError,
    UnknownModelError,
    UnreachableError,
)
from core.language_models.forms import EXAMPLES, Form
from core.language_models.language_model import MAX_RESPONSE_TOKENS, LanguageModel, Response
from core.language_models.registry import open_model
from core.language_models.usage import Budget
from tests.language_models.gemini_server import FAULTS, KEY, NAME, SEED, Remembered, gemini, serving

PROMPT = prompts.iterative("Name a city in Italy.")
ONE, TWO, THREE = (f"AIza-{word}-key-of-nobody" for word in ("first", "second", "third"))

# What each fault becomes: the error, what its sentence says, the seconds to wait.
SENTENCES = {
    "key": (
        NeedsKeyError,
        "did not accept the key that was typed: it is wrong, or no longer valid. Type another",
        None,
    ),
    "unauthenticated": (NeedsKeyError, "did not accept the key", None),
    "suspended": (NeedsKeyError, "'api_key:[key]' has been suspended", None),
    "key at the border": (RefusedError, "xxx [key] is what", None),
    "unknown model": (UnknownModelError, "Google has no model for gemini:", None),
    "too long": (PromptTooLongError, "Shorten the question", None),
    "region": (RefusedError, "(status 400). It says: “User location is not supported", None),
    "quota": (TemporaryError, "too many requests", 31.0),
    "quota in words": (TemporaryError, "too many requests", 31.25),
    "quota of the day": (CreditError, "The day’s quota", None),
    "no quota": (CreditError, "has no quota for", None),
    "quota without more": (TemporaryError, "too many requests", None),
    "500": (TemporaryError, "(status 500)", None),
    "503": (TemporaryError, "The model is overloaded", 7.0),
    "page": (TemporaryError, "has a fault (status 502). Try again in a moment.", None),
    "foreign error": (TemporaryError, "cannot be read", None),
    "malformed": (TemporaryError, "cannot be read", None),
    "no text": (TemporaryError, "cannot be read", None),
    "none": (TemporaryError, "sent 0 answers instead of 3", None),
    "slow": (SilentError, "did not answer within 3 seconds", None),
    "cut off": (TemporaryError, "broke off", None),
    "dropped": (TemporaryError, "broke off", None),
}
REFUSALS = {
    "blocked": "its safety filter, of the prompt",
    "thinking": "its thoughts took all tokens",
    "safety": "its safety filter",
    "recitation": "recitation of a protected text",
    "other": "“OTHER”",
    "newer": "“MISSING_THOUGHT_SIGNATURE”",
}
# Faults that give answers.
ANSWERS = {*REFUSALS, "one", "fewer", "empty", "cut", "second line", "long line"}


class Says:
    """Says each text in turn."""

    def __init__(self, *texts):
        self.texts = iter(texts)

    def sample(self, prompt, count, **options):
        return [Response(next(self.texts), True) for _ in range(count)]


def caught(model: LanguageModel, count: int = 3) -> ModelError:
    with pytest.raises(ModelError) as error:
        model.sample(PROMPT, count)
    return error.value


# ------------------------------------------------------------------------------- answers


@pytest.mark.parametrize(("fault", "why"), REFUSALS.items())
def test_what_is_withheld_is_a_response_that_says_why_and_costs_one_request(fault, why):
    with serving(faults=[fault]) as service:
        assert service.open().sample(PROMPT, 3) == [Response("", False, refusal=why)] * 3
        assert len(service.received) == 1


def test_the_answers_are_those_that_the_model_behind_the_service_draws(embedded):
    expected = embedded.sample(PROMPT, 20, seed=SEED)
    assert len({response.text for response in expected}) > 3
    with gemini() as model:
        assert model.sample(PROMPT, 8) + model.sample(PROMPT, 12) == expected


@pytest.mark.parametrize(("count", "requests"), [(0, 0), (1, 1), (8, 1), (9, 2), (24, 3)])
def test_a_request_brings_up_to_eight_answers(count, requests):
    with serving() as service:
        model = service.open()
        assert model.capabilities.candidates_a_call == 8
        assert len(model.sample(PROMPT, count)) == count
        assert len(service.received) == model.meter.requests == requests


def test_the_request_asks_for_the_distribution_as_it_is():
    with serving() as service:
        service.open().sample(PROMPT, 5, temperature=0.5, seed=3, first=2)
        (request,) = service.received
    assert request.path.startswith(f"/v1beta/models/{NAME}:generateContent")
    assert request.body == {
        "contents": [{"role": "user", "parts": [{"text": PROMPT}]}],
        "generationConfig": {
            "candidateCount": 5,
            "seed": request.body["generationConfig"]["seed"],
            "thinkingConfig": {"thinkingBudget": 0},
            "temperature": 0.5,
            "topP": 1.0,
            "maxOutputTokens": 32,
            "stopSequences": ["\n"],
        },
    }


def test_a_model_that_gives_one_candidate_is_asked_once_more_for_each(embedded):
    expected = embedded.sample(PROMPT, 5, seed=SEED)
    with serving(candidates=1) as service:
        model = service.open()
        # A call that began before it was known must not ask one by one: were its third request
        # to fail, two answers that are paid for would be lost.
        for _ in range(2):
            with pytest.raises(SmallerRequestsError):
                model.sample(PROMPT, 3)
        assert model.capabilities.candidates_a_call == 1
        assert service.open().capabilities.candidates_a_call == 8  # learnt by this one alone
        assert [model.sample(PROMPT, 1)[0] for _ in range(5)] == expected
        assert service.generated == model.meter.requests == 1 + 5


def test_a_model_that_ignores_the_number_is_asked_once_more_for_each():
    with serving(faults=["one"]) as service:
        model = service.open()
        assert len(BatchingModel(model).sample(PROMPT, 3)) == 3
        assert model.capabilities.candidates_a_call == 1
        assert service.generated == 4


def test_where_fewer_answers_come_the_others_alone_are_asked_for_once_more():
    with serving(faults=["fewer"]) as service:
        assert len(service.open().sample(PROMPT, 3)) == 3
        asked = [each.body["generationConfig"]["candidateCount"] for each in service.received]
        assert asked == [3, 1]


def test_the_fault_of_a_single_answer_is_not_taken_for_a_refusal_of_several():
    with serving(candidates=0) as service:
        assert "Multiple candidates" in str(caught(service.open(), 1))
        assert len(service.received) == 1


@pytest.mark.parametrize(
    ("fault", "complete"), [("second line", True), ("cut", False), ("empty", True)]
)
def test_an_answer_ends_at_its_line_break_or_where_the_service_cut_it(fault, complete, embedded):
    (expected,) = embedded.sample(PROMPT, 1, seed=SEED)
    text = "" if fault == "empty" else expected.text
    with gemini(faults=[fault]) as model:
        assert model.sample(PROMPT, 1) == [Response(text, complete)]


def test_a_long_answer_is_cut_between_two_words():
    with gemini(faults=["long line"]) as model:
        (response,) = model.sample(PROMPT, 1)
    assert 4 * MAX_RESPONSE_TOKENS - 6 < len(response.text) <= 4 * MAX_RESPONSE_TOKENS
    assert response.text.endswith((" it", " is"))
    assert not response.complete


def test_the_meter_counts_what_the_service_says_and_thoughts_are_paid_for():
    with serving(thoughts=100) as service:
        model = service.open()
        words = [len(r.text.split()) for _ in range(2) for r in model.sample(PROMPT, 4)]
        assert model.meter.requests == 2
        assert model.meter.usage.prompt_tokens == 2 * len(PROMPT.split())
        assert model.meter.usage.response_tokens == sum(words) + 2 * 100


# -------------------------------------------------------------------------------- faults


def test_every_fault_of_the_server_is_tried():
    assert SENTENCES.keys() | ANSWERS == FAULTS


@pytest.mark.parametrize("fault", SENTENCES)
def test_every_fault_is_one_request_and_one_sentence_without_the_key(fault, caplog):
    kind, words, wait = SENTENCES[fault]
    caplog.set_level(logging.DEBUG)
    with serving(faults=[fault]) as service:
        model = service.open(timeout=3.0 if fault == "slow" else 60.0)  # the next is in time
        error = caught(model)
        assert len(service.received) == 1, "the layer above tries again, not this one"
        assert service.received[0].key == KEY
        assert model.meter.requests == (fault not in {"slow", "dropped"})
        assert len(model.sample(PROMPT, 3)) == 3  # and the next request is answered
    assert type(error) is kind
    assert words in str(error)
    assert getattr(error, "retry_after", None) == wait
    assert len(str(error)) < 450 and "<" not in str(error)
    assert error.__cause__ is None and error.__context__ is None
    shown = "".join(traceback.format_exception(error)) + repr(model) + repr(error) + caplog.text
    assert caplog.text and KEY not in shown and KEY[:12] not in shown


def test_what_the_service_does_not_accept_is_said_in_its_own_words():
    with gemini() as model, pytest.raises(RefusedError, match=r"“Temperature must be in the range"):
        model.sample(PROMPT, 1, temperature=9)


def test_where_nobody_listens_the_host_is_named():
    with serving() as service:
        model = service.open()
    error = caught(model)
    assert type(error) is UnreachableError
    assert service.endpoint in str(error) and KEY not in str(error)
    assert model.meter.requests == 0


def test_a_host_without_an_address_is_unreachable(monkeypatch):
    def unknown(*arguments, **options):
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    error = caught(Gemini(NAME, key=KEY))
    assert type(error) is UnreachableError
    assert "generativelanguage.googleapis.com cannot be reached" in str(error)


# ---------------------------------------------------------------------------------- keys


def test_two_keys_in_several_threads_never_meet(monkeypatch):
    monkeypatch.setenv("GOOGLE_API_KEY", THREE)
    genai.configure(api_key=THREE, transport="rest")  # what the whole process would share
    with serving(key={ONE, TWO}, latency=0.01) as service, ThreadPoolExecutor(8) as pool:
        models = {key: service.open(key=key) for key in (ONE, TWO)}
        keys = list(itertools.islice(itertools.cycle(models), 40))

        def ask(number: int) -> None:  # the prompt says which key must have come with it
            models[keys[number]].sample(f"{keys[number]} A:", 2)

        list(pool.map(ask, range(40)))
        assert models[ONE].revision == models[TWO].revision
        came = [(r.body["contents"][0]["parts"][0]["text"], r.key) for r in service.received[:40]]
        assert sorted(came) == sorted((f"{key} A:", key) for key in keys)
        assert {r.key for r in service.received} == {ONE, TWO}
        assert service.together > 1


def test_a_request_that_is_not_allowed_is_not_made():
    budget = Budget(1)
    with serving(key=ONE) as service:
        model = service.open(key=ONE)
        with model.meter.gate(budget.take):
            assert model.revision
            with pytest.raises(BudgetError):
                model.sample(PROMPT, 1)
        assert len(service.received) == 1


def test_the_key_comes_from_the_environment(monkeypatch):
    monkeypatch.setenv("GOOGLE_API_KEY", f" {ONE}\n")
    with serving(key=ONE) as service:
        assert Gemini(NAME, endpoint=service.endpoint).sample(PROMPT, 1)


@pytest.mark.parametrize("key", ["", "  \n"])
def test_without_a_key_a_sentence_says_where_to_put_one(key, monkeypatch):
    monkeypatch.setenv("GOOGLE_API_KEY", key)
    with pytest.raises(NeedsKeyError, match="GOOGLE_API_KEY"):
        open_model(f"gemini:{NAME}")


@pytest.mark.parametrize("key", ["AIza secret", "AIza\r\nHost: elsewhere", "AIza…secret"])
def test_a_key_that_no_header_can_hold_is_turned_down_without_being_shown(key):
    with pytest.raises(NeedsKeyError) as error:
        Gemini(NAME, key=key)
    assert "AIza" not in "".join(traceback.format_exception(error.value))


# ---------------------------------------------------------------------- names, revisions


def test_it_opens_by_its_name_without_a_request():
    model = open_model("gemini:gemini-2.5-flash", key=KEY)
    assert isinstance(model, Gemini)
    assert model.name == "gemini:gemini-2.5-flash"
    assert model.meter.requests == 0


@pytest.mark.parametrize("name", ["", "a/b", "../x", "models/", "models/../x", "x:y", "a b", "é"])
def test_what_cannot_be_a_name_gets_a_sentence(name):
    with pytest.raises(UnknownModelError, match="is not the name of a Gemini model"):
        Gemini(name, key=KEY)


def test_google_s_own_way_to_write_a_name_works():
    with serving() as service:
        assert service.open(f"models/{NAME}").sample(PROMPT, 1)
        assert service.received[0].path.startswith(f"/v1beta/models/{NAME}:")


def test_a_model_that_there_is_not_gets_a_sentence_both_ways():
    with serving() as service:
        model = service.open("gemini-0")
        for ask in (lambda: model.sample(PROMPT, 1), lambda: model.revision):
            with pytest.raises(UnknownModelError, match="gemini:gemini-0"):
                ask()


def test_the_revision_is_asked_for_once_by_however_many_threads():
    with serving(latency=0.01) as service, ThreadPoolExecutor(4) as pool:
        model = service.open()
        assert service.received == []
        revisions = set(pool.map(lambda _: model.revision, range(8)))
        assert len(service.received) == model.meter.requests == 1
        assert service.received[0].method == "GET"
    assert revisions == {
        "chat, 32 tokens, cut at 128 characters; thoughts up to 0; version 001; top-k 64; "
        f"at {service.endpoint}"
    }


def test_a_revision_that_could_not_be_had_is_asked_for_again():
    with serving(faults=["503"]) as service:
        model = service.open()
        with pytest.raises(TemporaryError):
            _ = model.revision
        assert "version 001" in model.revision
        assert len(service.received) == 2


def test_each_reply_of_another_model_is_refused_until_it_is_opened_anew():
    with serving() as service:
        model = service.open(known=False)
        revision = model.revision
        assert model.sample(PROMPT, 1)
        for name, words in (("", "gives no name"), ("other-2", "gives “other-2”")):
            service.version = name
            for _ in range(2):
                with pytest.raises(OtherModelError, match=words):
                    model.sample(PROMPT, 1)
        anew = service.open(known=False)
        assert anew.sample(PROMPT, 1) and "answers as other-2" in anew.revision
        assert model.revision == revision


@pytest.mark.parametrize(
    ("budgets", "thoughts", "room"),
    [((0, 128), 0, 0), ((0, 128), 1200, 8192), ((128,), 200, 256), ((), 0, 0), ((), 1, 8192)],
)
def test_what_an_answer_may_take_for_thoughts_is_asked_for_and_stated(budgets, thoughts, room):
    with serving(candidates=1, budgets=budgets, thoughts=thoughts) as service:
        model = service.open(known=False)
        assert (model.capabilities.candidates_a_call, model.capabilities.thoughts) == (1, room)
        model.sample(PROMPT, 1)
        config = service.received[-1].body["generationConfig"]
    assert config["maxOutputTokens"] == min(32 + room, 8192)


def test_an_answer_that_thoughts_leave_no_room_for_gives_the_next_more():
    with serving(faults=["thinking"]) as service:
        model = service.open()
        model.sample(PROMPT, 1)
        model.sample(PROMPT, 1)
        asked = [r.body["generationConfig"]["maxOutputTokens"] for r in service.received]
    assert asked == [32, 8192] and model.capabilities.thoughts == 8192


@pytest.mark.parametrize(("budgets", "least"), [((0, 128), 0), ((128,), 128), ((), None)])
def test_thoughts_are_limited_as_far_as_the_model_lets_them_be(budgets, least):
    with serving(budgets=budgets) as service:
        model = service.open(known=False)
        assert (f"thoughts up to {least}" in model.revision) is (least is not None)
        model.sample(PROMPT, 2)
        config = service.received[-1].body["generationConfig"]
    assert config.get("thinkingConfig", {}).get("thinkingBudget") == least


def test_what_a_model_does_not_take_is_left_out_of_every_request():
    refused = ("stopSequences", "seed")
    with serving(refuses=refused, limit=2048, budgets=(), thoughts=1) as service:
        model = service.open(known=False)
        assert "2048 tokens" in model.revision
        assert "without stopSequences, seed" in model.revision
        model.sample(PROMPT, 2)
        config = service.received[-1].body["generationConfig"]
    assert config["maxOutputTokens"] == 2048 and not {"stopSequences", "seed"} & config.keys()


def test_each_request_has_a_seed_of_its_own():
    with serving() as service:
        model = service.open()
        for first, seed in ((0, 3), (1, 3), (0, 4), (0, 3)):
            model.sample(PROMPT, 1, seed=seed, first=first)
        seeds = [r.body["generationConfig"]["seed"] for r in service.received]
    assert seeds[0] == seeds[3] and len(set(seeds)) == 3 and max(seeds) < 2**31


def test_thoughts_are_no_part_of_an_answer(embedded):
    with gemini(thoughts=9, shows=True) as model:
        assert model.sample(PROMPT, 8) == embedded.sample(PROMPT, 8, seed=SEED)


def test_a_reply_of_more_than_a_language_model_says_is_not_read(monkeypatch):
    monkeypatch.setattr(connections, "LARGEST_REPLY", 100)
    with gemini() as model:
        assert "more than 0 MB" in str(caught(model))


# --------------------------------------------------------------- its own log-probabilities


def test_a_model_that_says_no_likelihoods_is_asked_once_and_that_is_kept():
    kept = Remembered()
    with serving() as service:
        for calls in (3, 0):  # the next process asks nothing
            model = service.open(known=False)
            model.remember_in(lambda: kept)
            able = model.capabilities
            assert not (able.scores_given_text or able.own_log_likelihoods or able.next_token)
            assert not able.local and able.candidates_a_call == 8
            assert model.meter.requests == calls
        assert "responseLogprobs" in service.received[1].body["generationConfig"]
        model.sample(PROMPT, 3)
        assert "responseLogprobs" not in service.received[3].body["generationConfig"]
        said, at_once = model.probe()
        assert at_once == "8 answers: answered"
        assert f"Logprobs is not enabled for models/{NAME}" in said


def test_where_likelihoods_come_answers_have_them_and_the_revision_says_so(embedded):
    expected = embedded.sample(PROMPT, 5, seed=SEED, first=9)
    with serving(logprobs=True) as service:
        model = service.open(known=False)
        assert model.capabilities.own_log_likelihoods
        assert service.generated == 2, "at two temperatures"
        drawn = model.sample(PROMPT, 5)
        assert model.revision.endswith("; own log-probabilities")
    assert [r.text for r in drawn] == [r.text for r in expected]
    assert [r.log_likelihood for r in drawn] == pytest.approx(
        embedded.log_likelihoods([PROMPT], [r.text for r in expected])[0], abs=1e-4
    )


def test_likelihoods_that_change_with_the_temperature_are_not_used():
    with gemini(known=False, logprobs=True, scaled=True) as model:
        assert not model.capabilities.own_log_likelihoods
        assert model.sample(PROMPT, 1)[0].log_likelihood is None
        assert model.probe()[1].endswith("not as likely")


def test_another_failure_teaches_nothing_about_likelihoods():
    with serving(faults=["503"], logprobs=True) as service:
        model = service.open(known=False)
        with pytest.raises(TemporaryError):
            _ = model.capabilities
        assert model.capabilities.own_log_likelihoods


def test_a_model_that_stops_giving_likelihoods_is_noticed():
    with serving(logprobs=True) as service:
        model = service.open()
        service.logprobs = False
        with pytest.raises(RefusedError, match="no longer says how likely its answers are"):
            model.sample(PROMPT, 1)
        assert not model.capabilities.own_log_likelihoods and model.sample(PROMPT, 1)


def test_a_likelihood_is_that_of_the_answer_up_to_its_end():
    """By hand: a line break ends it, and counts; what was cut off does not."""
    with serving(logprobs=True) as service:
        tokens = [(" Big", -1.0), (" dog", -0.5), ("\n", -0.25), ("More", -8.0)]

        def said(prompt, answer, temperature):
            return {"chosenCandidates": [{"token": t, "logProbability": v} for t, v in tokens]}

        service.likelihoods = said
        service.model = Says("Big dog\nMore", "Big dog")
        model = service.open()
        broken, other = (model.sample(PROMPT, 1)[0] for _ in range(2))
    assert broken == Response("Big dog", True, -1.75)
    assert other.log_likelihood == -1.75


# ------------------------------------------------------------------------------ its models


def test_the_models_that_answer_are_listed_by_one_call():
    with serving(key=ONE) as service:
        assert model_names(service.endpoint, ONE) == (NAME,)
        assert [request.method for request in service.received] == ["GET"]
        with pytest.raises(NeedsKeyError):
            model_names(service.endpoint, TWO)


# ---------------------------------------------------------------------------------- forms


def test_in_the_form_with_examples_they_are_turns_of_before():
    with serving() as service:
        model = service.open()
        formed = model.in_form(Form.CHAT_WITH_EXAMPLES)
        assert formed.revision.startswith(f"{model.revision}, asked in the form chat-with-examples")
        formed.sample(PROMPT, 1)
        model.in_form(Form.CHAT).sample(PROMPT, 1)
        *turns, last = service.received[-2].body["contents"]
        assert last["parts"] == [{"text": PROMPT}]
        assert [turn["role"] for turn in turns] == ["user", "model"] * len(EXAMPLES)
        assert turns[1]["parts"] == [{"text": "Honey"}]
        assert len(service.received[-1].body["contents"]) == 1
        formed.with_system("Be brief.").sample(PROMPT, 1)
        behind = service.received[-1].body
        assert behind["systemInstruction"] == {"parts": [{"text": "Be brief."}]}
        assert behind["contents"] == service.received[-3].body["contents"]
        with pytest.raises(ModelError, match="chat or chat-with-examples only"):
            model.in_form(Form.PLAIN)


def test_the_sdk_is_loaded_with_this_back_end_only_and_without_a_word():
    program = (
        "import sys, core.language_models.language_model\n"
        "import core.language_models.backends.embedded.model\n"
        "assert not any(name.startswith('google.') for name in sys.modules)\n"
        "import core.language_models.backends.gemini.model\n"
        "assert 'google.generativeai' in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_gemini_counts_no_negative_tokens(monkeypatch):
    with serving() as service:
        generate = service.generate

        def said(body, fault):
            status, reply = generate(body, fault)
            return status, reply | {"usageMetadata": {"promptTokenCount": -7}}

        monkeypatch.setattr(service, "generate", said)
        model = service.open()
        model.sample("Q: Who? A:", 1)
        assert (model.meter.usage.prompt_tokens, model.meter.usage.response_tokens) == (0, 0)
