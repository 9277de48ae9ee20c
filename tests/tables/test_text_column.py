"""A column of running text as sparse features."""

from __future__ import annotations

import json

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow")

from sklearn.feature_extraction.text import HashingVectorizer  # noqa: E402

from thalweg.tables.columns.text import TextColumn, seems_text  # noqa: E402

TEXTS = ["The meeting moved to Monday", None, "  ", "unknown", "Größe ändern, bitte", "to be or not to be"]
WHOLE = ["The meeting moved to Monday", "", "", "", "Größe ändern, bitte", "to be or not to be"]


def cells(texts: list[str | None]) -> pa.ChunkedArray:
    return pa.chunked_array([texts[:2], texts[2:]], pa.string())


def test_its_values_are_logarithms_of_the_counts_of_hashing_vectorizer() -> None:
    column = TextColumn("note", ngrams=(1, 2), hash_bits=12, na=["unknown"])
    parsed = column.parse(cells(TEXTS))
    indptr, indices, values = column.compressed(parsed)
    expected = HashingVectorizer(n_features=column.width, ngram_range=(1, 2), norm=None).transform(WHOLE)
    expected.sort_indices()
    assert column.sparse
    assert column.features == ()
    assert indptr.tolist() == expected.indptr.tolist()
    assert indices.tolist() == expected.indices.tolist()
    assert {-2, -1, 1, 2} == set(expected.data.tolist())
    np.testing.assert_allclose(values, np.sign(expected.data) * np.log(1 + np.abs(expected.data)), rtol=1e-15)
    assert column.missing(parsed).tolist() == [False, True, True, True, False, False]
    kept = np.array([5, 0])
    some = column.compressed(parsed[kept])
    assert some[1].tolist() == [i for row in kept for i in expected[[row]].indices]
    assert "log(1 + count) of runs of 1 to 2 words, hashed into 4,096" in column.done()


def test_words_of_rows_that_are_learned_are_remembered_whatever_the_chunks() -> None:
    whole, parts = TextColumn("note"), TextColumn("note")
    nothing = np.empty((len(TEXTS), 0))
    parsed = whole.parse(cells(TEXTS))
    whole.encode(parsed, nothing, learn=False)
    assert len(whole.words) == 0
    whole.encode(parsed, nothing, learn=True)
    for at in range(len(TEXTS)):
        parts.encode(parsed[np.array([at])], nothing[:1], learn=True)
        again = TextColumn("note")
        again.restore(json.loads(json.dumps(parts.state())))
        parts = again
    assert parts.state() == whole.state()
    names = {whole.words[index] for index in whole.compressed(parsed)[1].tolist()}
    assert {"meeting", "größe", "be"} <= names


def test_a_forged_state_is_refused() -> None:
    state = TextColumn("note", hash_bits=8).state()
    with pytest.raises(ValueError, match="'note'"):
        TextColumn("note").restore(state)


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        ("please call me back tomorrow", True),
        ("пожалуйста перезвоните мне завтра утром", True),
        ("Anna Maria Smith", False),
        ("anna.smith@mail.example.org", False),
        ("https://example.org/where/the/river/bends?page=about us", False),
        ("550e8400-e29b-41d4-a716-446655440000", False),
        ("12 34 56 78 90", False),
        ("", False),
    ],
)
def test_running_text_is_recognised_by_its_words(cell: str, text: bool) -> None:
    assert seems_text([cell]) is text


def test_no_cells_are_no_text() -> None:
    assert not seems_text([])
