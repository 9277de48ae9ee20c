"""`TextHasher` and the names of hashed features."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import SGDClassifier
from sklearn.pipeline import make_pipeline

from tests import text_oracle
from tests.examples import examples
from thalweg import OnlineLogistic, StreamPipeline, TextHasher
from thalweg.errors import InvalidInput, InvalidParameter, ModelFileError
from thalweg.store import dumps
from thalweg.text import FeatureNames, NGrams

TEXTS = ["Ein Müller, zwei Müller", None, "", "nan", "x y", "Ещё раз and again\ud83d", "plain words " * 30]
WHOLE = ["" if text is None else text.replace("\ud83d", "") for text in TEXTS]

COLUMNS = {
    "list": TEXTS,
    "tuple": tuple(TEXTS),
    "objects": np.array(TEXTS, dtype=object),
    "column": np.array(TEXTS, dtype=object)[:, None],
    "nan": np.array([np.nan if text is None else text for text in TEXTS], dtype=object),
    "numpy": np.array(WHOLE),
    "pandas": pd.Series(TEXTS, index=range(5, 12)),
    "pandas-string": pd.Series([None if t is None else t.replace("\ud83d", "") for t in TEXTS], dtype="string"),
    "pandas-arrow": pd.Series(WHOLE, dtype="string[pyarrow]"),
    "pandas-category": pd.Series(WHOLE).astype("category"),
    "polars": pl.Series([None if text is None else whole for text, whole in zip(TEXTS, WHOLE, strict=True)]),
    "arrow": pa.array(WHOLE),
    "arrow-null": pa.array(WHOLE, mask=np.array([text is None for text in TEXTS])),
    "arrow-slice": pa.array(["more", *WHOLE, "more"]).slice(1, len(WHOLE)),
    "arrow-chunks": pa.chunked_array([WHOLE[:2], [], WHOLE[2:]]),
    "arrow-dictionary": pa.array(WHOLE).dictionary_encode(),
    "arrow-view": pa.array(WHOLE).cast(pa.string_view()),
}


@pytest.mark.parametrize("texts", COLUMNS.values(), ids=COLUMNS)
@pytest.mark.parametrize("options", [{}, {"ngrams": (1, 3), "signed": False, "norm": "l1"}, {"analyzer": "char_wb"}])
def test_texts_of_any_library_are_rows_of_hashing_vectorizer(texts, options):
    X = TextHasher(**options).fit_transform(texts)
    peer = {"ngram_range": options.pop("ngrams", (1, 1)), "alternate_sign": options.pop("signed", True)} | options
    expected = HashingVectorizer(**peer).transform(WHOLE)
    assert isinstance(X, csr_array)
    assert X.shape == expected.shape
    assert abs(X - expected).max() == 0


@pytest.mark.parametrize(
    "empty", [[], np.array([], dtype=str), pa.array([], pa.string()), pl.Series([], dtype=pl.String)]
)
def test_no_texts_are_no_rows(empty):
    assert TextHasher(hash_bits=4).transform(empty).shape == (0, 16)


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
def test_a_frame_of_one_column_is_that_column(library):
    texts = ["late again", None, "fast"]
    model = StreamPipeline([TextHasher(), OnlineLogistic()]).partial_fit(texts, [1, 0, 0])
    np.testing.assert_array_equal(model.predict_proba(library({"note": texts})), model.predict_proba(texts))


@pytest.mark.parametrize(
    ("texts", "what"),
    [
        ("one text", "put it into a list"),
        (["a", 7], "7 of type int at row 1"),
        ([["a"]], "of type list at row 0"),
        (np.array([["a", "b"]]), "one column of texts"),
        (pd.DataFrame({"a": ["x"], "b": ["y"]}), r"give one of them, as in X\['a'\]"),
        (pa.array([1, 2]), "type int64"),
        (pl.Series([1.5]), "type double"),
    ],
)
def test_what_is_no_text_is_refused(texts, what):
    with pytest.raises(InvalidInput, match=what):
        TextHasher().transform(texts)


@pytest.mark.parametrize(
    "wrong",
    [{"ngrams": (2, 1)}, {"ngrams": 2}, {"analyzer": "char"}, {"hash_bits": 31}, {"signed": 1}, {"norm": "max"}],
)
def test_wrong_parameters_are_refused(wrong):
    with pytest.raises(InvalidParameter, match="NGrams must"):
        TextHasher(**wrong).fit(["text"])


def test_it_is_an_estimator_of_scikit_learn():
    model = make_pipeline(clone(TextHasher(ngrams=(1, 2))), SGDClassifier(random_state=0))
    texts = ["buy cheap pills", "cheap loans now", "lunch on monday", "minutes of the meeting"] * 5
    assert model.fit(texts, [1, 1, 0, 0] * 5).score(texts, [1, 1, 0, 0] * 5) == 1.0


def test_it_has_no_file_of_its_own():
    with pytest.raises(ModelFileError, match="cannot be saved"):
        dumps(TextHasher())


# ---------------------------------------------------------------------- names of features

WORDS = st.lists(st.text("ab", min_size=2, max_size=4), max_size=40).map(" ".join)


@examples(100)
@given(st.lists(WORDS, max_size=6), st.integers(1, 12))
def test_a_majority_of_tokens_names_its_feature(texts, bits):
    counts: dict[int, Counter[str]] = {}
    for token in (token for text in texts for token in text_oracle.tokens(text, "word", 1, 1)):
        (index,) = text_oracle.row(token.encode(), bits, "word", 1, 1, False)
        counts.setdefault(index, Counter())[token] += 1
    names = FeatureNames(bits).add_texts(texts, NGrams(hash_bits=bits))
    assert set(names) == set(counts)
    for index, tokens in counts.items():
        (token, most), *_ = tokens.most_common()
        assert names[index] in tokens
        if 2 * most > tokens.total():
            assert names[index] == token


def test_names_are_bounded_and_follow_the_stream():
    names = FeatureNames(limit=100)
    for topic in range(50):
        texts = [f"common topic{topic}word{i} topic{topic}word{i}" for i in range(60)]
        names.add_texts(texts, NGrams())
        assert len(names) <= 100
    found = {names[index] for index in names}
    assert "common" in found
    assert {f"topic49word{i}" for i in range(40, 60)} <= found
    assert names.get(12345) is None


@examples(20)
@given(st.lists(st.text(), max_size=8), st.lists(WORDS, max_size=4), st.integers(1, 6))
def test_names_continue_from_json(strings, texts, limit):
    whole = FeatureNames(6, limit).add_names(strings)
    kept = FeatureNames.from_json(json.loads(json.dumps(whole.to_json())))
    assert kept.to_json() == whole.to_json()
    for names in (whole, kept):
        names.add_texts(texts, NGrams(hash_bits=6))
    assert kept.to_json() == whole.to_json()


def test_a_name_that_is_too_long_is_left_out():
    assert len(FeatureNames().add_names(["x" * 129, "x" * 128])) == 1
