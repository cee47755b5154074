"""Every experiment that is named: described once, shipped, and what is shipped is what it finds."""

import json
import re
import shlex
from dataclasses import dataclass

import pytest
from click.testing import CliRunner

from core.cli import main
from core.language_models.forms import Form
from core.language_models.registry import open_model
from core.reports.laboratory.catalogue import EXPERIMENTS, FIELDS, QUESTION_OF, QUESTIONS
from core.studies.inspection.request import InvalidRequestError
from core.studies.laboratory.bundled import find, others
from core.studies.laboratory.experiment import (
    AskedModel,
    Experiment,
    Outcome,
    form_of,
    from_dict,
    plain,
    to_dict,
    to_json,
)
from core.studies.laboratory.settings import ExperimentSettings, evenly, setting, sizes
from core.studies.progress import Cancelled
from tests.fakes import Turning

#: Those that compute their shipped result in about a second, without a model.
CHEAP = ("estimator", "listing")


@dataclass(frozen=True)
class WordsSettings(ExperimentSettings):
    many: int = setting(3, "Number", 1, 9, 1)
    share: float = setting(0.5, "Share", 0, 1, 0.1)
    way: str = setting("short", "Way", options={"short": "", "long": ""})
    text: str = setting("a", "Text", applies=lambda values: values["way"] == "long")
    draws: tuple[int, ...] = sizes(evenly, 1, 5, 2, 9, 3)
    twice: int = setting("2", "Twice", read=lambda text: 2 * int(text))


def words():
    """An experiment that only repeats what it is given."""
    return Experiment(
        "words",
        "Words",
        "About.",
        "Nowhere",
        WordsSettings,
        work=lambda settings, model, progress: Outcome(str(settings), {"x": [1]}, {"y": [2.0]}),
        asks=AskedModel.CHOSEN,
    )


@pytest.fixture(scope="module")
def embedded():
    return open_model("embedded")


# ------------------------------------------------------------------------- the description


def test_values_are_completed_and_those_that_do_not_apply_are_as_usual():
    usual = {"many": 3, "share": 0.5, "way": "short", "text": "a"}
    usual |= {"smallest": 1, "largest": 5, "sizes": 2, "twice": "2"}
    assert words().usual == usual
    assert words().complete({}) == usual
    assert words().complete({"text": "b"}) == usual
    whole = words().complete({"way": "long", "text": "b", "share": 1})
    assert whole == usual | {"way": "long", "text": "b", "share": 1.0}
    assert type(whole["share"]) is float


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"many": 10}, "The Number is 10; choose one from 1 to 9."),
        ({"many": 20_000}, "The Number is 20,000; choose one from 1 to 9."),
        ({"share": float("inf")}, "The Share is inf; choose one from 0 to 1."),
        ({"share": float("nan")}, "The Share is nan; choose one from 0 to 1."),
        ({"many": 2.5}, "The Number is 2.5, which is of the wrong kind."),
        ({"way": "wide"}, "The Way is 'wide'; choose one of short, long."),
        ({"many": True}, "The Number is True, which is of the wrong kind."),
        ({"other": 1}, "Words has no setting other."),
    ],
)
def test_a_value_that_cannot_be_is_refused_in_a_sentence(values, said):
    with pytest.raises(InvalidRequestError) as refused:
        words().complete(values)
    assert str(refused.value) == said


def test_settings_come_from_the_values_of_their_fields_and_texts_are_read():
    settings = WordsSettings.of(words().complete({"many": 7, "largest": 9, "sizes": 3}))
    assert settings == WordsSettings(many=7, draws=(9, 1, 5, 9), twice=4)
    with pytest.raises(InvalidRequestError, match="smallest k, 6, is above the largest, 5"):
        WordsSettings.of(words().complete({"smallest": 6}))


@pytest.mark.parametrize(
    ("draws", "message"),
    [
        ((), "The Smallest k is 0; choose one from 1 to 9."),
        ((3, 10), "The Largest k is 10; choose one from 1 to 9."),
        ((1, 2, 3, 4), "The How many values of k is 4; choose one from 1 to 3."),
    ],
)
def test_values_of_k_have_limits(draws, message):
    with pytest.raises(InvalidRequestError) as refused:
        WordsSettings(draws=draws)
    assert str(refused.value) == message


def test_the_command_names_what_is_not_as_usual_and_the_model():
    assert words().command({}) == "python -m core laboratory words"
    line = words().command(words().complete({"way": "long", "text": "a; b"}), "smollm2")
    assert line == "python -m core laboratory words --way long --text 'a; b' --model smollm2"
    assert shlex.split(line)[-3] == "a; b"
    assert words().command({}, "smollm2", "plain").endswith("words --model smollm2 --form plain")
    asked = Turning()
    assert words().command({}, "turning", form_of(asked)).endswith(" --model turning")
    asked.forms, asked.form = tuple(Form), Form.CHAT
    assert words().command({}, "turning", form_of(asked)).endswith(" --model turning --form chat")


def test_what_is_written_is_read_again():
    finding = words().run({"many": 4})
    assert from_dict(json.loads(to_json(finding))) == finding
    assert to_dict(finding)["settings"]["many"] == 4


def test_numbers_are_plain_and_have_as_many_digits_as_they_tell():
    assert plain({"a": (1 / 3, 1e-16, float("inf"), 7)}) == {"a": [0.333333, 0.0, None, 7]}


# ------------------------------------------------------------------------ all that are named


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_is_described_for_command_and_page(name):
    experiment = EXPERIMENTS[name]
    assert experiment in QUESTIONS[QUESTION_OF[name]]
    assert experiment.about.endswith(".") and experiment.paper and experiment.title
    values = experiment.complete({})
    assert values == experiment.usual and experiment.settings.of(values)
    for field in experiment.fields:
        assert FIELDS[f"{name}_{field.name}"][0] == field.label
        if isinstance(field.value, int | float):
            assert field.least <= field.value <= field.most and field.step
    help_text = CliRunner().invoke(main, ["laboratory", name, "--help"]).output
    assert all(f"--{field.name.replace('_', '-')} " in help_text for field in experiment.fields)


@pytest.mark.parametrize(
    ("name", "field"),
    [
        pytest.param(name, field, id=f"{name}-{field.name}")
        for name, experiment in EXPERIMENTS.items()
        for field in experiment.fields
        if field.least is not None and field.name not in ("smallest", "largest", "sizes")
    ],
)
def test_bad_settings_say_how_to_mend_them(name, field):
    for value in (field.least - 1, field.most + 1, "much", float("nan")):
        with pytest.raises(InvalidRequestError, match=f"^The {re.escape(field.label)} is .*"):
            EXPERIMENTS[name].settings(**{field.name: value})


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_the_page_opens_on_a_result_of_the_weights_in_use(name, embedded):
    experiment = EXPERIMENTS[name]
    model = None if experiment.asks is AskedModel.NOTHING else embedded
    finding = find(experiment, experiment.usual, model)
    assert finding, f"run python -m benchmarks.laboratory --write {name}"
    assert finding.sentence and len({*map(len, finding.columns.values())}) == 1
    beside = [found.values for found in others(experiment, model)]
    assert beside == [experiment.complete(values) for values in experiment.also.values()]


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_can_be_stopped(name, embedded):
    def stop(stage, share):
        raise Cancelled

    experiment = EXPERIMENTS[name]
    with pytest.raises(Cancelled):
        experiment.run({}, None if experiment.asks is AskedModel.NOTHING else embedded, stop)


@pytest.mark.parametrize("name", CHEAP)
def test_what_is_shipped_is_what_is_found(name):
    experiment = EXPERIMENTS[name]
    shares = []
    found = experiment.run({}, None, lambda stage, share: shares.append(share))
    kept = find(experiment, experiment.usual, None)
    assert shares == sorted(shares) and (shares[0], shares[-1]) == (0, 1)
    assert found.sentence == kept.sentence
    assert close(to_dict(found), to_dict(kept))


@pytest.mark.parametrize(
    "name",
    [
        *(pytest.param(each, marks=pytest.mark.slow) for each in ("chains", "deciding")),
        "hallucination",
    ],
)
def test_what_is_shipped_of_a_model_is_what_its_command_finds(name, embedded):
    """Of these, which are quick: the rules by which answers are read change without the weights."""
    experiment = EXPERIMENTS[name]
    found, kept = experiment.run({}, embedded), find(experiment, experiment.usual, embedded)
    again = f"run python -m benchmarks.laboratory --write {name}"
    assert found.sentence == kept.sentence, again


def close(found, kept):
    """Whether two findings hold the same, up to the last digit."""
    if isinstance(found, dict):
        return found.keys() == kept.keys() and all(close(found[key], kept[key]) for key in found)
    if isinstance(found, list):
        return len(found) == len(kept) and all(map(close, found, kept))
    if isinstance(found, float):
        return found == pytest.approx(kept, rel=1e-5, abs=1e-9)
    return found == kept
