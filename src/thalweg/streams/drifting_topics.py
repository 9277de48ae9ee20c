"""Texts of classes that differ in a few words, while what they write about changes gradually and at once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thalweg.parameters import Real, Rules, Whole, at_least
from thalweg.streams.stream import ConceptStream, Floats, Labels, Rows, Times, standard_normals

#: Words of every text that are as frequent as "the" and "of": no topic is made of them.
_COMMON = 200
#: Spread of the logarithm of a text's length, and its longest as a multiple of the median.
_SPREAD, _LONGEST = 0.5, 4
#: Zipf's law: the frequency of the word of rank r falls as 1 / (r + shift).
_SHIFT = 2.7
_SYLLABLES = [consonant + vowel for consonant in "bdfghklmnprstvz" for vowel in "aeiou"]


@dataclass(frozen=True)
class DriftingTopics(ConceptStream):
    """Texts of made-up words, labelled by class; X has one column of str.

    Word frequencies follow Zipf's law and are the same in all classes, but for a ``share`` of the words, which come
    from the topic of the class. Two kinds of drift act on the topics:

    - Gradually: within ``rows_per_topic`` rows each topic is replaced by a new one, word by word.
    - At once: every ``rows_per_change`` rows each class takes over the topic of the next.

    Lengths of texts are log-normal around a median of ``words``, at most four times that.

    Parameters
    ----------
    seed : int >= 0
        Seed for the random number generator.
    n_classes : int from 2 to 100
        Number of classes, which are equally frequent: 0, 1, …
    vocabulary : int from 100 to 1,000,000
        Number of different words.
    share : float in (0, 1)
        Share of the words that come from the topic of the class.
    topic_words : int from 1 to 10,000
        Number of different words of a topic.
    words : int from 1 to 10,000
        Median number of words in a text.
    rows_per_topic : int >= 1
        Rows within which the topics are replaced gradually.
    rows_per_change : int >= 1
        Rows between changes at once.
    length : int >= 1
        Rows of the protocol. The stream itself is endless.

    Examples
    --------
    >>> X, y = DriftingTopics(seed=1, words=4).take(3)
    >>> X[1:, 0].tolist(), y[1:].tolist()
    (['hihi befe bili', 'bide heme dobo teba'], [0, 0])
    """

    n_classes: int = 2
    vocabulary: int = 20_000
    share: float = 0.1
    topic_words: int = 100
    words: int = 20
    rows_per_topic: int = 10_000
    rows_per_change: int = 25_000
    length: int = 50_000

    _rules = Rules(
        **ConceptStream._rules,
        n_classes=Whole(2, 100),
        vocabulary=Whole(100, 1_000_000),
        share=Real(0, 1, "neither"),
        topic_words=Whole(1, 10_000),
        words=Whole(1, 10_000),
        rows_per_topic=at_least(1),
        rows_per_change=at_least(1),
        length=at_least(1),
    )

    @property
    def uniforms_per_row(self) -> int:
        """One for the class, one for the length, one for each word of the longest text."""
        return 2 + _LONGEST * self.words

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The text."""
        return ("text",)

    def rows_from(self, times: Times, uniforms: Floats) -> Rows:
        """Texts of the concepts at ``times``, made of ``uniforms``; X holds objects of type str."""
        shape = uniforms.shape[:-1]
        uniforms = uniforms.reshape(-1, self.uniforms_per_row)
        moments = np.broadcast_to(times, shape).reshape(-1)
        y: Labels = (uniforms[:, 0] * self.n_classes).astype(np.int64)
        lengths = np.exp(_SPREAD * standard_normals(uniforms[:, 1])) * self.words
        lengths = np.clip(np.rint(lengths).astype(np.int64), 1, _LONGEST * self.words)
        ids = self._word_ids(moments, y, uniforms[:, 2:])
        words = _spelled(self.vocabulary)
        texts: Any = np.empty(len(y), dtype=object)
        for row, length in enumerate(lengths.tolist()):
            texts[row] = " ".join(words[ids[row, :length]])
        return texts.reshape(*shape, 1), y.reshape(shape)

    def _word_ids(self, times: Times, y: Labels, uniforms: Floats) -> NDArray[np.int64]:
        """One uniform number for a word says whether it is of the topic, of which one, and which word it is."""
        ids = np.searchsorted(_zipf(self.vocabulary), (uniforms - self.share) / (1.0 - self.share), side="right")
        stage, progress = np.divmod(times, self.rows_per_topic)
        topic = (y + times // self.rows_per_change) % self.n_classes
        row, place = np.nonzero(uniforms < self.share)
        within = uniforms[row, place] / self.share
        new = progress[row] / self.rows_per_topic
        renewed = within < new
        within = np.where(renewed, within, within - new) / np.where(renewed, new, 1.0 - new)
        rank = np.searchsorted(_zipf(self.topic_words), within, side="right")
        pairs, which = np.unique(np.stack([topic[row], stage[row] + renewed], axis=1), axis=0, return_inverse=True)
        topics = np.array([self._topic(*pair) for pair in pairs.tolist()], dtype=np.int64)
        ids[row, place] = topics.reshape(-1, self.topic_words)[which.reshape(-1), rank]
        return ids

    def _topic(self, topic: int, stage: int) -> NDArray[np.int64]:
        """The words of a topic at one stage, the most frequent first."""
        common = min(_COMMON, self.vocabulary // 2)
        random = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(topic, stage)))
        return common + (random.random(self.topic_words) * (self.vocabulary - common)).astype(np.int64)


@lru_cache(maxsize=8)
def _zipf(words: int) -> Floats:
    """The distribution function over ranks, less its last value, so that no search ends behind the last word."""
    weights = 1.0 / (np.arange(words) + _SHIFT)
    return np.asarray(np.cumsum(weights)[:-1] / weights.sum())


@lru_cache(maxsize=4)
def _spelled(words: int) -> Any:
    """Different made-up words of two syllables and more; frequent ones are short."""
    base = len(_SYLLABLES)

    def spell(number: int) -> str:
        word = ""
        while number >= base:
            number, rest = divmod(number, base)
            word = _SYLLABLES[rest] + word
        return _SYLLABLES[number] + word

    return np.array([spell(base + rank) for rank in range(words)], dtype=object)
