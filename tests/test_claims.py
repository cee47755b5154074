"""Claims of a text: how it is split, which marks they get, and that nothing is promised of them."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

import believe
from core import prompts
from core.claims import MOST_CHARACTERS, NO_CLAIM, NO_PROMISE, questions_about, sentences
from core.cli import main
from core.language_models.errors import StoppedError
from core.language_models.language_model import Capabilities, LanguageModel, Response
from core.studies.inspection.certificates import certificate, default_policy
from core.studies.inspection.pipeline import prompt_fingerprint
from core.studies.inspection.request import InvalidRequestError

TEXT = "Paris is in France. Lyon is in Spain! Is it?"


class Judge(LanguageModel):
    """Calls what has the word France true, and its opposite false; `kind` says how it fails."""

    name, revision = "judge", "1"
    capabilities = Capabilities(scores_given_text=True)

    def __init__(self, kind="knows"):
        self.kind = kind

    def true(self, prompt):
        if self.kind == "stopped":
            raise StoppedError("Somebody stopped it.")
        if self.kind == "false":
            return 0.02
        if self.kind == "copies" and prompts.FIRST_ANSWER in prompt:
            return 0.98 if f"{prompts.FIRST_ANSWER}True" in prompt else 0.02
        if self.kind == "copies":
            return 0.6
        return 0.98 if ("France" in prompt) != (prompts.NOT in prompt) else 0.02

    def sample(self, prompt, count, *, temperature=1.0, seed=0, first=0):
        texts = ["True", "False"] if self.true(prompt) > 0.5 else ["False", "True"]
        return [Response(texts[0 if temperature == 0 else i % 2], True) for i in range(count)]

    def log_likelihoods(self, contexts, answers):
        p = [self.true(prompt) for prompt in contexts]
        return np.log([[q if answer == "True" else 1 - q for answer in answers] for q in p])


def marks(kind):
    return [claim.mark for claim in believe.claims(TEXT, "Where?", Judge(kind))]


def test_a_claim_is_marked_where_the_model_keeps_to_it_and_calls_the_opposite_the_contrary():
    claims = believe.claims(TEXT, "Where is it?", Judge())
    assert [claim.mark for claim in claims] == ["perhaps true", "perhaps false", "open"]
    assert [TEXT[c.start : c.end] for c in claims] == [c.text for c in claims]
    assert claims[0].inspection.query == prompts.truth("Paris is in France.", "Where is it?")
    assert claims[0].to_dict()["mutual_information"] == pytest.approx(0, abs=1e-6)
    assert claims[2].reason == NO_CLAIM


def test_a_model_that_calls_everything_false_or_repeats_what_it_is_told_marks_nothing():
    assert marks("false") == ["open"] * 3  # its mutual information is 0
    assert marks("copies") == ["open"] * 3


def test_a_context_stands_in_front_of_what_is_asked_about_a_claim():
    claim = believe.claims(TEXT, model=Judge(), context="France has cities.")[1]
    for seen in (claim.inspection, claim.opposite):
        assert seen.cell(0, 0).prompt.startswith("Context:\nFrance has cities.\n\n")


def test_what_somebody_stops_marks_nothing():
    with pytest.raises(StoppedError):
        marks("stopped")


def test_no_certificate_of_other_questions_fits_a_claim():
    inspection = believe.claims(TEXT, model=Judge())[0].inspection
    own = default_policy().pipeline
    assert inspection.policy is None and inspection.verdict.rule is None
    assert inspection.pipeline.prompt == prompt_fingerprint(claim=True) != own.prompt
    assert certificate(own) and not certificate(inspection.pipeline)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("One. Two.", ["One.", "Two."]),
        ("Dr. J. Smith left. He came.", ["Dr. J. Smith left.", "He came."]),
        ("It is 3.5 m, i.e. much. So", ["It is 3.5 m, i.e. much.", "So"]),
        ("“Go!” He went…\n- a list\n\n***", ["“Go!”", "He went…", "- a list"]),
        ("1. First. 2. Second.", ["1. First.", "2. Second."]),
        ("巴黎在法国。里昂也在。", ["巴黎在法国。", "里昂也在。"]),
        ("Nobody says that\nit is flat.\n\nno", ["Nobody says that\nit is flat.", "no"]),
        ("यह है। वह है।", ["यह है।", "वह है।"]),
        ("Pres. Lincoln was shot. He died.", ["Pres. Lincoln was shot.", "He died."]),
        ("He met Dr. Watson. They left.", ["He met Dr. Watson.", "They left."]),
        ("St. Petersburg is old. So", ["St. Petersburg is old.", "So"]),
        ("Use fruit, e.g. Lemons. They keep.", ["Use fruit, e.g. Lemons.", "They keep."]),
        ("Lt. Col. Smith led. Sgt. Jones fell.", ["Lt. Col. Smith led.", "Sgt. Jones fell."]),
        ("Ft. Worth is 6 ft. It is not.", ["Ft. Worth is 6 ft.", "It is not."]),
        ("No. 4 is no. The other is.", ["No. 4 is no.", "The other is."]),
        ("The U.S. Senate met. It sat.", ["The U.S. Senate met.", "It sat."]),
        ("J. R. R. Tolkien wrote. He sang.", ["J. R. R. Tolkien wrote.", "He sang."]),
        ("Dr. h.c. Abt nahm z.B. Tee. Gut.", ["Dr. h.c. Abt nahm z.B. Tee.", "Gut."]),
        ("Is it? No. He died in 1990. So.", ["Is it?", "No.", "He died in 1990.", "So."]),
        ("# France\n\nIt is big.\n- Lyon\n- Nice", ["# France", "It is big.", "- Lyon", "- Nice"]),
        ("他说“它大。”是错的。“好。”", ["他说“它大。”是错的。", "“好。”"]),
        (
            "He is 5'10\" tall. So.\n\nShe is tall. So.",
            ["He is 5'10\" tall. So.", "She is tall.", "So."],
        ),
        ("(It is. Or not). The dogs’ tail. So", ["(It is. Or not).", "The dogs’ tail.", "So"]),
        ("", []),
    ],
)
def test_a_text_is_split_into_sentences(text, parts):
    assert [text[start:end] for start, end in sentences(text)] == parts


@pytest.mark.parametrize(
    "text",
    [
        *("“Paris is in Italy.” is false.", "“Paris is in Italy?” he asked.", "*So.* is false."),
        *("It isn't true that\nParis is big.", "It isn't true … Paris is big.", "No... Paris is."),
        *("It is untrue:\nParis is big.", "Myths:\n\n- Paris is big.\n- Rome is small."),
        *("Falsch ist, dass er am 3. Oktober starb.", "Falsch ist, dass Ludwig XIV. König war."),
        *("Untrue, z. B. Paris is big.", "It is a lie that Ave. Foch and Wm. Ltd. Co. Paris is."),
        *(
            "He lied: “Rome is big. Nice is ‘it’s big’. So.” so he was.",
            "„Nein. Doch.“ ist falsch.",
        ),
        *('It is "so. Paris is big. So" to fools.', "Il ment : « Non. Oui. » dit-il.", "A (B. C.)"),
        *("Paris is in Italy. (This is false.)", "It is untrue that Washington D.C. Paris is big."),
    ],
)
def test_a_claim_is_not_cut_off_what_denies_it(text):
    assert [text[start:end] for start, end in sentences(text)] == [text]


@pytest.mark.parametrize(
    "text", ["Is it?”", "**Is it?**", "Is it (big?)", "Is it?!", "هل هو؟", "Είναι\u037e"]
)
def test_a_question_in_quotes_or_another_script_claims_nothing(text):
    assert [queries for _, queries in questions_about(text)] == [()]


def test_a_claim_is_asked_about_in_one_line():
    ((_, queries),) = questions_about("Nobody says that\nit is flat.")
    assert queries[0] == prompts.truth("Nobody says that it is flat.", "")


@pytest.mark.parametrize("text", ["", "...", "A. " * 50_000, "Aa. " * 101, "\ud800 is."])
def test_no_claim_and_too_many_are_refused_before_a_model_is_opened(text):
    with pytest.raises(InvalidRequestError, match=r"sentences; give one|characters, or is no"):
        believe.claims(text, model="no such model")


def test_the_command_reads_a_pipe_and_says_that_nothing_is_promised():
    result = CliRunner().invoke(main, ["claims", "-", "--json"], input="Is it? Why?")
    assert result.exit_code == 0 and NO_PROMISE in result.stderr
    printed = json.loads(result.stdout)
    assert printed["promise"] is None and [c["mark"] for c in printed["claims"]] == ["open"] * 2
    too_long = CliRunner().invoke(main, ["claims", "-"], input="x" * (MOST_CHARACTERS + 1))
    assert too_long.exit_code == 1 and "more than 20,000 characters" in too_long.stderr
    foreign = CliRunner().invoke(main, ["claims", "-"], input="Is it?".encode("utf-16"))
    assert foreign.exit_code == 2 and "save it as UTF-8" in foreign.stderr


@pytest.mark.parametrize(
    ("misuse", "says"),
    [
        ({"text": None}, "are texts"),
        ({"question": 5}, "are texts"),
        ({"context": None}, "are texts"),
        ({"model": 5}, "neither a name"),
        ({"budget": 0}, "whole number from 1"),
    ],
)
def test_what_makes_no_sense_is_a_sentence(misuse, says):
    with pytest.raises(believe.InvalidRequestError, match=says):
        believe.claims(**{"text": "Paris is in France.", **misuse})
