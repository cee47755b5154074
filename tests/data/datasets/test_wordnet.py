"""WordNet: a small one made here, and the real one where it is installed."""

import json
import sys
import warnings

import pytest

from core.data.datasets.questions import Question
from core.data.datasets.wordnet import FOLDER, wordnet_questions
from core.data.tabular.rows import UploadError
from tests.data.datasets.outside import outside

# A synset by its key: its names, and what it is below ("i" before it: an instance of it).
SYNSETS = {
    "entity": (["entity"], []),
    "physical": (["physical_entity"], ["entity"]),
    "object": (["object"], ["physical"]),
    "whole": (["whole"], ["object"]),  # three steps below entity: not deep enough
    "animal": (["animal", "beast"], ["whole"]),
    "dog": (["dog", "domestic_dog"], ["animal"]),
    "cat": (["cat", "true_cat"], ["animal"]),
    "rock": (["rock"], ["whole"]),  # of one child
    "granite": (["granite"], ["rock"]),
    "region": (["French_region"], ["whole"]),
    "alsace": (["Alsace"], ["i region"]),
    "anjou": (["Anjou", "Angevin_region"], ["i region"]),
    "twin": (["twin"], ["whole"]),  # of two children with one name
    "copy 1": (["copy", "transcript"], ["twin"]),
    "copy 2": (["copy", "replica"], ["twin"]),
    "book": (["book"], ["whole"]),  # of three with two names
    "novel 1": (["novel", "fiction"], ["book"]),
    "novel 2": (["novel", "novelette"], ["book"]),
    "atlas": (["atlas"], ["book"]),
    "pet": (["pet"], ["whole", "physical"]),  # has a short way up
    "hamster": (["hamster"], ["pet"]),
    "rabbit": (["rabbit"], ["pet"]),
    "idea": (["idea"], ["entity"]),  # not below physical_entity
    **{f"idea {n}": ([f"idea_{n}"], [f"idea {n - 1}" if n > 1 else "idea"]) for n in range(1, 5)},
    "plan": (["plan"], ["idea 4"]),
    "plot": (["plot"], ["idea 4"]),
}


def write_wordnet(folder):
    """Write WordNet's files, where a synset is named by the place of its line."""
    pointers = {key: [] for key in SYNSETS}
    for key, (_, above) in SYNSETS.items():
        for entry in above:
            instance = "i" if entry.startswith("i ") else ""
            parent = entry.removeprefix("i ")
            pointers[key].append(("@" + instance, parent))
            pointers[parent].append(("~" + instance, key))

    def line(key, places):
        names = SYNSETS[key][0]
        words = " ".join(f"{name} 0" for name in names)
        to = "".join(f" {sign} {places[other]:08d} n 0000" for sign, other in pointers[key])
        count = len(pointers[key])
        return f"{places[key]:08d} 03 n {len(names):02x} {words} {count:03d}{to} | a gloss  \n"

    places, at = dict.fromkeys(SYNSETS, 0), 0
    for key in SYNSETS:
        places[key], at = at, at + len(line(key, places))
    data = "".join(line(key, places) for key in SYNSETS)
    senses = {}
    for key, (names, _) in SYNSETS.items():
        for name in names:
            senses.setdefault(name.lower(), []).append(places[key])
    index = "".join(
        f"{name} n {len(at)} 0 {len(at)} 0 {' '.join(f'{a:08d}' for a in at)}  \n"
        for name, at in sorted(senses.items())
    )
    for part in ("noun", "verb", "adj", "adv"):
        (folder / f"data.{part}").write_text(data if part == "noun" else "")
        (folder / f"index.{part}").write_text(index if part == "noun" else "")
        (folder / f"{part}.exc").write_text("")
    return places


def test_a_small_wordnet(tmp_path):
    places = write_wordnet(tmp_path)
    expected = [
        ("animal", "animal", [("cat", "true cat"), ("dog", "domestic dog")]),
        ("region", "French region", [("Alsace",), ("Anjou", "Angevin region")]),
        ("book", "book", [("atlas",), ("novel", "fiction", "novelette")]),
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        found = list(wordnet_questions(tmp_path))
    assert [q.id for q in found] == sorted(q.id for q in found)
    assert found == [
        Question(f"{places[key]:08d}-n", f"Name a type of {name}.", tuple(answers), "wordnet")
        for key, name, answers in expected
    ]


def test_nltk_keeps_to_its_own_folders_afterwards(tmp_path):
    import nltk

    before = list(nltk.data.path)
    write_wordnet(tmp_path)
    list(wordnet_questions(tmp_path))
    assert nltk.data.path == before


def test_a_folder_without_wordnet_is_refused(tmp_path):
    with pytest.raises(UploadError, match=r"it lacks the file data\.adj\. On Debian, apt-get"):
        wordnet_questions(tmp_path)


@pytest.mark.filterwarnings("ignore:No WordNet synset found:UserWarning")
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("data.noun", "damaged\n"),
        ("data.noun", "00000000 03 n 01 entity 0\n"),
        ("index.noun", "physical_entity n\n"),
        ("index.noun", ""),
        ("index.noun", "physical_entity n 1 0 1 0 99999999\n"),
    ],
)
def test_a_damaged_wordnet_is_refused(tmp_path, name, content):
    write_wordnet(tmp_path)
    (tmp_path / name).write_text(content)
    with pytest.raises(UploadError, match=r"NLTK cannot read WordNet .* may be damaged\."):
        wordnet_questions(tmp_path)


def test_without_nltk_a_sentence_says_what_to_install(tmp_path, monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "nltk"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "nltk", None)
    with pytest.raises(UploadError, match=r"install -r requirements/datasets\.txt\.$"):
        wordnet_questions(tmp_path)


def test_the_papers_6015_questions():
    ids = outside("wordnet/physical_entity_synset_ids.txt").read_text().split()
    sample = json.loads(outside("wordnet/wn_sample10.json").read_text())
    if not (FOLDER / "data.noun").exists():
        pytest.skip(f"no WordNet in {FOLDER}")
    found = list(wordnet_questions())
    assert [question.id for question in found] == ids and len(ids) == 6015
    assert all(len(question.answers) >= 2 for question in found)
    asked = {(q.query, tuple(names[0] for names in q.answers)) for q in found}
    assert {(row["query"], tuple(row["children"])) for row in sample} <= asked
