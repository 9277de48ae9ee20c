"""Write the table of word characters and lower-case letters, src/thalweg/kernels/text/unicode_table.hpp.

Run ``python -m tests.kernels.unicode_table`` with a Python of the Unicode version that the table is to have.
"""

from __future__ import annotations

import sys
import unicodedata
from pathlib import Path

TABLE = Path(__file__).parents[2] / "src/thalweg/kernels/text/unicode_table.hpp"
HEADER = """\
// Word characters and lower case of Unicode {version}, written by `python -m tests.kernels.unicode_table`.
#pragma once

#include <cstdint>

namespace thalweg::THALWEG_LEVEL {{

// clang-format off
// Letters, marks, numbers and the underscore: for each run of them, what is left out before it and its length.
constexpr int32_t kWordRuns[][2] = {{
{words}
}};

// Characters with another lower case: first, last, step from one to the next, distance to the lower case.
constexpr int32_t kLowerRuns[][4] = {{
{lower}
}};
// clang-format on

}}  // namespace thalweg::THALWEG_LEVEL
"""


def is_word(code: int) -> bool:
    return code == ord("_") or unicodedata.category(chr(code))[0] in "LMN"


def simple_lower(code: int) -> int:
    """The lower case of one character as one character (İ alone has two)."""
    return ord(chr(code).lower()[0])


def word_runs() -> list[list[int]]:
    runs: list[list[int]] = []
    end = 0
    for code in filter(is_word, range(sys.maxunicode + 1)):
        if runs and code == end:
            runs[-1][1] += 1
        else:
            runs.append([code - end, 1])
        end = code + 1
    return runs


def lower_runs() -> list[list[int]]:
    runs: list[list[int]] = []
    for code in range(sys.maxunicode + 1):
        distance = simple_lower(code) - code
        if not distance:
            continue
        if runs and runs[-1][3] == distance:
            first, last, step, _ = runs[-1]
            if code - last == step or (first == last and code - last <= 2):
                runs[-1][1:3] = code, code - last
                continue
        runs.append([code, code, 1, distance])
    return runs


def lines(entries: list[str]) -> str:
    text, line = [], " "
    for entry in entries:
        if len(line) + len(entry) > 118:
            text.append(line)
            line = " "
        line += f" {entry},"
    return "\n".join([*text, line])


def table() -> str:
    return HEADER.format(
        version=unicodedata.unidata_version,
        words=lines([f"{{{gap}, {length}}}" for gap, length in word_runs()]),
        lower=lines(["{" + ", ".join(map(str, run)) + "}" for run in lower_runs()]),
    )


if __name__ == "__main__":
    TABLE.write_text(table())
