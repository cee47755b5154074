"""The engine ray on three nodes of this machine: the same rows as the local one, whatever dies."""

from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

pytest.importorskip("ray", reason="needs requirements/cluster.txt: run `make test-cluster`")

from core import cli
from core.data.datasets.draw import draw, random_order
from core.data.datasets.questions import write_questions
from core.data.datasets.world import world_questions
from core.language_models.errors import NeedsKeyError, RefusedError, UnreachableError
from core.studies.evaluation import cluster
from core.studies.evaluation.cluster import STAGED, RayCluster, engine_on
from core.studies.evaluation.run import RunError, evaluate, pipeline_for
from core.studies.evaluation.saved_run import Run
from core.studies.evaluation.worker import RunControl
from core.studies.progress import Cancelled, silent
from tests.cluster.conftest import KEY, SMALL
from tests.cluster.worlds import Numbers
from tests.language_models.openai_server import serving
from tests.studies.evaluation.worlds import World, assert_same, questions, rows_of, surveyed, task

NUMBER = 32
BUDGET = 100  # calls, of some 140
BLOCK = 4  # questions of a world of numbers, which answers one at a time


@pytest.fixture
def numbers(tmp_path):
    folder = tmp_path / "numbers"
    folder.mkdir()
    return Numbers(folder)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The rows of the local engine."""
    folder = tmp_path_factory.mktemp("whole")
    evaluate(surveyed(questions(NUMBER)), task(World()), folder)
    return rows_of(folder)


def on_nodes(nodes, folder, opening, progress=silent, number=NUMBER, **more):
    """Evaluate on the cluster."""
    engine = engine_on(RayCluster(nodes.address), folder, opening)
    asked = surveyed(questions(number))
    return evaluate(asked, task(World()), folder, progress, engine=engine, **more)


def in_order(number=NUMBER):
    """The questions in the order in which a run asks them."""
    return list(random_order(lambda: questions(number), number, task(World()).request.seed))


def test_a_node_that_is_killed_loses_no_question_and_doubles_none(nodes, tmp_path, numbers):
    """It goes once it has a question of the second half, which all wait for that.

    Two workers are dealt four of its six blocks at most: the third has one, too.
    """
    number = 12 * BLOCK
    evaluate(surveyed(questions(number)), task(World()), tmp_path / "local")
    whole = rows_of(tmp_path / "local")
    folder, node = tmp_path / "run", nodes.add_node(num_cpus=1, **SMALL)
    nodes.wait_for_nodes()
    second = frozenset(int(each.id[1:]) for each in in_order(number)[number // 2 :])
    held = replace(numbers, held=second)

    def progress(stage, share):
        every_node_waits = len(second & held.asked.keys()) == 3
        if share >= 1 / 4 and every_node_waits and not held.released:
            nodes.remove_node(node, allow_graceful=False)
            held.release()

    outcome = on_nodes(nodes, folder, held, progress, number)
    assert held.released, "the node was not killed"
    assert max(held.asked.values()) >= 2, "nothing was under way on it"
    assert (outcome.done, outcome.failed) == (number, 0)
    assert rows_of(folder) == whole
    assert all(Run(folder).inspection(id) for id in whole)
    assert not (folder / STAGED).exists()


def test_who_stops_keeps_what_is_done_and_goes_on_later(
    nodes, tmp_path, numbers, whole, monkeypatch
):
    """Two blocks are finished then: each of the two workers waits in another at the most."""
    folder = tmp_path / "run"
    held = replace(numbers, most=2 * BLOCK + 2 * (BLOCK - 1))

    class ReleasingRunControl(RunControl):
        def stop(self):
            held.release()
            return super().stop()

    monkeypatch.setattr(cluster, "RunControl", ReleasingRunControl)
    with pytest.raises(Cancelled):
        on_nodes(nodes, folder, held, stop_at(2 * BLOCK))
    before = rows_of(folder)
    assert 2 * BLOCK <= len(before) < NUMBER
    assert before == {id: whole[id] for id in before}
    asked = numbers.asked
    outcome = on_nodes(nodes, folder, numbers)
    assert (outcome.before, outcome.done) == (len(before), NUMBER)
    assert rows_of(folder) == whole
    again = numbers.asked - asked
    assert {f"q{number}" for number in again} == whole.keys() - before.keys()


def stop_at(number):
    def progress(stage, share):
        if share >= number / NUMBER:
            raise Cancelled

    return progress


def test_a_question_that_fails_is_a_row_and_a_missing_key_ends_the_run(
    nodes, tmp_path, numbers, whole
):
    ids = [each.id for each in in_order()]
    refused, keyless = (int(ids[at][1:]) for at in (3, 5))
    wrong = {refused: RefusedError("Not this one."), keyless: NeedsKeyError("A key is needed.")}
    broken = replace(numbers, broken=wrong)
    folder = tmp_path / "run"
    with pytest.raises(NeedsKeyError, match=r"A key is needed\."):
        on_nodes(nodes, folder, broken)
    rows = rows_of(folder)
    assert rows.pop(ids[3])["error"] == "Not this one." and ids[5] not in rows
    assert rows == {id: whole[id] for id in rows}
    assert rows.keys() >= {*ids[:3], ids[4]}  # what was done before it in its block
    outcome = on_nodes(nodes, folder, numbers, again=True)
    assert outcome.failed == 0 and rows_of(folder) == whole


def test_a_service_that_is_gone_ends_the_run(nodes, tmp_path, numbers):
    gone = dict.fromkeys(range(NUMBER), UnreachableError("It failed 6 times in a row."))
    with pytest.raises(UnreachableError, match="6 times"):
        on_nodes(nodes, tmp_path / "run", replace(numbers, broken=gone))
    assert rows_of(tmp_path / "run") == {}


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"revision": "2"}, "where the run was begun: revision = “2” there, “1” here"),
        ({"unopened": RefusedError("There is no file /x.")}, r"no model: There is no file /x\."),
    ],
)
def test_a_worker_without_the_model_ends_the_run(nodes, tmp_path, numbers, wrong, says):
    with pytest.raises(RunError, match=says):
        on_nodes(nodes, tmp_path / "run", replace(numbers, **wrong), number=BLOCK)
    assert not numbers.asked


def test_a_worker_of_another_version_ends_the_run(nodes, tmp_path, numbers, monkeypatch):
    def newer(task):
        return replace(pipeline_for(task), answer_rule=99)

    monkeypatch.setattr(cluster, "pipeline_for", newer)
    with pytest.raises(RunError, match=r"begun: rule of answers = \d there, 99 here\."):
        on_nodes(nodes, tmp_path / "run", numbers, number=BLOCK)
    assert not numbers.asked


@pytest.mark.parametrize(
    ("where", "says"),
    [
        (
            RayCluster(reserved={"unobtainium": 1.0}),
            r"room for a worker, which takes unobtainium=1\.",
        ),
        (RayCluster("ray://localhost:10001"), r"Run the command on a machine of the cluster"),
    ],
)
def test_where_no_worker_can_run_one_sentence_says_so(nodes, tmp_path, numbers, where, says):
    engine = engine_on(replace(where, address=where.address or nodes.address), tmp_path, numbers)
    with pytest.raises(RunError, match=says):
        evaluate(surveyed(questions(2)), task(World()), tmp_path, engine=engine)


# -------------------------------------------------------------------------- the whole command


def believe(*arguments):
    return CliRunner().invoke(cli.main, ["evaluate", *map(str, arguments)])


def test_the_command_on_a_cluster_gives_the_rows_of_the_local_engine(nodes, tmp_path):
    asked = tmp_path / "questions.jsonl"
    write_questions(draw(world_questions(), 24, 5), asked)
    options = ("--samples", 5, "--seed", 1)
    here = believe(asked, "--out", tmp_path / "local", *options)
    there = believe(
        *(asked, "--out", tmp_path / "ray", *options, "--engine", "ray"),
        *("--address", nodes.address, "--workers", 2),
    )
    assert (here.exit_code, there.exit_code) == (0, 0), there.stderr
    assert "24 questions asked, 0 finished before." in there.stderr
    assert_same(rows_of(tmp_path / "local"), rows_of(tmp_path / "ray"))
    assert there.stdout.replace("/ray", "/local") == here.stdout
    again = believe(asked, "--out", tmp_path / "ray", *options, "--engine", "ray")
    assert "0 questions asked, 24 finished before." in again.stderr


def test_a_budget_holds_over_all_workers_and_a_key_is_written_nowhere(nodes, tmp_path, monkeypatch):
    """Of a served model. The workers have the key from their nodes."""
    asked, run = tmp_path / "questions.jsonl", tmp_path / "run"
    write_questions(draw(world_questions(), 30, 5), asked)
    options = ("--samples", 3, "--form", "plain", "--yes")
    on_ray = ("--engine", "ray", "--address", nodes.address, "--workers", 2)
    with serving(key=KEY) as server:
        options = (*options, "--model", server.name)
        here = believe(asked, "--out", tmp_path / "local", *options)
        assert here.exit_code == 0, here.stderr
        before = len(server.exchanges)
        ended = believe(asked, "--out", run, *options, *on_ray, "--budget", BUDGET)
        assert ended.exit_code == 1
        assert f"The budget of {BUDGET} calls is used up." in ended.stderr
        assert len(server.exchanges) - before == BUDGET
        found = rows_of(run)
        assert 0 < len(found) < 30
        there = believe(asked, "--out", run, *options, *on_ray)
        assert there.exit_code == 0, there.stderr
    rows = rows_of(run)
    assert {id: rows[id] for id in found} == found
    assert_same(rows_of(tmp_path / "local"), rows)
    logs = Path(nodes.head_node.get_session_dir_path())
    for place in (run, logs):
        for path in place.rglob("*"):
            assert not path.is_file() or KEY.encode() not in path.read_bytes(), path
