"""Small models of embeddings and of entailment, made here: what they say is computed by hand."""

import numpy as np
import pytest

pytest.importorskip("torch", reason="needs requirements/local.txt: run `make test-local`")

import torch
from transformers import (
    AutoTokenizer,
    BertConfig,
    BertForSequenceClassification,
    BertModel,
    BertTokenizerFast,
)

from core.language_models import meaning
from core.language_models.errors import ModelError

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "paris", "lyon", "q", "?"]
TEXTS = ("Paris", "Lyon Lyon", "Paris Lyon")
SIZES = {
    "vocab_size": len(WORDS),
    "hidden_size": 16,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 16,
    "initializer_range": 1.0,
}


def saved(folder, network):
    torch.manual_seed(0)
    folder.mkdir(exist_ok=True)
    (folder / "vocab.txt").write_text("\n".join(WORDS))
    tokenizer = BertTokenizerFast(str(folder / "vocab.txt"))
    network.eval().save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return tokenizer


def test_embeddings_are_compared_by_their_cosine(tmp_path):
    torch.manual_seed(1)
    network = BertModel(BertConfig(**SIZES))
    tokenizer = saved(tmp_path / "a", network)
    name = meaning.open_comparison(f"meaning:{tmp_path / 'a'}")
    assert meaning.open_comparison(name) == name
    with torch.inference_mode():
        each = [
            network(**tokenizer(t, return_tensors="pt")).last_hidden_state[0].mean(0) for t in TEXTS
        ]
    whole = np.array([vector / vector.norm() for vector in each])
    matrix = meaning.alike(name, "Q?", TEXTS)
    np.testing.assert_allclose(matrix, np.clip(whole @ whole.T, 0, 1), atol=1e-5)
    (tmp_path / "a/vocab.txt").write_text("\n".join([*WORDS, "new"]))
    with pytest.raises(ModelError, match="another model than the one that is wanted"):
        meaning.open_comparison(name)


def test_a_folder_that_changes_while_it_is_read_is_not_opened(tmp_path, monkeypatch):
    saved(tmp_path, BertModel(BertConfig(**SIZES)))
    read = AutoTokenizer.from_pretrained

    def changing(folder, **how):
        (tmp_path / "vocab.txt").write_text("\n".join([*WORDS, "new"]))
        return read(folder, **how)

    monkeypatch.setattr(AutoTokenizer, "from_pretrained", changing)
    with pytest.raises(ModelError, match="changed while it was read"):
        meaning.open_comparison(f"meaning:{tmp_path}")
    assert str(tmp_path) not in "".join(meaning.COMPARISONS)


def test_entailment_counts_in_both_directions_behind_the_question(tmp_path):
    torch.manual_seed(2)
    labels = {0: "contradiction", 1: "ENTAILMENT"}
    network = BertForSequenceClassification(BertConfig(**SIZES, id2label=labels))
    tokenizer = saved(tmp_path / "b", network)
    name = meaning.open_comparison(f"meaning:{tmp_path / 'b'}")
    with torch.inference_mode():
        one, other = (
            network(**tokenizer(f"Q? {a}", f"Q? {b}", return_tensors="pt")).logits.softmax(-1)[0, 1]
            for a, b in (TEXTS[:2], TEXTS[1::-1])
        )
    matrix = meaning.alike(name, "Q?", TEXTS)
    assert matrix[0, 1] == matrix[1, 0] == pytest.approx(float(min(one, other)), abs=1e-5)
    assert abs(float(one - other)) > 1e-3 and (matrix.diagonal() == 1).all()


def test_what_a_file_names_is_not_fetched():
    with pytest.raises(ModelError, match="no folder “nobody/none” here, and none was fetched"):
        meaning.open_comparison("meaning:nobody/none#0", fetches=False)
