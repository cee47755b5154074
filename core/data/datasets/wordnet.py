"""“Name a type of fish.”: questions of many right answers, made of WordNet 3.0.

The paper's multi-label dataset (Section 6) takes “all (6015) datapoints from WordNet at depth 4
or more of the physical_entity subtree”, and does not say how depth and children are counted. The
reading here is the one that gives 6,015: below physical_entity over hyponyms and instances; the
shortest way up to entity has four steps or more; children are hyponyms and instances, and two
with the same first name count as one; an entity has at least two.
"""

import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.data.datasets.questions import Question, question_of, questions_from
from core.data.tabular.rows import UploadError

FOLDER = Path("/usr/share/wordnet")  # of Debian's package wordnet-base
ROOT = "physical_entity.n.01"
LEAST_DEPTH = 4
LEAST_CHILDREN = 2

_FILES = [
    name
    for part in ("adj", "adv", "noun", "verb")
    for name in (f"data.{part}", f"index.{part}", f"{part}.exc")
]
#: NLTK looks up which file of its authors a synset came from; nobody here asks for that. Numbers
#: take the place of the table, which Debian's package does not have.
_LEXNAMES = "".join(f"{number:02d}\t{number}\t0\n" for number in range(100))


def wordnet_questions(folder: Path = FOLDER) -> Iterator[Question]:
    """Yield a question for each entity, by the number of its synset.

    `folder`: with WordNet's files data.noun, index.noun and so on.

    Raises `UploadError` when NLTK is missing, or the folder holds no WordNet that it can read.
    """
    try:
        import nltk.corpus.reader.wordnet  # noqa: F401
    except ImportError as error:
        raise UploadError(
            "Reading WordNet takes NLTK, which is not installed; install it with "
            "pip install -r requirements/datasets.txt."
        ) from error
    for name in _FILES:
        if not (folder / name).is_file():
            raise UploadError(
                f"{folder} has no WordNet: it lacks the file {name}. On Debian, apt-get install "
                f"wordnet-base puts one into {FOLDER}."
            )
    try:
        entities = _entities(folder)
    except Exception as error:  # NLTK raises whatever a damaged line brings about
        raise UploadError(f"NLTK cannot read WordNet in {folder}; it may be damaged.") from error
    return questions_from(enumerate(entities, 1), _question, unit="Entity")


@dataclass(frozen=True)
class _Entity:
    """What is asked about, and the names of its children, each by the first of them."""

    id: str
    name: str
    children: dict[str, list[str]]


def _question(entity: _Entity, _: int) -> Question:
    return question_of(
        id=entity.id,
        query=f"Name a type of {entity.name}.",
        answers=[entity.children[name] for name in sorted(entity.children)],
        source="wordnet",
    )


def _entities(folder: Path) -> list[_Entity]:
    """Return what is asked about, by the numbers of the synsets."""
    import nltk
    from nltk.corpus.reader.wordnet import WordNetCorpusReader

    class Reader(WordNetCorpusReader):
        """NLTK's reader, of a WordNet that is by itself."""

        def open(self, file: str) -> Any:
            return io.StringIO(_LEXNAMES) if file == "lexnames" else super().open(file)

        def map_wn(self, version: str = "wordnet") -> None:
            """Map to no other WordNet, which would have to be there."""

    place = str(folder.resolve())
    nltk.data.path.append(place)  # NLTK reads from nowhere else
    try:
        # Without a reader of other languages, which it never asks, NLTK warns.
        return _below(Reader(place, omw_reader=object()).synset(ROOT))
    finally:
        nltk.data.path.remove(place)


def _below(root: Any) -> list[_Entity]:
    subnames = []
    seen, waiting = {root}, [root]
    while waiting:
        synset = waiting.pop()
        children: dict[str, list[str]] = {}
        # NLTK gives them in another order in every process.
        below = [*synset.hyponyms(), *synset.instance_hyponyms()]
        for child in sorted(below, key=lambda child: child.offset()):
            names = _names(child)
            children.setdefault(names[0], []).extend(names)
            if child not in seen:
                seen.add(child)
                waiting.append(child)
        if len(children) >= LEAST_CHILDREN and synset.min_depth() >= LEAST_DEPTH:
            # As WordNet's own files write the number of a synset: 00004258-n.
            id = f"{synset.offset():08d}-{synset.pos()}"
            subnames.append(_Entity(id, _names(synset)[0], children))
    return sorted(subnames, key=lambda entity: entity.id)


def _names(synset: Any) -> list[str]:
    return [name.replace("_", " ") for name in synset.lemma_names()]
