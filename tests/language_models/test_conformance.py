"""What every back end keeps, whatever is behind it: the contract of `LanguageModel`.

Nothing here depends on what a model has learned, nor on a service drawing the same twice.
"""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from core import prompts
from core.language_models.errors import ModelError
from core.language_models.forms import Form
from core.language_models.language_model import MAX_RESPONSE_TOKENS, LanguageModel
from tests.language_models.back_ends import BACK_ENDS, EACH, KEY, SAYING

QUESTION = "Who wrote the novel Dune?"
PROMPT = prompts.iterative(QUESTION)
TOLD = [PROMPT, *(prompts.iterative(QUESTION, [text]) for text in ("Frank Herbert", "Homer"))]
ANSWERS = ["Frank Herbert", "Homer", "Virginia Woolf and Ærø — “ø”", "7"]


@pytest.fixture(scope="module", params=BACK_ENDS)
def model(request):
    with BACK_ENDS[request.param]() as model:
        yield model


@pytest.fixture
def scoring(model):
    if not model.capabilities.scores_given_text:
        pytest.skip("does not score given text")
    return model


def test_it_is_a_language_model_with_a_name_and_a_revision(model):
    assert isinstance(model, LanguageModel)
    assert model.name and model.revision
    assert model.revision == model.revision


def test_no_key_stands_in_what_people_see(model):
    for shown in (model.name, model.revision, repr(model), str(model)):
        assert KEY not in shown and KEY[3:] not in shown


# ------------------------------------------------------------------------------- samples


@pytest.mark.parametrize("count", [0, 1, 3, 11])
def test_as_many_samples_come_as_were_asked_for(model, count):
    assert len(model.sample(PROMPT, count, temperature=0.9)) == count


def test_samples_are_stripped_lines_within_the_limit(model, embedded):
    for response in model.sample(PROMPT, 24, temperature=1.5, seed=3):
        assert response.text == response.text.strip()
        assert "\n" not in response.text
        # A text may be written with fewer tokens than it was drawn with, never with many more.
        assert len(embedded.encode(response.text)) <= 2 * MAX_RESPONSE_TOKENS
        assert isinstance(response.complete, bool)


def test_a_limit_cuts_the_same_model_s_answers(model, embedded):
    short = model.with_limit(1)
    assert (short.answer_tokens, short.revision) == (1, model.revision)
    responses = short.sample(PROMPT, 8, temperature=1.5, seed=3)
    # Without its leading space a rare token is written with many others, so texts are compared.
    tokenizer = embedded.tokenizer
    tokens = {tokenizer.decode([token]).strip() for token in range(tokenizer.get_vocab_size())}
    assert all(response.text in tokens or len(response.text) <= 4 for response in responses)
    assert {response.limit for response in responses} == {1}
    assert not all(response.complete for response in responses)
    assert model.answer_tokens == MAX_RESPONSE_TOKENS


def test_a_short_answer_is_complete(model):
    assert model.sample(PROMPT, 1, temperature=0)[0].complete


def test_the_greedy_response_is_the_same_every_time(model):
    once, again = (model.sample(PROMPT, 1, temperature=0, seed=seed)[0] for seed in (0, 5))
    assert (once.text, once.complete) == (again.text, again.complete)
    if once.log_likelihood is not None:
        assert once.log_likelihood == pytest.approx(again.log_likelihood, abs=1e-3)
    assert [r.text for r in model.sample(PROMPT, 3, temperature=0)] == [once.text] * 3


def test_a_seed_and_an_index_determine_a_response_where_it_is_ours(model):
    if not model.capabilities.local:
        pytest.skip("services promise nothing about seeds")
    whole = model.sample(PROMPT, 12, temperature=1.0, seed=7)
    parts = model.sample(PROMPT, 5, temperature=1.0, seed=7)
    parts += model.sample(PROMPT, 7, temperature=1.0, seed=7, first=5)
    assert whole == parts
    assert whole != model.sample(PROMPT, 12, temperature=1.0, seed=8)


def test_no_two_prompts_share_their_random_numbers(model):
    """At temperature 50, first tokens are nearly uniform: alike numbers would be alike tokens."""
    if not model.capabilities.local:
        pytest.skip("services promise nothing about seeds")
    one, other = (
        [response.text[:3] for response in model.sample(prompt, 12, temperature=50.0, seed=7)]
        for prompt in (PROMPT, PROMPT.replace("Dune", "Emma"))
    )
    assert sum(map(str.__eq__, one, other)) < 6


def test_the_likeliest_answers_come_in_their_order(model):
    if not model.capabilities.searches:
        pytest.skip("cannot be searched")
    found = model.likeliest(PROMPT, 6)
    texts = [response.text for response in found]
    assert len({*texts}) == 6 and all(response.complete for response in found)
    fewer = model.likeliest(PROMPT, 3)
    assert [response.text for response in fewer] == texts[:3]
    for one, other in zip(fewer, found, strict=False):  # other beginnings share its batches
        assert one.log_likelihood == pytest.approx(other.log_likelihood, abs=1e-4)
    own = [response.log_likelihood for response in found]
    assert own == sorted(own, reverse=True)
    assert model.log_likelihoods([PROMPT], texts)[0][0] == pytest.approx(own[0], abs=1e-3)
    # Whatever is drawn is one of them, or less likely than all.
    drawn = {response.text for response in model.sample(PROMPT, 20, seed=4)} - {*texts}
    if drawn:
        assert model.log_likelihoods([PROMPT], sorted(drawn)).max() <= own[-1] + 1e-3


def test_samples_differ(model):
    texts = [response.text for response in model.sample(PROMPT, 16, temperature=2.0, seed=2)]
    assert len(set(texts)) > 1


def test_eight_threads_get_what_one_would(model):
    def ask(i):
        greedy = model.sample(TOLD[i % len(TOLD)], 1, temperature=0)
        return greedy, model.sample(PROMPT, 4, temperature=1.0, seed=1, first=4 * i)

    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(ask, range(16)))
    alone = [model.sample(told, 1, temperature=0) for told in TOLD]
    for i, (greedy, drawn) in enumerate(together):
        assert [r.text for r in greedy] == [r.text for r in alone[i % len(TOLD)]]
        assert len(drawn) == 4
        if model.capabilities.local:
            assert drawn == model.sample(PROMPT, 4, temperature=1.0, seed=1, first=4 * i)


def test_a_response_has_its_own_likelihood_where_it_says_so_and_none_elsewhere(model):
    for temperature in (0.0, 0.7, 1.0):
        for response in model.sample(PROMPT, 5, temperature=temperature, seed=4):
            if model.capabilities.own_log_likelihoods:
                assert response.log_likelihood <= 0
            else:
                assert response.log_likelihood is None


def test_its_own_likelihood_does_not_depend_on_the_temperature(model):
    if not model.capabilities.own_log_likelihoods:
        pytest.skip("does not report its own likelihoods")
    greedy = model.sample(PROMPT, 1, temperature=0)[0]
    drawn = model.sample(PROMPT, 30, temperature=0.5, seed=9)
    again = [r.log_likelihood for r in drawn if r.text == greedy.text]
    assert again, "the likeliest answer is drawn at a low temperature"
    assert max(again) == pytest.approx(greedy.log_likelihood, abs=1e-3)


# --------------------------------------------------------------------------------- forms


def test_each_form_is_a_model_of_its_own_and_the_same_one_comes_back(model):
    if not model.forms:
        pytest.skip("is asked in one form")
    asked = {form: model.in_form(form) for form in model.forms}
    assert [each.form for each in asked.values()] == [*model.forms]
    assert len({each.revision for each in asked.values()}) == len(model.forms)
    assert asked[model.form].revision == model.revision
    for each in asked.values():
        assert each.in_form(model.form).revision == model.revision
        assert (each.name, each.canonical_name, each.meter) == (
            model.name,
            model.canonical_name,
            model.meter,
        )
        assert len(each.sample(PROMPT, 2)) == 2


def test_a_form_that_it_does_not_have_is_refused_with_a_sentence(model):
    forms = model.forms or (model.form,)
    for form in {*Form} - {*forms}:
        with pytest.raises(ModelError, match="|".join(f"the form {form}" for form in forms)):
            model.in_form(form)


# --------------------------------------------- white space, empty answers, and none at all


@pytest.mark.parametrize("kind", SAYING)
@pytest.mark.parametrize(
    ("said", "answer", "tokens"),
    [
        ("\n\n Paris", "Paris", 8),
        ("\n \t\n Paris\nQ: And Spain?", "Paris", 11),
        (" Paris \n\n", "Paris", 8),
        ("Paris", "Paris", 5),
        (" \n\t ", "", None),
        ("", "", None),
    ],
)
def test_white_space_in_front_neither_is_nor_ends_an_answer(kind, said, answer, tokens):
    """Every character is a token; up to the line break behind an answer they are summed."""
    with SAYING[kind](said) as model:
        (response,) = model.sample(PROMPT, 1)
        assert (response.text, response.complete) == (answer, True)
        own = model.capabilities.own_log_likelihoods
    assert (response.log_likelihood is not None) is own
    if own and tokens:
        assert response.log_likelihood == pytest.approx(EACH * tokens)


@pytest.mark.parametrize("kind", SAYING)
def test_an_answer_that_is_withheld_says_why_and_is_no_text(kind):
    with SAYING[kind]("", withheld=True) as model:
        (response,) = model.sample(PROMPT, 1)
    assert (response.text, response.complete, response.log_likelihood) == ("", False, None)
    assert "filter" in response.refusal


# -------------------------------------------------------------------------------- scores


def test_scores_come_in_a_table_of_logarithms(scoring):
    table = scoring.log_likelihoods(TOLD, ANSWERS)
    assert table.shape == (len(TOLD), len(ANSWERS))
    assert table.dtype == np.float64
    assert np.isfinite(table).all() and (table <= 0).all()


def test_each_score_is_its_own_whatever_is_scored_with_it(scoring):
    table = scoring.log_likelihoods(TOLD, ANSWERS)
    for i, j in [(0, 0), (2, 3), (1, 2)]:
        alone = scoring.log_likelihoods([TOLD[i]], [ANSWERS[j]])
        assert alone == pytest.approx(table[i, j], abs=1e-4)
    np.testing.assert_allclose(
        scoring.log_likelihoods(TOLD[::-1], ANSWERS[::-1])[::-1, ::-1], table, atol=1e-4
    )


def test_many_pairs_are_scored_like_few(scoring):
    answers = [f"Answer {i}" for i in range(scoring.capabilities.pairs_a_call // 2 + 3)][:40]
    table = scoring.log_likelihoods(TOLD[:2], answers)
    np.testing.assert_allclose(
        table[:, -3:], scoring.log_likelihoods(TOLD[:2], answers[-3:]), atol=1e-4
    )


def test_nothing_to_score_is_an_empty_table(scoring):
    assert scoring.log_likelihoods([], ANSWERS).shape == (0, len(ANSWERS))
    assert scoring.log_likelihoods(TOLD, []).shape == (len(TOLD), 0)


def test_the_chain_rule_holds(scoring):
    """ln Q(a b | p) − ln Q(b | p a) is ln P(a | p), whatever b is and however b ends."""
    start, ends = "Frank", ["Herbert", "Zappa", "of the seven seas"]
    whole = scoring.log_likelihoods([PROMPT], [f"{start} {end}" for end in ends])[0]
    behind = scoring.log_likelihoods([f"{PROMPT} {start}"], ends)[0]
    np.testing.assert_allclose(whole - behind, (whole - behind)[0], atol=1e-3)


def test_distinct_answers_of_one_word_share_at_most_all_probability(scoring):
    drawn = scoring.sample(PROMPT, 30, temperature=1.0, seed=6)
    words = {r.text.split()[0] for r in drawn if r.text}
    words = [w for w in words if not any(w != v and w.startswith(v) for v in words)]
    assert np.exp(scoring.log_likelihoods([PROMPT], sorted(words))).sum() <= 1 + 1e-4


def test_its_own_likelihood_agrees_with_its_score(scoring):
    if not scoring.capabilities.own_log_likelihoods:
        pytest.skip("does not report its own likelihoods")
    greedy = scoring.sample(PROMPT, 1, temperature=0)[0]
    scored = scoring.log_likelihoods([PROMPT], [greedy.text])[0, 0]
    assert greedy.log_likelihood <= scored + 1e-3  # it may count the end, never leave more out
    if "no end token" not in scoring.revision:
        assert greedy.log_likelihood == pytest.approx(scored, abs=1e-3)


# --------------------------------------------------------------------------- next tokens


def test_the_next_tokens_are_likely_and_few(model):
    if not model.capabilities.next_token:
        pytest.skip("does not give next tokens")
    for prompt in TOLD:
        top = model.next_token(prompt)
        assert top and all(isinstance(token, str) for token in top)
        assert all(value <= 0 for value in top.values())
        assert sum(np.exp(value) for value in top.values()) <= 1 + 1e-6


# ------------------------------------------------------------------- what it cannot do


def test_what_it_cannot_do_is_refused_with_a_sentence(model):
    asked = []
    if not model.capabilities.scores_given_text:
        asked.append(lambda: model.log_likelihoods([PROMPT], ANSWERS))
    if not model.capabilities.next_token:
        asked.append(lambda: model.next_token(PROMPT))
    if not model.capabilities.searches:
        asked.append(lambda: model.likeliest(PROMPT, 3))
    for ask in asked:
        with pytest.raises(ModelError) as caught:
            ask()
        assert str(caught.value).endswith(".") and KEY not in str(caught.value)


def test_a_prompt_that_is_too_long_is_refused_with_a_sentence(model):
    with pytest.raises(ModelError) as caught:
        model.sample(PROMPT + " word" * 3000, 1)
    assert str(caught.value).endswith(".") and KEY not in str(caught.value)


def test_a_service_meters_what_it_uses(model):
    if model.capabilities.local:
        pytest.skip("costs nothing")
    before = model.meter.usage
    count = model.capabilities.candidates_a_call
    model.sample(PROMPT, count, temperature=1.0)
    assert model.meter.requests == before.requests + 1
    assert model.meter.usage.prompt_tokens > before.prompt_tokens
    assert model.meter.usage.response_tokens > before.response_tokens
