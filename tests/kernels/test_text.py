"""Hashing of text: against scikit-learn where the definitions agree, and against a slow tokenizer on any text."""

from __future__ import annotations

import unicodedata
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.utils import murmurhash3_32

from tests import text_oracle
from tests.examples import examples
from tests.kernels import unicode_table
from thalweg.kernels import compiled

ANALYZERS = [("word", 1, 1), ("word", 1, 2), ("word", 2, 3), ("char_wb", 1, 1), ("char_wb", 3, 5), ("char_wb", 4, 16)]
ENGLISH = (
    "It's 2 o'clock; I re-read _snake_case_ and CamelCase2 TWICE, twice.\tNaïve café—ÀÉÎ! Ещё раз: ДВА слова x y zz"
)
TEXTS = st.text(st.one_of(st.sampled_from("aAbZ_ 9.\u00b5ßİΣςÆ\u0301\u0915\u093f\u3000中🌍𝐀𐐀\udc80"), st.characters()))


def buffers(strings, offsets=np.int64):
    """Offsets and bytes, as Arrow lays strings out."""
    data = [s if isinstance(s, bytes) else s.encode("utf-8", "surrogatepass") for s in strings]
    return np.cumsum([0, *map(len, data)]).astype(offsets), np.frombuffer(b"".join(data), np.uint8)


def rows(csr):
    indptr, indices, values = csr
    return [dict(zip(indices[a:b].tolist(), values[a:b].tolist(), strict=True)) for a, b in pairwise(indptr)]


@examples(200)
@given(st.lists(st.text()), st.integers(1, 30), st.sampled_from([np.int32, np.int64]))
def test_names_are_hashed_as_by_scikit_learn(names, bits, offsets):
    names = [name.encode("utf-8", "surrogatepass") for name in names]
    indices, signs = compiled.hash_strings(*buffers(names, offsets), bits)
    hashes = [murmurhash3_32(name, 0) for name in names]
    assert indices.dtype == np.int32
    assert indices.tolist() == [abs(h) % 2**bits for h in hashes]
    assert signs.tolist() == [1 if h >= 0 else -1 for h in hashes]


@pytest.mark.parametrize(("analyzer", "low", "high"), ANALYZERS)
@pytest.mark.parametrize("norm", ["", "l1", "l2"])
@pytest.mark.parametrize("signed", [True, False])
def test_texts_are_those_of_hashing_vectorizer(analyzer, low, high, norm, signed):
    texts = [ENGLISH, "", " ", "a", "to be or not to be", ENGLISH * 50, "\x1c\x85 tabs\nand lines \u2003"]
    expected = HashingVectorizer(
        n_features=2**12, analyzer=analyzer, ngram_range=(low, high), norm=norm or None, alternate_sign=signed
    ).transform(texts)
    expected.sort_indices()
    indptr, indices, values = compiled.hash_texts(*buffers(texts), 12, analyzer, low, high, signed, norm)
    assert indptr.tolist() == expected.indptr.tolist()
    assert indices.tolist() == expected.indices.tolist()
    assert values.tolist() == expected.data.tolist()
    assert (indptr.dtype, indices.dtype, values.dtype) == (np.int64, np.int32, np.float64)


@examples(400)
@given(st.lists(TEXTS, max_size=4), st.sampled_from(ANALYZERS), st.booleans(), st.integers(3, 30))
def test_any_text_has_the_tokens_of_the_slow_tokenizer(texts, analyzer, signed, bits):
    assume(all(map(text_oracle.is_stable, texts)))
    found = rows(compiled.hash_texts(*buffers(texts), bits, *analyzer, signed, ""))
    data = [text.encode("utf-8", "surrogatepass") for text in texts]
    assert found == [text_oracle.row(text, bits, *analyzer, signed) for text in data]


@examples(400)
@given(st.lists(st.binary(), max_size=4), st.sampled_from(ANALYZERS))
def test_bytes_that_are_not_utf8_are_spaces(texts, analyzer):
    assume(all(text_oracle.is_stable(text.decode("utf-8", "ignore")) for text in texts))
    found = rows(compiled.hash_texts(*buffers(texts, np.int32), 20, *analyzer, True, ""))
    assert found == [text_oracle.row(text, 20, *analyzer, True) for text in texts]


@examples(200)
@given(st.lists(st.integers(-3, 12) | st.sampled_from([2**31 - 1, -(2**31)])), st.sampled_from([np.int32, np.int64]))
def test_offsets_outside_the_bytes_are_refused(offsets, kind):
    data = np.frombuffer(b"some words", np.uint8)
    valid = all(0 <= a <= b <= len(data) for a, b in pairwise(offsets))
    for call, *more in (
        (compiled.hash_strings, 8),
        (compiled.hash_texts, 8, "word", 1, 2, True, ""),
        (compiled.FeatureNames(8, 4).add_texts, "word", 1, 2),
        (compiled.FeatureNames(8, 4).add_strings,),
    ):
        if valid:
            call(np.array(offsets, kind), data, *more)
        else:
            with pytest.raises(ValueError, match="offsets must rise"):
                call(np.array(offsets, kind), data, *more)


@pytest.mark.parametrize(
    "options",
    [
        (0, "word", 1, 1, True, ""),
        (31, "word", 1, 1, True, ""),
        (8, "char", 1, 1, True, ""),
        (8, "word", 0, 1, True, ""),
        (8, "word", 2, 1, True, ""),
        (8, "word", 1, 17, True, ""),
        (8, "word", 1, 1, True, "max"),
    ],
)
def test_options_out_of_range_are_refused(options):
    with pytest.raises(ValueError, match="must"):
        compiled.hash_texts(*buffers(["text"]), *options)


@pytest.mark.skipif(unicodedata.unidata_version != "14.0.0", reason="the table is that of Unicode 14")
def test_the_table_of_unicode_is_the_generated_one():
    assert unicode_table.table() == unicode_table.TABLE.read_text()
    assert all(ord(c) == unicode_table.simple_lower(i) for i in range(0x110000) if len(c := chr(i).lower()) == 1)
