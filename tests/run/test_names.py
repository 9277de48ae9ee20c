"""Labels by number, against a dictionary."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples

from thalweg.labels import Labels
from thalweg.run.predictions import LabelNumbers

#: Without zeros at the end, which NumPy's own strings cannot hold.
words = st.text(max_size=5).map(lambda text: text.rstrip("\0"))


@examples(200)
@given(chunks=st.lists(st.lists(st.none() | words.filter(bool), min_size=1, max_size=8), max_size=6))
def test_labels_are_numbered_as_they_arrive(chunks: list[list[str | None]]) -> None:
    names, numbers = LabelNumbers(), {None: 0}
    for chunk in chunks:
        different = list(dict.fromkeys(label for label in chunk if label is not None))
        places = np.array([-1 if label is None else different.index(label) for label in chunk], dtype=np.int32)
        found = names.numbers(different, places)
        assert found.tolist() == [numbers.setdefault(label, len(numbers)) for label in chunk]
        assert names.words(found).tolist() == [label or "" for label in chunk]
        assert names.of_predictions(np.array([label or "" for label in chunk])).tolist() == found.tolist()
        names = LabelNumbers(names.known)  # as after an interruption


@examples(200)
@given(known=st.sets(words, min_size=1, max_size=20), given_words=st.lists(words, min_size=1, max_size=30))
def test_words_are_found_whatever_their_length(known: set[str], given_words: list[str]) -> None:
    wider, codes = Labels.of(known).encode(np.array(given_words))
    assert wider.values.tolist() == sorted(known.union(given_words))
    assert [wider.values[code] for code in codes] == given_words
    # all are known now, which is the compiled way
    assert wider.encode(np.array(given_words))[1].tolist() == codes.tolist()
    assert wider.encode(np.array(given_words).astype(">U7"))[1].tolist() == codes.tolist()
