"""What went wrong in Spark, in one sentence: ours where a worker raised it, else Spark's own, without its stacks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from thalweg.errors import InvalidInput

_OURS = re.compile(r"thalweg\.errors\.\w+: (.+)")
_SPARKS = re.compile(r"\[([A-Z][A-Z0-9_.]+)\] (.+)")
#: They say only that something within has failed.
_AROUND = ("STREAM_FAILED", "FOREACH_BATCH_USER_FUNCTION_ERROR")
_NANOSECONDS = (
    "Spark reads no Parquet with times in nanoseconds: write them in microseconds, in pandas by "
    "to_parquet(path, coerce_timestamps='us', allow_truncated_timestamps=True)"
)


@contextmanager
def told_in_one_sentence(source: str) -> Iterator[None]:
    """An error of Spark becomes an `InvalidInput` about the source."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JError) as error:
        raise InvalidInput(f"{source}: {sentence_of(str(error))}") from error


def sentence_of(message: str) -> str:
    r"""The sentence that tells most in the message of an error of Spark.

    Examples
    --------
    >>> sentence_of("[STREAM_FAILED] Query ended.\nTraceback:\nthalweg.errors.InvalidInput: no label\n at java")
    'no label'
    >>> sentence_of("[STREAM_FAILED] Query ended: [NO_FOOTER] Could not read footer. SQLSTATE: KD001\n at java")
    'Could not read footer.'
    """
    if ours := _OURS.findall(message):
        return str(ours[-1])
    if "PARQUET_TYPE_ILLEGAL" in message and "NANOS" in message:
        return _NANOSECONDS
    for line in message.splitlines():
        for part in re.split(r"(?=\[[A-Z][A-Z0-9_.]+\] )", line):
            found = _SPARKS.match(part)
            if found and found[1] not in _AROUND:
                return found[2].split(" SQLSTATE:")[0]
    return message.splitlines()[0] if message else "Spark has failed without a word"
